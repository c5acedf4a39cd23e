//! Collected rows: `agg_eval_all.json`.

use std::collections::BTreeMap;

use super::{EvalIdentity, EvalRow, EvalRows};
use crate::bench::fields::{Fields, Measure, flag, int, text};
use crate::bench::python_json::{self, Node, WrongType, member};
use crate::bench::results::{RowsError, each};

/// The metrics of a row.
const METRICS: [&str; 7] =
    ["score", "score_se", "em_strict", "em_strict_se", "em_flexible", "em_flexible_se", "accuracy"];

/// Beginnings and ends of the fields that give sizes.
const ROLES: [&str; 3] = ["", "prefill_", "decode_"];
const SIZES: [&str; 6] = ["tp", "pp", "dcp_size", "pcp_size", "ep", "num_workers"];

/// Reads a file of collected rows; one row alone is read too.
///
/// # Errors
/// What is no JSON, and neither an object nor a list, or a list of more than [`crate::limits::RESULT_ROWS`].
pub fn read(bytes: &[u8]) -> Result<EvalRows, RowsError> {
    let document = python_json::parse(bytes)?;
    let (rows, lacks) = each(&document.root, row)?;
    Ok(EvalRows { rows, lacks, notes: document.notes })
}

fn row(node: &Node, pointer: String) -> EvalRow {
    let mut fields = Fields::new(node, pointer.clone());
    let identity = identity(&mut fields);
    let mut metrics = BTreeMap::new();
    for name in METRICS {
        // What is `null` was not measured; anything else that is no number is a bad measurement.
        if let Some(value) = node.get(name).filter(|value| !value.is_null()) {
            metrics.insert(name.to_owned(), Measure::of(value, member(&pointer, name)));
        }
    }
    EvalRow {
        line: node.at.line,
        identity,
        image: fields.optional("image", text),
        metrics,
        score_name: fields.optional("score_name", text),
        samples: node
            .get("n_eff")
            .filter(|value| !value.is_null())
            .map(|value| Measure::of(value, member(&pointer, "n_eff"))),
        infrastructure_success: fields.optional("infrastructure_success", flag),
        integration_error: fields.optional("integration_error", error),
        source: fields.optional("source", text),
        lacks: fields.lacks,
        pointer,
    }
}

/// What an error says, whatever it is written as.
pub(super) fn error(node: &Node) -> Result<String, WrongType> {
    Ok(node.text().map_or_else(|_| node.describe(), str::to_owned))
}

/// The sizes that a row gives, by the name of their field.
pub(super) fn sizes(fields: &mut Fields<'_>) -> BTreeMap<String, i64> {
    let mut sizes = BTreeMap::new();
    for role in ROLES {
        for size in SIZES {
            let key = format!("{role}{size}");
            if let Some(value) = fields.optional(&key, int) {
                sizes.insert(key, value);
            }
        }
    }
    sizes
}

/// A truth value as written, of one role or of several: `true`, `prefill=true,decode=false`.
pub(super) fn written_flag(node: &Node) -> Result<String, WrongType> {
    node.bool().map_or_else(|_| text(node), |bool| Ok(bool.to_string()))
}

fn identity(fields: &mut Fields<'_>) -> EvalIdentity {
    EvalIdentity {
        task: fields.required("task", text),
        suite: fields.optional("eval_suite", text),
        model_prefix: fields.required("model_prefix", text),
        model: fields.required("model", text),
        hw: fields.required("hw", text),
        framework: fields.required("framework", text),
        precision: fields.required("precision", text),
        spec_decoding: fields.required("spec_decoding", text),
        isl: fields.required("isl", int),
        osl: fields.required("osl", int),
        conc: fields.required("conc", int),
        multinode: fields.required("is_multinode", flag),
        disagg: fields.optional("disagg", flag),
        sizes: sizes(fields),
        dp_attention: fields.optional("dp_attention", written_flag),
    }
}

/// Groups of rows that claim to be the same evaluation, as indices, each rising. Data-parallel attention
/// does not tell them apart; a row without task, model or concurrency is in none.
pub fn duplicates(rows: &[EvalRow]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<EvalIdentity, Vec<usize>> = BTreeMap::new();
    for (n, row) in rows.iter().enumerate() {
        let of = &row.identity;
        if of.task.is_some() && of.model_prefix.is_some() && of.conc.is_some() {
            let lower = |text: &Option<String>| text.as_ref().map(|text| text.to_lowercase());
            let identity = EvalIdentity { dp_attention: None, hw: lower(&of.hw), ..of.clone() };
            groups.entry(identity).or_default().push(n);
        }
    }
    let mut found: Vec<_> = groups.into_values().filter(|group| group.len() > 1).collect();
    found.sort();
    found
}
