//! One YAML document as a tree in which every key and value knows where it stands.
//!
//! Deserialising straight into structs stops at the first mistake. A maintainer wants all of them, each
//! with line and column, so rule files are read into this tree and checked from there.
//!
//! The reading is strict: YAML 1.2 words only (`yes` is a text), no duplicate keys, no unknown tags, and
//! bounds on depth, nodes and bytes.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Location, Spanned};

use super::diagnostic::Diagnostic;
use crate::limits;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// 1-based line.
    pub line: usize,
    /// 1-based column, in characters.
    pub column: usize,
    /// Byte offset.
    pub offset: usize,
}

impl Place {
    /// The beginning of a file.
    pub const START: Self = Self { line: 1, column: 1, offset: 0 };

    /// The place of a byte offset in a text; past its end, the end.
    pub fn of_offset(source: &str, offset: usize) -> Self {
        let mut end = offset.min(source.len());
        while !source.is_char_boundary(end) {
            end -= 1;
        }
        let before = &source[..end];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            offset: end,
        }
    }

    fn of(location: Location) -> Self {
        let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Self {
            line: number(location.line()).max(1),
            column: number(location.column()).max(1),
            offset: number(location.span().byte_offset().unwrap_or(0)),
        }
    }
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it begins.
    pub place: Place,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file.
    Map(Vec<(Key, Node)>),
}

/// A key and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Where it begins.
    pub place: Place,
    /// The key.
    pub name: String,
}

impl Node {
    /// Reads one document.
    ///
    /// # Errors
    /// What is wrong with the YAML and where; only one such mistake can be found at a time.
    pub fn parse(path: &str, source: &str) -> Result<Self, Diagnostic> {
        if source.len() > limits::RULE_FILE_BYTES {
            return Err(Diagnostic::new(
                path,
                Place::START,
                format!("the file has {} bytes", source.len()),
            )
            .with_help(format!("a rule file may have {} bytes", limits::RULE_FILE_BYTES)));
        }
        serde_yaml::from_str_with_options(source, strict())
            .map_err(|error| Diagnostic::of_yaml(path, &error))
    }

    /// The entries of a mapping; none for anything else.
    pub fn entries(&self) -> &[(Key, Node)] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The elements of a list; none for anything else.
    pub fn elements(&self) -> &[Node] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    /// The value under a key of a mapping.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entries().iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }

    /// The text that it is.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(value) => Some(value),
            _ => None,
        }
    }

    /// What it is, for messages: `the number 3`, `a list`.
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".to_owned(),
            Kind::Bool(value) => format!("`{value}`"),
            Kind::Int(value) => format!("the number {value}"),
            Kind::Float(value) => format!("the number {value}"),
            Kind::Text(_) => "a text".to_owned(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a mapping".to_owned(),
        }
    }

    /// The same as JSON, without places.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.kind {
            Kind::Null => serde_json::Value::Null,
            Kind::Bool(value) => (*value).into(),
            Kind::Int(value) => (*value).into(),
            Kind::Float(value) => (*value).into(),
            Kind::Text(value) => value.as_str().into(),
            Kind::List(items) => items.iter().map(Self::to_json).collect(),
            Kind::Map(entries) => serde_json::Value::Object(
                entries.iter().map(|(key, value)| (key.name.clone(), value.to_json())).collect(),
            ),
        }
    }
}

/// The strict reading of YAML that rule files have.
pub(crate) fn strict() -> serde_yaml::Options {
    serde_yaml::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        reject_unsupported_tags: true,
        duplicate_keys: serde_yaml::DuplicateKeyPolicy::Error,
        with_snippet: false,
        budget: serde_yaml::budget! {
            max_depth: 32,
            max_nodes: 20_000,
            max_total_scalar_bytes: 4 << 20,
            max_aliases: 100,
        },
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Kind>::deserialize(deserializer)?;
        Ok(Self { place: Place::of(spanned.defined), kind: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_none<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kind, D::Error> {
        Kind::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Kind, E> {
        Ok(Kind::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Kind, E> {
        Ok(Kind::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Kind, E> {
        Ok(i64::try_from(value).map_or_else(|_| Kind::Text(value.to_string()), Kind::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Kind, E> {
        Ok(Kind::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Kind, E> {
        Ok(Kind::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Kind, E> {
        Ok(Kind::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Kind, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Kind::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Kind, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let key = Key { place: Place::of(key.defined), name: key.value };
            entries.push((key, map.next_value()?));
        }
        Ok(Kind::Map(entries))
    }
}

/// How a text is written in its file: turns an offset in the value into a place in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// One an offset of the value's bytes, and one for its end: the offset in the file.
    offsets: Vec<usize>,
    /// Whether it is a plain scalar, in which YAML takes ` #` for the beginning of a comment.
    pub plain: bool,
}

impl Written {
    /// Lays a value along the source from where it begins. Quotes, escapes, folded line ends and
    /// indentation are passed over.
    pub fn of(source: &str, place: Place, value: &str) -> Self {
        let rest = source.get(place.offset..).unwrap_or_default();
        let opening = rest.bytes().next();
        let block = source[..place.offset.min(source.len())]
            .trim_end()
            .rsplit('\n')
            .next()
            .is_some_and(|line| line.trim_end_matches(['-', '+']).ends_with(['|', '>']));
        let mut offsets = Vec::with_capacity(value.len() + 1);
        let mut at = 0;
        for wanted in value.chars() {
            let blank = wanted == ' ' || wanted == '\n';
            let mut ahead = rest[at..].char_indices().peekable();
            let mut found = None;
            while let Some((index, seen)) = ahead.next() {
                if opening == Some(b'"') && seen == '\\' {
                    // An escape stands for whatever character the value has here.
                    found = ahead.next().map(|(_, escaped)| (index + 1, escaped));
                    break;
                }
                if seen == wanted || (blank && (seen == '\n' || seen == '\r')) {
                    found = Some((index, seen));
                    break;
                }
            }
            let (index, seen) = found.unwrap_or((0, '\0'));
            offsets.extend(std::iter::repeat_n(place.offset + at + index, wanted.len_utf8()));
            if found.is_some() {
                at += index + seen.len_utf8();
                if seen == '\n' {
                    at += rest[at..].len() - rest[at..].trim_start_matches([' ', '\t']).len();
                }
            }
        }
        offsets.push(place.offset + at);
        Self { offsets, plain: !block && !matches!(opening, Some(b'"' | b'\'' | b'|' | b'>')) }
    }

    /// The place in the file of an offset in the value.
    pub fn place(&self, source: &str, offset: usize) -> Place {
        let last = self.offsets.len() - 1;
        Place::of_offset(source, self.offsets[offset.min(last)])
    }

    /// The place of a comment that follows a plain scalar on its last line.
    pub fn comment_behind(&self, source: &str) -> Option<Place> {
        let end = *self.offsets.last()?;
        let line = source.get(end..)?.lines().next()?;
        let comment = line.trim_start();
        (self.plain && comment.starts_with('#'))
            .then(|| Place::of_offset(source, end + line.len() - comment.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place in the file of a word inside the text under `key`.
    fn place_of(source: &str, key: &str, word: &str) -> (usize, usize) {
        let node = Node::parse("a.yaml", source).unwrap();
        let node = node.get(key).unwrap();
        let value = node.text().unwrap();
        let written = Written::of(source, node.place, value);
        let place = written.place(source, value.find(word).unwrap());
        (place.line, place.column)
    }

    #[test]
    fn an_offset_in_a_value_is_found_in_the_file_however_it_is_written() {
        for (source, place) in [
            ("a: one word here\n", (1, 8)),
            ("é: x\na:   one word here\n", (2, 10)),
            ("a: \"one word here\"\n", (1, 9)),
            ("a: \"on\\u0065 word here\"\n", (1, 14)),
            ("a: \"say \\\"one\\\" word here\"\n", (1, 17)),
            ("a: 'it''s one word here'\n", (1, 15)),
            ("a: one\n   word here\n", (2, 4)),
            ("a: >-\n  one\n  word here\n", (3, 3)),
            ("a: |\n  one\n  word here\n", (3, 3)),
            ("{ a: one word }\n", (1, 10)),
        ] {
            assert_eq!(place_of(source, "a", "word"), place, "{source}");
        }
    }

    #[test]
    fn only_a_plain_scalar_loses_what_follows_a_number_sign() {
        for (source, lost) in [
            ("a: b # c\n", true),
            ("a: b#c\n", false),
            ("a: 'b' # c\n", false),
            ("a: \"b # c\"\n", false),
            ("a: >-\n  b # c\n", false),
            ("a: b\n# c\n", false),
        ] {
            let node = Node::parse("a.yaml", source).unwrap();
            let node = node.get("a").unwrap();
            let written = Written::of(source, node.place, node.text().unwrap());
            assert_eq!(written.comment_behind(source).is_some(), lost, "{source}");
        }
    }

    #[test]
    fn words_of_older_yaml_are_texts() {
        for (source, kind) in [
            ("yes", Kind::Text("yes".to_owned())),
            ("014", Kind::Text("014".to_owned())),
            ("1_000", Kind::Text("1_000".to_owned())),
            ("true", Kind::Bool(true)),
            ("3", Kind::Int(3)),
            ("~", Kind::Null),
        ] {
            assert_eq!(Node::parse("a.yaml", source).unwrap().kind, kind, "{source}");
        }
        assert!(Node::parse("a.yaml", "a: 1\na: 2\n").is_err());
        assert!(Node::parse("a.yaml", "!!python/object x\n").is_err());
    }
}
