//! From entries to points: the rows that the benchmark repository's generator makes.
//!
//! A row is kept in the generator's own form, a mapping of fields, because "the same recipe" means there
//! that every field but the concurrency and the generated name is equal. Recipes that were named among a
//! worker's settings stand in the fields that they have since, so that revisions compare.
//!
//! Source: `generate_sweep_configs.py` and `process_changelog.py` of the benchmark repository, held
//! against them by `tests/oracle/`.

mod append;
mod job;
mod plan;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::master::{
    AGENTIC_CODING, Component, Entry, Parallelism, Row, Scenario, Topology, Worker, Workload,
};
use super::runners::Runners;
use super::yaml::Place;
use crate::facts::canonical;

pub use append::{Appended, Breach, appended, series};
pub use job::{JobName, JobWords};
pub use plan::{EvalChoice, Planned, evals, family};

/// What the generator has as constants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatrixSettings {
    /// The most memory of a host that counts for offloading, in MiB.
    pub dram_cap_mib: i64,
    /// Seconds that a replay of agents' sessions lasts.
    pub agentic_seconds: i64,
    /// How evaluations are chosen; the first that fits the tree counts.
    pub evals: Vec<EvalChoice>,
}

impl MatrixSettings {
    /// How evaluations are chosen in a tree, of which `has` says whether a folder is in it.
    pub fn eval_choice(&self, has: impl Fn(&str) -> bool) -> Option<&EvalChoice> {
        self.evals.iter().find(|choice| choice.tree.as_deref().is_none_or(&has))
    }
}

/// One row of the matrix, for all of its concurrencies.
#[derive(Debug, Clone)]
pub struct MatrixRow {
    /// Key of its entry.
    pub config: String,
    /// What it measures.
    pub workload: Workload,
    /// Its line in the master configuration.
    pub at: Place,
    /// The generator's fields, without `conc` and `exp-name`.
    pub fields: Arc<Map<String, Json>>,
    /// Canonical JSON of the fields: the recipe's identity.
    pub identity: Arc<str>,
    /// Requests at a time: one, or those that one job runs one after the other.
    pub conc: Vec<i64>,
    /// The generator's name for it.
    pub exp_name: String,
}

impl MatrixRow {
    /// A field as text; empty where it is none.
    pub fn text(&self, field: &str) -> &str {
        self.fields.get(field).and_then(Json::as_str).unwrap_or_default()
    }

    /// Whether it runs on several nodes.
    pub fn multinode(&self) -> bool {
        self.fields.contains_key("prefill")
    }

    /// Whether it replays agents' sessions.
    pub fn agentic(&self) -> bool {
        self.workload == Workload::AgenticCoding
    }

    /// The row as the generator prints it.
    pub fn to_json(&self) -> Json {
        let mut row = (*self.fields).clone();
        let conc = if self.multinode() { json!(self.conc) } else { json!(self.conc.first()) };
        row.insert("conc".to_owned(), conc);
        row.insert("exp-name".to_owned(), self.exp_name.clone().into());
        Json::Object(row)
    }
}

/// The rows of an entry, in the generator's order.
pub fn rows(entry: &Entry, runners: &Runners, settings: &MatrixSettings) -> Vec<MatrixRow> {
    let mut rows = Vec::new();
    for scenario in &entry.scenarios {
        for row in &scenario.rows {
            let fields = Arc::new(fields(entry, scenario, row, runners, settings));
            let identity: Arc<str> = canonical(&*fields).into();
            let whole = scenario.workload != Workload::AgenticCoding
                && matches!(row.topology, Topology::Multi { .. });
            let size = if whole { row.conc.len().max(1) } else { 1 };
            for conc in row.conc.chunks(size) {
                rows.push(MatrixRow {
                    config: entry.key.clone(),
                    workload: scenario.workload,
                    at: row.at,
                    fields: Arc::clone(&fields),
                    identity: Arc::clone(&identity),
                    conc: conc.to_vec(),
                    exp_name: exp_name(entry, scenario, row, conc),
                });
            }
        }
    }
    rows
}

fn fields(
    entry: &Entry,
    scenario: &Scenario,
    row: &Row,
    runners: &Runners,
    settings: &MatrixSettings,
) -> Map<String, Json> {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Json| _ = fields.insert(name.to_owned(), value);
    for (name, written) in [
        ("image", &entry.image),
        ("model", &entry.model),
        ("model-prefix", &entry.model_prefix),
        ("precision", &entry.precision),
        ("framework", &entry.framework),
        ("runner", &entry.runner),
    ] {
        put(name, written.text.clone().into());
    }
    put("spec-decoding", row.spec_decoding.clone().into());
    match &row.topology {
        Topology::Single(parallelism) => {
            for (name, value) in parallel(parallelism) {
                put(name, value);
            }
        }
        Topology::Multi { prefill, decode, nodes } => {
            put("prefill", worker(prefill));
            put("decode", worker(decode));
            put("disagg", entry.disagg.into());
            if let Some(nodes) = nodes {
                put("num-nodes", (*nodes).into());
            }
        }
    }
    match scenario.workload {
        Workload::FixedSeqLen { isl, osl } => {
            put("isl", isl.into());
            put("osl", osl.into());
            put("max-model-len", (isl.saturating_add(osl).saturating_add(256)).into());
            put("disagg", entry.disagg.into());
        }
        Workload::AgenticCoding => {
            let offloading = row.kv_offloading.as_deref().unwrap_or("none");
            put("scenario-type", AGENTIC_CODING.into());
            put("duration", settings.agentic_seconds.into());
            put("kv-offloading", offloading.into());
            let budget = if offloading == "none" {
                Some(0)
            } else {
                dram_budget_gb(entry, scenario, row, runners, settings)
            };
            put("total-cpu-dram-gb", budget.map_or(Json::Null, Json::from));
            if let Some(backend) = &row.kv_offload_backend {
                put("kv-offload-backend", component(backend));
            }
        }
    }
    if let Some(router) = &row.router {
        put("router", component(router));
    }
    if let Some(transfer) = &row.kv_p2p_transfer {
        put("kv-p2p-transfer", transfer.clone().into());
    }
    for (name, recipe) in [("srt-recipe", &row.recipe), ("eval-srt-recipe", &row.eval_recipe)] {
        if let Some(recipe) = recipe {
            put(name, recipe.text.clone().into());
        }
    }
    for (name, value) in &row.other {
        put(name, value.clone());
    }
    fields
}

fn parallel(of: &Parallelism) -> [(&'static str, Json); 6] {
    [
        ("tp", of.tp.into()),
        ("pp", of.pp.into()),
        ("dcp-size", of.dcp.into()),
        ("pcp-size", of.pcp.into()),
        ("ep", of.ep.into()),
        ("dp-attn", of.dp_attn.into()),
    ]
}

fn worker(of: &Worker) -> Json {
    let mut fields: Map<String, Json> = parallel(&of.parallelism)
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    fields.insert("num-worker".to_owned(), of.count.into());
    if let Some(hardware) = &of.hardware {
        fields.insert("hardware".to_owned(), hardware.clone().into());
    }
    if !of.settings.is_empty() {
        let settings: Vec<&str> = of.settings.iter().map(|written| written.text.as_str()).collect();
        fields.insert("additional-settings".to_owned(), json!(settings));
    }
    Json::Object(fields)
}

fn component(of: &Component) -> Json {
    let mut fields = Map::from_iter([("name".to_owned(), of.name.clone().into())]);
    if let Some(version) = &of.version {
        fields.insert("version".to_owned(), version.clone().into());
    }
    Json::Object(fields)
}

/// Memory of a host that a server may offload to, in GB of 10^9 bytes, rounded down; `None` where the
/// runner's hardware or the share is not known.
///
/// Source: `agentic_dram_offload_gb`: the host's memory up to the cap, times the share, times the part of
/// the node's accelerators that one server takes (of the prefill role where there are several).
fn dram_budget_gb(
    entry: &Entry,
    scenario: &Scenario,
    row: &Row,
    runners: &Runners,
    settings: &MatrixSettings,
) -> Option<i64> {
    let hardware = runners.hardware.get(&entry.runner.text)?;
    let (share, scale) = decimal(scenario.dram_utilization.as_deref()?)?;
    let of = match &row.topology {
        Topology::Single(parallelism) => parallelism,
        Topology::Multi { prefill, .. } => &prefill.parallelism,
    };
    let server = i128::from(of.tp) * i128::from(of.pp) * i128::from(of.pcp);
    let gpus = server.min(i128::from(hardware.gpus));
    let mib = i128::from(hardware.dram_mib.min(settings.dram_cap_mib));
    let bytes = mib.checked_mul(1 << 20)?.checked_mul(share)?.checked_mul(gpus)?;
    let whole = scale.checked_mul(i128::from(hardware.gpus))?.checked_mul(1_000_000_000)?;
    i64::try_from(bytes / whole).ok()
}

/// A decimal text as an integer over a power of ten.
fn decimal(text: &str) -> Option<(i128, i128)> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.len() > 18 {
        return None;
    }
    let digits: i128 = format!("{whole}{part}").parse().ok()?;
    Some((digits, 10_i128.pow(u32::try_from(part.len()).ok()?)))
}

/// The generator's name for a job.
///
/// Source: `seq_len_to_str`, `multinode_agentic_exp_name`, `agentic_kv_offload_suffix`.
fn exp_name(entry: &Entry, scenario: &Scenario, row: &Row, conc: &[i64]) -> String {
    let prefix = &entry.model_prefix.text;
    if scenario.workload != Workload::AgenticCoding {
        return format!("{prefix}_{}", scenario.workload.name());
    }
    let offloading = row.kv_offloading.as_deref().unwrap_or("none");
    let offload = match &row.kv_offload_backend {
        Some(backend) if offloading != "none" => format!("kv{offloading}-{}", backend.name),
        _ => format!("kv{offloading}"),
    };
    let concs = conc.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
    match &row.topology {
        Topology::Single(of) => {
            let spec = match row.spec_decoding.as_str() {
                "none" => String::new(),
                spec => format!("_spec-{spec}"),
            };
            format!("{prefix}_tp{}_conc{concs}_{offload}{spec}", of.tp)
        }
        Topology::Multi { prefill, decode, .. } => {
            let tag = |role: char, of: &Worker| {
                let ep = match of.parallelism.ep {
                    1 => String::new(),
                    ep => format!("ep{ep}"),
                };
                let dpa = if of.parallelism.dp_attn { "dpa" } else { "" };
                format!("{role}{}x{}{ep}{dpa}", of.count, of.parallelism.tp)
            };
            let offload = if offloading == "none" { String::new() } else { format!("_{offload}") };
            format!("{prefix}_{}_{}_conc{concs}{offload}", tag('p', prefill), tag('d', decode))
        }
    }
}
