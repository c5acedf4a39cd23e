//! What an acknowledged delivery costs beyond the disk: a signed webhook over real HTTP keep-alive,
//! stored in an SQLite file with `synchronous=FULL`, beside a plain 4 KiB append and `fdatasync` in the
//! same folder. Both alternate within one run, since a shared disk is never the same twice.
//!
//! `cargo bench --bench ack`
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used, clippy::print_stdout)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign::server::{Bounds, Outcome, Readiness, Secrets, Server, Watched, Work};
use countersign::store::{Job, Store};
use futures_util::future::BoxFuture;
use hmac::{Hmac, KeyInit, Mac};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

const ROUNDS: usize = 10;
const A_ROUND: usize = 50;
const CONNECTIONS: usize = 32;
/// Of a usual `issue_comment` delivery.
const BODY_BYTES: usize = 24 << 10;
const SECRET: &str = "a secret for the benchmark";
const PHRASE: &str = "As a pilot of this harbour";

struct AtOnce;

impl Work for AtOnce {
    fn run(&self, _: Job) -> BoxFuture<'_, Outcome> {
        Box::pin(async { Outcome::Done })
    }
}

fn main() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();

    let (syncs, acks) = alternating(&runtime, folder.path());
    let (sync, ack) = (median(&syncs), median(&acks));
    println!("4 KiB append + fdatasync      {}", summary(&syncs));
    println!("acknowledged signed webhook   {}", summary(&acks));
    let added = ack.as_secs_f64() - sync.as_secs_f64();
    println!("beyond the disk               {:.2} ms (median - median; at most 1 ms)", added * 1e3);

    let (all, took) = side_by_side(&runtime, folder.path());
    let rate = all.len() as f64 / took.as_secs_f64();
    println!("{CONNECTIONS} connections               {}, {rate:.0} a second", summary(&all));
    assert!(added <= 1e-3, "an acknowledgement costs more than 1 ms beyond the disk");
}

/// One client, in turns with the bare disk.
fn alternating(runtime: &tokio::runtime::Runtime, folder: &Path) -> (Vec<Duration>, Vec<Duration>) {
    let (address, stop) = serve(runtime, &folder.join("one.db"));
    let mut plain = File::create(folder.join("plain")).unwrap();
    let mut client = Client::connect(address);
    let (mut syncs, mut acks) = (Vec::new(), Vec::new());
    let page = [7_u8; 4096];
    for round in 0..=ROUNDS {
        for n in 0..A_ROUND {
            let started = Instant::now();
            plain.write_all(&page).unwrap();
            plain.sync_data().unwrap();
            syncs.push(started.elapsed());

            let request = delivery(round * A_ROUND + n);
            let started = Instant::now();
            client.post(&request);
            acks.push(started.elapsed());
        }
        if round == 0 {
            // The first round warms caches, files and the connection.
            syncs.clear();
            acks.clear();
        }
    }
    stop.send(()).unwrap();
    (syncs, acks)
}

/// Many clients at once, whose commits are grouped.
fn side_by_side(runtime: &tokio::runtime::Runtime, folder: &Path) -> (Vec<Duration>, Duration) {
    let (address, stop) = serve(runtime, &folder.join("many.db"));
    let started = Instant::now();
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|client_number| {
            std::thread::spawn(move || {
                let mut client = Client::connect(address);
                let measure = |n| {
                    let request = delivery(client_number * 1_000_000 + n);
                    let started = Instant::now();
                    client.post(&request);
                    started.elapsed()
                };
                (0..A_ROUND).map(measure).collect::<Vec<_>>()
            })
        })
        .collect();
    let all = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    let took = started.elapsed();
    stop.send(()).unwrap();
    (all, took)
}

fn serve(runtime: &tokio::runtime::Runtime, file: &Path) -> (SocketAddr, oneshot::Sender<()>) {
    let (stop, stopped) = oneshot::channel();
    let address = runtime.block_on(async {
        let address = format!("sqlite://{}", file.display());
        let mut watched = Watched::new(None);
        watched.add("harbour/pilots", &settings());
        let server = Server {
            store: Store::open(&address.into()).await.unwrap(),
            work: Arc::new(AtOnce),
            secrets: Secrets::new(&SECRET.into(), None),
            watched,
            readiness: Readiness::new(
                Box::new(|| Box::pin(async { Ok(()) })),
                Box::new(|| Box::pin(async { Ok(()) })),
            ),
            pages_token: None,
            // The queue's own writes would be measured too: they share the disk.
            workers: 0,
            bounds: Bounds::default(),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(server.run(listener, async {
            let _ = stopped.await;
        }));
        address
    });
    (address, stop)
}

struct Client {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let writer = TcpStream::connect(address).unwrap();
        writer.set_nodelay(true).unwrap();
        Self { reader: BufReader::new(writer.try_clone().unwrap()), writer }
    }

    fn post(&mut self, request: &[u8]) {
        self.writer.write_all(request).unwrap();
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 202 "), "{line}");
        let mut length = 0;
        loop {
            line.clear();
            self.reader.read_line(&mut line).unwrap();
            if line == "\r\n" {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).unwrap();
    }
}

/// A whole signed request, about a pull request of its own.
fn delivery(n: usize) -> Vec<u8> {
    let body = serde_json::json!({
        "action": "created",
        "issue": { "number": n + 1, "state": "open", "pull_request": {} },
        "comment": { "id": n, "body": format!("{PHRASE} {}", "x".repeat(BODY_BYTES)) },
        "repository": { "id": 5, "full_name": "harbour/pilots" },
        "sender": { "login": "ada", "type": "User" },
    })
    .to_string();
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    let signature = hex::encode(mac.finalize().into_bytes());
    format!(
        "POST /webhook HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         x-github-event: issue_comment\r\nx-github-delivery: {n}\r\n\
         x-hub-signature-256: sha256={signature}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn quantile(times: &[Duration], q: f64) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[((sorted.len() - 1) as f64 * q) as usize]
}

fn median(times: &[Duration]) -> Duration {
    quantile(times, 0.5)
}

fn summary(times: &[Duration]) -> String {
    let ms = |q| quantile(times, q).as_secs_f64() * 1e3;
    format!("p50 {:.2} ms, p99 {:.2} ms of {}", ms(0.5), ms(0.99), times.len())
}

/// A profile's settings, with the phrase of this harbour.
fn settings() -> countersign::profile::Settings {
    use countersign::profile::{Profile, builtin};
    let files = builtin("inferencex").expect("a built-in profile");
    let mut settings = Profile::from_files("inferencex", &files).expect("it is clean").settings;
    settings.signoff.phrase = PHRASE.to_owned();
    settings
}
