//! Who may write what, and what becomes of it.

use super::*;

#[tokio::test]
async fn nobody_and_strangers_are_refused() {
    let stand_in = start(small("")).await;
    let url = format!("{}/repos/acme/bench/pulls/7", stand_in.url);
    assert_eq!(client().get(&url).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    let stranger = client().get(&url).bearer_auth("ghp_somebody").send().await.unwrap();
    assert_eq!(stranger.status(), StatusCode::UNAUTHORIZED);
    let jwt =
        client().get(format!("{}/app", stand_in.url)).bearer_auth("a.b.c").send().await.unwrap();
    assert_eq!(jwt.status(), StatusCode::UNAUTHORIZED);
    let hidden = start(small("private: true\n")).await;
    let url = format!("{}/repos/acme/bench", hidden.url);
    assert_eq!(client().get(url).send().await.unwrap().status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_installation_may_do_what_the_case_grants() {
    let stand_in =
        start(small("app_permissions: { members: none, checks: read }\nteams: [acme/core]\n"))
            .await;
    let token = installation_token(&stand_in).await;
    let ask =
        |path: &str| client().get(format!("{}{path}", stand_in.url)).bearer_auth(&token).send();
    assert_eq!(ask("/repos/acme/bench/pulls/7").await.unwrap().status(), StatusCode::OK);
    let team = ask("/orgs/acme/teams/core/memberships/rosa").await.unwrap();
    assert_eq!(team.status(), StatusCode::FORBIDDEN);
    let said: Value = team.json().await.unwrap();
    assert_eq!(said["message"], "Resource not accessible by integration");
    let url = format!("{}/repos/acme/bench/check-runs", stand_in.url);
    let body = json!({ "name": "countersign", "head_sha": stand_in.sha("head") });
    let refused = client().post(&url).bearer_auth(&token).json(&body).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    assert_eq!(stand_in.writes()[0].status, 403);

    stand_in.expire_tokens();
    let dead = ask("/repos/acme/bench/pulls/7").await.unwrap();
    assert_eq!(dead.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn what_the_app_writes_carries_its_name() {
    let stand_in = start(small("")).await;
    let token = installation_token(&stand_in).await;
    let url = format!("{}/repos/acme/bench/issues/7/comments", stand_in.url);
    let body = json!({ "body": "hello" });
    let reply = client().post(&url).bearer_auth(&token).json(&body).send().await.unwrap();
    assert_eq!(reply.status(), StatusCode::CREATED);
    let comment: Value = reply.json().await.unwrap();
    assert_eq!(comment["user"]["login"], format!("{APP_SLUG}[bot]"));
    assert_eq!(comment["user"]["type"], "Bot");
    assert_eq!(comment["performed_via_github_app"]["slug"], APP_SLUG);
    let long = json!({ "body": "x".repeat(65_537) });
    let refused = client().post(&url).bearer_auth(&token).json(&long).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let writes = json_of(&stand_in, "/_writes").await;
    assert_eq!(writes[0]["n"], 1);
    assert_eq!(writes[0]["method"], "POST");
    assert_eq!(writes[0]["path"], "/repos/acme/bench/issues/7/comments");
    assert_eq!(writes[0]["body"], body);
    assert_eq!(writes[0]["status"], 201);
    assert_eq!(writes.as_array().unwrap().len(), 2, "a token is no write");
}

#[tokio::test]
async fn check_runs_keep_to_the_documented_limits() {
    let stand_in = start(small("")).await;
    let token = installation_token(&stand_in).await;
    let url = format!("{}/repos/acme/bench/check-runs", stand_in.url);
    let send = |body: Value| client().post(&url).bearer_auth(&token).json(&body).send();
    let head = stand_in.sha("head");
    let run = |output: Value| json!({ "name": "countersign", "head_sha": head, "output": output });
    let annotation = json!({
        "path": "README.md", "start_line": 1, "end_line": 1,
        "annotation_level": "failure", "message": "here",
    });
    let many = |count: usize| {
        let annotations = vec![annotation.clone(); count];
        json!({ "title": "t", "summary": "s", "annotations": annotations })
    };
    assert_eq!(send(run(many(51))).await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY);
    let text = json!({ "title": "t", "summary": "s".repeat(65_536) });
    assert_eq!(send(run(text)).await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY);
    let mut labelled = run(json!({ "title": "t", "summary": "s" }));
    labelled["actions"] =
        json!([{ "label": "a label of 21 letters", "description": "d", "identifier": "i" }]);
    assert_eq!(send(labelled).await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY);
    let nowhere = json!({ "name": "countersign", "head_sha": "0".repeat(40) });
    assert_eq!(send(nowhere).await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY);

    let made: Value = send(run(many(50))).await.unwrap().json().await.unwrap();
    let id = made["id"].as_u64().unwrap();
    let patch = json!({ "status": "completed", "conclusion": "success", "output": many(2) });
    let patched = client().patch(format!("{url}/{id}")).bearer_auth(&token).json(&patch).send();
    let patched: Value = patched.await.unwrap().json().await.unwrap();
    assert_eq!(patched["conclusion"], "success");
    assert_eq!(patched["output"]["annotations_count"], 52, "a patch adds annotations");
    let path = format!("/repos/acme/bench/commits/{head}/check-runs?check_name=countersign");
    assert_eq!(json_of(&stand_in, &path).await["total_count"], 1);
    let person = client().post(&url).bearer_auth(PERSONAL_TOKEN).json(&run(many(1))).send();
    assert_eq!(person.await.unwrap().status(), StatusCode::FORBIDDEN);
}
