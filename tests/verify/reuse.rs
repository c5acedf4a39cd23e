//! Check 4, advisory: somebody authorised said which run the merge takes over.

use super::*;

const LATE: &str = "2026-10-13T07:50:00Z";

#[tokio::test]
async fn no_command_is_a_warning_and_never_a_rejection() {
    let verdict = verdict(case(B200, |_| {})).await;
    assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"));
    assert_eq!(verdict.json["warnings"], 1);
    let row = verdict.row("reuse-command");
    row.expect("warn", &["warn: No authorised reuse command has been posted", "/use <run id>"]);
    row.expect_evidence();
}

#[tokio::test]
async fn a_command_by_somebody_who_may_not_give_it_does_not_count() {
    let verdict = verdict(case(B200, |case| {
        person(case, "rosa-visitor", "read", "CONTRIBUTOR");
        say(case, 21, "rosa-visitor", "2026-09-11T08:00:00Z", "/use 34911820457");
    }))
    .await;
    verdict.row("reuse-command").expect(
        "warn",
        &["note: `/use 34911820457` by `rosa-visitor` does not count: the author is `CONTRIBUTOR`"],
    );
}

#[tokio::test]
async fn a_command_in_a_sentence_is_none() {
    for body in ["Please /use 34911820457", "/use 34911820457 please", "/use", "`/use 34911820457`"]
    {
        let verdict = verdict(case(B200, |case| {
            say(case, 21, "nv-ada", "2026-09-11T08:00:00Z", body);
        }))
        .await;
        assert_eq!(verdict.row("reuse-command").status(), "warn", "{body}");
    }
}

#[tokio::test]
async fn a_newer_command_by_anybody_else_does_not_displace_an_authorised_one() {
    let verdict = verdict(case(GB200, |case| {
        person(case, "rosa-visitor", "read", "NONE");
        say(case, 21, "rosa-visitor", LATE, "/use 1");
    }))
    .await;
    let row = verdict.row("reuse-command");
    row.expect("pass", &["does not count: the author is `NONE`"]);
    assert_eq!(row.summary(), "`/use 38412750933` by `nv-marie`");
}

#[tokio::test]
async fn the_newest_authorised_command_counts_by_its_last_line() {
    let verdict = verdict(case(GB200, |case| {
        say(case, 21, "lena-core", LATE, "Both ran.\n\n/use 38412750933\n/reuse-sweep-run");
    }))
    .await;
    assert_eq!(verdict.row("reuse-command").summary(), "`/reuse-sweep-run` by `lena-core`");
}
