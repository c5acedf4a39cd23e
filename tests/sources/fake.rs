//! A server that answers what a test says, over real HTTP, and keeps what it was asked.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use countersign::github::Client;
use countersign::sources::live::Live;
use countersign::sources::{ReadError, ReadKey, Reply, RepoName, Source};
use futures_util::future::BoxFuture;
use secrecy::SecretString;
use serde_json::Value;

pub const TOKEN: &str = "ghp_canary";

/// One request as it came in.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    /// Path and query.
    pub target: String,
    pub authorization: Option<String>,
    pub if_none_match: Option<String>,
    pub body: Value,
}

impl Seen {
    /// `N` of `page=N`, where there is one.
    pub fn page(&self) -> usize {
        let number = self.target.split("&page=").nth(1);
        number.and_then(|number| number.parse().ok()).unwrap_or(1)
    }
}

/// A server on a port of its own; it ends with the test's runtime.
pub struct Fake {
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Fake {
    pub async fn start<A>(answer: A) -> Self
    where
        A: Fn(Seen) -> BoxFuture<'static, Response> + Clone + Send + Sync + 'static,
    {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let log = Arc::clone(&seen);
        let routes = Router::new().fallback(move |request: Request| {
            let (answer, log) = (answer.clone(), Arc::clone(&log));
            async move {
                let (parts, body) = request.into_parts();
                let body = to_bytes(body, 1 << 20).await.unwrap();
                let header = |name| Some(parts.headers.get(name)?.to_str().ok()?.to_owned());
                let seen = Seen {
                    method: parts.method.to_string(),
                    target: parts.uri.to_string(),
                    authorization: header("authorization"),
                    if_none_match: header("if-none-match"),
                    body: serde_json::from_slice(&body).unwrap_or_default(),
                };
                log.lock().unwrap().push(seen.clone());
                answer(seen).await
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { url, seen }
    }

    /// One that answers at once.
    pub async fn plain(answer: impl Fn(&Seen) -> Response + Clone + Send + Sync + 'static) -> Self {
        Self::start(move |seen| Box::pin(std::future::ready(answer(&seen)))).await
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn targets(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.target).collect()
    }

    pub fn client(&self) -> Arc<Client> {
        let token = SecretString::from(TOKEN);
        Arc::new(Client::with_token(&self.url, Some(token)).unwrap())
    }

    /// The live source on it, with pauses that a test does not notice.
    pub fn live(&self) -> Live {
        quick(Live::new(self.client()))
    }
}

pub fn quick(live: Live) -> Live {
    live.with_backoff(std::time::Duration::from_millis(1))
}

pub fn reply(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Response {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(body.into()).unwrap()
}

pub fn json(value: &Value) -> Response {
    reply(200, &[("content-type", "application/json")], value.to_string())
}

pub fn not_found() -> Response {
    reply(404, &[], r#"{"message": "Not Found"}"#)
}

pub fn repo() -> RepoName {
    "octo/bench".parse().unwrap()
}

pub fn sha(digit: char) -> String {
    digit.to_string().repeat(40)
}

pub fn comments() -> ReadKey {
    ReadKey::IssueComments { repo: repo(), number: 7 }
}

pub fn file(path: &str) -> ReadKey {
    ReadKey::File { repo: repo(), commit: sha('a'), path: path.to_owned() }
}

pub async fn read(source: &impl Source, key: &ReadKey) -> Result<Reply, ReadError> {
    source.read(key).await
}

/// The JSON of a reply that was found.
pub async fn found(source: &impl Source, key: &ReadKey) -> Value {
    let reply = source.read(key).await.unwrap();
    assert_eq!(reply.status, 200, "{key}");
    serde_json::from_slice(&reply.body).unwrap()
}
