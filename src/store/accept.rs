//! Deliveries in: one transaction a delivery, and on SQLite one fsync for as many as wait.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::database::{Database, Tx};
use super::job::{self, Accepted, Delivery, NewJob, Trigger};
use super::{Store, StoreError};

/// Deliveries in one SQLite transaction. An fsync takes milliseconds and an insert tens of
/// microseconds, so that the last of a full batch waits little for the others.
const BATCH: usize = 64;

impl Store {
    /// Puts a delivery and its jobs on disk, in one transaction, and returns when they are. A GUID that
    /// is there already changes nothing: its job was queued the first time and survives until done.
    ///
    /// Where a job of the same pull request waits, the triggers are merged into it, it is due at
    /// once, and its tries are counted anew.
    ///
    /// # Errors
    /// When the store cannot be written; nothing was stored then.
    pub async fn accept(
        &self,
        delivery: Delivery,
        jobs: impl Into<Vec<NewJob>>,
    ) -> Result<Accepted, StoreError> {
        let jobs = jobs.into();
        match &self.inbox {
            Inbox::Grouped(sender) => {
                let (reply, answer) = oneshot::channel();
                let waiting = Waiting { delivery, jobs, reply };
                sender.send(waiting).await.map_err(|_| StoreError::Closed)?;
                answer.await.map_err(|_| StoreError::Closed)?
            }
            // PostgreSQL groups the commits of its connections by itself.
            Inbox::Direct => {
                let mut tx = self.database.write().await?;
                let accepted = insert(&mut tx, &delivery, &jobs).await?;
                tx.commit().await?;
                Ok(accepted)
            }
        }
    }
}

/// The way in.
#[derive(Debug, Clone)]
pub(super) enum Inbox {
    Grouped(mpsc::Sender<Waiting>),
    Direct,
}

impl Inbox {
    /// Starts the writer of an SQLite database; it ends when the last [`Store`] is dropped.
    pub(super) fn of(database: &Database) -> Self {
        match database {
            Database::Sqlite { .. } => {
                let (sender, receiver) = mpsc::channel(BATCH);
                tokio::spawn(write_groups(database.clone(), receiver));
                Self::Grouped(sender)
            }
            Database::Postgres(_) => Self::Direct,
        }
    }
}

/// A delivery whose sender waits for the answer.
#[derive(Debug)]
pub(super) struct Waiting {
    delivery: Delivery,
    jobs: Vec<NewJob>,
    reply: oneshot::Sender<Result<Accepted, StoreError>>,
}

impl Waiting {
    fn answer(self, answer: Result<Accepted, StoreError>) {
        // Nobody listens where the connection broke; what was stored stays stored.
        let _ = self.reply.send(answer);
    }
}

/// Takes what waits, at most [`BATCH`], into one transaction, and answers after its commit. While one
/// commit waits for the disk, the next group gathers.
async fn write_groups(database: Database, mut inbox: mpsc::Receiver<Waiting>) {
    let mut group = Vec::with_capacity(BATCH);
    while inbox.recv_many(&mut group, BATCH).await > 0 {
        match write_group(&database, &group).await {
            Ok(answers) => {
                for (waiting, accepted) in group.drain(..).zip(answers) {
                    waiting.answer(Ok(accepted));
                }
            }
            // What fails here (a full disk, a lock that stays) fails for all of them.
            Err(error) => {
                let error = Arc::new(error);
                for waiting in group.drain(..) {
                    waiting.answer(Err(StoreError::Group(Arc::clone(&error))));
                }
            }
        }
    }
}

async fn write_group(database: &Database, group: &[Waiting]) -> Result<Vec<Accepted>, StoreError> {
    let mut tx = database.write().await?;
    let mut answers = Vec::with_capacity(group.len());
    for waiting in group {
        answers.push(insert(&mut tx, &waiting.delivery, &waiting.jobs).await?);
    }
    tx.commit().await?;
    Ok(answers)
}

async fn insert(tx: &mut Tx, delivery: &Delivery, jobs: &[NewJob]) -> Result<Accepted, StoreError> {
    const DELIVERY: &str = "
        insert into delivery (guid, event, action, repository, body_sha256, received_at)
        values ($1, $2, $3, $4, $5, $6)
        on conflict (guid) do nothing";
    const FIRST: &str = "select body_sha256 from delivery where guid = $1";

    let values = [
        (&delivery.guid).into(),
        (&delivery.event).into(),
        delivery.action.as_deref().into(),
        (&delivery.repository).into(),
        (&delivery.body_sha256).into(),
        delivery.received_at.into(),
    ];
    if tx.execute(DELIVERY, &values).await? == 0 {
        let first = tx.row(FIRST, &[(&delivery.guid).into()]).await?;
        let same_body = match first {
            Some(row) => row.text("body_sha256")? == delivery.body_sha256,
            None => false,
        };
        return Ok(Accepted::Repeated { same_body });
    }
    for job in jobs {
        enqueue(tx, job, delivery.received_at).await?;
    }
    Ok(Accepted::New)
}

/// Queues a job, or merges it into the one that waits.
async fn enqueue(tx: &mut Tx, new: &NewJob, now: i64) -> Result<(), StoreError> {
    // The upsert locks the row that waits, so that nobody claims it between this and the union.
    const QUEUE: &str = "
        insert into job (repository, pull_request, status, triggers, run_at)
        values ($1, $2, 'queued', $3, $4)
        on conflict (repository, pull_request) where status = 'queued' do update set
            attempts = 0,
            run_at = case when job.run_at < excluded.run_at then job.run_at else excluded.run_at end
        returning id, triggers";
    const UNITE: &str = "update job set triggers = $2 where id = $1";

    let wanted = write_triggers(&new.triggers);
    let key = &new.key;
    let values = [(&key.repository).into(), key.number.into(), (&wanted).into(), now.into()];
    let Some(row) = tx.row(QUEUE, &values).await? else { return Ok(()) };
    let stored = row.text("triggers")?;
    if stored != wanted {
        let mut triggers = read_triggers(&stored)?;
        job::merge(&mut triggers, new.triggers.clone());
        let united = write_triggers(&triggers);
        if united != stored {
            tx.execute(UNITE, &[row.int("id")?.into(), (&united).into()]).await?;
        }
    }
    Ok(())
}

pub(super) fn write_triggers(triggers: &[Trigger]) -> String {
    serde_json::to_string(triggers).expect("strings and numbers are always JSON")
}

pub(super) fn read_triggers(text: &str) -> Result<Vec<Trigger>, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Unreadable { what: "job.triggers", reason: error.to_string() })
}
