//! Fields of a row of an artifact: typed values out, and a list of what was missing or of another type.
//!
//! Rows change from revision to revision of the benchmark, so that unknown fields are passed over and a bad
//! one costs its own value, not the row. A value that could not be read is unknown, never a default.

use serde::Serialize;

use super::decimal::Decimal;
use super::python_json::{Node, Number, Value, WrongType, member};
use crate::limits::ROW_LACKS;

/// A field that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lack {
    /// The JSON pointer of the field in its file.
    pub pointer: String,
    /// The line of the field; of its object, where it is missing.
    pub line: i64,
    /// What is wrong with it.
    pub kind: LackKind,
}

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LackKind {
    /// It is not there.
    Missing,
    /// It is of another type, or a number that is none.
    Wrong {
        /// What was expected.
        wanted: &'static str,
        /// What stands there.
        found: String,
    },
}

/// A measured value: its number, or what stands there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// The JSON pointer in its file.
    pub pointer: String,
    /// Its line.
    pub line: i64,
    /// The number as written, or what a person calls what stands there.
    pub value: Result<Number, String>,
}

impl Measure {
    /// The measure that a node is.
    pub fn of(node: &Node, pointer: String) -> Self {
        let value = node.number().cloned().map_err(|wrong| wrong.found);
        Self { pointer, line: node.at.line, value }
    }

    /// What is written, exactly; `None` of what is no finite number.
    pub fn decimal(&self) -> Option<Decimal> {
        self.value.as_ref().ok().map(Number::decimal)
    }
}

/// The fields of one object.
pub(super) struct Fields<'n> {
    node: &'n Node,
    /// The pointer of the object.
    pub(super) pointer: String,
    /// What could not be used so far.
    pub(super) lacks: Vec<Lack>,
}

impl<'n> Fields<'n> {
    pub(super) fn new(node: &'n Node, pointer: String) -> Self {
        Self { node, pointer, lacks: Vec::new() }
    }

    fn lack(&mut self, key: &str, line: i64, kind: LackKind) {
        if self.lacks.len() < ROW_LACKS {
            self.lacks.push(Lack { pointer: member(&self.pointer, key), line, kind });
        }
    }

    fn wrong(&mut self, key: &str, wrong: WrongType) {
        let WrongType { at, wanted, found } = wrong;
        self.lack(key, at.line, LackKind::Wrong { wanted, found });
    }

    /// A field that has to be there.
    pub(super) fn required<T>(
        &mut self,
        key: &str,
        read: impl Fn(&'n Node) -> Result<T, WrongType>,
    ) -> Option<T> {
        match self.node.get(key) {
            Some(node) => read(node).map_err(|wrong| self.wrong(key, wrong)).ok(),
            None => {
                self.lack(key, self.node.at.line, LackKind::Missing);
                None
            }
        }
    }

    /// A field that may be missing or `null`.
    pub(super) fn optional<T>(
        &mut self,
        key: &str,
        read: impl Fn(&'n Node) -> Result<T, WrongType>,
    ) -> Option<T> {
        let node = self.node.get(key).filter(|node| !node.is_null())?;
        read(node).map_err(|wrong| self.wrong(key, wrong)).ok()
    }

    /// A field that older rows lack, whose value they mean is known; unknown where it is of another type.
    pub(super) fn or<T>(
        &mut self,
        key: &str,
        missing: T,
        read: impl Fn(&'n Node) -> Result<T, WrongType>,
    ) -> Option<T> {
        match self.node.get(key) {
            None => Some(missing),
            Some(node) => read(node).map_err(|wrong| self.wrong(key, wrong)).ok(),
        }
    }

    /// A measure that has to be there; one that is no number is kept as such, and listed.
    pub(super) fn measure(&mut self, key: &str) -> Option<Measure> {
        let Some(node) = self.node.get(key) else {
            self.lack(key, self.node.at.line, LackKind::Missing);
            return None;
        };
        if let Err(wrong) = node.number() {
            self.wrong(key, wrong);
        }
        Some(Measure::of(node, member(&self.pointer, key)))
    }

    /// The fields of a member object; `None` where there is none, which is listed where it has to be there.
    pub(super) fn inner(&mut self, key: &str, required: bool) -> Option<Fields<'n>> {
        let node = |node: &'n Node| node.object().map(|_| node);
        let inner = if required { self.required(key, node) } else { self.optional(key, node) }?;
        Some(Fields::new(inner, member(&self.pointer, key)))
    }

    /// Takes over what a member object lacks.
    pub(super) fn absorb(&mut self, inner: Fields<'_>) {
        self.lacks.extend(inner.lacks);
        self.lacks.truncate(ROW_LACKS);
    }

    /// Lists that the object as a whole cannot be used.
    pub(super) fn wrong_as_whole(&mut self, wanted: &'static str, found: String) {
        let (pointer, line) = (self.pointer.clone(), self.node.at.line);
        self.lacks.push(Lack { pointer, line, kind: LackKind::Wrong { wanted, found } });
    }

    /// All keys and values.
    pub(super) fn all(&self) -> &'n [(String, Node)] {
        self.node.object().unwrap_or_default()
    }
}

/// A text.
pub(super) fn text(node: &Node) -> Result<String, WrongType> {
    node.text().map(str::to_owned)
}

/// An integer, or a text of digits: the benchmark's collectors pass some through the environment.
pub(super) fn int(node: &Node) -> Result<i64, WrongType> {
    match &node.value {
        Value::Text(text) => text.parse().map_err(|_| node.wrong("an integer")),
        _ => node.int(),
    }
}

/// An integer of at least one.
pub(super) fn count(node: &Node) -> Result<i64, WrongType> {
    int(node).and_then(|n| if n >= 1 { Ok(n) } else { Err(node.wrong("an integer above zero")) })
}

/// A truth value, or its name as text: shells pass it so.
pub(super) fn flag(node: &Node) -> Result<bool, WrongType> {
    match &node.value {
        Value::Text(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Value::Text(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        _ => node.bool(),
    }
}

/// Integers of at least one.
pub(super) fn counts(node: &Node) -> Result<Vec<i64>, WrongType> {
    node.array()?.iter().map(count).collect()
}
