//! What has to run: job families, and the points that are evaluated.
//!
//! Source: `mark_eval_entries` of `generate_sweep_configs.py`; job names of the sweep workflow.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::MatrixRow;
use crate::facts::canonical;

/// How a revision of the generator chooses the points that are evaluated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvalChoice {
    /// A folder that the trees have whose generator chooses so; without it, every tree.
    #[serde(default)]
    pub tree: Option<String>,
    /// The workload of fixed lengths that is evaluated, by its short name.
    pub workload: String,
    /// The least concurrency that is evaluated, but for replays on one node.
    pub min_conc: i64,
    /// Fields of a single-node row of fixed lengths that share one choice.
    pub groups: Vec<String>,
    /// The same of replays.
    pub agentic_groups: Vec<String>,
    /// Fields by which the dashboard does not tell evaluations of replays apart: of several that differ
    /// in them alone the first without offloading is made.
    #[serde(default)]
    pub agentic_blind: Vec<String>,
    /// Whether of replays on several nodes, none of which reaches the least concurrency, the highest of
    /// the entry is evaluated.
    #[serde(default)]
    pub agentic_highest: bool,
}

/// An evaluation that the generator plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Planned {
    /// Index of the row.
    pub row: usize,
    /// The concurrency that is evaluated.
    pub conc: i64,
}

/// The family of the job that runs a row: `single-node 8k1k /` and its like.
pub fn family(row: &MatrixRow, eval: bool) -> String {
    let nodes = if row.multinode() { "multi-node " } else { "" };
    match (row.agentic(), eval) {
        (true, true) => format!("{nodes}agentic eval /"),
        (true, false) => format!("{nodes}agentic /"),
        (false, true) => format!("{nodes}eval /"),
        (false, false) if row.multinode() => format!("multi-node {} /", row.workload.name()),
        (false, false) => format!("single-node {} /", row.workload.name()),
    }
}

/// The evaluations among the rows, in the rows' order.
///
/// Of single-node rows of fixed lengths the highest and the median concurrency of each group, of replays
/// the highest, and of several nodes the highest of each topology.
pub fn evals(rows: &[MatrixRow], choice: &EvalChoice) -> Vec<Planned> {
    let mut groups: BTreeMap<(bool, bool, String), Vec<Planned>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        let agentic = row.agentic();
        if !agentic && row.workload.name() != choice.workload {
            continue;
        }
        let needs_load = row.multinode() || !agentic;
        let eligible = row.conc.iter().copied().filter(|c| !needs_load || *c >= choice.min_conc);
        let Some(conc) = eligible.max() else { continue };
        let key = if row.multinode() {
            row.identity.to_string()
        } else {
            let fields = if agentic { &choice.agentic_groups } else { &choice.groups };
            let values = fields.iter().map(|field| row.fields.get(field).unwrap_or(&Json::Null));
            canonical(&values.collect::<Vec<_>>())
        };
        let group = groups.entry((row.multinode(), agentic, key)).or_default();
        group.push(Planned { row: index, conc });
    }
    let mut chosen = Vec::new();
    for ((multinode, agentic, _), group) in groups {
        if multinode || agentic {
            chosen.extend(highest(group));
        } else {
            let mut all: Vec<i64> = group.iter().map(|planned| planned.conc).collect();
            all.sort_unstable();
            all.dedup();
            let (median, highest) = (all[all.len() / 2], all[all.len() - 1]);
            chosen.extend(group.into_iter().filter(|p| p.conc == median || p.conc == highest));
        }
    }
    if choice.agentic_highest {
        chosen.extend(unreached(rows, &chosen));
    }
    chosen.sort();
    seen_once(rows, chosen, &choice.agentic_blind)
}

/// The first of the highest.
fn highest(group: Vec<Planned>) -> Option<Planned> {
    let highest = group.iter().map(|planned| planned.conc).max();
    group.into_iter().find(|planned| Some(planned.conc) == highest)
}

/// Of each entry, none of whose replays on several nodes is chosen, the highest.
fn unreached(rows: &[MatrixRow], chosen: &[Planned]) -> Vec<Planned> {
    let replays = |row: &MatrixRow| row.multinode() && row.agentic();
    let mut entries: BTreeMap<&str, Vec<Planned>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| replays(row)) {
        let conc = row.conc.iter().copied().max();
        let planned = conc.map(|conc| Planned { row: index, conc });
        entries.entry(&row.config).or_default().extend(planned);
    }
    let reached =
        |key: &str| chosen.iter().any(|p| replays(&rows[p.row]) && rows[p.row].config == key);
    let lacking = entries.into_iter().filter(|(key, _)| !reached(key));
    lacking.filter_map(|(_, group)| highest(group)).collect()
}

/// One evaluation of those that the dashboard cannot tell apart.
fn seen_once(rows: &[MatrixRow], chosen: Vec<Planned>, blind: &[String]) -> Vec<Planned> {
    if blind.is_empty() {
        return chosen;
    }
    let offloads = |row: &MatrixRow| !matches!(row.text("kv-offloading"), "" | "none");
    let mut kept: BTreeMap<String, Planned> = BTreeMap::new();
    for planned in chosen {
        let row = &rows[planned.row];
        let identity = if row.agentic() {
            let told = row.fields.iter().filter(|(field, _)| !blind.contains(field));
            canonical(&(told.collect::<BTreeMap<_, _>>(), planned.conc))
        } else {
            format!("{} {}", planned.row, planned.conc)
        };
        match kept.get(&identity) {
            Some(first) if !offloads(&rows[first.row]) || offloads(row) => {}
            _ => _ = kept.insert(identity, planned),
        }
    }
    let mut all: Vec<Planned> = kept.into_values().collect();
    all.sort();
    all
}
