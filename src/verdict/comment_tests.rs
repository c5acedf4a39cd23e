//! The comment as people see it, and as GitHub takes it.

use proptest::prelude::*;

use super::{CommentOptions, comment};
use crate::facts::Origin;
use crate::limits::COMMENT_CHARS;
use crate::profile::Escalation;
use crate::rules::{Finding, Level, Override, Row, RowStatus, Severity};
use crate::verdict::samples::{HEAD, finding, row, subject};
use crate::verdict::{Discarded, DiscardedKind, Subject, Tries, Verdict, conclude};

const OPTIONS: CommentOptions<'_> = CommentOptions {
    report_url: Some("https://countersign.example/v/1"),
    command: "countersign verify https://github.example/example/bench/pull/12#issuecomment-11",
    escalations: &[],
};

fn concluded(rows: Vec<Row>) -> Verdict {
    conclude(rows, subject(), Tries::Last)
}

#[test]
fn a_rejection_as_it_stands_on_the_page() {
    let fault = Finding {
        fix: Some("run the sweep again and name it".into()),
        ..finding(Level::Fail, "7 of 9 jobs executed")
    };
    let excepted = Row {
        overridden: Some(Override {
            by: "alice".into(),
            url: "https://github.example/c/9".into(),
            reason: "agreed".into(),
        }),
        findings: vec![finding(Level::Fail, "no evaluation ran")],
        ..row(2, RowStatus::Fail)
    };
    let verdict = concluded(vec![
        row(0, RowStatus::Pass),
        Row {
            summary: "7 of 9 jobs executed".into(),
            findings: vec![fault],
            ..row(1, RowStatus::Fail)
        },
        excepted,
        Row { severity: Severity::Advisory, ..row(4, RowStatus::Warn) },
        row(12, RowStatus::NotApplicable),
        row(17, RowStatus::Attested),
    ]);
    insta::assert_snapshot!(comment(&verdict, &OPTIONS), @r"
    <!-- countersign signoff=issue_comment/11 -->
    ## ❌❌❌ **REJECTED** ❌❌❌

    @bob, 1 check fails at the assessed commit; each says what to do, and editing the sign-off has it verified again.

    ❌ Check 1 (Title 1): FAIL — 7 of 9 jobs executed

    - **Fix:** run the sweep again and name it

    ⚠️ Check 2 (Title 2): OVERRIDDEN — by `@alice`: `agreed`, [comment](https://github.example/c/9)

    - no evaluation ran

    ⚠️ Check 4 (Title 4): WARN — summary 4

    <details>
    <summary>1 passed, 1 not applicable, 1 attested</summary>

    ✅ Check 0 (Title 0): PASS — summary 0

    ➖ Check 12 (Title 12): N/A — summary 12

    ✍️ Check 17 (Title 17): ATTESTED — summary 17

    </details>

    Assessed commit: `1111111111111111111111111111111111111111`.

    Rules `sha256:4444444444444444444444444444444444444444444444444444444444444444` · target branch at `222222222222` · date `2026-10-13` · sign-off `sha256:333333333333` · runs `3826/3` · evidence `sha256:555555555555`.

    [Full report](https://countersign.example/v/1) · Reproduce: `countersign verify https://github.example/example/bench/pull/12#issuecomment-11`
    ");
}

/// Five faults, each with its fix, before the fold: a laptop's window shows about forty lines.
#[test]
fn a_rejection_for_five_faults_fits_a_screen() {
    let fault = |number: i64, message: &str, fix: &str| {
        let origin =
            Origin::file("https://github.example/example/bench", HEAD, "configs/a.yaml", Some(7));
        let found = Finding {
            fix: Some(fix.into()),
            subject: Some("beta c16".into()),
            evidence: vec![origin],
            ..finding(Level::Fail, message)
        };
        Row { summary: message.into(), findings: vec![found], ..row(number, RowStatus::Fail) }
    };
    let paste = "tick it, or say why not in the details:\n\n```\n- [x] Verified the image\n```\n";
    let mut rows: Vec<Row> = (6..19).map(|n| row(n, RowStatus::Pass)).collect();
    rows.extend([
        fault(0, "`@bob` owns none of the changed files", "ask `@carol` to sign"),
        fault(1, "7 of 9 planned jobs executed", "run the sweep again"),
        fault(2, "no evaluation ran", "run the sweep again with `all-evals`"),
        fault(3, "the recipe is not merged", "wait for `example/engine#1`"),
        fault(5, "item 4 is unchecked and not explained", paste),
    ]);
    let text = comment(&concluded(rows), &OPTIONS);
    let (open, _) = text.split_once("<details>").expect("a fold");
    assert_eq!(open.matches("FAIL — ").count(), 5);
    assert_eq!(open.matches("**Fix:** ").count(), 5);
    assert!(open.lines().count() <= 40, "{open}");
    assert!(open.contains(
        "❌ Check 5 (Title 5): FAIL — item 4 is unchecked and not explained (`beta c16`, \
         [`configs/a.yaml:7`](https://github.example/example/bench/blob/1111111111111111111111111111111111111111/configs/a.yaml#L7))\n\n\
         - **Fix:** tick it, or say why not in the details:\n\n  ```\n  - [x] Verified the image\n  ```\n"
    ), "{open}");
}

#[test]
fn an_approval_calls_nobody() {
    let verdict = concluded(vec![row(0, RowStatus::Pass), row(17, RowStatus::Attested)]);
    let text = comment(&verdict, &OPTIONS);
    assert!(text.starts_with(
        "<!-- countersign signoff=issue_comment/11 -->\n## ✅✅✅ **APPROVED** ✅✅✅\n\n<details>\n\
         <summary>1 passed, 1 attested</summary>\n\n✅ Check 0 (Title 0): PASS — summary 0\n\n"
    ));
    assert!(!text.contains("@bob "));
}

#[test]
fn a_warning_calls_whom_the_profile_names() {
    let calls = [Escalation {
        check: "check-14".into(),
        logins: vec!["carol".into(), "dan".into()],
        text: "below five points: an *administrator* has to record an exception.".into(),
    }];
    let options = CommentOptions { escalations: &calls, ..OPTIONS };
    let warned = concluded(vec![row(14, RowStatus::Warn)]);
    assert!(comment(&warned, &options).contains(
        "## ⚠️ **APPROVED with warnings** ⚠️\n\n@carol @dan below five points: an \
         \\*administrator\\* has to record an exception.\n\n⚠️ Check 14"
    ));
    let passed = concluded(vec![row(14, RowStatus::Pass)]);
    assert!(!comment(&passed, &options).contains("@carol"));
}

#[test]
fn without_anything_to_fold_there_is_no_fold() {
    let text = comment(&concluded(vec![row(1, RowStatus::Fail)]), &OPTIONS);
    assert!(!text.contains("details"));
}

#[test]
fn a_newer_head_and_many_runs_are_said() {
    let mut about = subject();
    about.inputs.newer_head = Some("7".repeat(40));
    about.inputs.runs = (0..8).map(|n| n.to_string()).collect();
    let text = comment(&conclude(Vec::new(), about, Tries::Last), &OPTIONS);
    assert!(text.contains(&format!("A newer commit stands unassessed: `{}`.", "7".repeat(40))));
    assert!(text.contains("runs `0`, `1`, `2`, `3`, `4` and 3 more"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn it_never_exceeds_what_github_takes_and_the_last_lines_survive(
        rows in 0..30_i64, items in 0..500_usize, findings in 0..20_usize, length in 0..2_000_usize,
        discarded in 0..40_usize,
    ) {
        let message = format!("`{}`", "😀".repeat(length));
        let mut all: Vec<Row> = (0..rows)
            .map(|n| Row {
                summary: message.clone(),
                findings: vec![finding(Level::Fail, &message); findings],
                ..row(n, if n % 3 == 0 { RowStatus::Pass } else { RowStatus::Fail })
            })
            .collect();
        all.extend((0..items).map(|n| Row {
            id: format!("item:{n}"),
            number: None,
            title: "word ".repeat(40),
            ..row(0, RowStatus::Attested)
        }));
        let left_out = Discarded {
            kind: DiscardedKind::Command,
            author: message.clone(),
            url: Some(format!("https://github.example/{}", "x".repeat(length))),
            line: Some(1),
            text: Some("`".repeat(200)),
            why: message,
        };
        let about = Subject { discarded: vec![left_out; discarded], ..subject() };
        let text = comment(&conclude(all, about, Tries::Last), &OPTIONS);
        prop_assert!(text.encode_utf16().count() <= COMMENT_CHARS);
        let assessed = format!("\n\nAssessed commit: `{HEAD}`.\n\n");
        prop_assert!(text.contains(&assessed));
        prop_assert!(text.trim_end().ends_with("issuecomment-11`"));
        for n in 0..rows {
            prop_assert_eq!(text.matches(&format!("Check {n} (Title")).count(), 1);
        }
    }
}
