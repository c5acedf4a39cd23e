//! The store, the same tests on both databases.

use std::sync::atomic::{AtomicU32, Ordering};

use countersign::facts::SignOffKind;
use countersign::store::{
    Accepted, Ask, Backlog, Delivery, Job, NewJob, PullKey, SignOffRef, Store, StoreError, Trigger,
    VerdictRow,
};
use secrecy::SecretString;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, Executor};

const REPOSITORY: &str = "harbour/pilots";

/// A fresh SQLite file.
fn sqlite() -> (tempfile::TempDir, SecretString) {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("sqlite://{}", folder.path().join("countersign.db").display());
    (folder, address.into())
}

/// A fresh schema in the PostgreSQL of the environment, where there is one.
struct Schema {
    base: String,
    name: String,
}

impl Schema {
    async fn fresh() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let base = std::env::var("COUNTERSIGN_TEST_POSTGRES_URL")
            .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/test".into());
        let mut connection = match sqlx::PgConnection::connect(&base).await {
            Ok(connection) => connection,
            Err(error) => {
                // Past the harness, which keeps what a test that passes prints to itself.
                static SAID: std::sync::Once = std::sync::Once::new();
                SAID.call_once(|| {
                    let said = format!(
                        "\nLEFT OUT: the PostgreSQL half of the store's tests; no server at \
                         COUNTERSIGN_TEST_POSTGRES_URL or postgres://postgres@127.0.0.1:5432/test \
                         ({error})\n"
                    );
                    std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes()).unwrap();
                });
                return None;
            }
        };
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("countersign_test_{}_{count}", std::process::id());
        connection.execute(AssertSqlSafe(format!("create schema {name}"))).await.unwrap();
        Some(Self { base, name })
    }

    fn address(&self) -> SecretString {
        let separator = if self.base.contains('?') { '&' } else { '?' };
        format!("{}{separator}options=-csearch_path%3D{}", self.base, self.name).into()
    }

    async fn drop(self) {
        let mut connection = sqlx::PgConnection::connect(&self.base).await.unwrap();
        let drop = AssertSqlSafe(format!("drop schema {} cascade", self.name));
        connection.execute(drop).await.unwrap();
    }
}

/// Runs a test on each database that there is.
async fn on_each(test: impl AsyncFn(Store)) {
    let (_folder, address) = sqlite();
    test(Store::open(&address).await.unwrap()).await;
    if let Some(schema) = Schema::fresh().await {
        test(Store::open(&schema.address()).await.unwrap()).await;
        schema.drop().await;
    }
}

fn delivery(guid: &str, received_at: i64) -> Delivery {
    Delivery {
        guid: guid.into(),
        event: "issue_comment".into(),
        action: Some("created".into()),
        repository: REPOSITORY.into(),
        body_sha256: "ab".repeat(32),
        received_at,
    }
}

fn trigger(actor: &str, id: i64) -> Trigger {
    Trigger {
        actor: actor.into(),
        event: "issue_comment/created".into(),
        signoff: Some(SignOffRef { kind: SignOffKind::IssueComment, id }),
        ask: Ask::Verify,
    }
}

fn job(number: i64, triggers: &[Trigger]) -> NewJob {
    let key = PullKey { repository: REPOSITORY.into(), number };
    NewJob { key, triggers: triggers.to_vec() }
}

async fn accept(store: &Store, guid: &str, at: i64, new: NewJob) -> Accepted {
    store.accept(delivery(guid, at), new).await.unwrap()
}

async fn claim(store: &Store, now: i64) -> Option<Job> {
    store.claim(now, now + 100).await.unwrap()
}

#[tokio::test]
async fn a_delivery_becomes_a_job_that_is_claimed_once() {
    on_each(async |store| {
        let accepted = accept(&store, "g1", 1_000, job(7, &[trigger("ada", 11)])).await;
        assert_eq!(accepted, Accepted::New);
        assert_eq!(claim(&store, 999).await, None, "not due before it came");
        let held = claim(&store, 1_000).await.unwrap();
        assert_eq!(held.key.to_string(), "harbour/pilots#7");
        assert_eq!(held.triggers, [trigger("ada", 11)]);
        assert_eq!(held.attempts, 1);
        assert_eq!(held.state, serde_json::Value::Null);
        assert_eq!(claim(&store, 1_001).await, None);
        store.finish(&held).await.unwrap();
        assert_eq!(store.backlog().await.unwrap(), Backlog::default());
        assert_eq!(claim(&store, i64::MAX - 200).await, None, "a finished job is gone");
    })
    .await;
}

#[tokio::test]
async fn a_guid_counts_once_whatever_its_body() {
    on_each(async |store| {
        accept(&store, "g1", 1_000, job(7, &[trigger("ada", 11)])).await;
        let again = accept(&store, "g1", 2_000, job(8, &[trigger("ada", 12)])).await;
        assert_eq!(again, Accepted::Repeated { same_body: true });
        let mut other = delivery("g1", 3_000);
        other.body_sha256 = "cd".repeat(32);
        let answer = store.accept(other, job(9, &[trigger("eve", 13)])).await.unwrap();
        assert_eq!(answer, Accepted::Repeated { same_body: false });
        let held = claim(&store, 9_000).await.unwrap();
        assert_eq!((held.key.number, held.triggers), (7, vec![trigger("ada", 11)]));
        assert_eq!(claim(&store, 9_000).await, None);

        // Received, not done: the redelivery after a crash finds its job still there.
        let taken = store.claim(9_101, 9_200).await.unwrap().unwrap();
        assert_eq!((taken.key.number, taken.attempts), (7, 2));
    })
    .await;
}

#[tokio::test]
async fn the_same_guid_at_once_is_stored_once() {
    on_each(async |store| {
        let accepts = (0..20).map(|_| accept(&store, "g1", 1_000, job(7, &[trigger("ada", 11)])));
        let answers = futures_util::future::join_all(accepts).await;
        assert_eq!(answers.iter().filter(|answer| **answer == Accepted::New).count(), 1);
        assert_eq!(store.backlog().await.unwrap().queued, 1);
    })
    .await;
}

#[tokio::test]
async fn waiting_jobs_of_one_pull_request_merge_and_no_trigger_is_lost() {
    on_each(async |store| {
        let accepts = (0..100).map(|n| {
            let store = store.clone();
            let new = job(7, &[trigger("ada", n % 10)]);
            async move { accept(&store, &format!("g{n}"), 1_000 + n, new).await }
        });
        futures_util::future::join_all(accepts).await;
        assert_eq!(store.backlog().await.unwrap().queued, 1);
        let held = claim(&store, 5_000).await.unwrap();
        let mut ids: Vec<_> = held.triggers.iter().map(|t| t.signoff.unwrap().id).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..10).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn one_job_of_a_pull_request_runs_at_a_time() {
    on_each(async |store| {
        accept(&store, "g1", 1_000, job(7, &[trigger("ada", 11)])).await;
        let first = claim(&store, 1_000).await.unwrap();
        accept(&store, "g2", 1_001, job(7, &[trigger("ada", 12)])).await;
        accept(&store, "g3", 1_002, job(8, &[trigger("ada", 13)])).await;
        let other = claim(&store, 1_010).await.unwrap();
        assert_eq!(other.key.number, 8);
        assert_eq!(claim(&store, 1_010).await, None);
        assert_eq!(store.next_due().await.unwrap(), Some(1_101), "when the first lease ends");
        store.finish(&first).await.unwrap();
        assert_eq!(store.next_due().await.unwrap(), Some(1_001));
        let second = claim(&store, 1_011).await.unwrap();
        assert_eq!(second.triggers, [trigger("ada", 12)]);
    })
    .await;
}

#[tokio::test]
async fn four_claimers_share_the_jobs_without_overlap() {
    on_each(async |store| {
        for n in 0..40 {
            accept(&store, &format!("g{n}"), 1_000, job(n, &[trigger("ada", n)])).await;
        }
        let workers = (0..4).map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut numbers = Vec::new();
                while let Some(job) = claim(&store, 2_000).await {
                    numbers.push(job.key.number);
                    store.finish(&job).await.unwrap();
                }
                numbers
            })
        });
        let mut numbers = Vec::new();
        for worker in futures_util::future::join_all(workers).await {
            numbers.extend(worker.unwrap());
        }
        // Two claimers of PostgreSQL that meet at the last job can both see none; it stays queued.
        while let Some(job) = claim(&store, 2_000).await {
            numbers.push(job.key.number);
            store.finish(&job).await.unwrap();
        }
        numbers.sort_unstable();
        assert_eq!(numbers, (0..40).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn a_job_whose_lease_ran_out_is_taken_over_and_its_old_holder_told() {
    on_each(async |store| {
        accept(&store, "g1", 1_000, job(7, &[trigger("ada", 11)])).await;
        let mut old = claim(&store, 1_000).await.unwrap();
        store.save_state(&mut old, json!({ "number": 3 })).await.unwrap();
        store.extend(&old, 1_500).await.unwrap();
        assert_eq!(claim(&store, 1_500).await, None);
        let new = claim(&store, 1_501).await.unwrap();
        assert_eq!((new.attempts, &new.state), (2, &json!({ "number": 3 })));
        assert_eq!(old.state, new.state);

        for answer in [
            store.extend(&old, 9_000).await,
            store.save_state(&mut old, json!(null)).await,
            store.finish(&old).await,
            store.retry(&old, 9_000, "late").await,
            store.fail(&old, "late").await,
        ] {
            assert!(matches!(answer, Err(StoreError::LeaseLost(id)) if id == new.id), "{answer:?}");
        }
        store.finish(&new).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_retried_job_waits_and_keeps_its_state() {
    on_each(async |store| {
        accept(&store, "g1", 1_000, job(7, &[trigger("ada", 11)])).await;
        let mut held = claim(&store, 1_000).await.unwrap();
        store.save_state(&mut held, json!({ "number": 1 })).await.unwrap();
        store.retry(&held, 5_000, "GitHub did not answer").await.unwrap();
        assert_eq!(claim(&store, 4_999).await, None);
        assert_eq!(store.next_due().await.unwrap(), Some(5_000));
        let backlog = store.backlog().await.unwrap();
        assert_eq!((backlog.queued, backlog.oldest_due), (1, Some(5_000)));
        let again = claim(&store, 5_000).await.unwrap();
        assert_eq!((again.attempts, again.state), (2, json!({ "number": 1 })));
    })
    .await;
}

#[tokio::test]
async fn a_retried_job_and_a_newer_one_become_one() {
    on_each(async |store| {
        accept(&store, "g1", 1_000, job(7, &[trigger("ada", 11)])).await;
        let mut held = claim(&store, 1_000).await.unwrap();
        store.save_state(&mut held, json!({ "number": 1 })).await.unwrap();
        accept(&store, "g2", 1_050, job(7, &[trigger("ada", 11), trigger("grace", 12)])).await;
        store.retry(&held, 5_000, "GitHub did not answer").await.unwrap();
        assert_eq!(store.backlog().await.unwrap().queued, 1);
        let one = claim(&store, 1_060).await.unwrap();
        assert_eq!(one.triggers, [trigger("ada", 11), trigger("grace", 12)]);
        assert_eq!((one.attempts, one.state), (1, json!({ "number": 1 })));
        assert_eq!(claim(&store, 9_000).await.map(|job| job.id), Some(one.id), "by its lease only");
    })
    .await;
}

#[tokio::test]
async fn a_new_event_renews_a_job_in_its_backoff() {
    on_each(async |store| {
        accept(&store, "g1", 1_000, job(7, &[trigger("ada", 11)])).await;
        let held = claim(&store, 1_000).await.unwrap();
        store.retry(&held, 900_000, "GitHub did not answer").await.unwrap();
        accept(&store, "g2", 2_000, job(7, &[trigger("ada", 12)])).await;
        let again = claim(&store, 2_000).await.unwrap();
        assert_eq!((again.id, again.attempts), (held.id, 1));
        assert_eq!(again.triggers, [trigger("ada", 11), trigger("ada", 12)]);
    })
    .await;
}

#[tokio::test]
async fn a_failed_job_stays_and_blocks_nothing_until_it_is_pruned() {
    on_each(async |store| {
        accept(&store, "g1", 1_000, job(7, &[trigger("ada", 11)])).await;
        store.fail(&claim(&store, 1_000).await.unwrap(), "it panicked six times").await.unwrap();
        assert_eq!(claim(&store, 9_000).await, None);
        assert_eq!(store.next_due().await.unwrap(), None);
        accept(&store, "g2", 2_000, job(7, &[trigger("ada", 12)])).await;
        let next = claim(&store, 2_000).await.unwrap();
        assert_eq!(next.triggers, [trigger("ada", 12)]);
        let backlog = store.backlog().await.unwrap();
        assert_eq!((backlog.running, backlog.failed), (1, 1));

        store.prune(2_000).await.unwrap();
        assert_eq!(store.backlog().await.unwrap().failed, 0);
        let old = accept(&store, "g1", 3_000, job(9, &[])).await;
        let young = accept(&store, "g2", 3_000, job(9, &[])).await;
        assert_eq!((old, young), (Accepted::New, Accepted::Repeated { same_body: true }));
    })
    .await;
}

#[tokio::test]
async fn verifications_of_a_commit_are_numbered_from_one() {
    on_each(async |store| {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        assert_eq!(store.next_number(5, 7, &a, 0).await.unwrap(), 1);
        assert_eq!(store.next_number(5, 7, &a, 0).await.unwrap(), 2);
        assert_eq!(store.next_number(5, 7, &b, 0).await.unwrap(), 1);
        assert_eq!(store.next_number(5, 8, &a, 0).await.unwrap(), 1);
        assert_eq!(store.next_number(6, 7, &a, 0).await.unwrap(), 1);
        assert_eq!(store.next_number(5, 7, &a, 0).await.unwrap(), 3);
        assert_eq!(store.next_number(5, 7, &a, 9).await.unwrap(), 10, "counts on from GitHub");
        assert_eq!(store.next_number(5, 9, &a, 4).await.unwrap(), 5);
        assert_eq!(store.next_number(5, 7, &a, 2).await.unwrap(), 11);
    })
    .await;
}

fn verdict(id: &str, signoff: i64, commit: &str, outcome: &str) -> VerdictRow {
    VerdictRow {
        id: format!("sha256:{}", id.repeat(64)),
        repository: REPOSITORY.into(),
        private: true,
        number: 7,
        signoff_key: SignOffRef { kind: SignOffKind::Review, id: signoff }.to_string(),
        commit: commit.repeat(40),
        outcome: outcome.into(),
        json: format!("{{\"verdict\":\"{outcome}\"}}"),
        created_at: 1_000,
    }
}

#[tokio::test]
async fn the_history_of_verdicts_keeps_their_order() {
    on_each(async |store| {
        let rejected = verdict("1", 11, "a", "REJECTED");
        let approved = verdict("2", 11, "a", "APPROVED");
        let other = verdict("3", 12, "a", "REJECTED");
        let newer = verdict("4", 12, "b", "APPROVED");
        for row in [&rejected, &rejected, &approved, &other, &newer] {
            store.record_verdict(row).await.unwrap();
        }
        let latest = async |key: &str| store.latest_verdict(REPOSITORY, 7, key).await.unwrap();
        assert_eq!(latest("review/11").await.as_ref(), Some(&approved));
        assert_eq!(latest("review/12").await.as_ref(), Some(&newer));
        assert_eq!(latest("issue_comment/11").await, None);
        let at_a = store.verdicts_at(REPOSITORY, 7, &rejected.commit).await.unwrap();
        assert_eq!(at_a, [approved.clone(), other]);
        assert_eq!(store.verdict(&newer.id).await.unwrap(), Some(newer));
        assert_eq!(store.verdict("sha256:0").await.unwrap(), None);

        // The evidence came to be what it was: the same id again, and newest again.
        store.record_verdict(&rejected).await.unwrap();
        assert_eq!(latest("review/11").await, Some(rejected));
    })
    .await;
}

#[tokio::test]
async fn everything_survives_closing_and_opening() {
    let (_folder, address) = sqlite();
    let store = Store::open(&address).await.unwrap();
    let tenure = store.take_over().await.unwrap();
    accept(&store, "g1", 1_000, job(7, &[trigger("ada", 11)])).await;
    accept(&store, "g2", 1_000, job(8, &[trigger("ada", 12)])).await;
    let held = claim(&store, 1_000).await.unwrap();
    assert!(matches!(store.take_over().await, Err(StoreError::InUse(_))));
    drop((store, tenure));

    let store = Store::open(&address).await.unwrap();
    assert_eq!(claim(&store, 1_001).await.unwrap().key.number, 8);
    assert_eq!(claim(&store, 1_001).await, None, "opening alone (doctor does it) takes nothing");
    let _tenure = store.take_over().await.unwrap();
    let again = claim(&store, 1_001).await.unwrap();
    assert_eq!((again.id, again.attempts), (held.id, 2));
}

#[tokio::test]
async fn a_replica_does_not_take_what_another_holds() {
    let Some(schema) = Schema::fresh().await else { return };
    let one = Store::open(&schema.address()).await.unwrap();
    let two = Store::open(&schema.address()).await.unwrap();
    let _both = (one.take_over().await.unwrap(), two.take_over().await.unwrap());
    accept(&one, "g1", 1_000, job(7, &[trigger("ada", 11)])).await;
    let held = claim(&one, 1_000).await.unwrap();
    two.take_over().await.unwrap();
    assert_eq!(claim(&two, 1_100).await, None);
    assert_eq!(claim(&two, 1_101).await.unwrap().id, held.id);
    drop((one, two));
    schema.drop().await;
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_left_alone() {
    let (folder, address) = sqlite();
    drop(Store::open(&address).await.unwrap());
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(folder.path().join("countersign.db"));
    let mut raw = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    raw.execute(
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
         values (9999, 'from the future', 1, x'00', 0)",
    )
    .await
    .unwrap();
    let error = Store::open(&address).await.unwrap_err();
    assert!(matches!(error, StoreError::Newer(9_999)), "{error}");
}

#[tokio::test]
async fn an_address_of_another_kind_is_refused_without_quoting_it() {
    for address in
        ["mysql://u:hunter2@h/d", "hunter2", "sqlite://", "sqlite://:memory:", "sqlite://x?hunter2"]
    {
        let error = Store::open(&address.into()).await.unwrap_err().to_string();
        assert!(error.contains("expected `sqlite://PATH`"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn a_locked_database_refuses_the_delivery_and_takes_it_later() {
    let (folder, address) = sqlite();
    let store = Store::open(&address).await.unwrap();
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(folder.path().join("countersign.db"));
    let mut other = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    other.execute("begin immediate").await.unwrap();
    let refused = store.accept(delivery("g1", 1_000), job(7, &[trigger("ada", 11)])).await;
    assert!(matches!(refused, Err(StoreError::Group(_))), "{refused:?}");
    other.execute("rollback").await.unwrap();
    let accepted = accept(&store, "g1", 2_000, job(7, &[trigger("ada", 11)])).await;
    assert_eq!(accepted, Accepted::New);
}
