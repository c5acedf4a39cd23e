//! What one verification reads with: every key at most once, every reply typed.
//!
//! A reader belongs to one verification. It keeps each reply that was asked for, so that those who
//! ask for the same key at the same time share one read, the record holds what the verdict saw, and
//! `--timings` can show how deep the reads stood in one another.

mod typed;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use serde::Serialize;
use tokio::task::AbortHandle;

use super::{ReadError, ReadKey, Reply, Source};

type Outcome = Result<Reply, ReadError>;

/// When one key was read, for `--timings`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// The key as it is written in a record.
    pub key: String,
    /// Milliseconds from the reader's start to the start of the read.
    pub started_ms: u64,
    /// Milliseconds from the reader's start to its end.
    pub ended_ms: u64,
    /// What answered.
    pub from: ReadFrom,
    /// The round it stood in: one more than the highest round of the network reads that had ended
    /// before it began. What was held needs no round; it shows how many had gone before.
    pub round: u32,
    /// How often it was asked for; all but the first were answered from memory.
    pub asked: u32,
}

/// What answered a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadFrom {
    /// A request, perhaps answered by "not modified".
    Network,
    /// A cache, a clone or a record: nothing was sent.
    Held,
}

/// Reads for one verification.
pub struct Reader {
    source: Arc<dyn Source>,
    began: Instant,
    memory: Arc<Mutex<Memory>>,
}

#[derive(Default)]
struct Memory {
    reads: BTreeMap<ReadKey, Read>,
    rounds_ended: u32,
}

struct Read {
    outcome: Shared<BoxFuture<'static, Outcome>>,
    task: AbortHandle,
    from: ReadFrom,
    round: u32,
    asked: u32,
    started_ms: u64,
    /// The outcome again, and when it came, once it is there.
    ended: Option<(u64, Outcome)>,
}

impl Drop for Read {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("reads", &lock(&self.memory).reads.len()).finish()
    }
}

fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    // Whoever panicked left plain data behind, whole at every step.
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reader {
    /// A reader that has read nothing yet.
    pub fn new(source: Arc<dyn Source>) -> Self {
        Self { source, began: Instant::now(), memory: Arc::default() }
    }

    /// Reads one key: the first asker starts the read, later ones share it. A read that was started
    /// goes on when its asker is dropped, so that another one can still have it.
    ///
    /// # Errors
    /// As the source says.
    pub async fn read(&self, key: &ReadKey) -> Result<Reply, ReadError> {
        let outcome = {
            let mut memory = lock(&self.memory);
            let read = self.start(&mut memory, key);
            read.asked += 1;
            read.outcome.clone()
        };
        outcome.await
    }

    /// Starts reading keys that will probably be asked for, without waiting. What nobody asks for
    /// afterwards is neither in [`Reader::record`] nor in [`Reader::keys_read`].
    pub fn read_ahead(&self, keys: impl IntoIterator<Item = ReadKey>) {
        let mut memory = lock(&self.memory);
        for key in keys {
            self.start(&mut memory, &key);
        }
    }

    fn start<'m>(&self, memory: &'m mut Memory, key: &ReadKey) -> &'m mut Read {
        let rounds_ended = memory.rounds_ended;
        memory.reads.entry(key.clone()).or_insert_with(|| {
            let from = if self.source.holds(key) { ReadFrom::Held } else { ReadFrom::Network };
            let round = rounds_ended + u32::from(from == ReadFrom::Network);
            let began = self.began;
            let started_ms = millis(began);
            let (source, shared, owned) =
                (Arc::clone(&self.source), Arc::downgrade(&self.memory), key.clone());
            let task = tokio::spawn(async move {
                let outcome = source.read(&owned).await;
                if let Some(memory) = shared.upgrade() {
                    let mut memory = lock(&memory);
                    if from == ReadFrom::Network {
                        memory.rounds_ended = memory.rounds_ended.max(round);
                    }
                    if let Some(read) = memory.reads.get_mut(&owned) {
                        read.ended = Some((millis(began), outcome.clone()));
                    }
                }
                outcome
            });
            let abort = task.abort_handle();
            let what = key.to_string();
            let outcome = async move {
                task.await.unwrap_or_else(|error| {
                    Err(ReadError::Unavailable {
                        what,
                        reason: format!("the read broke off: {error}"),
                    })
                })
            };
            Read {
                outcome: outcome.boxed().shared(),
                task: abort,
                from,
                round,
                asked: 0,
                started_ms,
                ended: None,
            }
        })
    }

    /// The mutable keys that were asked for, in order: what a later verification of the same
    /// sign-off may read ahead.
    pub fn keys_read(&self) -> Vec<ReadKey> {
        lock(&self.memory)
            .reads
            .iter()
            .filter(|(key, read)| read.asked > 0 && !key.immutable())
            .filter(|(key, _)| !matches!(key, ReadKey::PullAtEnd { .. }))
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Everything that was asked for and has been answered, for the record.
    pub fn record(&self) -> Vec<(ReadKey, Result<Reply, ReadError>)> {
        lock(&self.memory)
            .reads
            .iter()
            .filter(|(_, read)| read.asked > 0)
            .filter_map(|(key, read)| Some((key.clone(), read.ended.as_ref()?.1.clone())))
            .collect()
    }

    /// When everything was read that was asked for, in the order in which the reads began.
    pub fn timings(&self) -> Vec<Timing> {
        let memory = lock(&self.memory);
        let mut timings: Vec<_> = memory
            .reads
            .iter()
            .filter(|(_, read)| read.asked > 0)
            .filter_map(|(key, read)| {
                Some(Timing {
                    key: key.to_string(),
                    started_ms: read.started_ms,
                    ended_ms: read.ended.as_ref()?.0,
                    from: read.from,
                    round: read.round,
                    asked: read.asked,
                })
            })
            .collect();
        timings.sort_by(|a, b| (a.started_ms, &a.key).cmp(&(b.started_ms, &b.key)));
        timings
    }
}

fn millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
