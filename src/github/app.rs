//! The GitHub App: who we are, where we are installed, and a client an installation.
//!
//! octocrab signs the App's JWT, speaks the App's own calls and mints installation tokens; its
//! retries and its cache are not built in.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use http::{HeaderMap, StatusCode};
use moka::future::Cache;
use octocrab::Octocrab;
use octocrab::models::{AppId, InstallationId};
use percent_encoding::utf8_percent_encode;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::{Mutex, OnceCell};

use super::client::{Client, http_client, root_cause};
use super::endpoint::Endpoint;
use super::error::{self, ApiError, SetupError};
use crate::limits::PATH_ESCAPES;

/// A token is renewed this long before it expires, so that none ends in the middle of a
/// verification.
const RENEW_BEFORE: TimeDelta = TimeDelta::minutes(5);
/// How long it is believed which installation covers a repository: an App that was taken off and
/// put on again has another.
const INSTALLATION_FOR: Duration = Duration::from_secs(600);
/// Repositories and installations that are kept at once.
const KEPT: u64 = 10_000;

/// The App's own name and number (`GET /app`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Identity {
    /// GitHub's id of the App.
    pub id: i64,
    /// Its name in URLs; its comments are by `<slug>[bot]`.
    pub slug: String,
    /// What it asks for, by permission (`members` → `read`).
    #[serde(default)]
    pub permissions: BTreeMap<String, String>,
    /// The events that it is told of.
    #[serde(default)]
    pub events: Vec<String>,
}

/// The GitHub App that we are.
pub struct App {
    endpoint: Endpoint,
    http: reqwest::Client,
    crab: Octocrab,
    id: u64,
    identity: OnceCell<Identity>,
    installations: Cache<String, u64>,
    clients: Cache<u64, Arc<Client>>,
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("host", &self.endpoint.rest())
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct InstallationWire {
    id: u64,
    #[serde(default)]
    permissions: BTreeMap<String, String>,
}

impl App {
    /// The App with that id and private key (PEM) at an API host. To be called inside a Tokio
    /// runtime: octocrab starts a task there.
    ///
    /// # Errors
    /// Where the URL is no API host or the key is none.
    pub fn new(base_url: &str, app_id: u64, pem: SecretString) -> Result<Self, SetupError> {
        let endpoint = Endpoint::parse(base_url)?;
        let http = http_client(&endpoint)?;
        let wrong_key = |error: octocrab::Error| SetupError::Key(root_cause(&error));
        let crab = Octocrab::builder()
            .base_uri(endpoint.rest())
            .map_err(|error| SetupError::Url {
                url: base_url.to_owned(),
                reason: root_cause(&error),
            })?
            .app_from_rsa_pem(AppId(app_id), pem.expose_secret())
            .map_err(wrong_key)?
            .build_with_reqwest(http.clone())
            .map_err(|error| SetupError::Http(root_cause(&error)))?;
        Ok(Self {
            endpoint,
            http,
            crab,
            id: app_id,
            identity: OnceCell::new(),
            installations: Cache::builder()
                .max_capacity(KEPT)
                .time_to_live(INSTALLATION_FOR)
                .build(),
            clients: Cache::new(KEPT),
        })
    }

    /// The App's id, as it was given.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The client of the installation that covers a repository; clients are shared between the
    /// repositories of one installation.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] where the App is not installed there.
    pub async fn client_for(&self, owner: &str, name: &str) -> Result<Arc<Client>, ApiError> {
        let repo = format!("{owner}/{name}").to_lowercase();
        let id = self
            .installations
            .try_get_with(repo, async {
                match self.installation(owner, name).await? {
                    Some(installation) => Ok(installation.id),
                    None => Err(ApiError::Forbidden(
                        format!("the App is not installed on {owner}/{name}").into(),
                    )),
                }
            })
            .await
            .map_err(Arc::unwrap_or_clone)?;
        let made = async {
            let installation = Installation::new(self.crab.clone(), id)?;
            let (endpoint, http) = (self.endpoint.clone(), self.http.clone());
            Ok(Arc::new(Client::of_installation(endpoint, http, installation)))
        };
        self.clients.try_get_with(id, made).await.map_err(Arc::unwrap_or_clone)
    }

    /// Who we are; asked for once.
    ///
    /// # Errors
    /// As [`ApiError`] says.
    pub async fn identity(&self) -> Result<Identity, ApiError> {
        self.identity.get_or_try_init(|| self.ask("/app")).await.cloned()
    }

    /// The permissions of the installation that covers a repository, by name (`members` → `read`);
    /// `None` where the App is not installed there. Asked for every time: they change.
    ///
    /// # Errors
    /// As [`ApiError`] says.
    pub async fn grants(
        &self,
        owner: &str,
        name: &str,
    ) -> Result<Option<BTreeMap<String, String>>, ApiError> {
        Ok(self.installation(owner, name).await?.map(|installation| installation.permissions))
    }

    async fn installation(
        &self,
        owner: &str,
        name: &str,
    ) -> Result<Option<InstallationWire>, ApiError> {
        let route = format!(
            "/repos/{}/{}/installation",
            utf8_percent_encode(owner, PATH_ESCAPES),
            utf8_percent_encode(name, PATH_ESCAPES)
        );
        match self.crab.get::<InstallationWire, _, ()>(route, None).await {
            Ok(installation) => Ok(Some(installation)),
            Err(octocrab::Error::GitHub { source, .. })
                if source.status_code == StatusCode::NOT_FOUND =>
            {
                Ok(None)
            }
            Err(error) => Err(of_octocrab(&error)),
        }
    }

    async fn ask<T: DeserializeOwned>(&self, route: &str) -> Result<T, ApiError> {
        self.crab.get::<T, _, ()>(route, None).await.map_err(|error| of_octocrab(&error))
    }
}

/// One installation and its token.
pub(super) struct Installation {
    app: Octocrab,
    id: InstallationId,
    /// The one flight of minting: octocrab alone would mint one token for each request that finds
    /// none.
    crab: Mutex<Octocrab>,
}

impl Installation {
    fn new(app: Octocrab, id: u64) -> Result<Self, ApiError> {
        let id = InstallationId(id);
        let crab = app.installation(id).map_err(|error| of_octocrab(&error))?;
        Ok(Self { app, id, crab: Mutex::new(crab) })
    }

    pub(super) fn id(&self) -> u64 {
        self.id.0
    }

    /// The token, minted where there is none or it ends soon.
    pub(super) async fn token(&self) -> Result<SecretString, ApiError> {
        mint(&*self.crab.lock().await).await
    }

    /// Another token than one that GitHub does not take any more.
    pub(super) async fn renew(&self, stale: &SecretString) -> Result<SecretString, ApiError> {
        let mut crab = self.crab.lock().await;
        let token = mint(&crab).await?;
        if token.expose_secret() != stale.expose_secret() {
            return Ok(token); // Somebody else renewed it meanwhile.
        }
        *crab = self.app.installation(self.id).map_err(|error| of_octocrab(&error))?;
        mint(&crab).await
    }
}

async fn mint(crab: &Octocrab) -> Result<SecretString, ApiError> {
    crab.installation_token_with_buffer(RENEW_BEFORE).await.map_err(|error| of_octocrab(&error))
}

/// An error of the App's own calls in our words.
fn of_octocrab(error: &octocrab::Error) -> ApiError {
    match error {
        octocrab::Error::GitHub { source, .. } => {
            let none = HeaderMap::new();
            let headers = source.headers.as_ref().unwrap_or(&none);
            let body = serde_json::json!({ "message": source.message }).to_string();
            error::of_status(source.status_code, headers, body.as_bytes()).unwrap_or_else(|| {
                // An installation that was taken off or suspended.
                ApiError::Forbidden(error::message(source.status_code, body.as_bytes()).into())
            })
        }
        octocrab::Error::Json { .. } | octocrab::Error::Serde { .. } => {
            // Not repeated: what could not be read may hold a token.
            ApiError::Malformed("a reply to the App is not what GitHub documents".to_owned())
        }
        octocrab::Error::JWT { .. } => ApiError::Unauthorized(root_cause(error)),
        other => ApiError::Unavailable(root_cause(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wrong_key_is_refused_and_not_shown() {
        for pem in
            ["canary", "-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----"]
        {
            let error = App::new("http://127.0.0.1:1", 1, SecretString::from(pem)).unwrap_err();
            assert!(matches!(error, SetupError::Key(_)), "{error}");
            assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
        }
    }
}
