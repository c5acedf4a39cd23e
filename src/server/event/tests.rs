use serde_json::{Value, json};

use super::*;

const PHRASE: &str = "As a pilot of this harbour";
const APP: u64 = 77;

fn watched() -> Watched {
    let mut watched = Watched::new(Some(APP));
    watched.add("Harbour/Pilots", PHRASE);
    watched
}

fn of(event: &str, payload: &Value) -> Event {
    read(event, payload.to_string().as_bytes(), &watched()).unwrap()
}

/// A payload with that change, e.g. `("/sender/type", json!("Bot"))`.
fn with(mut payload: Value, pointer: &str, value: Value) -> Value {
    *payload.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is not there")) = value;
    payload
}

fn issue_comment() -> Value {
    json!({
        "action": "created",
        "issue": { "number": 7, "state": "open", "draft": false, "pull_request": { "url": "…" } },
        "comment": { "id": 11, "body": format!("{PHRASE}: ok"), "performed_via_github_app": null },
        "changes": { "body": { "from": "" } },
        "repository": { "id": 5, "full_name": "harbour/pilots", "private": false },
        "installation": { "id": 9 },
        "sender": { "login": "ada", "type": "User" },
    })
}

fn review() -> Value {
    json!({
        "action": "submitted",
        "review": { "id": 12, "body": PHRASE, "state": "approved" },
        "pull_request": { "number": 7, "state": "open", "draft": false },
        "repository": { "id": 5, "full_name": "harbour/pilots" },
        "sender": { "login": "ada", "type": "User" },
    })
}

fn review_comment() -> Value {
    json!({
        "action": "created",
        "comment": { "id": 13, "body": PHRASE },
        "pull_request": { "number": 7, "state": "open", "draft": false },
        "repository": { "id": 5, "full_name": "harbour/pilots" },
        "sender": { "login": "ada", "type": "User" },
    })
}

fn check_run() -> Value {
    json!({
        "action": "requested_action",
        "requested_action": { "identifier": "verify_again" },
        "check_run": { "external_id": format!("v1/5/7/{}/2", "a".repeat(40)), "app": { "id": APP } },
        "repository": { "id": 5, "full_name": "harbour/pilots" },
        "sender": { "login": "ada", "type": "User" },
    })
}

fn asked(action: &str, event: &str, signoff: Option<SignOffRef>) -> Event {
    let key = PullKey { repository: "harbour/pilots".into(), number: 7 };
    let trigger = Trigger { actor: "ada".into(), event: event.into(), signoff };
    Event::Asks { action: action.into(), job: NewJob { key, triggers: vec![trigger] } }
}

fn signoff(kind: SignOffKind, id: i64) -> Option<SignOffRef> {
    Some(SignOffRef { kind, id })
}

#[test]
fn each_way_to_sign_off_asks_for_a_verification() {
    let comment = signoff(SignOffKind::IssueComment, 11);
    let (created, edited) = (issue_comment(), with(issue_comment(), "/action", json!("edited")));
    assert_eq!(of("issue_comment", &created), asked("created", "issue_comment/created", comment));
    assert_eq!(of("issue_comment", &edited), asked("edited", "issue_comment/edited", comment));
    assert_eq!(
        of("pull_request_review", &review()),
        asked("submitted", "pull_request_review/submitted", signoff(SignOffKind::Review, 12))
    );
    assert_eq!(
        of("pull_request_review_comment", &review_comment()),
        asked(
            "created",
            "pull_request_review_comment/created",
            signoff(SignOffKind::ReviewComment, 13)
        )
    );
}

#[test]
fn an_edit_that_takes_the_phrase_out_asks_too() {
    let edited = with(issue_comment(), "/action", json!("edited"));
    let gone = with(edited, "/comment/body", json!("withdrawn"));
    assert_eq!(of("issue_comment", &gone), Event::Nothing("no sign-off"));
    let gone = with(gone, "/changes/body/from", json!(PHRASE));
    assert!(matches!(of("issue_comment", &gone), Event::Asks { .. }));
}

#[test]
fn the_button_and_the_rerun_ask_for_all_sign_offs() {
    assert_eq!(
        of("check_run", &check_run()),
        asked("requested_action", "check_run/requested_action", None)
    );
    let rerun = with(check_run(), "/action", json!("rerequested"));
    assert_eq!(of("check_run", &rerun), asked("rerequested", "check_run/rerequested", None));
}

#[test]
fn what_starts_no_verification_says_why() {
    let cases = [
        (
            "issue_comment",
            with(issue_comment(), "/issue/pull_request", Value::Null),
            "not on a pull request",
        ),
        (
            "issue_comment",
            with(issue_comment(), "/action", json!("deleted")),
            "the action changes no sign-off",
        ),
        ("issue_comment", with(issue_comment(), "/comment/body", Value::Null), "no sign-off"),
        (
            "issue_comment",
            with(issue_comment(), "/comment/body", json!(PHRASE.to_lowercase())),
            "no sign-off",
        ),
        ("issue_comment", with(issue_comment(), "/sender/type", json!("Bot")), "a bot acted"),
        ("issue_comment", with(issue_comment(), "/sender/login", json!("tug[bot]")), "a bot acted"),
        ("issue_comment", with(issue_comment(), "/sender", Value::Null), "no sender"),
        (
            "issue_comment",
            with(issue_comment(), "/sender/login", json!("x".repeat(101))),
            "the sender's login is none",
        ),
        (
            "issue_comment",
            with(issue_comment(), "/sender/login", json!("a\u{0}/../../x")),
            "the sender's login is none",
        ),
        (
            "issue_comment",
            with(issue_comment(), "/issue/number", json!(-1)),
            "the pull request's number is none",
        ),
        (
            "issue_comment",
            with(issue_comment(), "/comment/performed_via_github_app", json!({ "id": APP })),
            "our own",
        ),
        (
            "issue_comment",
            with(issue_comment(), "/repository/full_name", json!("harbour/other")),
            "the repository has no profile",
        ),
        (
            "issue_comment",
            with(issue_comment(), "/issue/state", json!("closed")),
            "the pull request is closed",
        ),
        (
            "issue_comment",
            with(issue_comment(), "/issue/draft", json!(true)),
            "the pull request is a draft",
        ),
        (
            "pull_request_review",
            with(review(), "/review/state", json!("dismissed")),
            "the review is pending or dismissed",
        ),
        (
            "pull_request_review",
            with(review(), "/review/state", json!("PENDING")),
            "the review is pending or dismissed",
        ),
        ("pull_request_review", with(review(), "/review/body", Value::Null), "no sign-off"),
        (
            "pull_request_review",
            with(review(), "/action", json!("dismissed")),
            "the action changes no sign-off",
        ),
        (
            "pull_request_review_comment",
            with(review_comment(), "/pull_request/draft", json!(true)),
            "the pull request is a draft",
        ),
        (
            "check_run",
            with(check_run(), "/action", json!("completed")),
            "the action asks for nothing",
        ),
        (
            "check_run",
            with(check_run(), "/requested_action/identifier", json!("fix")),
            "the action asks for nothing",
        ),
        (
            "check_run",
            with(check_run(), "/check_run/app/id", json!(78)),
            "the check run of another app",
        ),
        ("check_run", with(check_run(), "/sender/type", json!("Bot")), "a bot acted"),
        ("ping", json!({ "zen": "…" }), "ping"),
        ("star", json!({ "action": "created" }), "the event is not one that starts a verification"),
    ];
    for (event, payload, why) in cases {
        assert_eq!(of(event, &payload), Event::Nothing(why), "{event} {payload}");
    }
}

#[test]
fn a_comment_through_another_app_is_a_persons() {
    let by_other = with(issue_comment(), "/comment/performed_via_github_app", json!({ "id": 78 }));
    assert!(matches!(of("issue_comment", &by_other), Event::Asks { .. }));
}

#[test]
fn an_external_id_that_is_not_ours_names_no_pull_request() {
    let sha = "a".repeat(40);
    for id in [
        String::new(),
        format!("v1/6/7/{sha}/2"),
        format!("v2/5/7/{sha}/2"),
        format!("v1/5/-7/{sha}/2"),
        format!("v1/5/x/{sha}/2"),
        format!("v1/5/7/{sha}"),
        format!("v1/5/7/{sha}/2/3"),
    ] {
        let payload = with(check_run(), "/check_run/external_id", json!(id));
        assert_eq!(
            of("check_run", &payload),
            Event::Nothing("the check run names no pull request of this repository"),
            "{id}"
        );
    }
}

#[test]
fn a_body_that_is_not_what_github_sends_is_malformed() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in ["", "x", "{", "[]", "{}", "\"\\ud800\"", deep.as_str()] {
        assert!(read("issue_comment", body.as_bytes(), &watched()).is_err(), "{body:.20}");
    }
    for body in ["", "x", "{", "{} {}"] {
        assert!(read("star", body.as_bytes(), &watched()).is_err(), "{body}");
        assert!(read("ping", body.as_bytes(), &watched()).is_err(), "{body}");
    }
    let twice = issue_comment().to_string().replacen('{', "{\"action\":\"deleted\",", 1);
    assert!(read("issue_comment", twice.as_bytes(), &watched()).is_err());
    let wrong_type = with(issue_comment(), "/comment/id", json!("11"));
    assert!(read("issue_comment", wrong_type.to_string().as_bytes(), &watched()).is_err());
}

#[test]
fn depth_in_a_field_that_nobody_reads_is_passed_over() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let body = issue_comment().to_string().replacen('{', &format!("{{\"extra\":{deep},"), 1);
    assert!(matches!(read("issue_comment", body.as_bytes(), &watched()), Ok(Event::Asks { .. })));
}
