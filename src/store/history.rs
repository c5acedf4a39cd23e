//! Verdicts and the numbers of verifications.

use super::database::Row;
use super::{Store, StoreError};

/// A verdict as it was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictRow {
    /// `id` of its JSON.
    pub id: String,
    /// `owner/name`.
    pub repository: String,
    /// Whether the repository was private then; its verdicts are shown to holders of the token only.
    pub private: bool,
    /// The pull request's number.
    pub number: i64,
    /// `kind/id` of the sign-off ([`super::SignOffRef`]).
    pub signoff_key: String,
    /// The assessed commit, 40 hex digits.
    pub commit: String,
    /// `APPROVED`, `REJECTED`, `UNDECIDED` or `NOT_REQUIRED`.
    pub outcome: String,
    /// The whole verdict (`countersign/verdict/v1`).
    pub json: String,
    /// Unix milliseconds.
    pub created_at: i64,
}

impl Store {
    /// The next number of a verification of one commit, for the check run's external id
    /// `v1/<repository id>/<pull request>/<commit>/<n>`: at least 1, and more than `after`. A job keeps its number in its
    /// state ([`Store::save_state`]), so that a retry finds the check run that it made.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn next_number(
        &self,
        repository_id: i64,
        pull_request: i64,
        commit: &str,
        after: i64,
    ) -> Result<i64, StoreError> {
        const NEXT: &str = "
            insert into verification (repository_id, pull_request, commit_sha, last)
            values ($1, $2, $3, cast($4 as bigint) + 1)
            on conflict (repository_id, pull_request, commit_sha)
            do update set last =
                case when verification.last < cast($4 as bigint) then cast($4 as bigint)
                     else verification.last end + 1
            returning last";
        let mut tx = self.database.write().await?;
        let values = [repository_id.into(), pull_request.into(), commit.into(), after.into()];
        let Some(row) = tx.row(NEXT, &values).await? else {
            return Err(sqlx::Error::RowNotFound.into());
        };
        let number = row.int("last")?;
        tx.commit().await?;
        Ok(number)
    }

    /// Whether a pull request was greeted.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn is_greeted(&self, repository_id: i64, number: i64) -> Result<bool, StoreError> {
        const GREETED: &str =
            "select pull_request from greeting where repository_id = $1 and pull_request = $2";
        let mut tx = self.database.read().await?;
        Ok(tx.row(GREETED, &[repository_id.into(), number.into()]).await?.is_some())
    }

    /// Remembers that a pull request was greeted.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn record_greeting(&self, repository_id: i64, number: i64) -> Result<(), StoreError> {
        const GREET: &str = "
            insert into greeting (repository_id, pull_request) values ($1, $2)
            on conflict (repository_id, pull_request) do nothing";
        let mut tx = self.database.write().await?;
        tx.execute(GREET, &[repository_id.into(), number.into()]).await?;
        Ok(tx.commit().await?)
    }

    /// Appends a verdict. Where it is already the newest of its sign-off, nothing changes, so that a
    /// retried job does not double it.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn record_verdict(&self, verdict: &VerdictRow) -> Result<(), StoreError> {
        const RECORD: &str = "
            insert into verdict (id, repository, private, pull_request, signoff, commit_sha,
                                 outcome, json, created_at)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let mut tx = self.database.write().await?;
        let newest = tx
            .row(
                LATEST,
                &[
                    (&verdict.repository).into(),
                    verdict.number.into(),
                    (&verdict.signoff_key).into(),
                ],
            )
            .await?;
        if let Some(row) = newest
            && row.text("id")? == verdict.id
        {
            return Ok(());
        }
        let values = [
            (&verdict.id).into(),
            (&verdict.repository).into(),
            i64::from(verdict.private).into(),
            verdict.number.into(),
            (&verdict.signoff_key).into(),
            (&verdict.commit).into(),
            (&verdict.outcome).into(),
            (&verdict.json).into(),
            verdict.created_at.into(),
        ];
        tx.execute(RECORD, &values).await?;
        Ok(tx.commit().await?)
    }

    /// The newest verdict of one sign-off, whatever commit it assessed.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn latest_verdict(
        &self,
        repository: &str,
        number: i64,
        signoff_key: &str,
    ) -> Result<Option<VerdictRow>, StoreError> {
        let values = [repository.into(), number.into(), signoff_key.into()];
        let mut tx = self.database.read().await?;
        tx.row(LATEST, &values).await?.as_ref().map(read_verdict).transpose()
    }

    /// The newest verdict of one sign-off that approved or rejected, whatever commit it assessed.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn latest_concluded(
        &self,
        repository: &str,
        number: i64,
        signoff_key: &str,
    ) -> Result<Option<VerdictRow>, StoreError> {
        const CONCLUDED: &str = "
            select * from verdict where repository = $1 and pull_request = $2 and signoff = $3
            and outcome in ('APPROVED', 'REJECTED') order by seq desc limit 1";
        let values = [repository.into(), number.into(), signoff_key.into()];
        let mut tx = self.database.read().await?;
        tx.row(CONCLUDED, &values).await?.as_ref().map(read_verdict).transpose()
    }

    /// The newest verdict of each sign-off at one commit, in the order in which they were made.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn verdicts_at(
        &self,
        repository: &str,
        number: i64,
        commit: &str,
    ) -> Result<Vec<VerdictRow>, StoreError> {
        const AT: &str = "
            select * from verdict where seq in (
                select max(seq) from verdict
                where repository = $1 and pull_request = $2 and commit_sha = $3
                group by signoff)
            order by seq";
        let values = [repository.into(), number.into(), commit.into()];
        let rows = self.database.read().await?.rows(AT, &values).await?;
        rows.iter().map(read_verdict).collect()
    }

    /// The pull requests that have a verdict at one commit, by number.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn pulls_at(&self, repository: &str, commit: &str) -> Result<Vec<i64>, StoreError> {
        const PULLS: &str = "
            select distinct pull_request from verdict
            where repository = $1 and commit_sha = $2 order by pull_request";
        let values = [repository.into(), commit.into()];
        let rows = self.database.read().await?.rows(PULLS, &values).await?;
        rows.iter().map(|row| Ok(row.int("pull_request")?)).collect()
    }

    /// The verdict with that id.
    ///
    /// # Errors
    /// When the store does not work.
    pub async fn verdict(&self, id: &str) -> Result<Option<VerdictRow>, StoreError> {
        const BY_ID: &str = "select * from verdict where id = $1 order by seq desc limit 1";
        let mut tx = self.database.read().await?;
        tx.row(BY_ID, &[id.into()]).await?.as_ref().map(read_verdict).transpose()
    }
}

const LATEST: &str = "
    select * from verdict where repository = $1 and pull_request = $2 and signoff = $3
    order by seq desc limit 1";

fn read_verdict(row: &Row) -> Result<VerdictRow, StoreError> {
    Ok(VerdictRow {
        id: row.text("id")?,
        repository: row.text("repository")?,
        private: row.int("private")? != 0,
        number: row.int("pull_request")?,
        signoff_key: row.text("signoff")?,
        commit: row.text("commit_sha")?,
        outcome: row.text("outcome")?,
        json: row.text("json")?,
        created_at: row.int("created_at")?,
    })
}
