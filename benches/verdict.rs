//! (being built)
#![allow(missing_docs)]
fn main() {}
