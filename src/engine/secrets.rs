//! Masking: secrets are gone before anything is kept.

use serde_json::Value;

use super::table::Secrets;

/// What stands in a secret's place.
pub(super) const MASKED: &str = "[masked]";

impl Secrets {
    /// Whether a name's value is a secret.
    pub(super) fn names(&self, name: &str) -> bool {
        let name = name.trim_start_matches('-').to_lowercase().replace('-', "_");
        self.parts.iter().any(|part| name.contains(part.as_str()))
            || self.endings.iter().any(|ending| name.ends_with(ending.as_str()))
            || self.names.contains(&name)
    }

    /// A named value without secrets. None, booleans and numbers are kept: they tell nothing.
    pub(super) fn value(&self, name: &str, value: Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) => value,
            Value::Number(_) if !self.parts.iter().any(|part| name.contains(part.as_str())) => {
                value
            }
            Value::String(text) if text.is_empty() => Value::String(text),
            _ if self.names(name) => Value::String(MASKED.to_owned()),
            Value::Array(values) => {
                Value::Array(values.into_iter().map(|value| self.value("", value)).collect())
            }
            Value::Object(map) => {
                let inner = |(key, value): (String, Value)| {
                    let value = self.value(&key, value);
                    (key, value)
                };
                Value::Object(map.into_iter().map(inner).collect())
            }
            Value::String(text) => Value::String(self.json_or_text(&text)),
            other => other,
        }
    }

    /// A variable's value without secrets.
    pub(super) fn variable(&self, name: &str, value: &str) -> String {
        if !value.is_empty() && self.names(name) {
            return MASKED.to_owned();
        }
        self.text(value)
    }

    /// A text that is JSON may name a secret inside; without one it stays as it is printed.
    fn json_or_text(&self, text: &str) -> String {
        if let (true, Ok(json)) = (text.starts_with('{'), serde_json::from_str::<Value>(text)) {
            let masked = self.value("", json.clone());
            if masked != json {
                return masked.to_string();
            }
        }
        self.text(text)
    }

    /// A text without the secrets that are known by how they begin, and without passwords in addresses.
    pub(super) fn text(&self, text: &str) -> String {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(is_word) {
            out.push_str(&rest[..start]);
            rest = &rest[start..];
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (found, after) = rest.split_at(end);
            let secret = self.prefixes.iter().any(|prefix| {
                found.strip_prefix(prefix.as_str()).is_some_and(|tail| {
                    tail.len() >= 16
                        && !tail.contains(['.', '/'])
                        && tail.bytes().any(|b| b.is_ascii_digit())
                        || tail.len() >= 30
                })
            });
            out.push_str(if secret { MASKED } else { found });
            rest = after;
            if let Some(address) = rest.strip_prefix("://") {
                out.push_str("://");
                rest = address;
                let end = rest.find(['/', ' ', '\'', '"', '?', '#']).unwrap_or(rest.len());
                if let Some(at) = rest[..end].rfind('@') {
                    out.push_str(MASKED);
                    rest = &rest[at..];
                }
            }
        }
        out.push_str(rest);
        out
    }
}
