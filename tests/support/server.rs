//! The HTTP side: what happens to a request before and after it is answered.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri};
use futures_util::StreamExt as _;
use serde_json::Value;
use tokio::sync::watch;

use super::answer::{Answer, Outcome, Request};
use super::auth::{
    ACTIONS_SLUG, APP_SLUG, AppKey, Identity, JOB_TOKEN, PERSONAL_TOKEN, READ_ONLY_JOB_TOKEN,
    job_permissions, unix_now,
};
use super::control;
use super::elsewhere;
use super::faults::{Faults, matches};
use super::graphql;
use super::rest;
use super::rounds::Rounds;
use super::spec::{Fault, Move};
use super::storage;
use super::webhook::Delivery;
use super::world::{Logged, World, Write};

/// Requests an hour, as an installation has them.
pub const RATE_LIMIT: u64 = 5_000;

/// What all requests share.
#[derive(Debug)]
pub struct Shared {
    world: Mutex<World>,
    moves: Mutex<Vec<Move>>,
    pub faults: Faults,
    pub rounds: Option<Arc<Rounds>>,
    pub latency: Duration,
    /// Rises with every request answered and every change made.
    pub changes: watch::Sender<u64>,
}

/// Which of the two hosts a request came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    Api,
    Storage,
}

impl Shared {
    /// Everything for a world.
    pub fn new(world: World, rounds: Option<Arc<Rounds>>, latency: Duration) -> Self {
        let faults = Faults::default();
        for fault in &world.case.spec.faults {
            faults.add(fault.clone());
        }
        Self {
            moves: Mutex::new(world.case.spec.moves.clone()),
            world: Mutex::new(world),
            faults,
            rounds,
            latency,
            changes: watch::Sender::new(0),
        }
    }

    /// The state, alone.
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn move_heads(&self, line: &str) {
        let due: Vec<Move> = {
            let mut moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
            let (due, later) = moves.drain(..).partition(|step| matches(&step.before, line));
            *moves = later;
            due
        };
        for step in due {
            // Checked when the case was loaded.
            let _ = self.world().push(&step.head);
        }
    }
}

/// Serves one request of either host, to its end: a client that hangs up takes nothing back.
pub async fn serve(
    State((shared, host)): State<(Arc<Shared>, Host)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let request = Request {
        method: method.as_str().to_owned(),
        path: uri.path().to_owned(),
        query: uri.query().unwrap_or_default().to_owned(),
        headers,
        body,
        identity: Identity::Nobody,
        url: shared.world().url.clone(),
    };
    let answer = tokio::spawn(respond(shared, host, request)).await;
    answer.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

async fn respond(shared: Arc<Shared>, host: Host, mut request: Request) -> Response<Body> {
    if host == Host::Api && request.path.starts_with("/_") {
        let answer = control::answer(&shared, &request).await.unwrap_or_else(|refusal| refusal);
        shared.changes.send_modify(|n| *n += 1);
        return response(&request, answer, false);
    }
    let line = request.line();
    let working = shared.rounds.as_ref().map(|rounds| rounds.arrived());
    shared.faults.pass(&line).await;
    let faults = shared.faults.take(&line);
    let delay: u64 = faults.iter().filter_map(|fault| fault.latency_ms).sum();
    tokio::time::sleep(shared.latency + Duration::from_millis(delay)).await;
    shared.move_heads(&line);
    let refused = identify(&shared, host, &mut request).err();
    let number = log(&shared, &request);
    let fault = faults.iter().find(|fault| fault.answers());
    let carried_out = match (fault, refused) {
        (Some(fault), _) if !fault.after => None,
        (_, Some(refusal)) => Some(refusal),
        _ => Some(carry_out(&shared, host, &request).await),
    };
    let answer = finish(&shared, host, &request, number, carried_out, fault);
    if let Some(working) = working {
        working.hold(line).await;
    }
    shared.changes.send_modify(|n| *n += 1);
    response(&request, answer, faults.iter().any(|fault| fault.truncated))
}

/// Whether a request is GitHub's to answer.
fn is_github(host: Host, request: &Request) -> bool {
    let elsewhere = [elsewhere::HUB, elsewhere::REGISTRY, elsewhere::PAGES];
    host == Host::Api && !elsewhere.iter().any(|prefix| request.path.starts_with(prefix))
}

/// Says who asks; an unknown token is refused whatever it asks for.
fn identify(shared: &Shared, host: Host, request: &mut Request) -> Result<(), Answer> {
    if !is_github(host, request) {
        return Ok(());
    }
    let Some(header) = request.header("authorization") else { return Ok(()) };
    let token = header.split_once(' ').map_or(header, |(_, token)| token).trim();
    request.identity = if token == PERSONAL_TOKEN {
        Identity::Person
    } else if token == JOB_TOKEN || token == READ_ONLY_JOB_TOKEN {
        Identity::Installation { app: ACTIONS_SLUG, granted: job_permissions(token == JOB_TOKEN) }
    } else if token.matches('.').count() == 2 {
        AppKey::get().check(token)?;
        Identity::App
    } else {
        match shared.world().tokens.get(token) {
            Some((dies, granted)) if *dies > unix_now() => {
                Identity::Installation { app: APP_SLUG, granted: granted.clone() }
            }
            _ => return Err(Answer::message(401, "Bad credentials")),
        }
    };
    Ok(())
}

fn log(shared: &Shared, request: &Request) -> usize {
    let mut world = shared.world();
    world.requests.push(Logged {
        method: request.method.clone(),
        path: request.path.clone(),
        query: request.query.clone(),
        identity: request.identity.name(),
        status: 0,
    });
    world.requests.len() - 1
}

async fn carry_out(shared: &Arc<Shared>, host: Host, request: &Request) -> Answer {
    if let Some(answer) = redeliver(shared, request).await {
        return answer.unwrap_or_else(|refusal| refusal);
    }
    let (shared, request) = (Arc::clone(shared), request.clone());
    // Git and the file system are asked here: not on the threads that serve the sockets.
    let answered = tokio::task::spawn_blocking(move || {
        let mut world = shared.world();
        let outcome: Outcome = if host == Host::Storage {
            storage::answer(&world, &request)
        } else if let Some(outcome) = elsewhere::answer(&world, &request) {
            outcome
        } else if request.path == "/graphql" && request.method == "POST" {
            graphql::answer(&world, &request)
        } else {
            rest::answer(&mut world, &request)
        };
        outcome.unwrap_or_else(|refusal| refusal)
    });
    answered.await.unwrap_or_else(|error| Answer::message(500, &format!("the stand-in: {error}")))
}

/// `POST /app/hook/deliveries/{id}/attempts` is the one request that sends something itself.
async fn redeliver(shared: &Arc<Shared>, request: &Request) -> Option<Outcome> {
    let id = request.path.strip_prefix("/app/hook/deliveries/")?.strip_suffix("/attempts")?;
    let id: u64 = id.parse().ok()?;
    if request.method != "POST" {
        return None;
    }
    if let Err(refusal) = request.identity.need_app() {
        return Some(Err(refusal));
    }
    let (delivery, url) = {
        let world = shared.world();
        (Delivery::again(&world, id), world.webhook_url.clone())
    };
    let (Some(delivery), Some(url)) = (delivery, url) else {
        return Some(Err(Answer::not_found()));
    };
    // The receiver's failure is the delivery's, not this request's: GitHub says 202 all the same.
    let _ = control::send(shared, &delivery, &url).await;
    Some(Ok(Answer::json(202, &serde_json::json!({}))))
}

/// Records the request and puts on what every answer of the API carries.
fn finish(
    shared: &Shared,
    host: Host,
    request: &Request,
    number: usize,
    carried_out: Option<Answer>,
    fault: Option<&Fault>,
) -> Answer {
    let happened = carried_out.as_ref().map(|answer| answer.status);
    let mut answer = match (fault, carried_out) {
        (None, Some(answer)) => answer,
        (Some(fault), _) => fault.answer(),
        (None, None) => Answer::message(500, "the stand-in has no answer"),
    };
    let mut world = shared.world();
    world.requests[number].status = answer.status;
    if is_write(request) {
        let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        let n = world.writes.len() + 1;
        world.writes.push(Write {
            n,
            method: request.method.clone(),
            path: request.path.clone(),
            body,
            status: happened.unwrap_or(answer.status),
            replied: happened.filter(|happened| *happened != answer.status).map(|_| answer.status),
        });
    }
    if answer.status == 200
        && matches!(request.method.as_str(), "GET" | "HEAD")
        && !answer.headers.iter().any(|(name, _)| name == "etag")
    {
        let etag = answer.etag();
        let known = request.header("if-none-match").is_some_and(|sent| sent.contains(&etag[2..]));
        if known {
            answer = Answer { status: 304, body: Vec::new(), ..answer };
            world.requests[number].status = 304;
        }
        answer = answer.with_header("etag", &etag);
    }
    if !is_github(host, request) {
        return answer;
    }
    if answer.status != 304 {
        world.spent += 1;
    }
    let remaining = RATE_LIMIT.saturating_sub(world.spent);
    let limits = [
        ("x-ratelimit-limit", RATE_LIMIT.to_string()),
        ("x-ratelimit-remaining", remaining.to_string()),
        ("x-ratelimit-used", world.spent.to_string()),
        ("x-ratelimit-reset", (unix_now() + 3_600).to_string()),
        (
            "x-ratelimit-resource",
            if request.path == "/graphql" { "graphql" } else { "core" }.to_owned(),
        ),
        ("x-github-request-id", format!("STND:{number:06}")),
        ("x-github-media-type", "github.v3; format=json".to_owned()),
    ];
    for (name, value) in limits {
        if !answer.headers.iter().any(|(known, _)| known == name) {
            answer = answer.with_header(name, &value);
        }
    }
    answer
}

/// Whether a request would change something: tokens, queries and redeliveries do not.
fn is_write(request: &Request) -> bool {
    !matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS")
        && request.path != "/graphql"
        && !request.path.starts_with("/app/")
}

fn response(request: &Request, answer: Answer, truncated: bool) -> Response<Body> {
    let mut builder = Response::builder()
        .status(StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    for (name, value) in &answer.headers {
        builder = builder.header(name, value);
    }
    let body = if request.method == "HEAD" {
        builder = builder.header("content-length", answer.body.len());
        Body::empty()
    } else if truncated {
        let half_of = answer.body.len() / 2;
        builder = builder.header("content-length", answer.body.len());
        let half = Bytes::from(answer.body).slice(..half_of);
        let broken = async {
            // Not at once: the head and the first half have to be on their way.
            tokio::time::sleep(Duration::from_millis(20)).await;
            Err(std::io::Error::other("the case breaks the connection here"))
        };
        let half = futures_util::stream::iter([Ok(half)]);
        Body::from_stream(half.chain(futures_util::stream::once(broken)))
    } else {
        Body::from(answer.body)
    };
    builder.body(body).unwrap_or_default()
}
