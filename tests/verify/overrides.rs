//! An administrator's exception for one check of one commit.

use super::*;

const LATER: &str = "2026-09-11T08:40:00Z";

/// A sweep with a failed job, and a comment that asks to accept it.
fn asked(author: &'static str, command: &'static str) -> Case {
    case(B200, move |case| {
        let job = run(case).jobs.iter_mut().find(|job| job.name.starts_with("single-node 8k1k"));
        job.unwrap().conclusion = Some("failure".to_owned());
        say(case, 31, author, LATER, command);
    })
}

const SWEEP: &str = "/countersign override sweep {{head}} The node is broken, see #77";

#[tokio::test]
async fn an_administrators_exception_shows_the_failure_and_lets_it_pass() {
    let stand_in = serve(asked("lena-core", SWEEP)).await;
    let verdict = verdict_on(&stand_in, &[]).await;
    assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"));
    let row = verdict.row("sweep");
    row.expect("fail", &["is incomplete: 11 of 12 jobs succeeded"]);
    assert_eq!(row.0["overridden"]["by"], "lena-core");
    assert_eq!(row.0["overridden"]["reason"], "The node is broken, see #77");
    assert_eq!(row.0["overridden"]["url"], format!("{}#issuecomment-31", stand_in.pull_url()));

    let text = countersign(&stand_in, &["verify", &stand_in.pull_url()]).await.stdout;
    assert!(text.contains("⚠️ Check 1 (Sweep): OVERRIDDEN — by @lena-core"), "{text}");
    assert!(text.starts_with("⚠️ APPROVED with warnings ⚠️\n"), "{text}");
}

#[tokio::test]
async fn seven_digits_of_the_commit_are_enough() {
    let head = serve(asked("lena-core", SWEEP)).await.sha("head");
    let short = format!("/countersign override sweep {} The node is broken", &head[..7]);
    let verdict = verdict(asked("lena-core", short.leak())).await;
    assert_eq!(verdict.row("sweep").0["overridden"]["by"], "lena-core");
}

#[tokio::test]
async fn an_exception_that_does_not_count_says_why() {
    for (author, command, why) in [
        ("nv-ada", SWEEP, "its author is no administrator of this repository"),
        (
            "lena-core",
            "/countersign override sweep {{base}} The node is broken",
            "it names another commit than the assessed ",
        ),
    ] {
        let verdict = verdict(asked(author, command)).await;
        assert_eq!((verdict.code, verdict.outcome()), (1, "REJECTED"), "{author}: {command}");
        let row = verdict.row("sweep");
        assert_eq!(row.0["overridden"], Value::Null, "{author}: {command}");
        let said = format!("note: The exception by `{author}` does not count: {why}");
        row.expect("fail", &[&said]);
    }
}

#[tokio::test]
async fn nothing_but_the_whole_line_in_plain_sight_is_an_exception() {
    for command in [
        "/countersign override evals {{head}} The node is broken",
        "> /countersign override sweep {{head}} The node is broken",
        "`/countersign override sweep {{head}} The node is broken`",
        "Please /countersign override sweep {{head}} The node is broken",
        "/countersign override sweep {{head}}",
    ] {
        let verdict = verdict(asked("lena-core", command)).await;
        assert_eq!((verdict.code, verdict.outcome()), (1, "REJECTED"), "{command}");
        assert_eq!(verdict.row("sweep").0["overridden"], Value::Null, "{command}");
    }
}

#[tokio::test]
async fn an_exception_that_somebody_else_edited_is_not_its_authors_word() {
    let verdict = verdict(asked("lena-core", SWEEP).with(|case| {
        let comment = case.spec.comments.last_mut().unwrap();
        comment.updated = Some("2026-09-11T08:50:00Z".to_owned());
        comment.edited_by = Some("nv-ada".to_owned());
    }))
    .await;
    assert_eq!(verdict.outcome(), "REJECTED");
    let row = verdict.row("sweep");
    assert_eq!(row.0["overridden"], Value::Null);
    row.expect("fail", &["nv-ada edited the comment, so that it is not its author's word"]);
}

#[tokio::test]
async fn who_may_sign_cannot_be_excepted() {
    let verdict = verdict(case(B200, |case| {
        case.replace(CODEOWNERS, "@nv-ada @nv-tomasz @SemiAnalysisAI/core", "@nv-tomasz");
        say(case, 31, "lena-core", LATER, "/countersign override codeowner {{head}} It is fine");
    }))
    .await;
    assert_eq!(verdict.outcome(), "REJECTED");
    let row = verdict.row("codeowner");
    assert_eq!(row.0["overridden"], Value::Null);
    row.expect("fail", &["does not count: this check cannot be excepted"]);
}
