//! The GitHub App: who we are, where we are installed, and a client an installation.

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::SecretString;

use super::client::{ApiError, Client, SetupError};

/// The App's own name and number (`GET /app`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// GitHub's id of the App.
    pub id: i64,
    /// Its name in URLs; its comments are by `<slug>[bot]`.
    pub slug: String,
}

/// The GitHub App that we are.
#[derive(Debug)]
pub struct App {}

impl App {
    /// The App with that id and private key (PEM) at an API host. To be called inside a Tokio
    /// runtime.
    ///
    /// # Errors
    /// Where the URL or the key is none.
    pub fn new(_base_url: &str, _app_id: u64, _pem: SecretString) -> Result<Self, SetupError> {
        Err(SetupError::Url { url: String::new(), reason: String::new() })
    }

    /// The client of the installation that covers a repository; clients are shared between the
    /// repositories of one installation.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] where the App is not installed there.
    pub async fn client_for(&self, _owner: &str, _name: &str) -> Result<Arc<Client>, ApiError> {
        Err(ApiError::Unavailable("not built yet".into()))
    }

    /// Who we are; asked for once.
    ///
    /// # Errors
    /// As [`ApiError`] says.
    pub async fn identity(&self) -> Result<Identity, ApiError> {
        Err(ApiError::Unavailable("not built yet".into()))
    }

    /// The permissions of the installation that covers a repository, by name (`members` → `read`);
    /// `None` where the App is not installed there.
    ///
    /// # Errors
    /// As [`ApiError`] says.
    pub async fn grants(
        &self,
        _owner: &str,
        _name: &str,
    ) -> Result<Option<BTreeMap<String, String>>, ApiError> {
        Err(ApiError::Unavailable("not built yet".into()))
    }
}
