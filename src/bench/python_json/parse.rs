//! Bytes → nodes: one pass, bounded in depth, values and notes.

use std::collections::BTreeMap;

use super::{Document, Invalid, JsonError, Node, Note, NoteKind, Number, Value, member};
use crate::bench::yaml::Place;
use crate::limits;

/// Objects with fewer keys are searched, larger ones get an index.
const FEW_KEYS: usize = 16;

/// Words that stand for no number.
static WORDS: [(&str, Value); 6] = [
    ("null", Value::Null),
    ("true", Value::Bool(true)),
    ("false", Value::Bool(false)),
    ("NaN", Value::Invalid(Invalid::NotANumber)),
    ("Infinity", Value::Invalid(Invalid::Infinity)),
    ("-Infinity", Value::Invalid(Invalid::NegativeInfinity)),
];

/// A step of the way to the value that is being read.
enum Step {
    Key(String),
    Index(usize),
}

pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) offset: usize,
    /// Where lines and columns are counted up to: places are asked for in the order of the text.
    counted: usize,
    place: Place,
    nodes: usize,
    path: Vec<Step>,
    notes: Vec<Note>,
    more_notes: usize,
}

pub(super) fn document(bytes: &[u8]) -> Result<Document, JsonError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (text, broken) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            (std::str::from_utf8(valid).unwrap_or_default(), true)
        }
    };
    let mut reader = Reader {
        text,
        offset: 0,
        counted: 0,
        place: Place { line: 1, column: 1 },
        nodes: 0,
        path: Vec::new(),
        notes: Vec::new(),
        more_notes: 0,
    };
    if broken {
        reader.offset = text.len();
        return Err(reader.error("this byte is not UTF-8", "write the file in UTF-8"));
    }
    let root = reader.value()?;
    reader.blanks();
    if reader.offset < text.len() {
        return Err(reader.error("there is more after the value", "write one value a file"));
    }
    Ok(Document { root, notes: reader.notes, more_notes: reader.more_notes })
}

impl Reader<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    pub(super) fn rest(&self) -> &str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.offset += 1;
        }
    }

    /// Line and column of the current offset.
    fn here(&mut self) -> Place {
        let passed = self.text.get(self.counted..self.offset).unwrap_or_default();
        for c in passed.chars() {
            if c == '\n' {
                self.place = Place { line: self.place.line + 1, column: 1 };
            } else {
                self.place.column += 1;
            }
        }
        self.counted = self.offset.max(self.counted);
        self.place
    }

    pub(super) fn error(
        &mut self,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> JsonError {
        JsonError { at: self.here(), message: message.into(), fix: fix.into() }
    }

    pub(super) fn expected(&mut self, what: &str) -> JsonError {
        let found = match self.rest().chars().next() {
            Some(c) => format!("`{}`", c.escape_debug()),
            None => "the end of the file, which may be cut".to_owned(),
        };
        self.error(format!("expected {what}, found {found}"), "write it as JSON")
    }

    fn note(&mut self, at: Place, kind: NoteKind, key: Option<&str>) {
        if self.notes.len() >= limits::JSON_NOTES {
            self.more_notes += 1;
            return;
        }
        let mut pointer = self.path.iter().fold(String::new(), |pointer, step| match step {
            Step::Key(key) => member(&pointer, key),
            Step::Index(index) => format!("{pointer}/{index}"),
        });
        if let Some(key) = key {
            pointer = member(&pointer, key);
        }
        self.notes.push(Note { at, pointer, kind });
    }

    fn count(&mut self) -> Result<(), JsonError> {
        self.nodes += 1;
        if self.nodes > limits::JSON_NODES {
            let message = format!("the file has more than {} values and keys", limits::JSON_NODES);
            return Err(self.error(message, "split it"));
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Node, JsonError> {
        self.blanks();
        self.count()?;
        let at = self.here();
        let value = match self.peek() {
            Some(b'{') => {
                self.deeper()?;
                self.object()?
            }
            Some(b'[') => {
                self.deeper()?;
                self.array()?
            }
            Some(b'"') => {
                let (text, lone) = self.string()?;
                if lone {
                    self.note(at, NoteKind::LoneSurrogate, None);
                }
                Value::Text(text)
            }
            _ => match WORDS.iter().find(|(word, _)| self.rest().starts_with(word)) {
                Some((word, value)) => {
                    self.offset += word.len();
                    value.clone()
                }
                None => self.number()?,
            },
        };
        Ok(Node { value, at })
    }

    /// Recursion is as deep as the path is long.
    fn deeper(&mut self) -> Result<(), JsonError> {
        if self.path.len() >= limits::JSON_DEPTH {
            let message = format!(
                "lists and objects are nested more than {} levels deep",
                limits::JSON_DEPTH
            );
            return Err(self.error(message, "write the file with less nesting"));
        }
        Ok(())
    }

    fn array(&mut self) -> Result<Value, JsonError> {
        self.offset += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.offset += 1;
            return Ok(Value::Array(items));
        }
        loop {
            self.path.push(Step::Index(items.len()));
            items.push(self.value()?);
            self.path.pop();
            self.blanks();
            match self.peek() {
                Some(b',') => self.offset += 1,
                Some(b']') => {
                    self.offset += 1;
                    return Ok(Value::Array(items));
                }
                _ => return Err(self.expected("`,` or `]`")),
            }
        }
    }

    fn object(&mut self) -> Result<Value, JsonError> {
        self.offset += 1;
        let mut pairs: Vec<(String, Node)> = Vec::new();
        let mut index: BTreeMap<String, usize> = BTreeMap::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.offset += 1;
            return Ok(Value::Object(pairs));
        }
        loop {
            self.blanks();
            let at = self.here();
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key in double quotes"));
            }
            self.count()?;
            let (key, lone) = self.string()?;
            if key.len() > limits::JSON_KEY_BYTES {
                let message = format!("the key has more than {} bytes", limits::JSON_KEY_BYTES);
                return Err(self.error(message, "use a shorter key"));
            }
            if lone {
                self.note(at, NoteKind::LoneSurrogate, Some(&key));
            }
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.expected("`:`"));
            }
            self.offset += 1;
            let earlier = if pairs.len() < FEW_KEYS {
                pairs.iter().position(|(name, _)| *name == key)
            } else {
                if index.is_empty() {
                    index =
                        pairs.iter().enumerate().map(|(n, (name, _))| (name.clone(), n)).collect();
                }
                index.get(&key).copied()
            };
            if earlier.is_some() {
                self.note(at, NoteKind::DuplicateKey, Some(&key));
            }
            self.path.push(Step::Key(key));
            let node = self.value()?;
            let Some(Step::Key(key)) = self.path.pop() else {
                return Err(self.expected("a key"));
            };
            match earlier.and_then(|n| pairs.get_mut(n)) {
                Some((_, first)) => *first = node,
                None => {
                    if !index.is_empty() {
                        index.insert(key.clone(), pairs.len());
                    }
                    pairs.push((key, node));
                }
            }
            self.blanks();
            match self.peek() {
                Some(b',') => self.offset += 1,
                Some(b'}') => {
                    self.offset += 1;
                    return Ok(Value::Object(pairs));
                }
                _ => return Err(self.expected("`,` or `}`")),
            }
        }
    }

    /// The number by JSON's grammar: `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.offset;
        if self.peek() == Some(b'-') {
            self.offset += 1;
        }
        if self.peek() == Some(b'0') {
            self.offset += 1;
        } else if self.digits() == 0 {
            self.offset = start;
            return Err(self.expected("a value"));
        }
        if self.peek() == Some(b'.') {
            self.offset += 1;
            if self.digits() == 0 {
                return Err(self.expected("a digit"));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.offset += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.offset += 1;
            }
            if self.digits() == 0 {
                return Err(self.expected("a digit"));
            }
        }
        let text = self.text.get(start..self.offset).unwrap_or_default();
        Ok(Number::new(text).map_or_else(Value::Invalid, Value::Number))
    }

    fn digits(&mut self) -> usize {
        let start = self.offset;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.offset += 1;
        }
        self.offset - start
    }
}
