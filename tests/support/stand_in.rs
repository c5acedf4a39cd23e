//! A running stand-in, as tests and the example hold it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::serve::ListenerExt as _;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::auth::{APP_ID, AppKey, PERSONAL_TOKEN, WEBHOOK_SECRET};
use super::case::Case;
use super::control;
use super::elsewhere::{HUB, PAGES, REGISTRY};
use super::faults::Hold;
use super::rounds::{Round, Rounds};
use super::server::{Host, Shared, serve};
use super::spec::Fault;
use super::webhook::Delivery;
use super::world::{Logged, World, Write};

/// How long a test waits for something that ought to happen.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How a stand-in runs.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Any free one by default.
    pub port: Option<u16>,
    /// Added to every answer.
    pub latency: Duration,
    /// Hold answers until no request has come for so long.
    pub rounds: Option<Duration>,
    /// Where deliveries go.
    pub webhook_url: Option<String>,
}

/// A stand-in that serves one case. It stops when it is dropped.
#[derive(Debug)]
pub struct StandIn {
    /// Its address, without a slash at the end.
    pub url: String,
    shared: Arc<Shared>,
    servers: Vec<JoinHandle<()>>,
    /// Holds the App's key file.
    folder: tempfile::TempDir,
}

impl StandIn {
    /// Serves a case on 127.0.0.1.
    ///
    /// # Panics
    /// Where the case is not whole: a test has nothing to say then.
    pub async fn start(case: Case, options: Options) -> Self {
        Self::try_start(case, options).await.unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// Serves the case of that name in `tests/cases/`.
    pub async fn serving(name: &str) -> Self {
        Self::start(Case::load(name), Options::default()).await
    }

    /// Serves a case, or says what is wrong with it.
    pub async fn try_start(case: Case, options: Options) -> anyhow::Result<Self> {
        let world = tokio::task::spawn_blocking(move || World::build(case)).await??;
        let rounds = options.rounds.map(Rounds::start);
        let shared = Arc::new(Shared::new(world, rounds, options.latency));
        let api = listen(options.port.unwrap_or(0)).await?;
        let storage = listen(0).await?;
        let url = format!("http://{}", api.local_addr()?);
        {
            let mut world = shared.world();
            world.url.clone_from(&url);
            world.storage_url = format!("http://{}", storage.local_addr()?);
            world.webhook_url = options.webhook_url;
        }
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("app.pem"), AppKey::get().pem())?;
        let servers = [(api, Host::Api), (storage, Host::Storage)]
            .map(|(listener, host)| spawn(listener, Arc::clone(&shared), host))
            .into();
        Ok(Self { url, shared, servers, folder })
    }

    /// The environment that points countersign at it.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let now = self.world().case.spec.now.clone();
        vec![
            ("COUNTERSIGN_GITHUB_API_URL", self.url.clone()),
            ("COUNTERSIGN_HUB_URL", format!("{}{HUB}", self.url)),
            ("COUNTERSIGN_REGISTRY_URL", format!("{}{REGISTRY}", self.url)),
            ("COUNTERSIGN_PAGES_URL", format!("{}{PAGES}", self.url)),
            ("COUNTERSIGN_GITHUB_APP_ID", APP_ID.to_string()),
            ("COUNTERSIGN_GITHUB_PRIVATE_KEY_FILE", self.key_file().display().to_string()),
            ("COUNTERSIGN_WEBHOOK_SECRET", WEBHOOK_SECRET.to_owned()),
            ("COUNTERSIGN_NOW", now),
            ("GITHUB_TOKEN", PERSONAL_TOKEN.to_owned()),
        ]
    }

    /// The file with the App's private key.
    pub fn key_file(&self) -> PathBuf {
        self.folder.path().join("app.pem")
    }

    /// A bare repository with the case's commits, as `--git-dir` takes it.
    pub fn git_dir(&self) -> PathBuf {
        self.world().history.git.path().to_owned()
    }

    /// The state, to look at or to change.
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.shared.world()
    }

    /// The SHA of an id of the case (`head`, `base`, …).
    ///
    /// # Panics
    /// Where the case has no such id.
    pub fn sha(&self, id: &str) -> String {
        let world = self.world();
        let sha = world.commit(id).unwrap_or_else(|| panic!("the case has no commit {id}"));
        world.history.spoken(&sha)
    }

    /// `https://github.com/…/pull/N`, as people paste it.
    pub fn pull_url(&self) -> String {
        let world = self.world();
        let spec = &world.case.spec;
        format!("https://github.com/{}/pull/{}", spec.repository, spec.pull_request.number)
    }

    /// Every write so far.
    pub fn writes(&self) -> Vec<Write> {
        self.world().writes.clone()
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Logged> {
        self.world().requests.clone()
    }

    /// The rounds so far, where it was started with rounds.
    pub fn rounds(&self) -> Vec<Round> {
        self.shared.rounds.as_ref().map(|rounds| rounds.so_far()).unwrap_or_default()
    }

    /// Moves the head of the pull request.
    pub fn push(&self, id: &str) {
        self.change(|world| world.push(id).map(drop));
    }

    /// Edits a comment.
    pub fn edit(&self, id: u64, body: &str, editor: &str) {
        self.change(|world| world.edit(id, body, editor));
    }

    /// Deletes a comment.
    pub fn delete(&self, id: u64) {
        self.change(|world| world.delete(id));
    }

    fn change(&self, change: impl FnOnce(&mut World) -> anyhow::Result<()>) {
        change(&mut self.world()).unwrap_or_else(|error| panic!("{error:#}"));
        self.shared.changes.send_modify(|n| *n += 1);
    }

    /// Makes every installation token die: the next request gets 401.
    pub fn expire_tokens(&self) {
        self.world().tokens.clear();
    }

    /// Where deliveries go from now on.
    pub fn send_deliveries_to(&self, url: &str) {
        self.world().webhook_url = Some(url.to_owned());
    }

    /// Sends a delivery (`{event, action, comment|review|head|check_run, sender}`) and gives
    /// `{guid, status, body}` of how it was received.
    ///
    /// # Panics
    /// Where it could not be built or sent.
    pub async fn deliver(&self, asked: &Value) -> Value {
        let answer = control::deliver(&self.shared, asked).await;
        let answer = answer.unwrap_or_else(|error| panic!("{error:#}"));
        serde_json::from_slice(&answer.body).expect("a control answer is JSON")
    }

    /// The body of a delivery, as a workflow's job finds it at `GITHUB_EVENT_PATH`; nothing is sent.
    ///
    /// # Panics
    /// Where it could not be built.
    pub fn payload(&self, asked: &Value) -> Vec<u8> {
        let built = Delivery::build(&mut self.world(), asked);
        built.unwrap_or_else(|error| panic!("{error:#}")).body
    }

    /// Holds every request that matches (`"GET /repos/*"`) until the handle lets it go.
    pub fn hold(&self, pattern: &str) -> Hold {
        self.shared.faults.hold(pattern, None)
    }

    /// Holds the next request that matches and no other. Like GitHub it is carried out once it is let
    /// go, even where whoever sent it is gone by then.
    pub fn hold_next(&self, pattern: &str) -> Hold {
        self.shared.faults.hold(pattern, Some(1))
    }

    /// Answers the next request that matches with an error; it is not carried out.
    pub fn fail_next(&self, pattern: &str, status: u16) {
        self.fault(Fault { status: Some(status), ..once(pattern) });
    }

    /// Carries the next request that matches out, but answers with an error.
    pub fn lose_next_answer(&self, pattern: &str, status: u16) {
        self.fault(Fault { status: Some(status), after: true, ..once(pattern) });
    }

    /// Lets anything go wrong.
    pub fn fault(&self, fault: Fault) {
        self.shared.faults.add(fault);
    }

    /// Waits until something holds, asking after each request and change.
    ///
    /// # Panics
    /// After [`PATIENCE`], with what was waited for.
    pub async fn until(&self, what: &str, mut holds: impl FnMut(&World) -> bool) {
        let mut changes = self.shared.changes.subscribe();
        let waiting = async {
            while !holds(&self.world()) {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
            panic!("still waiting: {what}; the writes so far: {:#?}", self.writes());
        }
    }

    /// Serves until it is stopped from outside.
    pub async fn run(mut self) {
        for server in std::mem::take(&mut self.servers) {
            let _ = server.await;
        }
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        for server in &self.servers {
            server.abort();
        }
    }
}

fn once(pattern: &str) -> Fault {
    Fault { pattern: pattern.to_owned(), times: Some(1), ..Fault::default() }
}

async fn listen(port: u16) -> anyhow::Result<TcpListener> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))
}

fn spawn(listener: TcpListener, shared: Arc<Shared>, host: Host) -> JoinHandle<()> {
    let app = Router::new()
        .fallback(serve)
        .layer(DefaultBodyLimit::max(64 << 20))
        .with_state((shared, host));
    tokio::spawn(async move {
        let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
        if let Err(error) = axum::serve(listener, app).await {
            eprintln!("the stand-in stopped serving: {error}");
        }
    })
}
