//! Dynamo: records that are JSON, one a line.

use serde_json::{Map, Value};

/// The record of a line whose own text is JSON with a message.
pub(super) fn record(line: &[u8]) -> Option<Map<String, Value>> {
    let start = line.iter().take(200).position(|byte| *byte == b'{')?;
    let text = line[start..].trim_ascii_end();
    if text.last() != Some(&b'}') || !text.starts_with(b"{\"") {
        return None;
    }
    let Ok(Value::Object(record)) = serde_json::from_slice(text) else { return None };
    record.get("message").is_some_and(Value::is_string).then_some(record)
}
