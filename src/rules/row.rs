//! What a rule says about one submission.

use serde::{Deserialize, Serialize};

use crate::facts::Origin;

/// Whether a rule may block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It may FAIL.
    Blocking,
    /// It may only WARN.
    Advisory,
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A violation was shown.
    Fail,
    /// The same in an advisory rule.
    Warn,
    /// Could not be verified: blocks where the rule blocks.
    Unverified,
    /// Worth knowing; holds nothing.
    Note,
}

/// One thing found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How much it weighs.
    pub level: Level,
    /// One line of Markdown; every value from outside stands in an escaped code span.
    pub message: String,
    /// What to do, in the same form; may hold a fenced block that can be pasted.
    pub fix: Option<String>,
    /// The configuration or path that it is about, as plain text.
    pub subject: Option<String>,
    /// What a person can open.
    pub evidence: Vec<Origin>,
}

/// The status of a row, as the verdict's JSON spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// Every check held.
    Pass,
    /// Some check of a blocking rule did not, or could not be verified.
    Fail,
    /// The same in an advisory rule.
    Warn,
    /// The rule does not apply.
    NotApplicable,
    /// The reviewer's word is all there is.
    Attested,
    /// A fault of ours or GitHub's: nothing is said.
    Undecided,
}

/// An administrator's exception.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    /// The administrator's login.
    pub by: String,
    /// The comment.
    pub url: String,
    /// The reason given; plain text.
    pub reason: String,
}

/// One check of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The rule's id, or `item:<slug>` for a template item that no rule knows.
    pub id: String,
    /// The rule's number; `null` for such an item.
    pub number: Option<i64>,
    /// The rule's title.
    pub title: String,
    /// Whether it may block.
    pub severity: Severity,
    /// What came of it.
    pub status: RowStatus,
    /// False with `fail` or `warn` where every failing finding is unverified, and with
    /// `attested` and `undecided`; true otherwise.
    pub verified: bool,
    /// SHA-256 of the facts that this row read.
    pub evidence_digest: String,
    /// One line of Markdown, root issue first.
    pub summary: String,
    /// The exception, where an administrator granted one; the status stays.
    pub overridden: Option<Override>,
    /// Everything found, failures first.
    pub findings: Vec<Finding>,
    /// For an undecided row: the RFC 3339 time of the next try, where known. Not part of the JSON.
    #[serde(skip)]
    pub retry_at: Option<String>,
}
