//! One client an installation (or token).

use bytes::Bytes;
use secrecy::SecretString;

/// A reply, whatever its status below 500; rate limits and refusals are errors.
#[derive(Debug, Clone)]
pub struct Response {
    /// HTTP status: 2xx, 304, 404, 410, 422.
    pub status: u16,
    /// Its headers.
    pub headers: http::HeaderMap,
    /// The whole body, at most [`crate::limits::REPLY_BYTES`].
    pub body: Bytes,
}

/// Why a request gave no usable reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// 401, also after the token was renewed once.
    #[error("GitHub does not accept the credentials: {0}")]
    Unauthorized(String),
    /// 403 that is no rate limit.
    #[error("GitHub refused: {0}")]
    Forbidden(String),
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
    /// The App's private key; never says what is in it.
    #[error("the App's private key is no RSA key in PEM form: {0}")]
    Key(String),
    /// The HTTP client itself, e.g. no root certificates.
    #[error("no HTTP client could be made: {0}")]
    Http(String),
}

/// A client that carries one identity's credentials.
#[derive(Debug)]
pub struct Client {}

impl Client {
    /// A client with a personal or Actions token, or with none.
    ///
    /// # Errors
    /// Where the URL is no API host.
    pub fn with_token(_base_url: &str, _token: Option<SecretString>) -> Result<Self, SetupError> {
        Err(SetupError::Http("not built yet".into()))
    }

    /// `GET` of a route that starts with `/`, with an `Accept` value and perhaps an ETag. One try.
    ///
    /// # Errors
    /// As [`ApiError`] says.
    pub async fn get(
        &self,
        _route: &str,
        _accept: &str,
        _etag: Option<&str>,
    ) -> Result<Response, ApiError> {
        Err(ApiError::Unavailable("not built yet".into()))
    }

    /// `POST` or `PATCH` of JSON. One try: a writer must look before it writes again.
    ///
    /// # Errors
    /// As [`ApiError`] says.
    pub async fn send(
        &self,
        _method: http::Method,
        _route: &str,
        _body: &serde_json::Value,
    ) -> Result<Response, ApiError> {
        Err(ApiError::Unavailable("not built yet".into()))
    }

    /// A GraphQL query: its `data`; partial data with errors is an error. One try.
    ///
    /// # Errors
    /// As [`ApiError`] says.
    pub async fn graphql(
        &self,
        _query: &str,
        _variables: serde_json::Value,
    ) -> Result<serde_json::Value, ApiError> {
        Err(ApiError::Unavailable("not built yet".into()))
    }
}
