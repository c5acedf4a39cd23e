//! What is read from elsewhere than GitHub, without anybody's credentials; every other key goes on to
//! the source behind.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{Method, StatusCode, header};
use serde::Deserialize;
use url::Url;

use super::{ReadError, ReadKey, Reply, Source};
use crate::limits::{API_SECONDS, MANIFEST_BYTES};
use crate::profile::{Profile, Registry};

/// Seconds to connect.
const CONNECT_SECONDS: u64 = 10;
/// Tries after the first; nobody waits long for what ends in a note.
const AGAIN: usize = 1;
/// The pause before the second try, with jitter.
const BACKOFF: Duration = Duration::from_millis(500);
/// Every form in which a registry may hold an image (OCI image specification; Docker's own two).
const MANIFESTS: &str = "application/vnd.oci.image.index.v1+json, \
    application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, \
    application/vnd.docker.distribution.manifest.v2+json";
/// The header in which a registry names what it holds (OCI distribution specification).
pub(super) const MANIFEST_DIGEST: &str = "docker-content-digest";

/// The way to the world outside GitHub.
#[derive(Debug, Clone)]
pub struct Outside {
    http: reqwest::Client,
    registry_url: Option<Url>,
}

/// A source with the world outside GitHub before it.
struct Before {
    outside: Outside,
    registries: Vec<Registry>,
    behind: Arc<dyn Source>,
}

/// Why one request gave nothing.
enum Failed {
    /// It may go well by itself.
    Passing(String),
    Lasting(String),
}

impl Outside {
    /// `registry_url` stands in for every container registry.
    ///
    /// # Errors
    /// Where no HTTP client can be made.
    pub fn new(registry_url: Option<Url>) -> Result<Self, String> {
        let http = reqwest::Client::builder()
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
            // A registry answers about images where it is asked, and nowhere else.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(Duration::from_secs(CONNECT_SECONDS))
            .timeout(Duration::from_secs(API_SECONDS))
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { http, registry_url })
    }

    /// Puts itself before a source, for the places that a profile names.
    pub fn before(&self, behind: Arc<dyn Source>, profile: &Profile) -> Arc<dyn Source> {
        let registries = profile.settings.benchmark.as_ref().map(|of| of.registries.clone());
        let registries = registries.unwrap_or_default();
        Arc::new(Before { outside: self.clone(), registries, behind })
    }
}

impl Before {
    /// A manifest: with its body, or its digest alone.
    async fn manifest(&self, key: &ReadKey) -> Result<Reply, ReadError> {
        let ReadKey::Manifest { host, name, reference, whole, .. } = key else {
            return self.behind.read(key).await;
        };
        let unavailable = |reason: String| ReadError::Unavailable { what: key.to_string(), reason };
        if !plain(name) || !plain(reference) {
            return Err(unavailable("it is no reference of an image".to_owned()));
        }
        let registry = self.registries.iter().find(|registry| registry.host == *host);
        let registry = registry
            .ok_or_else(|| unavailable(format!("the profile names no registry `{host}`")))?;
        let (base, path) = match &self.outside.registry_url {
            Some(url) if registry.default => (url.as_str(), name.clone()),
            Some(url) => (url.as_str(), format!("{host}/{name}")),
            None => (registry.api.as_str(), name.clone()),
        };
        let url = format!("{}/v2/{path}/manifests/{reference}", base.trim_end_matches('/'));
        let token = registry.token.as_deref().filter(|_| self.outside.registry_url.is_none());
        let method = if *whole { Method::GET } else { Method::HEAD };
        let ask = || async {
            let token = match token {
                Some(service) => Some(self.token(service, name).await?),
                None => None,
            };
            self.ask(method.clone(), &url, token.as_deref()).await
        };
        let pauses = ExponentialBuilder::default()
            .with_min_delay(BACKOFF)
            .with_max_times(AGAIN)
            .with_jitter();
        let answer = ask.retry(pauses).when(|failed| matches!(failed, Failed::Passing(_))).await;
        answer.map_err(|(Failed::Passing(reason) | Failed::Lasting(reason))| unavailable(reason))
    }

    /// What a registry's token service gives to everybody (Docker's registry token specification).
    async fn token(&self, service: &str, name: &str) -> Result<String, Failed> {
        #[derive(Deserialize)]
        struct Answer {
            token: Option<String>,
            access_token: Option<String>,
        }
        let mut url = Url::parse(service)
            .map_err(|error| Failed::Lasting(format!("the profile's `token`: {error}")))?;
        url.query_pairs_mut().append_pair("scope", &format!("repository:{name}:pull"));
        let response = self.outside.http.get(url).send().await.map_err(|error| passing(&error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(refused("the registry's token service", status));
        }
        let answer: Answer = serde_json::from_slice(&body(response).await?)
            .map_err(|error| Failed::Lasting(format!("the registry's token service: {error}")))?;
        answer
            .token
            .or(answer.access_token)
            .ok_or_else(|| Failed::Lasting("the registry's token service gave no token".to_owned()))
    }

    async fn ask(&self, method: Method, url: &str, token: Option<&str>) -> Result<Reply, Failed> {
        let mut request = self.outside.http.request(method, url).header(header::ACCEPT, MANIFESTS);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.map_err(|error| passing(&error))?;
        let status = response.status();
        if !matches!(status, StatusCode::OK | StatusCode::NOT_FOUND) {
            return Err(refused("the registry", status));
        }
        let digest = response.headers().get(MANIFEST_DIGEST).and_then(|value| value.to_str().ok());
        let headers: BTreeMap<String, String> = digest
            .map(|digest| (MANIFEST_DIGEST.to_owned(), digest.to_owned()))
            .into_iter()
            .collect();
        // Something between us and the registry may answer for it.
        if status == StatusCode::OK && headers.is_empty() {
            return Err(Failed::Lasting("the reply names no digest".to_owned()));
        }
        let body = body(response).await?;
        let body = if status == StatusCode::OK { body } else { Bytes::new() };
        Ok(Reply { status: status.as_u16(), headers, body })
    }
}

/// Whether a name, tag or digest keeps its place in a URL: the characters of all three (OCI distribution
/// specification), and no part that would be resolved.
fn plain(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:+=".contains(&byte);
    text.bytes().all(known) && text.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

async fn body(mut response: reqwest::Response) -> Result<Bytes, Failed> {
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| passing(&error))? {
        if body.len() + chunk.len() > MANIFEST_BYTES {
            return Err(Failed::Lasting(format!("more than {MANIFEST_BYTES} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

fn refused(who: &str, status: StatusCode) -> Failed {
    let said = format!("{who} answered {status}");
    match status {
        StatusCode::TOO_MANY_REQUESTS => Failed::Passing(said),
        status if status.is_server_error() => Failed::Passing(said),
        _ => Failed::Lasting(said),
    }
}

/// The innermost cause; the outer ones repeat the address.
fn passing(error: &reqwest::Error) -> Failed {
    let mut cause: &(dyn std::error::Error + 'static) = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    Failed::Passing(cause.to_string())
}

impl Source for Before {
    fn read<'a>(&'a self, key: &'a ReadKey) -> BoxFuture<'a, Result<Reply, ReadError>> {
        self.manifest(key).boxed()
    }

    fn holds(&self, key: &ReadKey) -> bool {
        !matches!(key, ReadKey::Manifest { .. }) && self.behind.holds(key)
    }
}
