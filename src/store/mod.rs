//! What has to survive a crash: accepted deliveries, the queue of jobs, the history of verdicts.
//!
//! SQLite by default (one process, one file), PostgreSQL for several replicas. Every operation is
//! written once, in SQL that both understand (`database` is the whole difference), and takes the
//! time from its caller: no statement reads a clock.
//!
//! The promises that the rest is built on:
//! - [`Store::accept`] returns after delivery and job are on disk, in one transaction.
//! - At most one job of a pull request waits and at most one runs. What comes in meanwhile is merged
//!   into the one that waits; no trigger is lost.
//! - A job that a crashed process held is run again. A worker whose job was taken over is told so
//!   ([`StoreError::LeaseLost`]) by whatever it does next with it.

mod accept;
mod database;
mod history;
mod job;
mod queue;

pub use history::VerdictRow;
pub use job::{Accepted, Ask, Delivery, Job, NewJob, PullKey, SignOffRef, Trigger};
pub use queue::Backlog;

use database::Database;
use secrecy::{ExposeSecret, SecretString};

/// Why the store did not do what was asked. The messages are whole: none has a source that repeats it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The address names no database that we know. Never quotes the address: it can hold a password.
    #[error("the database address {0}; expected `sqlite://PATH` or `postgres://USER@HOST/NAME`")]
    Address(String),
    /// It cannot be opened.
    #[error("the database cannot be opened: {0}")]
    Open(sqlx::Error),
    /// A newer version of countersign wrote it.
    #[error(
        "the database has migration {0}, which this version does not know: a newer version wrote \
         it; run that one, or restore the backup made before the upgrade"
    )]
    Newer(i64),
    /// Its schema cannot be brought up to date.
    #[error("the database's schema cannot be brought up to date: {0}")]
    Migrate(sqlx::migrate::MigrateError),
    /// Another process serves from the same SQLite file.
    #[error(
        "another process serves from this database (it holds `{0}`); one SQLite file has one \
         server, several replicas need PostgreSQL"
    )]
    InUse(String),
    /// It does not answer, or refuses to write.
    #[error("the database does not work: {0}")]
    Database(sqlx::Error),
    /// The transaction that a delivery shared with others failed.
    #[error("{0}")]
    Group(std::sync::Arc<StoreError>),
    /// The job was finished or taken over by somebody else.
    #[error("job {0} is no longer held: its lease ran out and it was taken over")]
    LeaseLost(i64),
    /// A row that this program cannot have written.
    #[error("the database holds an unreadable {what}: {reason}")]
    Unreadable {
        /// Which column.
        what: &'static str,
        /// What the parser said.
        reason: String,
    },
    /// The writer has ended; only while the process goes down.
    #[error("the store is shutting down")]
    Closed,
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

/// The open database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    database: Database,
    inbox: accept::Inbox,
}

impl Store {
    /// Opens `sqlite://PATH` (created where it is missing) or `postgres://…` and brings the schema up
    /// to date, on one connection, before any other is opened: a pooled connection that still has
    /// the old schema would refuse the upserts.
    ///
    /// # Errors
    /// An address of another kind, a database that cannot be opened or is newer than this program.
    pub async fn open(address: &SecretString) -> Result<Self, StoreError> {
        let database = Database::open(address.expose_secret()).await?;
        let inbox = accept::Inbox::of(&database);
        Ok(Self { database, inbox })
    }

    /// Claims the database for a server that starts now. On SQLite the server is alone: jobs that a
    /// crashed one left running are due at once, and a second server is refused for as long as the
    /// returned guard lives. On PostgreSQL the leases of other replicas are theirs until they run out.
    ///
    /// # Errors
    /// [`StoreError::InUse`], or a database that does not work.
    pub async fn take_over(&self) -> Result<Tenure, StoreError> {
        let lock = self.database.lock()?;
        if lock.is_some() {
            self.release_leases().await?;
        }
        Ok(Tenure { _lock: lock })
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.database.read().await?.rows("select count(*) from verification", &[]).await?;
        Ok(())
    }

    /// `SQLite` or `PostgreSQL`, for people.
    pub fn kind(&self) -> &'static str {
        self.database.kind()
    }
}

/// Held by the one server of an SQLite file; the operating system releases it when the process ends,
/// however it ends.
#[derive(Debug)]
pub struct Tenure {
    _lock: Option<std::fs::File>,
}
