//! The server's settings: `countersign.toml` and environment variables, which win.
//!
//! One name serves both: `github.app_id` in the file is `COUNTERSIGN_GITHUB_APP_ID` in the environment.
//! A secret can also stand in a file of its own (`webhook.secret_file`, `COUNTERSIGN_WEBHOOK_SECRET_FILE`).
//! A name that is not known is an error, because a misspelt setting is one that silently is not set.

mod settings;

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use secrecy::SecretString;
use tracing_subscriber::EnvFilter;
use url::Url;

use crate::sources::RepoName;
use settings::Settings;

/// The file that is read where `--config` names none.
pub const FILE: &str = "countersign.toml";

/// Everything that can be set. Every setting has a default that runs on one machine, but for the
/// three of [`Config::app`].
#[derive(Debug)]
pub struct Config {
    /// `listen`: where the server answers. Default `127.0.0.1:8080`.
    pub listen: SocketAddr,
    /// `public_url`: how people reach it; links to reports are left out without it.
    pub public_url: Option<Url>,
    /// `workers`: pull requests verified side by side. Default 4.
    pub workers: usize,
    /// `database_url`. Default: the SQLite file `countersign.db` beside the configuration file.
    pub database_url: SecretString,
    /// `rules`: a folder of profiles, in place of the built-in ones.
    pub rules: Option<PathBuf>,
    /// `now`: the time that the rules see. For tests.
    pub now: Option<DateTime<Utc>>,
    /// `github.*`.
    pub github: GitHub,
    /// `webhook.*`.
    pub webhook: Webhook,
    /// `hub.url`: another model hub than the public one.
    pub hub_url: Option<Url>,
    /// `hub.token`: for models that are not open to everybody.
    pub hub_token: Option<SecretString>,
    /// `registry.url`: stands in for every container registry.
    pub registry_url: Option<Url>,
    /// `pages.url`: stands in for every host of published pages.
    pub pages_url: Option<Url>,
    /// `pages.token`: who sends it as a bearer token also sees private repositories.
    pub pages_token: Option<SecretString>,
    /// `log.*`.
    pub log: Log,
    /// `[[repository]]`: which repositories are served, by which profile.
    pub repositories: Vec<Repository>,
}

/// `github.*`.
#[derive(Debug)]
pub struct GitHub {
    /// `github.api_url`. Default `https://api.github.com`.
    pub api_url: Url,
    /// `github.app_id`: the App's number.
    pub app_id: Option<u64>,
    /// `github.private_key`: the App's key, as the PEM that GitHub gives.
    pub private_key: Option<SecretString>,
}

/// `webhook.*`.
#[derive(Debug)]
pub struct Webhook {
    /// `webhook.secret`: signs every delivery.
    pub secret: Option<SecretString>,
    /// `webhook.secret_previous`: still taken while the secret is being changed.
    pub secret_previous: Option<SecretString>,
}

/// `log.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// `log.filter`, as `tracing` reads it. Default `info`.
    pub filter: String,
    /// `log.format`. Default `text`.
    pub format: LogFormat,
}

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// One `[[repository]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// `owner/name`.
    pub name: RepoName,
    /// The profile's name: a folder of `rules`.
    pub profile: String,
}

/// Which profile serves which repository.
#[derive(Debug)]
pub struct Served {
    /// The file that says so.
    pub file: PathBuf,
    /// `rules`: a folder of profiles, in place of the built-in ones.
    pub rules: Option<PathBuf>,
    /// `[[repository]]`, in the order of the file.
    pub repositories: Vec<Repository>,
}

impl Served {
    /// The profile of a repository; GitHub does not tell names by their case.
    pub fn profile_of(&self, repo: &RepoName) -> Option<&str> {
        let name = repo.to_string();
        let served = |entry: &&Repository| entry.name.to_string().eq_ignore_ascii_case(&name);
        self.repositories.iter().find(served).map(|entry| entry.profile.as_str())
    }
}

/// What the server cannot do without.
#[derive(Debug)]
pub struct App<'a> {
    /// The App's number.
    pub id: u64,
    /// Its key, PEM.
    pub private_key: &'a SecretString,
    /// Signs deliveries.
    pub webhook_secret: &'a SecretString,
}

impl Config {
    /// Reads the file (`path`, else [`FILE`] in the working directory where it exists) and the
    /// variables that begin with `COUNTERSIGN_`. An empty variable counts as not set.
    ///
    /// # Errors
    /// Everything that is wrong, at once.
    pub fn load(
        path: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigErrors> {
        let mut settings = Settings::read(path, environment);
        let config = Self::from_settings(&mut settings);
        settings.finish(config)
    }

    fn from_settings(s: &mut Settings) -> Self {
        let database_url = s.secret("database_url").unwrap_or_else(|| {
            let file = s.folder().join("countersign.db");
            format!("sqlite://{}", file.display()).into()
        });
        Self {
            listen: s
                .parsed("listen", "an address with a port, e.g. 127.0.0.1:8080")
                .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8080))),
            public_url: s.url("public_url"),
            workers: s
                .parsed("workers", "a number from 1 to 64")
                .and_then(|n| s.within("workers", n, 1..=64))
                .unwrap_or(4),
            database_url: s.beside_the_file("database_url", database_url),
            rules: s.path("rules"),
            now: s.parsed("now", "a time as in RFC 3339, e.g. 2026-10-13T08:00:00Z"),
            github: GitHub {
                api_url: s.url("github.api_url").unwrap_or_else(public_api),
                app_id: s.parsed("github.app_id", "the App's number, from its settings page"),
                private_key: s.private_key("github.private_key"),
            },
            webhook: Webhook {
                secret: s.secret("webhook.secret"),
                secret_previous: s.secret("webhook.secret_previous"),
            },
            hub_url: s.url("hub.url"),
            hub_token: s.secret("hub.token"),
            registry_url: s.url("registry.url"),
            pages_url: s.url("pages.url"),
            pages_token: s.secret("pages.token"),
            log: Log {
                filter: s
                    .parsed("log.filter", "a filter such as `info,countersign=debug`")
                    .map_or_else(|| "info".to_owned(), |filter: EnvFilter| filter.to_string()),
                format: s
                    .one_of("log.format", &[("text", LogFormat::Text), ("json", LogFormat::Json)])
                    .unwrap_or(LogFormat::Text),
            },
            repositories: s.repositories(),
        }
    }

    /// Which profile serves which repository, without the rest of what a server needs: unlike
    /// [`Config::load`] it opens no file of a secret and passes over settings that it does not know.
    /// `None` where no file is named and none stands in the working directory.
    ///
    /// # Errors
    /// Everything that is wrong with what it reads, at once.
    pub fn served(
        path: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Option<Served>, ConfigErrors> {
        let Some(file) = settings::file(path) else { return Ok(None) };
        let mut settings = Settings::read_served(&file, environment);
        let (rules, repositories) = (settings.path("rules"), settings.repositories());
        settings.finish(Some(Served { file, rules, repositories }))
    }

    /// The three settings without which there is no server.
    ///
    /// # Errors
    /// All that are missing, with where they come from.
    pub fn app(&self) -> Result<App<'_>, ConfigErrors> {
        let (id, key, secret) =
            (self.github.app_id, &self.github.private_key, &self.webhook.secret);
        if let (Some(id), Some(private_key), Some(webhook_secret)) = (id, key, secret) {
            return Ok(App { id, private_key, webhook_secret });
        }
        let missing = [
            ("github.app_id", id.is_none(), "the number on the App's settings page"),
            ("github.private_key", key.is_none(), "the .pem file generated on that page"),
            ("webhook.secret", secret.is_none(), "the secret that was typed in on that page"),
        ];
        let errors = missing
            .into_iter()
            .filter(|(_, is_missing, _)| *is_missing)
            .map(|(name, _, what)| ConfigError::Missing { name, what })
            .collect();
        Err(ConfigErrors(errors))
    }
}

fn public_api() -> Url {
    Url::parse("https://api.github.com").expect("a constant that is a URL")
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The configuration file.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => write!(f, "the environment variable {name}"),
        }
    }
}

/// One thing wrong with the configuration. Values of secrets are never quoted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("{}: cannot be read ({reason}){}", path.display(), named_by(place.as_ref()))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What named it; the command line where absent.
        place: Option<Place>,
        /// What the operating system said.
        reason: String,
    },
    /// The file is not TOML.
    #[error("{}: is not TOML: {reason}", path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// With line and column.
        reason: String,
    },
    /// A name that is no setting.
    #[error("{place}: `{name}` is no setting{}", nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
    Unknown {
        /// As it is written there.
        name: String,
        /// Where.
        place: Place,
        /// The setting whose name is nearest.
        nearest: Option<String>,
    },
    /// A value that does not fit.
    #[error("{place}: `{name}` {problem}; expected {expected}")]
    Invalid {
        /// The setting.
        name: String,
        /// Where it was set.
        place: Place,
        /// What is wrong.
        problem: String,
        /// What would fit.
        expected: String,
    },
    /// Set twice, so that it is unclear which is meant.
    #[error("`{name}` is set by {first} and by {second}; remove one of them")]
    Twice {
        /// The setting.
        name: String,
        /// One.
        first: Place,
        /// The other.
        second: Place,
    },
    /// There is no `[[repository]]`.
    #[error("no repository is served; add a [[repository]] with `name` and `profile` to {FILE}")]
    NoRepository,
    /// Needed and not set.
    #[error(
        "`{name}` is not set; it is {what}. Set it in {FILE}, or as {}",
        settings::variable(name)
    )]
    Missing {
        /// The setting.
        name: &'static str,
        /// Where to find its value.
        what: &'static str,
    },
}

fn named_by(place: Option<&Place>) -> String {
    place.map(|place| format!("; {place} names it")).unwrap_or_default()
}

/// Everything wrong with the configuration, one line each.
#[derive(Debug, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, error) in self.0.iter().enumerate() {
            if n > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

#[cfg(test)]
mod tests;
