//! Rows → verdict (precedence in one place), and its renderings: Markdown, JSON, text, check run.
//! Pure.
//!
//! [`conclude`] is the only place that decides. Every rendering shows the same [`Verdict`], and no
//! rendering is ever read back: state is the JSON, a comment is a view of it. What a person wrote
//! (logins, subjects, paths, quotes, addresses, reasons) is made inert here; summaries, messages and
//! fixes arrive as Markdown that the rules room has made so.

#![deny(clippy::disallowed_methods)]

mod change;
mod check;
mod comment;
mod conclude;
mod discarded;
mod draft;
mod edits;
mod fit;
mod greeting;
mod inert;
mod row;
#[cfg(test)]
mod samples;
mod terminal;
mod waiting;

pub use change::{RowSummary, Summary, changed};
pub use check::{Annotation, AnnotationLevel, CheckOutput, check_output};
pub use comment::{CommentOptions, MARKERS, comment, comment_after, marker, marker_of};
pub use conclude::{Subject, Tries, conclude};
pub use discarded::{Discarded, DiscardedKind};
pub use draft::{Answer, Draft, Standing};
pub use greeting::{GREETING_MARKER, Guide, Signers, greeting};
pub(crate) use inert::{link, unheard};
pub use terminal::text;
pub use waiting::waiting;

use serde::{Deserialize, Serialize};

use crate::facts::{Claims, SignOffKind};
use crate::profile::DEFAULT_PROFILE;
use crate::rules::Row;

/// What the verdict says as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// No check fails.
    Approved,
    /// Some check fails.
    Rejected,
    /// A fault of ours or GitHub's: nothing is concluded.
    Undecided,
    /// The pull request needs no sign-off.
    NotRequired,
}

impl Outcome {
    /// The words that people read.
    pub fn words(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::Rejected => "REJECTED",
            Self::Undecided => "UNDECIDED",
            Self::NotRequired => "NO SIGN-OFF REQUIRED",
        }
    }
}

/// The verdict, field by field the JSON of the contract (`countersign/verdict/v1`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// `countersign/verdict/v1`.
    pub schema: String,
    /// The outcome.
    pub verdict: Outcome,
    /// SHA-256 (`sha256:` and 64 hex digits) of this document's canonical JSON without `id`.
    pub id: String,
    /// Whether only some rules were asked for.
    pub partial: bool,
    /// Advisory rows that warn.
    pub warnings: i64,
    /// Ids of the rows that are undecided.
    pub undecided: Vec<String>,
    /// When a row that is undecided is tried again, RFC 3339.
    pub retry_at: Option<String>,
    /// Every input that could explain a different answer.
    pub inputs: Inputs,
    /// The commit that the verdict speaks of, 40 hex digits.
    pub assessed_commit: String,
    /// `owner/name`.
    pub repository: String,
    /// The pull request's number.
    pub pull_request: i64,
    /// The sign-off; `null` where none is there (`NOT_REQUIRED`, or a local run without one).
    pub signoff: Option<SignedBy>,
    /// Name of the profile whose rules were evaluated. Not part of the JSON, which names them by their
    /// digest.
    #[serde(skip)]
    pub profile: String,
    /// SHA-256 of the rule files (`sha256:` and 64 hex digits).
    pub rules_digest: String,
    /// SHA-256 over the facts that the selected rules name (`sha256:` and 64 hex digits).
    pub evidence_digest: String,
    /// What the pull request changes of the benchmark, in a sentence of ours made of counts; `null` where
    /// that was not asked for or is not known. Not part of the JSON: the fact `changes` is it.
    #[serde(skip)]
    pub changed: Option<String>,
    /// One row a check, by number, template items last.
    pub checks: Vec<Row>,
    /// What somebody probably meant to count and what did not, oldest first.
    pub discarded: Vec<Discarded>,
}

/// What the verdict was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inputs {
    /// The assessed commit.
    pub head: String,
    /// The tip of the target branch.
    pub base: String,
    /// A newer head that stands unassessed.
    pub newer_head: Option<String>,
    /// `sha256:` of the sign-off's body.
    pub signoff_body: Option<String>,
    /// Runs that were read: `ID` or `ID/ATTEMPT`.
    pub runs: Vec<String>,
    /// Upstream commits that were read: `owner/name@SHA`.
    pub upstream: Vec<String>,
    /// The date that the rules saw, `YYYY-MM-DD`.
    pub date: String,
}

/// Whose sign-off it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignedBy {
    /// The account that posted it.
    pub author: String,
    /// How it was posted.
    pub kind: SignOffKind,
    /// Its page.
    pub url: Option<String>,
    /// GitHub's id of it, for the marker. Not part of the JSON.
    #[serde(skip)]
    pub id: i64,
    /// What it claims, so that a later verdict can say what an edit changed; `null` where it could not
    /// be read as a sign-off.
    pub claims: Option<Claims>,
}

impl Verdict {
    /// Whether every row passed, did not apply or was left to the reviewer: an approval with
    /// anything else in it (a warning, an exception, an advisory row that could not be assessed) is
    /// shown as one "with warnings".
    pub fn clean(&self) -> bool {
        let is_clean = |row| row::is_open(row) || row::Place::of(row) == row::Place::Quiet;
        self.checks.iter().all(is_clean)
    }

    /// `KIND/ID` of the sign-off, as markers and the history spell it.
    pub fn signoff_key(&self) -> Option<String> {
        let signoff = self.signoff.as_ref()?;
        Some(format!("{}/{}", signoff.kind.as_str(), signoff.id))
    }

    /// The command that reproduces it; it names the profile where it is not the one that is used
    /// without being named.
    pub fn command(&self) -> String {
        let url = self.signoff.as_ref().and_then(|signoff| signoff.url.as_deref());
        let command = format!("countersign verify {}", url.unwrap_or("<URL of the sign-off>"));
        let rules = match self.profile == DEFAULT_PROFILE {
            true => String::new(),
            false => format!(" --rules {}", self.profile),
        };
        // Items that no rule knows are not asked for by themselves.
        let ids = self.checks.iter().filter(|row| row.number.is_some()).map(|row| row.id.as_str());
        let only = match self.partial {
            true => format!(" --only {}", ids.collect::<Vec<_>>().join(",")),
            false => String::new(),
        };
        format!("{command}{rules}{only}")
    }
}

/// The verdict's JSON as `--format json` prints it: the order of the contract, two blanks deep, with
/// a line break at its end.
///
/// Characters that could steer a terminal or reorder what it shows are escaped; JSON's own rule
/// stops at U+001F.
///
/// # Panics
/// Never: a verdict is plain data.
pub fn json(verdict: &Verdict) -> String {
    let pretty = serde_json::to_string_pretty(verdict).expect("a verdict is plain data");
    let mut out = String::with_capacity(pretty.len() + 1);
    for c in pretty.chars() {
        if c != '\n' && inert::steers(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out.push('\n');
    out
}
