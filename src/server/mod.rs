//! The webhook server: a door that acknowledges deliveries once they are on disk, and workers that
//! carry the jobs out.
//!
//! ```text
//! delivery ─► door (size, signature, meaning) ─► store ─► 202        workers ─► Work
//!                                                  └──────── wake ──────┘
//! ```
//! What a job *is* stands behind [`Work`]; nothing here knows about verdicts.

mod body;
mod door;
pub mod event;
mod listen;
mod pages;
mod ready;
mod signature;
mod telemetry;
pub mod work;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post};
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

pub use event::Watched;
pub use ready::{Probe, Readiness};
pub use signature::Secrets;
pub use worker::{Outcome, Work};

use crate::limits::{
    CONNECTIONS, HEADER_SECONDS, JOB_LEASE_SECONDS, REQUEST_SECONDS, SHUTDOWN_SECONDS,
    WEBHOOK_BYTES_AT_ONCE,
};
use crate::store::Store;

/// A server that is put together and not yet running.
pub struct Server {
    /// Queue and history.
    pub store: Store,
    /// What the workers do.
    pub work: Arc<dyn Work>,
    /// Signs deliveries.
    pub secrets: Secrets,
    /// Which deliveries mean something.
    pub watched: Watched,
    /// What `/readyz` asks beside the database.
    pub readiness: Readiness,
    /// Who sends it sees private repositories.
    pub pages_token: Option<SecretString>,
    /// Jobs carried out side by side.
    pub workers: usize,
    /// How long things may take.
    pub bounds: Bounds,
}

/// Bounds of connections, requests and jobs; [`Default`] is what `limits.rs` says.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Reading a request's headers, and how long a connection may idle.
    pub headers: Duration,
    /// Reading a body; answering.
    pub request: Duration,
    /// Connections at once.
    pub connections: usize,
    /// Bytes of bodies at once.
    pub body_bytes: usize,
    /// How long a worker holds a job before it has to say that it lives.
    pub lease: Duration,
    /// What is in flight gets this long when the server is asked to stop.
    pub shutdown: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            headers: Duration::from_secs(HEADER_SECONDS),
            request: Duration::from_secs(REQUEST_SECONDS),
            connections: CONNECTIONS,
            body_bytes: WEBHOOK_BYTES_AT_ONCE,
            lease: Duration::from_secs(JOB_LEASE_SECONDS.unsigned_abs()),
            shutdown: Duration::from_secs(SHUTDOWN_SECONDS),
        }
    }
}

impl Server {
    /// Serves until `stop` completes: then no connection is accepted any more, requests in flight are
    /// answered, and jobs that do not end in time go back to the queue.
    pub async fn run(self, listener: TcpListener, stop: impl Future<Output = ()>) {
        let wake = Arc::new(Notify::new());
        let metrics = telemetry::install();
        let (stopping, stopped) = watch::channel(false);

        let workers = worker::Workers {
            store: self.store.clone(),
            work: self.work,
            wake: Arc::clone(&wake),
            count: self.workers,
            lease: self.bounds.lease,
            shutdown: self.bounds.shutdown,
        };
        let door = Arc::new(door::Door {
            store: self.store.clone(),
            secrets: self.secrets,
            watched: self.watched,
            wake,
            bodies: body::Bodies::new(self.bounds.body_bytes, self.bounds.request),
        });
        let house = Arc::new(pages::House {
            store: self.store.clone(),
            readiness: self.readiness,
            token: self.pages_token,
            metrics: metrics.clone(),
        });
        let router = routes(door, house, self.bounds.request);

        let upkeep = tokio::spawn(telemetry::upkeep(metrics, self.store));
        let working = tokio::spawn(workers.run(stopped.clone()));
        let listening = tokio::spawn(listen::serve(listener, router, self.bounds, stopped));
        stop.await;
        tracing::info!("stopping: no new connections; what is in flight is finished");
        // Both receivers live in the tasks above.
        let _ = stopping.send(true);
        let ended = tokio::join!(listening, working);
        upkeep.abort();
        if let Err(error) = ended.0.and(ended.1) {
            tracing::error!(%error, "a part of the server did not end by itself");
        }
        tracing::info!("stopped");
    }
}

fn routes(door: Arc<door::Door>, house: Arc<pages::House>, request: Duration) -> Router {
    Router::new()
        .route("/", get(pages::index))
        .route("/healthz", get(pages::healthz))
        .route("/readyz", get(pages::readyz))
        .route("/metrics", get(pages::metrics))
        .route("/api/verdicts/{id}", get(pages::verdict))
        .with_state(house)
        .route("/webhook", post(door::webhook).with_state(door))
        .fallback(pages::missing)
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, request * 2))
        .layer(CatchPanicLayer::new())
}

/// Unix milliseconds. The queue runs on the real clock; `now` of the configuration is what rules see.
fn now() -> i64 {
    chrono::Utc::now().timestamp_millis()
}
