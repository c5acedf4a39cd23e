use serde_json::{Value, json};

use super::*;
use crate::profile::{Presence, Profile, ReuseCommandSettings, builtin};

const PHRASE: &str = "As a pilot of this harbour";
const APP: u64 = 77;

fn watched() -> Watched {
    let mut watched = Watched::new(Some(APP));
    let command = |name: &str, run_id| ReuseCommandSettings { name: name.into(), run_id };
    let reuse = ReuseSettings {
        commands: vec![command("/moor", Presence::Required)],
        associations: vec!["MEMBER".into()],
    };
    let files = builtin("inferencex").expect("a built-in profile");
    let mut settings = Profile::from_files("inferencex", &files).expect("it is clean").settings;
    settings.signoff.phrase = PHRASE.to_owned();
    settings.reuse = Some(reuse);
    settings.check_run.status_context = Some("harbour".to_owned());
    watched.add("Harbour/Pilots", &settings);
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

/// One job of pull request 7 with these triggers of one event: actor, sign-off, what it means.
fn asked(action: &str, event: &str, triggers: &[(&str, Option<SignOffRef>, Ask)]) -> Event {
    let key = PullKey { repository: "harbour/pilots".into(), number: 7 };
    let trigger = |(actor, signoff, ask): &(&str, Option<SignOffRef>, Ask)| Trigger {
        actor: (*actor).into(),
        event: format!("{event}/{action}"),
        signoff: *signoff,
        ask: ask.clone(),
    };
    let triggers = triggers.iter().map(trigger).collect();
    Event::Asks { action: action.into(), jobs: vec![NewJob { key, triggers }] }
}

fn signoff(kind: SignOffKind, id: i64) -> Option<SignOffRef> {
    Some(SignOffRef { kind, id })
}

fn saying(body: &str) -> Value {
    with(issue_comment(), "/comment/body", json!(body))
}

fn acted(payload: Value, action: &str) -> Value {
    with(payload, "/action", json!(action))
}

fn pull_request(action: &str) -> Value {
    json!({
        "action": action,
        "number": 7,
        "pull_request": { "number": 7, "state": "open", "draft": false },
        "repository": { "id": 5, "full_name": "harbour/pilots" },
        "sender": { "login": "tug[bot]", "type": "Bot" },
    })
}

#[test]
fn each_way_to_sign_off_asks_for_a_verification() {
    let comment = signoff(SignOffKind::IssueComment, 11);
    let review_of = signoff(SignOffKind::Review, 12);
    let inline = signoff(SignOffKind::ReviewComment, 13);
    for (payload, action, event, signoff) in [
        (issue_comment(), "created", "issue_comment", comment),
        (issue_comment(), "edited", "issue_comment", comment),
        (review(), "submitted", "pull_request_review", review_of),
        (review_comment(), "created", "pull_request_review_comment", inline),
    ] {
        let wanted = asked(action, event, &[("ada", signoff, Ask::Verify)]);
        assert_eq!(of(event, &acted(payload, action)), wanted);
    }
}

#[test]
fn an_edit_that_takes_the_phrase_out_withdraws_the_sign_off() {
    let gone = acted(saying("withdrawn"), "edited");
    assert_eq!(of("issue_comment", &gone), Event::Nothing("no sign-off and no command"));
    let gone = with(gone, "/changes/body/from", json!(PHRASE));
    let comment = signoff(SignOffKind::IssueComment, 11);
    let both = [("ada", comment, Ask::Verify), ("", comment, Ask::Withdrawn)];
    assert_eq!(of("issue_comment", &gone), asked("edited", "issue_comment", &both));
    // Whoever took it out: what it was worth goes.
    let by_bot = with(gone, "/sender/type", json!("Bot"));
    let both = [("", comment, Ask::Verify), ("", comment, Ask::Withdrawn)];
    assert_eq!(of("issue_comment", &by_bot), asked("edited", "issue_comment", &both));
    // One that changes it only, as well.
    let changed = with(acted(issue_comment(), "edited"), "/sender/type", json!("Bot"));
    let changed = with(changed, "/changes/body/from", json!(PHRASE));
    let one = [("", comment, Ask::Verify)];
    assert_eq!(of("issue_comment", &changed), asked("edited", "issue_comment", &one));
    let command = with(acted(saying("gone"), "edited"), "/sender/type", json!("Bot"));
    let command = with(command, "/changes/body/from", json!("/moor 38"));
    let evidence = [("", None, Ask::Evidence)];
    assert_eq!(of("issue_comment", &command), asked("edited", "issue_comment", &evidence));
}

#[test]
fn what_is_deleted_or_dismissed_no_longer_counts() {
    let withdrawn = |kind, id| [("", signoff(kind, id), Ask::Withdrawn)];
    assert_eq!(
        of("issue_comment", &acted(issue_comment(), "deleted")),
        asked("deleted", "issue_comment", &withdrawn(SignOffKind::IssueComment, 11))
    );
    assert_eq!(
        of("pull_request_review_comment", &acted(review_comment(), "deleted")),
        asked("deleted", "pull_request_review_comment", &withdrawn(SignOffKind::ReviewComment, 13))
    );
    let dismissed = with(acted(review(), "dismissed"), "/review/state", json!("dismissed"));
    assert_eq!(
        of("pull_request_review", &dismissed),
        asked("dismissed", "pull_request_review", &withdrawn(SignOffKind::Review, 12))
    );
    let talk = acted(saying("Nice."), "deleted");
    assert_eq!(of("issue_comment", &talk), Event::Nothing("no sign-off and no command"));
}

#[test]
fn a_command_has_everything_that_stands_verified() {
    let commit = "a".repeat(40);
    for body in ["/moor 38", &format!("/countersign override sweep {commit} the crane is broken")] {
        let all = [("ada", None, Ask::Verify)];
        assert_eq!(of("issue_comment", &saying(body)), asked("created", "issue_comment", &all));
    }
    let again = [("ada", None, Ask::Again)];
    let verify = saying("/countersign verify");
    assert_eq!(of("issue_comment", &verify), asked("created", "issue_comment", &again));
    let review = with(review(), "/review/body", json!("/countersign verify"));
    assert_eq!(
        of("pull_request_review", &review),
        asked("submitted", "pull_request_review", &again)
    );
    for body in ["Please /moor 38.", "`/countersign verify`", "/moor", "> /countersign verify"] {
        let nothing = Event::Nothing("no sign-off and no command");
        assert_eq!(of("issue_comment", &saying(body)), nothing, "{body}");
    }
}

#[test]
fn a_command_that_is_taken_away_was_its_authors_word() {
    let deleted = with(acted(saying("/moor 38"), "deleted"), "/sender/login", json!("warden"));
    let mut by_ada = deleted.clone();
    by_ada["comment"]["user"] = json!({ "login": "ada", "type": "User" });
    let all = [("ada", None, Ask::Verify)];
    assert_eq!(of("issue_comment", &by_ada), asked("deleted", "issue_comment", &all));
    let edited =
        with(acted(saying("never mind"), "edited"), "/changes/body/from", json!("/moor 38"));
    assert_eq!(of("issue_comment", &edited), asked("edited", "issue_comment", &all));
    // An edit beside a line that asked already does not ask again.
    let edited = with(
        acted(saying("/countersign verify\nthanks"), "edited"),
        "/changes/body/from",
        json!("/countersign verify"),
    );
    assert_eq!(of("issue_comment", &edited), Event::Nothing("no sign-off and no command"));
}

#[test]
fn who_asks_in_so_many_words_is_heard_on_a_draft_too() {
    for state in [("/issue/draft", json!(true)), ("/issue/state", json!("closed"))] {
        let verify = with(saying(&format!("{PHRASE}\n\n/countersign verify")), state.0, state.1);
        let again = [("ada", None, Ask::Again)];
        assert_eq!(of("issue_comment", &verify), asked("created", "issue_comment", &again));
    }
}

#[test]
fn a_new_head_or_base_is_looked_at_whoever_made_it() {
    let changed = [("", None, Ask::Changed)];
    for action in ["opened", "reopened", "ready_for_review", "synchronize"] {
        let wanted = asked(action, "pull_request", &changed);
        assert_eq!(of("pull_request", &pull_request(action)), wanted);
    }
    let mut edited = pull_request("edited");
    edited["changes"] = json!({ "title": { "from": "…" } });
    let nothing = Event::Nothing("the action changes neither head nor base");
    assert_eq!(of("pull_request", &edited), nothing);
    edited["changes"]["base"] = json!({ "ref": { "from": "main" }, "sha": { "from": "…" } });
    assert_eq!(of("pull_request", &edited), asked("edited", "pull_request", &changed));
    for action in ["closed", "labeled", "converted_to_draft"] {
        assert_eq!(of("pull_request", &pull_request(action)), nothing);
    }
    let draft = with(pull_request("opened"), "/pull_request/draft", json!(true));
    assert_eq!(of("pull_request", &draft), Event::Nothing("the pull request is a draft"));
}

#[test]
fn the_button_and_the_rerun_ask_for_all_sign_offs() {
    let again = [("ada", None, Ask::Again)];
    assert_eq!(of("check_run", &check_run()), asked("requested_action", "check_run", &again));
    let rerun = acted(check_run(), "rerequested");
    assert_eq!(of("check_run", &rerun), asked("rerequested", "check_run", &again));
}

#[test]
fn a_rerun_of_the_suite_asks_for_the_pull_requests_of_this_repository() {
    let pull =
        |number, repository| json!({ "number": number, "base": { "repo": { "id": repository } } });
    let suite = |pulls: Value| {
        json!({
            "action": "rerequested",
            "check_suite": { "app": { "id": APP }, "pull_requests": pulls },
            "repository": { "id": 5, "full_name": "harbour/pilots" },
            "sender": { "login": "ada", "type": "User" },
        })
    };
    let Event::Asks { jobs, .. } =
        of("check_suite", &suite(json!([pull(9, 5), pull(8, 6), pull(7, 5)])))
    else {
        panic!("nothing")
    };
    assert_eq!(jobs.iter().map(|job| job.key.number).collect::<Vec<_>>(), [7, 9]);
    let none = Event::Nothing("it names no pull request");
    assert_eq!(of("check_suite", &suite(json!([]))), none);
    let other = with(suite(json!([pull(7, 5)])), "/check_suite/app/id", json!(78));
    assert_eq!(of("check_suite", &other), Event::Nothing("the check suite of another app"));
}

#[test]
fn what_others_finish_at_a_commit_may_be_evidence() {
    let commit = "c".repeat(40);
    let suite = json!({
        "action": "completed",
        "check_suite": { "app": { "id": 78 }, "head_sha": commit, "pull_requests": [] },
        "repository": { "id": 5, "full_name": "harbour/pilots" },
        "sender": { "login": "tug[bot]", "type": "Bot" },
    });
    let finished = |action: Option<&str>, event: &str| Event::Finished {
        action: action.map(str::to_owned),
        repository: "harbour/pilots".into(),
        commit: commit.clone(),
        trigger: Trigger {
            actor: String::new(),
            event: event.into(),
            signoff: None,
            ask: Ask::Evidence,
        },
    };
    let of_suite = of("check_suite", &suite);
    assert_eq!(of_suite, finished(Some("completed"), "check_suite/completed"));
    // Ours finishes with every verdict.
    let own = with(suite.clone(), "/check_suite/app/id", json!(APP));
    assert_eq!(of("check_suite", &own), Event::Nothing("the action asks for nothing"));
    let cut = with(suite, "/check_suite/head_sha", json!("cc"));
    assert_eq!(of("check_suite", &cut), Event::Nothing("it names no commit"));
    let status = json!({
        "sha": commit, "state": "success", "context": "tide",
        "repository": { "id": 5, "full_name": "harbour/pilots" },
    });
    assert_eq!(of("status", &status), finished(None, "status/finished"));
    let pending = with(status.clone(), "/state", json!("pending"));
    assert_eq!(of("status", &pending), Event::Nothing("the commit status is pending"));
    let own = with(status, "/context", json!("harbour"));
    assert_eq!(of("status", &own), Event::Nothing("our own"));
}

#[test]
fn a_merge_group_is_the_pull_requests_that_its_branch_names() {
    let commit = "c".repeat(40);
    let group = |branch: &str, base: &str| {
        json!({
            "action": "checks_requested",
            "merge_group": {
                "head_sha": commit, "head_ref": format!("refs/heads/{branch}"),
                "base_sha": "b".repeat(40), "base_ref": format!("refs/heads/{base}"),
            },
            "repository": { "id": 5, "full_name": "harbour/pilots" },
            "sender": { "login": "tug[bot]", "type": "Bot" },
        })
    };
    for base in ["main", "release/pr-3"] {
        let ask = Ask::Queued { commit: commit.clone(), branch: base.into() };
        let branch = format!("gh-readonly-queue/{base}/pr-7-{}", "b".repeat(40));
        let wanted = asked("checks_requested", "merge_group", &[("", None, ask)]);
        assert_eq!(of("merge_group", &group(&branch, base)), wanted);
    }
    for branch in ["gh-readonly-queue/main/pr-x-1", "gh-readonly-queue/other/pr-7-1", "main"] {
        let none = Event::Nothing("the merge group's branch names no pull request");
        assert_eq!(of("merge_group", &group(branch, "main")), none, "{branch}");
    }
    let destroyed = acted(group("gh-readonly-queue/main/pr-7-1", "main"), "destroyed");
    assert_eq!(of("merge_group", &destroyed), Event::Nothing("the merge queue asks for nothing"));
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
            with(issue_comment(), "/action", json!("pinned")),
            "the action changes no sign-off",
        ),
        (
            "issue_comment",
            with(issue_comment(), "/comment/body", Value::Null),
            "no sign-off and no command",
        ),
        (
            "issue_comment",
            with(issue_comment(), "/comment/body", json!(PHRASE.to_lowercase())),
            "no sign-off and no command",
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
            "it names no pull request",
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
        (
            "pull_request_review",
            with(review(), "/review/body", Value::Null),
            "no sign-off and no command",
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
        ("star", json!({ "action": "created" }), "the event is not one that is followed"),
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
