//! `MODELS.md`: which models are benchmarked, in which scenarios and precisions, and until when.
//!
//! The prose is the source of truth, so that it is read by its structure: the table of scenarios, the
//! matrix of models, and under dated headings ("last day" of something) tables and sentences. What touches
//! a model in a form that is not known is kept as such: of that model then nothing is concluded.
//!
//! Source: the benchmark repository's `MODELS.md`; rulings 11 and 32.

mod document;
mod judge;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use regex::Regex;
use serde::{Deserialize, Serialize};

use self::document::{Block, Row, Section, Text, iso_date, sections};

pub use judge::{Judgement, Query, State};

/// The document's own words, as a table of the profile has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Scenarios that are named in words, by their name in configurations; `8k1k` and its like need none.
    pub scenarios: BTreeMap<String, Vec<String>>,
    /// Headings of columns.
    pub columns: Columns,
    /// What an active cell begins with where nothing is active.
    pub nothing: Vec<String>,
    /// Words that say that something is deprecated.
    pub deprecated: Vec<String>,
    /// Words that say until when.
    pub last_day: Vec<String>,
    /// What follows the arm of a pair that is deprecated from the beginning.
    pub from_the_beginning: Vec<String>,
}

/// Headings of columns, each in its spellings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// Of the matrix: the repository's own names of models.
    pub prefix: Vec<String>,
    /// Of the matrix: what is active.
    pub active: Vec<String>,
    /// Of the matrix: what is deprecated.
    pub deprecated: Vec<String>,
    /// Of the table of scenarios: the name.
    pub scenario: Vec<String>,
    /// Of the table of scenarios: the state.
    pub status: Vec<String>,
    /// Under dated headings: the model.
    pub model: Vec<String>,
    /// Under dated headings: what is deprecated.
    pub notice: Vec<String>,
    /// Under dated headings: the arm of a pair that is deprecated.
    pub arm: Vec<String>,
}

/// What the document says.
#[derive(Debug, Clone, Default)]
pub struct Models {
    /// Scenarios that are deprecated for every model.
    scenarios: Vec<Everywhere>,
    /// The matrix by prefix.
    rows: BTreeMap<String, Model>,
    /// What dated notices say.
    notices: Vec<Notice>,
}

/// A scenario that is deprecated for every model.
#[derive(Debug, Clone)]
struct Everywhere {
    scenario: String,
    since: Option<String>,
    line: i64,
    text: String,
}

/// A row of the matrix.
#[derive(Debug, Clone)]
struct Model {
    /// Nothing is active; since when, where that is said.
    retired: Option<Option<String>>,
    active: Vec<String>,
    /// The precisions that the active scenarios are limited to; empty for all.
    precisions: Vec<String>,
    deprecated: Vec<Part>,
    line: i64,
    text: String,
}

/// Something that a cell names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// Empty for every one.
    scenarios: Vec<String>,
    /// Empty for every one.
    precisions: Vec<String>,
    /// Only points that do not speculate.
    arm: Option<Arm>,
    /// It is limited in words that are not understood.
    limited: bool,
}

/// A pair's arm without speculative decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arm {
    /// To be retired once that is enacted: never held against a submission.
    Conditional,
    /// Deprecated from the beginning.
    Never,
}

/// What stands under a dated heading.
#[derive(Debug, Clone)]
struct Notice {
    prefix: String,
    /// `None` where the form is not known.
    part: Option<Part>,
    last_day: String,
    line: i64,
    text: String,
}

/// Reads the document.
pub fn read(markdown: &str, words: &Words) -> Models {
    let vocabulary = Vocabulary::new(words);
    let sections = sections(markdown);
    let mut models = Models::default();
    for section in &sections {
        for block in &section.blocks {
            if let Block::Table { header, rows } = block {
                vocabulary.table(header, rows, &mut models);
            }
        }
    }
    for section in &sections {
        vocabulary.notices(section, &mut models);
    }
    models
}

/// Finds what the document's words stand for.
struct Vocabulary<'w> {
    words: &'w Words,
    fixed: Option<Regex>,
    precision: Option<Regex>,
    arm: Option<Regex>,
}

impl<'w> Vocabulary<'w> {
    fn new(words: &'w Words) -> Self {
        Self {
            words,
            fixed: Regex::new(r"(?i)\b[0-9]{1,3}k[0-9]{1,3}k\b").ok(),
            precision: Regex::new(r"(?i)\b(?:fp|bf|int|nvfp|mxfp)[0-9]{1,2}\b").ok(),
            arm: Regex::new(r"(?i)\bnon-[a-z0-9]+").ok(),
        }
    }

    fn scenarios(&self, text: &str) -> Vec<String> {
        let lower = text.to_lowercase();
        let mut found: Vec<(usize, String)> = Vec::new();
        for (name, spellings) in &self.words.scenarios {
            let at =
                spellings.iter().filter_map(|spelling| lower.find(&spelling.to_lowercase())).min();
            found.extend(at.map(|at| (at, name.clone())));
        }
        let fixed = self.fixed.iter().flat_map(|regex| regex.find_iter(&lower));
        found.extend(fixed.map(|hit| (hit.start(), hit.as_str().to_owned())));
        found.sort();
        let mut names: Vec<String> = Vec::new();
        for (_, name) in found {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn precisions(&self, text: &str) -> Vec<String> {
        let hits = self.precision.iter().flat_map(|regex| regex.find_iter(text));
        hits.map(|hit| hit.as_str().to_lowercase()).collect()
    }

    fn says(&self, words: &[String], text: &str) -> bool {
        let lower = text.to_lowercase();
        words.iter().any(|word| lower.contains(&word.to_lowercase()))
    }

    /// What one part of a cell names; `None` where it names nothing.
    fn part(&self, text: &str) -> Option<Part> {
        let outside = outside_parentheses(text);
        let arm = self.arm.as_ref().is_some_and(|arm| arm.is_match(text)).then(|| {
            let never = self.says(&self.words.from_the_beginning, text)
                && self.says(&self.words.deprecated, text);
            if never { Arm::Never } else { Arm::Conditional }
        });
        let (scenarios, precisions) = (self.scenarios(&outside), self.precisions(&outside));
        if scenarios.is_empty() && precisions.is_empty() && arm.is_none() {
            return None;
        }
        let limited = arm.is_none() && text.to_lowercase().contains(" only)");
        Some(Part { scenarios, precisions, arm, limited })
    }

    fn parts(&self, cell: &str) -> Vec<Part> {
        if self.arm.as_ref().is_some_and(|arm| arm.is_match(cell)) {
            return self.part(cell).into_iter().collect();
        }
        split_outside(cell).iter().filter_map(|part| self.part(part)).collect()
    }

    fn table(&self, header: &[String], rows: &[Row], models: &mut Models) {
        let columns = &self.words.columns;
        let column = |names: &[String]| {
            header.iter().position(|title| names.iter().any(|name| name.to_lowercase() == *title))
        };
        if let (Some(prefix), Some(active), Some(deprecated)) =
            (column(&columns.prefix), column(&columns.active), column(&columns.deprecated))
        {
            for row in rows {
                self.matrix_row(row, [prefix, active, deprecated], models);
            }
        } else if let (Some(name), Some(status)) =
            (column(&columns.scenario), column(&columns.status))
        {
            for row in rows {
                let (Some(name), Some(status)) = (row.cells.get(name), row.cells.get(status))
                else {
                    continue;
                };
                let begins = status.plain.trim().to_lowercase();
                let is = self
                    .words
                    .deprecated
                    .iter()
                    .any(|word| begins.starts_with(&word.to_lowercase()));
                for scenario in self.scenarios(&name.plain).into_iter().filter(|_| is) {
                    models.scenarios.push(Everywhere {
                        scenario,
                        since: iso_date(&status.plain),
                        line: row.line,
                        text: format!("{}: {}", name.plain.trim(), status.plain.trim()),
                    });
                }
            }
        }
    }

    fn matrix_row(&self, row: &Row, [prefix, active, deprecated]: [usize; 3], models: &mut Models) {
        let empty = Text::default();
        let cell = |index: usize| row.cells.get(index).unwrap_or(&empty);
        let (active, deprecated) = (cell(active), cell(deprecated));
        let begins = active.plain.trim().to_lowercase();
        let nothing =
            self.words.nothing.iter().any(|word| begins.starts_with(&word.to_lowercase()));
        let outside = outside_parentheses(&active.plain);
        let model = Model {
            retired: nothing.then(|| iso_date(&active.plain)),
            active: if nothing { Vec::new() } else { self.scenarios(&outside) },
            precisions: if nothing { Vec::new() } else { self.precisions(&outside) },
            deprecated: self.parts(&deprecated.plain),
            line: row.line,
            text: format!(
                "active: {}; deprecated: {}",
                active.plain.trim(),
                deprecated.plain.trim()
            ),
        };
        for name in &cell(prefix).codes {
            models.rows.insert(name.clone(), model.clone());
        }
    }

    /// What stands under a dated heading.
    fn notices(&self, section: &Section, models: &mut Models) {
        let Some(last_day) = &section.date else { return };
        let mut found = Vec::new();
        for block in &section.blocks {
            match block {
                Block::Table { header, rows } => {
                    self.notice_table(header, rows, last_day, &mut found)
                }
                Block::Paragraph { line, text } => {
                    self.sentences(*line, text, last_day, models, &mut found)
                }
            }
        }
        models.notices.extend(found);
    }

    fn notice_table(
        &self,
        header: &[String],
        rows: &[Row],
        last_day: &str,
        found: &mut Vec<Notice>,
    ) {
        let columns = &self.words.columns;
        let column = |names: &[String]| {
            header.iter().position(|title| names.iter().any(|name| name.to_lowercase() == *title))
        };
        let Some(model) = column(&columns.model) else { return };
        let what = column(&columns.notice).or_else(|| column(&columns.arm));
        for row in rows {
            let names = row.cells.get(model).map(|cell| cell.codes.as_slice()).unwrap_or_default();
            let cell = what.and_then(|what| row.cells.get(what)).map(|cell| cell.plain.trim());
            for prefix in names {
                let notice = |part: Option<Part>| Notice {
                    prefix: prefix.clone(),
                    part,
                    last_day: last_day.to_owned(),
                    line: row.line,
                    text: cell.unwrap_or_default().to_owned(),
                };
                let parts = cell.map(|cell| self.parts(cell)).unwrap_or_default();
                if parts.is_empty() {
                    found.push(notice(None));
                }
                found.extend(parts.into_iter().map(|part| notice(Some(part))));
            }
        }
    }

    /// Sentences that name a model of the matrix and a last day.
    fn sentences(
        &self,
        line: i64,
        text: &Text,
        last_day: &str,
        models: &Models,
        found: &mut Vec<Notice>,
    ) {
        for sentence in text.plain.split(". ") {
            if !self.says(&self.words.last_day, sentence) {
                continue;
            }
            let names = text.codes.iter().filter(|code| {
                models.rows.contains_key(*code) && sentence.contains(&format!("({code})"))
            });
            for prefix in names {
                let (scenarios, precisions) = (self.scenarios(sentence), self.precisions(sentence));
                let known = !(scenarios.is_empty() && precisions.is_empty());
                let part =
                    known.then_some(Part { scenarios, precisions, arm: None, limited: false });
                found.push(Notice {
                    prefix: prefix.clone(),
                    part,
                    last_day: last_day.to_owned(),
                    line,
                    text: sentence.trim().to_owned(),
                });
            }
        }
    }
}

/// A text without what stands in parentheses.
fn outside_parentheses(text: &str) -> String {
    let mut depth = 0_usize;
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

/// A text at its commas and semicolons outside of parentheses.
fn split_outside(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut parts = vec![String::new()];
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match (c, parts.last_mut()) {
            (',' | ';', _) if depth == 0 => parts.push(String::new()),
            (_, Some(last)) => last.push(c),
            (_, None) => {}
        }
    }
    parts
}
