//! `POST /webhook`, step by step: size, signature, meaning, disk, answer.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use tokio::sync::Notify;

use super::body::{Bodies, BodyError};
use super::event::{self, Event, Malformed, Watched};
use super::now;
use super::signature::{Secrets, SignedWith};
use super::telemetry;
use crate::limits::DELIVERY_NAME_BYTES;
use crate::store::{Accepted, Delivery, NewJob, PullKey, Store, StoreError};

/// What the door needs.
pub(super) struct Door {
    pub(super) store: Store,
    pub(super) secrets: Secrets,
    pub(super) watched: Watched,
    pub(super) wake: Arc<Notify>,
    pub(super) bodies: Bodies,
}

/// How a delivery was received.
#[derive(Debug)]
enum Received {
    /// On disk, with its job.
    Queued,
    /// On disk since an earlier try.
    Repeated,
    /// Nothing to do, and why.
    Nothing(&'static str),
}

/// Why a delivery was turned away. The answers say no more than a sender may know.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("{0}")]
    Body(#[from] BodyError),
    #[error("the signature is missing or wrong")]
    Signature,
    #[error("the header {0} is missing or is not a short word")]
    Header(&'static str),
    #[error("the body is not the JSON that GitHub documents for this event: {0}")]
    Malformed(#[from] Malformed),
    #[error("the body is a form; set the webhook's content type to application/json")]
    Form,
    #[error("the delivery could not be stored; deliver it again")]
    Store(#[from] StoreError),
}

impl Refused {
    /// The table of refusals.
    fn status(&self) -> StatusCode {
        match self {
            Self::Body(error) => error.status(),
            Self::Signature => StatusCode::UNAUTHORIZED,
            Self::Header(_) | Self::Malformed(_) | Self::Form => StatusCode::BAD_REQUEST,
            Self::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// The route.
pub(super) async fn webhook(State(door): State<Arc<Door>>, request: Request) -> Response {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    let event = telemetry::event_label(parts.headers.get("x-github-event"));
    let received = door.receive(&parts.headers, body).await;

    let (status, text) = match &received {
        Ok(Received::Queued) => (StatusCode::ACCEPTED, "queued".to_owned()),
        Ok(Received::Repeated) => (StatusCode::ACCEPTED, "already queued or done".to_owned()),
        Ok(Received::Nothing(why)) => (StatusCode::OK, format!("nothing to do: {why}")),
        Err(refused) => (refused.status(), refused.to_string()),
    };
    telemetry::delivery(event, status, started.elapsed());
    (status, text + "\n").into_response()
}

impl Door {
    /// Receives a delivery and logs the one line about it. Bodies are never logged.
    async fn receive(&self, headers: &HeaderMap, body: Body) -> Result<Received, Refused> {
        let guid = word(headers, "x-github-delivery");
        let name = word(headers, "x-github-event");
        let received = self.take(headers, body, guid, name).await;
        let (delivery, event) = (guid.unwrap_or("-"), name.unwrap_or("-"));
        match &received {
            Ok(outcome) => tracing::info!(delivery, event, ?outcome, "delivery"),
            Err(Refused::Store(error)) => {
                tracing::error!(delivery, event, %error, "delivery not stored");
            }
            // Before the signature is checked anybody can send anything.
            Err(refused @ (Refused::Body(_) | Refused::Signature)) => {
                tracing::debug!(%refused, "delivery refused");
            }
            Err(refused) => tracing::warn!(delivery, event, %refused, "delivery refused"),
        }
        received
    }

    async fn take(
        &self,
        headers: &HeaderMap,
        body: Body,
        guid: Option<&str>,
        name: Option<&str>,
    ) -> Result<Received, Refused> {
        let body = self.bodies.read(headers, body).await?;
        let header = headers.get("x-hub-signature-256").map(|value| value.as_bytes());
        match self.secrets.verify(header, &body.bytes) {
            None => return Err(Refused::Signature),
            Some(SignedWith::Current) => {}
            Some(SignedWith::Previous) => telemetry::previous_secret(),
        }
        let guid = guid.ok_or(Refused::Header("X-GitHub-Delivery"))?;
        let name = name.ok_or(Refused::Header("X-GitHub-Event"))?;
        let event = event::read(name, &body.bytes, &self.watched).map_err(|malformed| {
            if body.bytes.starts_with(b"payload=") { Refused::Form } else { malformed.into() }
        })?;
        let (action, jobs) = match event {
            Event::Nothing(why) => return Ok(Received::Nothing(why)),
            Event::Asks { action, jobs } => (Some(action), jobs),
            Event::Finished { action, repository, commit, trigger } => {
                // Asked of our own memory: most of what finishes is about nothing that was assessed.
                let pulls = self.store.pulls_at(&repository, &commit).await?;
                if pulls.is_empty() {
                    return Ok(Received::Nothing("nothing was assessed at that commit"));
                }
                let key = |number| PullKey { repository: repository.clone(), number };
                let job = |n| NewJob { key: key(n), triggers: vec![trigger.clone()] };
                (action, pulls.into_iter().map(job).collect())
            }
        };
        let delivery = Delivery {
            guid: guid.to_owned(),
            event: name.to_owned(),
            action,
            repository: jobs.first().map(|job| job.key.repository.clone()).unwrap_or_default(),
            body_sha256: hex::encode(Sha256::digest(&body.bytes)),
            received_at: now(),
        };
        // The answer does not wait for the body's room in memory.
        drop(body);
        match self.store.accept(delivery, jobs).await? {
            Accepted::New => {
                self.wake.notify_one();
                Ok(Received::Queued)
            }
            Accepted::Repeated { same_body } => {
                if !same_body {
                    tracing::warn!(delivery = guid, "repeated with another body; the first counts");
                }
                Ok(Received::Repeated)
            }
        }
    }
}

/// A header that is one short word of visible ASCII.
fn word<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let text = headers.get(name)?.to_str().ok()?;
    let fits = (1..=DELIVERY_NAME_BYTES).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then_some(text)
}
