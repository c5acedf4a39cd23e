//! Nodes → typed values and JSON, and whether two nodes say the same.

use serde_json::{Map, Number};

use super::{Node, Pair, Place, Value};

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

impl Node {
    /// The text; other values are not turned into text.
    ///
    /// # Errors
    /// It is none.
    pub fn text(&self) -> Result<&str, WrongType> {
        match &self.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong("text")),
        }
    }

    /// The integer.
    ///
    /// # Errors
    /// It is none, or has more than 64 bits.
    pub fn int(&self) -> Result<i64, WrongType> {
        match self.value {
            Value::Int(n) => Ok(n),
            _ => Err(self.wrong("an integer")),
        }
    }

    /// The number, an integer too.
    ///
    /// # Errors
    /// It is none.
    #[allow(clippy::cast_precision_loss)]
    pub fn float(&self) -> Result<f64, WrongType> {
        match self.value {
            Value::Float(f) => Ok(f),
            Value::Int(n) => Ok(n as f64),
            _ => Err(self.wrong("a number")),
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
    pub fn sequence(&self) -> Result<&[Node], WrongType> {
        match &self.value {
            Value::Sequence(items) => Ok(items),
            _ => Err(self.wrong("a list")),
        }
    }

    /// The mapping.
    ///
    /// # Errors
    /// It is none.
    pub fn mapping(&self) -> Result<&[Pair], WrongType> {
        match &self.value {
            Value::Mapping(pairs) => Ok(pairs),
            _ => Err(self.wrong("a mapping")),
        }
    }

    /// The value of a key; `None` where there is no such key, or no mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.pair(key).map(|pair| &pair.value)
    }

    /// The pair of a key, whose own place is that of the line to point at.
    pub fn pair(&self, key: &str) -> Option<&Pair> {
        let Value::Mapping(pairs) = &self.value else { return None };
        pairs.iter().find(|pair| matches!(&pair.key.value, Value::Text(text) if text == key))
    }

    /// Whether it is `null` or nothing.
    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    fn wrong(&self, wanted: &'static str) -> WrongType {
        WrongType { at: self.at, wanted, found: self.describe() }
    }

    /// What a person calls it, with a short value.
    pub fn describe(&self) -> String {
        let short = |text: &str| {
            let cut: String = text.chars().take(60).collect();
            if cut.len() < text.len() { format!("{cut}…") } else { cut }
        };
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(b) => format!("the truth value {b}"),
            Value::Int(n) => format!("the integer {n}"),
            Value::WideInt(digits) => format!("the integer {}", short(digits)),
            Value::Float(f) => format!("the number {f}"),
            Value::Timestamp(text) => format!("the date {text}"),
            Value::Text(text) => format!("the text `{}`", short(text)),
            Value::Sequence(_) => "a list".to_owned(),
            Value::Mapping(_) => "a mapping".to_owned(),
        }
    }

    /// As JSON: keys that are no text by their Python name (`True`, `1`, `None`), dates and numbers
    /// that JSON cannot hold as text.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(b) => (*b).into(),
            Value::Int(n) => (*n).into(),
            Value::Float(f) => {
                Number::from_f64(*f).map_or_else(|| f.to_string().into(), serde_json::Value::Number)
            }
            Value::WideInt(text) | Value::Timestamp(text) | Value::Text(text) => {
                text.as_str().into()
            }
            Value::Sequence(items) => items.iter().map(Node::to_json).collect(),
            Value::Mapping(pairs) => {
                let entries = pairs.iter().map(|pair| (pair.key.key_name(), pair.value.to_json()));
                serde_json::Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    /// The name of a key in JSON.
    pub fn key_name(&self) -> String {
        match &self.value {
            Value::Null => "None".to_owned(),
            Value::Bool(true) => "True".to_owned(),
            Value::Bool(false) => "False".to_owned(),
            Value::Int(n) => n.to_string(),
            Value::Float(f) => format!("{f:?}"),
            Value::WideInt(text) | Value::Timestamp(text) | Value::Text(text) => text.clone(),
            Value::Sequence(_) | Value::Mapping(_) => String::new(),
        }
    }

    /// Whether two nodes say the same: places and the order of keys do not count, `1` and `1.0` are
    /// one number.
    #[allow(clippy::cast_precision_loss, clippy::float_cmp)]
    pub fn same(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Int(n), Value::Float(f)) | (Value::Float(f), Value::Int(n)) => *n as f64 == *f,
            (Value::Sequence(a), Value::Sequence(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
            }
            (Value::Mapping(a), Value::Mapping(b)) => {
                // Mostly the order is the same; else both sides are sorted.
                a.len() == b.len()
                    && (in_order(a.iter(), b.iter()) || {
                        in_order(sorted(a).into_iter(), sorted(b).into_iter())
                    })
            }
            (a, b) => a == b,
        }
    }
}

fn sorted(pairs: &[Pair]) -> Vec<&Pair> {
    let mut sorted: Vec<_> = pairs.iter().collect();
    sorted.sort_by_cached_key(|pair| pair.key.key_name());
    sorted
}

fn in_order<'a>(
    a: impl Iterator<Item = &'a Pair> + Clone,
    b: impl Iterator<Item = &'a Pair> + Clone,
) -> bool {
    a.clone().zip(b.clone()).all(|(a, b)| a.key.same(&b.key))
        && a.zip(b).all(|(a, b)| a.value.same(&b.value))
}
