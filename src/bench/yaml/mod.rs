//! YAML as the benchmark repository reads it: PyYAML's `SafeLoader`, with the place of every node.
//!
//! The events come from a library; composing them and YAML 1.1's implicit types are ours, because the
//! repository's own tools read `on`, `0o17`, `1_000` and `4:30` as PyYAML does and a verdict has to be
//! about what they read. Source of the rules: PyYAML 6 (`resolver.py`, `constructor.py`,
//! `composer.py`), held against it by `tests/oracle/`.
//!
//! What PyYAML reads and this does not, each an error that says so: `!!binary`, `!!set`, `!!omap`,
//! `!!pairs`, `!!timestamp`, a collection that contains itself, integers of more than 64 bits in
//! another base than ten, and U+0085, U+2028, U+2029, which are line breaks to PyYAML only.

mod compose;
mod convert;
mod scalar;
#[cfg(test)]
mod tests;

use crate::limits;

pub use convert::WrongType;

/// Where something stands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// 1-based; 0 where there is none.
    pub line: i64,
    /// 1-based, in characters.
    pub column: i64,
}

/// A value and where it is written. What came through an alias or a merge key keeps the place at its
/// anchor, which is where it would have to be changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What stands there.
    pub value: Value,
    /// Where.
    pub at: Place,
}

/// A value by YAML 1.1.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `~`, `null` or nothing.
    Null,
    /// `true`, `yes`, `on` and their opposites.
    Bool(bool),
    /// An integer of 64 bits, in any of YAML 1.1's bases.
    Int(i64),
    /// The digits of a wider integer, with its sign.
    WideInt(String),
    /// A number with a point.
    Float(f64),
    /// A date, or a date and time, as written.
    Timestamp(String),
    /// Everything else.
    Text(String),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and values in the order in which Python's dictionary holds them: merged ones first, each key
    /// once, at its first place with its last value.
    Mapping(Vec<Pair>),
}

/// One key of a mapping and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The key; never a list or a mapping.
    pub key: Node,
    /// Its value.
    pub value: Node,
}

/// Something odd that PyYAML accepts without a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub at: Place,
    /// What.
    pub message: String,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its one node; [`Value::Null`] of an empty file.
    pub root: Node,
    /// Duplicate keys, in the order of the file.
    pub notes: Vec<Note>,
}

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {message}; {fix}", .at.line, .at.column)]
pub struct YamlError {
    /// Where.
    pub at: Place,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub fix: String,
}

impl YamlError {
    fn new(at: Place, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { at, message: message.into(), fix: fix.into() }
    }
}

/// Reads one document.
///
/// # Errors
/// Text that PyYAML refuses too, the few things listed above that only it reads, and files past
/// [`limits::YAML_BYTES`], [`limits::YAML_NODES`], [`limits::YAML_DEPTH`] or
/// [`limits::YAML_SCALAR_BYTES`]. The first one ends the reading.
pub fn parse(text: &str) -> Result<Document, YamlError> {
    if text.len() > limits::YAML_BYTES {
        return Err(YamlError::new(
            Place { line: 1, column: 1 },
            format!("the file has {} bytes, more than {}", text.len(), limits::YAML_BYTES),
            "split it",
        ));
    }
    unprintable(text)?;
    let document = compose::compose(text)?;
    if text.contains('\t') {
        compose::stray_tab(text)?;
    }
    Ok(document)
}

/// Finds the first character that PyYAML's reader refuses, or takes for a line break where editors do
/// not. Source: `Reader.NON_PRINTABLE` of PyYAML's `reader.py`.
fn unprintable(text: &str) -> Result<(), YamlError> {
    let wrong = |c: char| {
        !matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}'
            | '\u{10000}'..='\u{10ffff}')
            || matches!(c, '\u{2028}' | '\u{2029}')
    };
    // Most text is ASCII: look at the bytes first.
    if text.bytes().all(|b| matches!(b, b'\t' | b'\n' | b'\r' | b' '..=b'~')) {
        return Ok(());
    }
    let Some((offset, c)) = text.char_indices().find(|(_, c)| wrong(*c)) else { return Ok(()) };
    let at = place_of(text, offset);
    Err(YamlError::new(
        at,
        format!("the character U+{:04X} is not allowed", u32::from(c)),
        "remove it",
    ))
}

/// Line and column of a byte.
fn place_of(text: &str, offset: usize) -> Place {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Place { line: number(line), column: number(column) }
}

fn number(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
