//! What pretends to be ours, and who pretends to sign: each with the text that answers it.

use super::*;
use crate::support::CheckSpec;

const ALPHA: u64 = 103;

fn signed(id: u64, author: &str) -> CommentSpec {
    comment(id, ALPHA, author, CommentKind::IssueComment, &form(3))
}

async fn life() -> Life {
    Life::start(atlas(&[ALPHA])).await
}

#[tokio::test]
async fn a_comment_with_our_marker_by_another_is_left_alone_and_not_taken_for_ours() {
    let life = life().await;
    let forged = "<!-- countersign signoff=issue_comment/11 -->\n## ✅✅✅ **APPROVED** ✅✅✅\n";
    let writers = [("be-tty", None), ("re-ader", None), ("map-keeper[bot]", Some("other-app"))];
    for (n, (author, app)) in writers.into_iter().enumerate() {
        let mut spec = comment(21 + n as u64, ALPHA, author, CommentKind::IssueComment, forged);
        spec.app = app.map(str::to_owned);
        assert_eq!(life.posts(spec).await, 200, "{author}: no sign-off and no command");
    }
    life.posts(signed(11, "be-tty")).await;
    let world = life.world();
    for id in [21, 22, 23] {
        assert_eq!(world.comments[&id].body, forged, "{id} is not ours to change");
    }
    drop(world);
    let comments = life.comments(ALPHA);
    assert_eq!(comments.len(), 1, "a comment of our own: {comments:#?}");
    assert!(comments[0].contains("**REJECTED**"), "{}", comments[0]);
}

#[tokio::test]
async fn a_check_of_our_name_by_another_app_is_not_ours() {
    let case = atlas(&[ALPHA]).with(|case| {
        case.spec.checks.push(CheckSpec {
            name: "countersign".to_owned(),
            app: "other-app".to_owned(),
            id: None,
            conclusion: Some("success".to_owned()),
            status: None,
            on: "103-1".to_owned(),
        });
    });
    let life = Life::start(case).await;
    life.happens(json!({ "event": "pull_request", "action": "opened", "pull": ALPHA })).await;
    assert_eq!(life.runs(ALPHA), ["in_progress"], "what another app says is not said by us");
    life.posts(signed(11, "be-tty")).await;
    assert_eq!(life.runs(ALPHA), ["failure"]);
    let forged = {
        let world = life.world();
        let forged = world.check_runs.values().find(|run| run.app == "other-app").unwrap();
        assert_eq!(forged.fields["conclusion"], "success", "nobody touches it");
        forged.id
    };
    let rerun = json!({ "event": "check_run", "action": "rerequested", "check_run": forged, "sender": "al-ice" });
    assert_eq!(life.happens(rerun).await, 200, "its Re-run is not ours to answer");
    let commits = life.world().queue(&[ALPHA]).unwrap();
    life.happens(json!({ "event": "merge_group", "action": "checks_requested", "pull": ALPHA }))
        .await;
    assert_eq!(life.runs_at(&commits[0]), ["failure"], "nor does the queue believe it");
}

#[tokio::test]
async fn a_sign_off_by_a_bot_is_none_and_the_report_says_so() {
    let life = life().await;
    assert_eq!(life.posts(signed(11, "map-keeper[bot]")).await, 200);
    assert!(life.stand_in.writes().is_empty());
    life.posts(signed(12, "al-ice")).await;
    let comment = life.comments(ALPHA).remove(0);
    let line = "- Sign-off by `@map-keeper[bot]` ([comment](https://github.com/example/atlas/pull/103#issuecomment-11)): a bot or an app wrote it; only a person can sign";
    assert!(comment.contains(line), "{comment}");
}

#[tokio::test]
async fn a_sign_off_by_an_outsider_starts_nothing_and_is_rejected_where_somebody_asks() {
    let life = life().await;
    assert_eq!(life.posts(signed(11, "vi-sitor")).await, 202);
    assert!(life.stand_in.writes().is_empty(), "nobody who may asked about it");
    life.happens(json!({ "event": "pull_request", "action": "synchronize", "pull": ALPHA })).await;
    assert_eq!(life.runs(ALPHA), ["in_progress"], "it does not show up by itself");
    let summary = {
        let world = life.world();
        let run = world.check_runs.values().next_back().unwrap();
        run.fields["output"]["summary"].as_str().unwrap().to_owned()
    };
    assert!(summary.contains("- Sign-off by `@vi-sitor`"), "{summary}");
    assert!(summary.contains("may not start a verification"), "{summary}");
    let ask = comment(12, ALPHA, "al-ice", CommentKind::IssueComment, "/countersign verify");
    life.posts(ask).await;
    assert_eq!(life.runs(ALPHA), ["failure"]);
    let said = life.comments(ALPHA).pop().unwrap();
    assert!(said.contains("`vi-sitor` is no code owner"), "{said}");
}

#[tokio::test]
async fn a_sign_off_by_the_author_is_noted_and_by_the_owner_of_the_other_half_rejected() {
    let case = atlas(&[ALPHA]).with(|case| case.spec.more[0].author = "al-ice".to_owned());
    let life = Life::start(case).await;
    life.posts(signed(11, "al-ice")).await;
    let said = life.comments(ALPHA).remove(0);
    assert!(said.contains("**APPROVED"), "{said}");
    assert!(said.contains("`al-ice` signed off a pull request of their own"), "{said}");
    life.posts(signed(12, "be-tty")).await;
    let said = life.comments(ALPHA).remove(1);
    assert!(said.contains("**REJECTED**"), "{said}");
    let why = "`alpha/103.txt` is owned by `@al-ice`, `@ab-both`, and `be-tty` is none of them";
    assert!(said.contains(why), "{said}");
    assert!(
        said.contains("An owner of it (`@al-ice`, `@ab-both`) posts a sign-off of their own"),
        "{said}"
    );
}
