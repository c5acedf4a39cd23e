//! A balanced reader of the values that Python prints.
//!
//! Only the keys of the outermost bracket are arguments; what is nested stays a value of its key. A value
//! that is not followed by a comma or the closing bracket is not known to be whole and is dropped.

use serde_json::{Map, Number, Value};

use super::table::Shape;
use crate::limits::REPR_DEPTH;

/// What a dump says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dump {
    /// The pairs that are whole, in order.
    pub(super) pairs: Vec<(String, Value)>,
    /// Where the text goes on after the dump; none where it is cut or is no dump from some place on.
    pub(super) end: Option<usize>,
}

/// Follows brackets and quotes over any number of lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Balance {
    depth: i64,
    quote: Option<u8>,
    escaped: bool,
}

impl Balance {
    /// Begins before the bracket and not inside of it.
    fn before() -> Self {
        Self { depth: -1, ..Self::default() }
    }

    /// Reads on; where the bracket that it began in closes, the place after it.
    pub(super) fn push(&mut self, text: &str) -> Option<usize> {
        for (at, byte) in text.bytes().enumerate() {
            if self.escaped {
                self.escaped = false;
            } else if let Some(quote) = self.quote {
                match byte {
                    b'\\' => self.escaped = true,
                    _ if byte == quote => self.quote = None,
                    _ => {}
                }
            } else {
                match byte {
                    b'\'' | b'"' => self.quote = Some(byte),
                    b'(' | b'[' | b'{' => self.depth += 1,
                    b')' | b']' | b'}' => {
                        self.depth -= 1;
                        if self.depth < 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// Whether no bracket or quote was opened and left so.
    pub(super) fn is_even(&self) -> bool {
        self.depth == 0 && self.quote.is_none()
    }
}

/// Reads a dump whose opening bracket stands right before the text. An open one ends with the text, which
/// must then be whole (`whole`), or its last pair is dropped.
pub(super) fn dump(text: &str, shape: Shape, whole: bool) -> Dump {
    let mut reader = Reader { text, at: 0, open_end: shape == Shape::Open && whole };
    let mut pairs = Vec::new();
    let close = match shape {
        Shape::Call => b')',
        Shape::Dict => b'}',
        Shape::Open => 0,
    };
    loop {
        reader.blanks();
        match reader.peek() {
            Some(byte) if byte == close => {
                return Dump { pairs, end: Some(reader.at + 1) };
            }
            None if reader.open_end => return Dump { pairs, end: Some(reader.at) },
            None => return Dump { pairs, end: None },
            Some(_) => {}
        }
        let Some(pair) = (if shape == Shape::Dict { reader.item(0) } else { reader.keyword(0) })
        else {
            return Dump { pairs, end: None };
        };
        reader.blanks();
        match reader.peek() {
            Some(b',') => reader.at += 1,
            Some(byte) if byte == close => {}
            None if reader.open_end => {}
            _ => return Dump { pairs, end: None },
        }
        pairs.push(pair);
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    open_end: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte == b' ' || byte == b'\t') {
            self.at += 1;
        }
    }

    /// `name=value`.
    fn keyword(&mut self, depth: usize) -> Option<(String, Value)> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        let name = self.text.get(start..self.at).filter(|name| !name.is_empty())?;
        if name.as_bytes()[0].is_ascii_digit() || self.peek() != Some(b'=') {
            return None;
        }
        self.at += 1;
        Some((name.to_owned(), self.value(depth + 1)?))
    }

    /// `key: value`.
    fn item(&mut self, depth: usize) -> Option<(String, Value)> {
        let key = key_text(self.value_until(depth + 1, b":")?);
        self.blanks();
        if self.peek() != Some(b':') {
            return None;
        }
        self.at += 1;
        self.blanks();
        Some((key, self.value(depth + 1)?))
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.value_until(depth, b"")
    }

    fn value_until(&mut self, depth: usize, stops: &[u8]) -> Option<Value> {
        if depth > REPR_DEPTH {
            return None;
        }
        self.blanks();
        match self.peek() {
            Some(quote @ (b'\'' | b'"')) => self.string(quote).map(Value::String),
            Some(b'[') => self.list(b']', depth),
            Some(b'(') => self.list(b')', depth),
            Some(b'{') => self.braces(depth),
            Some(b'<') => self.angle(),
            Some(_) => self.bare(depth, stops),
            None if self.open_end => Some(Value::String(String::new())),
            None => None,
        }
    }

    fn string(&mut self, quote: u8) -> Option<String> {
        self.at += 1;
        let mut out = String::new();
        let mut chars = self.text.get(self.at..)?.char_indices();
        while let Some((offset, c)) = chars.next() {
            if c == char::from(quote) {
                self.at += offset + 1;
                return Some(out);
            }
            if c != '\\' {
                out.push(c);
                continue;
            }
            let (_, escaped) = chars.next()?;
            let digits = match escaped {
                'n' => {
                    out.push('\n');
                    continue;
                }
                't' => {
                    out.push('\t');
                    continue;
                }
                'r' => {
                    out.push('\r');
                    continue;
                }
                'x' => 2,
                'u' => 4,
                'U' => 8,
                other => {
                    if !matches!(other, '\\' | '\'' | '"') {
                        out.push('\\');
                    }
                    out.push(other);
                    continue;
                }
            };
            let mut code = 0_u32;
            for _ in 0..digits {
                code = code.wrapping_mul(16) + chars.next()?.1.to_digit(16)?;
            }
            out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        None
    }

    fn list(&mut self, close: u8, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut values = Vec::new();
        loop {
            self.blanks();
            match self.peek()? {
                byte if byte == close => {
                    self.at += 1;
                    return Some(Value::Array(values));
                }
                b',' => self.at += 1,
                _ => {
                    values.push(self.inner(|reader| reader.value(depth + 1))?);
                    self.blanks();
                    let next = self.peek()?;
                    if next != b',' && next != close {
                        return None;
                    }
                }
            }
        }
    }

    /// A dictionary, or a set.
    fn braces(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let (mut map, mut set) = (Map::new(), Vec::new());
        loop {
            self.blanks();
            match self.peek()? {
                b'}' => {
                    self.at += 1;
                    let dictionary = set.is_empty();
                    return Some(if dictionary { Value::Object(map) } else { Value::Array(set) });
                }
                b',' => self.at += 1,
                _ => {
                    let key = self.inner(|reader| reader.value_until(depth + 1, b":"))?;
                    self.blanks();
                    if self.peek()? == b':' {
                        self.at += 1;
                        let value = self.inner(|reader| reader.value(depth + 1))?;
                        map.insert(key_text(key), value);
                    } else {
                        set.push(key);
                    }
                    self.blanks();
                    if !matches!(self.peek()?, b',' | b'}') {
                        return None;
                    }
                }
            }
        }
    }

    /// `<Name.MEMBER: value>` and other texts in angle brackets, as printed.
    fn angle(&mut self) -> Option<Value> {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'<' => depth += 1,
                b'>' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(Value::String(self.text.get(start..self.at)?.to_owned()));
            }
        }
        None
    }

    /// Everything up to a comma or closing bracket: words, numbers, calls.
    fn bare(&mut self, depth: usize, stops: &[u8]) -> Option<Value> {
        let start = self.at;
        loop {
            match self.peek() {
                None if self.open_end && depth == 1 => break,
                None => return None,
                Some(b',' | b')' | b']' | b'}') => break,
                Some(byte) if stops.contains(&byte) => break,
                Some(b'(') => {
                    let open = self.at;
                    if let Some(value) = self.call(depth) {
                        let after = self.peek();
                        if matches!(after, None | Some(b',' | b')' | b']' | b'}' | b' ')) {
                            return (after.is_some() || self.open_end).then_some(value);
                        }
                    }
                    self.at = open;
                    self.skip()?;
                }
                Some(b'[' | b'{' | b'\'' | b'"') => self.skip()?,
                Some(_) => self.at += 1,
            }
        }
        let text = self.text.get(start..self.at)?.trim_end();
        (!text.is_empty() || self.open_end || !stops.is_empty()).then(|| word(text))
    }

    /// The arguments of a call, where all of them have names.
    fn call(&mut self, depth: usize) -> Option<Value> {
        if depth > REPR_DEPTH {
            return None;
        }
        self.at += 1;
        let mut map = Map::new();
        loop {
            self.blanks();
            match self.peek()? {
                b')' => {
                    self.at += 1;
                    return Some(Value::Object(map));
                }
                b',' => self.at += 1,
                _ => {
                    let (key, value) = self.inner(|reader| reader.keyword(depth + 1))?;
                    map.insert(key, value);
                }
            }
        }
    }

    /// What is nested never ends with the text.
    fn inner<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let open_end = std::mem::replace(&mut self.open_end, false);
        let value = read(self);
        self.open_end = open_end;
        value
    }

    /// Passes a bracket or a quoted text.
    fn skip(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        if let Some(quote @ (b'\'' | b'"')) = self.peek() {
            self.string(quote)?;
            return Some(());
        }
        self.at += Balance::before().push(rest)?;
        Some(())
    }
}

fn key_text(key: Value) -> String {
    match key {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// A word as Python prints it.
pub(super) fn word(text: &str) -> Value {
    match text {
        "None" => Value::Null,
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        _ => number(text).unwrap_or_else(|| Value::String(text.to_owned())),
    }
}

/// A finite number.
pub(super) fn number(text: &str) -> Option<Value> {
    let first = *text.strip_prefix('-').unwrap_or(text).as_bytes().first()?;
    if !(first.is_ascii_digit() || first == b'.') || text.len() > 40 {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Value::from(whole));
    }
    let real: f64 = text.parse().ok()?;
    Number::from_f64(real).map(Value::Number)
}
