//! Counts how often a client waits: answers are held until it has gone quiet.
//!
//! With this on, the number of rounds is the depth of the client's reads, whatever the machine.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

/// One round: the requests that were answered together.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Round {
    pub round: usize,
    pub requests: Vec<String>,
}

/// The rounds of a server.
#[derive(Debug)]
pub struct Rounds {
    quiet: Duration,
    state: Mutex<State>,
    stirred: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Requests that came in and are not ready to be answered yet.
    working: usize,
    held: Vec<(String, oneshot::Sender<()>)>,
    rounds: Vec<Round>,
}

impl Rounds {
    /// Starts the task that lets answers go once no request has come for so long.
    pub fn start(quiet: Duration) -> Arc<Self> {
        let rounds = Arc::new(Self { quiet, state: Mutex::default(), stirred: Notify::new() });
        let weak = Arc::downgrade(&rounds);
        tokio::spawn(async move {
            while let Some(rounds) = weak.upgrade() {
                rounds.let_go_once().await;
            }
        });
        rounds
    }

    async fn let_go_once(&self) {
        let mut deadline = Instant::now() + self.quiet;
        loop {
            tokio::select! {
                () = self.stirred.notified() => deadline = Instant::now() + self.quiet,
                () = tokio::time::sleep_until(deadline) => break,
            }
        }
        let mut state = self.lock();
        if state.working > 0 || state.held.is_empty() {
            return;
        }
        let held = std::mem::take(&mut state.held);
        let mut requests: Vec<String> = held.iter().map(|(line, _)| line.clone()).collect();
        requests.sort();
        let round = state.rounds.len() + 1;
        state.rounds.push(Round { round, requests });
        for (_, answer) in held {
            let _ = answer.send(());
        }
    }

    /// Says that a request came in.
    pub fn arrived(&self) -> Working<'_> {
        self.lock().working += 1;
        self.stirred.notify_one();
        Working { rounds: self }
    }

    /// The rounds so far.
    pub fn so_far(&self) -> Vec<Round> {
        self.lock().rounds.clone()
    }

    /// Forgets them.
    pub fn reset(&self) {
        self.lock().rounds.clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is being worked on.
#[derive(Debug)]
pub struct Working<'a> {
    rounds: &'a Rounds,
}

impl Working<'_> {
    /// Holds the answer until the round is over.
    pub async fn hold(self, line: String) {
        let (answer, over) = oneshot::channel();
        self.rounds.lock().held.push((line, answer));
        drop(self);
        let _ = over.await;
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.rounds.lock().working -= 1;
        self.rounds.stirred.notify_one();
    }
}
