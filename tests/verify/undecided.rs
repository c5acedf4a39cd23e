//! What we could not read is nobody's failure: it is told, tried again, and never a verdict.

use countersign::profile::{Files, builtin};
use countersign::server::Outcome;
use serde_json::json;

use super::worker::Desk;
use super::*;
use crate::support::Fault;

/// The jobs of a run cannot be read, for ever.
fn no_jobs() -> Fault {
    Fault { pattern: "GET *jobs*".to_owned(), status: Some(502), ..Fault::default() }
}

/// A sign-off with a failure of its own: an item that is not checked.
fn unchecked(case: &mut Case) {
    let item = "- [x] Verified that this PR passes evals.";
    case.replace("signoff.md", item, &item.replace("[x]", "[ ]"));
}

/// The built-in rules with an advisory sweep.
fn advisory_sweep() -> Files {
    let mut files = builtin("inferencex").unwrap();
    let sweep = files.get_mut("01-sweep.yaml").expect("the rule has its file");
    *sweep = sweep
        .replace("severity: blocking", "severity: advisory")
        .replace("status: fail", "status: warn");
    let profile = files.get_mut("profile.yaml").unwrap();
    *profile = profile.replace("  - sweep\n", "");
    files
}

#[tokio::test]
async fn three_is_a_row_that_we_could_not_read() {
    let stand_in = serve(case(B200, |_| {})).await;
    stand_in.fault(no_jobs());
    let verdict = verdict_on(&stand_in, &[]).await;
    assert_eq!((verdict.code, verdict.outcome()), (3, "UNDECIDED"));
    assert_eq!(verdict.json["undecided"], json!(["sweep"]));
    let row = verdict.row("sweep");
    assert_eq!(row.status(), "undecided");
    assert_eq!(row.0["verified"], false);
    assert!(row.summary().contains("502"), "{}", row.summary());
    verdict.row("codeowner").expect("pass", &[]);
}

#[tokio::test]
async fn a_failure_beside_it_is_shown_and_concludes_nothing() {
    let stand_in = serve(case(B200, unchecked)).await;
    stand_in.fault(no_jobs());
    let verdict = verdict_on(&stand_in, &[]).await;
    assert_eq!((verdict.code, verdict.outcome()), (3, "UNDECIDED"));
    verdict.row("checklist").expect("fail", &["neither checked nor explained"]);

    let text = countersign(&stand_in, &["verify", &stand_in.pull_url()]).await.stdout;
    assert!(text.starts_with("⏳ UNDECIDED ⏳\n"), "{text}");
    assert!(text.contains("❌ Check 5 (Checklist): FAIL — "), "{text}");
    assert!(text.contains("⏳ Check 1 (Sweep): UNDECIDED — "), "{text}");
}

#[tokio::test]
async fn a_passing_failure_is_nothing_at_all() {
    let stand_in = serve(case(B200, |_| {})).await;
    stand_in.fault(Fault { times: Some(1), ..no_jobs() });
    let verdict = verdict_on(&stand_in, &[]).await;
    assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"));
}

#[tokio::test]
async fn a_rate_limit_says_when_it_ends() {
    let stand_in = serve(case(B200, |_| {})).await;
    stand_in.fault(Fault {
        pattern: "GET *jobs*".to_owned(),
        rate_limited: true,
        ..Fault::default()
    });
    let verdict = verdict_on(&stand_in, &[]).await;
    assert_eq!((verdict.code, verdict.outcome()), (3, "UNDECIDED"));
    let summary = verdict.row("sweep").summary();
    let (_, until) = summary.split_once("rate limit is used up until ").expect(&summary);
    let time = chrono::DateTime::parse_from_rfc3339(until.trim_matches('`').trim());
    assert!(time.is_ok(), "{summary}");
}

#[tokio::test]
async fn three_is_also_a_pull_request_that_cannot_be_read_at_all() {
    let stand_in = serve(case(B200, |_| {})).await;
    stand_in.fault(Fault {
        pattern: "GET *pulls/9101*".to_owned(),
        status: Some(500),
        ..Fault::default()
    });
    let ran = countersign(&stand_in, &["verify", &stand_in.pull_url(), "--format", "json"]).await;
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    assert!(ran.stderr.starts_with("undecided: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("Nothing was concluded. Try again"), "{}", ran.stderr);
}

#[tokio::test]
async fn an_advisory_row_that_stays_undecided_holds_nothing_on_the_command_line() {
    let rules = tempfile::tempdir().unwrap();
    for (name, text) in advisory_sweep() {
        let path = rules.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let stand_in = serve(case(B200, |_| {})).await;
    stand_in.fault(no_jobs());
    let verdict = verdict_on(&stand_in, &["--rules", rules.path().to_str().unwrap()]).await;
    // A command line has no try left: the row is shown, and passed over.
    assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"));
    assert_eq!(verdict.json["undecided"], json!(["sweep"]));
    assert_eq!(verdict.row("sweep").status(), "undecided");
}

#[tokio::test]
async fn while_a_try_is_left_only_the_check_run_says_what_is_proven() {
    let desk = Desk::open(case(B200, unchecked)).await;
    desk.stand_in.fault(no_jobs());
    let outcome = desk.first_try("nv-ada", SIGNOFF).await;
    assert!(
        matches!(&outcome, Outcome::Retry { why, .. } if why == "sweep is undecided"),
        "{outcome:?}"
    );
    let (status, conclusion, _, summary) = desk.check_run();
    assert_eq!((status.as_str(), conclusion), ("in_progress", Value::Null));
    assert!(summary.contains("❌ Check 5 (Checklist): FAIL — "), "{summary}");
    assert!(summary.contains("⏳ Check 1 (Sweep): UNDECIDED — "), "{summary}");
    assert_eq!(desk.comments(), Vec::<String>::new());
}

#[tokio::test]
async fn after_the_last_try_somebody_has_to_act_and_nothing_was_concluded() {
    let desk = Desk::open(case(B200, unchecked)).await;
    desk.stand_in.fault(no_jobs());
    assert_eq!(desk.last_try("nv-ada", SIGNOFF).await, Outcome::Done);
    let (status, conclusion, title, summary) = desk.check_run();
    assert_eq!((status.as_str(), conclusion), ("completed", "action_required".into()));
    assert!(title.starts_with("could not assess: "), "{title}");
    assert!(summary.contains("❌ Check 5 (Checklist): FAIL — "), "{summary}");
    assert_eq!(desk.comments(), Vec::<String>::new());
}

#[tokio::test]
async fn an_advisory_row_waits_for_the_tries_and_then_holds_nothing() {
    let desk = Desk::with_rules(case(B200, |_| {}), advisory_sweep()).await;
    desk.stand_in.fault(no_jobs());
    let outcome = desk.first_try("nv-ada", SIGNOFF).await;
    assert!(matches!(outcome, Outcome::Retry { .. }), "{outcome:?}");
    assert_eq!(desk.check_run().0, "in_progress");

    assert_eq!(desk.last_try("nv-ada", SIGNOFF).await, Outcome::Done);
    let (status, conclusion, title, summary) = desk.check_run();
    assert_eq!(
        (status.as_str(), conclusion, title.as_str()),
        ("completed", "success".into(), "APPROVED with warnings")
    );
    assert!(summary.contains("⏳ Check 1 (Sweep): UNDECIDED — "), "{summary}");
    assert!(desk.comments()[0].contains("⏳ Check 1 (Sweep): UNDECIDED — "));
}

#[tokio::test]
async fn a_retry_that_succeeds_finishes_the_same_check_run() {
    let desk = Desk::open(case(B200, |_| {})).await;
    // As often as one read is tried.
    let pattern = format!("GET *runs/{RUN}/*jobs*");
    desk.stand_in.fault(Fault { pattern, times: Some(3), ..no_jobs() });
    let outcome = desk.first_try("nv-ada", SIGNOFF).await;
    assert!(matches!(outcome, Outcome::Retry { .. }), "{outcome:?}");
    assert_eq!(desk.attempt("nv-ada", SIGNOFF, 2).await, Outcome::Done);
    let (status, conclusion, ..) = desk.check_run();
    assert_eq!((status.as_str(), conclusion), ("completed", "success".into()));
}

#[tokio::test]
async fn the_worker_tries_again_when_the_rate_limit_ends() {
    let desk = Desk::open(case(B200, |_| {})).await;
    let limit = Fault {
        pattern: "GET *jobs*".to_owned(),
        rate_limited: true,
        retry_after: Some(1_800),
        ..Fault::default()
    };
    desk.stand_in.fault(limit);
    let outcome = desk.first_try("nv-ada", SIGNOFF).await;
    let Outcome::Retry { at, .. } = outcome else { panic!("{outcome:?}") };
    let (status, _, title, _) = desk.check_run();
    assert_eq!(status, "in_progress");
    let (_, said) = title.split_once("not assessed yet: tried again at ").expect(&title);
    let said = chrono::DateTime::parse_from_rfc3339(said).unwrap().timestamp_millis();
    assert_eq!(said, at, "what is said is when it is tried");
}

#[tokio::test]
async fn an_installation_that_may_not_read_teams_decides_nothing_about_them() {
    let desk = Desk::open(case(B200, |case| {
        let none = [("members".to_owned(), "none".to_owned())];
        case.spec.app_permissions = Some(none.into());
        signoff(case).author = "lena-core".to_owned();
    }))
    .await;
    assert_eq!(desk.last_try("lena-core", SIGNOFF).await, Outcome::Done);
    let (status, conclusion, _, summary) = desk.check_run();
    assert_eq!((status.as_str(), conclusion), ("completed", "action_required".into()));
    assert!(summary.contains("⏳ Check 0 (Code owner): UNDECIDED — "), "{summary}");
    assert!(summary.contains("members:read"), "{summary}");
}

#[tokio::test]
async fn a_signer_who_stands_on_the_line_needs_no_team() {
    let desk = Desk::open(case(B200, |case| {
        let none = [("members".to_owned(), "none".to_owned())];
        case.spec.app_permissions = Some(none.into());
    }))
    .await;
    assert_eq!(desk.first_try("nv-ada", SIGNOFF).await, Outcome::Done);
    assert_eq!(desk.check_run().1, "success");
}
