//! The reader: one read a key, typed replies, rounds, and what a record holds of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use countersign::facts::SignOffKind;
use countersign::limits::BODY_BYTES;
use countersign::sources::reader::ReadFrom;
use countersign::sources::{ReadError, ReadKey, Reader, Reply, Source};
use futures_util::future::{BoxFuture, join_all};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::fake::{comments, file, repo, sha};

/// Answers from a table and counts what it is asked; holds every answer back until it is let go.
struct Table {
    answers: BTreeMap<String, Value>,
    asked: AtomicUsize,
    order: Mutex<Vec<String>>,
    gate: Semaphore,
}

impl Table {
    fn new(answers: impl IntoIterator<Item = (ReadKey, Value)>) -> Arc<Self> {
        let answers = answers.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
        let gate = Semaphore::new(Semaphore::MAX_PERMITS);
        Arc::new(Self { answers, asked: AtomicUsize::new(0), order: Mutex::default(), gate })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Source for Table {
    fn read<'a>(&'a self, key: &'a ReadKey) -> BoxFuture<'a, Result<Reply, ReadError>> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.order.lock().unwrap().push(key.to_string());
            let _permit = self.gate.acquire().await;
            match self.answers.get(&key.to_string()) {
                Some(Value::Null) => {
                    let reason = "502 Bad Gateway".to_owned();
                    Err(ReadError::Unavailable { what: key.to_string(), reason })
                }
                Some(value) => Ok(reply(200, value.to_string())),
                None => Ok(reply(404, String::new())),
            }
        })
    }

    fn holds(&self, key: &ReadKey) -> bool {
        key.immutable()
    }
}

fn reply(status: u16, body: String) -> Reply {
    Reply { status, headers: BTreeMap::new(), body: Bytes::from(body) }
}

#[tokio::test]
async fn all_who_ask_for_a_key_share_one_read() {
    let table = Table::new([(comments(), json!([])), (file("a"), Value::Null)]);
    let reader = Reader::new(table.clone());
    let (key, repo) = (comments(), repo());
    let raw = join_all((0..20).map(|_| reader.read(&key)));
    let typed = join_all((0..5).map(|_| reader.issue_comments(&repo, 7)));
    let (raw, typed) = futures_util::join!(raw, typed);
    assert!(raw.iter().all(|outcome| outcome.as_ref().is_ok_and(|reply| reply.body == "[]")));
    assert!(typed.iter().all(|outcome| outcome.as_ref().is_ok_and(|list| list.is_some())));
    assert_eq!(table.asked(), 1);
    // A fault is one answer as well: another try is another verification's.
    for _ in 0..2 {
        reader.read(&file("a")).await.unwrap_err();
    }
    assert_eq!(table.asked(), 2);
    assert_eq!(reader.timings().iter().map(|timing| timing.asked).collect::<Vec<_>>(), [25, 2]);
}

#[tokio::test]
async fn a_read_outlives_the_one_who_asked_first() {
    let table = Table::new([(comments(), json!([]))]);
    let all = table.gate.forget_permits(Semaphore::MAX_PERMITS);
    let reader = Reader::new(table.clone());
    let key = comments();
    {
        let mut first = Box::pin(reader.read(&key));
        assert!(futures_util::poll!(&mut first).is_pending());
    }
    table.gate.add_permits(all);
    assert_eq!(reader.read(&key).await.unwrap().body, "[]");
    assert_eq!(table.asked(), 1);
}

#[tokio::test]
async fn what_is_read_ahead_counts_only_once_somebody_asks() {
    let pull = ReadKey::Pull { repo: repo(), number: 7 };
    let reviews = ReadKey::Reviews { repo: repo(), number: 7 };
    let table = Table::new([
        (comments(), json!([])),
        (reviews.clone(), json!([])),
        (file("MODELS.md"), json!("text")),
    ]);
    let reader = Reader::new(table.clone());
    reader.read_ahead([comments(), reviews.clone(), pull.clone()]);
    reader.issue_comments(&repo(), 7).await.unwrap();
    reader.file(&repo(), &sha('a'), "MODELS.md").await.unwrap();
    // All three were started, in one go, and none is read twice.
    reader.read(&reviews).await.unwrap();
    assert_eq!(table.asked(), 4);
    assert_eq!(reader.keys_read(), [comments(), reviews]);
    let recorded: Vec<_> = reader.record().into_iter().map(|(key, _)| key.to_string()).collect();
    assert_eq!(recorded.len(), 3);
    assert!(!recorded.contains(&pull.to_string()), "{recorded:?}");
    assert_eq!(reader.timings().len(), 3);
}

#[tokio::test]
async fn rounds_count_what_had_ended_before() {
    let table = Table::new([(comments(), json!([]))]);
    let reader = Reader::new(table);
    let repo = repo();
    let tips = ReadKey::Tips { repo: repo.clone(), number: 7 };
    let together = futures_util::join!(reader.issue_comments(&repo, 7), reader.read(&tips));
    assert!(together.0.is_ok() && together.1.is_ok());
    reader.run(&repo, 1).await.unwrap();
    reader.file(&repo, &sha('a'), "MODELS.md").await.unwrap();
    reader.permission(&repo, "Mona").await.unwrap();
    let rounds: Vec<_> = reader
        .timings()
        .into_iter()
        .map(|timing| (timing.key, timing.from, timing.round))
        .collect();
    let row = |key: &str, from, round| {
        assert!(rounds.contains(&(key.to_owned(), from, round)), "{key}: {rounds:?}");
    };
    row("comments octo/bench#7", ReadFrom::Network, 1);
    row("tips octo/bench#7", ReadFrom::Network, 1);
    row("run octo/bench/1", ReadFrom::Network, 2);
    row(&file("MODELS.md").to_string(), ReadFrom::Held, 2);
    row("permission octo/bench mona", ReadFrom::Network, 3);
}

#[tokio::test]
async fn the_three_kinds_of_posted_texts_are_one_type() {
    let user = json!({ "login": "mona", "id": 583231, "type": "User", "site_admin": false });
    let comment = json!({
        "id": 11, "node_id": "IC_1", "user": user, "author_association": "MEMBER", "body": "text",
        "created_at": "2026-10-13T07:00:00Z", "updated_at": "2026-10-13T07:10:00Z",
        "html_url": "https://github.com/octo/bench/pull/7#issuecomment-11",
        "performed_via_github_app": { "id": 9, "slug": "countersign", "name": "x" }, "reactions": {},
    });
    let ours = json!({
        "id": 12, "node_id": "IC_2", "user": { "login": "countersign[bot]", "id": 1, "type": "Bot" },
        "author_association": "NONE", "body": null, "performed_via_github_app": null,
        "created_at": "2026-10-13T07:00:00Z", "updated_at": "2026-10-13T07:00:00Z", "html_url": "u",
    });
    let review = json!({
        "id": 21, "node_id": "PRR_1", "user": null, "author_association": "NONE", "body": "LGTM",
        "state": "APPROVED", "submitted_at": "2026-10-13T07:20:00Z", "commit_id": sha('a'),
        "html_url": "https://github.com/octo/bench/pull/7#pullrequestreview-21",
    });
    let inline = json!({
        "id": 31, "node_id": "PRRC_1", "user": user, "author_association": "OWNER", "body": "why?",
        "commit_id": sha('a'), "original_commit_id": sha('b'), "path": "a", "line": 3,
        "created_at": "2026-10-13T07:30:00Z", "updated_at": "2026-10-13T07:30:00Z", "html_url": "u",
    });
    let table = Table::new([
        (comments(), json!([comment, ours])),
        (ReadKey::Reviews { repo: repo(), number: 7 }, json!([review])),
        (ReadKey::ReviewComments { repo: repo(), number: 7 }, json!([inline])),
    ]);
    let reader = Reader::new(table);
    let posted = reader.issue_comments(&repo(), 7).await.unwrap().unwrap();
    let [comment, ours] = posted.as_slice() else { panic!("{posted:?}") };
    assert_eq!(
        (comment.kind, comment.id, comment.author_id),
        (SignOffKind::IssueComment, 11, 583231)
    );
    assert_eq!(
        comment.app.as_ref().map(|app| (app.id, app.slug.as_str())),
        Some((9, "countersign"))
    );
    assert_eq!(
        (comment.created.as_str(), comment.updated.as_str()),
        ("2026-10-13T07:00:00Z", "2026-10-13T07:10:00Z")
    );
    assert!(!comment.author_is_bot && ours.author_is_bot);
    assert_eq!((ours.body.as_str(), &ours.app, &ours.commit), ("", &None, &None));
    let review = &reader.reviews(&repo(), 7).await.unwrap().unwrap()[0];
    assert_eq!((review.author.as_str(), review.state.as_deref()), ("ghost", Some("APPROVED")));
    assert_eq!(
        (review.created.as_str(), review.commit.clone()),
        ("2026-10-13T07:20:00Z", Some(sha('a')))
    );
    let inline = &reader.review_comments(&repo(), 7).await.unwrap().unwrap()[0];
    assert_eq!((inline.kind, inline.commit.clone()), (SignOffKind::ReviewComment, Some(sha('b'))));
}

#[tokio::test]
async fn replies_are_typed() {
    let run = json!({
        "id": 5, "name": "Sweep", "path": ".github/workflows/run-sweep.yml@refs/heads/x",
        "event": "pull_request", "status": "completed", "conclusion": "success", "run_attempt": 3,
        "head_sha": sha('a'), "head_repository": null, "created_at": "2026-10-12T07:00:00Z",
        "run_started_at": "2026-10-12T09:00:00Z", "html_url": "u", "actor": {},
    });
    let job = json!({ "id": 900, "run_id": 5, "run_attempt": 2, "name": "eval / a", "status": "completed",
        "conclusion": "skipped", "started_at": null, "completed_at": null, "html_url": null });
    let jobs = ReadKey::Jobs { repo: repo(), id: 5, attempt: 3, completed: true };
    let permission = json!({ "permission": "write", "role_name": "maintain",
        "user": { "login": "Mona", "id": 1, "type": "User" } });
    let history = ReadKey::History {
        repo: repo(),
        from: sha('a'),
        path: "docs/x.md".into(),
        until: Some("2026-10-13T08:00:00Z".into()),
    };
    let commit =
        json!({ "sha": sha('c'), "commit": { "committer": { "date": "2026-10-01T00:00:00Z" } } });
    let edits = ReadKey::Edits { repo: repo(), ids: vec!["A".into(), "B".into()] };
    let edit = json!({ "id": "B", "last_edited_at": "2026-10-13T07:00:00Z", "editor": "mona" });
    let table = Table::new([
        (ReadKey::Run { repo: repo(), id: 5 }, run),
        (jobs, json!([job])),
        (ReadKey::Permission { repo: repo(), login: "mona".into() }, permission),
        (history, json!([commit])),
        (edits, json!([null, edit])),
    ]);
    let reader = Reader::new(table.clone());
    let repo = repo();
    let run = reader.run(&repo, 5).await.unwrap().unwrap();
    assert_eq!((run.path.as_str(), run.attempt), (".github/workflows/run-sweep.yml", 3));
    assert_eq!((run.started.as_str(), &run.head_repository), ("2026-10-12T09:00:00Z", &None));
    let jobs = reader.jobs(&repo, &run).await.unwrap().unwrap();
    assert_eq!(
        (jobs[0].id, jobs[0].attempt, jobs[0].conclusion.as_deref()),
        (900, 2, Some("skipped"))
    );
    let permission = reader.permission(&repo, "MONA").await.unwrap().unwrap();
    assert_eq!((permission.login.as_str(), permission.role_name.as_str()), ("Mona", "maintain"));
    let at = Some("2026-10-13T08:00:00Z");
    let history = reader.history(&repo, &sha('a'), "docs/x.md", at).await.unwrap().unwrap();
    assert_eq!((history.sha, history.date.as_str()), (sha('c'), "2026-10-01T00:00:00Z"));
    let ids = ["B", "A", "B"].map(str::to_owned);
    let edits = reader.edits(&repo, ids).await.unwrap();
    assert_eq!(edits.keys().collect::<Vec<_>>(), ["B"]);
    let asked = table.asked();
    assert!(reader.edits(&repo, []).await.unwrap().is_empty());
    assert_eq!(table.asked(), asked);
    assert_eq!(reader.team_member(&repo, "octo", "core", "mona").await.unwrap(), None);
}

#[tokio::test]
async fn a_reply_of_another_shape_says_where() {
    let commit = json!({ "sha": sha('a'), "commit": { "committer": { "date": 3 } } });
    let commits = ReadKey::PullCommits { repo: repo(), number: 7 };
    let error = Reader::new(Table::new([(commits, json!([commit]))]));
    let error = error.pull_commits(&repo(), 7).await.unwrap_err();
    let ReadError::Malformed { what, reason } = &error else { panic!("{error}") };
    assert_eq!(what, "commits octo/bench#7");
    let place = "[0].commit.committer.date: invalid type: integer `3`, expected a string";
    assert!(reason.starts_with(place), "{reason}");
}

#[tokio::test]
async fn a_text_past_its_bound_is_not_used() {
    let comment = |body: String| json!([{ "id": 11, "node_id": "n", "user": null, "body": body, "html_url": "u" }]);
    let fits = Table::new([(comments(), comment("x".repeat(BODY_BYTES)))]);
    assert!(Reader::new(fits).issue_comments(&repo(), 7).await.is_ok());
    let over = Table::new([(comments(), comment("x".repeat(BODY_BYTES + 1)))]);
    let error = Reader::new(over).issue_comments(&repo(), 7).await.unwrap_err();
    let what = "comments octo/bench#7: text of 11".to_owned();
    assert_eq!(error, ReadError::TooLarge { what, bound: format!("{BODY_BYTES} bytes") });
}
