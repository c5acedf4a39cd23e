//! What is wrong with a draft, each with the place and what to do, before it is posted.

use std::ops::Range;

use serde::Serialize;

use super::compare::Versions;
use super::text::lines;
use super::{NotASignOff, Place, Posted, Reader};
use crate::facts::{ItemState, Origin, OriginKind, SignOff, SignedItem, TemplateItem};

/// How grave a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemLevel {
    /// The sign-off would fail, or would not be one.
    Fail,
    /// Worth a look; fails nothing by itself.
    Note,
}

/// One problem of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// How grave it is.
    pub level: ProblemLevel,
    /// The item that it is about.
    pub item: Option<String>,
    /// What is wrong, one line.
    pub message: String,
    /// What to say at the place, a few words.
    pub label: String,
    /// 1-based line of the draft; 0 where it has no place.
    pub line: i64,
    /// 1-based column, in characters; 0 where it has no place.
    pub column: i64,
    /// How many characters the place has.
    pub width: i64,
    /// What to do about it.
    pub fix: Option<String>,
    /// The line to paste.
    pub paste: Option<String>,
}

impl Problem {
    fn new(level: ProblemLevel, message: impl Into<String>) -> Self {
        Self {
            level,
            item: None,
            message: message.into(),
            label: String::new(),
            line: 0,
            column: 0,
            width: 0,
            fix: None,
            paste: None,
        }
    }

    /// Its place in the draft: the line, and the bytes of it in that line.
    pub fn place<'b>(&self, body: &'b str) -> Option<(&'b str, Range<usize>)> {
        let index = usize::try_from(self.line).ok()?.checked_sub(1)?;
        let line = lines(body).nth(index)?;
        let byte = |characters: i64| {
            let characters = usize::try_from(characters).unwrap_or(0);
            line.char_indices().nth(characters).map_or(line.len(), |(at, _)| at)
        };
        let start = byte(self.column - 1);
        Some((line, start..byte(self.column - 1 + self.width).max(start)))
    }

    fn of_item(mut self, id: impl Into<String>) -> Self {
        self.item = Some(id.into());
        self
    }

    fn at(mut self, line: i64, column: i64, width: usize, label: impl Into<String>) -> Self {
        (self.line, self.column) = (line, column);
        self.width = i64::try_from(width).unwrap_or(i64::MAX);
        self.label = label.into();
        self
    }

    fn fixed_by(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// Pastes the line at fault with a checked box: what the author added to it stays.
    fn pasting_itself(mut self, body: &str) -> Self {
        self.paste = self.place(body).map(|(line, span)| {
            let before = &line[..span.start];
            let bullet = before.trim_start();
            let indent = &before[..before.len() - bullet.len()];
            let numbered = bullet.starts_with(|c: char| c.is_ascii_digit());
            let kept = numbered || ["-", "*", "+"].contains(&bullet.trim_end());
            let bullet = if kept { bullet.trim_end() } else { "-" };
            format!("{indent}{bullet} [x] {}", line[span.end..].trim_start())
        });
        self
    }

    fn pasting(mut self, line: impl Into<String>) -> Self {
        self.paste = Some(line.into());
        self
    }
}

impl Reader {
    /// The problems of a draft, in the order of its lines, those without a place last.
    ///
    /// Without a template the items are held against the item table alone: what is missing can then
    /// be named, but its wording is not known.
    pub fn lint(&self, body: &str, template: Option<&[TemplateItem]>) -> Vec<Problem> {
        let place = Place::File { path: String::new() };
        let mut problems = match self.parse(body, &place) {
            Ok(parsed) => {
                let signoff = parsed.into_fact(Posted::file(""));
                let mut problems = self.item_problems(&signoff, body, template);
                problems.extend(self.other_problems(&signoff));
                problems
            }
            Err(refused) => vec![unrecognised(&refused)],
        };
        problems.sort_by_key(|problem| (problem.line == 0, problem.line, problem.column));
        problems
    }

    fn item_problems(
        &self,
        signoff: &SignOff,
        body: &str,
        template: Option<&[TemplateItem]>,
    ) -> Vec<Problem> {
        let table = self.table_as_template();
        let checklist = self.compare(signoff, template.unwrap_or(&table), Versions::default());
        let mut problems = Vec::new();
        if template.is_some() {
            problems.extend(checklist.missing.iter().map(|item| {
                let message = format!("the item `{}` is missing: {}", item.id, item.text);
                Problem::new(ProblemLevel::Fail, message)
                    .of_item(&item.id)
                    .fixed_by("paste this line, and check it once it is true")
                    .pasting(&item.paste)
            }));
        } else if !checklist.missing.is_empty() {
            // Without their lines there is one thing to do about all of them.
            let missing: Vec<_> = checklist.missing.iter().map(|m| format!("`{}`", m.id)).collect();
            let message = format!("of the known items are missing: {}", missing.join(", "));
            problems.push(
                Problem::new(ProblemLevel::Fail, message).fixed_by(
                    "copy them from the current template; --template FILE shows the lines",
                ),
            );
        }
        for item in &checklist.unchecked {
            let (message, label) = box_fault(item.state, &item.typed);
            let message = format!("`{}`: {message}", item.id);
            let place = |level| {
                Problem::new(level, &message).of_item(&item.id).at(
                    item.line,
                    item.column,
                    item.typed.chars().count(),
                    label,
                )
            };
            problems.push(match &item.explained {
                Some(explanation) => place(ProblemLevel::Note)
                    .fixed_by(format!("explained by \"{}\"", explanation.quote)),
                None => place(ProblemLevel::Fail)
                    .fixed_by("write `[x]` once it is true, or say in the details why it is not")
                    .pasting_itself(body),
            });
        }
        for item in checklist.matched.iter().filter(|item| item.lacks_run_link) {
            let message = format!("`{}` asks for a link to a workflow run and has none", item.id);
            problems.push(Problem::new(ProblemLevel::Note, message).of_item(&item.id).at(
                item.origin.line.unwrap_or_default(),
                1,
                1,
                "no run linked here or in the details",
            ));
        }
        let is_known = |item: &SignedItem| {
            item.id.is_some()
                || checklist.matched.iter().any(|matched| matched.origin == item.origin)
        };
        problems.extend(signoff.items.iter().filter(|item| !is_known(item)).map(unknown));
        problems
    }

    /// The item table in the form of a template: ids and labels, no wording.
    fn table_as_template(&self) -> Vec<TemplateItem> {
        let item = |(position, (id, label)): (i64, (&str, &str))| TemplateItem {
            id: id.to_owned(),
            text: label.to_owned(),
            paste: String::new(),
            position,
            wants_run_link: false,
            origin: Origin::new(OriginKind::File),
        };
        (1..).zip(self.items.labels()).map(item).collect()
    }

    fn other_problems(&self, signoff: &SignOff) -> Vec<Problem> {
        let mut problems = Vec::new();
        let details = &signoff.details;
        let at_details = |message: &str| {
            let problem = Problem::new(ProblemLevel::Note, message);
            match details.line {
                0 => problem,
                line => problem.at(line, 1, 1, "the details"),
            }
        };
        if details.placeholder {
            problems.push(
                at_details("a placeholder is left in the additional details")
                    .fixed_by("replace it, or remove it where there is nothing to add"),
            );
        } else if details.empty {
            problems.push(
                at_details("the additional details are empty")
                    .fixed_by("checks that need them (links, reasons, counts) will not find them"),
            );
        }
        if signoff.signed.is_none() {
            let word = &self.grammar.signature;
            problems.push(
                Problem::new(ProblemLevel::Note, format!("no login stands on a `{word}` line"))
                    .fixed_by(format!("end with `{word}` and your login; the account that posts counts in any case")),
            );
        }
        problems
    }
}

/// What is wrong with a box that is not checked, and what to say at it.
fn box_fault(state: ItemState, typed: &str) -> (String, &'static str) {
    match state {
        ItemState::Malformed => (
            format!(
                "`{typed}` looks like a box, but Markdown draws none, so the item is not checked"
            ),
            "no box is drawn here",
        ),
        _ if typed.contains(['x', 'X']) => {
            ("the item is struck through, so it is not checked".to_owned(), "struck through")
        }
        _ => ("the item is not checked".to_owned(), "not checked"),
    }
}

fn unknown(item: &SignedItem) -> Problem {
    Problem::new(ProblemLevel::Note, "this item is none of the template's; nothing will check it")
        .at(item.line, item.column, item.typed.chars().count(), "unknown item")
}

fn unrecognised(refused: &NotASignOff) -> Problem {
    let message = format!("this would not be read as a sign-off: {}", refused.reason);
    let mut problem = Problem::new(ProblemLevel::Fail, message);
    if let Some(line) = refused.line {
        problem = problem.at(line, 1, 1, "here");
    }
    problem.fix = refused.reason.hint().map(str::to_owned);
    problem
}
