//! Faults, holds, moves, rounds and deliveries.

use super::*;

#[tokio::test]
async fn faults_come_as_often_as_they_say() {
    let stand_in = start(small(
        "faults:\n  - { match: \"GET /repos/*/pulls/*\", times: 2, status: 502 }\n  \
         - { match: \"GET /rate_limit\", rate_limited: true }\n",
    ))
    .await;
    let path = "/repos/acme/bench/pulls/7/files";
    assert_eq!(get(&stand_in, path).await.status(), StatusCode::BAD_GATEWAY);
    assert_eq!(get(&stand_in, path).await.status(), StatusCode::BAD_GATEWAY);
    assert_eq!(get(&stand_in, path).await.status(), StatusCode::OK);
    for _ in 0..3 {
        let limited = get(&stand_in, "/rate_limit").await;
        assert_eq!(limited.status(), StatusCode::FORBIDDEN);
        assert_eq!(limited.headers()["x-ratelimit-remaining"], "0");
    }
    stand_in.fault(Fault {
        pattern: "GET /repos/acme/bench".to_owned(),
        truncated: true,
        ..Fault::default()
    });
    let cut = get(&stand_in, "/repos/acme/bench").await;
    assert!(cut.bytes().await.is_err(), "the body breaks off");
}

#[tokio::test]
async fn a_write_can_happen_though_its_answer_is_lost() {
    let stand_in = start(small("")).await;
    let token = installation_token(&stand_in).await;
    stand_in.lose_next_answer("POST /repos/*/comments", 502);
    let url = format!("{}/repos/acme/bench/issues/7/comments", stand_in.url);
    let body = json!({ "body": "once" });
    let lost = client().post(&url).bearer_auth(&token).json(&body).send().await.unwrap();
    assert_eq!(lost.status(), StatusCode::BAD_GATEWAY);
    let comments = json_of(&stand_in, "/repos/acme/bench/issues/7/comments").await;
    assert_eq!(comments[0]["body"], "once");
    let write = &stand_in.writes()[0];
    assert_eq!((write.status, write.replied), (201, Some(502)));
    stand_in.fail_next("POST *", 500);
    let failed = client().post(&url).bearer_auth(&token).json(&body).send().await.unwrap();
    assert_eq!(failed.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let comments = json_of(&stand_in, "/repos/acme/bench/issues/7/comments").await;
    assert_eq!(comments.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_held_request_waits_until_it_is_let_go() {
    let stand_in = start(small("")).await;
    let hold = stand_in.hold("GET /repos/*/pulls/*");
    let url = format!("{}/repos/acme/bench/pulls/7", stand_in.url);
    let request = tokio::spawn(client().get(url).bearer_auth(PERSONAL_TOKEN).send());
    hold.wait_until_held().await;
    assert!(!request.is_finished());
    stand_in.push("base");
    hold.release();
    let pull: Value = request.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(pull["head"]["sha"], stand_in.sha("base"), "it saw what came before it was let go");
}

#[tokio::test]
async fn a_head_moves_when_the_case_says() {
    let mut case = small(
        "commits: [ { id: next, tree: next } ]\nmoves: [ { before: \"GET /repos/*/files\", head: next } ]\n",
    );
    case.write("next/later.txt", "later\n");
    let stand_in = start(case).await;
    let head = |value: Value| value["head"]["sha"].clone();
    let path = "/repos/acme/bench/pulls/7";
    assert_eq!(head(json_of(&stand_in, path).await), stand_in.sha("head"));
    json_of(&stand_in, &format!("{path}/files")).await;
    assert_eq!(head(json_of(&stand_in, path).await), stand_in.sha("next"));
    let commits = json_of(&stand_in, &format!("{path}/commits")).await;
    assert_eq!(commits.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn rounds_are_counted_by_what_a_client_waits_for() {
    let options = Options { rounds: Some(Duration::from_millis(40)), ..Options::default() };
    let stand_in = StandIn::start(small(""), options).await;
    let (one, two) = tokio::join!(
        json_of(&stand_in, "/repos/acme/bench/pulls/7"),
        json_of(&stand_in, "/repos/acme/bench/pulls/7/files"),
    );
    assert_eq!(one["changed_files"], two.as_array().unwrap().len());
    json_of(&stand_in, "/repos/acme/bench").await;
    let rounds = json_of(&stand_in, "/_rounds").await;
    assert_eq!(rounds.as_array().unwrap().len(), 2);
    assert_eq!(
        rounds[0]["requests"],
        json!(["GET /repos/acme/bench/pulls/7", "GET /repos/acme/bench/pulls/7/files"])
    );
    assert_eq!(rounds[1], json!({ "round": 2, "requests": ["GET /repos/acme/bench"] }));
    client().post(format!("{}/_rounds/reset", stand_in.url)).send().await.unwrap();
    assert!(stand_in.rounds().is_empty());
}

#[tokio::test]
async fn deliveries_are_signed_and_whole() {
    let (sender, mut received) = tokio::sync::mpsc::channel(4);
    let receive = move |headers: axum::http::HeaderMap, body: axum::body::Bytes| {
        let sender = sender.clone();
        async move {
            sender.send((headers, body)).await.unwrap();
            StatusCode::ACCEPTED
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hook = format!("http://{}/webhook", listener.local_addr().unwrap());
    let app = axum::Router::new().route("/webhook", axum::routing::post(receive));
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });

    let comment = "comments:\n  - { id: 11, author: rosa, body: before }\n  \
         - { id: 12, author: sam, body: fine, kind: review }\n\
         people: { sam: { role: admin } }\n\
         checks: [ { name: lint, app: linter, id: 13, conclusion: success } ]\n\
         runs: [ { id: 14 } ]\n";
    let stand_in = start(small(comment)).await;
    stand_in.send_deliveries_to(&hook);
    stand_in.edit(11, "after", "sam");
    let sent = stand_in
        .deliver(&json!({ "event": "issue_comment", "action": "edited", "comment": 11, "sender": "sam" }))
        .await;
    assert_eq!(sent["status"], 202);
    let (headers, body) = received.recv().await.unwrap();
    assert_eq!(headers["x-github-event"], "issue_comment");
    assert_eq!(headers["x-github-delivery"].to_str().unwrap(), sent["guid"]);
    assert_eq!(headers["x-hub-signature-256"].to_str().unwrap(), signature(WEBHOOK_SECRET, &body));
    let payload: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(payload["changes"]["body"]["from"], "before");
    assert_eq!(payload["comment"]["body"], "after");
    assert_eq!(payload["sender"]["login"], "sam");
    assert_eq!(payload["repository"]["full_name"], "acme/bench");
    assert_eq!(payload["installation"]["id"], INSTALLATION_ID);
    assert!(payload["issue"]["pull_request"]["url"].is_string());
    drop(body);
    let asked = [
        json!({ "event": "issue_comment", "comment": 11 }),
        json!({ "event": "pull_request_review", "review": 12 }),
        json!({ "event": "pull_request", "action": "synchronize" }),
        json!({ "event": "pull_request", "action": "opened" }),
        json!({ "event": "check_run", "action": "rerequested", "check_run": 13 }),
        json!({ "event": "check_run", "action": "requested_action", "check_run": 13 }),
        json!({ "event": "workflow_run", "run": 14 }),
        json!({ "event": "ping" }),
    ];
    for asked in asked {
        stand_in.deliver(&asked).await;
        let (headers, body) = received.recv().await.unwrap();
        let name = headers["x-github-event"].to_str().unwrap();
        let event = WebhookEvent::try_from_header_and_body(name, &body);
        assert!(event.is_ok(), "a strict client reads {asked}: {event:?}");
    }
}

#[tokio::test]
async fn the_control_routes_change_the_state() {
    let case = "comments:\n  - { id: 11, author: rosa, body: first }\ncommits: [ { id: next } ]\n";
    let stand_in = start(small(case)).await;
    let post = |path: &str, body: Value| {
        client().post(format!("{}{path}", stand_in.url)).json(&body).send()
    };
    let edited = post("/_edit", json!({ "id": 11, "body": "at {{head}}", "editor": "sam" }));
    assert_eq!(edited.await.unwrap().status(), StatusCode::OK);
    let comment = json_of(&stand_in, "/repos/acme/bench/issues/comments/11").await;
    assert_eq!(comment["body"], format!("at {}", stand_in.sha("head")));
    let said = json!({ "id": 12, "author": "sam", "body": "new" });
    assert_eq!(post("/_comment", said).await.unwrap().status(), StatusCode::OK);
    assert_eq!(json_of(&stand_in, "/repos/acme/bench/issues/7/comments").await[1]["id"], 12);
    assert_eq!(post("/_delete", json!({ "id": 11 })).await.unwrap().status(), StatusCode::OK);
    let gone = get(&stand_in, "/repos/acme/bench/issues/comments/11").await;
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
    let pushed = post("/_push", json!({ "head": "next" })).await.unwrap();
    assert_eq!(pushed.json::<Value>().await.unwrap()["sha"], stand_in.sha("next"));
    let pull = json_of(&stand_in, "/repos/acme/bench/pulls/7").await;
    assert_eq!(pull["head"]["sha"], stand_in.sha("next"));
    let ready = json!({ "pull_request": { "draft": true, "labels": ["evals-only"] } });
    assert_eq!(post("/_edit", ready).await.unwrap().status(), StatusCode::OK);
    let pull = json_of(&stand_in, "/repos/acme/bench/pulls/7").await;
    assert_eq!(
        (pull["draft"].as_bool(), pull["labels"][0]["name"].as_str()),
        (Some(true), Some("evals-only"))
    );
    let unknown = post("/_push", json!({ "head": "nowhere" })).await.unwrap();
    assert_eq!(unknown.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(stand_in.writes().is_empty(), "none of this is a write of the client's");
}

#[tokio::test]
async fn a_test_waits_for_what_the_client_writes() {
    let stand_in = start(small("")).await;
    let url = format!("{}/repos/acme/bench/issues/7/comments", stand_in.url);
    let request = client().post(url).bearer_auth(PERSONAL_TOKEN).json(&json!({ "body": "hello" }));
    let writing = tokio::spawn(request.send());
    stand_in.until("a comment", |world| world.writes.len() == 1).await;
    assert_eq!(writing.await.unwrap().unwrap().status(), StatusCode::CREATED);
}
