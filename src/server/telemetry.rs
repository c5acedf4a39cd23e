//! Metrics, as Prometheus reads them. Labels take few values, and none that a sender chooses.

use std::sync::OnceLock;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode};
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use super::now;
use crate::limits::DELIVERY_DAYS;
use crate::store::{Store, StoreError};

const DELIVERIES: &str = "countersign_deliveries_total";
const ACKNOWLEDGE: &str = "countersign_acknowledge_seconds";
const PREVIOUS_SECRET: &str = "countersign_previous_secret_total";
const JOBS: &str = "countersign_jobs_total";
const JOB: &str = "countersign_job_seconds";
const BACKLOG: &str = "countersign_backlog";
const OVERDUE: &str = "countersign_overdue_seconds";
pub(super) const VERDICTS: &str = "countersign_verdicts_total";
pub(super) const UNKNOWN_ITEMS: &str = "countersign_unknown_items_total";

/// From a tenth of a millisecond, which an fsync can take, to a job of minutes.
const BUCKETS: &[f64] =
    &[0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// Installs the recorder of this process, once; a second server shares it.
pub(super) fn install() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE
        .get_or_init(|| {
            let builder =
                PrometheusBuilder::new().set_buckets(BUCKETS).expect("BUCKETS is not empty");
            let recorder = builder.build_recorder();
            let handle = recorder.handle();
            if metrics::set_global_recorder(recorder).is_err() {
                tracing::warn!("another metrics recorder is installed; /metrics stays empty");
            }
            describe();
            handle
        })
        .clone()
}

fn describe() {
    describe_counter!(DELIVERIES, "Webhook deliveries by event and HTTP status of the answer.");
    describe_histogram!(ACKNOWLEDGE, "Seconds from a delivery's headers to its answer.");
    describe_counter!(PREVIOUS_SECRET, "Deliveries signed with the previous secret.");
    describe_counter!(
        JOBS,
        "Ended runs of jobs by outcome: done, retry, dropped, panic, stopped, lost."
    );
    describe_histogram!(JOB, "Seconds that one run of a job took.");
    describe_gauge!(BACKLOG, "Jobs by status: queued, running, failed.");
    describe_counter!(VERDICTS, "Published verdicts by outcome.");
    describe_counter!(UNKNOWN_ITEMS, "Verdicts in which a template item stood that no rule knows.");
    describe_counter!("countersign_github_requests_total", "Requests to GitHub by status.");
    describe_gauge!(OVERDUE, "Seconds that the oldest waiting job is due.");
}

/// The event's name where it is one that we read; a label must not be the sender's to choose.
pub(super) fn event_label(header: Option<&HeaderValue>) -> &'static str {
    const KNOWN: &[&str] = &[
        "check_run",
        "check_suite",
        "issue_comment",
        "merge_group",
        "ping",
        "pull_request",
        "pull_request_review",
        "pull_request_review_comment",
        "status",
    ];
    let name = header.map(HeaderValue::as_bytes).unwrap_or_default();
    KNOWN.iter().find(|known| known.as_bytes() == name).unwrap_or(&"other")
}

pub(super) fn delivery(event: &'static str, status: StatusCode, took: Duration) {
    counter!(DELIVERIES, "event" => event, "status" => status.as_str().to_owned()).increment(1);
    histogram!(ACKNOWLEDGE).record(took);
}

pub(super) fn previous_secret() {
    counter!(PREVIOUS_SECRET).increment(1);
}

pub(super) fn job(outcome: &'static str, took: Duration) {
    counter!(JOBS, "outcome" => outcome).increment(1);
    histogram!(JOB).record(took);
}

/// Brings the gauges up to date, before a scrape.
pub(super) async fn refresh(store: &Store) -> Result<(), StoreError> {
    let backlog = store.backlog().await?;
    let values =
        [("queued", backlog.queued), ("running", backlog.running), ("failed", backlog.failed)];
    for (status, jobs) in values {
        gauge!(BACKLOG, "status" => status).set(count(jobs));
    }
    let overdue = backlog.oldest_due.map_or(0, |due| (now() - due).max(0));
    gauge!(OVERDUE).set(count(overdue) / 1000.0);
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "jobs and milliseconds stay far below 2^52")]
fn count(number: i64) -> f64 {
    number as f64
}

/// Keeps memory bounded: histograms are folded even where nobody scrapes, and old rows go.
pub(super) async fn upkeep(metrics: PrometheusHandle, store: Store) {
    const FOLD: Duration = Duration::from_secs(5);
    const FOLDS_A_PRUNE: u64 = 720;
    let mut tick = tokio::time::interval(FOLD);
    for n in 0_u64.. {
        tick.tick().await;
        metrics.run_upkeep();
        if n % FOLDS_A_PRUNE == 0 {
            let before = now() - DELIVERY_DAYS * 24 * 3_600 * 1_000;
            if let Err(error) = store.prune(before).await {
                tracing::warn!(%error, "old deliveries could not be removed; tried again in an hour");
            }
        }
    }
}
