//! Canonical JSON and its digest.

use serde::Serialize;
use sha2::{Digest, Sha256};

/// JSON with sorted keys and no blanks: equal values give equal bytes, whatever order a map or a
/// dependency's features bring.
///
/// # Panics
/// On a value that cannot be JSON (a map with keys that are not strings); no type here is one.
pub fn canonical(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("plain data is JSON");
    let mut out = String::new();
    write(&value, &mut out);
    out
}

fn write(value: &serde_json::Value, out: &mut String) {
    match value {
        serde_json::Value::Object(map) => {
            let mut keys: Vec<_> = map.iter().collect();
            keys.sort_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (index, (key, item)) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&serde_json::Value::from(key.as_str()).to_string());
                out.push(':');
                write(item, out);
            }
            out.push('}');
        }
        serde_json::Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        leaf => out.push_str(&leaf.to_string()),
    }
}

/// SHA-256 of some bytes, 64 lower-case hex digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
