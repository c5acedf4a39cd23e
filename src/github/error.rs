//! What can go wrong with a request, told apart by what a caller does about it.

use std::fmt;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use http::{HeaderMap, StatusCode};

/// Seconds to wait after a rate limit that names no time (GitHub: "wait for at least one minute").
const UNNAMED_WAIT: TimeDelta = TimeDelta::seconds(60);
/// Characters of GitHub's message that an error repeats.
const MESSAGE_CHARS: usize = 300;

/// Why a request gave no usable reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// 401, also after the token was renewed once.
    #[error("GitHub does not accept the credentials: {0}")]
    Unauthorized(String),
    /// 403 that is no rate limit.
    #[error("GitHub refused: {0}")]
    Forbidden(Refusal),
    /// 403 or 429 with a limit; the RFC 3339 time at which to ask again.
    #[error("GitHub's rate limit is used up until {until}")]
    RateLimited {
        /// RFC 3339.
        until: String,
    },
    /// 5xx, a timeout, a broken or truncated reply.
    #[error("GitHub did not answer: {0}")]
    Unavailable(String),
    /// A body that is not what GitHub documents.
    #[error("GitHub's reply could not be read: {0}")]
    Malformed(String),
    /// A body past [`crate::limits::REPLY_BYTES`].
    #[error("GitHub's reply is larger than {0} bytes")]
    TooLarge(usize),
}

/// What GitHub says when it refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// GitHub's message.
    pub message: String,
    /// The permission that would be needed, as `name:level`, where GitHub names it.
    pub permission: Option<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.permission {
            Some(permission) => write!(f, " (needs `{permission}`)"),
            None => Ok(()),
        }
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self { message, permission: None }
    }
}

impl From<&str> for Refusal {
    fn from(message: &str) -> Self {
        Self::from(message.to_owned())
    }
}

/// Why a client could not be made: a setting is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The API's URL.
    #[error("`{url}` is no API host: {reason}; expected e.g. https://api.github.com")]
    Url {
        /// As given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The token; never says what is in it.
    #[error("the token holds characters that no token has (a line break, perhaps)")]
    Token,
    /// The App's private key; never says what is in it.
    #[error("the App's private key is no RSA key in PEM form: {0}")]
    Key(String),
    /// The HTTP client itself, e.g. no root certificates.
    #[error("no HTTP client could be made: {0}")]
    Http(String),
}

/// The error that a status stands for; `None` where the caller reads the reply.
pub(super) fn of_status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Option<ApiError> {
    match status {
        StatusCode::UNAUTHORIZED => Some(ApiError::Unauthorized(message(status, body))),
        StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS => {
            let message = message(status, body);
            Some(if is_limit(status, headers, &message) {
                ApiError::RateLimited { until: retry_at(headers) }
            } else {
                ApiError::Forbidden(Refusal { message, permission: accepted_permission(headers) })
            })
        }
        _ if status.is_server_error() => Some(ApiError::Unavailable(message(status, body))),
        _ => None,
    }
}

fn is_limit(status: StatusCode, headers: &HeaderMap, message: &str) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS
        || headers.contains_key(http::header::RETRY_AFTER)
        || header(headers, "x-ratelimit-remaining") == Some("0")
        // Secondary limits come as a plain 403 (GitHub: "Rate limits for the REST API").
        || message.to_ascii_lowercase().contains("rate limit")
}

/// When to ask again, by what the reply itself says; its `Date` stands for now, so that the same
/// reply always names the same time.
pub(super) fn retry_at(headers: &HeaderMap) -> String {
    let now = header(headers, "date")
        .and_then(|date| DateTime::parse_from_rfc2822(date).ok())
        .map_or_else(Utc::now, |date| date.to_utc());
    let after = number(headers, "retry-after")
        .and_then(TimeDelta::try_seconds)
        .and_then(|wait| now.checked_add_signed(wait));
    let reset = || {
        let used_up = header(headers, "x-ratelimit-remaining") == Some("0");
        let reset = number(headers, "x-ratelimit-reset").filter(|_| used_up)?;
        DateTime::from_timestamp(reset, 0).filter(|at| *at > now)
    };
    rfc3339(after.or_else(reset).unwrap_or(now + UNNAMED_WAIT))
}

pub(super) fn rfc3339(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// `x-accepted-github-permissions` in our spelling: the first alternative of `members=read; …`.
fn accepted_permission(headers: &HeaderMap) -> Option<String> {
    let accepted = header(headers, "x-accepted-github-permissions")?;
    let first = accepted.split(';').next()?.trim();
    (!first.is_empty()).then(|| first.replace('=', ":"))
}

pub(super) fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

pub(super) fn number(headers: &HeaderMap, name: &str) -> Option<i64> {
    header(headers, name)?.trim().parse().ok()
}

/// The status and GitHub's own message, where the body has one.
pub(super) fn message(status: StatusCode, body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Said {
        message: String,
    }
    match serde_json::from_slice::<Said>(body) {
        Ok(said) => {
            format!(
                "{}: {}",
                status.as_u16(),
                said.message.chars().take(MESSAGE_CHARS).collect::<String>()
            )
        }
        Err(_) => status.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (http::HeaderName::from_static(name), http::HeaderValue::from_static(value))
            })
            .collect()
    }

    const DATE: (&str, &str) = ("date", "Tue, 13 Oct 2026 08:00:00 GMT");

    fn limited(status: u16, pairs: &[(&'static str, &'static str)], body: &[u8]) -> String {
        match of_status(StatusCode::from_u16(status).unwrap(), &headers(pairs), body) {
            Some(ApiError::RateLimited { until }) => until,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_limit_names_its_time_by_the_reply_alone() {
        assert_eq!(limited(403, &[DATE, ("retry-after", "30")], b""), "2026-10-13T08:00:30Z");
        let reset = [DATE, ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1791883800")];
        assert_eq!(limited(403, &reset, b"{}"), "2026-10-13T09:30:00Z");
        assert_eq!(limited(429, &[DATE], b""), "2026-10-13T08:01:00Z");
        let secondary = br#"{"message": "You have exceeded a secondary rate limit."}"#;
        assert_eq!(limited(403, &[DATE], secondary), "2026-10-13T08:01:00Z");
    }

    #[test]
    fn a_reset_in_the_past_or_an_absurd_wait_still_waits_a_minute() {
        let past = [DATE, ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1000")];
        assert_eq!(limited(403, &past, b""), "2026-10-13T08:01:00Z");
        let absurd = [DATE, ("retry-after", "9223372036854775807")];
        assert_eq!(limited(429, &absurd, b""), "2026-10-13T08:01:00Z");
    }

    #[test]
    fn a_missing_permission_is_named() {
        let body = br#"{"message": "Resource not accessible by integration"}"#;
        let named =
            headers(&[("x-accepted-github-permissions", "members=read; administration=read")]);
        let Some(ApiError::Forbidden(refusal)) = of_status(StatusCode::FORBIDDEN, &named, body)
        else {
            panic!("no refusal");
        };
        assert_eq!(refusal.permission.as_deref(), Some("members:read"));
        assert_eq!(
            refusal.to_string(),
            "403: Resource not accessible by integration (needs `members:read`)"
        );
    }

    #[test]
    fn what_a_caller_reads_is_no_error() {
        for status in [200, 201, 204, 304, 404, 410, 422] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(of_status(status, &HeaderMap::new(), b""), None);
        }
    }
}
