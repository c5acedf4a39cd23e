//! The merge queue: its commits are as good as the heads that are in them.

use super::*;

const ALPHA: u64 = 103;
const BETA: u64 = 106;
const CORE: u64 = 104;

async fn life() -> Life {
    Life::start(atlas(&[ALPHA, BETA, CORE])).await
}

fn group(pull: u64) -> Value {
    json!({ "event": "merge_group", "action": "checks_requested", "pull": pull })
}

fn signed(id: u64, pull: u64, author: &str) -> CommentSpec {
    comment(id, pull, author, CommentKind::IssueComment, &form(3))
}

#[tokio::test]
async fn a_group_is_green_where_every_queued_head_is() {
    let life = life().await;
    life.posts(signed(11, ALPHA, "al-ice")).await;
    life.posts(signed(12, BETA, "be-tty")).await;
    life.happens(json!({ "event": "pull_request", "action": "opened", "pull": CORE })).await;
    let commits = life.world().queue(&[ALPHA, CORE, BETA]).unwrap();
    for (pull, commit) in [ALPHA, CORE, BETA].into_iter().zip(&commits) {
        assert_eq!(life.happens(group(pull)).await, 202);
        assert_eq!(life.runs_at(commit), ["success"], "{pull}");
    }
    // Delivered again: nothing more is said.
    life.happens(group(BETA)).await;
    assert_eq!(life.runs_at(&commits[2]), ["success"]);
    let comments = life.comments(ALPHA).len() + life.comments(BETA).len();
    assert_eq!(comments, 2, "the queue is no reason to talk");
}

#[tokio::test]
async fn a_group_is_red_where_one_that_stands_before_it_is() {
    let life = life().await;
    // Somebody who owns the other half.
    life.posts(signed(11, ALPHA, "be-tty")).await;
    life.posts(signed(12, BETA, "be-tty")).await;
    let commits = life.world().queue(&[ALPHA, BETA]).unwrap();
    life.happens(group(ALPHA)).await;
    life.happens(group(BETA)).await;
    assert_eq!(life.runs_at(&commits[0]), ["failure"]);
    assert_eq!(life.runs_at(&commits[1]), ["failure"]);
    let world = life.world();
    let run = world.check_runs.values().rfind(|run| run.head_sha == commits[1]).unwrap();
    let output = &run.fields["output"];
    assert_eq!(output["title"], "a queued head is not approved");
    let head = |pull| world.pull_of(pull).head_sha.clone();
    let lines = format!(
        "- #{ALPHA} at `{}`: not approved\n- #{BETA} at `{}`: approved",
        head(ALPHA),
        head(BETA)
    );
    assert_eq!(output["summary"], lines);
}

#[tokio::test]
async fn a_head_that_nobody_signed_does_not_pass_the_queue() {
    let life = life().await;
    let commits = life.world().queue(&[ALPHA]).unwrap();
    assert_eq!(life.happens(group(ALPHA)).await, 202);
    assert_eq!(life.runs_at(&commits[0]), ["failure"]);
    assert_eq!(life.runs(ALPHA), ["in_progress"], "the head itself goes on waiting");
}

#[tokio::test]
async fn a_head_that_was_never_looked_at_is_verified_first() {
    let life = life().await;
    let _ = life.posted(signed(11, ALPHA, "al-ice"));
    let commits = life.world().queue(&[ALPHA]).unwrap();
    life.happens(group(ALPHA)).await;
    assert_eq!(life.runs(ALPHA), ["success"]);
    assert_eq!(life.runs_at(&commits[0]), ["success"]);
}
