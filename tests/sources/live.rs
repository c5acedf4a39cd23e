//! The live API: pages, ETags, retries, limits, GraphQL.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use countersign::github::{ApiError, Client};
use countersign::limits::{PULL_FILES, READ_TRIES, REPLY_BYTES};
use countersign::sources::cache::Cache;
use countersign::sources::live::Live;
use countersign::sources::{ReadError, ReadKey, Source};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use super::fake::{
    Fake, TOKEN, comments, file, found, json, not_found, quick, read, reply, repo, sha,
};

fn items(from: usize, count: usize) -> Value {
    (from..from + count).map(|id| json!({ "id": id })).collect()
}

fn ids(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|item| item["id"].as_u64().unwrap()).collect()
}

fn linked(body: &Value, link: &str) -> axum::response::Response {
    reply(200, &[("link", link)], body.to_string())
}

#[tokio::test]
async fn pages_after_the_first_are_read_together_with_the_token_and_not_by_their_links() {
    let together = Arc::new(Barrier::new(2));
    let fake = Fake::start(move |seen| {
        let together = Arc::clone(&together);
        Box::pin(async move {
            match seen.page() {
                1 => linked(
                    &items(0, 100),
                    r#"<http://elsewhere.example/x?page=2>; rel="next", <http://elsewhere.example/x?page=3>; rel="last""#,
                ),
                page => {
                    // Answers only once both are asked for.
                    together.wait().await;
                    json(&items((page - 1) * 100, if page == 3 { 5 } else { 100 }))
                }
            }
        })
    })
    .await;
    let live = fake.live();
    let key = comments();
    let list = tokio::time::timeout(Duration::from_secs(20), found(&live, &key)).await.unwrap();
    assert_eq!(ids(&list), (0..205).collect::<Vec<_>>());
    assert_eq!(fake.seen().len(), 3);
    for seen in fake.seen() {
        assert_eq!(seen.authorization, Some(format!("Bearer {TOKEN}")));
        assert!(seen.target.starts_with("/repos/octo/bench/issues/7/comments?per_page=100&page="));
    }
}

#[tokio::test]
async fn a_list_inside_an_object_is_unwrapped() {
    let fake = Fake::plain(|_| json(&json!({ "total_count": 2, "check_runs": items(1, 2) }))).await;
    let key = ReadKey::CheckRuns { repo: repo(), commit: sha('a') };
    assert_eq!(ids(&found(&fake.live(), &key).await), [1, 2]);
    let route =
        format!("/repos/octo/bench/commits/{}/check-runs?filter=all&per_page=100&page=1", sha('a'));
    assert_eq!(fake.targets(), [route]);
    let malformed = ReadKey::Jobs { repo: repo(), id: 1, attempt: 1, completed: true };
    let error = read(&fake.live(), &malformed).await.unwrap_err();
    assert!(
        matches!(&error, ReadError::Malformed { reason, .. } if reason == "/jobs: expected a list"),
        "{error}"
    );
}

#[tokio::test]
async fn a_list_in_an_objects_place_is_a_fault_that_names_the_field() {
    let fake = Fake::plain(|_| json(&json!([{}]))).await;
    let runs = ReadKey::CheckRuns { repo: repo(), commit: sha('a') };
    let compare = ReadKey::Compare { repo: repo(), base: sha('a'), head: sha('b') };
    for (key, expected) in
        [(runs, "/check_runs: expected a list"), (compare, "/commits: expected a list")]
    {
        let error = read(&fake.live(), &key).await.unwrap_err();
        assert!(
            matches!(&error, ReadError::Malformed { reason, .. } if reason == expected),
            "{error}"
        );
    }
}

#[tokio::test]
async fn what_did_not_change_is_not_sent_again() {
    let fake = Fake::plain(|seen| match seen.if_none_match.as_deref() {
        Some("\"v1\"") => reply(304, &[("etag", "\"v1\"")], ""),
        _ => reply(200, &[("etag", "\"v1\"")], items(1, 3).to_string()),
    })
    .await;
    let live = fake.live().with_cache(Arc::new(Cache::new()));
    let cold = read(&live, &comments()).await.unwrap();
    let warm = read(&live, &comments()).await.unwrap();
    assert_eq!(cold, warm);
    let asked: Vec<_> = fake.seen().into_iter().map(|seen| seen.if_none_match).collect();
    assert_eq!(asked, [None, Some("\"v1\"".to_owned())]);
}

#[tokio::test]
async fn behind_a_full_page_that_did_not_change_one_looks() {
    let grown = Arc::new(AtomicUsize::new(0));
    let state = Arc::clone(&grown);
    let fake = Fake::plain(move |seen| match (seen.page(), &seen.if_none_match) {
        (1, Some(_)) => reply(304, &[], ""),
        (1, None) => reply(200, &[("etag", "\"full\"")], items(0, 100).to_string()),
        _ => json(&items(100, state.load(Ordering::SeqCst))),
    })
    .await;
    let live = fake.live().with_cache(Arc::new(Cache::new()));
    assert_eq!(ids(&found(&live, &comments()).await).len(), 100);
    grown.store(1, Ordering::SeqCst);
    assert_eq!(ids(&found(&live, &comments()).await), (0..101).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_error_with_an_etag_is_not_kept() {
    let fake = Fake::plain(|seen| {
        assert_eq!(seen.if_none_match, None);
        reply(404, &[("etag", "\"gone\"")], r#"{"message": "Not Found"}"#)
    })
    .await;
    let live = fake.live().with_cache(Arc::new(Cache::new()));
    for _ in 0..2 {
        let reply = read(&live, &file("MODELS.md")).await.unwrap();
        assert_eq!((reply.status, reply.body), (404, Bytes::new()));
    }
    assert_eq!(fake.seen().len(), 2);
}

#[tokio::test]
async fn a_page_in_a_files_place_is_a_fault_and_is_not_kept() {
    let raw = "application/vnd.github.raw+json; charset=utf-8";
    for (headers, body) in [
        (vec![("content-type", "text/html; charset=utf-8")], "<html>Sign in</html>"),
        (vec![("content-type", "application/json; charset=utf-8")], "{}"),
        (vec![("content-type", "application/json; charset=utf-8")], "null"),
        (vec![], ""),
    ] {
        let wrong = Arc::new(AtomicUsize::new(1));
        let fake = Fake::plain(move |_| match wrong.swap(0, Ordering::SeqCst) {
            1 => reply(200, &headers, body),
            _ => reply(200, &[("content-type", raw)], "* @ada"),
        })
        .await;
        let live = fake.live().with_cache(Arc::new(Cache::new()));
        let error = read(&live, &file("CODEOWNERS")).await.unwrap_err();
        assert!(matches!(error, ReadError::Malformed { .. }), "{body}: {error}");
        assert_eq!(read(&live, &file("CODEOWNERS")).await.unwrap().body, "* @ada");
    }
    for described in [json!([]), json!({ "type": "submodule" })] {
        let fake = Fake::plain(move |_| json(&described)).await;
        assert_eq!(read(&fake.live(), &file("docs")).await.unwrap().status, 404);
    }
}

#[tokio::test]
async fn what_never_changes_is_kept_but_for_its_identity_only() {
    let fake = Fake::plain(|_| {
        reply(200, &[("content-type", "application/vnd.github.raw+json; charset=utf-8")], "text")
    })
    .await;
    let cache = Arc::new(Cache::new());
    let live = fake.live().with_cache(Arc::clone(&cache));
    for _ in 0..2 {
        assert_eq!(read(&live, &file("a b/MODELS.md")).await.unwrap().body, "text");
    }
    let route = format!("/repos/octo/bench/contents/a%20b/MODELS.md?ref={}", sha('a'));
    assert_eq!(fake.targets(), [route]);
    let anonymous = Arc::new(Client::with_token(&fake.url, None).unwrap());
    for other in [Live::new(anonymous), fake.live()] {
        let other = other.with_cache(Arc::clone(&cache));
        assert!(!other.holds(&file("a b/MODELS.md")));
        read(&other, &file("a b/MODELS.md")).await.unwrap();
    }
    assert!(live.holds(&file("a b/MODELS.md")) && !live.holds(&comments()));
    assert_eq!(fake.seen().len(), 3);
}

#[tokio::test]
async fn a_folder_is_no_file_and_an_impossible_path_is_not_asked_for() {
    let fake = Fake::plain(|_| json(&json!([{ "type": "file" }]))).await;
    let live = fake.live();
    assert_eq!(read(&live, &file("docs")).await.unwrap().status, 404);
    assert_eq!(read(&live, &file("../../../orgs/octo")).await.unwrap().status, 404);
    assert_eq!(fake.seen().len(), 1);
}

#[tokio::test]
async fn what_is_gone_is_a_reply() {
    let fake = Fake::plain(|_| reply(410, &[], r#"{"message": "gone"}"#)).await;
    let key = ReadKey::Run { repo: repo(), id: 12 };
    assert_eq!(read(&fake.live(), &key).await.unwrap().status, 410);
}

#[tokio::test]
async fn a_server_error_is_tried_again_and_then_stands() {
    let failures = Arc::new(AtomicUsize::new(READ_TRIES - 1));
    let left = Arc::clone(&failures);
    let fake = Fake::plain(move |_| {
        let fails = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if fails.is_ok() { reply(502, &[], "<html>") } else { json(&items(1, 1)) }
    })
    .await;
    assert_eq!(ids(&found(&fake.live(), &comments()).await), [1]);
    assert_eq!(fake.seen().len(), READ_TRIES);
    failures.store(usize::MAX, Ordering::SeqCst);
    let error = read(&fake.live(), &comments()).await.unwrap_err();
    let what = "comments octo/bench#7".to_owned();
    assert_eq!(error, ReadError::Unavailable { what, reason: "502 Bad Gateway".to_owned() });
    assert_eq!(fake.seen().len(), 2 * READ_TRIES);
}

#[tokio::test]
async fn a_write_is_tried_once() {
    let fake = Fake::plain(|_| reply(502, &[], "")).await;
    let body = json!({ "body": "hello" });
    let client = fake.client();
    let sent = client.send(http::Method::POST, "/repos/octo/bench/issues/7/comments", &body).await;
    assert!(matches!(sent, Err(ApiError::Unavailable(_))));
    assert_eq!(fake.seen().len(), 1);
    assert_eq!(fake.seen()[0].body, body);
}

#[tokio::test]
async fn a_rate_limit_is_not_waited_for() {
    let fake = Fake::plain(|_| {
        let date = ("date", "Tue, 13 Oct 2026 08:00:00 GMT");
        reply(403, &[date, ("retry-after", "90")], r#"{"message": "secondary rate limit"}"#)
    })
    .await;
    let error = read(&fake.live(), &comments()).await.unwrap_err();
    let (what, until) = ("comments octo/bench#7".to_owned(), "2026-10-13T08:01:30Z".to_owned());
    assert_eq!(error, ReadError::RateLimited { what, until });
    assert_eq!(fake.seen().len(), 1);
}

#[tokio::test]
async fn reads_leave_the_reserve_to_writes() {
    let fake = Fake::plain(|_| {
        let left = [
            ("x-ratelimit-limit", "5000"),
            ("x-ratelimit-remaining", "99"),
            ("x-ratelimit-reset", "4102444800"),
        ];
        reply(200, &left, "[]")
    })
    .await;
    let client = fake.client();
    let live = quick(Live::new(Arc::clone(&client)));
    assert!(read(&live, &comments()).await.is_ok());
    let error = read(&live, &comments()).await.unwrap_err();
    assert!(
        matches!(&error, ReadError::RateLimited { until, .. } if until == "2100-01-01T00:00:00Z"),
        "{error}"
    );
    assert_eq!(fake.seen().len(), 1);
    let route = "/repos/octo/bench/check-runs";
    client.send(http::Method::POST, route, &json!({})).await.unwrap();
    client.get(route, "application/json", None).await.unwrap();
    assert_eq!(fake.seen().len(), 3);
}

#[tokio::test]
async fn a_refusal_names_the_permission() {
    let fake = Fake::plain(|seen| {
        let named: &[_] = match seen.target.contains("/actions/") {
            true => &[("x-accepted-github-permissions", "actions=read")],
            false => &[],
        };
        reply(403, named, r#"{"message": "Resource not accessible by integration"}"#)
    })
    .await;
    let needs = async |key: ReadKey| match read(&fake.live(), &key).await.unwrap_err() {
        ReadError::Forbidden { permission, what } => {
            assert!(what.contains("Resource not accessible by integration"), "{what}");
            permission
        }
        other => panic!("{other}"),
    };
    let member = ReadKey::TeamMember {
        repo: repo(),
        org: "octo".into(),
        team: "core".into(),
        login: "mona".into(),
    };
    assert_eq!(needs(ReadKey::Run { repo: repo(), id: 1 }).await, "actions:read");
    assert_eq!(needs(member).await, "members:read");
    assert_eq!(fake.seen().len(), 2);
}

#[tokio::test]
async fn a_body_has_a_bound() {
    let fake = Fake::plain(|_| {
        let chunk = Bytes::from(vec![b' '; 1 << 20]);
        let chunks = (0..=REPLY_BYTES >> 20).map(move |_| Ok::<_, std::io::Error>(chunk.clone()));
        reply(200, &[], Body::from_stream(futures_util::stream::iter(chunks)))
    })
    .await;
    let error = read(&fake.live(), &file("big.bin")).await.unwrap_err();
    let bound = format!("{REPLY_BYTES} bytes");
    assert_eq!(error, ReadError::TooLarge { what: file("big.bin").to_string(), bound });
    assert_eq!(fake.seen().len(), 1);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_a_fault_and_not_kept() {
    let fake = Fake::plain(|_| {
        let broken = std::io::Error::other("cable");
        let chunks = [Ok(Bytes::from_static(b"half of the te")), Err(broken)];
        reply(200, &[("etag", "\"v1\"")], Body::from_stream(futures_util::stream::iter(chunks)))
    })
    .await;
    let live = fake.live().with_cache(Arc::new(Cache::new()));
    let error = read(&live, &file("README.md")).await.unwrap_err();
    assert!(matches!(error, ReadError::Unavailable { .. }), "{error}");
    assert_eq!(fake.seen().len(), READ_TRIES);
    assert!(fake.seen().iter().all(|seen| seen.if_none_match.is_none()));
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up() {
    let fake = Fake::start(|_| Box::pin(std::future::pending())).await;
    let client = Client::with_token(&fake.url, None).unwrap();
    let client = client.with_patience(Duration::from_millis(50));
    let error = client.get("/x", "application/json", None).await.unwrap_err();
    assert_eq!(error, ApiError::Unavailable("no answer within 0.05 s".to_owned()));
}

#[tokio::test]
async fn nobody_there_is_a_fault() {
    let client = Client::with_token("http://127.0.0.1:1", None).unwrap();
    let error = client.get("/x", "application/json", None).await.unwrap_err();
    assert!(matches!(&error, ApiError::Unavailable(why) if why.contains("refused")), "{error}");
}

#[tokio::test]
async fn a_redirect_is_followed_on_the_same_host_only() {
    let fake = Fake::plain(|seen| match seen.target.as_str() {
        "/repos/octo/bench/pulls/7" => reply(301, &[("location", "/repositories/5/pulls/7")], ""),
        "/repositories/5/pulls/7" => json(&json!({ "number": 7 })),
        "/away" => reply(302, &[("location", "http://127.0.0.1:1/blob?sig=secret")], ""),
        _ => reply(307, &[("location", "/round")], ""),
    })
    .await;
    let key = ReadKey::Pull { repo: repo(), number: 7 };
    assert_eq!(found(&fake.live(), &key).await, json!({ "number": 7 }));
    assert!(fake.seen().iter().all(|seen| seen.authorization.is_some()));
    let client = fake.client();
    assert_eq!(client.get("/away", "*/*", None).await.unwrap().status, 302);
    assert!(matches!(client.get("/round", "*/*", None).await, Err(ApiError::Malformed(_))));
}

#[tokio::test]
async fn a_list_that_github_cuts_is_not_taken_for_whole() {
    let fake = Fake::plain(|seen| {
        let page = seen.page();
        linked(&items(page * 100, 100), &format!(r#"<x?page={}>; rel="last""#, PULL_FILES / 100))
    })
    .await;
    let error = read(&fake.live(), &ReadKey::PullFiles { repo: repo(), number: 7 }).await;
    assert!(
        matches!(&error, Err(ReadError::TooLarge { bound, .. }) if bound.starts_with("3000 files")),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_list_without_end_is_not_read_to_its_end() {
    let fake = Fake::plain(|_| linked(&items(0, 1), r#"<x?page=2>; rel="next""#)).await;
    let error = read(&fake.live(), &comments()).await;
    assert!(matches!(&error, Err(ReadError::TooLarge { .. })), "{error:?}");
    assert_eq!(fake.seen().len(), countersign::limits::PAGES);
}

#[tokio::test]
async fn a_comparison_has_the_commits_of_all_its_pages() {
    let fake = Fake::plain(|seen| {
        let commits: Value = (0..if seen.page() == 1 { 100 } else { 3 })
            .map(|n| json!({ "sha": format!("{:040}", seen.page() * 1_000 + n) }))
            .collect();
        let files = if seen.page() == 1 { json!([{ "filename": "a" }]) } else { json!([]) };
        let body =
            json!({ "merge_base_commit": { "sha": sha('c') }, "files": files, "commits": commits });
        linked(&body, r#"<x?page=2>; rel="last""#)
    })
    .await;
    let key = ReadKey::Compare { repo: repo(), base: sha('a'), head: sha('b') };
    let comparison = found(&fake.live(), &key).await;
    assert_eq!(comparison["commits"].as_array().unwrap().len(), 103);
    assert_eq!(comparison["commits"][102]["sha"], format!("{:040}", 2_002));
    assert_eq!(comparison["files"], json!([{ "filename": "a" }]));
    assert_eq!(comparison["merge_base_commit"]["sha"], sha('c'));
}

#[tokio::test]
async fn tips_come_in_our_own_form() {
    let fake = Fake::plain(|seen| {
        assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/graphql"));
        let gone =
            json!([{ "type": "NOT_FOUND", "path": ["repository", "pullRequest"], "message": "x" }]);
        if seen.body["variables"]["number"] == 8 {
            return json(
                &json!({ "data": { "repository": { "pullRequest": null } }, "errors": gone }),
            );
        }
        json(&json!({ "data": { "repository": {
            "databaseId": 5, "isPrivate": true,
            "defaultBranchRef": { "name": "main", "target": { "oid": sha('d') } },
            "pullRequest": { "headRefOid": sha('a'), "baseRefName": "release",
                             "baseRef": { "target": { "oid": sha('b') } } },
        } } }))
    })
    .await;
    let live = fake.live();
    assert_eq!(
        found(&live, &ReadKey::Tips { repo: repo(), number: 7 }).await,
        json!({
            "repository_id": 5, "private": true,
            "default_branch": "main", "default_sha": sha('d'),
            "base_ref": "release", "base_sha": sha('b'), "head_sha": sha('a'),
        })
    );
    assert_eq!(
        fake.seen()[0].body["variables"],
        json!({ "owner": "octo", "name": "bench", "number": 7 })
    );
    assert_eq!(read(&live, &ReadKey::Tips { repo: repo(), number: 8 }).await.unwrap().status, 404);
}

#[tokio::test]
async fn graphql_without_a_token_is_not_even_tried() {
    let fake = Fake::plain(|_| not_found()).await;
    let live = quick(Live::new(Arc::new(Client::with_token(&fake.url, None).unwrap())));
    let error = read(&live, &ReadKey::Tips { repo: repo(), number: 7 }).await.unwrap_err();
    assert!(error.to_string().contains("GraphQL needs a token"), "{error}");
    assert_eq!(fake.seen().len(), 0);
}

#[tokio::test]
async fn edits_are_asked_for_by_the_hundred_and_what_is_gone_is_null() {
    let fake = Fake::plain(|seen| {
        let ids = seen.body["variables"]["ids"].as_array().unwrap().clone();
        assert!(ids.len() <= 100);
        let node = |id: &Value| match id.as_str() {
            Some("C000") => Value::Null,
            Some("C001") => json!({ "id": id, "__typename": "IssueComment",
                "lastEditedAt": "2026-10-13T07:30:00Z", "editor": { "login": "mona" } }),
            _ => json!({ "id": id, "lastEditedAt": null, "editor": null }),
        };
        json(&json!({ "data": { "nodes": ids.iter().map(node).collect::<Value>() } }))
    })
    .await;
    let ids: Vec<_> = (0..150).map(|n| format!("C{n:03}")).collect();
    let edits = found(&fake.live(), &ReadKey::Edits { repo: repo(), ids }).await;
    let edits = edits.as_array().unwrap();
    assert_eq!(edits.len(), 150);
    assert_eq!(edits[0], Value::Null);
    assert_eq!(
        edits[1],
        json!({ "id": "C001", "last_edited_at": "2026-10-13T07:30:00Z", "editor": "mona" })
    );
    assert_eq!(edits[149], json!({ "id": "C149", "last_edited_at": null, "editor": null }));
    assert_eq!(fake.seen().len(), 2);
}

#[tokio::test]
async fn partial_data_with_errors_is_a_fault() {
    let fake = Fake::plain(|_| {
        json(&json!({ "data": { "repository": {} },
            "errors": [{ "type": "RESOURCE_LIMITS_EXCEEDED", "message": "too much" }] }))
    })
    .await;
    let error = read(&fake.live(), &ReadKey::Tips { repo: repo(), number: 7 }).await.unwrap_err();
    assert!(matches!(&error, ReadError::Unavailable { reason, .. } if reason.contains("too much")));
    assert_eq!(fake.seen().len(), READ_TRIES);
}

#[tokio::test]
async fn a_reply_that_is_no_json_is_malformed_and_not_tried_again() {
    let fake = Fake::plain(|_| reply(200, &[], "<html>")).await;
    let error = read(&fake.live(), &comments()).await.unwrap_err();
    assert!(matches!(error, ReadError::Malformed { .. }), "{error}");
    assert_eq!(fake.seen().len(), 1);
}

#[tokio::test]
async fn enterprise_serves_rest_and_graphql_in_two_places() {
    let fake = Fake::plain(|_| not_found()).await;
    let token = Some(SecretString::from(TOKEN));
    let client = Arc::new(Client::with_token(&format!("{}/api/v3/", fake.url), token).unwrap());
    let live = quick(Live::new(client));
    let _ = read(&live, &ReadKey::Run { repo: repo(), id: 1 }).await;
    let _ = read(&live, &ReadKey::Tips { repo: repo(), number: 7 }).await;
    assert_eq!(fake.targets(), ["/api/v3/repos/octo/bench/actions/runs/1", "/api/graphql"]);
}
