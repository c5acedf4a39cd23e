//! Whether the server can do its work: the database, the rules, the credentials.

use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use crate::store::Store;

/// A question with an answer for people: `Err` says what is wrong, without secrets.
pub type Probe = Box<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// How long an answer is good for: an orchestrator asks every few seconds, and GitHub need not be.
const FRESH: Duration = Duration::from_secs(60);

/// What is asked beside the database.
pub struct Readiness {
    rules: Kept,
    credentials: Kept,
}

/// A probe and its last answer.
struct Kept {
    probe: Probe,
    last: Mutex<Option<(Instant, Result<(), String>)>>,
}

/// One line of the answer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) ok: bool,
    pub(super) reason: Option<String>,
}

impl Readiness {
    /// Each is asked at most once a minute.
    pub fn new(rules: Probe, credentials: Probe) -> Self {
        Self { rules: Kept::new(rules), credentials: Kept::new(credentials) }
    }

    /// Asks all of them; never fails.
    pub(super) async fn check(&self, store: &Store) -> Vec<Check> {
        let database = async {
            store.ready().await.map_err(|error| {
                // What a driver says can hold host names; the log has it.
                tracing::warn!(%error, "the database does not answer");
                format!("{} does not answer; the log says why", store.kind())
            })
        };
        let (database, rules, credentials) =
            tokio::join!(database, self.rules.answer(), self.credentials.answer());
        [("database", database), ("rules", rules), ("credentials", credentials)]
            .map(|(name, answer)| Check { name, ok: answer.is_ok(), reason: answer.err() })
            .into()
    }
}

impl Kept {
    fn new(probe: Probe) -> Self {
        Self { probe, last: Mutex::new(None) }
    }

    async fn answer(&self) -> Result<(), String> {
        let mut last = self.last.lock().await;
        if let Some((asked, answer)) = &*last
            && asked.elapsed() < FRESH
        {
            return answer.clone();
        }
        let answer = (self.probe)().await;
        *last = Some((Instant::now(), answer.clone()));
        answer
    }
}
