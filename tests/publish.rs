//! The writer against a small GitHub in memory that keeps state and misbehaves on demand.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use countersign::facts::SignOffKind;
use countersign::github::{ApiError, Response};
use countersign::publish::{
    Api, AppIdentity, Conclusion, Identity, PublishError, Publisher, Subject, VERIFY_AGAIN, Written,
};
use countersign::verdict::{Annotation, AnnotationLevel, CheckOutput, SignedBy, marker};
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method};
use serde_json::{Value, json};

const HEAD: &str = "1111111111111111111111111111111111111111";
const OURS: i64 = 7;

/// How the next write of a kind goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It is done, and the answer is a 502.
    AnswerLost,
    /// It is not done, and the answer is a 502.
    NotDone,
    /// The answer is a 404.
    Gone,
    /// The answer is a 401.
    Refused,
}

#[derive(Debug, Default)]
struct State {
    comments: Vec<Value>,
    runs: Vec<Value>,
    statuses: Vec<Value>,
    faults: Vec<(Method, &'static str, Fault)>,
    writes: Vec<(Method, String, Value)>,
    next: i64,
}

/// GitHub's comments, check runs and statuses of one pull request.
#[derive(Debug, Default)]
struct GitHub(Mutex<State>);

impl GitHub {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn fail_next(&self, method: Method, route: &'static str, fault: Fault) {
        self.state().faults.push((method, route, fault));
    }

    fn comment(&self, body: &str, login: &str, app: Option<i64>) {
        let mut state = self.state();
        state.next += 1;
        let comment = comment(state.next, body, login, app);
        state.comments.push(comment);
    }

    fn bodies(&self) -> Vec<String> {
        let state = self.state();
        state.comments.iter().map(|c| c["body"].as_str().unwrap().to_owned()).collect()
    }

    fn writes(&self) -> Vec<String> {
        self.state().writes.iter().map(|(method, route, _)| format!("{method} {route}")).collect()
    }

    fn answer(&self, method: &Method, route: &str, body: Option<&Value>) -> (u16, Value) {
        let mut state = self.state();
        let (path, query) = route.split_once('?').unwrap_or((route, ""));
        let param = |name: &str| {
            query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}="))).unwrap_or("")
        };
        let page = |all: Vec<Value>| -> Vec<Value> {
            let size: usize = param("per_page").parse().unwrap_or(30);
            let page: usize = param("page").parse().unwrap_or(1);
            all.into_iter().skip((page - 1) * size).take(size).collect()
        };
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match (method.as_str(), &parts[..], body) {
            ("GET", ["user"], _) => (200, json!({ "login": "countersign-user" })),
            ("GET", ["repos", "o", "n", "issues", "12", "comments"], _) => {
                (200, page(state.comments.clone()).into())
            }
            ("POST", ["repos", "o", "n", "issues", "12", "comments"], Some(body)) => {
                state.next += 1;
                let text = body["body"].as_str().unwrap();
                let comment = comment(state.next, text, "countersign[bot]", Some(OURS));
                state.comments.push(comment.clone());
                (201, comment)
            }
            ("PATCH", ["repos", "o", "n", "issues", "comments", id], Some(body)) => {
                let id: i64 = id.parse().unwrap();
                match state.comments.iter_mut().find(|c| c["id"] == id) {
                    Some(comment) => {
                        comment["body"] = body["body"].clone();
                        (200, comment.clone())
                    }
                    None => (404, json!({ "message": "Not Found" })),
                }
            }
            ("DELETE", ["repos", "o", "n", "issues", "comments", id], None) => {
                let id: i64 = id.parse().unwrap();
                state.comments.retain(|comment| comment["id"] != id);
                (204, Value::Null)
            }
            ("GET", ["repos", "o", "n", "commits", HEAD, "check-runs"], _) => {
                let of_app = |run: &Value| {
                    let app: Option<i64> = param("app_id").parse().ok();
                    app.is_none_or(|app| run["app"]["id"] == app)
                };
                let named = |run: &Value| run["name"] == param("check_name");
                let runs: Vec<Value> =
                    state.runs.iter().filter(|r| named(r) && of_app(r)).cloned().collect();
                (200, json!({ "total_count": runs.len(), "check_runs": page(runs) }))
            }
            ("POST", ["repos", "o", "n", "check-runs"], Some(body)) => {
                state.next += 1;
                let mut run = body.clone();
                run["id"] = state.next.into();
                run["conclusion"] = Value::Null;
                run["app"] = json!({ "id": OURS });
                run["output"]["annotations_count"] = 0.into();
                state.runs.push(run.clone());
                (201, run)
            }
            ("GET", ["repos", "o", "n", "check-runs", id], _) => {
                let id: i64 = id.parse().unwrap();
                let run = state.runs.iter().find(|run| run["id"] == id);
                run.map_or((404, Value::Null), |run| (200, run.clone()))
            }
            ("PATCH", ["repos", "o", "n", "check-runs", id], Some(body)) => {
                let id: i64 = id.parse().unwrap();
                let run = state.runs.iter_mut().find(|run| run["id"] == id).unwrap();
                assert_ne!(run["status"], "completed", "a finished run was patched");
                let sent = body["output"]["annotations"].as_array().map_or(0, Vec::len);
                assert!(sent <= 50, "GitHub takes 50 annotations a request");
                let count = run["output"]["annotations_count"].as_u64().unwrap() + sent as u64;
                for (key, value) in body.as_object().unwrap() {
                    run[key] = value.clone();
                }
                run["output"]["annotations_count"] = count.into();
                (200, run.clone())
            }
            ("GET", ["repos", "o", "n", "commits", HEAD, "pulls"], _) => {
                (200, json!([{ "number": 12, "state": "open", "head": { "sha": HEAD } }]))
            }
            ("GET", ["repos", "o", "n", "commits", HEAD, "statuses"], _) => {
                (200, state.statuses.iter().rev().cloned().collect())
            }
            ("POST", ["repos", "o", "n", "statuses", HEAD], Some(body)) => {
                state.statuses.push(body.clone());
                (201, body.clone())
            }
            _ => panic!("nobody expected {method} {route}"),
        }
    }

    fn reply(
        &self,
        method: Method,
        route: &str,
        body: Option<&Value>,
    ) -> Result<Response, ApiError> {
        let fault = {
            let mut state = self.state();
            if method != Method::GET {
                let body = body.cloned().unwrap_or_default();
                state.writes.push((method.clone(), route.to_owned(), body));
            }
            let matching = |(m, r, _): &(Method, &str, Fault)| *m == method && route.contains(*r);
            state.faults.iter().position(matching).map(|at| state.faults.remove(at).2)
        };
        let lost = || Err(ApiError::Unavailable("502 Bad Gateway".to_owned()));
        let (status, answer) = match fault {
            Some(Fault::NotDone) => return lost(),
            Some(Fault::Refused) => {
                return Err(ApiError::Unauthorized("bad credentials".to_owned()));
            }
            Some(Fault::Gone) => (404, json!({ "message": "Not Found" })),
            Some(Fault::AnswerLost) => {
                self.answer(&method, route, body);
                return lost();
            }
            None => self.answer(&method, route, body),
        };
        Ok(Response { status, headers: HeaderMap::new(), body: Bytes::from(answer.to_string()) })
    }
}

impl Api for GitHub {
    fn get<'a>(&'a self, route: &'a str) -> BoxFuture<'a, Result<Response, ApiError>> {
        Box::pin(async move { self.reply(Method::GET, route, None) })
    }

    fn send<'a>(
        &'a self,
        method: Method,
        route: &'a str,
        body: &'a Value,
    ) -> BoxFuture<'a, Result<Response, ApiError>> {
        Box::pin(async move { self.reply(method, route, Some(body)) })
    }

    fn delete<'a>(&'a self, route: &'a str) -> BoxFuture<'a, Result<Response, ApiError>> {
        Box::pin(async move { self.reply(Method::DELETE, route, None) })
    }

    fn graphql<'a>(&'a self, _: &'a str, _: Value) -> BoxFuture<'a, Result<Value, ApiError>> {
        Box::pin(async { Err(ApiError::Unavailable("502 Bad Gateway".to_owned())) })
    }
}

fn comment(id: i64, body: &str, login: &str, app: Option<i64>) -> Value {
    json!({
        "id": id,
        "html_url": format!("https://github.example/c/{id}"),
        "body": body,
        "user": { "login": login },
        "performed_via_github_app": app.map(|id| json!({ "id": id, "slug": "x" })),
    })
}

fn publisher(github: &Arc<GitHub>) -> Publisher {
    Publisher {
        client: Arc::clone(github) as Arc<dyn Api>,
        identity: Identity::App(AppIdentity { id: OURS, slug: "countersign".to_owned() }),
        check_name: "countersign".to_owned(),
        status_context: None,
    }
}

fn subject() -> Subject {
    Subject {
        repo: "o/n".parse().unwrap(),
        repository_id: 99,
        number: 12,
        head: HEAD.to_owned(),
        details_url: Some("https://countersign.example/r/o/n/12".to_owned()),
    }
}

fn text(id: i64, words: &str) -> String {
    let signoff = SignedBy {
        author: "bob".into(),
        kind: SignOffKind::IssueComment,
        url: None,
        id,
        claims: None,
    };
    format!("{}\n{words}\n", marker(&signoff))
}

fn output(annotations: i64) -> CheckOutput {
    CheckOutput {
        title: "REJECTED: 1 check fails".to_owned(),
        summary: "summary".to_owned(),
        text: "text".to_owned(),
        annotations: (1..=annotations)
            .map(|line| Annotation {
                path: "a.yaml".to_owned(),
                line,
                level: AnnotationLevel::Failure,
                title: "Check 1".to_owned(),
                message: "message".to_owned(),
            })
            .collect(),
    }
}

#[tokio::test]
async fn a_comment_is_created_left_alone_and_updated() {
    let github = Arc::new(GitHub::default());
    let publisher = publisher(&github);
    github.comment("As a PR reviewer …", "bob", None);

    let first = publisher.comment(&subject(), &text(11, "REJECTED")).await.unwrap();
    assert_eq!(first.written, Written::Created);
    let same = publisher.comment(&subject(), &text(11, "REJECTED")).await.unwrap();
    assert_eq!((same.url.as_str(), same.written), (first.url.as_str(), Written::Unchanged));
    let other = publisher.comment(&subject(), &text(11, "APPROVED")).await.unwrap();
    assert_eq!((other.url.as_str(), other.written), (first.url.as_str(), Written::Updated));
    publisher.comment(&subject(), &text(13, "REJECTED")).await.unwrap();

    assert_eq!(
        github.bodies(),
        ["As a PR reviewer …", &text(11, "APPROVED"), &text(13, "REJECTED")]
    );
    assert_eq!(github.writes().len(), 3);
}

#[tokio::test]
async fn a_marker_that_somebody_else_typed_means_nothing() {
    let github = Arc::new(GitHub::default());
    let forged = text(11, "APPROVED");
    github.comment(&forged, "mallory", None);
    github.comment(&forged, "countersign[bot]", Some(OURS + 1));
    github.comment(&format!("> quoted\n{forged}"), "countersign[bot]", Some(OURS));

    let written = publisher(&github).comment(&subject(), &text(11, "REJECTED")).await.unwrap();
    assert_eq!(written.written, Written::Created);
    assert_eq!(github.bodies()[0], forged);
    assert_eq!(github.bodies()[3], text(11, "REJECTED"));
}

#[tokio::test]
async fn with_a_token_a_comment_is_ours_by_its_author_and_marker() {
    let github = Arc::new(GitHub::default());
    github.comment(&text(11, "APPROVED"), "mallory", None);
    github.comment(&text(11, "APPROVED"), "countersign-user", None);
    let publisher = Publisher { identity: Identity::Person, ..publisher(&github) };
    let written = publisher.comment(&subject(), &text(11, "REJECTED")).await.unwrap();
    assert_eq!(written.url, "https://github.example/c/2");
    assert_eq!(written.written, Written::Updated);
}

#[tokio::test]
async fn a_post_whose_answer_is_lost_is_found_and_never_doubled() {
    let github = Arc::new(GitHub::default());
    let publisher = publisher(&github);
    github.fail_next(Method::POST, "/comments", Fault::AnswerLost);
    let written = publisher.comment(&subject(), &text(11, "REJECTED")).await.unwrap();
    assert_eq!(written.written, Written::Created);

    github.fail_next(Method::POST, "/check-runs", Fault::AnswerLost);
    let run = publisher.begin(&subject(), 1, "verifying", "…").await.unwrap();
    assert_eq!(run, publisher.begin(&subject(), 1, "verifying", "…").await.unwrap());

    github.fail_next(Method::PATCH, "/check-runs/", Fault::AnswerLost);
    publisher.complete(&subject(), &run, Conclusion::Failure, &output(1)).await.unwrap();
    github.fail_next(Method::PATCH, "/comments/", Fault::AnswerLost);
    let updated = publisher.comment(&subject(), &text(11, "APPROVED")).await.unwrap();
    assert_eq!(updated.written, Written::Updated);

    assert_eq!(github.bodies(), [text(11, "APPROVED")]);
    assert_eq!(github.state().runs.len(), 1);
    assert_eq!(github.writes().len(), 4, "each sent once: {:?}", github.writes());
}

#[tokio::test]
async fn a_write_that_did_not_happen_is_an_error_to_retry_and_sent_once() {
    let github = Arc::new(GitHub::default());
    let publisher = publisher(&github);
    for (method, route) in [(Method::POST, "/comments"), (Method::POST, "/check-runs")] {
        github.fail_next(method, route, Fault::NotDone);
    }
    let comment = publisher.comment(&subject(), &text(11, "x")).await.unwrap_err();
    let run = publisher.begin(&subject(), 1, "verifying", "…").await.unwrap_err();
    assert!(comment.retryable() && run.retryable());
    assert_eq!(comment.to_string(), "posting the comment: GitHub did not answer: 502 Bad Gateway");
    assert_eq!(github.writes().len(), 2);
    github.fail_next(Method::POST, "/comments", Fault::Refused);
    let refused = publisher.comment(&subject(), &text(11, "x")).await.unwrap_err();
    assert!(!refused.retryable());
}

#[tokio::test]
async fn a_comment_deleted_under_our_hands_is_written_anew() {
    let github = Arc::new(GitHub::default());
    let publisher = publisher(&github);
    publisher.comment(&subject(), &text(11, "REJECTED")).await.unwrap();
    github.fail_next(Method::PATCH, "/comments/", Fault::Gone);
    let written = publisher.comment(&subject(), &text(11, "APPROVED")).await.unwrap();
    assert_eq!(written.written, Written::Created);
}

/// A `POST` that was taken for lost and comes through after its repetition leaves two.
#[tokio::test]
async fn of_two_comments_for_one_sign_off_the_last_remains() {
    let github = Arc::new(GitHub::default());
    for _ in 0..150 {
        github.comment("chatter", "bob", None);
    }
    github.comment(&text(11, "REJECTED"), "countersign[bot]", Some(OURS));
    github.comment(&text(11, "REJECTED"), "mallory", None);
    github.comment(&text(13, "REJECTED"), "countersign[bot]", Some(OURS));
    github.comment(&text(11, "REJECTED"), "countersign[bot]", Some(OURS));
    let written = publisher(&github).comment(&subject(), &text(11, "APPROVED")).await.unwrap();
    assert_eq!(written.url, "https://github.example/c/154");
    assert_eq!(
        github.bodies()[150..],
        [text(11, "REJECTED"), text(13, "REJECTED"), text(11, "APPROVED")],
        "mallory's and the other sign-off's stay"
    );
}

#[tokio::test]
async fn a_second_comment_that_cannot_be_removed_holds_nothing_up() {
    let github = Arc::new(GitHub::default());
    for _ in 0..2 {
        github.comment(&text(11, "REJECTED"), "countersign[bot]", Some(OURS));
    }
    let publisher = publisher(&github);
    github.fail_next(Method::DELETE, "/comments/1", Fault::NotDone);
    let same = publisher.comment(&subject(), &text(11, "REJECTED")).await.unwrap();
    assert_eq!(
        (same.url.as_str(), same.written),
        ("https://github.example/c/2", Written::Unchanged)
    );
    assert_eq!(github.bodies().len(), 2);
    publisher.comment(&subject(), &text(11, "REJECTED")).await.unwrap();
    assert_eq!(github.bodies().len(), 1, "the next publication tries again");
}

#[tokio::test]
async fn a_person_keeps_what_was_posted_with_the_same_token() {
    let github = Arc::new(GitHub::default());
    for _ in 0..2 {
        github.comment(&text(11, "REJECTED"), "countersign-user", None);
    }
    let publisher = Publisher { identity: Identity::Person, ..publisher(&github) };
    publisher.comment(&subject(), &text(11, "APPROVED")).await.unwrap();
    assert_eq!(github.bodies(), [text(11, "REJECTED"), text(11, "APPROVED")]);
}

/// The same for a check run, which GitHub never removes: both are finished.
#[tokio::test]
async fn of_two_runs_of_one_verification_the_unfinished_one_is_finished() {
    let github = Arc::new(GitHub::default());
    let publisher = publisher(&github);
    let run = publisher.begin(&subject(), 1, "verifying", "…").await.unwrap();
    publisher.complete(&subject(), &run, Conclusion::Failure, &output(1)).await.unwrap();
    let late = json!({
        "id": 500, "name": "countersign", "status": "in_progress", "conclusion": null,
        "external_id": format!("v1/99/12/{HEAD}/1"), "app": { "id": OURS },
        "output": { "annotations_count": 0 },
    });
    github.state().runs.push(late);
    let again = publisher.begin(&subject(), 1, "verifying", "…").await.unwrap();
    assert_eq!(again.id, 500);
    publisher.complete(&subject(), &again, Conclusion::Failure, &output(1)).await.unwrap();
    let state = github.state();
    let ended: Vec<_> = state.runs.iter().map(|run| run["conclusion"].as_str()).collect();
    assert_eq!(ended, [Some("failure"), Some("failure")]);
}

#[tokio::test]
async fn a_change_is_told_once() {
    let github = Arc::new(GitHub::default());
    let publisher = publisher(&github);
    let told = "<!-- countersign change=issue_comment/11 verdict=sha256:ab -->\nchanged\n";
    let first = publisher.post_once(&subject(), told).await.unwrap();
    let again = publisher.post_once(&subject(), told).await.unwrap();
    assert_eq!((first.written, again.written), (Written::Created, Written::Unchanged));
    assert_eq!(github.bodies().len(), 1);
    let unmarked = publisher.post_once(&subject(), "changed").await.unwrap_err();
    assert_eq!(unmarked, PublishError::Unmarked);
}

#[tokio::test]
async fn a_check_run_is_begun_once_a_verification_and_finished_once() {
    let github = Arc::new(GitHub::default());
    let publisher = publisher(&github);
    let run = publisher.begin(&subject(), 1, "verifying", "…").await.unwrap();
    publisher.progress(&subject(), &run, &output(3)).await.unwrap();
    publisher.complete(&subject(), &run, Conclusion::Failure, &output(3)).await.unwrap();
    publisher.complete(&subject(), &run, Conclusion::Failure, &output(3)).await.unwrap();
    publisher.progress(&subject(), &run, &output(3)).await.unwrap();
    let other = publisher.complete(&subject(), &run, Conclusion::Success, &output(0)).await;
    assert_eq!(
        other.unwrap_err(),
        PublishError::Finished { id: run.id, conclusion: "failure".to_owned() }
    );
    let next = publisher.begin(&subject(), 2, "verifying", "…").await.unwrap();
    assert_ne!(next.id, run.id);

    let state = github.state();
    let finished = &state.runs[0];
    assert_eq!(finished["external_id"], format!("v1/99/12/{HEAD}/1"));
    assert_eq!(finished["head_sha"], HEAD);
    assert_eq!(finished["details_url"], "https://countersign.example/r/o/n/12");
    assert_eq!(finished["conclusion"], "failure");
    assert_eq!(finished["output"]["annotations_count"], 3);
    let action = &finished["actions"][0];
    assert_eq!(action["identifier"], VERIFY_AGAIN);
    for (field, most) in [("label", 20), ("description", 40), ("identifier", 20)] {
        assert!(action[field].as_str().unwrap().chars().count() <= most, "{field}");
    }
    assert_eq!(state.runs[1]["external_id"], format!("v1/99/12/{HEAD}/2"));
    assert_eq!(state.writes.len(), 4);
}

#[tokio::test]
async fn annotations_go_in_batches_and_a_retry_sends_only_the_rest() {
    let github = Arc::new(GitHub::default());
    let publisher = publisher(&github);
    let run = publisher.begin(&subject(), 1, "verifying", "…").await.unwrap();
    github.fail_next(Method::PATCH, "/check-runs/", Fault::AnswerLost);
    let first = publisher.complete(&subject(), &run, Conclusion::Failure, &output(120)).await;
    assert!(first.unwrap_err().retryable());
    publisher.complete(&subject(), &run, Conclusion::Failure, &output(120)).await.unwrap();

    let state = github.state();
    assert_eq!(state.runs[0]["output"]["annotations_count"], 120);
    let sent: Vec<i64> = state
        .writes
        .iter()
        .filter_map(|(_, _, body)| body["output"]["annotations"].as_array())
        .flatten()
        .map(|one| one["start_line"].as_i64().unwrap())
        .collect();
    assert_eq!(sent, (1..=120).collect::<Vec<_>>());
}

#[tokio::test]
async fn another_apps_run_of_our_name_is_not_ours() {
    let github = Arc::new(GitHub::default());
    github.state().runs.push(json!({
        "id": 500, "name": "countersign", "status": "completed", "conclusion": "success",
        "external_id": format!("v1/99/12/{HEAD}/1"), "app": { "id": OURS + 1 },
    }));
    let run = publisher(&github).begin(&subject(), 1, "verifying", "…").await.unwrap();
    assert_ne!(run.id, 500);
}

#[tokio::test]
async fn a_commit_status_follows_the_run_where_the_profile_wants_one() {
    let github = Arc::new(GitHub::default());
    let context = Some("codeowner-signoff-verify".to_owned());
    let publisher = Publisher { status_context: context, ..publisher(&github) };
    let run = publisher.begin(&subject(), 1, "verifying", "…").await.unwrap();
    publisher.complete(&subject(), &run, Conclusion::ActionRequired, &output(0)).await.unwrap();
    publisher.complete(&subject(), &run, Conclusion::ActionRequired, &output(0)).await.unwrap();
    let state = github.state();
    let states: Vec<_> = state.statuses.iter().map(|s| s["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["pending", "error"]);
    assert_eq!(state.statuses[1]["description"], "REJECTED: 1 check fails");
}
