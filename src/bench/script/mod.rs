//! Benchmark scripts: which commands they run, with which words, at which lines.
//!
//! A script is walked in order with what is known of its variables: literal assignments, exports, arrays
//! and appends, defaults (`${X:-y}`), and tests of known values, whose other branch is left out. What
//! cannot be known stays in a word as it is written, so that nothing is guessed; a variable that was set
//! from a command carries that command's text. Both branches of an unknown test are walked.
//!
//! Source: the scripts under `benchmarks/` of the benchmark repository, and the manual of bash.

mod condition;
mod launch;
#[cfg(test)]
mod tests;
mod walk;
mod word;

use std::collections::BTreeMap;

use tree_sitter::{Node, Parser};

use super::yaml::{Note, Place};

use crate::limits::{SCRIPT_BYTES, SCRIPT_DEPTH};

pub use launch::launches;

/// A script as it is walked.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Its commands, in order; those of a function at its definition.
    pub commands: Vec<Command>,
    /// Arrays, as they are at the end: lists of arguments mostly.
    pub arrays: BTreeMap<String, Vec<Word>>,
    /// Exported variables, in order; the last of a name is in force.
    pub exports: Vec<(String, Word)>,
    /// What could not be read, and where.
    pub problems: Vec<Note>,
}

/// One simple command.
#[derive(Debug, Clone, Default)]
pub struct Command {
    /// Its words, the name first. An array that is spread stands as its elements.
    pub words: Vec<Word>,
    /// Where it begins.
    pub at: Place,
    /// What it is fed or what it writes out, where that stands in the script.
    pub heredoc: Option<Heredoc>,
    /// Files that it writes to.
    pub writes: Vec<Word>,
    /// The tests under which it runs that are not known.
    pub guards: Vec<String>,
}

/// A text inside of a script.
#[derive(Debug, Clone)]
pub struct Heredoc {
    /// The text.
    pub text: String,
    /// Where its first line is.
    pub at: Place,
}

/// One word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// Its text; what is not known of it as it is written.
    pub text: String,
    /// Whether all of it is known.
    pub known: bool,
    /// Where it stands.
    pub at: Place,
}

impl Command {
    /// Its words as one line.
    pub fn line(&self) -> String {
        self.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// Why a script cannot be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    /// What is wrong.
    pub message: String,
}

/// Walks a script with the variables that are known when it starts.
///
/// # Errors
/// Files past [`SCRIPT_BYTES`], syntax nested past [`SCRIPT_DEPTH`]. A part that is no bash is a problem
/// of its line, and the rest is walked.
pub fn read(text: &str, known: &BTreeMap<String, String>) -> Result<Script, ScriptError> {
    let fail = |message: String| ScriptError { message };
    if text.len() > SCRIPT_BYTES {
        return Err(fail(format!("the script has {} bytes, more than {SCRIPT_BYTES}", text.len())));
    }
    // Deep nesting is seen before it is parsed: the parser's stack is not ours to bound.
    if nesting(text) > SCRIPT_DEPTH {
        return Err(fail(format!("the script nests deeper than {SCRIPT_DEPTH} levels")));
    }
    let mut parser = Parser::new();
    let language = tree_sitter_bash::LANGUAGE.into();
    parser.set_language(&language).map_err(|error| fail(format!("the grammar: {error}")))?;
    let tree = parser.parse(text, None).ok_or_else(|| fail("it cannot be parsed".to_owned()))?;
    let root = tree.root_node();
    if depth(root) > SCRIPT_DEPTH {
        return Err(fail(format!("the script nests deeper than {SCRIPT_DEPTH} levels")));
    }
    Ok(walk::walk(text, root, known))
}

/// How many brackets are open at once, at most; quotes are not looked at.
fn nesting(text: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' | b'[' => {
                open += 1;
                most = most.max(open);
            }
            b')' | b'}' | b']' => open = open.saturating_sub(1),
            // Unbalanced brackets in texts must not add up.
            b'\n' if most <= SCRIPT_DEPTH && open > SCRIPT_DEPTH / 2 => open /= 2,
            _ => {}
        }
    }
    most
}

fn depth(root: Node<'_>) -> usize {
    let mut cursor = root.walk();
    let (mut depth, mut most) = (0_usize, 0);
    loop {
        most = most.max(depth);
        if cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return most;
            }
            depth -= 1;
        }
    }
}

/// Where a node begins.
fn place(node: Node<'_>) -> Place {
    let at = node.start_position();
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX).saturating_add(1);
    Place { line: number(at.row), column: number(at.column) }
}
