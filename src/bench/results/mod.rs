//! Rows of measured results: `agg_*.json`, the collected `agg_bmk.json`, and agentic results.
//!
//! A file is one row or a list of rows; fixed-sequence and agentic rows come mixed. Their two spellings of
//! latencies and throughputs become one.
//!
//! Source: `artifacts.md`, sections 3 to 5.

pub mod curves;
mod read;
mod same;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::decimal::Decimal;
pub use super::fields::{Lack, LackKind, Measure};
use super::python_json::{JsonError, Note};
pub(in crate::bench) use read::each;
pub use read::read;
pub use same::{duplicates, images};

/// What a row has to keep to, to count as measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultsSettings {
    /// The status of a fixed-sequence benchmark that passed.
    pub passed: String,
    /// Share of failed requests that a fixed-sequence row may have, where it names no bar of its own.
    pub fixed_failures: Decimal,
    /// Share of failed requests that an agentic row may have.
    pub agentic_failures: Decimal,
    /// How points become curves.
    pub curves: curves::CurveSettings,
}

/// The rows of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// In the order of the file.
    pub rows: Vec<Row>,
    /// Members of the list that are no rows at all.
    pub lacks: Vec<Lack>,
    /// Oddities of the file: keys that are given twice.
    pub notes: Vec<Note>,
}

/// Why a file has no rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowsError {
    /// It is no JSON.
    #[error("{0}")]
    Json(#[from] JsonError),
    /// It is neither a row nor a list.
    #[error("line {line}: expected a row or a list of rows, found {found}")]
    Shape {
        /// Where.
        line: i64,
        /// What stands there.
        found: String,
    },
    /// It is a list of too many.
    #[error("the file has {0} rows, more than {max}", max = crate::limits::RESULT_ROWS)]
    TooMany(usize),
}

/// One measured point.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The JSON pointer of the row; empty where the file is the row.
    pub pointer: String,
    /// Its line.
    pub line: i64,
    /// What was measured.
    pub identity: Identity,
    /// The image that was served, as written; `None` where the row does not say.
    pub image: Option<String>,
    /// What was measured of it.
    pub metrics: Metrics,
    /// How many requests were made.
    pub requests: Requests,
    /// Fields that were missing or of another type. What they hold is unknown.
    pub lacks: Vec<Lack>,
}

/// What a point is. A field is `None` where the row does not say, or not legibly.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Identity {
    /// The label of the runner.
    pub hw: Option<String>,
    /// The checkpoint.
    pub model: Option<String>,
    /// The repository's short name of the model.
    pub model_prefix: Option<String>,
    /// The framework.
    pub framework: Option<String>,
    /// The precision.
    pub precision: Option<String>,
    /// The way of speculating; `none` where there is none.
    pub spec_decoding: Option<String>,
    /// Whether prefill and decode run apart.
    pub disagg: Option<bool>,
    /// The fingerprint of the recipe; empty where there is none.
    pub recipe_fingerprint: Option<String>,
    /// What was run.
    pub scenario: Scenario,
    /// Concurrent requests or users.
    pub conc: Option<i64>,
    /// How the model is spread.
    pub topology: Topology,
    /// Where the cache is offloaded to; agentic rows only.
    pub kv_offloading: Option<String>,
    /// What offloads it, with its version where the row names one.
    pub kv_offload_backend: Option<String>,
}

/// What was run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Scenario {
    /// Requests of fixed lengths, in tokens.
    Fixed {
        /// Input length.
        isl: Option<i64>,
        /// Output length.
        osl: Option<i64>,
    },
    /// A replay of agents' traces; the scenario's name.
    Agentic {
        /// As the row names it.
        name: Option<String>,
    },
}

/// How a model is spread.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Topology {
    /// One node.
    Single {
        /// Its parallelism.
        role: Role,
    },
    /// Several nodes.
    Multi {
        /// The prefill role.
        prefill: Box<Role>,
        /// The decode role.
        decode: Box<Role>,
        /// Accelerators of the prefill role.
        prefill_gpus: Option<i64>,
        /// Accelerators of the decode role.
        decode_gpus: Option<i64>,
        /// Accelerators of an aggregated role; 0 where the row names none.
        aggregate_gpus: Option<i64>,
    },
    /// The row does not say which.
    Unknown,
}

/// The parallelism of one role.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
pub struct Role {
    /// Tensor parallelism.
    pub tp: Option<i64>,
    /// Pipeline parallelism; 1 in rows from before there was any.
    pub pp: Option<i64>,
    /// Decode context parallelism; likewise.
    pub dcp: Option<i64>,
    /// Prefill context parallelism; likewise.
    pub pcp: Option<i64>,
    /// Expert parallelism.
    pub ep: Option<i64>,
    /// Whether attention is data-parallel.
    pub dp_attention: Option<bool>,
    /// Workers, of rows over several nodes.
    pub workers: Option<i64>,
    /// The hardware of the role, where the row names one.
    pub hw: Option<String>,
}

/// What was measured. Throughputs are tokens per second and accelerator.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metrics {
    /// Input and output tokens.
    pub total_per_gpu: Option<Measure>,
    /// Output tokens.
    pub output_per_gpu: Option<Measure>,
    /// Input tokens.
    pub input_per_gpu: Option<Measure>,
    /// By measure (`e2el`, `ttft`, …), then statistic (`median`, `p90`, …): seconds, or tokens per second
    /// for interactivity.
    pub latency: BTreeMap<String, BTreeMap<String, Measure>>,
    /// How long was measured, in seconds; agentic rows only. A short profile shows here.
    pub duration_seconds: Option<Measure>,
}

/// How many requests were made and what came of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requests {
    /// What the benchmark says of itself.
    pub status: Option<String>,
    /// Requests made.
    pub total: Option<i64>,
    /// Requests that were answered.
    pub successful: Option<i64>,
    /// Requests that failed, where the row counts them.
    pub failed: Option<i64>,
    /// The share of failures that the row itself names as allowed.
    pub allowed: Option<Decimal>,
}

impl Row {
    /// The accelerators that the point takes; `None` where a factor is not known. Expert parallelism and
    /// decode context parallelism share the accelerators of the others.
    pub fn accelerators(&self) -> Option<i64> {
        match &self.identity.topology {
            Topology::Single { role } => role.tp?.checked_mul(role.pp?)?.checked_mul(role.pcp?),
            Topology::Multi { prefill_gpus, decode_gpus, aggregate_gpus, .. } => {
                (*prefill_gpus)?.checked_add((*decode_gpus)?)?.checked_add((*aggregate_gpus)?)
            }
            Topology::Unknown => None,
        }
    }

    /// A latency by measure and statistic. The 50th percentile is the median.
    pub fn latency(&self, measure: &str, statistic: &str) -> Option<&Measure> {
        let of = self.metrics.latency.get(measure)?;
        of.get(statistic).or_else(|| match statistic {
            "median" => of.get("p50"),
            "p50" => of.get("median"),
            _ => None,
        })
    }

    /// Why the point does not count as measured; empty where nothing speaks against it.
    pub fn unusable(&self, settings: &ResultsSettings) -> Vec<String> {
        let mut reasons = Vec::new();
        let requests = &self.requests;
        let agentic = matches!(self.identity.scenario, Scenario::Agentic { .. });
        if let Some(status) = requests.status.as_ref().filter(|status| **status != settings.passed)
        {
            reasons.push(format!("its status is `{status}`, not `{}`", settings.passed));
        }
        if let Some(0) = requests.successful {
            reasons.push("no request was successful".to_owned());
        }
        let failed = requests.failed.or_else(|| requests.total?.checked_sub(requests.successful?));
        let allowed = match (&requests.allowed, agentic) {
            // What the row allows itself does not widen what is allowed.
            (Some(own), false) => own.min(&settings.fixed_failures),
            (None, false) => &settings.fixed_failures,
            (_, true) => &settings.agentic_failures,
        };
        if let (Some(failed), Some(total)) = (failed, requests.total) {
            let most = allowed.times(&total.into());
            if failed < 0 || most.is_none_or(|most| Decimal::from(failed) > most) {
                reasons.push(format!(
                    "{failed} of {total} requests failed, more than a share of {allowed}"
                ));
            }
        }
        reasons
    }
}
