//! The App: installations, tokens, who we are, and that no secret is ever shown.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use base64::Engine;
use countersign::github::{ApiError, App};
use countersign::sources::live::Live;
use countersign::sources::{ReadKey, Reader};
use futures_util::future::join_all;
use secrecy::SecretString;
use serde_json::json;

use super::fake::{Fake, Seen, json, not_found, quick, reply, repo};

/// A fresh key a run; making one takes a while.
fn pem() -> SecretString {
    static PEM: OnceLock<String> = OnceLock::new();
    let pem = PEM.get_or_init(|| {
        let key = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let der = AsDer::<aws_lc_rs::encoding::Pkcs8V1Der<'_>>::as_der(&key).unwrap();
        let text = base64::engine::general_purpose::STANDARD.encode(der.as_ref());
        format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
    });
    SecretString::from(pem.as_str())
}

/// GitHub's side of an App: installation 42 on octo/bench, tokens numbered as they are minted.
#[derive(Clone, Default)]
struct Hub {
    minted: Arc<AtomicUsize>,
    /// Tokens up to this number are not taken (any more).
    revoked: Arc<AtomicUsize>,
    /// Minutes that a token lives.
    minutes: i64,
}

impl Hub {
    fn answer(&self, seen: &Seen) -> axum::response::Response {
        let bearer = seen.authorization.as_deref().unwrap_or_default();
        let jwt = bearer.starts_with("Bearer ey");
        match seen.target.trim_start_matches("/api/v3") {
            "/app" if jwt => json(&json!({ "id": 9, "slug": "countersign", "name": "x" })),
            "/repos/octo/bench/installation" if jwt => {
                json(&json!({ "id": 42, "permissions": { "members": "read", "checks": "write" } }))
            }
            "/app/installations/42/access_tokens" if jwt => {
                let number = self.minted.fetch_add(1, Ordering::SeqCst) + 1;
                let expires = chrono::Utc::now() + chrono::TimeDelta::minutes(self.minutes);
                let token = json!({ "token": format!("ghs_canary_{number}"),
                    "expires_at": expires.to_rfc3339(), "permissions": {} });
                reply(201, &[], token.to_string())
            }
            target if target.contains("/actions/runs/") => {
                let number = bearer.strip_prefix("Bearer ghs_canary_").and_then(|n| n.parse().ok());
                if number.is_some_and(|n: usize| n > self.revoked.load(Ordering::SeqCst)) {
                    json(&json!({ "ok": true }))
                } else {
                    reply(401, &[], r#"{"message": "Bad credentials"}"#)
                }
            }
            _ => not_found(),
        }
    }

    async fn serve(&self) -> Fake {
        let hub = self.clone();
        Fake::plain(move |seen| hub.answer(seen)).await
    }
}

fn minted(hub: &Hub) -> usize {
    hub.minted.load(Ordering::SeqCst)
}

#[tokio::test]
async fn twenty_first_requests_mint_one_token() {
    let hub = Hub { minutes: 60, ..Hub::default() };
    let fake = hub.serve().await;
    let app = App::new(&fake.url, 9, pem()).unwrap();
    let requests = (0..20).map(|id| {
        let app = &app;
        async move {
            let client = app.client_for("octo", "bench").await.unwrap();
            client.get(&format!("/repos/octo/bench/actions/runs/{id}"), "*/*", None).await
        }
    });
    for outcome in join_all(requests).await {
        assert_eq!(outcome.unwrap().status, 200);
    }
    assert_eq!(minted(&hub), 1);
    let lookups = fake.targets().iter().filter(|target| target.ends_with("/installation")).count();
    assert_eq!(lookups, 1);
}

#[tokio::test]
async fn a_token_that_ends_soon_is_renewed_before() {
    let hub = Hub { minutes: 4, ..Hub::default() };
    let fake = hub.serve().await;
    let app = App::new(&fake.url, 9, pem()).unwrap();
    let client = app.client_for("octo", "bench").await.unwrap();
    for _ in 0..2 {
        client.get("/repos/octo/bench/actions/runs/1", "*/*", None).await.unwrap();
    }
    assert_eq!(minted(&hub), 2);
}

#[tokio::test]
async fn a_revoked_token_is_renewed_once_for_all_who_held_it() {
    let hub = Hub { minutes: 60, ..Hub::default() };
    let fake = hub.serve().await;
    let app = App::new(&fake.url, 9, pem()).unwrap();
    let client = app.client_for("octo", "bench").await.unwrap();
    client.get("/repos/octo/bench/actions/runs/1", "*/*", None).await.unwrap();
    hub.revoked.store(1, Ordering::SeqCst);
    let again = (0..5).map(|_| client.get("/repos/octo/bench/actions/runs/2", "*/*", None));
    for outcome in join_all(again).await {
        assert_eq!(outcome.unwrap().status, 200);
    }
    assert_eq!(minted(&hub), 2);
}

#[tokio::test]
async fn credentials_that_are_never_taken_are_tried_twice() {
    let hub =
        Hub { minutes: 60, revoked: Arc::new(AtomicUsize::new(usize::MAX)), ..Hub::default() };
    let fake = hub.serve().await;
    let app = App::new(&fake.url, 9, pem()).unwrap();
    let client = app.client_for("octo", "bench").await.unwrap();
    let body = json!({});
    let error = client.send(http::Method::POST, "/repos/octo/bench/actions/runs/1", &body).await;
    let message = "401: Bad credentials".to_owned();
    assert_eq!(error.unwrap_err(), ApiError::Unauthorized(message));
    let tries = fake.targets().iter().filter(|target| target.ends_with("/runs/1")).count();
    assert_eq!((tries, minted(&hub)), (2, 2));
}

#[tokio::test]
async fn who_we_are_is_asked_once_and_what_we_may_every_time() {
    let hub = Hub { minutes: 60, ..Hub::default() };
    let fake = hub.serve().await;
    let app = Arc::new(App::new(&format!("{}/api/v3", fake.url), 9, pem()).unwrap());
    for _ in 0..2 {
        let identity = app.identity().await.unwrap();
        assert_eq!((identity.id, identity.slug.as_str()), (9, "countersign"));
        let grants = app.grants("octo", "bench").await.unwrap().unwrap();
        assert_eq!(grants["members"], "read");
    }
    assert_eq!(app.grants("octo", "other").await.unwrap(), None);
    let asked = |target| fake.targets().iter().filter(|seen| *seen == target).count();
    assert_eq!(asked("/api/v3/app"), 1);
    assert_eq!(asked("/api/v3/repos/octo/bench/installation"), 2);

    let client = app.client_for("octo", "bench").await.unwrap();
    let live = Live::new(Arc::clone(&client)).with_app(Arc::clone(&app));
    let reader = Reader::new(Arc::new(live));
    let grants = reader.grants(&repo()).await.unwrap().unwrap();
    assert_eq!(grants["checks"], "write");
    let without_app = Reader::new(Arc::new(Live::new(client)));
    assert_eq!(without_app.grants(&repo()).await.unwrap(), None);
}

#[tokio::test]
async fn an_app_that_is_not_installed_says_where() {
    let fake = Hub::default().serve().await;
    let app = App::new(&fake.url, 9, pem()).unwrap();
    let error = app.client_for("octo", "other").await.unwrap_err();
    assert_eq!(error, ApiError::Forbidden("the App is not installed on octo/other".into()));
}

#[tokio::test]
async fn a_suspended_installation_is_a_refusal_and_a_broken_token_reply_shows_nothing() {
    let fake = Fake::plain(|seen| match seen.target.as_str() {
        "/repos/octo/bench/installation" => json(&json!({ "id": 1 })),
        "/repos/octo/other/installation" => json(&json!({ "id": 2 })),
        "/app/installations/1/access_tokens" => {
            reply(403, &[], r#"{"message": "This installation has been suspended"}"#)
        }
        _ => reply(201, &[], r#"{"token": ["ghs_canary"]}"#),
    })
    .await;
    let app = App::new(&fake.url, 9, pem()).unwrap();
    let asked = async |name| {
        let client = app.client_for("octo", name).await.unwrap();
        client.get("/x", "*/*", None).await.unwrap_err()
    };
    assert_eq!(
        asked("bench").await,
        ApiError::Forbidden("403: This installation has been suspended".into())
    );
    let broken = asked("other").await;
    assert!(matches!(broken, ApiError::Malformed(_)), "{broken}");
    assert!(!format!("{broken} {broken:?}").contains("canary"));
}

/// Collects everything that is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_secret_is_logged_shown_or_recorded() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    // With a single subscriber alive, a place that another test's thread logs at first is switched
    // off for all threads; with two of them every place is asked about.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let _guard = tracing::subscriber::set_default(subscriber);
    let hub = Hub { minutes: 60, revoked: Arc::new(AtomicUsize::new(1)), ..Hub::default() };
    let fake = hub.serve().await;
    let app = Arc::new(App::new(&fake.url, 9, pem()).unwrap());
    let client = app.client_for("octo", "bench").await.unwrap();
    let live = quick(Live::new(Arc::clone(&client)).with_app(Arc::clone(&app)));
    let shown = format!("{app:?} {client:?} {live:?}");
    let reader = Reader::new(Arc::new(live));
    // The first token is refused, the second taken; a missing run and a grant besides.
    reader.read(&ReadKey::Run { repo: repo(), id: 1 }).await.unwrap();
    reader.read(&ReadKey::Pull { repo: repo(), number: 1 }).await.unwrap();
    reader.grants(&repo()).await.unwrap();
    assert_eq!(minted(&hub), 2);
    let recorded = format!("{:?}", reader.record());
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("/app/installations/42/access_tokens"), "nothing was logged");
    let jwt = fake
        .seen()
        .into_iter()
        .find_map(|seen| Some(seen.authorization?.strip_prefix("Bearer ey")?.to_owned()));
    let key: String =
        secrecy::ExposeSecret::expose_secret(&pem()).lines().nth(1).unwrap()[..40].into();
    for text in [shown, recorded, logged] {
        assert!(!text.contains("canary"), "a token is shown: {text}");
        assert!(!text.contains(jwt.as_deref().unwrap()), "a JWT is shown: {text}");
        assert!(!text.contains(&key), "the key is shown");
    }
}
