//! The stand-in itself: what it promises to the tests that lean on it.

use std::path::Path;
use std::time::Duration;

use octocrab::models::webhook_events::WebhookEvent;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};

use crate::support::{
    APP_SLUG, Case, CommentSpec, Fault, INSTALLATION_ID, Options, PERSONAL_TOKEN, StandIn,
    WEBHOOK_SECRET, signature,
};

const GB200: &str = "gb200-sglang-agentx-refresh";
const B200: &str = "b200-image-bump";

/// A small case of its own for each test that needs one.
fn small(more: &str) -> Case {
    let text = format!(
        "repository: acme/bench\nnow: 2026-10-13T08:00:00Z\n\
         pull_request: {{ number: 7, title: Faster, author: rosa }}\n{more}"
    );
    let mut case = Case::parse(Path::new("tests/cases/none"), &text).unwrap();
    case.write("base/README.md", "one\ntwo\n");
    case.write("base/old.txt", "the same\nlines\nin\nboth\n");
    case.write("head/README.md", "one\n2\n");
    case.write("head/new.txt", "the same\nlines\nin\nboth\n");
    case.write("head/old.txt.deleted", "");
    case
}

async fn start(case: Case) -> StandIn {
    StandIn::start(case, Options::default()).await
}

fn client() -> Client {
    Client::builder().redirect(Policy::none()).build().unwrap()
}

async fn get(stand_in: &StandIn, path: &str) -> Response {
    let url = format!("{}{path}", stand_in.url);
    client().get(url).bearer_auth(PERSONAL_TOKEN).send().await.unwrap()
}

async fn json_of(stand_in: &StandIn, path: &str) -> Value {
    let reply = get(stand_in, path).await;
    assert_eq!(reply.status(), StatusCode::OK, "{path}");
    reply.json().await.unwrap()
}

/// A token of the installation, by the App's own JWT.
async fn installation_token(stand_in: &StandIn) -> String {
    let app = octocrab::Octocrab::builder()
        .base_uri(stand_in.url.as_str())
        .unwrap()
        .app_from_rsa_pem(
            octocrab::models::AppId(crate::support::APP_ID),
            &std::fs::read(stand_in.key_file()).unwrap(),
        )
        .unwrap()
        .build_with_reqwest(client())
        .unwrap();
    let route = format!("/app/installations/{INSTALLATION_ID}/access_tokens");
    let reply: Value = app.post(route, None::<&()>).await.unwrap();
    reply["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn commits_have_the_same_shas_everywhere() {
    let stand_in = start(small("")).await;
    assert_eq!(stand_in.sha("base"), "169967e6b77876bf865617e170d712f6e4f952b9");
    assert_eq!(stand_in.sha("head"), "ff7b2892218aa09711e6189f9512501c0ea6cc90");
}

#[tokio::test]
async fn the_cases_of_this_repository_load() {
    let folders = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"));
    for folder in folders.unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        let stand_in = StandIn::serving(&name).await;
        let (repo, number) = {
            let world = stand_in.world();
            (world.case.spec.repository.clone(), world.case.spec.pull_request.number)
        };
        let pull = json_of(&stand_in, &format!("/repos/{repo}/pulls/{number}")).await;
        assert_eq!(pull["head"]["sha"], stand_in.sha("head"), "{name}");
        assert!(pull["changed_files"].as_u64().unwrap() > 0, "{name}");
    }
}

#[tokio::test]
async fn a_pull_request_has_its_files_with_patches_and_renames() {
    let stand_in = start(small("")).await;
    let files = json_of(&stand_in, "/repos/acme/bench/pulls/7/files").await;
    let names: Vec<&str> =
        files.as_array().unwrap().iter().map(|f| f["filename"].as_str().unwrap()).collect();
    assert_eq!(names, ["README.md", "new.txt"]);
    assert_eq!(files[0]["patch"], "@@ -1,2 +1,2 @@\n one\n-two\n+2");
    assert_eq!(files[0]["additions"], 1);
    assert_eq!(files[1]["status"], "renamed");
    assert_eq!(files[1]["previous_filename"], "old.txt");
    assert!(files[1].get("patch").is_none());

    let head = stand_in.sha("head");
    let compare = json_of(&stand_in, &format!("/repos/acme/bench/compare/main...{head}")).await;
    assert_eq!(compare["status"], "ahead");
    assert_eq!(compare["merge_base_commit"]["sha"], stand_in.sha("base"));
    assert_eq!(compare["files"], files);
}

#[tokio::test]
async fn files_come_as_json_and_raw_and_folders_as_lists() {
    let stand_in = start(small("")).await;
    let file = json_of(&stand_in, "/repos/acme/bench/contents/README.md").await;
    assert_eq!(file["content"], "b25lCnR3bwo=\n");
    assert_eq!(file["sha"], "814f4a422927b82f5f8a43f8fab6d3839e3983f2", "as git hash-object says");
    let head = stand_in.sha("head");
    let raw = client()
        .get(format!("{}/repos/acme/bench/contents/README.md?ref={head}", stand_in.url))
        .bearer_auth(PERSONAL_TOKEN)
        .header("accept", "application/vnd.github.raw+json")
        .send()
        .await
        .unwrap();
    assert_eq!(raw.text().await.unwrap(), "one\n2\n");
    let folder = json_of(&stand_in, &format!("/repos/acme/bench/contents/?ref={head}")).await;
    assert_eq!(folder.as_array().unwrap().len(), 2);
    let gone = get(&stand_in, &format!("/repos/acme/bench/contents/old.txt?ref={head}")).await;
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn lists_are_paged_with_absolute_links() {
    let comments: String =
        (1..=101).map(|id| format!("  - {{ id: {id}, author: rosa, body: hello }}\n")).collect();
    let stand_in = start(small(&format!("comments:\n{comments}"))).await;
    let path = "/repos/acme/bench/issues/7/comments";
    let first = get(&stand_in, path).await;
    let link = first.headers()["link"].to_str().unwrap().to_owned();
    let next = format!("<{}{path}?page=2>; rel=\"next\"", stand_in.url);
    let last = format!("<{}{path}?page=4>; rel=\"last\"", stand_in.url);
    assert_eq!(link, format!("{next}, {last}"));
    assert_eq!(first.json::<Value>().await.unwrap().as_array().unwrap().len(), 30);

    let second = get(&stand_in, &format!("{path}?per_page=100&page=2")).await;
    let link = second.headers()["link"].to_str().unwrap().to_owned();
    assert!(link.contains("rel=\"prev\"") && link.contains("rel=\"first\""), "{link}");
    assert!(!link.contains("rel=\"next\""), "{link}");
    let items: Value = second.json().await.unwrap();
    assert_eq!(items.as_array().unwrap().len(), 1);
    assert_eq!(items[0]["id"], 101);
    let capped = json_of(&stand_in, &format!("{path}?per_page=1000")).await;
    assert_eq!(capped.as_array().unwrap().len(), 100);
}

#[tokio::test]
async fn an_unchanged_answer_is_304_and_costs_nothing() {
    let stand_in = start(small("")).await;
    let path = "/repos/acme/bench/pulls/7";
    let first = get(&stand_in, path).await;
    let etag = first.headers()["etag"].clone();
    let left =
        |reply: &Response| reply.headers()["x-ratelimit-remaining"].to_str().unwrap().to_owned();
    let before = left(&first);
    let again = |etag| {
        let url = format!("{}{path}", stand_in.url);
        client().get(url).bearer_auth(PERSONAL_TOKEN).header("if-none-match", etag).send()
    };
    let unchanged = again(etag.clone()).await.unwrap();
    assert_eq!(unchanged.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(left(&unchanged), before);
    assert_eq!(unchanged.text().await.unwrap(), "");
    stand_in.push("base");
    assert_eq!(again(etag).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn artifacts_are_on_another_host_that_takes_no_token() {
    let mut case = small(
        "runs:\n  - id: 31\n    jobs: [ { name: \"eval / a\", conclusion: success, log: job.log } ]\n    artifacts: { scores: {}, gone: { expired: true } }\n",
    );
    case.write("artifacts/scores/rows.json", "{\"head\": \"{{head}}\"}");
    case.write("artifacts/scores/logs.tar.gz.d/a/server.log", "ready\n");
    case.write("job.log", "ran on {{commit head}}\n");
    let stand_in = start(case).await;
    let listed = json_of(&stand_in, "/repos/acme/bench/actions/runs/31/artifacts").await;
    let id = |name: &str| {
        let all = listed["artifacts"].as_array().unwrap();
        all.iter().find(|a| a["name"] == name).unwrap()["id"].clone()
    };
    let gone =
        get(&stand_in, &format!("/repos/acme/bench/actions/artifacts/{}/zip", id("gone"))).await;
    assert_eq!(gone.status(), StatusCode::GONE);

    let found =
        get(&stand_in, &format!("/repos/acme/bench/actions/artifacts/{}/zip", id("scores"))).await;
    assert_eq!(found.status(), StatusCode::FOUND);
    let location = found.headers()["location"].to_str().unwrap().to_owned();
    assert!(!location.starts_with(&stand_in.url), "{location} is another host");
    let with_token = client().get(&location).bearer_auth(PERSONAL_TOKEN).send().await.unwrap();
    assert_eq!(with_token.status(), StatusCode::BAD_REQUEST);
    let bytes = client().get(&location).send().await.unwrap().bytes().await.unwrap();
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let names: Vec<String> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
    assert_eq!(names, ["logs.tar.gz", "rows.json"]);
    let rows: Value = serde_json::from_reader(zip.by_name("rows.json").unwrap()).unwrap();
    assert_eq!(rows["head"], stand_in.sha("head"));

    let jobs = json_of(&stand_in, "/repos/acme/bench/actions/runs/31/jobs").await;
    let log = format!("/repos/acme/bench/actions/jobs/{}/logs", jobs["jobs"][0]["id"]);
    let location = get(&stand_in, &log).await.headers()["location"].to_str().unwrap().to_owned();
    let text = client().get(location).send().await.unwrap().text().await.unwrap();
    assert_eq!(text, format!("ran on {}\n", stand_in.sha("head")));
}

#[tokio::test]
async fn the_same_artifact_has_the_same_bytes() {
    let mut digests = Vec::new();
    for _ in 0..2 {
        let stand_in = StandIn::serving(B200).await;
        let path = "/repos/SemiAnalysisAI/InferenceX/actions/artifacts?name=results_bmk";
        digests.push(json_of(&stand_in, path).await["artifacts"][0]["digest"].clone());
    }
    assert_eq!(digests[0], digests[1]);
}

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
    let run = |output: Value| json!({ "name": "countersign", "head_sha": stand_in.sha("head"), "output": output });
    let annotation = json!({ "path": "README.md", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "here" });
    let many = |count: usize| json!({ "title": "t", "summary": "s", "annotations": vec![annotation.clone(); count] });
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
    let head = stand_in.sha("head");
    let path = format!("/repos/acme/bench/commits/{head}/check-runs?check_name=countersign");
    assert_eq!(json_of(&stand_in, &path).await["total_count"], 1);
    let person = client().post(&url).bearer_auth(PERSONAL_TOKEN).json(&run(many(1))).send();
    assert_eq!(person.await.unwrap().status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn runs_have_attempts_and_jobs_are_check_runs() {
    let stand_in = StandIn::serving(GB200).await;
    let repo = "/repos/SemiAnalysisAI/InferenceX";
    let run = json_of(&stand_in, &format!("{repo}/actions/runs/38412750933")).await;
    assert_eq!(
        (run["run_attempt"].as_u64(), run["conclusion"].as_str()),
        (Some(3), Some("success"))
    );
    let first = json_of(&stand_in, &format!("{repo}/actions/runs/38412750933/attempts/1")).await;
    assert_eq!(
        (first["run_attempt"].as_u64(), first["conclusion"].as_str()),
        (Some(1), Some("failure"))
    );
    let count = |filter: &'static str| {
        let path = format!("{repo}/actions/runs/38412750933/jobs?per_page=100&filter={filter}");
        let stand_in = &stand_in;
        async move {
            let jobs = json_of(stand_in, &path).await;
            let agentic = |job: &&Value| job["name"].as_str().unwrap().starts_with("agentic / ");
            jobs["jobs"].as_array().unwrap().iter().filter(agentic).count()
        }
    };
    assert_eq!((count("latest").await, count("all").await), (8, 24));
    let head = stand_in.sha("head");
    let path = format!("{repo}/commits/{head}/check-runs?per_page=100");
    let latest = json_of(&stand_in, &path).await;
    let evals: Vec<&Value> = latest["check_runs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["name"].as_str().unwrap().starts_with("agentic eval / "))
        .collect();
    assert_eq!(evals.len(), 2);
    assert!(evals.iter().all(|check| check["conclusion"] == "success"));
    assert!(evals[0]["details_url"].as_str().unwrap().contains("/actions/runs/38412750933/job/"));
}

#[tokio::test]
async fn graphql_answers_the_two_operations() {
    let mut case = small("");
    case.spec.comments.push(
        serde_json::from_value::<CommentSpec>(json!({
            "id": 11, "author": "rosa", "body": "at {{head}}",
            "created": "2026-10-13T07:00:00Z", "updated": "2026-10-13T07:30:00Z", "edited_by": "sam",
        }))
        .unwrap(),
    );
    let stand_in = start(case).await;
    let ask = |query: &'static str, variables: Value| {
        let request =
            client().post(format!("{}/graphql", stand_in.url)).bearer_auth(PERSONAL_TOKEN);
        request.json(&json!({ "query": query, "variables": variables })).send()
    };
    let tips = ask(
        "query Tips($owner:String!,$name:String!,$number:Int!){ repository { x } }",
        json!({ "owner": "acme", "name": "bench", "number": 7 }),
    );
    let tips: Value = tips.await.unwrap().json().await.unwrap();
    let repository = &tips["data"]["repository"];
    assert_eq!(repository["pullRequest"]["headRefOid"], stand_in.sha("head"));
    assert_eq!(repository["pullRequest"]["baseRef"]["target"]["oid"], stand_in.sha("base"));
    assert_eq!(repository["defaultBranchRef"]["name"], "main");
    let edits = ask("query Edits($ids:[ID!]!){ nodes { id } }", json!({ "ids": ["IC_11"] }));
    let edits: Value = edits.await.unwrap().json().await.unwrap();
    assert_eq!(edits["data"]["nodes"][0]["editor"]["login"], "sam");
    assert_eq!(edits["data"]["nodes"][0]["lastEditedAt"], "2026-10-13T07:30:00Z");
    let other = ask("query Other { viewer { login } }", json!({})).await.unwrap();
    assert_eq!(other.status(), StatusCode::OK);
    let other: Value = other.json().await.unwrap();
    assert_eq!(other["errors"][0]["type"], "undefinedOperation");
}

#[tokio::test]
async fn faults_come_as_often_as_they_say() {
    let stand_in = start(small(
        "faults:\n  - { match: \"GET /repos/*/pulls/*\", times: 2, status: 502 }\n  - { match: \"GET /rate_limit\", rate_limited: true }\n",
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
async fn the_default_branch_has_a_history() {
    let mut case = small(
        "base: june\nmain:\n  - { id: june, tree: june, date: 2026-06-01T00:00:00Z }\n  - { id: july, tree: july, date: 2026-07-01T00:00:00Z }\n",
    );
    case.write("june/docs/list.md", "one item\n");
    case.write("july/docs/list.md", "two items\n");
    let stand_in = start(case).await;
    let sha = |id: &str| stand_in.world().history.main[id].clone();
    let at = |until: &str| {
        format!("/repos/acme/bench/commits?path=docs/list.md&until={until}&per_page=1")
    };
    let found = json_of(&stand_in, &at("2026-06-20T00:00:00Z")).await;
    assert_eq!(found[0]["sha"], sha("june"));
    let found = json_of(&stand_in, &at("2026-10-13T08:00:00Z")).await;
    assert_eq!(found[0]["sha"], sha("july"));
    assert_eq!(json_of(&stand_in, &at("2026-05-01T00:00:00Z")).await, json!([]));
    let branch = json_of(&stand_in, "/repos/acme/bench/git/ref/heads/main").await;
    assert_eq!(branch["object"]["sha"], sha("july"));
    assert_eq!(stand_in.sha("base"), sha("june"));
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

    let comment = "comments:\n  - { id: 11, author: rosa, body: before }\n  - { id: 12, author: sam, body: fine, kind: review }\npeople: { sam: { role: admin } }\nchecks: [ { name: lint, app: linter, id: 13, conclusion: success } ]\nruns: [ { id: 14 } ]\n";
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
async fn other_places_are_served_beside_github() {
    let stand_in = StandIn::serving(GB200).await;
    let at = |path: &str| format!("{}{path}", stand_in.url);
    let model = "/hub/deepseek-ai/DeepSeek-V4.1-Flash";
    let shard = at(&format!("{model}/resolve/main/model-00044-of-00048.safetensors"));
    let head = client().get(shard).header("range", "bytes=0-7").send().await.unwrap();
    assert_eq!(head.status(), StatusCode::PARTIAL_CONTENT);
    assert_eq!(head.headers()["x-repo-commit"], "5254448103b6254fc646dacbca1cbbf20e9216c1");
    assert_eq!(head.bytes().await.unwrap().len(), 8);
    let info = at("/hub/api/models/deepseek-ai/DeepSeek-V4.1-Flash");
    let info: Value = client().get(info).send().await.unwrap().json().await.unwrap();
    assert_eq!(info["sha"], "5254448103b6254fc646dacbca1cbbf20e9216c1");

    let manifest = at("/registry/v2/lmsysorg/sglang/manifests/nightly-dev-cu13-20261011-d32d8fa0");
    let manifest = client().get(manifest).send().await.unwrap();
    assert_eq!(
        manifest.headers()["docker-content-digest"],
        "sha256:8346c975515af7ec6b2692faadd5332f789001f78f958335175d4d34e170537c"
    );
    let unknown = at("/registry/v2/lmsysorg/sglang/manifests/v9");
    assert_eq!(client().get(unknown).send().await.unwrap().status(), StatusCode::NOT_FOUND);
    let page = at("/pages/docs.sglang.io/cookbook/autoregressive/DeepSeek/DeepSeek-V4_1?a=b");
    assert!(
        client().get(page).send().await.unwrap().text().await.unwrap().contains("DeepSeek-V4.1")
    );

    let pull = json_of(&stand_in, "/repos/sgl-project/sglang/pulls/51207").await;
    assert_eq!(pull["merged"], true);
    assert_eq!(pull["merged_at"], "2026-10-13T06:39:46Z");
    assert_eq!(pull["merge_commit_sha"], "dbad07a06fbedfc63fd54282d2989ef4feb03c23");
    let path =
        "/repos/sgl-project/sglang/contents/docs/src/snippets/agentx/deepseek-ai/deepseek-v4_1.jsx";
    assert_eq!(json_of(&stand_in, path).await["encoding"], "base64");

    let none = start(small("")).await;
    let url = format!("{}/registry/v2/lmsysorg/sglang/manifests/v9", none.url);
    assert_eq!(client().get(url).send().await.unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn roles_and_teams_are_those_of_the_case() {
    let stand_in = StandIn::serving(B200).await;
    let repo = "/repos/SemiAnalysisAI/InferenceX";
    let role = json_of(&stand_in, &format!("{repo}/collaborators/LENA-core/permission")).await;
    assert_eq!(
        (role["permission"].as_str(), role["role_name"].as_str()),
        (Some("admin"), Some("admin"))
    );
    assert_eq!(role["user"]["login"], "lena-core");
    let none = json_of(&stand_in, &format!("{repo}/collaborators/stranger/permission")).await;
    assert_eq!(none["permission"], "none");
    let team = "/orgs/SemiAnalysisAI/teams/core";
    let member = json_of(&stand_in, &format!("{team}/memberships/lena-core")).await;
    assert_eq!(member["state"], "active");
    assert_eq!(get(&stand_in, &format!("{team}/memberships/nv-ada")).await.status(), 404);
    assert_eq!(get(&stand_in, "/orgs/SemiAnalysisAI/teams/nobody").await.status(), 404);
}

#[test]
fn a_mistake_in_a_case_is_named_with_its_place() {
    let text = "repository: acme/bench\nnow: 2026-10-13T08:00:00Z\npull_request:\n  number: 7\n  author: rosa\n  titel: Faster\n";
    let error = Case::parse(Path::new("."), text).unwrap_err().to_string();
    assert!(error.contains("line 6") && error.contains("titel"), "{error}");
}

#[tokio::test]
async fn a_case_that_is_not_whole_does_not_start() {
    let cases = [
        ("runs: [ { id: 1, head: nowhere } ]\n", "nowhere"),
        ("runs: [ { id: 1, artifacts: { absent: {} } } ]\n", "absent"),
        ("comments: [ { id: 1, author: rosa, file: absent.md } ]\n", "absent.md"),
        ("comments: [ { id: 1, author: rosa, body: \"{{commit nope}}\" } ]\n", "nope"),
    ];
    for (more, named) in cases {
        let error = StandIn::try_start(small(more), Options::default()).await.unwrap_err();
        assert!(format!("{error:#}").contains(named), "{error:#}");
    }
}
