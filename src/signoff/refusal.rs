//! Why a body is no sign-off, in words that its author understands.

use std::fmt;

use super::Reader;
use super::boxes::box_of;
use super::form::Form;
use super::items::key;
use super::parse::is_empty_box;
use super::rows::{Kind, Row, Rows};
use super::text::CleanText;
use crate::limits;

/// A body that is no sign-off.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotASignOff {
    /// Why it is none.
    pub reason: Reason,
    /// 1-based line that shows it, where one line does.
    pub line: Option<i64>,
    /// Whether its author seems to have meant one: then a hint is of use.
    pub near: bool,
}

/// Why a body is no sign-off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It is longer than any comment can be.
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// The opening phrase is nowhere in it.
    NoPhrase {
        /// The phrase.
        phrase: String,
    },
    /// The phrase stands somewhere below the first block.
    Late,
    /// The phrase is part of a sentence.
    InSentence,
    /// The phrase stands in a block quote.
    Quoted,
    /// The phrase stands in a code span.
    CodeSpan,
    /// The phrase stands in a code block that is not the whole comment.
    CodeBlock,
    /// The comment is the empty template in a code block.
    TemplateShown,
    /// The phrase stands in an HTML comment.
    HtmlComment,
    /// The form stands in a block of HTML, where Markdown draws nothing.
    HtmlBlock,
    /// The items are there without boxes: a copy of the rendered text.
    NoBoxes,
    /// The items stand in a code block below the phrase.
    BoxesInCode,
    /// Fewer items than a sign-off has.
    TooFewItems {
        /// Boxes found.
        found: usize,
        /// Boxes that a sign-off has at least.
        needed: usize,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes } => {
                write!(
                    out,
                    "{bytes} bytes are more than a comment can hold ({})",
                    limits::BODY_BYTES
                )
            }
            Self::NoPhrase { phrase } => write!(out, "the opening phrase \"{phrase}\" is missing"),
            Self::Late => out.write_str("the opening phrase does not open the comment"),
            Self::InSentence => out.write_str("the opening phrase is only mentioned in a sentence"),
            Self::Quoted => out.write_str("the opening phrase is part of a quote"),
            Self::CodeSpan => out.write_str("the opening phrase stands in a code span"),
            Self::CodeBlock => {
                out.write_str("the form stands in a code block with other text around it")
            }
            Self::TemplateShown => out.write_str("the comment shows the empty template"),
            Self::HtmlComment => out.write_str("the opening phrase stands in an HTML comment"),
            Self::HtmlBlock => {
                out.write_str("the form stands in a block of HTML, where no box is drawn")
            }
            Self::NoBoxes => out.write_str("no box is drawn: the items have no `[ ]` or `[x]`"),
            Self::BoxesInCode => out.write_str(
                "no box is drawn: the items stand in a code block or are indented like one",
            ),
            Self::TooFewItems { found: 0, needed } => {
                write!(
                    out,
                    "no checklist item follows the opening phrase, where {needed} or more should"
                )
            }
            Self::TooFewItems { found, needed } => {
                write!(
                    out,
                    "only {found} of at least {needed} checklist items follow the opening phrase"
                )
            }
        }
    }
}

impl Reason {
    /// What to do about it; `None` where nobody seems to have meant a sign-off.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::TooLong { .. } => "shorten the additional details and link to the rest",
            Self::NoPhrase { .. } => "begin the comment with the template's first line, unchanged",
            Self::Late => "move everything above the opening phrase below the checklist",
            Self::InSentence => "begin the comment with the opening phrase",
            Self::CodeBlock => "remove the ``` lines around the form",
            Self::HtmlBlock => "leave a blank line after the opening HTML tags",
            Self::NoBoxes => {
                "copy the template from its source (the \"Raw\" or \"Copy\" button), not from the rendered page, so that each item begins with `- [ ]`"
            }
            Self::BoxesInCode => "remove the ``` lines and the indent before the items",
            Self::TooFewItems { .. } => "paste the whole template below the opening phrase",
            Self::Quoted | Self::CodeSpan | Self::TemplateShown | Self::HtmlComment => return None,
        })
    }
}

impl NotASignOff {
    pub(super) fn new(reason: Reason, line: Option<i64>, near: bool) -> Self {
        Self { reason, line, near }
    }

    /// Whether the body has anything to do with a sign-off: it holds the opening phrase, or its
    /// author seems to have meant one.
    pub fn speaks_of_one(&self) -> bool {
        self.near || !matches!(self.reason, Reason::NoPhrase { .. } | Reason::TooLong { .. })
    }

    /// What its author can do, where a sign-off seems to have been meant.
    pub fn hint(&self) -> Option<&'static str> {
        if self.near { self.reason.hint() } else { None }
    }
}

impl Reader {
    /// Says why a text is no sign-off: what was meant as one first, then what only mentions it.
    pub(super) fn refuse(&self, text: &CleanText<'_>, rows: &Rows) -> NotASignOff {
        let refusal = self.attempt(text, rows).or_else(|| self.mention(text, rows));
        refusal.unwrap_or_else(|| {
            let near =
                count(rows, |row| self.is_known_item(row, text)) >= self.grammar.minimum_items;
            NotASignOff::new(Reason::NoPhrase { phrase: self.grammar.phrase.clone() }, None, near)
        })
    }

    /// A row that begins with the phrase: somebody may have meant it.
    fn attempt(&self, text: &CleanText<'_>, rows: &Rows) -> Option<NotASignOff> {
        let at = rows.rows.iter().position(|row| self.opens_with_phrase(row))?;
        let (needed, rest) = (self.grammar.minimum_items, at + 1..rows.rows.len());
        let line = |row: &Row| Some(text.line(row.start));
        let form = Form::read(&self.grammar, rows, rest.clone(), text);
        if form.items.len() >= needed {
            return Some(NotASignOff::new(Reason::Late, line(&rows.rows[at]), true));
        }
        let below = &rows.rows[rest];
        let mut bare = below.iter().filter(|row| self.is_bare_item(row, text));
        if let Some(first) = bare.next()
            && bare.count() + 1 >= needed
        {
            return Some(NotASignOff::new(Reason::NoBoxes, line(first), true));
        }
        let opaque = |kind: Kind| {
            below.iter().find(|row| row.kind == kind && boxes_in(&row.plain) >= needed)
        };
        if let Some(code) = opaque(Kind::Code) {
            return Some(NotASignOff::new(Reason::BoxesInCode, line(code), true));
        }
        if let Some(html) = opaque(Kind::Html) {
            return Some(NotASignOff::new(Reason::HtmlBlock, line(html), true));
        }
        let found = form.items.len();
        let reason = Reason::TooFewItems { found, needed };
        // Who opens a comment with the phrase means it, whatever follows.
        let near = found > 0 || at == 0;
        Some(NotASignOff::new(reason, line(&rows.rows[at]), near))
    }

    /// The first place that holds the phrase in any other way.
    fn mention(&self, text: &CleanText<'_>, rows: &Rows) -> Option<NotASignOff> {
        let phrase = self.grammar.phrase.as_str();
        let holds = |row: &&Row| row.plain.contains(phrase);
        // Who fills in a form and leaves around it what explained it means the form.
        let filled =
            |row: &&Row| row.kind == Kind::Code && holds(row) && self.is_filled_form(&row.plain);
        let row = rows.rows.iter().find(filled).or_else(|| rows.rows.iter().find(holds))?;
        let source = &text.as_str()[row.start..row.end];
        let in_code = || {
            let before = source.find(phrase).map(|at| &source[..at]);
            row.code_first || before.is_some_and(|before| before.ends_with('`'))
        };
        let boxes = count(rows, |row| box_of(row, text).is_some());
        let enough = |found: usize| found >= self.grammar.minimum_items;
        let (reason, near) = match row.kind {
            Kind::Code => (Reason::CodeBlock, self.is_filled_form(&row.plain)),
            Kind::Html if row.plain.trim_start().starts_with("<!--") => {
                (Reason::HtmlComment, false)
            }
            Kind::Html => (Reason::HtmlBlock, enough(boxes_in(&row.plain))),
            _ if row.quoted => (Reason::Quoted, false),
            _ if in_code() => (Reason::CodeSpan, false),
            _ => (Reason::InSentence, enough(boxes)),
        };
        Some(NotASignOff::new(reason, Some(text.line(row.start)), near))
    }

    /// Whether a text is a form with some box that is not empty.
    fn is_filled_form(&self, code: &str) -> bool {
        let text = CleanText::new(code);
        let rows = Rows::of(text.as_str());
        let form = Form::read(&self.grammar, &rows, 0..rows.rows.len(), &text);
        form.items.len() >= self.grammar.minimum_items
            && form.items.iter().any(|item| !is_empty_box(item, &text))
    }

    fn is_known_item(&self, row: &Row, text: &CleanText<'_>) -> bool {
        box_of(row, text).is_some() && self.items.identify(&key(&row.marked)).is_some()
    }

    fn is_bare_item(&self, row: &Row, text: &CleanText<'_>) -> bool {
        row.kind == Kind::Text
            && !row.quoted
            && box_of(row, text).is_none()
            && self.items.identify(&key(&row.marked)).is_some()
    }
}

fn count(rows: &Rows, holds: impl Fn(&Row) -> bool) -> usize {
    rows.rows.iter().filter(|row| holds(row)).count()
}

/// Lines of an opaque block that begin like an item with a box.
fn boxes_in(block: &str) -> usize {
    let text = CleanText::new(block);
    let lines = text
        .as_str()
        .lines()
        .map(|line| line.trim_start().trim_start_matches(['-', '*', '+', ' ']));
    lines.filter(|line| ["[ ]", "[x]", "[X]"].iter().any(|typed| line.starts_with(typed))).count()
}
