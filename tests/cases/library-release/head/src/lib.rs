use std::io::Read;

pub fn weigh(parcel: &[u8]) -> usize {
    parcel.len()
}

pub fn weigh_stream(parcel: impl Read) -> usize {
    parcel.bytes().count()
}
