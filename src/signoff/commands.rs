//! Commands in comments: whole lines and nothing else, so that no sentence becomes one.

use std::sync::LazyLock;

use regex::Regex;

use super::rows::{Kind, Row, Rows};
use super::settings::{Presence, ReuseCommandSettings, ReuseSettings};
use super::text::{CleanText, shortened};
use crate::limits;

/// A line that pins a run for reuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReuseLine {
    /// The command, e.g. `/use`.
    pub name: String,
    /// The run; `None` for the automatic form.
    pub run_id: Option<i64>,
    /// The line as written, at most [`limits::QUOTE_CHARS`] characters.
    pub text: String,
    /// 1-based line in the body.
    pub line: i64,
    /// Whether it stands in a code block (it counts all the same, as in the benchmark repository).
    pub in_code: bool,
}

/// A line by which somebody excepts a check for a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverrideLine {
    /// The check's id.
    pub check: String,
    /// The commit as written: 7 to 40 hex digits, in lower case.
    pub sha: String,
    /// The reason given.
    pub reason: String,
    /// 1-based line in the body.
    pub line: i64,
}

/// A line that asks for another verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyLine {
    /// 1-based line in the body.
    pub line: i64,
}

/// Which command a line was probably meant as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandKind {
    /// One that pins a run for reuse.
    Reuse,
    /// One that excepts a check for a commit.
    Override,
    /// One that asks for another verification.
    Verify,
}

/// A line that was probably meant as a command and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearCommand {
    /// Which command.
    pub command: CommandKind,
    /// The line as written, at most [`limits::QUOTE_CHARS`] characters.
    pub text: String,
    /// 1-based line in the body.
    pub line: i64,
    /// Why it is none, and what one looks like.
    pub why: String,
}

/// What every command of our own begins with.
const OURS: &str = "/countersign";
/// The override command's words.
const OVERRIDE: &str = "/countersign override";
/// The words that ask for another verification.
const VERIFY: &str = "/countersign verify";
/// Letters by which a misspelt word may differ from the one that was meant.
const MISSPELT: usize = 3;

/// Every line that pins a run, in the order of the text.
///
/// Within a comment the last one counts; which comment counts is the caller's business.
pub fn reuse_lines(body: &str, settings: &ReuseSettings) -> Vec<ReuseLine> {
    let lines = Lines::of(body);
    let found = lines.iter().filter_map(|line| {
        let (name, run_id) =
            settings.commands.iter().find_map(|command| reuse(command, line.text))?;
        let text = shortened(line.text, limits::QUOTE_CHARS);
        Some(ReuseLine { name, run_id, text, line: line.number, in_code: line.in_code })
    });
    found.take(limits::COMMANDS).collect()
}

/// Lines that hold such a command but are none.
pub fn reuse_near_misses(body: &str, settings: &ReuseSettings) -> Vec<NearCommand> {
    let lines = Lines::of(body);
    let found = lines.iter().filter_map(|line| near_reuse(&line, settings));
    found.take(limits::COMMANDS).collect()
}

/// Every override line, in the order of the text. Lines in code, quotes and HTML are none: an
/// exception has to be said in plain sight.
pub fn override_lines(body: &str) -> Vec<OverrideLine> {
    let lines = Lines::of(body);
    let found = lines.iter().filter(|line| line.spoken).filter_map(|line| {
        let (check, sha, reason) = override_parts(line.text)?.ok()?;
        let sha = sha.to_ascii_lowercase();
        Some(OverrideLine { check, sha, reason, line: line.number })
    });
    found.take(limits::COMMANDS).collect()
}

/// Lines that begin like an override and are none.
pub fn override_near_misses(body: &str) -> Vec<NearCommand> {
    let lines = Lines::of(body);
    let found = lines.iter().filter_map(|line| near_override(&line));
    found.take(limits::COMMANDS).collect()
}

/// Every line that asks for another verification, in the order of the text. As with overrides, a
/// line in code, a quote or HTML is none.
pub fn verify_lines(body: &str) -> Vec<VerifyLine> {
    let lines = Lines::of(body);
    let found = lines.iter().filter(|line| line.spoken && is_verify(line.text));
    found.map(|line| VerifyLine { line: line.number }).take(limits::COMMANDS).collect()
}

/// Every line that was probably meant as a command and is none, whichever command that is, in the
/// order of the text. `reuse` are the profile's commands that pin a run, where it has any.
pub fn near_commands(body: &str, reuse: Option<&ReuseSettings>) -> Vec<NearCommand> {
    let lower = body.to_ascii_lowercase();
    let names = reuse.into_iter().flat_map(|reuse| &reuse.commands).map(|one| one.name.as_str());
    let mut names = names.chain([OURS]);
    // Most comments hold no command, and need not be taken apart.
    if !names.any(|name| lower.contains(&name.to_ascii_lowercase())) {
        return Vec::new();
    }
    let lines = Lines::of(body);
    let found = lines.iter().filter_map(|line| {
        reuse
            .and_then(|settings| near_reuse(&line, settings))
            .or_else(|| near_override(&line))
            .or_else(|| near_verify(&line))
    });
    found.take(limits::COMMANDS).collect()
}

fn near_reuse(line: &Line<'_>, settings: &ReuseSettings) -> Option<NearCommand> {
    let is_one = |command: &ReuseCommandSettings| reuse(command, line.text).is_some();
    if !line.spoken || settings.commands.iter().any(is_one) {
        return None;
    }
    let why = settings.commands.iter().find_map(|command| reuse_fault(command, line.text))?;
    Some(line.near(CommandKind::Reuse, why))
}

fn near_override(line: &Line<'_>) -> Option<NearCommand> {
    let why = match override_parts(line.text)? {
        Ok(_) if line.spoken => return None,
        Ok(_) => HIDDEN.to_owned(),
        Err(why) if line.spoken => why,
        Err(_) => return None,
    };
    Some(line.near(CommandKind::Override, why))
}

fn near_verify(line: &Line<'_>) -> Option<NearCommand> {
    let near = |command, why: &str, form: &str| Some(line.near(command, format!("{why}; {form}")));
    let verify = format!("it has to be a line of its own, `{VERIFY}`");
    if is_verify(line.text) {
        let hidden = !line.spoken;
        return hidden.then(|| line.near(CommandKind::Verify, HIDDEN.to_owned()));
    }
    if !line.spoken || override_parts(line.text).is_some() {
        return None;
    }
    let mut words = line.text.split_whitespace();
    let first = words.next()?;
    if !first.eq_ignore_ascii_case(OURS) {
        let behind = line.text.strip_suffix(VERIFY)?;
        let inside = behind.ends_with(|c: char| c.is_whitespace());
        return if inside {
            near(CommandKind::Verify, "the command stands inside a sentence", &verify)
        } else {
            None
        };
    }
    let word = words.next().unwrap_or_default().to_ascii_lowercase();
    let distance = |known: &str| strsim::damerau_levenshtein(&word, known);
    if word == "verify" && words.next().is_some() {
        near(CommandKind::Verify, "other words stand behind the command", &verify)
    } else if word == "verify" {
        near(CommandKind::Verify, "the command is written in small letters", &verify)
    } else if word == "override" {
        // Only in other letters: the right ones are an override, or one with a fault of its own.
        let form = format!("it has to be `{OVERRIDE} <check id> <commit> <reason>`");
        near(CommandKind::Override, "the command is written in small letters", &form)
    } else if distance("override") <= MISSPELT {
        let form = format!("it has to be `{OVERRIDE} <check id> <commit> <reason>`");
        near(CommandKind::Override, "there is no such command", &form)
    } else {
        near(CommandKind::Verify, "there is no such command", &verify)
    }
}

fn is_verify(line: &str) -> bool {
    line.split_whitespace().eq(VERIFY.split(' '))
}

/// Why a command in the right form is none all the same.
const HIDDEN: &str = "it is not shown as plain text: it stands in code, a quote or HTML";

/// One line without the blanks around it.
struct Line<'t> {
    text: &'t str,
    number: i64,
    in_code: bool,
    /// Whether it is shown as text: not in a code block or span, a quote, a table or HTML.
    spoken: bool,
}

impl Line<'_> {
    fn near(&self, command: CommandKind, why: String) -> NearCommand {
        let text = shortened(self.text, limits::QUOTE_CHARS);
        NearCommand { command, text, line: self.number, why }
    }
}

/// The lines of a body, and what Markdown makes of them.
struct Lines<'a> {
    text: CleanText<'a>,
    rows: Vec<Row>,
}

impl<'a> Lines<'a> {
    fn of(body: &'a str) -> Self {
        let body = if body.len() > limits::BODY_BYTES { "" } else { body };
        let text = CleanText::as_laid_out(body);
        let rows = Rows::of(text.as_str()).rows;
        Self { text, rows }
    }

    fn iter(&self) -> impl Iterator<Item = Line<'_>> {
        let mut at = 0;
        self.text.as_str().split('\n').map(move |line| {
            let start = at;
            at += line.len() + 1;
            let first = start + (line.len() - line.trim_start().len());
            // Rows come in the order of the text.
            let before = self.rows.partition_point(|row| row.start <= first);
            let row = before.checked_sub(1).map(|index| &self.rows[index]);
            Line {
                text: line.trim(),
                number: self.text.line(start),
                in_code: row.is_some_and(|row| row.kind == Kind::Code && first < row.end),
                spoken: row
                    .is_some_and(|row| row.kind == Kind::Text && row.start == first && !row.quoted),
            }
        })
    }
}

/// Name and run of a line that is this command.
fn reuse(command: &ReuseCommandSettings, line: &str) -> Option<(String, Option<i64>)> {
    let rest = line.strip_prefix(command.name.as_str())?;
    let run_id = match rest.trim_start() {
        "" => None,
        _ if !rest.starts_with([' ', '\t']) => return None,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(digits.parse().ok()?),
        _ => return None,
    };
    match (command.run_id, run_id) {
        (Presence::Required, None) => None,
        _ => Some((command.name.clone(), run_id)),
    }
}

/// Why a line that holds this command is none.
fn reuse_fault(command: &ReuseCommandSettings, line: &str) -> Option<String> {
    let form = match command.run_id {
        Presence::Required => format!("a line of its own, `{} <run id>`", command.name),
        Presence::Optional => format!("a line of its own, `{0}` or `{0} <run id>`", command.name),
    };
    let lower = line.to_ascii_lowercase();
    let name = command.name.to_ascii_lowercase();
    let (at, rest) = lower.match_indices(&name).find_map(|(at, found)| {
        let before = lower[..at].chars().next_back();
        let rest = &lower[at + found.len()..];
        let word = before.is_none_or(|c| c.is_whitespace() || "`*_(\"'".contains(c))
            && !rest.starts_with(|c: char| c.is_alphanumeric() || "-_/".contains(c));
        word.then_some((at, rest))
    })?;
    let digits = rest.trim_start().chars().take_while(char::is_ascii_digit).count();
    let why = if at > 0 {
        // A mention without a run is talk about the command.
        if digits == 0 {
            return None;
        }
        "the command stands inside a sentence"
    } else if !line.starts_with(command.name.as_str()) {
        "the command is written in small letters"
    } else if digits == 0 {
        "the run's id is missing behind the command"
    } else if digits > 18 {
        "the number is no run's id"
    } else {
        "other words stand behind the command"
    };
    Some(format!("{why}; it has to be {form}"))
}

/// Check, commit and reason of a line that begins like an override, or what is wrong with it.
fn override_parts(line: &str) -> Option<Result<(String, String, String), String>> {
    static PARTS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^/countersign[ \t]+override(?:[ \t]+(?P<check>\S+))?(?:[ \t]+(?P<sha>\S+))?(?:[ \t]+(?P<reason>.*))?$")
            .expect("the pattern is a constant")
    });
    let parts = PARTS.captures(line)?;
    let part = |name: &str| parts.name(name).map_or("", |found| found.as_str());
    let (check, sha, reason) = (part("check"), part("sha"), part("reason").trim());
    let id = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let fault = if check.is_empty() || !check.chars().all(id) {
        "the check's id is missing or is none"
    } else if !(7..=40).contains(&sha.len()) || !sha.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        "the commit is missing: 7 to 40 hex digits"
    } else if !reason.chars().any(char::is_alphanumeric) {
        "the reason is missing"
    } else {
        return Some(Ok((check.to_owned(), sha.to_owned(), reason.to_owned())));
    };
    Some(Err(format!("{fault}; it has to be `{OVERRIDE} <check id> <commit> <reason>`")))
}
