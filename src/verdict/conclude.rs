//! Rows → verdict: the one place with precedence.

use chrono::DateTime;

use super::{Inputs, Outcome, SignedBy, Verdict};
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
    /// SHA-256 of the rule files (`sha256:` and 64 hex digits).
    pub rules_digest: String,
    /// SHA-256 over the facts that the selected rules name (`sha256:` and 64 hex digits).
    pub evidence_digest: String,
    /// Whether only some rules were asked for.
    pub partial: bool,
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
        rules_digest: subject.rules_digest,
        evidence_digest: subject.evidence_digest,
        checks: rows,
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
mod tests {
    use proptest::prelude::*;

    use super::{Tries, conclude};
    use crate::facts::{canonical, sha256_hex};
    use crate::rules::{Override, Row, RowStatus, Severity};
    use crate::verdict::row::samples::{row, subject};
    use crate::verdict::{Outcome, json};

    fn excepted(mut row: Row) -> Row {
        row.overridden = Some(Override {
            by: "alice".into(),
            url: "https://github.example/c/1".into(),
            reason: "known".into(),
        });
        row
    }

    #[test]
    fn rows_stand_by_number_and_items_last_in_the_templates_order() {
        let mut rows =
            vec![row(3, RowStatus::Pass), row(0, RowStatus::Pass), row(1, RowStatus::Pass)];
        for slug in ["item:z", "item:a"] {
            rows.insert(1, Row { id: slug.into(), number: None, ..row(9, RowStatus::Attested) });
        }
        let verdict = conclude(rows, subject(), Tries::Last);
        let ids: Vec<_> = verdict.checks.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ["check-0", "check-1", "check-3", "item:a", "item:z"]);
    }

    #[test]
    fn an_undecided_advisory_row_waits_for_the_retries_and_then_holds_nothing() {
        let rows = || {
            vec![
                row(0, RowStatus::Pass),
                Row { severity: Severity::Advisory, ..row(4, RowStatus::Undecided) },
            ]
        };
        assert_eq!(conclude(rows(), subject(), Tries::Left).verdict, Outcome::Undecided);
        let last = conclude(rows(), subject(), Tries::Last);
        assert_eq!(last.verdict, Outcome::Approved);
        assert_eq!(last.undecided, ["check-4"]);
        assert!(!last.clean(), "what could not be assessed is shown");
    }

    #[test]
    fn an_exception_passes_over_its_own_failure_only() {
        let one = vec![excepted(row(1, RowStatus::Fail))];
        let verdict = conclude(one.clone(), subject(), Tries::Last);
        assert_eq!((verdict.verdict, verdict.warnings), (Outcome::Approved, 0));
        assert_eq!(verdict.checks[0].status, RowStatus::Fail);
        let two = [one, vec![row(2, RowStatus::Fail)]].concat();
        assert_eq!(conclude(two, subject(), Tries::Last).verdict, Outcome::Rejected);
    }

    #[test]
    fn a_local_run_rejects_on_evidence_and_never_approves() {
        let offline = |rows| conclude(rows, subject(), Tries::Offline).verdict;
        assert_eq!(
            offline(vec![row(0, RowStatus::Undecided), row(1, RowStatus::Fail)]),
            Outcome::Rejected
        );
        let unverified = Row { verified: false, ..row(1, RowStatus::Fail) };
        assert_eq!(offline(vec![row(0, RowStatus::Undecided), unverified]), Outcome::Undecided);
        assert_eq!(offline(vec![row(12, RowStatus::Pass)]), Outcome::Undecided);
    }

    #[test]
    fn nothing_is_required_where_the_scope_gate_says_so() {
        let outside = super::Subject { required: false, signoff: None, ..subject() };
        assert_eq!(conclude(Vec::new(), outside, Tries::Last).verdict, Outcome::NotRequired);
    }

    #[test]
    fn the_next_try_is_when_all_can_be_tried() {
        let at = |number, at: &str| Row {
            retry_at: Some(at.into()),
            ..row(number, RowStatus::Undecided)
        };
        let rows = vec![
            at(1, "2026-10-13T10:00:00+02:00"),
            at(2, "2026-10-13T08:30:00Z"),
            at(3, "soon"),
            row(4, RowStatus::Undecided),
        ];
        let verdict = conclude(rows.clone(), subject(), Tries::Left);
        assert_eq!(verdict.retry_at.as_deref(), Some("2026-10-13T08:30:00Z"));
        assert_eq!(conclude(rows, subject(), Tries::Last).retry_at, None);
    }

    #[test]
    fn the_id_is_the_digest_of_the_printed_document_without_it() {
        let verdict = conclude(vec![row(0, RowStatus::Pass)], subject(), Tries::Last);
        let mut printed: serde_json::Value = serde_json::from_str(&json(&verdict)).unwrap();
        printed.as_object_mut().unwrap().remove("id");
        assert_eq!(verdict.id, format!("sha256:{}", sha256_hex(canonical(&printed).as_bytes())));
        let other = conclude(vec![row(0, RowStatus::Warn)], subject(), Tries::Last);
        assert_ne!(verdict.id, other.id);
    }

    /// The contract, sentence by sentence, without a thought of speed or elegance.
    fn model(rows: &[Row], required: bool, tries: Tries) -> Outcome {
        let mut blocking_undecided = 0;
        let mut advisory_undecided = 0;
        let mut failing = 0;
        let mut failing_on_evidence = 0;
        for row in rows {
            if row.status == RowStatus::Undecided {
                if row.severity == Severity::Blocking {
                    blocking_undecided += 1;
                } else {
                    advisory_undecided += 1;
                }
            }
            if row.status == RowStatus::Fail {
                if row.overridden.is_some() {
                    continue;
                }
                failing += 1;
                if row.verified {
                    failing_on_evidence += 1;
                }
            }
        }
        if !required {
            return Outcome::NotRequired;
        }
        if tries == Tries::Offline {
            if failing_on_evidence > 0 {
                return Outcome::Rejected;
            }
            return Outcome::Undecided;
        }
        if blocking_undecided > 0 {
            return Outcome::Undecided;
        }
        if advisory_undecided > 0 && tries == Tries::Left {
            return Outcome::Undecided;
        }
        if failing > 0 { Outcome::Rejected } else { Outcome::Approved }
    }

    fn any_row() -> impl Strategy<Value = Row> {
        (0..8_i64, 0..6_usize, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
            |(number, status, blocking, verified, overridden)| {
                let status = [
                    RowStatus::Pass,
                    RowStatus::Fail,
                    RowStatus::Warn,
                    RowStatus::NotApplicable,
                    RowStatus::Attested,
                    RowStatus::Undecided,
                ][status];
                let severity = if blocking { Severity::Blocking } else { Severity::Advisory };
                let row = Row { severity, verified, ..row(number, status) };
                if overridden { excepted(row) } else { row }
            },
        )
    }

    proptest! {
        #[test]
        fn precedence_is_that_of_the_model(
            rows in proptest::collection::vec(any_row(), 0..8),
            required in any::<bool>(),
            tries in proptest::sample::select(vec![Tries::Left, Tries::Last, Tries::Offline]),
        ) {
            let about = super::Subject { required, ..subject() };
            let verdict = conclude(rows.clone(), about, tries);
            prop_assert_eq!(verdict.verdict, model(&rows, required, tries));
            let warn = rows.iter().filter(|row| row.status == RowStatus::Warn).count();
            prop_assert_eq!(verdict.warnings, i64::try_from(warn).unwrap());
            prop_assert!(verdict.checks.is_sorted_by_key(|row| row.number));
        }
    }
}
