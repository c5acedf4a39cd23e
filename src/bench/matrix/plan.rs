//! What has to run: job families, and the points that are evaluated.
//!
//! Source: `mark_eval_entries` of `generate_sweep_configs.py`; job names of the sweep workflow.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{MatrixRow, MatrixSettings};
use crate::facts::canonical;

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

/// The evaluations of a set of rows, in the order of the rows.
pub fn evals(rows: &[MatrixRow], settings: &MatrixSettings) -> Vec<Planned> {
    let mut groups: BTreeMap<(bool, bool, String), Vec<Planned>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        let agentic = row.agentic();
        if !agentic && row.workload.name() != settings.eval_workload {
            continue;
        }
        let needs_load = row.multinode() || !agentic;
        let eligible =
            row.conc.iter().copied().filter(|c| !needs_load || *c >= settings.eval_min_conc);
        let Some(conc) = eligible.max() else { continue };
        let key = if row.multinode() {
            row.identity.to_string()
        } else {
            let fields =
                if agentic { &settings.agentic_eval_groups } else { &settings.eval_groups };
            let values = fields.iter().map(|field| row.fields.get(field).unwrap_or(&Json::Null));
            canonical(&values.collect::<Vec<_>>())
        };
        let group = groups.entry((row.multinode(), agentic, key)).or_default();
        group.push(Planned { row: index, conc });
    }
    let mut chosen = Vec::new();
    for ((multinode, agentic, _), group) in groups {
        if multinode || agentic {
            // The first of the highest.
            let highest = group.iter().map(|planned| planned.conc).max();
            chosen.extend(group.into_iter().find(|planned| Some(planned.conc) == highest));
        } else {
            let mut all: Vec<i64> = group.iter().map(|planned| planned.conc).collect();
            all.sort_unstable();
            all.dedup();
            let (median, highest) = (all[all.len() / 2], all[all.len() - 1]);
            chosen.extend(group.into_iter().filter(|p| p.conc == median || p.conc == highest));
        }
    }
    chosen.sort();
    chosen
}
