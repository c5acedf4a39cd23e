//! Jobs out: claim, hold, finish, try again, set aside.

use super::accept::{read_triggers, write_triggers};
use super::database::Row;
use super::job::{self, Job, PullKey};
use super::{Store, StoreError};

/// What waits and what runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Jobs that wait.
    pub queued: i64,
    /// Jobs that a worker holds.
    pub running: i64,
    /// Jobs that were given up and stay for a person to look at.
    pub failed: i64,
    /// When the oldest waiting job was or is due, Unix milliseconds.
    pub oldest_due: Option<i64>,
}

impl Store {
    /// Takes the job that has been due for longest, and holds it until `lease_until`: a waiting one
    /// whose pull request has none running, or one whose holder let its lease run out.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn claim(&self, now: i64, lease_until: i64) -> Result<Option<Job>, StoreError> {
        // The same but for its lock: two replicas that look at once take two different jobs.
        const SQLITE: &str = "
            update job set status = 'running', attempts = attempts + 1, claim = claim + 1,
                           lease_until = $2, why = null
            where id = (
                select id from job as candidate
                where (status = 'running' and lease_until < $1)
                   or (status = 'queued' and run_at <= $1 and not exists (
                        select 1 from job as other
                        where other.status = 'running'
                          and other.repository = candidate.repository
                          and other.pull_request = candidate.pull_request))
                order by run_at, id limit 1)
            returning id, repository, pull_request, triggers, attempts, claim, progress";
        const POSTGRES: &str = "
            update job set status = 'running', attempts = attempts + 1, claim = claim + 1,
                           lease_until = $2, why = null
            where id = (
                select id from job as candidate
                where (status = 'running' and lease_until < $1)
                   or (status = 'queued' and run_at <= $1 and not exists (
                        select 1 from job as other
                        where other.status = 'running'
                          and other.repository = candidate.repository
                          and other.pull_request = candidate.pull_request))
                order by run_at, id limit 1
                for update skip locked)
            returning id, repository, pull_request, triggers, attempts, claim, progress";

        let mut tx = self.database.write().await?;
        let claim = self.database.either(SQLITE, POSTGRES);
        let Some(row) = tx.row(claim, &[now.into(), lease_until.into()]).await? else {
            return Ok(None);
        };
        let job = read_job(&row)?;
        tx.commit().await?;
        Ok(Some(job))
    }

    /// Holds a job for longer.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`], or a store that does not work.
    pub async fn extend(&self, job: &Job, lease_until: i64) -> Result<(), StoreError> {
        const EXTEND: &str = "
            update job set lease_until = $3 where id = $1 and claim = $2 and status = 'running'";
        let mut tx = self.database.write().await?;
        let touched =
            tx.execute(EXTEND, &[job.id.into(), job.claim.into(), lease_until.into()]).await?;
        held(job, touched)?;
        Ok(tx.commit().await?)
    }

    /// Keeps what the job must still know when it is run again, e.g. the number of its verification.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`], or a store that does not work.
    pub async fn save_state(
        &self,
        job: &mut Job,
        state: serde_json::Value,
    ) -> Result<(), StoreError> {
        const SAVE: &str = "
            update job set progress = $3 where id = $1 and claim = $2 and status = 'running'";
        let text = state.to_string();
        let mut tx = self.database.write().await?;
        let touched = tx.execute(SAVE, &[job.id.into(), job.claim.into(), (&text).into()]).await?;
        held(job, touched)?;
        tx.commit().await?;
        job.state = state;
        Ok(())
    }

    /// The job is done; it goes.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`], or a store that does not work.
    pub async fn finish(&self, job: &Job) -> Result<(), StoreError> {
        const FINISH: &str = "delete from job where id = $1 and claim = $2 and status = 'running'";
        let mut tx = self.database.write().await?;
        let touched = tx.execute(FINISH, &[job.id.into(), job.claim.into()]).await?;
        held(job, touched)?;
        Ok(tx.commit().await?)
    }

    /// The job waits again, until `run_at`. Where another of the same pull request came in meanwhile,
    /// the two become one: due when the earlier is, with the triggers of both and this one's saved
    /// state, its tries counted anew.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`], or a store that does not work.
    pub async fn retry(&self, job: &Job, run_at: i64, why: &str) -> Result<(), StoreError> {
        // The one that waits goes first: two waiting rows of a pull request would break the index.
        const ABSORB: &str = "
            delete from job where repository = $1 and pull_request = $2 and status = 'queued'
            returning run_at, triggers";
        const WAIT: &str = "
            update job set status = 'queued', lease_until = null, run_at = $3, why = $4,
                           triggers = $5, attempts = $6
            where id = $1 and claim = $2 and status = 'running'";

        let mut tx = self.database.write().await?;
        let (mut run_at, mut triggers, mut attempts) = (run_at, job.triggers.clone(), job.attempts);
        let key = [(&job.key.repository).into(), job.key.number.into()];
        if let Some(row) = tx.row(ABSORB, &key).await? {
            run_at = run_at.min(row.int("run_at")?);
            job::merge(&mut triggers, read_triggers(&row.text("triggers")?)?);
            attempts = 0;
        }
        let triggers = write_triggers(&triggers);
        let values = [
            job.id.into(),
            job.claim.into(),
            run_at.into(),
            why.into(),
            (&triggers).into(),
            attempts.into(),
        ];
        let touched = tx.execute(WAIT, &values).await?;
        held(job, touched)?;
        Ok(tx.commit().await?)
    }

    /// The job is given up; it stays, with the reason, until [`Store::prune`].
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`], or a store that does not work.
    pub async fn fail(&self, job: &Job, why: &str) -> Result<(), StoreError> {
        const FAIL: &str = "
            update job set status = 'failed', lease_until = null, why = $3
            where id = $1 and claim = $2 and status = 'running'";
        let mut tx = self.database.write().await?;
        let touched = tx.execute(FAIL, &[job.id.into(), job.claim.into(), why.into()]).await?;
        held(job, touched)?;
        Ok(tx.commit().await?)
    }

    /// When there may next be something to [`Store::claim`], Unix milliseconds.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn next_due(&self) -> Result<Option<i64>, StoreError> {
        const NEXT: &str = "
            select min(case status when 'running' then lease_until + 1 else run_at end) as due
            from job as candidate
            where status = 'running'
               or (status = 'queued' and not exists (
                    select 1 from job as other
                    where other.status = 'running'
                      and other.repository = candidate.repository
                      and other.pull_request = candidate.pull_request))";
        let mut tx = self.database.read().await?;
        Ok(match tx.row(NEXT, &[]).await? {
            Some(row) => row.maybe_int("due")?,
            None => None,
        })
    }

    /// What waits and what runs.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn backlog(&self) -> Result<Backlog, StoreError> {
        const COUNT: &str =
            "select status, count(*) as jobs, min(run_at) as oldest from job group by status";
        let mut backlog = Backlog::default();
        for row in self.database.read().await?.rows(COUNT, &[]).await? {
            let jobs = row.int("jobs")?;
            match row.text("status")?.as_str() {
                "queued" => {
                    backlog.queued = jobs;
                    backlog.oldest_due = row.maybe_int("oldest")?;
                }
                "running" => backlog.running = jobs,
                _ => backlog.failed = jobs,
            }
        }
        Ok(backlog)
    }

    /// Forgets deliveries and given-up jobs from before `before` (Unix milliseconds). GitHub
    /// redelivers for three days; verdicts are kept.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn prune(&self, before: i64) -> Result<(), StoreError> {
        let mut tx = self.database.write().await?;
        tx.execute("delete from delivery where received_at < $1", &[before.into()]).await?;
        tx.execute("delete from job where status = 'failed' and run_at < $1", &[before.into()])
            .await?;
        Ok(tx.commit().await?)
    }

    /// Makes every running job claimable at once.
    pub(super) async fn release_leases(&self) -> Result<(), StoreError> {
        let mut tx = self.database.write().await?;
        tx.execute("update job set lease_until = 0 where status = 'running'", &[]).await?;
        Ok(tx.commit().await?)
    }
}

fn held(job: &Job, touched: u64) -> Result<(), StoreError> {
    if touched == 0 { Err(StoreError::LeaseLost(job.id)) } else { Ok(()) }
}

fn read_job(row: &Row) -> Result<Job, StoreError> {
    let state = match row.maybe_text("progress")? {
        Some(text) => serde_json::from_str(&text).map_err(|error| StoreError::Unreadable {
            what: "job.progress",
            reason: error.to_string(),
        })?,
        None => serde_json::Value::Null,
    };
    Ok(Job {
        id: row.int("id")?,
        key: PullKey { repository: row.text("repository")?, number: row.int("pull_request")? },
        triggers: read_triggers(&row.text("triggers")?)?,
        attempts: row.int("attempts")?,
        state,
        claim: row.int("claim")?,
    })
}
