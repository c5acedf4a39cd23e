//! What it answers.

use super::*;

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
        "runs:\n  - id: 31\n    \
         jobs: [ { name: \"eval / a\", conclusion: success, log: job.log } ]\n    \
         artifacts: { scores: {}, gone: { expired: true } }\n",
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

#[tokio::test]
async fn a_strict_client_reads_every_answer() {
    use octocrab::models;

    async fn reads<T: serde::de::DeserializeOwned>(stand_in: &StandIn, path: &str) {
        let text = get(stand_in, path).await.text().await.unwrap();
        if let Err(error) = serde_json::from_str::<T>(&text) {
            panic!("{path}: {error}\n{text}");
        }
    }

    let mut case = Case::load(GB200);
    case.spec.comments.push(
        serde_json::from_value(json!({
            "id": 21, "author": "nv-ada", "body": "fine", "kind": "review", "state": "APPROVED",
        }))
        .unwrap(),
    );
    case.spec.comments.push(
        serde_json::from_value(json!({
            "id": 22, "author": "nv-ada", "body": "here", "kind": "review_comment",
            "path": "inferencex-e2e/perf-changelog.yaml", "line": 40,
        }))
        .unwrap(),
    );
    let stand_in = start(case).await;
    let (at, head) = ("/repos/SemiAnalysisAI/InferenceX", stand_in.sha("head"));
    let on = |path: &str| format!("{at}{path}");
    reads::<models::Repository>(&stand_in, at).await;
    reads::<models::pulls::PullRequest>(&stand_in, &on("/pulls/9264")).await;
    reads::<Vec<models::repos::DiffEntry>>(&stand_in, &on("/pulls/9264/files")).await;
    reads::<Vec<models::repos::RepoCommit>>(&stand_in, &on("/pulls/9264/commits")).await;
    reads::<Vec<models::pulls::Review>>(&stand_in, &on("/pulls/9264/reviews")).await;
    reads::<Vec<models::pulls::Comment>>(&stand_in, &on("/pulls/9264/comments")).await;
    reads::<models::issues::Issue>(&stand_in, &on("/issues/9264")).await;
    reads::<Vec<models::issues::Comment>>(&stand_in, &on("/issues/9264/comments")).await;
    reads::<models::repos::RepoCommit>(&stand_in, &on(&format!("/commits/{head}"))).await;
    reads::<models::commits::CommitComparison>(&stand_in, &on(&format!("/compare/main...{head}")))
        .await;
    reads::<models::repos::Content>(&stand_in, &on("/contents/.github/CODEOWNERS")).await;
    reads::<models::repos::Ref>(&stand_in, &on("/git/ref/heads/main")).await;
    reads::<models::checks::ListCheckRuns>(&stand_in, &on(&format!("/commits/{head}/check-runs")))
        .await;
    reads::<models::workflows::Run>(&stand_in, &on("/actions/runs/38412750933")).await;
    let jobs: Value = json_of(&stand_in, &on("/actions/runs/38412750933/jobs")).await;
    serde_json::from_value::<Vec<models::workflows::Job>>(jobs["jobs"].clone()).unwrap();
    let list = json_of(&stand_in, &on("/actions/runs/38412750933/artifacts")).await;
    let artifacts = list["artifacts"].clone();
    serde_json::from_value::<Vec<models::workflows::WorkflowListArtifact>>(artifacts).unwrap();
    reads::<models::teams::Team>(&stand_in, "/orgs/SemiAnalysisAI/teams/core").await;
    reads::<models::RateLimit>(&stand_in, "/rate_limit").await;
    reads::<models::Author>(&stand_in, "/users/nv-marie").await;
}
