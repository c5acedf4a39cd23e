//! Master configurations: what the benchmark repository measures.
//!
//! A file maps keys to entries; an entry has scenarios, a scenario has a search space, a row of that
//! space has a topology and concurrencies. Every form that the repository has used is read: ranges and
//! lists of concurrencies; single-node rows; `prefill` and `decode`; `worker`; recipes named by
//! `CONFIG_FILE=` settings and by `srt-recipe`. Fields that are not known are notes, values that are
//! wrong are problems; neither keeps the rest from being read.
//!
//! Source: `utils/matrix_logic/validation.py` of the benchmark repository, later
//! `infx/matrix_logic/validation.py`.

mod read;
#[cfg(test)]
mod tests;

use super::yaml::{self, Node, Place};

pub use read::read;

/// A master configuration file.
#[derive(Debug, Clone)]
pub struct Master {
    /// Its entries, in the file's order.
    pub entries: Vec<Entry>,
    /// What is odd and was accepted.
    pub notes: Vec<yaml::Note>,
    /// What is wrong, and where.
    pub problems: Vec<yaml::Note>,
}

/// A text and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// As written; empty where there is none.
    pub text: String,
    /// Where.
    pub at: Place,
}

/// One entry.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its key.
    pub key: String,
    /// The file that it stands in.
    pub path: String,
    /// Where its key stands.
    pub at: Place,
    /// The container image; `#` may stand for `/` after the registry's host.
    pub image: Written,
    /// The model: a hub's id, a path, or an alias of the cluster.
    pub model: Written,
    /// The repository's own name of the model.
    pub model_prefix: Written,
    /// The precision.
    pub precision: Written,
    /// The framework.
    pub framework: Written,
    /// The runner's label.
    pub runner: Written,
    /// Whether it runs on several nodes.
    pub multinode: bool,
    /// Whether prefill and decode are apart.
    pub disagg: bool,
    /// The folder of its recipes, where it names one.
    pub recipe_dir: Option<Written>,
    /// Its scenarios, in the file's order.
    pub scenarios: Vec<Scenario>,
    /// Everything, for comparing.
    pub node: Node,
}

/// What a scenario measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Workload {
    /// Requests of fixed lengths, in tokens.
    FixedSeqLen {
        /// Tokens in.
        isl: i64,
        /// Tokens out.
        osl: i64,
    },
    /// Replay of recorded agents' sessions.
    AgenticCoding,
}

/// The scenario type of fixed lengths, as files write it.
pub const FIXED_SEQ_LEN: &str = "fixed-seq-len";
/// The scenario type of agents' sessions, as files write it.
pub const AGENTIC_CODING: &str = "agentic-coding";

impl Workload {
    /// The scenario type, as changelog entries select it.
    pub fn scenario_type(self) -> &'static str {
        match self {
            Self::FixedSeqLen { .. } => FIXED_SEQ_LEN,
            Self::AgenticCoding => AGENTIC_CODING,
        }
    }

    /// The short name: `8k1k` for 8,192 and 1,024 tokens, `ISL_OSL` where either is no whole number of
    /// thousands, or `agentic-coding`.
    pub fn name(self) -> String {
        match self {
            Self::AgenticCoding => AGENTIC_CODING.to_owned(),
            Self::FixedSeqLen { isl, osl }
                if isl % 1024 == 0 && osl % 1024 == 0 && isl > 0 && osl > 0 =>
            {
                format!("{}k{}k", isl / 1024, osl / 1024)
            }
            Self::FixedSeqLen { isl, osl } => format!("{isl}_{osl}"),
        }
    }
}

/// One scenario of an entry.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What it measures.
    pub workload: Workload,
    /// Where it begins.
    pub at: Place,
    /// The share of a node's memory that may be offloaded to, as a decimal text.
    pub dram_utilization: Option<String>,
    /// Its search space.
    pub rows: Vec<Row>,
}

/// One row of a search space.
#[derive(Debug, Clone)]
pub struct Row {
    /// Where it begins.
    pub at: Place,
    /// Requests at a time, in the order in which they are run.
    pub conc: Vec<i64>,
    /// `none`, or how it speculates.
    pub spec_decoding: String,
    /// What it runs on.
    pub topology: Topology,
    /// `none`, or where the KV cache is offloaded to; `None` where the row does not say.
    pub kv_offloading: Option<String>,
    /// What does the offloading.
    pub kv_offload_backend: Option<Component>,
    /// The router, of the row or else of the entry.
    pub router: Option<Component>,
    /// How the KV cache is handed over, of the row or else of the entry.
    pub kv_p2p_transfer: Option<String>,
    /// The launch recipe: `PATH` or `PATH:SELECTOR`.
    pub recipe: Option<Written>,
    /// The launch recipe of its evaluations.
    pub eval_recipe: Option<Written>,
    /// Fields that this reader does not know, by name: they make rows differ.
    pub other: Vec<(String, serde_json::Value)>,
}

/// A named component with its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// Its version, where it is given.
    pub version: Option<String>,
}

/// What a row runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topology {
    /// One node, one server.
    Single(Parallelism),
    /// Several nodes.
    Multi {
        /// Prefill workers; all workers where they are not apart.
        prefill: Box<Worker>,
        /// Decode workers; none where they are not apart.
        decode: Box<Worker>,
        /// Nodes, where the row says how many.
        nodes: Option<i64>,
    },
}

/// How one server divides a model over accelerators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallelism {
    /// Tensor parallelism.
    pub tp: i64,
    /// Pipeline parallelism.
    pub pp: i64,
    /// Decode context parallelism.
    pub dcp: i64,
    /// Prefill context parallelism.
    pub pcp: i64,
    /// Expert parallelism.
    pub ep: i64,
    /// Whether attention runs data-parallel.
    pub dp_attn: bool,
}

/// The workers of one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// How many.
    pub count: i64,
    /// How each of them divides the model.
    pub parallelism: Parallelism,
    /// The hardware, where it is named.
    pub hardware: Option<String>,
    /// Settings for the launcher, `NAME=VALUE`, but for those that name a recipe.
    pub settings: Vec<Written>,
    /// Whether it gave any setting at all, and where.
    pub settings_at: Option<Place>,
}

impl Entry {
    /// Whether any of its rows speculates.
    pub fn speculates(&self) -> bool {
        self.rows().any(|(_, row)| row.speculates())
    }

    /// Its rows with their scenarios, in the file's order.
    pub fn rows(&self) -> impl Iterator<Item = (&Scenario, &Row)> {
        self.scenarios
            .iter()
            .flat_map(|scenario| scenario.rows.iter().map(move |row| (scenario, row)))
    }

    /// The hardware: the runner without `cluster:`, up to its first `-`.
    pub fn sku(&self) -> &str {
        sku(&self.runner.text)
    }
}

impl Row {
    /// Whether it decodes speculatively.
    pub fn speculates(&self) -> bool {
        self.spec_decoding != "none"
    }
}

/// The hardware of a runner's label: without `cluster:`, up to the first `-`.
pub fn sku(runner: &str) -> &str {
    let label = runner.split_once(':').map_or(runner, |(_, name)| name);
    label.split('-').next().unwrap_or(label)
}
