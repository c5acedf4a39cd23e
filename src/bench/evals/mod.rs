//! Results of evaluations: collected rows, raw results, what a job says of itself, and whether a score
//! reaches its bar.
//!
//! Source: `artifacts.md`, sections 6 and 7; `checks.md`, check 2.

mod judge;
mod raw;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::decimal::Decimal;
use super::fields::{Lack, Measure};
use super::python_json::Note;

pub use judge::{Failure, Judgement, NoAccuracyBar, Outcome, Score, contested, judge, judge_task};
pub use raw::{
    Batch, FileName, Meta, Raw, RawScore, RawTask, file_name, newest, read_meta, read_raw,
};
pub use rows::{duplicates, read};

/// What counts as a score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalSettings {
    /// The metrics of a collected row that each have to reach the bar.
    pub headline: Vec<String>,
    /// The metric that has to where not all of those are there.
    pub otherwise: String,
    /// A bar that says nothing: every score reaches it.
    pub no_bar: Decimal,
    /// So many samples, or fewer, prove no accuracy.
    pub few_samples: i64,
    /// What is said where no accuracy was proven.
    pub no_bar_words: String,
    /// Raw results that are recognised by their `result_format`.
    pub formats: Vec<String>,
}

/// The rows of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalRows {
    /// In the order of the file.
    pub rows: Vec<EvalRow>,
    /// Members of the list that are no rows at all.
    pub lacks: Vec<Lack>,
    /// Oddities of the file: keys that are given twice.
    pub notes: Vec<Note>,
}

/// One collected result of one task.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalRow {
    /// The JSON pointer of the row.
    pub pointer: String,
    /// Its line.
    pub line: i64,
    /// What was evaluated.
    pub identity: EvalIdentity,
    /// The image, where a row names one; those of the collector do not.
    pub image: Option<String>,
    /// Every metric that the row gives, by its name; what is `null` is not given.
    pub metrics: BTreeMap<String, Measure>,
    /// Which metric the score is.
    pub score_name: Option<String>,
    /// Samples that were scored, where the row says so.
    pub samples: Option<Measure>,
    /// Whether the job itself worked.
    pub infrastructure_success: Option<bool>,
    /// What went wrong in scoring.
    pub integration_error: Option<String>,
    /// The file that it was collected from.
    pub source: Option<String>,
    /// Fields that were missing or of another type. What they hold is unknown.
    pub lacks: Vec<Lack>,
}

/// What was evaluated. A field is `None` where the row does not say, or not legibly.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct EvalIdentity {
    /// The task.
    pub task: Option<String>,
    /// The suite that the task is of, where there is one.
    pub suite: Option<String>,
    /// The repository's short name of the model.
    pub model_prefix: Option<String>,
    /// The checkpoint.
    pub model: Option<String>,
    /// The label of the runner, in capitals in collected rows: compare without case.
    pub hw: Option<String>,
    /// The framework.
    pub framework: Option<String>,
    /// The precision.
    pub precision: Option<String>,
    /// The way of speculating.
    pub spec_decoding: Option<String>,
    /// Input length in tokens.
    pub isl: Option<i64>,
    /// Output length in tokens.
    pub osl: Option<i64>,
    /// Concurrent requests.
    pub conc: Option<i64>,
    /// Whether it runs over several nodes.
    pub multinode: Option<bool>,
    /// Whether prefill and decode run apart.
    pub disagg: Option<bool>,
    /// Sizes by the name of their field: `tp`, `prefill_ep`, `decode_num_workers`, …
    pub sizes: BTreeMap<String, i64>,
    /// Data-parallel attention as written. Older artifacts have it wrong: it must not tell rows apart.
    pub dp_attention: Option<String>,
}
