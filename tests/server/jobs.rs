//! What becomes of a delivery that was acknowledged: repeated, stored late, merged, cut off, run again.

use super::*;

#[tokio::test]
async fn a_repeated_delivery_is_acknowledged_and_done_once() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let (work, mut runs) = fake(done);
        let server = start(open(&folder).await, work.clone(), |_| {}).await;
        let answers = join_all((0..20).map(|_| server.sign_off("g1", 7, 11))).await;
        assert!(answers.iter().all(|status| *status == StatusCode::ACCEPTED), "{answers:?}");
        assert_eq!(server.sign_off("g1", 8, 12).await, StatusCode::ACCEPTED, "another body");
        work.leave.add_permits(10);
        assert_eq!(runs.recv().await.unwrap().key.number, 7);
        until(&server.store, |backlog| backlog == Backlog::default()).await;
        assert_eq!(server.sign_off("g1", 7, 11).await, StatusCode::ACCEPTED, "after the work");
        assert_eq!(server.store.backlog().await.unwrap(), Backlog::default());
        assert!(runs.try_recv().is_err());
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_delivery_that_cannot_be_stored_is_503_and_succeeds_later() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let server = start(open(&folder).await, Arc::new(AtOnce), |_| {}).await;
        let path = folder.path().join("countersign.db");
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
        let mut other = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
        other.execute("begin immediate").await.unwrap();
        assert_eq!(server.sign_off("g1", 7, 11).await, StatusCode::SERVICE_UNAVAILABLE);
        other.execute("rollback").await.unwrap();
        assert_eq!(server.sign_off("g1", 7, 11).await, StatusCode::ACCEPTED);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn five_hundred_events_of_one_pull_request_are_two_runs() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let (work, mut runs) = fake(done);
        let server = start(open(&folder).await, work.clone(), |_| {}).await;
        assert_eq!(server.sign_off("g0", 7, 0).await, StatusCode::ACCEPTED);
        assert_eq!(runs.recv().await.unwrap().triggers.len(), 1);
        let guids: Vec<String> = (1..500).map(|n| format!("g{n}")).collect();
        let answers =
            join_all((1..500).zip(&guids).map(|(n, guid)| server.sign_off(guid, 7, n))).await;
        assert!(answers.iter().all(|status| *status == StatusCode::ACCEPTED));
        let backlog = server.store.backlog().await.unwrap();
        assert_eq!((backlog.running, backlog.queued), (1, 1));
        assert!(runs.try_recv().is_err(), "nothing of the same pull request runs beside it");

        work.leave.add_permits(2);
        let job = runs.recv().await.unwrap();
        let mut comments: Vec<_> = job.triggers.iter().map(|t| t.signoff.unwrap().id).collect();
        comments.sort_unstable();
        assert_eq!(comments, (1..500).collect::<Vec<_>>(), "no trigger is lost");
        until(&server.store, |backlog| backlog == Backlog::default()).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn stopping_under_load_loses_nothing_that_was_acknowledged() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let (work, mut runs) = fake(done);
        let server = start(open(&folder).await, work, |server| {
            server.bounds.shutdown = Duration::from_millis(200);
        })
        .await;
        let (address, client) = (server.url("/webhook"), server.client.clone());
        let clients = (0..8).map(|client_number| {
            let (address, client) = (address.clone(), client.clone());
            tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                for n in 0.. {
                    let number = client_number * 1_000_000 + n;
                    let body = comment_on(number, 11).to_string().into_bytes();
                    let request = client
                        .post(&address)
                        .header("x-github-event", "issue_comment")
                        .header("x-github-delivery", format!("g{number}"))
                        .header("x-hub-signature-256", sign(SECRET, &body))
                        .body(body);
                    match request.send().await {
                        Ok(reply) if reply.status() == StatusCode::ACCEPTED => {
                            acknowledged.push(number);
                        }
                        _ => break,
                    }
                }
                acknowledged
            })
        });
        let clients: Vec<_> = clients.collect();
        for _ in 0..4 {
            runs.recv().await.unwrap();
        }
        let store = server.store.clone();
        until(&store, |backlog| backlog.queued > 20).await;
        server.stop().await;
        let mut acknowledged = Vec::new();
        for client in clients {
            acknowledged.extend(client.await.unwrap());
        }
        drop(store);

        let store = open(&folder).await;
        let backlog = store.backlog().await.unwrap();
        assert_eq!(backlog.running, 0, "what did not end in time waits again");
        assert!(backlog.queued >= acknowledged.len() as i64 && acknowledged.len() > 20);
        let mut queued = Vec::new();
        while let Some(job) = store.claim(i64::MAX - 1, i64::MAX).await.unwrap() {
            queued.push(job.key.number);
        }
        assert!(acknowledged.iter().all(|number| queued.contains(number)));
    })
    .await;
}

#[tokio::test]
async fn a_job_that_a_crash_left_running_is_run_again_at_once() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder).await;
        let delivery = Delivery {
            guid: "g1".into(),
            event: "issue_comment".into(),
            action: None,
            repository: "harbour/pilots".into(),
            body_sha256: String::new(),
            received_at: 0,
        };
        let key = PullKey { repository: "harbour/pilots".into(), number: 7 };
        store.accept(delivery, NewJob { key, triggers: Vec::new() }).await.unwrap();
        store.claim(0, i64::MAX).await.unwrap().unwrap();
        drop(store);

        let store = open(&folder).await;
        let _tenure = store.take_over().await.unwrap();
        let (work, mut runs) = fake(done);
        work.leave.add_permits(1);
        let server = start(store, work, |_| {}).await;
        let job = runs.recv().await.unwrap();
        assert_eq!((job.key.number, job.attempts), (7, 2));
        until(&server.store, |backlog| backlog == Backlog::default()).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn outcomes_and_panics_have_their_consequences() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let (work, mut runs) = fake(|job| match (job.key.number, job.attempts) {
            (1, 1) => Outcome::Retry { at: 0, why: "GitHub did not answer".into() },
            (2, _) => Outcome::Dropped { why: "the repository is gone".into() },
            (3, _) => panic!("a bug that a test made"),
            _ => Outcome::Done,
        });
        work.leave.add_permits(100);
        let server = start(open(&folder).await, work, |_| {}).await;
        server.sign_off("g1", 1, 11).await;
        assert_eq!(runs.recv().await.unwrap().attempts, 1);
        assert_eq!(runs.recv().await.unwrap().attempts, 2);
        server.sign_off("g2", 2, 11).await;
        until(&server.store, |backlog| backlog.failed == 1).await;
        server.sign_off("g3", 3, 11).await;
        let later = chrono::Utc::now().timestamp_millis() + 5_000;
        until(&server.store, |backlog| backlog.oldest_due.is_some_and(|due| due > later)).await;
        server.sign_off("g4", 4, 11).await;
        until(&server.store, |backlog| backlog.running == 0 && backlog.queued == 1).await;
        let numbers: Vec<_> =
            std::iter::from_fn(|| runs.try_recv().ok()).map(|j| j.key.number).collect();
        assert_eq!(numbers, [2, 3, 4], "the panic waits for its second try, the others went on");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_long_job_keeps_its_lease() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let (work, mut runs) = fake(done);
        let server = start(open(&folder).await, work.clone(), |server| {
            server.bounds.lease = Duration::from_secs(3);
        })
        .await;
        server.sign_off("g1", 7, 11).await;
        runs.recv().await.unwrap();
        let first = server.store.next_due().await.unwrap().unwrap();
        let mut look = tokio::time::interval(Duration::from_millis(20));
        while server.store.next_due().await.unwrap().unwrap() <= first {
            look.tick().await;
        }
        assert!(runs.try_recv().is_err(), "nobody took it over");
        work.leave.add_permits(1);
        until(&server.store, |backlog| backlog == Backlog::default()).await;
        server.stop().await;
    })
    .await;
}
