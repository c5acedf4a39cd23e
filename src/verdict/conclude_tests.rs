//! Precedence: by name where it matters, and held against a slow, obvious model.

use proptest::prelude::*;

use super::{Tries, conclude};
use crate::facts::{canonical, sha256_hex};
use crate::rules::{Override, Row, RowStatus, Severity};
use crate::verdict::samples::{row, subject};
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
    let mut rows = vec![row(3, RowStatus::Pass), row(0, RowStatus::Pass), row(1, RowStatus::Pass)];
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
    let at =
        |number, at: &str| Row { retry_at: Some(at.into()), ..row(number, RowStatus::Undecided) };
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
    let mut printed: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&json(&verdict)).expect("an object");
    printed.remove("id");
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
        prop_assert_eq!(usize::try_from(verdict.warnings), Ok(warn));
        prop_assert!(verdict.checks.is_sorted_by_key(|row| row.number));
    }
}
