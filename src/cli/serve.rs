//! `countersign serve`.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::Exit;
use super::rules::LoadError;
use crate::config::{Config, ConfigError, ConfigErrors, Log, LogFormat};
use crate::github::App;
use crate::server::work::{Loaded, Verifications};
use crate::server::{Bounds, Probe, Readiness, Secrets, Server, Watched, Work};
use crate::sources::Outside;
use crate::store::{Store, StoreError};

/// Arguments of `serve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The configuration file [default: countersign.toml, where it exists]
    #[arg(long, value_name = "FILE", env = "COUNTERSIGN_CONFIG")]
    pub config: Option<PathBuf>,
}

/// Runs it until SIGTERM or SIGINT.
pub fn run(args: Args) -> Exit {
    let error = match load(args.config.as_deref()).map_err(anyhow::Error::from).and_then(serve) {
        Ok(()) => return Exit::Clean,
        Err(error) => error,
    };
    let input = error.is::<ConfigErrors>()
        || error.is::<LoadError>()
        || matches!(error.downcast_ref(), Some(StoreError::Address(_)));
    let text = format!("{error:#}");
    // Mistakes in rule files are drawn with the word already. Nobody is left to tell where standard
    // error is closed.
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let _ = writeln!(anstream::stderr(), "error: {text}");
    if input { Exit::BadInput } else { Exit::Undecided }
}

/// The configuration that the file and this process's environment give.
pub(super) fn load(file: Option<&Path>) -> Result<Config, ConfigErrors> {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Config::load(file, variables)
}

fn serve(config: Config) -> anyhow::Result<()> {
    log_to_standard_error(&config.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve_until_stopped(config))
}

async fn serve_until_stopped(config: Config) -> anyhow::Result<()> {
    let settings = config.app()?;
    if config.repositories.is_empty() {
        return Err(ConfigErrors(vec![ConfigError::NoRepository]).into());
    }
    let profiles = profiles(&config)?;
    let app = Arc::new(app(&config)?);
    let store = Store::open(&config.database_url).await?;
    let _tenure = store.take_over().await?;
    let server = Server {
        work: work(&config, &store, Arc::clone(&app), &profiles)?,
        secrets: Secrets::new(settings.webhook_secret, config.webhook.secret_previous.as_ref()),
        watched: watched(&config, &profiles),
        // The rules were read above, or there would be no server.
        readiness: Readiness::new(Box::new(|| Box::pin(async { Ok(()) })), credentials(app)),
        pages_token: config.pages_token.clone(),
        workers: config.workers,
        bounds: Bounds::default(),
        store,
    };
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("`listen`: {} cannot be listened on", config.listen))?;
    tracing::info!(listen = %config.listen, database = server.store.kind(), "serving");
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    server.run(listener, stop).await;
    Ok(())
}

/// What the workers do: assess and publish.
fn work(
    config: &Config,
    store: &Store,
    app: Arc<App>,
    profiles: &Profiles,
) -> anyhow::Result<Arc<dyn Work>> {
    let public_url = config.public_url.as_ref().map(ToString::to_string);
    let outside = Outside::new(config.registry_url.clone()).map_err(anyhow::Error::msg)?;
    let (store, profiles) = (store.clone(), profiles.clone());
    Ok(Arc::new(Verifications::new(app, store, outside, profiles, public_url, config.now)))
}

/// Profiles by repository, `owner/name` in lower case.
type Profiles = BTreeMap<String, Arc<Loaded>>;

/// The profile of every repository; one that serves several is read once.
///
/// # Errors
/// Every mistake in the rule files, drawn at its place.
pub(super) fn profiles(config: &Config) -> anyhow::Result<Profiles> {
    let mut by_name: BTreeMap<&str, Arc<Loaded>> = BTreeMap::new();
    let mut profiles = Profiles::new();
    for repository in &config.repositories {
        let name = repository.profile.as_str();
        let loaded = match by_name.get(name) {
            Some(loaded) => Arc::clone(loaded),
            None => {
                let rules = super::rules::load_named(name, config.rules.as_deref())
                    .map_err(|error| anyhow::Error::from(*error))?;
                let signoffs = rules.profile.reader()?;
                let loaded = Arc::new(Loaded { rules, signoffs });
                by_name.insert(name, Arc::clone(&loaded));
                loaded
            }
        };
        profiles.insert(repository.name.to_string().to_ascii_lowercase(), loaded);
    }
    Ok(profiles)
}

/// The repositories of the configuration, each with its profile's words.
fn watched(config: &Config, profiles: &Profiles) -> Watched {
    let mut watched = Watched::new(config.github.app_id);
    for (repository, loaded) in profiles {
        watched.add(repository, &loaded.rules.profile.settings);
    }
    watched
}

/// The App of the configuration. Inside a runtime only.
pub(super) fn app(config: &Config) -> anyhow::Result<App> {
    let settings = config.app()?;
    let url = config.github.api_url.as_str();
    Ok(App::new(url, settings.id, settings.private_key.clone())?)
}

/// Whether GitHub knows the App.
fn credentials(app: Arc<App>) -> Probe {
    Box::new(move || {
        let app = Arc::clone(&app);
        Box::pin(async move { app.identity().await.map(drop).map_err(|error| error.to_string()) })
    })
}

fn log_to_standard_error(log: &Log) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&log.filter)?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match log.format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().init(),
    }
    Ok(())
}
