//! The webhook server over real HTTP, with a stand-in for the work.

mod jobs;

use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign::facts::SignOffKind;
use countersign::limits::WEBHOOK_BYTES;
use countersign::server::{Outcome, Readiness, Secrets, Server, Watched, Work};
use countersign::store::{Backlog, Delivery, Job, NewJob, PullKey, Store, VerdictRow};
use futures_util::future::{BoxFuture, join_all};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::{Connection, Executor};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

const SECRET: &str = "canary-webhook-secret";
const PREVIOUS: &str = "canary-previous-secret";
const TOKEN: &str = "canary-pages-token";
const PHRASE: &str = "As a pilot of this harbour";

/// Tells of every run, and waits for leave to end it.
struct Fake {
    runs: mpsc::UnboundedSender<Job>,
    leave: Semaphore,
    outcome: Box<dyn Fn(&Job) -> Outcome + Send + Sync>,
}

impl Work for Fake {
    fn run(&self, job: Job) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            self.runs.send(job.clone()).unwrap();
            self.leave.acquire().await.unwrap().forget();
            (self.outcome)(&job)
        })
    }
}

type Runs = mpsc::UnboundedReceiver<Job>;

fn fake(outcome: impl Fn(&Job) -> Outcome + Send + Sync + 'static) -> (Arc<Fake>, Runs) {
    let (runs, seen) = mpsc::unbounded_channel();
    let work = Fake { runs, leave: Semaphore::new(0), outcome: Box::new(outcome) };
    (Arc::new(work), seen)
}

/// Work that is done as soon as it starts.
struct AtOnce;

impl Work for AtOnce {
    fn run(&self, _: Job) -> BoxFuture<'_, Outcome> {
        Box::pin(async { Outcome::Done })
    }
}

/// A server that runs.
struct Running {
    address: SocketAddr,
    store: Store,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
    client: reqwest::Client,
}

async fn open(folder: &tempfile::TempDir) -> Store {
    let address = format!("sqlite://{}", folder.path().join("countersign.db").display());
    Store::open(&address.into()).await.unwrap()
}

async fn start(store: Store, work: Arc<dyn Work>, adjust: impl FnOnce(&mut Server)) -> Running {
    let mut watched = Watched::new(Some(77));
    watched.add("harbour/pilots", &settings());
    let mut server = Server {
        store: store.clone(),
        work,
        secrets: Secrets::new(&SECRET.into(), Some(&PREVIOUS.into())),
        watched,
        readiness: Readiness::new(
            Box::new(|| Box::pin(async { Ok(()) })),
            Box::new(|| Box::pin(async { Ok(()) })),
        ),
        pages_token: Some(TOKEN.into()),
        workers: 4,
        bounds: countersign::server::Bounds::default(),
    };
    adjust(&mut server);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(server.run(listener, async {
        let _ = stopped.await;
    }));
    Running { address, store, stop, task, client: reqwest::Client::new() }
}

impl Running {
    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        let reply = self.client.get(self.url(path)).send().await.unwrap();
        (reply.status(), reply.text().await.unwrap())
    }

    /// A delivery whose headers can be changed.
    fn request(&self, event: &str, guid: &str, body: Vec<u8>) -> reqwest::RequestBuilder {
        self.client
            .post(self.url("/webhook"))
            .header("x-github-event", event)
            .header("x-github-delivery", guid)
            .header("x-hub-signature-256", sign(SECRET, &body))
            .header("content-type", "application/json")
            .body(body)
    }

    async fn deliver(&self, event: &str, guid: &str, body: &Value) -> StatusCode {
        let body = body.to_string().into_bytes();
        self.request(event, guid, body).send().await.unwrap().status()
    }

    async fn sign_off(&self, guid: &str, number: i64, comment: i64) -> StatusCode {
        self.deliver("issue_comment", guid, &comment_on(number, comment)).await
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }
}

fn sign(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

fn comment_on(number: i64, comment: i64) -> Value {
    json!({
        "action": "created",
        "issue": { "number": number, "state": "open", "pull_request": {} },
        "comment": { "id": comment, "body": format!("{PHRASE}, canary-comment-text") },
        "repository": { "id": 5, "full_name": "harbour/pilots" },
        "installation": { "id": 9 },
        "sender": { "login": "ada", "type": "User" },
    })
}

fn done(_: &Job) -> Outcome {
    Outcome::Done
}

/// Waits until a condition of the store holds; the test's own timeout is what ends it otherwise.
async fn until(store: &Store, holds: impl Fn(Backlog) -> bool) {
    let mut look = tokio::time::interval(Duration::from_millis(2));
    while !holds(store.backlog().await.unwrap()) {
        look.tick().await;
    }
}

/// Every test has to end.
async fn within<T>(test: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), test).await.expect("the test hangs")
}

#[tokio::test]
async fn a_signed_delivery_is_stored_acknowledged_and_carried_out() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let (work, mut runs) = fake(done);
        let server = start(open(&folder).await, work.clone(), |_| {}).await;
        assert_eq!(server.sign_off("g1", 7, 11).await, StatusCode::ACCEPTED);
        let job = runs.recv().await.unwrap();
        assert_eq!(job.key, PullKey { repository: "harbour/pilots".into(), number: 7 });
        let signoff = job.triggers[0].signoff.unwrap();
        assert_eq!((signoff.kind, signoff.id), (SignOffKind::IssueComment, 11));
        work.leave.add_permits(1);
        until(&server.store, |backlog| backlog == Backlog::default()).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_signature_that_is_missing_misspelt_or_wrong_is_refused() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let server = start(open(&folder).await, Arc::new(AtOnce), |_| {}).await;
        let body = comment_on(7, 11).to_string().into_bytes();
        let right = sign(SECRET, &body);
        let digits = &right["sha256=".len()..];
        let wrong = [
            None,
            Some(String::new()),
            Some(digits.into()),
            Some(format!("sha1={digits}")),
            Some(format!("sha256={}", &digits[..40])),
            Some(format!("sha256={}", digits.to_uppercase())),
            Some(format!("sha256={}", "z".repeat(64))),
            Some(sign("a-retired-secret", &body)),
            Some(sign(SECRET, b"another body")),
        ];
        for signature in wrong {
            let mut request = server.request("issue_comment", "g1", body.clone()).build().unwrap();
            request.headers_mut().remove("x-hub-signature-256");
            if let Some(signature) = &signature {
                request.headers_mut().insert("x-hub-signature-256", signature.parse().unwrap());
            }
            let reply = server.client.execute(request).await.unwrap();
            assert_eq!(reply.status(), StatusCode::UNAUTHORIZED, "{signature:?}");
        }
        // The signature is looked at before anything else: neither JSON nor headers count yet.
        let unsigned = server.client.post(server.url("/webhook")).body("{").send().await.unwrap();
        assert_eq!(unsigned.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(server.store.backlog().await.unwrap(), Backlog::default());
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_previous_secret_is_taken_and_counted() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let server = start(open(&folder).await, Arc::new(AtOnce), |_| {}).await;
        let body = comment_on(7, 11).to_string().into_bytes();
        let mut request = server.request("issue_comment", "g1", body.clone()).build().unwrap();
        let signature = sign(PREVIOUS, &body).parse().unwrap();
        request.headers_mut().insert("x-hub-signature-256", signature);
        let reply = server.client.execute(request).await.unwrap();
        assert_eq!(reply.status(), StatusCode::ACCEPTED);
        let (_, metrics) = server.get("/metrics").await;
        assert!(metrics.contains("\ncountersign_previous_secret_total "), "{metrics}");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_body_up_to_the_cap_is_read_and_one_byte_more_is_not() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let server = start(open(&folder).await, Arc::new(AtOnce), |_| {}).await;
        let mut body = comment_on(7, 11).to_string().into_bytes();
        body.resize(WEBHOOK_BYTES, b' ');
        let reply = server.request("issue_comment", "g1", body.clone()).send().await.unwrap();
        assert_eq!(reply.status(), StatusCode::ACCEPTED);
        assert_eq!(
            server.deliver("issue_comment", "g2", &json!("")).await,
            StatusCode::BAD_REQUEST
        );

        // Declared: refused before a byte of it is sent.
        let declared = format!("content-length: {}", WEBHOOK_BYTES + 1);
        let mut socket = raw(&server, &declared).await;
        assert_eq!(status(&mut socket).await, 413);

        // Chunked: refused when the byte too many arrives.
        let mut socket = raw(&server, "transfer-encoding: chunked").await;
        body.push(b' ');
        socket.write_all(format!("{:x}\r\n", body.len()).as_bytes()).await.unwrap();
        socket.write_all(&body).await.unwrap();
        assert_eq!(status(&mut socket).await, 413);
        server.stop().await;
    })
    .await;
}

/// A connection that has sent the head of a delivery.
async fn raw(server: &Running, header: &str) -> TcpStream {
    let mut socket = TcpStream::connect(server.address).await.unwrap();
    let head = format!("POST /webhook HTTP/1.1\r\nhost: x\r\n{header}\r\n\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    socket
}

/// The status of a reply; 0 where the connection was closed without one.
async fn status(socket: &mut TcpStream) -> u16 {
    let mut reply = vec![0; 12];
    match socket.read_exact(&mut reply).await {
        Ok(_) => std::str::from_utf8(&reply[9..12]).unwrap().parse().unwrap(),
        Err(_) => 0,
    }
}

#[tokio::test]
async fn slow_and_idle_clients_are_let_go_and_hold_up_nobody() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let server = start(open(&folder).await, Arc::new(AtOnce), |server| {
            server.bounds.headers = Duration::from_millis(300);
            server.bounds.request = Duration::from_millis(300);
        })
        .await;
        let mut slow = raw(&server, "content-length: 100").await;
        slow.write_all(b"{").await.unwrap();
        let mut idle = Vec::new();
        for n in 0..200 {
            let mut socket = TcpStream::connect(server.address).await.unwrap();
            if n % 2 == 0 {
                socket.write_all(b"POST /webhook HT").await.unwrap();
            }
            idle.push(socket);
        }
        assert_eq!(server.sign_off("g1", 7, 11).await, StatusCode::ACCEPTED);
        assert_eq!(status(&mut slow).await, 408);
        for mut socket in idle {
            assert!([0, 408].contains(&status(&mut socket).await));
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_not_a_delivery_is_malformed() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let server = start(open(&folder).await, Arc::new(AtOnce), |_| {}).await;
        let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        let twice = comment_on(7, 11).to_string().replacen('{', "{\"action\":\"edited\",", 1);
        let bad: [&[u8]; 7] =
            [b"", b"{", b"payload=%7B%7D", &deep, twice.as_bytes(), b"{\"a\":1}", b"\xff"];
        for body in bad {
            let reply = server.request("issue_comment", "g1", body.to_vec()).send().await.unwrap();
            assert_eq!(reply.status(), StatusCode::BAD_REQUEST, "{:?}", body.get(..20));
        }
        let form = server.request("ping", "g1", b"payload=%7B%7D".to_vec()).send().await.unwrap();
        assert!(form.text().await.unwrap().contains("set the webhook's content type"));

        for (header, value) in [("x-github-delivery", ""), ("x-github-delivery", "a b")] {
            let body = comment_on(7, 11).to_string().into_bytes();
            let mut request = server.request("issue_comment", "g1", body).build().unwrap();
            request.headers_mut().insert(header, value.parse().unwrap());
            let reply = server.client.execute(request).await.unwrap();
            assert_eq!(reply.status(), StatusCode::BAD_REQUEST, "{header}: {value}");
        }
        let body = comment_on(7, 11).to_string().into_bytes();
        let mut request = server.request("issue_comment", "g1", body).build().unwrap();
        request.headers_mut().remove("x-github-delivery");
        let reply = server.client.execute(request).await.unwrap();
        assert_eq!(reply.status(), StatusCode::BAD_REQUEST);
        assert_eq!(server.store.backlog().await.unwrap(), Backlog::default());

        // JSON is JSON, whatever its header says; and an installation is not needed to queue.
        let mut lean = comment_on(7, 11);
        lean.as_object_mut().unwrap().remove("installation");
        let request = server.request("issue_comment", "g2", lean.to_string().into_bytes());
        let reply = request.header("content-type", "text/plain").send().await.unwrap();
        assert_eq!(reply.status(), StatusCode::ACCEPTED);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_asks_for_nothing_is_answered_200_and_not_stored() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let server = start(open(&folder).await, Arc::new(AtOnce), |_| {}).await;
        let mut pinned = comment_on(7, 11);
        pinned["action"] = json!("pinned");
        let mut elsewhere = comment_on(7, 11);
        elsewhere["repository"]["full_name"] = json!("harbour/elsewhere");
        for (event, body) in [
            ("ping", json!({ "zen": "Design for failure." })),
            ("star", json!({ "action": "created" })),
            ("an-event-of-next-year", json!([])),
            ("issue_comment", pinned),
            ("issue_comment", elsewhere),
        ] {
            assert_eq!(server.deliver(event, "g1", &body).await, StatusCode::OK, "{event}");
        }
        assert_eq!(server.sign_off("g1", 7, 11).await, StatusCode::ACCEPTED, "g1 is still free");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn verdicts_of_private_repositories_need_the_token() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let server = start(open(&folder).await, Arc::new(AtOnce), |_| {}).await;
        let row = |digit: &str, private| VerdictRow {
            id: format!("sha256:{}", digit.repeat(64)),
            repository: "harbour/pilots".into(),
            private,
            number: 7,
            signoff_key: "review/12".into(),
            commit: "a".repeat(40),
            outcome: "APPROVED".into(),
            json: format!("{{\"verdict\":\"APPROVED\",\"warnings\":{digit}}}"),
            created_at: 0,
        };
        let (public, private) = (row("1", false), row("2", true));
        server.store.record_verdict(&public).await.unwrap();
        server.store.record_verdict(&private).await.unwrap();
        let path = |row: &VerdictRow| format!("/api/verdicts/{}", row.id);
        let ok = |row: &VerdictRow| (StatusCode::OK, row.json.clone());
        let not_found = (StatusCode::NOT_FOUND, "{\"error\":\"no such verdict\"}".to_owned());
        assert_eq!(server.get(&path(&public)).await, ok(&public));
        assert_eq!(server.get(&format!("/api/verdicts/{}", "1".repeat(64))).await, ok(&public));
        assert_eq!(server.get(&path(&private)).await, not_found);
        assert_eq!(server.get(&path(&row("3", false))).await, not_found);
        assert_eq!(server.get("/api/verdicts/1").await.0, StatusCode::BAD_REQUEST);
        for (token, status) in [("wrong", StatusCode::NOT_FOUND), (TOKEN, StatusCode::OK)] {
            let url = server.url(&path(&private));
            let reply = server.client.get(url).bearer_auth(token).send().await.unwrap();
            assert_eq!(reply.status(), status);
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn readiness_names_what_is_missing() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let server = start(open(&folder).await, Arc::new(AtOnce), |server| {
            server.readiness = Readiness::new(
                Box::new(|| Box::pin(async { Ok(()) })),
                Box::new(|| Box::pin(async { Err("GitHub does not know the App".into()) })),
            );
        })
        .await;
        let (status, body) = server.get("/readyz").await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(
            serde_json::from_str::<Value>(&body).unwrap(),
            json!({ "ready": false, "checks": [
                { "name": "database", "ok": true, "reason": null },
                { "name": "rules", "ok": true, "reason": null },
                { "name": "credentials", "ok": false, "reason": "GitHub does not know the App" },
            ]})
        );
        assert_eq!(server.get("/healthz").await, (StatusCode::OK, "ok\n".into()));
        assert_eq!(server.get("/").await.0, StatusCode::OK);
        let (status, text) = server.get("/r/harbour/pilots/7").await;
        assert!(status == StatusCode::NOT_FOUND && text.contains("not built yet"));
        assert_eq!(server.get("/webhook").await.0, StatusCode::METHOD_NOT_ALLOWED);
        server.stop().await;
    })
    .await;
}

/// Where log lines go.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_secret_and_no_body_reaches_a_log_an_answer_or_a_metric() {
    within(async {
        let lines = Lines::default();
        let sink = lines.clone();
        // With a single subscriber, tracing asks the thread that reaches a line first whether anybody
        // wants it, and another test's thread says no for all. With two it asks both.
        let _second = tracing::Dispatch::new(tracing_subscriber::registry());
        // The runtime of this test has one thread, so that this sees every task of the server.
        let _guard = tracing::subscriber::set_default(
            tracing_subscriber::fmt()
                .with_ansi(false)
                .with_max_level(tracing::Level::TRACE)
                .with_writer(move || sink.clone())
                .finish(),
        );
        let folder = tempfile::tempdir().unwrap();
        let (work, mut runs) = fake(done);
        work.leave.add_permits(10);
        let server = start(open(&folder).await, work, |_| {}).await;
        let mut answers = String::new();
        let good = comment_on(7, 11).to_string().into_bytes();
        let cut = good[..good.len() - 1].to_vec();
        for (guid, body) in [("g1", good.clone()), ("g1", good.clone()), ("g2", cut)] {
            let reply = server.request("issue_comment", guid, body).send().await.unwrap();
            answers += &reply.text().await.unwrap();
        }
        let unsigned = server.client.post(server.url("/webhook")).body(good).send().await.unwrap();
        answers += &unsigned.text().await.unwrap();
        runs.recv().await.unwrap();
        until(&server.store, |backlog| backlog == Backlog::default()).await;
        for path in ["/", "/metrics", "/readyz", "/api/verdicts/1", "/nowhere"] {
            answers += &server.get(path).await.1;
        }
        let url = server.url(&format!("/api/verdicts/{}", "1".repeat(64)));
        let reply = server.client.get(url).bearer_auth(TOKEN).send().await.unwrap();
        answers += &reply.text().await.unwrap();
        server.stop().await;

        let log = String::from_utf8_lossy(&lines.0.lock().unwrap()).into_owned();
        // The test's own client and the database driver log what they are given; ours is the rest.
        let ours: Vec<_> = log.lines().filter(|line| line.contains("countersign::")).collect();
        assert!(ours.iter().any(|line| line.contains("delivery=\"g1\"")), "{log}");
        assert!(answers.contains("countersign_deliveries_total"));
        for text in [log, answers] {
            let line = text.lines().find(|line| line.contains("canary"));
            assert_eq!(line, None);
        }
    })
    .await;
}

/// A profile's settings, with the phrase of this harbour.
fn settings() -> countersign::profile::Settings {
    use countersign::profile::{Profile, builtin};
    let files = builtin("inferencex").expect("a built-in profile");
    let mut settings = Profile::from_files("inferencex", &files).expect("it is clean").settings;
    settings.signoff.phrase = PHRASE.to_owned();
    settings
}
