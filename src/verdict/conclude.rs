//! Rows → verdict: the one place with precedence.

use chrono::DateTime;

use super::{Discarded, Inputs, Outcome, SignedBy, Verdict};
use crate::facts::{canonical, sha256_hex};
use crate::rules::{Row, RowStatus, Severity};

/// What is being concluded about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// `owner/name`.
    pub repository: String,
    /// The pull request's number.
    pub pull_request: i64,
    /// Whether the scope gate asks for a sign-off at all.
    pub required: bool,
    /// The sign-off, where there is one.
    pub signoff: Option<SignedBy>,
    /// What the verdict is made from; `head` is the assessed commit.
    pub inputs: Inputs,
    /// Name of the profile whose rules were evaluated.
    pub profile: String,
    /// SHA-256 of the rule files (`sha256:` and 64 hex digits).
    pub rules_digest: String,
    /// SHA-256 over the facts that the selected rules name (`sha256:` and 64 hex digits).
    pub evidence_digest: String,
    /// Whether only some rules were asked for.
    pub partial: bool,
    /// What the pull request changes of the benchmark, in a sentence of ours.
    pub changed: Option<String>,
    /// What was probably meant to count and did not, oldest first.
    pub discarded: Vec<Discarded>,
}

/// What may still happen to a row that is undecided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tries {
    /// It is tried again: every undecided row holds the verdict.
    Left,
    /// It was the last try: an undecided advisory row is passed over.
    Last,
    /// A local clone: nothing is tried again, and a pull request is never approved from one.
    Offline,
}

/// Concludes.
///
/// Precedence, first match wins:
/// 1. no sign-off is required: NOT_REQUIRED;
/// 2. offline: REJECTED where a row fails on evidence, else UNDECIDED;
/// 3. a blocking row is undecided, or an advisory one while a try is left: UNDECIDED, whatever else
///    fails, because what is missing may turn out to be the reason;
/// 4. a row fails that no administrator excepted: REJECTED;
/// 5. else APPROVED.
pub fn conclude(mut rows: Vec<Row>, subject: Subject, tries: Tries) -> Verdict {
    // Stable: template items, which have no number, keep the template's order behind the checks.
    rows.sort_by_key(|row| (row.number.is_none(), row.number));
    let undecided: Vec<&Row> =
        rows.iter().filter(|row| row.status == RowStatus::Undecided).collect();
    let mut verdict = Verdict {
        schema: "countersign/verdict/v1".to_owned(),
        verdict: outcome(&rows, subject.required, tries),
        id: String::new(),
        partial: subject.partial,
        warnings: count(rows.iter().filter(|row| row.status == RowStatus::Warn)),
        undecided: undecided.iter().map(|row| row.id.clone()).collect(),
        retry_at: if tries == Tries::Left { latest(&undecided) } else { None },
        assessed_commit: subject.inputs.head.clone(),
        inputs: subject.inputs,
        repository: subject.repository,
        pull_request: subject.pull_request,
        signoff: subject.signoff,
        profile: subject.profile,
        rules_digest: subject.rules_digest,
        evidence_digest: subject.evidence_digest,
        checks: rows,
        changed: subject.changed,
        discarded: subject.discarded,
    };
    verdict.id = digest(&verdict);
    verdict
}

fn outcome(rows: &[Row], required: bool, tries: Tries) -> Outcome {
    let undecided = |row: &Row| row.status == RowStatus::Undecided;
    let fails = |row: &Row| row.status == RowStatus::Fail && row.overridden.is_none();
    let rejected = |some: bool| if some { Outcome::Rejected } else { Outcome::Undecided };
    if !required {
        return Outcome::NotRequired;
    }
    match tries {
        Tries::Offline => rejected(rows.iter().any(|row| fails(row) && row.verified)),
        Tries::Left if rows.iter().any(undecided) => Outcome::Undecided,
        Tries::Last
            if rows.iter().any(|row| undecided(row) && row.severity == Severity::Blocking) =>
        {
            Outcome::Undecided
        }
        Tries::Left | Tries::Last if rows.iter().any(fails) => Outcome::Rejected,
        Tries::Left | Tries::Last => Outcome::Approved,
    }
}

/// When all undecided rows can be tried again: before the latest of their times one of them would
/// be undecided once more. A time that cannot be read does not count.
fn latest(undecided: &[&Row]) -> Option<String> {
    undecided
        .iter()
        .filter_map(|row| row.retry_at.as_deref())
        .filter_map(|at| Some((DateTime::parse_from_rfc3339(at).ok()?, at)))
        .max()
        .map(|(_, at)| at.to_owned())
}

/// SHA-256 of the document's canonical JSON without `id`.
fn digest(verdict: &Verdict) -> String {
    let mut document = serde_json::to_value(verdict).expect("a verdict is plain data");
    if let Some(fields) = document.as_object_mut() {
        fields.remove("id");
    }
    format!("sha256:{}", sha256_hex(canonical(&document).as_bytes()))
}

fn count<'a>(rows: impl Iterator<Item = &'a Row>) -> i64 {
    i64::try_from(rows.count()).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "conclude_tests.rs"]
mod tests;
