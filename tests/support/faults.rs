//! What goes wrong, and requests that are held until a test lets them go.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::answer::Answer;
use super::auth::unix_now;
use super::spec::Fault;
use super::stand_in::PATIENCE;

/// Whether a request's line fits a pattern: `*` stands for anything, slashes too. The pattern may
/// leave the query out.
pub fn matches(pattern: &str, line: &str) -> bool {
    let without_query = line.split('?').next().unwrap_or(line);
    glob(pattern.as_bytes(), without_query.as_bytes()) || glob(pattern.as_bytes(), line.as_bytes())
}

fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && pattern[p] == text[t] {
            p += 1;
            t += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            p = at + 1;
            t = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// The faults of a case and those that a test added.
#[derive(Debug, Default)]
pub struct Faults {
    list: Mutex<Vec<Fault>>,
    holds: Mutex<Vec<Arc<Gate>>>,
}

impl Faults {
    /// Adds one; it comes after those that are there.
    pub fn add(&self, fault: Fault) {
        lock(&self.list).push(fault);
    }

    /// Everything that goes wrong with this request: delays add up, one status is answered.
    pub fn take(&self, line: &str) -> Vec<Fault> {
        let mut list = lock(&self.list);
        let mut hit = Vec::new();
        let mut answered = false;
        for fault in list.iter_mut() {
            let answers = fault.answers();
            if !matches(&fault.pattern, line) || fault.times == Some(0) || (answers && answered) {
                continue;
            }
            answered |= answers;
            if let Some(times) = &mut fault.times {
                *times -= 1;
            }
            hit.push(fault.clone());
        }
        hit
    }

    /// Holds requests that match: as many as `most`, or all of them.
    pub fn hold(&self, pattern: &str, most: Option<usize>) -> Hold {
        let gate = Arc::new(Gate {
            pattern: pattern.to_owned(),
            most,
            held: watch::Sender::new(0),
            open: watch::Sender::new(false),
        });
        lock(&self.holds).push(Arc::clone(&gate));
        Hold { gate }
    }

    /// Waits until nothing holds this request any more.
    pub async fn pass(&self, line: &str) {
        let gates: Vec<Arc<Gate>> = {
            let mut holds = lock(&self.holds);
            holds.retain(|gate| !*gate.open.borrow());
            holds.iter().filter(|gate| gate.takes(line)).map(Arc::clone).collect()
        };
        for gate in gates {
            let _ = gate.open.subscribe().wait_for(|open| *open).await;
        }
    }
}

impl Fault {
    /// Whether it answers in GitHub's place, and not only delays.
    pub fn answers(&self) -> bool {
        self.status.is_some()
            || self.rate_limited
            || self.body.is_some()
            || self.retry_after.is_some()
    }

    /// The answer that the client gets.
    pub fn answer(&self) -> Answer {
        let default = if self.rate_limited || self.retry_after.is_some() { 403 } else { 200 };
        let status = self.status.unwrap_or(default);
        let message = match status {
            _ if self.rate_limited => "API rate limit exceeded for installation.",
            403 | 429 if self.retry_after.is_some() => {
                "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
            }
            401 => "Bad credentials",
            403 => "Resource not accessible by integration",
            404 => "Not Found",
            500..=599 => "Server Error",
            _ => "A fault of the case",
        };
        let mut answer = match &self.body {
            Some(body) => Answer {
                status,
                ..Answer::bytes("application/json; charset=utf-8", body.clone().into_bytes())
            },
            None => Answer::message(status, message),
        };
        if let Some(seconds) = self.retry_after {
            answer = answer.with_header("retry-after", &seconds.to_string());
        }
        if self.rate_limited {
            let reset = unix_now() + i64::try_from(self.retry_after.unwrap_or(600)).unwrap_or(600);
            answer = answer
                .with_header("x-ratelimit-remaining", "0")
                .with_header("x-ratelimit-reset", &reset.to_string());
        }
        answer
    }
}

#[derive(Debug)]
struct Gate {
    pattern: String,
    most: Option<usize>,
    held: watch::Sender<usize>,
    open: watch::Sender<bool>,
}

impl Gate {
    /// Whether a request has to wait here; it is counted then.
    fn takes(&self, line: &str) -> bool {
        matches(&self.pattern, line)
            && self.held.send_if_modified(|held| {
                let takes = self.most.is_none_or(|most| *held < most);
                *held += usize::from(takes);
                takes
            })
    }
}

/// Requests that wait. They go on when this is released or dropped.
#[derive(Debug)]
pub struct Hold {
    gate: Arc<Gate>,
}

impl Hold {
    /// Waits until a request is held; see [`Hold::wait_until_held_by`].
    pub async fn wait_until_held(&self) {
        self.wait_until_held_by(1).await;
    }

    /// Waits until so many requests have been held.
    ///
    /// # Panics
    /// After [`PATIENCE`].
    pub async fn wait_until_held_by(&self, count: usize) {
        let mut seen = self.gate.held.subscribe();
        let held = tokio::time::timeout(PATIENCE, seen.wait_for(|held| *held >= count)).await;
        assert!(held.is_ok(), "still waiting for {count} of `{}`", self.gate.pattern);
    }

    /// How many requests have been held so far.
    pub fn held(&self) -> usize {
        *self.gate.held.borrow()
    }

    /// Lets them go, and every later one pass.
    pub fn release(self) {
        drop(self);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.gate.open.send_replace(true);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
