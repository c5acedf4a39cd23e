//! Several sign-offs on one pull request, by several people, in every order.

use super::*;

const BOTH: u64 = 102;
const ALPHA: u64 = 103;

async fn life() -> Life {
    Life::start(atlas(&[BOTH, ALPHA])).await
}

fn signed(id: u64, pull: u64, author: &str, ticked: usize) -> CommentSpec {
    comment(id, pull, author, CommentKind::IssueComment, &form(ticked))
}

/// Every order of three things.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

#[tokio::test]
async fn one_approved_sign_off_is_enough_whatever_the_others_say_and_when() {
    for order in ORDERS {
        let life = life().await;
        // One by the owner, one by the owner of the other half, one with a box left open.
        let all = [("al-ice", 3), ("be-tty", 3), ("ab-both", 2)];
        let mut approved = false;
        for index in order {
            let (author, ticked) = all[index];
            life.posts(signed(11 + index as u64, ALPHA, author, ticked)).await;
            approved |= index == 0;
            let word = if approved { "success" } else { "failure" };
            assert_eq!(life.runs(ALPHA).last().unwrap(), word, "{order:?} after {author}");
        }
        let comments = life.comments(ALPHA);
        assert_eq!(comments.len(), 3, "one each: {comments:#?}");
        let approvals = comments.iter().filter(|text| text.contains("**APPROVED")).count();
        assert_eq!(approvals, 1);
        let world = life.world();
        let newest = world.check_runs.values().next_back().unwrap();
        let summary = newest.fields["output"]["summary"].as_str().unwrap();
        for line in [
            "- `@al-ice` ([issue comment 11](https://github.com/example/atlas/pull/103#issuecomment-11)): APPROVED",
            "- `@be-tty` ([issue comment 12](https://github.com/example/atlas/pull/103#issuecomment-12)): REJECTED",
            "- `@ab-both` ([issue comment 13](https://github.com/example/atlas/pull/103#issuecomment-13)): REJECTED",
        ] {
            assert!(summary.contains(line), "{line} in {summary}");
        }
    }
}

#[tokio::test]
async fn two_halves_signed_by_two_people_are_not_one_whole() {
    let life = life().await;
    life.posts(signed(11, BOTH, "al-ice", 3)).await;
    life.posts(signed(12, BOTH, "be-tty", 3)).await;
    assert_eq!(life.runs(BOTH), ["failure", "failure"]);
    let comments = life.comments(BOTH);
    assert!(
        comments[0].contains("`beta/102.txt` is owned by `@be-tty`, `@ab-both`"),
        "{}",
        comments[0]
    );
    assert!(
        comments[1].contains("`alpha/102.txt` is owned by `@al-ice`, `@ab-both`"),
        "{}",
        comments[1]
    );
    life.posts(signed(13, BOTH, "ab-both", 3)).await;
    assert_eq!(life.runs(BOTH), ["failure", "failure", "success"]);
}

#[tokio::test]
async fn when_the_approved_one_goes_the_others_are_what_is_left() {
    let life = life().await;
    life.posts(signed(11, ALPHA, "al-ice", 3)).await;
    life.posts(signed(12, ALPHA, "be-tty", 3)).await;
    assert_eq!(life.runs(ALPHA), ["success", "success"]);
    life.stand_in.delete(11);
    let gone = json!({ "event": "issue_comment", "action": "deleted", "comment": 11 });
    life.happens(gone).await;
    assert_eq!(life.runs(ALPHA), ["success", "success", "failure"]);
    assert_eq!(life.title(ALPHA), "REJECTED");
    assert_eq!(life.comments(ALPHA).len(), 2, "nothing new is said about either");
}

#[tokio::test]
async fn an_edit_by_another_takes_the_approval_and_the_signers_own_gives_it_back() {
    let life = life().await;
    life.posts(signed(11, ALPHA, "al-ice", 2)).await;
    let edited = |sender: &str| json!({ "event": "issue_comment", "action": "edited", "comment": 11, "sender": sender });
    life.stand_in.edit(11, &form(3), "ad-min");
    life.happens(edited("ad-min")).await;
    let comment = life.comments(ALPHA).remove(0);
    assert!(comment.contains("was last edited by `ad-min`"), "{comment}");
    assert!(comment.contains("Edited since the last verdict"), "{comment}");
    life.stand_in.edit(11, &form(3), "al-ice");
    life.happens(edited("al-ice")).await;
    assert_eq!(life.runs(ALPHA), ["failure", "failure", "success"]);
    let comments = life.comments(ALPHA);
    assert_eq!(comments.len(), 2, "the verdict and its change: {comments:#?}");
    assert!(comments[1].contains("**REJECTED** → **APPROVED**"), "{}", comments[1]);
}

#[tokio::test]
async fn a_verdict_that_goes_to_and_fro_is_told_each_time() {
    let life = life().await;
    life.posts(signed(11, ALPHA, "al-ice", 3)).await;
    for (n, ticked) in [2, 3, 2, 3].into_iter().enumerate() {
        life.stand_in.edit(11, &form(ticked), "al-ice");
        let edited = json!({ "event": "issue_comment", "action": "edited", "comment": 11 });
        life.happens(edited).await;
        assert_eq!(life.comments(ALPHA).len(), 2 + n, "after edit {n}");
    }
}

#[tokio::test]
async fn a_pull_request_is_greeted_once_in_its_life() {
    let life = life().await;
    let event = |action: &str| json!({ "event": "pull_request", "action": action, "pull": ALPHA });
    life.happens(event("opened")).await;
    let comments = life.comments(ALPHA);
    assert_eq!(comments.len(), 1, "{comments:#?}");
    assert!(comments[0].starts_with("<!-- countersign greeting -->\n"), "{}", comments[0]);
    for owner in ["`@al-ice`", "`@ab-both`"] {
        assert!(comments[0].contains(owner), "{}", comments[0]);
    }
    assert!(comments[0].contains("- [ ] Looked at the printed proof"), "{}", comments[0]);
    // It quotes the phrase that opens a sign-off, and is none.
    let id = life.world().comments_on(ALPHA, CommentKind::IssueComment)[0].id;
    let own = json!({ "event": "issue_comment", "action": "created", "comment": id });
    assert_eq!(life.happens(own).await, 200);
    life.happens(event("synchronize")).await;
    assert_eq!(life.comments(ALPHA).len(), 1);
    life.stand_in.delete(id);
    life.happens(event("reopened")).await;
    assert!(life.comments(ALPHA).is_empty(), "who deleted it does not want it");
}
