//! Each event in each state of a pull request: open, draft, closed, merged.

use super::*;
use crate::support::PullState;

const ALPHA: u64 = 103;
const CORE: u64 = 104;

/// The states that a pull request can be in.
const STATES: [&str; 4] = ["open", "draft", "closed", "merged"];

fn put(world: &mut World, pull: u64, state: &str) {
    match state {
        "draft" => world.pull_mut_of(pull).draft = true,
        "closed" => world.pull_mut_of(pull).state = PullState::Closed,
        "merged" => drop(world.merge(pull).unwrap()),
        _ => {}
    }
}

/// A life in which the pull request is in that state, with a sign-off on it or none.
async fn in_state(state: &str, signed: bool) -> Life {
    let life = Life::start(atlas(&[ALPHA, CORE])).await;
    put(&mut life.world(), ALPHA, state);
    if signed {
        let signoff = comment(11, ALPHA, "al-ice", CommentKind::IssueComment, &form(3));
        let _ = life.posted(signoff);
    }
    life
}

#[tokio::test]
async fn a_new_head_gets_its_check_run_where_the_pull_request_is_open() {
    for state in STATES {
        for action in ["opened", "reopened", "ready_for_review", "synchronize"] {
            let life = in_state(state, false).await;
            let event = json!({ "event": "pull_request", "action": action, "pull": ALPHA });
            let status = life.happens(event).await;
            let (wanted, runs): (u64, &[&str]) = match state {
                "open" => (202, &["in_progress"]),
                _ => (200, &[]),
            };
            assert_eq!(status, wanted, "{state} {action}");
            assert_eq!(life.runs(ALPHA), runs, "{state} {action}");
            if state == "open" {
                assert_eq!(life.title(ALPHA), "waiting for a code owner's sign-off");
            }
        }
    }
}

#[tokio::test]
async fn what_stands_is_verified_when_the_head_or_the_base_moves() {
    for (action, base) in [("synchronize", None), ("reopened", None), ("edited", Some("release"))] {
        for state in STATES {
            let life = in_state(state, true).await;
            if let Some(base) = base {
                life.world().pull_mut_of(ALPHA).base_ref = base.to_owned();
            }
            let mut event = json!({ "event": "pull_request", "action": action, "pull": ALPHA });
            event["changes"] = json!({ "base": { "ref": { "from": "main" } } });
            let status = life.happens(event).await;
            if state != "open" {
                assert_eq!((status, life.comments(ALPHA).len()), (200, 0), "{state} {action}");
                continue;
            }
            // On the release branch somebody else owns alpha.
            let (word, run) = match base {
                Some(_) => ("REJECTED", "failure"),
                None => ("APPROVED", "success"),
            };
            assert_eq!(life.runs(ALPHA), [run], "{action}");
            let comments = life.comments(ALPHA);
            assert_eq!(comments.len(), 1, "{comments:#?}");
            assert!(comments[0].contains(&format!("**{word}")), "{}", comments[0]);
        }
    }
}

#[tokio::test]
async fn a_sign_off_is_verified_where_the_pull_request_is_open() {
    for state in STATES {
        for kind in [CommentKind::IssueComment, CommentKind::Review, CommentKind::ReviewComment] {
            let life = in_state(state, false).await;
            let status = life.posts(comment(11, ALPHA, "al-ice", kind, &form(3))).await;
            let (wanted, comments) = if state == "open" { (202, 1) } else { (200, 0) };
            assert_eq!(
                (status, life.comments(ALPHA).len()),
                (wanted, comments),
                "{state} {kind:?}"
            );
            let edited = json!({ "event": event_of(kind), "action": "edited", "comment": 11 });
            assert_eq!(life.happens(edited).await, wanted);
            assert_eq!(life.comments(ALPHA).len(), comments, "{state} {kind:?} edited");
        }
    }
}

#[tokio::test]
async fn what_was_signed_on_a_draft_is_verified_once_it_is_ready() {
    let life = in_state("draft", false).await;
    let signoff = comment(11, ALPHA, "al-ice", CommentKind::IssueComment, &form(3));
    assert_eq!(life.posts(signoff).await, 200);
    assert!(life.stand_in.writes().is_empty());
    life.world().pull_mut_of(ALPHA).draft = false;
    let ready = json!({ "event": "pull_request", "action": "ready_for_review", "pull": ALPHA });
    assert_eq!(life.happens(ready).await, 202);
    assert_eq!(life.runs(ALPHA), ["success"]);
    assert_eq!(life.comments(ALPHA).len(), 1);
}

#[tokio::test]
async fn who_asks_in_so_many_words_is_heard_in_every_state() {
    for state in STATES {
        let life = in_state(state, true).await;
        let ask = comment(12, ALPHA, "be-tty", CommentKind::IssueComment, "/countersign verify");
        assert_eq!(life.posts(ask).await, 202);
        assert_eq!(life.runs(ALPHA), ["success"], "{state}");
        assert_eq!(life.comments(ALPHA).len(), 1, "{state}");

        let rerun = json!({ "event": "check_run", "action": "rerequested", "sender": "be-tty" });
        assert_eq!(life.happens(rerun).await, 202);
        assert_eq!(life.runs(ALPHA), ["success", "success"], "{state}: a new run");
        let button = json!({
            "event": "check_run", "action": "requested_action", "identifier": "verify_again",
            "sender": "al-ice",
        });
        assert_eq!(life.happens(button).await, 202);
        assert_eq!(life.runs(ALPHA).len(), 3, "{state}");
        let suite = json!({
            "event": "check_suite", "action": "rerequested", "pull": ALPHA, "sender": "al-ice",
        });
        assert_eq!(life.happens(suite).await, 202);
        assert_eq!(life.runs(ALPHA).len(), 4, "{state}");
        assert_eq!(life.comments(ALPHA).len(), 1, "{state}: still the one comment");
    }
}

#[tokio::test]
async fn who_may_not_ask_is_not_heard() {
    for (actor, status) in [("re-ader", 202), ("vi-sitor", 202), ("map-keeper[bot]", 200)] {
        let life = in_state("open", true).await;
        let ask = comment(12, ALPHA, actor, CommentKind::IssueComment, "/countersign verify");
        assert_eq!(life.posts(ask).await, status, "{actor}");
        assert!(life.stand_in.writes().is_empty(), "{actor}");
    }
}

#[tokio::test]
async fn a_sign_off_that_is_taken_away_no_longer_counts() {
    for state in STATES {
        for kind in [CommentKind::IssueComment, CommentKind::Review, CommentKind::ReviewComment] {
            let life = Life::start(atlas(&[ALPHA, CORE])).await;
            life.posts(comment(11, ALPHA, "al-ice", kind, &form(3))).await;
            assert_eq!(life.runs(ALPHA), ["success"]);
            let action = if kind == CommentKind::Review {
                life.world().comments.get_mut(&11).unwrap().state = "DISMISSED".to_owned();
                "dismissed"
            } else {
                life.stand_in.delete(11);
                "deleted"
            };
            put(&mut life.world(), ALPHA, state);
            let gone = json!({ "event": event_of(kind), "action": action, "comment": 11, "sender": "ad-min" });
            let status = life.happens(gone).await;
            let (wanted, runs): (u64, &[&str]) = match state {
                "open" => (202, &["success", "in_progress"]),
                _ => (200, &["success"]),
            };
            assert_eq!(status, wanted, "{state} {kind:?}");
            assert_eq!(life.runs(ALPHA), runs, "{state} {kind:?}");
            assert_eq!(life.comments(ALPHA).len(), 1, "its verdict stays as history");
        }
    }
}

#[tokio::test]
async fn a_command_has_everything_that_stands_verified_where_the_pull_request_is_open() {
    for state in STATES {
        let life = in_state(state, true).await;
        let head = life.world().pull_of(ALPHA).head_sha.clone();
        for (id, author, body) in [
            (12, "co-ra", "/use 38".to_owned()),
            (
                13,
                "ad-min",
                format!("/countersign override checklist {head} the proof is at the printer"),
            ),
        ] {
            let said = comment(id, ALPHA, author, CommentKind::IssueComment, &body);
            let wanted = if state == "open" { 202 } else { 200 };
            assert_eq!(life.posts(said).await, wanted, "{state} {body}");
        }
        let (runs, comments) = if state == "open" { (2, 1) } else { (0, 0) };
        assert_eq!(life.runs(ALPHA).len(), runs, "{state}");
        assert_eq!(life.comments(ALPHA).len(), comments, "{state}");
    }
}

#[tokio::test]
async fn an_exception_that_is_taken_back_is_gone() {
    let life = in_state("open", false).await;
    life.posts(comment(11, ALPHA, "al-ice", CommentKind::IssueComment, &form(2))).await;
    assert_eq!(life.runs(ALPHA), ["failure"]);
    let head = life.world().pull_of(ALPHA).head_sha.clone();
    let exception = format!("/countersign override checklist {head} the proof is at the printer");
    life.posts(comment(12, ALPHA, "ad-min", CommentKind::IssueComment, &exception)).await;
    assert_eq!(life.runs(ALPHA), ["failure", "success"]);
    life.stand_in.delete(12);
    // Whoever deletes it: it was the administrator's word.
    let gone = json!({ "event": "issue_comment", "action": "deleted", "comment": 12, "sender": "re-ader" });
    assert_eq!(life.happens(gone).await, 202);
    assert_eq!(life.runs(ALPHA), ["failure", "success", "failure"]);
    let comments = life.comments(ALPHA);
    assert_eq!(comments.len(), 3, "one verdict and two changes: {comments:#?}");
    assert!(comments[1].contains("**REJECTED** → **APPROVED**"), "{}", comments[1]);
    assert!(comments[2].contains("**APPROVED** → **REJECTED**"), "{}", comments[2]);
}

#[tokio::test]
async fn what_others_finish_has_the_assessed_commit_looked_at_again() {
    for state in STATES {
        let life = Life::start(atlas(&[ALPHA, CORE])).await;
        life.posts(comment(11, ALPHA, "al-ice", CommentKind::IssueComment, &form(3))).await;
        put(&mut life.world(), ALPHA, state);
        let head = life.world().pull_of(ALPHA).head_sha.clone();
        let suite = json!({
            "event": "check_suite", "action": "completed", "pull": ALPHA, "app": "github-actions",
        });
        {
            let mut world = life.world();
            let owner = world.case.spec.people.get_mut("al-ice").unwrap().as_mut().unwrap();
            owner.role = Some("read".to_owned());
        }
        assert_eq!(life.happens(suite).await, 202, "{state}");
        let runs = if state == "open" { 2 } else { 1 };
        assert_eq!(life.runs(ALPHA).len(), runs, "{state}");
        let status =
            json!({ "event": "status", "head": head, "state": "success", "context": "tide" });
        assert_eq!(life.happens(status).await, 202, "{state}");
    }
    let life = in_state("open", true).await;
    let suite = json!({
        "event": "check_suite", "action": "completed", "pull": ALPHA, "app": "github-actions",
    });
    assert_eq!(life.happens(suite).await, 200, "nothing was assessed there");
    let own = json!({ "event": "check_suite", "action": "completed", "pull": ALPHA });
    assert_eq!(life.happens(own).await, 200, "our own check suite");
    assert!(life.stand_in.writes().is_empty());
}

#[tokio::test]
async fn what_changes_nothing_does_nothing_in_every_state() {
    for state in STATES {
        let life = in_state(state, true).await;
        for event in [
            json!({ "event": "pull_request", "action": "closed", "pull": ALPHA }),
            json!({ "event": "pull_request", "action": "converted_to_draft", "pull": ALPHA }),
            json!({ "event": "pull_request", "action": "labeled", "pull": ALPHA, "label": "nice" }),
            json!({ "event": "pull_request", "action": "edited", "pull": ALPHA, "changes": { "title": { "from": "…" } } }),
            json!({ "event": "issue_comment", "action": "pinned", "comment": 11 }),
        ] {
            assert_eq!(life.happens(event.clone()).await, 200, "{state} {event}");
        }
        let talk = comment(12, ALPHA, "al-ice", CommentKind::IssueComment, "Looks good to me.");
        assert_eq!(life.posts(talk).await, 200);
        assert!(life.stand_in.writes().is_empty(), "{state}");
    }
}

#[tokio::test]
async fn what_nobody_has_to_sign_is_said_at_once() {
    let life = Life::start(atlas(&[ALPHA, CORE])).await;
    assert_eq!(Changes::of(CORE), Changes::Core);
    let opened = json!({ "event": "pull_request", "action": "opened", "pull": CORE });
    assert_eq!(life.happens(opened).await, 202);
    assert_eq!(life.runs(CORE), ["success"]);
    assert_eq!(life.title(CORE), "no sign-off required");
    assert!(life.comments(CORE).is_empty());
}
