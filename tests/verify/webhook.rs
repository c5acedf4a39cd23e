//! The real server and real deliveries: what starts a verification, and what never does.

use std::path::Path;

use serde_json::json;

use super::worker::comments;
use super::*;
use crate::support::{APP_SLUG, ServerProcess};

/// A server of its own for one case.
struct Served {
    stand_in: StandIn,
    _server: ServerProcess,
    _folder: tempfile::TempDir,
}

impl Served {
    async fn start(case: Case) -> Self {
        let stand_in = serve(case).await;
        let folder = tempfile::tempdir().unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
        let server = ServerProcess::start(program, &["serve"], &stand_in, folder.path()).await;
        Self { stand_in, _server: server, _folder: folder }
    }

    /// Sends a delivery about a comment; 202 where it asks for something, 200 where it does not.
    async fn deliver(&self, event: &str, action: &str, id: u64) -> u64 {
        let asked = json!({ "event": event, "action": action, "comment": id });
        self.stand_in.deliver(&asked).await["status"].as_u64().unwrap()
    }

    async fn until_concluded(&self) {
        let about = "a finished check run and a comment";
        self.stand_in
            .until(about, |world| {
                let mut runs = world.check_runs.values();
                runs.any(|run| run.fields["status"] == "completed")
                    && !comments(&world.writes).is_empty()
            })
            .await;
    }
}

#[tokio::test]
async fn a_sign_off_is_answered_by_a_check_run_and_one_comment() {
    let served = Served::start(case(GB200, |_| {})).await;
    assert_eq!(served.deliver("issue_comment", "created", 4_377_201_550).await, 202);
    served.until_concluded().await;
    let comments = comments(&served.stand_in.writes());
    assert_eq!(comments.len(), 1, "{comments:#?}");
    let opening =
        "<!-- countersign signoff=issue_comment/4377201550 -->\n## ✅✅✅ **APPROVED** ✅✅✅\n";
    assert!(comments[0].starts_with(opening), "{}", comments[0]);
}

#[tokio::test]
async fn a_review_and_an_inline_comment_are_answered_in_the_conversation() {
    for (kind, event, action, name) in [
        (CommentKind::Review, "pull_request_review", "submitted", "review"),
        (CommentKind::ReviewComment, "pull_request_review_comment", "created", "review_comment"),
    ] {
        let served = Served::start(case(B200, |case| signoff(case).kind = kind)).await;
        assert_eq!(served.deliver(event, action, SIGNOFF).await, 202, "{event}");
        served.until_concluded().await;
        let comments = comments(&served.stand_in.writes());
        let opening = format!("<!-- countersign signoff={name}/{SIGNOFF} -->\n");
        assert!(comments[0].starts_with(&opening), "{}", comments[0]);
    }
}

#[tokio::test]
async fn nothing_that_only_mentions_a_sign_off_is_one() {
    let form = case(B200, |_| {}).text("signoff.md").unwrap();
    let template = {
        let text = case(B200, |_| {}).text(TEMPLATE).unwrap();
        text.split("```").nth(1).unwrap().to_owned()
    };
    let verdict = format!(
        "<!-- countersign signoff=issue_comment/{SIGNOFF} -->\n## ❌❌❌ **REJECTED** ❌❌❌\n\n> As a PR reviewer and CODEOWNER, I have reviewed this and have:\n"
    );
    let mentions = [
        (61, "nv-ada", form.lines().map(|line| format!("> {line}\n")).collect::<String>()),
        (
            62,
            "nv-ada",
            "Begin with `As a PR reviewer and CODEOWNER, I have reviewed this and have:`."
                .to_owned(),
        ),
        (63, "nv-ada", format!("<!--\n{form}\n-->\nSee above.")),
        (64, "nv-ada", format!("Please use this:\n\n```\n{template}```\n\nThanks!")),
        (65, "image-keeper[bot]", form.clone()),
        (66, "image-keeper[bot]", format!("Reminder: post the form.\n\n```\n{template}```\n")),
        (67, "image-keeper[bot]", verdict.clone()),
        (68, "countersign[bot]", format!("{verdict}\n{form}")),
        (69, "nv-ada", format!("```\n{template}```")),
    ];
    let served = Served::start(case(B200, |case| {
        for (id, author, body) in &mentions {
            say(case, *id, author, "2026-09-11T08:00:00Z", body);
            if *author == "countersign[bot]" {
                case.spec.comments.last_mut().unwrap().app = Some(APP_SLUG.to_owned());
            }
        }
    }))
    .await;
    for (id, ..) in &mentions {
        for action in ["created", "edited"] {
            let status = served.deliver("issue_comment", action, *id).await;
            assert!([200, 202].contains(&status), "{id} {action}: {status}");
        }
    }
    // One that is a sign-off, so that something is waited for: a pull request's jobs run one by one.
    assert_eq!(served.deliver("issue_comment", "created", SIGNOFF).await, 202);
    served.until_concluded().await;
    let writes = served.stand_in.writes();
    let written = comments(&writes);
    assert_eq!(written.len(), 1, "{written:#?}");
    assert!(
        written[0].starts_with(&format!("<!-- countersign signoff=issue_comment/{SIGNOFF} -->"))
    );
    let made =
        writes.iter().filter(|write| write.method == "POST" && write.path.ends_with("/check-runs"));
    assert_eq!(made.count(), 1);
}

#[tokio::test]
async fn bots_and_plain_talk_are_not_even_queued() {
    let form = case(B200, |_| {}).text("signoff.md").unwrap();
    let served = Served::start(case(B200, |case| {
        say(case, 71, "image-keeper[bot]", "2026-09-11T08:00:00Z", &form);
        say(case, 72, "nv-ada", "2026-09-11T08:00:00Z", "Looks good to me.");
    }))
    .await;
    for (id, action) in [(71, "created"), (72, "created"), (72, "edited"), (72, "deleted")] {
        assert_eq!(served.deliver("issue_comment", action, id).await, 200, "{id} {action}");
    }
    assert!(served.stand_in.writes().is_empty());
}

#[tokio::test]
async fn a_draft_and_a_closed_pull_request_wait() {
    for change in
        [(|case: &mut Case| case.spec.pull_request.draft = true) as fn(&mut Case), |case| {
            case.spec.pull_request.state = crate::support::PullState::Closed
        }]
    {
        let served = Served::start(case(B200, change)).await;
        assert_eq!(served.deliver("issue_comment", "created", SIGNOFF).await, 200);
        assert!(served.stand_in.writes().is_empty());
    }
}
