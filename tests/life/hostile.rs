//! What somebody without the right to it tries to bring about, or to take away.

use super::*;
use crate::support::Person;

const ALPHA: u64 = 103;

fn signed(id: u64, author: &str, ticked: usize) -> CommentSpec {
    comment(id, ALPHA, author, CommentKind::IssueComment, &form(ticked))
}

async fn life() -> Life {
    Life::start(atlas(&[ALPHA])).await
}

fn edited(id: u64, sender: &str) -> Value {
    json!({ "event": "issue_comment", "action": "edited", "comment": id, "sender": sender })
}

/// Puts other words into a comment within the second of its posting: GitHub's times do not show it.
fn edit_at_once(life: &Life, id: u64, body: &str, editor: &str) {
    let mut world = life.world();
    let comment = world.comments.get_mut(&id).unwrap();
    comment.before = Some(std::mem::replace(&mut comment.body, body.to_owned()));
    comment.edited = Some((comment.created_at.clone(), editor.to_owned()));
}

fn person(life: &Life, login: &str, change: impl FnOnce(&mut Person)) {
    let mut world = life.world();
    change(world.case.spec.people.get_mut(login).unwrap().as_mut().unwrap());
}

#[tokio::test]
async fn words_put_into_an_owners_mouth_within_a_second_are_not_theirs() {
    let life = life().await;
    let talk = comment(11, ALPHA, "al-ice", CommentKind::IssueComment, "Looks interesting.");
    assert_eq!(life.posts(talk).await, 200);
    edit_at_once(&life, 11, &form(3), "be-tty");
    life.happens(edited(11, "be-tty")).await;
    assert_eq!(life.runs(ALPHA), ["failure"]);
    let said = life.comments(ALPHA).remove(0);
    assert!(said.contains("last edited by `be-tty`"), "{said}");
}

#[tokio::test]
async fn an_exception_put_into_an_administrators_mouth_is_none() {
    let life = life().await;
    life.posts(signed(11, "al-ice", 2)).await;
    let head = life.world().pull_of(ALPHA).head_sha.clone();
    let talk = comment(12, ALPHA, "ad-min", CommentKind::IssueComment, "On holiday next week.");
    life.posts(talk).await;
    edit_at_once(&life, 12, &format!("/countersign override checklist {head} fine"), "be-tty");
    life.happens(edited(12, "be-tty")).await;
    assert!(life.runs(ALPHA).iter().all(|run| run == "failure"), "{:?}", life.runs(ALPHA));
    let said = life.comments(ALPHA).remove(0);
    assert!(said.contains("edited the comment, so that it is not its author"), "{said}");
}

#[tokio::test]
async fn an_approved_sign_off_that_is_edited_is_looked_at_whoever_edits_it() {
    for editor in ["al-ice", "map-keeper[bot]"] {
        let life = life().await;
        life.posts(signed(11, "al-ice", 3)).await;
        assert_eq!(life.runs(ALPHA), ["success"]);
        // Its author lost the right to start anything.
        person(&life, "al-ice", |person| person.role = Some("read".to_owned()));
        life.stand_in.edit(11, &form(1), editor);
        assert_eq!(life.happens(edited(11, editor)).await, 202, "{editor}");
        assert_eq!(life.runs(ALPHA), ["success", "failure"], "{editor}");
        let said = life.comments(ALPHA).remove(0);
        assert!(said.contains("**REJECTED**"), "{editor}: {said}");
    }
}

#[tokio::test]
async fn an_edit_that_no_event_told_of_does_not_keep_its_approval() {
    let life = life().await;
    life.posts(signed(11, "al-ice", 3)).await;
    life.stand_in.edit(11, &form(1), "al-ice");
    life.posts(signed(12, "be-tty", 3)).await;
    assert_eq!(life.runs(ALPHA), ["success", "failure"]);
}

#[tokio::test]
async fn an_approval_of_before_the_target_moved_is_looked_at_again_with_the_next_word() {
    let life = life().await;
    life.posts(signed(11, "al-ice", 3)).await;
    assert_eq!(life.runs(ALPHA), ["success"]);
    // The release branch gives the folder to another owner.
    life.world().move_main("release").unwrap();
    life.posts(signed(12, "co-ra", 3)).await;
    assert_eq!(life.runs(ALPHA), ["success", "failure"]);
    let comments = life.comments(ALPHA);
    assert!(comments[0].contains("**REJECTED**"), "{comments:#?}");
}

#[tokio::test]
async fn what_finishes_and_changes_nothing_says_nothing() {
    let life = life().await;
    life.posts(signed(11, "al-ice", 3)).await;
    let finished = json!({
        "event": "check_suite", "action": "completed", "pull": ALPHA, "app": "other-app",
        "head": "103-1",
    });
    let before = life.stand_in.writes().len();
    for _ in 0..3 {
        assert_eq!(life.happens(finished.clone()).await, 202);
        let status = json!({ "event": "status", "pull": ALPHA, "head": "103-1" });
        assert_eq!(life.happens(status).await, 202);
    }
    assert_eq!(life.stand_in.writes().len(), before);
    person(&life, "al-ice", |person| person.role = Some("read".to_owned()));
    life.happens(finished).await;
    assert_eq!(life.runs(ALPHA), ["success", "failure"], "what changes something is said");
}

#[tokio::test]
async fn a_strangers_form_costs_nothing_however_often_it_goes_and_comes() {
    let life = life().await;
    life.posts(signed(11, "vi-sitor", 3)).await;
    for text in ["never mind", &form(3), "never mind"] {
        life.stand_in.edit(11, text, "vi-sitor");
        let before = life.stand_in.requests().len();
        life.happens(edited(11, "vi-sitor")).await;
        let asked = life.stand_in.requests().len() - before;
        assert!(asked <= 8, "{asked} requests to find out that nobody who may asked");
    }
    assert!(life.stand_in.writes().is_empty());
}

#[tokio::test]
async fn a_large_codeowners_file_is_read_in_time() {
    let case = atlas(&[ALPHA]).with(|case| {
        let paths = (0..40_000).map(|n| format!("/src/dir{n}/ @ab-both\n"));
        let globs = (0..2_400).map(|n| format!("/src/**/dir{n}*x/ @ab-both\n"));
        let mut text: String = paths.chain(globs).collect();
        text.push_str("* @SemiAnalysisAI/core\n/alpha/ @al-ice @ab-both\n");
        case.write("base/.github/CODEOWNERS", text);
    });
    let life = Life::start(case).await;
    life.posts(signed(11, "al-ice", 3)).await;
    assert_eq!(life.runs(ALPHA), ["success"], "{}", life.server.log());
}

#[tokio::test]
async fn an_approval_on_one_pull_request_is_none_on_another_with_the_same_head() {
    let case = atlas(&[ALPHA]).with(|case| {
        case.spec.more.push(MorePull {
            number: 130,
            author: "be-tty".to_owned(),
            head: "103-1".to_owned(),
            title: "The same, elsewhere".to_owned(),
            base: Some("release".to_owned()),
            state: Default::default(),
            draft: false,
            labels: Vec::new(),
        });
    });
    let life = Life::start(case).await;
    life.posts(signed(11, "be-tty", 3)).await;
    assert_eq!(life.runs(ALPHA), ["failure"], "not her folder on main");
    let elsewhere = CommentSpec { pull: Some(130), ..signed(12, "be-tty", 3) };
    life.posts(elsewhere).await;
    assert_eq!(life.runs(ALPHA), ["failure", "action_required"], "one head, one check");
    assert_eq!(life.title(130), "held back: #103 has the same head");
    // The other one is out of the way.
    life.world().pull_mut_of(ALPHA).state = crate::support::PullState::Closed;
    let again = comment(13, 130, "al-ice", CommentKind::IssueComment, "/countersign verify");
    life.posts(again).await;
    assert_eq!(life.runs(130).last().map(String::as_str), Some("success"));
}
