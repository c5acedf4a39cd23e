//! Everything that is not the webhook: health, metrics, stored verdicts, a first page.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use metrics_exporter_prometheus::PrometheusHandle;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::ready::Readiness;
use super::telemetry;
use crate::store::Store;

/// What the pages need.
pub(super) struct House {
    pub(super) store: Store,
    pub(super) readiness: Readiness,
    pub(super) token: Option<SecretString>,
    pub(super) metrics: PrometheusHandle,
}

impl House {
    /// Whether the request carries the token that shows private repositories.
    fn is_trusted(&self, headers: &HeaderMap) -> bool {
        let sent = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        match (&self.token, sent) {
            // Digests are compared, so that the time taken says nothing about the token.
            (Some(token), Some(sent)) => {
                Sha256::digest(token.expose_secret()) == Sha256::digest(sent)
            }
            _ => false,
        }
    }
}

/// `GET /`.
pub(super) async fn index() -> &'static str {
    concat!(
        "countersign ",
        env!("CARGO_PKG_VERSION"),
        "\n\nVerifies a code owner's sign-off on a pull request by evidence.\n\n",
        "GET /healthz            alive\n",
        "GET /readyz             able to work, and if not, why\n",
        "GET /metrics            Prometheus\n",
        "GET /api/verdicts/ID    a verdict as JSON\n",
    )
}

/// `GET /healthz`: the process answers. Nothing is asked of anybody else, so that a database that is
/// down does not get the process restarted.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// `GET /readyz`.
pub(super) async fn readyz(State(house): State<Arc<House>>) -> Response {
    let checks = house.readiness.check(&house.store).await;
    let ready = checks.iter().all(|check| check.ok);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(serde_json::json!({ "ready": ready, "checks": checks }))).into_response()
}

/// `GET /metrics`.
pub(super) async fn metrics(State(house): State<Arc<House>>) -> Response {
    if let Err(error) = telemetry::refresh(&house.store).await {
        // The rest of the metrics matters most when the database is down.
        tracing::warn!(%error, "the backlog could not be counted");
    }
    house.metrics.run_upkeep();
    let content_type = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (content_type, house.metrics.render()).into_response()
}

/// `GET /api/verdicts/{id}`: the JSON as it was published. A private repository's is not there for
/// those who may not see it.
pub(super) async fn verdict(
    State(house): State<Arc<House>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let digits = id.strip_prefix("sha256:").unwrap_or(&id);
    if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return problem(StatusCode::BAD_REQUEST, "a verdict's id is `sha256:` and 64 hex digits");
    }
    match house.store.verdict(&format!("sha256:{}", digits.to_ascii_lowercase())).await {
        Ok(Some(row)) if !row.private || house.is_trusted(&headers) => {
            let cache =
                if row.private { "no-store" } else { "public, max-age=31536000, immutable" };
            let headers =
                [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, cache)];
            (headers, row.json).into_response()
        }
        Ok(_) => problem(StatusCode::NOT_FOUND, "no such verdict"),
        Err(error) => {
            tracing::error!(%error, "a verdict could not be read");
            problem(StatusCode::SERVICE_UNAVAILABLE, "the database does not answer")
        }
    }
}

fn problem(status: StatusCode, what: &str) -> Response {
    (status, Json(serde_json::json!({ "error": what }))).into_response()
}

/// Everything else.
pub(super) async fn missing() -> Response {
    let text = "Not found. Reports for people (/r/OWNER/REPO/NUMBER, /v/ID, /rules) are not built \
                yet; a verdict's JSON is at /api/verdicts/ID.\n";
    (StatusCode::NOT_FOUND, text).into_response()
}
