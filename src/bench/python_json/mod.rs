//! JSON as Python's `json` module writes and reads it, with the place of every value.
//!
//! The artifacts of a run are written by Python, whose `json.dump` writes `NaN`, `Infinity` and
//! `-Infinity`; a reader that refuses them would lose a whole file for one bad measurement. They become
//! [`Value::Invalid`], and so does what Python reads as infinite (`1e400`). Of a key that is given twice
//! the last value counts, as in Python, with a note. A number keeps its text.
//!
//! Source: Python 3's `json.decoder` and `json.scanner`. What Python reads and this does not: files in
//! UTF-16 or UTF-32, and those past the limits. What this reads and Python may not: a byte order mark.

mod number;
mod parse;
mod strings;
#[cfg(test)]
mod tests;

pub use number::{Invalid, Number};

use crate::bench::yaml::Place;
use crate::limits;

/// A value and where it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What stands there.
    pub value: Value,
    /// Where it begins.
    pub at: Place,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A finite number.
    Number(Number),
    /// What stands where a number should and is none: explicitly no value, never zero.
    Invalid(Invalid),
    /// A text. Half a surrogate pair, which Python keeps, is U+FFFD, with a note.
    Text(String),
    /// A list.
    Array(Vec<Node>),
    /// Keys and values, each key once: at its first place, with its last value.
    Object(Vec<(String, Node)>),
}

/// Something odd that Python accepts without a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub at: Place,
    /// The JSON pointer of what it is about.
    pub pointer: String,
    /// What.
    pub kind: NoteKind,
}

/// What is odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// The key at the pointer is given again here; this value counts.
    DuplicateKey,
    /// The text at the pointer, or the key it ends with, has half a surrogate pair.
    LoneSurrogate,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its value.
    pub root: Node,
    /// The first [`limits::JSON_NOTES`] oddities, in the order of the file.
    pub notes: Vec<Note>,
    /// How many there are more.
    pub more_notes: usize,
}

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {message}; {fix}", .at.line, .at.column)]
pub struct JsonError {
    /// Where.
    pub at: Place,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub fix: String,
}

/// A value of another type than wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}: expected {wanted}, found {found}", .at.line)]
pub struct WrongType {
    /// Where.
    pub at: Place,
    /// What was expected there.
    pub wanted: &'static str,
    /// What stands there.
    pub found: String,
}

/// Reads one document.
///
/// # Errors
/// Text that Python refuses too, what is not UTF-8, and files past [`limits::JSON_BYTES`],
/// [`limits::JSON_NODES`], [`limits::JSON_DEPTH`] or [`limits::JSON_KEY_BYTES`]. The first one ends the
/// reading.
pub fn parse(bytes: &[u8]) -> Result<Document, JsonError> {
    if bytes.len() > limits::JSON_BYTES {
        return Err(JsonError {
            at: Place { line: 1, column: 1 },
            message: format!(
                "the file has {} bytes, more than {}",
                bytes.len(),
                limits::JSON_BYTES
            ),
            fix: "split it".to_owned(),
        });
    }
    parse::document(bytes)
}

/// The pointer of a member of what a pointer means (RFC 6901).
pub fn member(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

impl Node {
    /// The value that a JSON pointer means (RFC 6901); the node itself of the empty one.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |node, token| match &node.value {
            Value::Object(_) => node.get(&token.replace("~1", "/").replace("~0", "~")),
            Value::Array(items) => {
                let plain = token == "0"
                    || (!token.starts_with('0') && token.bytes().all(|b| b.is_ascii_digit()));
                plain.then(|| token.parse::<usize>().ok()).flatten().and_then(|n| items.get(n))
            }
            _ => None,
        })
    }

    /// The value of a key; `None` where there is no such key, or no object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Value::Object(pairs) = &self.value else { return None };
        pairs.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// The text.
    ///
    /// # Errors
    /// It is none.
    pub fn text(&self) -> Result<&str, WrongType> {
        match &self.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong("text")),
        }
    }

    /// The number; a truth value is none.
    ///
    /// # Errors
    /// It is none, or an invalid one.
    pub fn number(&self) -> Result<&Number, WrongType> {
        match &self.value {
            Value::Number(number) => Ok(number),
            _ => Err(self.wrong("a number")),
        }
    }

    /// The integer; `16.0` is none.
    ///
    /// # Errors
    /// It is none, or has more than 64 bits.
    pub fn int(&self) -> Result<i64, WrongType> {
        match &self.value {
            Value::Number(number) => number.int().ok_or_else(|| self.wrong("an integer")),
            _ => Err(self.wrong("an integer")),
        }
    }

    /// The truth value.
    ///
    /// # Errors
    /// It is none.
    pub fn bool(&self) -> Result<bool, WrongType> {
        match self.value {
            Value::Bool(b) => Ok(b),
            _ => Err(self.wrong("true or false")),
        }
    }

    /// The list.
    ///
    /// # Errors
    /// It is none.
    pub fn array(&self) -> Result<&[Self], WrongType> {
        match &self.value {
            Value::Array(items) => Ok(items),
            _ => Err(self.wrong("a list")),
        }
    }

    /// The keys and values.
    ///
    /// # Errors
    /// It is none.
    pub fn object(&self) -> Result<&[(String, Self)], WrongType> {
        match &self.value {
            Value::Object(pairs) => Ok(pairs),
            _ => Err(self.wrong("an object")),
        }
    }

    /// The error that it is not what was wanted.
    pub fn wrong(&self, wanted: &'static str) -> WrongType {
        WrongType { at: self.at, wanted, found: self.describe() }
    }

    /// What a person calls it, with a short value.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(b) => format!("the truth value {b}"),
            Value::Number(number) => format!("the number {}", short(number.text())),
            Value::Invalid(invalid) => format!("no number ({invalid})"),
            Value::Text(text) => format!("the text `{}`", short(text)),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        }
    }
}

/// The first characters of a text, with `…` where there are more.
pub(in crate::bench) fn short(text: &str) -> String {
    let cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}
