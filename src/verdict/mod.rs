//! Rows → verdict (precedence in one place), and its renderings: Markdown, JSON, text, check run.
//! Pure.

use serde::Serialize;

use crate::facts::SignOffKind;
use crate::rules::Row;

/// What the verdict says as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
    /// SHA-256 of the rule files (`sha256:` and 64 hex digits).
    pub rules_digest: String,
    /// SHA-256 over the facts that the selected rules name (`sha256:` and 64 hex digits).
    pub evidence_digest: String,
    /// One row a check, by number, template items last.
    pub checks: Vec<Row>,
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
}
