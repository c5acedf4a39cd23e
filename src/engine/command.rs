//! Command lines: as a launcher prints them, as `set -x` traces them, as `printf %q` writes them.
//!
//! All three are words in the shell's quoting, so one reader serves them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::gather::{Gathered, Record};
use super::log::{Kind, Launch};
use super::repr::number;
use super::table::{Reader, Start, Table};
use crate::limits::LOG_VARIABLES;

/// A line of words.
#[derive(Debug, PartialEq)]
pub(super) struct Words {
    pub(super) words: Vec<String>,
    /// No quote was left open.
    pub(super) whole: bool,
}

/// Reads words with `'…'`, `"…"`, `$'…'` and `\x`. Nothing is expanded. A word whose quote does not end is
/// dropped.
pub(super) fn words(line: &str) -> Words {
    let mut words = Vec::new();
    let mut current: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let word = match c {
            ' ' | '\t' | '\n' => {
                words.extend(current.take());
                continue;
            }
            _ => current.get_or_insert_with(String::new),
        };
        let ended = match c {
            '\\' => chars.next().map(|c| word.push(c)).is_some(),
            '\'' => quoted(&mut chars, word, '\'', false),
            '"' => double(&mut chars, word),
            '$' if chars.peek() == Some(&'\'') => {
                chars.next();
                quoted(&mut chars, word, '\'', true)
            }
            _ => {
                word.push(c);
                true
            }
        };
        if !ended {
            return Words { words, whole: false };
        }
    }
    words.extend(current);
    Words { words, whole: true }
}

fn double(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, word: &mut String) -> bool {
    while let Some(c) = chars.next() {
        match c {
            '"' => return true,
            '\\' => match chars.next() {
                Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                Some(c) => word.extend(['\\', c]),
                None => return false,
            },
            _ => word.push(c),
        }
    }
    false
}

fn quoted(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    word: &mut String,
    quote: char,
    escapes: bool,
) -> bool {
    while let Some(c) = chars.next() {
        if c == quote {
            return true;
        }
        if c != '\\' || !escapes {
            word.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => word.push('\n'),
            Some('t') => word.push('\t'),
            Some('r') => word.push('\r'),
            Some('E' | 'e') => word.push('\u{1b}'),
            Some(first @ ('x' | '0'..='7')) => {
                let (radix, most) = if first == 'x' { (16, 2) } else { (8, 2) };
                let mut code = first.to_digit(8).unwrap_or(0);
                for _ in 0..most {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
                    code = code * radix + digit;
                    chars.next();
                }
                word.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some(c) => word.push(c),
            None => return false,
        }
    }
    false
}

/// An engine's command.
#[derive(Debug, PartialEq)]
pub(super) struct Command {
    pub(super) engine: String,
    pub(super) args: Map<String, Value>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) whole: bool,
}

/// The engine's command of a line, which is the line's own text past its prefixes; `hit` is where the
/// engine's words stand in it.
pub(super) fn command(line: &str, hit: usize, table: &Table) -> Option<Command> {
    let commands = &table.commands;
    let head = line.get(..hit)?;
    let from =
        commands.markers.iter().filter_map(|mark| Some(head.rfind(mark.as_str())? + mark.len()));
    let line = &line[from.max().unwrap_or(0)..];
    let traced = line.trim_start_matches('+');
    let line = if traced.starts_with(' ') && traced.len() < line.len() { traced } else { line };
    let Words { words, whole } = words(line);
    let mut env = BTreeMap::new();
    let mut at = 0;
    let start = loop {
        let rest = words.get(at..)?;
        let first = rest.first()?;
        let begins = |start: &&Start| {
            start.words.len() <= rest.len()
                && start.words.iter().zip(rest).enumerate().all(|(index, (want, word))| {
                    want == word || index == 0 && last_part(word) == want
                })
        };
        // The first in the table that fits: longer ones stand first there.
        if let Some(start) = commands.starts.iter().find(begins) {
            break start;
        }
        if let Some((name, value)) = assignment(first) {
            env.insert(name.to_owned(), table.secrets.variable(name, value));
        } else if !commands.before.iter().any(|word| word == last_part(first)) {
            return None;
        }
        at += 1;
    };
    let args = arguments(&words[at + start.words.len()..], start, table);
    Some(Command { engine: start.engine.clone(), args, env, whole })
}

fn last_part(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// `NAME=value`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let first = name.chars().next()?;
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (plain && !first.is_ascii_digit()).then_some((name, value))
}

fn arguments(words: &[String], start: &Start, table: &Table) -> Map<String, Value> {
    let mut args = Map::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if is_end(word) {
            break;
        }
        if !is_flag(word) {
            if let Some(name) = &start.positional {
                args.entry(name.clone())
                    .or_insert_with(|| table.secrets.value(name, Value::String(word.clone())));
            }
            continue;
        }
        let (flag, mut values) = match word.split_once('=') {
            Some((flag, value)) => (flag, vec![typed(value)]),
            None => (word.as_str(), Vec::new()),
        };
        if values.is_empty() {
            while let Some(value) = words.get(at).filter(|word| !is_flag(word) && !is_end(word)) {
                values.push(typed(value));
                at += 1;
            }
        }
        let value = match values.len() {
            0 => Value::Bool(true),
            1 => values.remove(0),
            _ => Value::Array(values),
        };
        let name = table.canonical(&start.engine, flag);
        let value = table.secrets.value(&name, value);
        args.insert(name, value);
    }
    args
}

fn is_end(word: &str) -> bool {
    matches!(word, "|" | "&" | "&&" | ";" | ">" | ">>" | "2>&1" | "2>" | "||")
}

/// A flag, not a negative number.
fn is_flag(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '-') && rest != "-"
    })
}

fn typed(text: &str) -> Value {
    match text {
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        _ => number(text).unwrap_or_else(|| Value::String(text.to_owned())),
    }
}

/// The variables of a launcher's line, which joins them by blanks without quotes, and those whose values hold
/// blanks, where the next name may be part of the value.
pub(super) fn unquoted(line: &str) -> (Vec<(String, String)>, Vec<String>) {
    let mut variables: Vec<(String, String)> = Vec::new();
    let mut doubtful = Vec::new();
    for word in line.split(' ') {
        match (assignment(word), variables.last_mut()) {
            (Some((name, value)), _) => variables.push((name.to_owned(), value.to_owned())),
            (None, Some((name, value))) if !word.is_empty() => {
                if doubtful.last() != Some(name) {
                    doubtful.push(name.clone());
                }
                value.push(' ');
                value.push_str(word);
            }
            _ => {}
        }
    }
    (variables, doubtful)
}

/// A command that starts an engine.
pub(super) fn launch(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let Some(found) = command(record.text, record.hit.0, gathered.table) else {
        return;
    };
    gathered.speaks_for(&found.engine, Reader::Command, Some(Kind::Requested), record.line);
    let mut env = gathered.env.clone();
    env.append(&mut std::mem::take(&mut gathered.next_env));
    env.extend(found.env);
    gathered.launch(Launch {
        args: found.args,
        env,
        complete: found.whole && !record.cut,
        line: record.line,
        kind: Kind::Requested,
        engine: found.engine,
        lines: vec![record.line],
        ready: false,
        source: record.source.who.clone(),
    });
}

/// `Env: A=1 B=2`: of the next command.
pub(super) fn env_line(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let before = &record.text[..record.hit.0];
    let (mut variables, doubtful) = unquoted(record.rest());
    if !(before.is_empty() || before.ends_with(' ')) || variables.is_empty() {
        return;
    }
    if record.cut {
        variables.pop();
    }
    gathered.next_env.clear();
    gathered.env_line.get_or_insert(record.line);
    for (name, value) in variables.into_iter().take(LOG_VARIABLES) {
        let value = gathered.table.secrets.variable(&name, &value);
        gathered.next_env.insert(name, value);
    }
    for name in doubtful {
        gathered.unknown(format!("environment {name}: a blank in an unquoted value"));
    }
}

/// `+ export A=1`.
pub(super) fn export(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    if record.text[..record.hit.0].bytes().any(|byte| byte != b'+') {
        return;
    }
    let mut found = words(record.rest());
    if record.cut {
        found.words.pop();
    }
    for word in &found.words {
        if let Some((name, value)) = assignment(word) {
            gathered.export(name, value, record.line);
        }
    }
}
