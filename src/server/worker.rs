//! Jobs are claimed, carried out and concluded. One task claims; each job runs in a task of its own.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use super::{now, telemetry};
use crate::limits::{JOB_STARTS, JOB_TRIES};
use crate::store::{Job, Store, StoreError};

/// What a worker does with a job.
pub trait Work: Send + Sync {
    /// Carries one job out. May be dropped at any await when the server stops or the job's lease is
    /// lost, and run again then: what it writes it must look for first.
    fn run(&self, job: Job) -> BoxFuture<'_, Outcome>;
}

/// How a run of a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Done,
    /// It has to be run again.
    Retry {
        /// Unix milliseconds.
        at: i64,
        /// What failed, for the log and the queue.
        why: String,
    },
    /// It is given up.
    Dropped {
        /// Why, for the log and the queue.
        why: String,
    },
}

/// However precise the wake-ups are, the queue is looked at this often: another replica's workers may
/// have died, or the clock may have been set.
const LOOK: Duration = Duration::from_secs(15);
/// After the store failed.
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// Before a run that panicked is tried again; doubles with each.
const PANIC_PAUSE_MS: i64 = 10_000;

/// The workers of one process.
#[derive(Clone)]
pub(super) struct Workers {
    pub(super) store: Store,
    pub(super) work: Arc<dyn Work>,
    pub(super) wake: Arc<Notify>,
    pub(super) count: usize,
    pub(super) lease: Duration,
    pub(super) shutdown: Duration,
}

impl Workers {
    /// Works until `stop` turns true; then waits for what runs, and puts back what does not end.
    pub(super) async fn run(self, stop: watch::Receiver<bool>) {
        let mut running = JoinSet::new();
        let mut stopping = stop.clone();
        while !*stop.borrow() {
            let free = running.len() < self.count;
            let look = match self.claim(free).await {
                Ok(Some(job)) => {
                    running.spawn(self.clone().carry_out(job, stop.clone()));
                    continue;
                }
                Ok(None) if free => self.until_due().await,
                Ok(None) => LOOK,
                Err(error) => {
                    tracing::error!(%error, "the queue cannot be read");
                    STORE_PAUSE
                }
            };
            tokio::select! {
                _ = stopping.wait_for(|stop| *stop) => {}
                () = self.wake.notified() => {}
                Some(_) = running.join_next() => {}
                () = tokio::time::sleep(look) => {}
            }
        }
        // Each run sees `stop` itself and ends within `shutdown`.
        while running.join_next().await.is_some() {}
    }

    async fn claim(&self, free: bool) -> Result<Option<Job>, StoreError> {
        if free { self.store.claim(now(), now() + self.lease_ms()).await } else { Ok(None) }
    }

    fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX / 2)
    }

    /// How long until something can be claimed.
    async fn until_due(&self) -> Duration {
        match self.store.next_due().await {
            Ok(Some(due)) => Duration::from_millis((due - now()).max(1).unsigned_abs()).min(LOOK),
            Ok(None) => LOOK,
            Err(error) => {
                tracing::error!(%error, "the queue cannot be read");
                STORE_PAUSE
            }
        }
    }

    async fn carry_out(self, job: Job, stop: watch::Receiver<bool>) {
        let started = Instant::now();
        let ended = if job.attempts > JOB_STARTS {
            Ended::By(Outcome::Dropped { why: format!("started {JOB_STARTS} times") })
        } else {
            tokio::select! {
                ended = self.attempt(&job) => ended,
                () = self.hold(&job) => Ended::Lost,
                () = self.patience(stop) => Ended::Stopped,
            }
        };
        let concluded = self.conclude(&job, &ended).await;
        telemetry::job(ended.label(), started.elapsed());
        let (key, attempt) = (job.key.to_string(), job.attempts);
        let (outcome, why) = (ended.label(), ended.why());
        let took_ms = started.elapsed().as_millis();
        match concluded {
            Ok(()) => tracing::info!(job = key, attempt, took_ms, outcome, why, "job"),
            // It stays leased, and is run again when the lease is over.
            Err(error) => {
                tracing::error!(job = key, attempt, took_ms, outcome, why, %error, "job not concluded");
            }
        }
    }

    async fn attempt(&self, job: &Job) -> Ended {
        let run = AssertUnwindSafe(async { self.work.run(job.clone()).await });
        match run.catch_unwind().await {
            Ok(outcome) => Ended::By(outcome),
            Err(_) => Ended::Panicked,
        }
    }

    /// Renews the lease for as long as the job runs; returns when it is somebody else's.
    async fn hold(&self, job: &Job) {
        loop {
            tokio::time::sleep(self.lease / 3).await;
            match self.store.extend(job, now() + self.lease_ms()).await {
                Ok(()) => {}
                Err(StoreError::LeaseLost(_)) => return,
                // Two more tries fit before the lease is over.
                Err(error) => tracing::warn!(job = %job.key, %error, "the lease is not renewed"),
            }
        }
    }

    async fn patience(&self, mut stop: watch::Receiver<bool>) {
        // An error means that the server is gone, which is a stop as well.
        let _ = stop.wait_for(|stop| *stop).await;
        tokio::time::sleep(self.shutdown).await;
    }

    async fn conclude(&self, job: &Job, ended: &Ended) -> Result<(), StoreError> {
        match ended {
            Ended::By(Outcome::Done) => self.store.finish(job).await,
            Ended::By(Outcome::Retry { at, why }) => self.store.retry(job, *at, why).await,
            Ended::By(Outcome::Dropped { why }) => self.store.fail(job, why).await,
            Ended::Panicked if job.attempts >= JOB_TRIES => {
                self.store.fail(job, "panicked; the log has the message").await
            }
            Ended::Panicked => {
                let doubled = PANIC_PAUSE_MS << (job.attempts - 1).clamp(0, 10);
                self.store.retry(job, now() + doubled, "panicked; the log has the message").await
            }
            Ended::Stopped => self.store.retry(job, now(), "the server stopped").await,
            Ended::Lost => Ok(()),
        }
    }
}

#[derive(Debug)]
enum Ended {
    By(Outcome),
    Panicked,
    /// The server stops and the job did not end in time.
    Stopped,
    /// Another worker took the job over.
    Lost,
}

impl Ended {
    fn label(&self) -> &'static str {
        match self {
            Self::By(Outcome::Done) => "done",
            Self::By(Outcome::Retry { .. }) => "retry",
            Self::By(Outcome::Dropped { .. }) => "dropped",
            Self::Panicked => "panic",
            Self::Stopped => "stopped",
            Self::Lost => "lost",
        }
    }

    /// The reason that the work gave, where it gave one.
    fn why(&self) -> Option<&str> {
        match self {
            Self::By(Outcome::Retry { why, .. } | Outcome::Dropped { why }) => Some(why),
            _ => None,
        }
    }
}
