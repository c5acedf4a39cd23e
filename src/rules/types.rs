//! The types that expressions have, read off the JSON schema of the facts.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

/// What an expression gives.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    /// Not known; nothing is checked.
    Any,
    /// `none`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Int,
    /// Any other number.
    Float,
    /// A text.
    Text,
    /// One of some words.
    Words(Arc<[String]>),
    /// What a filter made ready for the text that it stands in.
    Markup,
    /// A list.
    List(Box<Type>),
    /// A mapping with fixed fields.
    Record(Arc<Record>),
    /// A mapping with any keys.
    Open(Box<Type>),
    /// The type, or `none`.
    Nullable(Box<Type>),
    /// The type, or nothing at all: a key of an open mapping.
    Absent(Box<Type>),
}

/// A mapping with fixed fields.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    /// Its name, for messages.
    pub(super) name: String,
    /// Its fields.
    pub(super) fields: BTreeMap<String, Type>,
}

impl Type {
    /// The type without "or none" and "or nothing".
    pub(super) fn present(&self) -> &Self {
        match self {
            Self::Nullable(inner) | Self::Absent(inner) => inner.present(),
            other => other,
        }
    }

    /// Whether it can be `none` or nothing.
    pub(super) fn may_lack(&self) -> bool {
        matches!(self, Self::Nullable(_) | Self::Absent(_) | Self::Null)
    }

    /// Whether a value of the one can equal a value of the other.
    pub(super) fn comparable(&self, other: &Self) -> bool {
        match (self.present(), other.present()) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::Null, _) => other.may_lack(),
            (_, Self::Null) => self.may_lack(),
            (Self::Int | Self::Float, Self::Int | Self::Float)
            | (Self::Text | Self::Words(_), Self::Text | Self::Words(_))
            | (Self::Bool, Self::Bool) => true,
            (Self::List(a), Self::List(b)) => a.comparable(b),
            (a, b) => a == b,
        }
    }

    /// The type that covers both.
    pub(super) fn join(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Null, Self::Nullable(a)) | (Self::Nullable(a), Self::Null) => Self::Nullable(a),
            (Self::Null, a) | (a, Self::Null) => Self::Nullable(Box::new(a)),
            (Self::Nullable(a), b) | (b, Self::Nullable(a)) => {
                Self::Nullable(Box::new(a.join(b.present().clone())))
            }
            (Self::Text | Self::Words(_), Self::Text | Self::Words(_)) => Self::Text,
            (Self::Int | Self::Float, Self::Int | Self::Float) => Self::Float,
            (Self::List(a), Self::List(b)) => Self::List(Box::new(a.join(*b))),
            _ => Self::Any,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("anything"),
            Self::Null => f.write_str("none"),
            Self::Bool => f.write_str("true or false"),
            Self::Int => f.write_str("a whole number"),
            Self::Float => f.write_str("a number"),
            Self::Text => f.write_str("a text"),
            Self::Words(words) => write!(f, "one of {}", words.join(", ")),
            Self::Markup => f.write_str("ready text"),
            Self::List(_) => f.write_str("a list"),
            Self::Record(record) => write!(f, "a record (`{}`)", record.name),
            Self::Open(_) => f.write_str("a mapping"),
            Self::Nullable(inner) => write!(f, "{inner}, or none"),
            Self::Absent(inner) => write!(f, "{inner}, or nothing"),
        }
    }
}

/// The types of a JSON schema that `schemars` made.
#[derive(Debug)]
pub(super) struct Schema {
    root: Json,
}

impl Schema {
    /// Takes a schema.
    pub(super) fn new(root: Json) -> Self {
        Self { root }
    }

    /// The type of every fact, by name: of the value that it has where it is known.
    pub(super) fn facts(&self) -> BTreeMap<String, Type> {
        let facts = self.root.get("properties").and_then(Json::as_object);
        facts
            .into_iter()
            .flatten()
            .map(|(name, schema)| {
                let fact = self.resolve(schema);
                let known = fact
                    .get("oneOf")
                    .and_then(Json::as_array)
                    .into_iter()
                    .flatten()
                    .find_map(|variant| variant.get("properties")?.get("known"));
                (name.clone(), known.map_or(Type::Any, |schema| self.type_of(schema)))
            })
            .collect()
    }

    /// The type that the whole schema describes.
    pub(super) fn whole(&self) -> Type {
        self.type_of(&self.root)
    }

    fn resolve<'a>(&'a self, schema: &'a Json) -> &'a Json {
        self.reference(schema).map_or(schema, |(_, target)| target)
    }

    fn reference<'a>(&'a self, schema: &'a Json) -> Option<(&'a str, &'a Json)> {
        let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
        Some((name, self.root.get("$defs")?.get(name)?))
    }

    fn type_of(&self, schema: &Json) -> Type {
        if let Some((name, target)) = self.reference(schema) {
            return self.plain(name, target);
        }
        if let Some(variants) = schema.get("anyOf").and_then(Json::as_array) {
            return variants
                .iter()
                .map(|variant| self.type_of(variant))
                .reduce(Type::join)
                .unwrap_or(Type::Any);
        }
        let title = schema.get("title").and_then(Json::as_str).unwrap_or("mapping");
        self.plain(title, schema)
    }

    fn plain(&self, name: &str, schema: &Json) -> Type {
        if let Some(words) = words(schema) {
            return Type::Words(words.into());
        }
        match schema.get("type") {
            Some(Json::String(kind)) => self.of_kind(name, kind, schema),
            Some(Json::Array(kinds)) => kinds
                .iter()
                .filter_map(Json::as_str)
                .map(|kind| self.of_kind(name, kind, schema))
                .reduce(Type::join)
                .unwrap_or(Type::Any),
            _ => Type::Any,
        }
    }

    fn of_kind(&self, name: &str, kind: &str, schema: &Json) -> Type {
        match kind {
            "null" => Type::Null,
            "boolean" => Type::Bool,
            "integer" => Type::Int,
            "number" => Type::Float,
            "string" => Type::Text,
            "array" => Type::List(Box::new(
                schema.get("items").map_or(Type::Any, |items| self.type_of(items)),
            )),
            "object" => match schema.get("properties").and_then(Json::as_object) {
                Some(fields) => Type::Record(Arc::new(Record {
                    name: name.to_owned(),
                    fields: fields
                        .iter()
                        .map(|(field, schema)| (field.clone(), self.type_of(schema)))
                        .collect(),
                })),
                None => Type::Open(Box::new(
                    schema
                        .get("additionalProperties")
                        .filter(|values| values.is_object())
                        .map_or(Type::Any, |values| self.type_of(values)),
                )),
            },
            _ => Type::Any,
        }
    }
}

/// The words of an enumeration, documented or not.
fn words(schema: &Json) -> Option<Vec<String>> {
    if let Some(words) = schema.get("enum").and_then(Json::as_array) {
        return words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
    }
    let variants = schema.get("oneOf").and_then(Json::as_array)?;
    let mut all = Vec::new();
    for variant in variants {
        match variant.get("const").and_then(Json::as_str) {
            Some(word) => all.push(word.to_owned()),
            None => all.extend(words(variant)?),
        }
    }
    Some(all)
}

/// The type of a table: mappings are closed, because their keys are there to be seen.
pub(super) fn of_json(name: &str, value: &Json) -> Type {
    match value {
        Json::Null => Type::Null,
        Json::Bool(_) => Type::Bool,
        Json::Number(number) if number.is_i64() => Type::Int,
        Json::Number(_) => Type::Float,
        Json::String(_) => Type::Text,
        Json::Array(items) => Type::List(Box::new(
            items.iter().map(|item| of_json(name, item)).reduce(Type::join).unwrap_or(Type::Any),
        )),
        Json::Object(fields) => Type::Record(Arc::new(Record {
            name: name.to_owned(),
            fields: fields.iter().map(|(key, value)| (key.clone(), of_json(key, value))).collect(),
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{FACT_NAMES, Facts};

    fn field(of: &Type, name: &str) -> Type {
        let Type::Record(record) = of.present() else { panic!("{of} has no fields") };
        record.fields[name].clone()
    }

    #[test]
    fn every_fact_has_a_type_and_no_field_is_unknown() {
        fn no_any(at: &str, of: &Type) {
            match of {
                Type::Any => panic!("{at} has no type"),
                Type::List(inner)
                | Type::Nullable(inner)
                | Type::Open(inner)
                | Type::Absent(inner) => no_any(at, inner),
                Type::Record(record) => {
                    for (name, inner) in &record.fields {
                        no_any(&format!("{at}.{name}"), inner);
                    }
                }
                _ => {}
            }
        }
        let facts = Schema::new(Facts::schema()).facts();
        let mut names: Vec<_> = facts.keys().map(String::as_str).collect();
        let mut expected = FACT_NAMES.to_vec();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
        for (name, of) in &facts {
            no_any(name, of);
        }
    }

    #[test]
    fn options_words_and_lists_are_told_apart() {
        let facts = Schema::new(Facts::schema()).facts();
        assert_eq!(field(&facts["pr"], "number"), Type::Int);
        assert_eq!(field(&facts["signoff"], "edited_by"), Type::Nullable(Box::new(Type::Text)));
        let Type::Words(words) = field(&facts["signoff"], "kind") else { panic!() };
        assert_eq!(words.to_vec(), ["issue_comment", "review", "review_comment", "file"]);
        let Type::Nullable(chosen) = field(&facts["sweep"], "chosen") else { panic!() };
        let Type::List(job) = field(&chosen, "missing") else { panic!() };
        assert_eq!(field(&job, "name"), Type::Text);
        assert!(matches!(&facts["overrides"], Type::List(_)));
    }
}
