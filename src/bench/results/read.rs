//! JSON → rows.

use super::{
    Identity, Lack, LackKind, Measure, Metrics, Requests, Role, Row, Rows, RowsError, Scenario,
    Topology,
};
use crate::bench::fields::{Fields, count, flag, int, text};
use crate::bench::python_json::{self, Node, Value, WrongType, member};
use crate::limits::{PROBLEMS, RESULT_ROWS};

/// What a fixed-sequence row measures of its latencies.
const MEASURES: [&str; 5] = ["ttft", "tpot", "itl", "e2el", "intvty"];

/// Reads a file of results: one row, or a list of rows.
///
/// # Errors
/// What is no JSON, and neither an object nor a list, or a list of more than [`RESULT_ROWS`]. What is wrong
/// with a row stands in its own list.
pub fn read(bytes: &[u8]) -> Result<Rows, RowsError> {
    let document = python_json::parse(bytes)?;
    let (rows, lacks) = each(&document.root, row)?;
    Ok(Rows { rows, lacks, notes: document.notes })
}

/// The rows of a file, which is one or a list of them, each with its pointer; and what of the list is none.
pub(in crate::bench) fn each<T>(
    root: &Node,
    row: impl Fn(&Node, String) -> T,
) -> Result<(Vec<T>, Vec<Lack>), RowsError> {
    let items = match &root.value {
        Value::Object(_) => return Ok((vec![row(root, String::new())], Vec::new())),
        Value::Array(items) if items.len() > RESULT_ROWS => {
            return Err(RowsError::TooMany(items.len()));
        }
        Value::Array(items) => items,
        _ => return Err(RowsError::Shape { line: root.at.line, found: root.describe() }),
    };
    let (mut rows, mut lacks) = (Vec::new(), Vec::new());
    for (n, item) in items.iter().enumerate() {
        let pointer = format!("/{n}");
        if matches!(item.value, Value::Object(_)) {
            rows.push(row(item, pointer));
        } else if lacks.len() < PROBLEMS {
            let kind = LackKind::Wrong { wanted: "a row", found: item.describe() };
            lacks.push(Lack { pointer, line: item.at.line, kind });
        }
    }
    Ok((rows, lacks))
}

fn row(node: &Node, pointer: String) -> Row {
    let mut fields = Fields::new(node, pointer.clone());
    // Fixed-sequence rows have no such field.
    let agentic = node.get("scenario_type").is_some();
    let identity = identity(&mut fields, agentic);
    let image = fields.required("image", text);
    let (metrics, requests) = if agentic {
        (agentic_metrics(&mut fields), agentic_requests(&mut fields))
    } else {
        (fixed_metrics(&mut fields), fixed_requests(&mut fields))
    };
    Row { pointer, line: node.at.line, identity, image, metrics, requests, lacks: fields.lacks }
}

fn identity(fields: &mut Fields<'_>, agentic: bool) -> Identity {
    let scenario = if agentic {
        Scenario::Agentic { name: fields.required("scenario_type", text) }
    } else {
        Scenario::Fixed { isl: fields.required("isl", count), osl: fields.required("osl", count) }
    };
    Identity {
        hw: fields.required("hw", text),
        model: fields.required("model", text),
        model_prefix: fields.required("infmax_model_prefix", text),
        framework: fields.required("framework", text),
        precision: fields.required("precision", text),
        spec_decoding: fields.required("spec_decoding", text),
        disagg: fields.required("disagg", flag),
        recipe_fingerprint: fields.optional("recipe_fingerprint", text),
        conc: fields.required("conc", count),
        topology: topology(fields, agentic),
        scenario,
        kv_offloading: if agentic { fields.required("kv_offloading", text) } else { None },
        kv_offload_backend: fields.optional("kv_offload_backend", backend),
    }
}

/// `NAME`, or `NAME VERSION`.
fn backend(node: &Node) -> Result<String, WrongType> {
    if let Value::Text(text) = &node.value {
        return Ok(text.clone());
    }
    let name = node.get("name").ok_or_else(|| node.wrong("a name"))?.text()?;
    match node.get("version").filter(|version| !version.is_null()) {
        Some(version) => Ok(format!("{name} {}", version.text()?)),
        None => Ok(name.to_owned()),
    }
}

fn topology(fields: &mut Fields<'_>, agentic: bool) -> Topology {
    match fields.required("is_multinode", flag) {
        Some(true) => Topology::Multi {
            prefill: Box::new(role(fields, "prefill_")),
            decode: Box::new(role(fields, "decode_")),
            prefill_gpus: fields.required("num_prefill_gpu", int),
            decode_gpus: fields.required("num_decode_gpu", int),
            aggregate_gpus: fields.or("num_aggregate_gpu", 0, int),
        },
        Some(false) => {
            let role = role(fields, "");
            if agentic {
                fields.optional("num_gpus", count);
            }
            Topology::Single { role }
        }
        None => Topology::Unknown,
    }
}

fn role(fields: &mut Fields<'_>, prefix: &str) -> Role {
    let multi = !prefix.is_empty();
    let key = |name: &str| format!("{prefix}{name}");
    // A role that is not there has no workers and no sizes.
    let size = if multi { int } else { count };
    Role {
        tp: fields.required(&key("tp"), size),
        pp: fields.or(&key("pp"), 1, size),
        dcp: fields.or(&key("dcp_size"), 1, size),
        pcp: fields.or(&key("pcp_size"), 1, size),
        ep: fields.required(&key("ep"), size),
        dp_attention: fields.required(&key("dp_attention"), flag),
        workers: if multi { fields.required(&key("num_workers"), int) } else { None },
        hw: if multi { fields.optional(&key("hw"), text) } else { None },
    }
}

fn fixed_metrics(fields: &mut Fields<'_>) -> Metrics {
    let mut metrics = Metrics {
        total_per_gpu: fields.measure("tput_per_gpu"),
        output_per_gpu: fields.measure("output_tput_per_gpu"),
        input_per_gpu: fields.measure("input_tput_per_gpu"),
        ..Metrics::default()
    };
    for (key, value) in fields.all() {
        let Some((statistic, measure)) = key.split_once('_') else { continue };
        let percentile = statistic.strip_prefix('p').is_some_and(|digits| {
            !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        });
        let known = percentile || matches!(statistic, "mean" | "median" | "std");
        if known && MEASURES.contains(&measure) {
            let found = Measure::of(value, member(&fields.pointer, key));
            metrics
                .latency
                .entry(measure.to_owned())
                .or_default()
                .insert(statistic.to_owned(), found);
        }
    }
    metrics
}

fn agentic_metrics(fields: &mut Fields<'_>) -> Metrics {
    let mut metrics = Metrics::default();
    let Some(mut request) = fields.inner("request_metrics", true) else { return metrics };
    if let Some(latency) = request.inner("latency", true) {
        for (measure, statistics) in latency.all() {
            let pointer = member(&latency.pointer, measure);
            let of = statistics.object().unwrap_or_default().iter().map(|(statistic, value)| {
                (statistic.clone(), Measure::of(value, member(&pointer, statistic)))
            });
            metrics.latency.insert(measure.clone(), of.collect());
        }
        request.absorb(latency);
    }
    if let Some(mut throughput) = request.inner("throughput", true) {
        metrics.duration_seconds = throughput.measure("duration_seconds");
        if let Some(mut per_gpu) = throughput.inner("per_gpu", true) {
            metrics.total_per_gpu = per_gpu.measure("total_tput_tps");
            metrics.output_per_gpu = per_gpu.measure("output_tput_tps");
            metrics.input_per_gpu = per_gpu.measure("input_tput_tps");
            throughput.absorb(per_gpu);
        }
        request.absorb(throughput);
    }
    fields.absorb(request);
    metrics
}

fn fixed_requests(fields: &mut Fields<'_>) -> Requests {
    let Some(mut outcome) = fields.inner("benchmark_outcome", false) else {
        return Requests::default();
    };
    let requests = Requests {
        status: outcome.required("status", text),
        total: outcome.required("requested", int),
        successful: outcome.required("completed", int),
        failed: outcome.required("failed", int),
        allowed: outcome.optional("max_failure_rate", |node| node.number().map(|n| n.decimal())),
    };
    fields.absorb(outcome);
    requests
}

fn agentic_requests(fields: &mut Fields<'_>) -> Requests {
    Requests {
        total: fields.required("num_requests_total", int),
        successful: fields.required("num_requests_successful", int),
        ..Requests::default()
    }
}
