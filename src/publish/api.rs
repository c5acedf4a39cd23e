//! What the writer needs of a client, and what can go wrong.

use futures_util::future::BoxFuture;
use http::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Conclusion;
use crate::github::{ApiError, Client, Response};

/// Reads that are not cached and writes that are not repeated.
pub trait Api: Send + Sync {
    /// `GET` of a route that starts with `/`. One try.
    fn get<'a>(&'a self, route: &'a str) -> BoxFuture<'a, Result<Response, ApiError>>;

    /// `POST` or `PATCH` of JSON. One try.
    fn send<'a>(
        &'a self,
        method: Method,
        route: &'a str,
        body: &'a Value,
    ) -> BoxFuture<'a, Result<Response, ApiError>>;

    /// `DELETE`. One try.
    fn delete<'a>(&'a self, route: &'a str) -> BoxFuture<'a, Result<Response, ApiError>>;

    /// The data of a GraphQL query. One try.
    fn graphql<'a>(
        &'a self,
        query: &'a str,
        variables: Value,
    ) -> BoxFuture<'a, Result<Value, ApiError>>;
}

impl Api for Client {
    fn get<'a>(&'a self, route: &'a str) -> BoxFuture<'a, Result<Response, ApiError>> {
        Box::pin(Client::get(self, route, "application/vnd.github+json", None))
    }

    fn send<'a>(
        &'a self,
        method: Method,
        route: &'a str,
        body: &'a Value,
    ) -> BoxFuture<'a, Result<Response, ApiError>> {
        Box::pin(Client::send(self, method, route, body))
    }

    fn delete<'a>(&'a self, route: &'a str) -> BoxFuture<'a, Result<Response, ApiError>> {
        Box::pin(Client::delete(self, route))
    }

    fn graphql<'a>(
        &'a self,
        query: &'a str,
        variables: Value,
    ) -> BoxFuture<'a, Result<Value, ApiError>> {
        Box::pin(Client::graphql(self, query, variables))
    }
}

/// Why something was not published. The verdict stands regardless.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// GitHub gave no usable reply.
    #[error("{what}: {error}")]
    Api {
        /// What was being done.
        what: String,
        /// Why it failed.
        error: ApiError,
    },
    /// GitHub answered and would not: 404, 410, 422.
    #[error("{what}: GitHub answered {status}: {message}")]
    Refused {
        /// What was being done.
        what: String,
        /// The HTTP status.
        status: u16,
        /// GitHub's words.
        message: String,
    },
    /// This verification's check run is finished with another conclusion. A finished run is never
    /// changed: begin the next one.
    #[error("check run {id} is finished as {conclusion}; a new verification needs a new check run")]
    Finished {
        /// The check run.
        id: i64,
        /// GitHub's word for its conclusion.
        conclusion: String,
    },
    /// Our own text without the hidden line by which it is found again.
    #[error("a text to publish has no hidden first line to be found by")]
    Unmarked,
}

impl PublishError {
    /// Whether the same publication may work later, when nothing else changes.
    pub fn retryable(&self) -> bool {
        match self {
            Self::Api { error, .. } => matches!(
                error,
                ApiError::Unavailable(_) | ApiError::RateLimited { .. } | ApiError::Malformed(_)
            ),
            Self::Refused { .. } | Self::Finished { .. } | Self::Unmarked => false,
        }
    }

    /// When to try again, RFC 3339, where GitHub said so.
    pub fn retry_at(&self) -> Option<&str> {
        match self {
            Self::Api { error: ApiError::RateLimited { until }, .. } => Some(until),
            _ => None,
        }
    }

    pub(super) fn finished(id: i64, conclusion: Option<String>) -> Self {
        Self::Finished { id, conclusion: conclusion.unwrap_or_else(|| "unknown".to_owned()) }
    }

    /// Whether the write may have worked although its answer was lost.
    pub(super) fn answer_lost(&self) -> bool {
        matches!(self, Self::Api { error: ApiError::Unavailable(_) | ApiError::Malformed(_), .. })
    }
}

impl Conclusion {
    /// Whether GitHub's word is this conclusion.
    pub(super) fn is(self, word: Option<&str>) -> bool {
        word == Some(self.as_str())
    }
}

/// The JSON of a reply in the 200s; anything else is an error that says what was being done.
pub(super) fn json<T: DeserializeOwned>(
    what: &str,
    reply: Result<Response, ApiError>,
) -> Result<T, PublishError> {
    let failed = |error| PublishError::Api { what: what.to_owned(), error };
    let reply = reply.map_err(failed)?;
    if !(200..300).contains(&reply.status) {
        return Err(PublishError::Refused {
            what: what.to_owned(),
            status: reply.status,
            message: message(&reply.body),
        });
    }
    serde_json::from_slice(&reply.body)
        .map_err(|error| failed(ApiError::Malformed(error.to_string())))
}

/// GitHub's own words about a refusal, bounded: they end in logs.
fn message(body: &[u8]) -> String {
    let words = serde_json::from_slice::<Value>(body).ok();
    let words = words.as_ref().and_then(|body| body.get("message")).and_then(Value::as_str);
    words.unwrap_or("no reason given").chars().take(crate::limits::VALUE_CHARS).collect()
}
