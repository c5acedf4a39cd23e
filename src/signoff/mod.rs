//! Markdown → sign-off; the template; the one held against the other; commands; lint. Pure.
//!
//! A [`Reader`] is compiled once from the profile's words and then reads any number of bodies. The
//! way through: `text` cleans a body and remembers where everything was typed, `rows` takes its
//! Markdown apart, `boxes` finds boxes and what only looks like one, `form` puts items, details and
//! signature together. Nothing here says what a sign-off is worth: that is what rules are for.

#![deny(clippy::disallowed_methods)]

pub mod settings;

mod boxes;
mod claims;
mod commands;
mod compare;
mod draft;
mod explain;
mod fix;
mod form;
mod items;
mod lint;
mod mend;
mod parse;
mod refusal;
mod rows;
mod template;
mod text;

#[cfg(test)]
mod hostile;

use regex::{Regex, RegexBuilder};

use crate::facts::{Origin, OriginKind};
use crate::limits;
use items::KnownItems;
use settings::{Grammar, ItemTable};

pub use commands::{
    CommandKind, NearCommand, OverrideLine, ReuseLine, VerifyLine, near_commands, override_lines,
    override_near_misses, reuse_lines, reuse_near_misses, verify_lines,
};
pub use compare::Versions;
pub use draft::{Filled, Filling};
pub use fix::{Change, CurrentTemplate, Fixed};
pub use lint::{Problem, ProblemLevel};
pub use parse::{ParsedSignOff, Posted};
pub use refusal::{NotASignOff, Reason};
pub use template::TemplateError;

/// Reads sign-offs and templates by one profile's words.
pub struct Reader {
    grammar: Grammar,
    items: KnownItems,
    run_links: Vec<Regex>,
    /// Any of the placeholders; `None` where the profile has none.
    placeholders: Option<Regex>,
}

impl Reader {
    /// Compiles the words of a profile.
    ///
    /// # Errors
    /// Names the setting that cannot be worked with: an empty phrase or signature, an item without
    /// words, an id that stands twice, a pattern that does not compile or has no group `id`.
    pub fn new(grammar: &Grammar, items: &ItemTable) -> Result<Self, SettingsError> {
        for (field, word) in [("phrase", &grammar.phrase), ("signature", &grammar.signature)] {
            if word.trim().is_empty() {
                return Err(SettingsError::new(
                    format!("signoff.{field}"),
                    "it is empty".to_owned(),
                ));
            }
        }
        if grammar.minimum_items == 0 {
            let problem = "0 would make a sign-off of every comment that opens with the phrase";
            return Err(SettingsError::new("signoff.minimum_items".to_owned(), problem.to_owned()));
        }
        let run_links = grammar.run_links.iter().enumerate().map(|(index, pattern)| {
            let at = format!("signoff.run_links[{index}]");
            let regex = RegexBuilder::new(pattern)
                .size_limit(limits::PATTERN_BYTES)
                .build()
                .map_err(|error| SettingsError::new(at.clone(), error.to_string()))?;
            match regex.capture_names().any(|name| name == Some("id")) {
                true => Ok(regex),
                false => Err(SettingsError::new(at, "it has no group `(?<id>…)`".to_owned())),
            }
        });
        let placeholders = match grammar.placeholders.as_slice() {
            [] => None,
            words => {
                let words: Vec<_> = words.iter().map(|word| regex::escape(word)).collect();
                let pattern = RegexBuilder::new(&words.join("|"))
                    .case_insensitive(true)
                    .size_limit(limits::PATTERN_BYTES)
                    .build();
                Some(pattern.map_err(|error| {
                    SettingsError::new("signoff.placeholders".to_owned(), error.to_string())
                })?)
            }
        };
        Ok(Self {
            placeholders,
            run_links: run_links.collect::<Result<_, _>>()?,
            items: KnownItems::new(items)?,
            grammar: grammar.clone(),
        })
    }

    /// Whether a comment is an earlier verifier's verdict: by one of its accounts, and with its
    /// marker in the first line (`domain/publication`, the forms of the old comment).
    pub fn is_legacy_verdict(&self, author: &str, body: &str) -> bool {
        let Some(legacy) = &self.grammar.legacy_verdicts else { return false };
        let line = body.lines().next().unwrap_or_default().trim_start();
        let marked = legacy.markers.iter().any(|marker| {
            line.strip_prefix(marker.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
        });
        marked && legacy.authors.iter().any(|login| login.eq_ignore_ascii_case(author))
    }

    /// The workflow run that a link names.
    fn run_id(&self, url: &str) -> Option<i64> {
        let id = |pattern: &Regex| pattern.captures(url)?.name("id")?.as_str().parse().ok();
        self.run_links.iter().find_map(id)
    }
}

/// A line of a body, 1-based, without the blanks around it and at most [`limits::QUOTE_CHARS`]
/// characters of it; `None` where it has no such line.
pub fn line_of(body: &str, line: i64) -> Option<String> {
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    text::lines(body).nth(index).map(|line| text::shortened(line.trim(), limits::QUOTE_CHARS))
}

/// A setting that cannot be worked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct SettingsError {
    /// Its place, e.g. `signoff.run_links[1]` or `items[3].id`.
    pub field: String,
    /// What is wrong with it.
    pub problem: String,
}

impl SettingsError {
    fn new(field: String, problem: String) -> Self {
        Self { field, problem }
    }
}

/// Where a body stands: what its origins point at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A comment or review.
    Comment {
        /// Its page.
        url: String,
    },
    /// A local file.
    File {
        /// Its path as it was given.
        path: String,
    },
    /// A file of a repository at a commit.
    Repository {
        /// The repository's page.
        web: String,
        /// 40 hex digits.
        commit: String,
        /// Path in the repository.
        path: String,
    },
}

impl Place {
    /// The origin of the whole body, or of one line of it.
    fn origin(&self, line: Option<i64>) -> Origin {
        match self {
            Self::Comment { url } => {
                Origin { line, ..Origin::new(OriginKind::Comment).at_url(url.as_str()) }
            }
            Self::File { path } => {
                Origin { line, path: Some(path.clone()), ..Origin::new(OriginKind::File) }
            }
            Self::Repository { web, commit, path } => Origin::file(web, commit, path, line),
        }
    }
}
