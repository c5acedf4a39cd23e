//! `countersign serve`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::Exit;
use super::rules::LoadError;
use crate::config::{self, Config, ConfigError, ConfigErrors, Log, LogFormat, Repository};
use crate::github::{App, SetupError};
use crate::profile;
use crate::rules::RuleSet;
use crate::server::work::{Loaded, Verifications};
use crate::server::{Bounds, Probe, Readiness, Secrets, Server, Watched};
use crate::sources::rule_files;
use crate::store::Store;

/// Arguments of `serve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The configuration file [default: countersign.toml, where it exists]
    #[arg(long, value_name = "FILE", env = "COUNTERSIGN_CONFIG")]
    pub config: Option<PathBuf>,
}

/// Runs it until SIGTERM or SIGINT.
pub fn run(args: Args) -> Exit {
    let error = match load(&args).map_err(anyhow::Error::from).and_then(serve) {
        Ok(()) => return Exit::Clean,
        Err(error) => error,
    };
    // Nobody is left to tell where standard error is closed.
    let _ = writeln!(anstream::stderr(), "error: {error:#}");
    if error.is::<ConfigErrors>() { Exit::BadInput } else { Exit::Undecided }
}

/// The configuration that these arguments and this process's environment give.
pub(super) fn load(args: &Args) -> Result<Config, ConfigErrors> {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Config::load(args.config.as_deref(), variables)
}

fn serve(config: Config) -> anyhow::Result<()> {
    log_to_standard_error(&config.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve_until_stopped(config))
}

async fn serve_until_stopped(config: Config) -> anyhow::Result<()> {
    let app = config.app()?;
    if config.repositories.is_empty() {
        return Err(ConfigErrors(vec![ConfigError::NoRepository]).into());
    }
    let github = Arc::new(github(&config, &app)?);
    let profiles = profiles(&config)?;
    let store = Store::open(&config.database_url).await?;
    let _tenure = store.take_over().await?;
    let server = Server {
        work: Arc::new(Verifications::new(
            Arc::clone(&github),
            store.clone(),
            by_repository(&config, &profiles),
            config.public_url.as_ref().map(ToString::to_string),
            config.now,
        )),
        secrets: Secrets::new(app.webhook_secret, config.webhook.secret_previous.as_ref()),
        watched: watched(&config, app.id, &profiles),
        // The rules were read above, or there would be no server.
        readiness: Readiness::new(Box::new(|| Box::pin(async { Ok(()) })), credentials(github)),
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

/// The App that the configuration names.
pub(super) fn github(config: &Config, app: &config::App<'_>) -> Result<App, SetupError> {
    App::new(config.github.api_url.as_str(), app.id, app.private_key.clone())
}

/// Every profile that the configuration names, by name: from its folder of profiles where one is
/// set, else those that are built in.
pub(super) fn profiles(config: &Config) -> anyhow::Result<BTreeMap<String, Arc<Loaded>>> {
    let names: BTreeSet<&str> = config.repositories.iter().map(|r| r.profile.as_str()).collect();
    names
        .into_iter()
        .map(|name| Ok((name.to_owned(), Arc::new(load_profile(config, name)?))))
        .collect()
}

fn load_profile(config: &Config, name: &str) -> anyhow::Result<Loaded> {
    let files = match &config.rules {
        Some(folder) => rule_files::read_dir(&folder.join(name))?,
        None => profile::builtin(name).with_context(|| {
            let names = profile::builtin_names().join(", ");
            format!(
                "no profile `{name}` is built in; there are {names}, or set `rules` to a folder"
            )
        })?,
    };
    match RuleSet::from_files(name, &files) {
        Ok(rules) => {
            let signoffs = rules.profile.reader()?;
            Ok(Loaded { rules, signoffs })
        }
        Err(found) => {
            let mistakes = LoadError::Mistakes { files, found }.render();
            Err(anyhow!("the rules of the profile `{name}` have mistakes\n{mistakes}"))
        }
    }
}

fn by_repository(
    config: &Config,
    profiles: &BTreeMap<String, Arc<Loaded>>,
) -> BTreeMap<String, Arc<Loaded>> {
    let of = |repository: &Repository| {
        let loaded = profiles.get(&repository.profile)?;
        Some((repository.name.to_string().to_ascii_lowercase(), Arc::clone(loaded)))
    };
    config.repositories.iter().filter_map(of).collect()
}

/// The repositories that are served, each with the phrase that opens a sign-off there.
fn watched(config: &Config, app_id: u64, profiles: &BTreeMap<String, Arc<Loaded>>) -> Watched {
    let mut watched = Watched::new(Some(app_id));
    for (repository, loaded) in by_repository(config, profiles) {
        watched.add(&repository, &loaded.rules.profile.settings.signoff.phrase);
    }
    watched
}

/// Whether GitHub knows the App.
fn credentials(github: Arc<App>) -> Probe {
    Box::new(move || {
        let github = Arc::clone(&github);
        Box::pin(
            async move { github.identity().await.map(|_| ()).map_err(|error| error.to_string()) },
        )
    })
}

fn log_to_standard_error(log: &Log) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&log.filter)?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match log.format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().init(),
    }
    Ok(())
}
