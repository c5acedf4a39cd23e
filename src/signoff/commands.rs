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

/// A line that was probably meant as a command and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearCommand {
    /// The line as written, at most [`limits::QUOTE_CHARS`] characters.
    pub text: String,
    /// 1-based line in the body.
    pub line: i64,
    /// Why it is none, and what one looks like.
    pub why: String,
}

/// The override command's words.
const OVERRIDE: &str = "/countersign override";

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
    let found = lines.iter().filter(|line| line.spoken).filter_map(|line| {
        if settings.commands.iter().any(|command| reuse(command, line.text).is_some()) {
            return None;
        }
        let why = settings.commands.iter().find_map(|command| reuse_fault(command, line.text))?;
        Some(line.near(why))
    });
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

/// A line that asks for a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyLine {
    /// 1-based line in the body.
    pub line: i64,
}

/// Every line that asks for a verification, in the order of the text; in plain sight like an override.
pub fn verify_lines(body: &str) -> Vec<VerifyLine> {
    let lines = Lines::of(body);
    let found = lines.iter().filter(|line| line.spoken && line.text == "/countersign verify");
    found.map(|line| VerifyLine { line: line.number }).take(limits::COMMANDS).collect()
}

/// Lines that begin like an override and are none.
pub fn override_near_misses(body: &str) -> Vec<NearCommand> {
    let lines = Lines::of(body);
    let found =
        lines.iter().filter_map(|line| match override_parts(line.text)? {
            Ok(_) if line.spoken => None,
            Ok(_) => Some(line.near(
                "it is not shown as plain text: it stands in code, a quote or HTML".to_owned(),
            )),
            Err(why) if line.spoken => Some(line.near(why)),
            Err(_) => None,
        });
    found.take(limits::COMMANDS).collect()
}

/// One line without the blanks around it.
struct Line<'t> {
    text: &'t str,
    number: i64,
    in_code: bool,
    /// Whether it is shown as text: not in a code block or span, a quote, a table or HTML.
    spoken: bool,
}

impl Line<'_> {
    fn near(&self, why: String) -> NearCommand {
        NearCommand { text: shortened(self.text, limits::QUOTE_CHARS), line: self.number, why }
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
