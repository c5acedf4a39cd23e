//! One client an identity: requests, replies and typed errors, one try each.
//!
//! The App's own calls and its tokens go through octocrab ([`super::app`]). What is sent with those
//! tokens goes through reqwest directly, because octocrab reads a body whole without a cap, keeps
//! the token from any host but api.github.com once an address is absolute (GitHub Enterprise's
//! GraphQL is), drops the data of a GraphQL reply that has errors, and hides a reply's headers from
//! typed calls.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use chrono::Utc;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use url::Url;

use super::app::Installation;
use super::budget::Budget;
use super::endpoint::Endpoint;
use super::error::{self, ApiError, Refusal, SetupError};
use crate::limits::{API_SECONDS, CONCURRENT_READS, REPLY_BYTES};

/// The version of the REST API whose shapes we read.
const API_VERSION: &str = "2022-11-28";
/// Seconds to connect; the rest of [`API_SECONDS`] is for the answer.
const CONNECT_SECONDS: u64 = 10;
/// Numbers the tokens of this process: two of them may see different things.
static TOKENS: AtomicU64 = AtomicU64::new(1);
/// Redirects on the API host that one read follows (a renamed repository needs one).
const REDIRECTS: usize = 3;

/// A reply, whatever its status below 500; rate limits and refusals are errors.
#[derive(Debug, Clone)]
pub struct Response {
    /// HTTP status: 2xx, 304, 404, 410, 422; 302 where a read is sent on to another host.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// The whole body, at most [`crate::limits::REPLY_BYTES`].
    pub body: Bytes,
}

/// A client that carries one identity's credentials.
pub struct Client {
    endpoint: Endpoint,
    http: reqwest::Client,
    credentials: Credentials,
    budget: Budget,
    reads: Semaphore,
    patience: Duration,
}

/// What a client shows to GitHub.
enum Credentials {
    Anonymous,
    /// A token, and its number among those of this process.
    Token(SecretString, u64),
    Installation(Box<Installation>),
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("host", &self.endpoint.rest())
            .field("identity", &self.identity())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client with a personal or Actions token, or with none.
    ///
    /// # Errors
    /// Where the URL is no API host, or the token cannot be one.
    pub fn with_token(base_url: &str, token: Option<SecretString>) -> Result<Self, SetupError> {
        let endpoint = Endpoint::parse(base_url)?;
        let http = http_client(&endpoint)?;
        let credentials = match token {
            Some(token) => {
                bearer(&token).ok_or(SetupError::Token)?;
                Credentials::Token(token, TOKENS.fetch_add(1, Ordering::Relaxed))
            }
            None => Credentials::Anonymous,
        };
        Ok(Self::new(endpoint, http, credentials))
    }

    /// The client of one installation of our App.
    pub(super) fn of_installation(
        endpoint: Endpoint,
        http: reqwest::Client,
        installation: Installation,
    ) -> Self {
        Self::new(endpoint, http, Credentials::Installation(Box::new(installation)))
    }

    fn new(endpoint: Endpoint, http: reqwest::Client, credentials: Credentials) -> Self {
        Self {
            endpoint,
            http,
            credentials,
            budget: Budget::default(),
            reads: Semaphore::new(CONCURRENT_READS),
            patience: Duration::from_secs(API_SECONDS),
        }
    }

    /// The same with another time for one request than [`API_SECONDS`].
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Whose credentials it carries: what one identity may see is not shown to another.
    pub fn identity(&self) -> String {
        match &self.credentials {
            Credentials::Anonymous => "anonymous".to_owned(),
            Credentials::Token(_, number) => format!("token {number}"),
            Credentials::Installation(installation) => {
                format!("installation {}", installation.id())
            }
        }
    }

    /// `GET` of a route that starts with `/`, with an `Accept` value and perhaps an ETag. One try.
    ///
    /// A redirect on the API host is followed (GitHub answers so for renamed repositories); one that
    /// leaves it comes back as it is, since credentials must not go there.
    ///
    /// # Errors
    /// As [`ApiError`] says.
    pub async fn get(
        &self,
        route: &str,
        accept: &str,
        etag: Option<&str>,
    ) -> Result<Response, ApiError> {
        let mut headers = accepting(accept)?;
        if let Some(etag) = etag {
            let etag = HeaderValue::from_str(etag)
                .map_err(|_| ApiError::Malformed("an ETag that is no header value".to_owned()))?;
            headers.insert(header::IF_NONE_MATCH, etag);
        }
        let _permit = self.reads.acquire().await;
        let mut url = self.url(route)?;
        for _ in 0..REDIRECTS {
            let response = self.request(Method::GET, url.clone(), &headers, None).await?;
            match self.redirect(&url, &response) {
                Some(next) => url = next,
                None => return Ok(response),
            }
        }
        Err(ApiError::Malformed(format!("{route} is redirected more than {REDIRECTS} times")))
    }

    /// `POST` or `PATCH` of JSON. One try: a writer must look before it writes again.
    ///
    /// # Errors
    /// As [`ApiError`] says.
    pub async fn send(
        &self,
        method: Method,
        route: &str,
        body: &Value,
    ) -> Result<Response, ApiError> {
        let url = self.url(route)?;
        self.request(method, url, &accepting("application/vnd.github+json")?, Some(body)).await
    }

    /// `DELETE` of a route. One try.
    ///
    /// # Errors
    /// As [`ApiError`] says.
    pub async fn delete(&self, route: &str) -> Result<Response, ApiError> {
        let url = self.url(route)?;
        self.request(Method::DELETE, url, &accepting("application/vnd.github+json")?, None).await
    }

    /// A GraphQL query: its `data`; partial data with errors is an error. One try.
    ///
    /// Errors of type `NOT_FOUND` alone are none: GitHub repeats by them what the `null` in the data
    /// says already.
    ///
    /// # Errors
    /// As [`ApiError`] says.
    pub async fn graphql(&self, query: &str, variables: Value) -> Result<Value, ApiError> {
        if matches!(self.credentials, Credentials::Anonymous) {
            // GitHub answers with a rate limit of 0, which sounds as if waiting would help.
            return Err(ApiError::Unauthorized("GraphQL needs a token; none was given".to_owned()));
        }
        let _permit = self.reads.acquire().await;
        let body = json!({ "query": query, "variables": variables });
        let headers = accepting("application/json")?;
        let url = self.endpoint.graphql();
        let response = self.request(Method::POST, url, &headers, Some(&body)).await?;
        graphql_data(&response)
    }

    /// Refuses where reads may take no more of an hourly budget (`core` or `graphql`), so that a
    /// verdict can still be published. [`Client::get`] does not ask: a publisher reads, too.
    ///
    /// # Errors
    /// [`ApiError::RateLimited`].
    pub fn check_budget(&self, resource: &str) -> Result<(), ApiError> {
        self.budget.check(resource, Utc::now())
    }

    fn url(&self, route: &str) -> Result<Url, ApiError> {
        self.endpoint
            .route(route)
            .ok_or_else(|| ApiError::Malformed(format!("`{route}` is no route of the API")))
    }

    fn redirect(&self, from: &Url, response: &Response) -> Option<Url> {
        if !matches!(response.status, 301 | 302 | 307 | 308) {
            return None;
        }
        let location = response.headers.get(header::LOCATION)?.to_str().ok()?;
        from.join(location).ok().filter(|url| self.endpoint.covers(url))
    }

    /// One request; repeated once with a new token where GitHub does not take the installation's,
    /// which may have been revoked before its time.
    async fn request(
        &self,
        method: Method,
        url: Url,
        headers: &HeaderMap,
        body: Option<&Value>,
    ) -> Result<Response, ApiError> {
        let token = match &self.credentials {
            Credentials::Anonymous => None,
            Credentials::Token(token, _) => Some(token.clone()),
            Credentials::Installation(installation) => Some(installation.token().await?),
        };
        let first = self.exchange(&method, &url, headers, body, token.as_ref()).await;
        match (&self.credentials, token, first) {
            (
                Credentials::Installation(installation),
                Some(stale),
                Err(ApiError::Unauthorized(_)),
            ) => {
                let token = installation.renew(&stale).await?;
                self.exchange(&method, &url, headers, body, Some(&token)).await
            }
            (_, _, outcome) => outcome,
        }
    }

    async fn exchange(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: Option<&Value>,
        token: Option<&SecretString>,
    ) -> Result<Response, ApiError> {
        let mut request = self
            .http
            .request(method.clone(), url.clone())
            .timeout(self.patience)
            .headers(headers.clone());
        if let Some(token) = token {
            let bearer = bearer(token)
                .ok_or_else(|| ApiError::Malformed("a token that is no header value".to_owned()))?;
            request = request.header(header::AUTHORIZATION, bearer);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let reply = request.send().await.map_err(|error| self.unavailable(&error))?;
        let (status, headers) = (reply.status(), reply.headers().clone());
        metrics::counter!("countersign_github_requests_total", "status" => status.as_u16().to_string())
            .increment(1);
        self.budget.note(&headers);
        let body = self.body(reply).await?;
        match error::of_status(status, &headers, &body) {
            Some(error) => Err(error),
            None => Ok(Response { status: status.as_u16(), headers, body }),
        }
    }

    async fn body(&self, mut reply: reqwest::Response) -> Result<Bytes, ApiError> {
        let announced = usize::try_from(reply.content_length().unwrap_or(0)).unwrap_or(usize::MAX);
        if announced > REPLY_BYTES {
            return Err(ApiError::TooLarge(REPLY_BYTES));
        }
        let mut body = BytesMut::with_capacity(announced);
        while let Some(chunk) = reply.chunk().await.map_err(|error| self.unavailable(&error))? {
            if body.len() + chunk.len() > REPLY_BYTES {
                return Err(ApiError::TooLarge(REPLY_BYTES));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    fn unavailable(&self, error: &reqwest::Error) -> ApiError {
        ApiError::Unavailable(if error.is_timeout() {
            format!("no answer within {} s", self.patience.as_secs_f32())
        } else {
            root_cause(error)
        })
    }
}

/// The HTTP client of one API host, shared by everything that speaks to it.
pub(super) fn http_client(endpoint: &Endpoint) -> Result<reqwest::Client, SetupError> {
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        // Ours to decide: credentials and signed links hang on it.
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .connect_timeout(Duration::from_secs(CONNECT_SECONDS))
        .timeout(Duration::from_secs(API_SECONDS));
    if endpoint.is_local() {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| SetupError::Http(root_cause(&error)))
}

/// The innermost cause: the outer ones say "error sending request" and repeat the address.
pub(super) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn bearer(token: &SecretString) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret())).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn accepting(accept: &str) -> Result<HeaderMap, ApiError> {
    let accept = HeaderValue::from_str(accept)
        .map_err(|_| ApiError::Malformed(format!("`{accept}` is no media type")))?;
    Ok(HeaderMap::from_iter([
        (header::ACCEPT, accept),
        (
            http::HeaderName::from_static("x-github-api-version"),
            HeaderValue::from_static(API_VERSION),
        ),
    ]))
}

#[derive(serde::Deserialize)]
struct GraphQlReply {
    #[serde(default)]
    data: Value,
    #[serde(default)]
    errors: Vec<GraphQlError>,
}

#[derive(serde::Deserialize)]
struct GraphQlError {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    message: String,
}

fn graphql_data(response: &Response) -> Result<Value, ApiError> {
    if response.status != 200 {
        let status = StatusCode::from_u16(response.status).unwrap_or_default();
        return Err(ApiError::Malformed(error::message(status, &response.body)));
    }
    let reply: GraphQlReply = serde_json::from_slice(&response.body)
        .map_err(|error| ApiError::Malformed(format!("GraphQL: {error}")))?;
    match reply.errors.into_iter().find(|error| error.kind != "NOT_FOUND") {
        None if reply.data.is_null() => Err(ApiError::Malformed("GraphQL: no data".to_owned())),
        None => Ok(reply.data),
        Some(error) => Err(match error.kind.as_str() {
            "RATE_LIMITED" => ApiError::RateLimited { until: error::retry_at(&response.headers) },
            "FORBIDDEN" | "INSUFFICIENT_SCOPES" => {
                ApiError::Forbidden(Refusal::from(error.message))
            }
            // Time-outs and exhausted resources come without a type or with one of their own.
            _ => ApiError::Unavailable(format!("GraphQL: {}", error.message)),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(body: &str) -> Result<Value, ApiError> {
        let headers = HeaderMap::from_iter([(
            header::DATE,
            HeaderValue::from_static("Tue, 13 Oct 2026 08:00:00 GMT"),
        )]);
        graphql_data(&Response { status: 200, headers, body: Bytes::from(body.to_owned()) })
    }

    #[test]
    fn graphql_errors_are_told_apart() {
        let partial = r#"{"data": {"a": 1}, "errors": [{"type": "NOT_FOUND", "message": "gone"},
            {"type": "RESOURCE_LIMITS_EXCEEDED", "message": "too much"}]}"#;
        assert_eq!(data(partial), Err(ApiError::Unavailable("GraphQL: too much".to_owned())));
        let gone =
            r#"{"data": {"nodes": [null]}, "errors": [{"type": "NOT_FOUND", "message": "x"}]}"#;
        assert_eq!(data(gone), Ok(json!({ "nodes": [null] })));
        let limit = r#"{"errors": [{"type": "RATE_LIMITED", "message": "x"}]}"#;
        let until = "2026-10-13T08:01:00Z".to_owned();
        assert_eq!(data(limit), Err(ApiError::RateLimited { until }));
        let refused = r#"{"errors": [{"type": "FORBIDDEN", "message": "no"}]}"#;
        assert_eq!(data(refused), Err(ApiError::Forbidden("no".into())));
        assert!(matches!(data("{}"), Err(ApiError::Malformed(_))));
        assert!(matches!(data(r#"{"data": {"a""#), Err(ApiError::Malformed(_))));
    }

    #[test]
    fn a_token_is_never_shown() {
        let token = SecretString::from("ghp_canary".to_owned());
        let client = Client::with_token("http://127.0.0.1:1", Some(token)).unwrap();
        let shown = format!("{client:?}");
        assert!(shown.starts_with(r#"Client { host: "http://127.0.0.1:1", identity: "token "#));
        assert!(!shown.contains("canary"), "{shown}");
        let broken = SecretString::from("ghp_canary\n".to_owned());
        let error = Client::with_token("http://127.0.0.1:1", Some(broken)).unwrap_err();
        assert_eq!(error, SetupError::Token);
        assert!(!format!("{error} {error:?}").contains("canary"));
    }
}
