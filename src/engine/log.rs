//! What a log says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

/// What a log says. Serialised, it is what `inspect log` prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Log {
    /// The engine whose log it is, by its name in the table.
    pub engine: Option<String>,
    /// Its version; none where none is printed or several are.
    pub version: Option<String>,
    /// Servers as they were asked for or as they describe themselves, in the order of the log. Ranks that
    /// say the same are one.
    pub launches: Vec<Launch>,
    /// How it speculates.
    pub spec: Spec,
    /// What was accepted.
    pub acceptance: Acceptance,
    /// Requests that succeeded after the server was ready.
    pub requests: Requests,
    /// Weights that were loaded, in order; ranks that say the same are one.
    pub loads: Vec<Load>,
    /// What cannot be told, and why.
    pub unknown: Vec<String>,
    /// The acceptance length that the engine says is forced.
    #[serde(skip)]
    pub forced_acceptance: Option<f64>,
    /// The line at which the server was first ready.
    #[serde(skip)]
    pub ready_line: Option<u64>,
    /// Lines read.
    #[serde(skip)]
    pub lines: u64,
}

/// Whether arguments are what was asked for or what the engine made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// By a command line or the launcher.
    Requested,
    /// By the engine, defaults filled in.
    Resolved,
}

/// One server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Launch {
    /// Arguments by the engine's own names. An absent one is unknown or not stated; a null one was printed as
    /// none.
    pub args: Map<String, Value>,
    /// Its environment, as far as it is known.
    pub env: BTreeMap<String, String>,
    /// Whether everything that was printed is here. Where it is not, absent arguments are unknown.
    pub complete: bool,
    /// Where it begins, counted from one.
    pub line: u64,
    /// Whose word it is.
    pub kind: Kind,
    /// Its engine.
    #[serde(skip)]
    pub engine: String,
    /// Every place that says the same.
    #[serde(skip)]
    pub lines: Vec<u64>,
    /// Whether this server was seen ready.
    #[serde(skip)]
    pub ready: bool,
    /// The process that printed it.
    #[serde(skip)]
    pub(super) source: String,
}

/// How it speculates. None: not settled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Spec {
    /// The engine's name of the algorithm.
    pub algorithm: Option<String>,
    /// The draft model.
    pub draft_model: Option<String>,
    /// Tokens drafted at a time, without the root.
    pub draft_tokens: Option<i64>,
    /// The draft's quantization by its label, which does not prove what the tensors are.
    pub draft_quantization: Option<String>,
    /// Whether that was taken over from the target's.
    pub draft_quantization_inherited: Option<bool>,
}

/// What was accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Acceptance {
    /// Mean tokens of one verification, the target's own included.
    #[serde(serialize_with = "rounded")]
    pub mean: Option<f64>,
    /// Lines that it is made of.
    pub observations: u64,
}

/// Requests that succeeded. None: access lines may be turned off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Requests {
    /// To the chat endpoint.
    pub chat: Option<u64>,
    /// To the endpoint of raw completions.
    pub completions: Option<u64>,
}

/// Weights that were loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Load {
    /// The model's class.
    pub class: String,
    /// The label of its quantization, where one is printed.
    pub quantization: Option<String>,
    /// Where it is first printed.
    #[serde(skip)]
    pub line: u64,
}

/// Six places: sums of printed decimals do not show their binary tail.
fn rounded<S: Serializer>(mean: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    mean.map(|mean| (mean * 1e6).round() / 1e6).serialize(serializer)
}
