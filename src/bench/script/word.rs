//! Words: quotes, variables, defaults, and what cannot be known.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::{Word, place};
use crate::limits::WORD_BYTES;

/// What is known of a variable.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// Its text.
    Known(String),
    /// As it was written where it was set.
    Unknown(String),
}

/// What is known of all variables.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables {
    pub(super) plain: BTreeMap<String, Value>,
    pub(super) arrays: BTreeMap<String, Vec<Word>>,
}

/// A text and whether all of it is known.
#[derive(Debug, Clone, Default)]
struct Piece {
    text: String,
    known: bool,
}

fn known(text: impl Into<String>) -> Piece {
    Piece { text: text.into(), known: true }
}

fn unknown(text: impl Into<String>) -> Piece {
    Piece { text: text.into(), known: false }
}

/// The words that a node stands for: one, or the elements of an array that is spread.
pub(super) fn words(source: &str, node: Node<'_>, variables: &Variables) -> Vec<Word> {
    if let Some(elements) = spread(source, node, variables) {
        return elements;
    }
    let piece = piece(source, node, variables);
    vec![Word { text: cut(piece.text), known: piece.known, at: place(node) }]
}

/// One word.
pub(super) fn word(source: &str, node: Node<'_>, variables: &Variables) -> Word {
    let piece = piece(source, node, variables);
    Word { text: cut(piece.text), known: piece.known, at: place(node) }
}

fn cut(mut text: String) -> String {
    if text.len() > WORD_BYTES {
        let end = (0..=WORD_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

pub(super) fn raw<'s>(source: &'s str, node: Node<'_>) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// `"${A[@]}"` or `${A[*]}`, where the array is known.
fn spread(source: &str, node: Node<'_>, variables: &Variables) -> Option<Vec<Word>> {
    let text = raw(source, node).trim_matches('"');
    let inner = text.strip_prefix("${")?.strip_suffix('}')?;
    let name = inner.strip_suffix("[@]").or_else(|| inner.strip_suffix("[*]"))?;
    variables.arrays.get(name).cloned()
}

fn piece(source: &str, node: Node<'_>, variables: &Variables) -> Piece {
    match node.kind() {
        "word" | "variable_name" | "number" | "extglob_pattern" | "test_operator" | "regex" => {
            known(unescaped(raw(source, node)))
        }
        "raw_string" => known(raw(source, node).trim_matches('\'')),
        "ansi_c_string" => known(raw(source, node).trim_start_matches("$'").trim_end_matches('\'')),
        "string" => string(source, node, variables),
        "string_content" => {
            known(raw(source, node).replace("\\\"", "\"").replace("\\\n", "").replace("\\$", "$"))
        }
        "concatenation" | "command_name" => {
            let mut cursor = node.walk();
            join(node.children(&mut cursor).map(|child| piece(source, child, variables)))
        }
        "simple_expansion" => {
            let name = raw(source, node).trim_start_matches('$');
            variable(name, variables, raw(source, node))
        }
        "expansion" => expansion(source, node, variables),
        _ => unknown(raw(source, node)),
    }
}

/// A quoted string: what stands between its parts belongs to it.
fn string(source: &str, node: Node<'_>, variables: &Variables) -> Piece {
    let inside = (node.start_byte() + 1, node.end_byte().saturating_sub(1));
    let mut pieces = Vec::new();
    let mut from = inside.0;
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        if child.start_byte() > from {
            pieces.push(known(source.get(from..child.start_byte()).unwrap_or_default()));
        }
        pieces.push(piece(source, child, variables));
        from = child.end_byte();
    }
    if inside.1 > from {
        pieces.push(known(source.get(from..inside.1).unwrap_or_default()));
    }
    join(pieces)
}

fn join(pieces: impl IntoIterator<Item = Piece>) -> Piece {
    let mut all = known("");
    for piece in pieces {
        if all.text.len() <= WORD_BYTES {
            all.text.push_str(&piece.text);
        }
        all.known &= piece.known;
    }
    all
}

fn variable(name: &str, variables: &Variables, written: &str) -> Piece {
    match variables.plain.get(name) {
        Some(Value::Known(text)) => known(text.clone()),
        Some(Value::Unknown(text)) => unknown(text.clone()),
        None => unknown(written),
    }
}

/// `${X}`, `${X:-y}`, `${X-y}`, `${X:=y}`; anything else of this form is not known.
fn expansion(source: &str, node: Node<'_>, variables: &Variables) -> Piece {
    let written = raw(source, node);
    let Some(inner) = written.strip_prefix("${").and_then(|text| text.strip_suffix('}')) else {
        return unknown(written);
    };
    let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    if rest.is_empty() {
        return variable(name, variables, written);
    }
    let default = [":-", ":=", "-", "="].iter().find_map(|sign| rest.strip_prefix(sign));
    match (default, variables.plain.get(name)) {
        (Some(_), Some(Value::Known(text))) if !text.is_empty() => known(text.clone()),
        (Some(default), Some(Value::Known(_))) if is_literal(default) => {
            known(default.trim_matches('"'))
        }
        (Some(_), Some(Value::Unknown(text))) => unknown(text.clone()),
        _ => unknown(written),
    }
}

fn is_literal(text: &str) -> bool {
    !text.contains(['$', '`', '(', '\\'])
}

/// A word without its backslashes; a line that goes on is one.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(escaped) => out.push(escaped),
            },
            c => out.push(c),
        }
    }
    out
}
