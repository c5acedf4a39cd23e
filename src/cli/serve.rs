//! `countersign serve`.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::Exit;
use crate::config::{Config, ConfigError, ConfigErrors, Log, LogFormat};
use crate::server::{Bounds, Probe, Readiness, Secrets, Server, Watched, Work};
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
    let store = Store::open(&config.database_url).await?;
    let _tenure = store.take_over().await?;
    let server = Server {
        work: work(&config, &store)?,
        secrets: Secrets::new(app.webhook_secret, config.webhook.secret_previous.as_ref()),
        watched: watched(&config)?,
        // The rules were read above, or there would be no server.
        readiness: Readiness::new(Box::new(|| Box::pin(async { Ok(()) })), credentials(&config)),
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
fn work(_config: &Config, _store: &Store) -> anyhow::Result<Arc<dyn Work>> {
    bail!("not wired: the server does not know yet how to assess a pull request")
}

/// The repositories of the configuration, each with its profile's phrase.
fn watched(_config: &Config) -> anyhow::Result<Watched> {
    bail!("not wired: the server does not read profiles yet")
}

/// Whether GitHub knows the App.
fn credentials(_config: &Config) -> Probe {
    Box::new(|| Box::pin(async { Err("not wired: the credentials are not tried yet".into()) }))
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
