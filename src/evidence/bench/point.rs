//! One point, and what it is called.

use super::world::{Side, World};
use crate::bench::master::{Entry, sku};
use crate::bench::matrix::MatrixRow;
use crate::facts::{Delta, Point, RoleTopology};

/// A point as the facts have it.
pub(super) fn point(
    world: &World<'_>,
    side: &Side,
    entry: &Entry,
    row: &MatrixRow,
    conc: i64,
    delta: Delta,
) -> Point {
    let text = |field: &str| row.text(field).to_owned();
    let number = |field: &str| row.fields.get(field).and_then(serde_json::Value::as_i64);
    let flag = |field: &str| row.fields.get(field) == Some(&true.into());
    let spec_decoding = text("spec-decoding");
    let optional = |field: &str| Some(text(field)).filter(|text| !text.is_empty());
    Point {
        subject: subject(row, conc),
        config: row.config.clone(),
        scenario: row.workload.name(),
        model_prefix: text("model-prefix"),
        model: text("model"),
        precision: text("precision"),
        framework: text("framework"),
        runner: text("runner"),
        sku: sku(row.text("runner")).to_owned(),
        image: text("image"),
        speculative: spec_decoding != "none",
        spec_decoding,
        agentic: row.agentic(),
        multinode: row.multinode(),
        disagg: flag("disagg"),
        isl: number("isl"),
        osl: number("osl"),
        conc,
        topology: topology(row),
        kv_offloading: optional("kv-offloading").unwrap_or_else(|| "none".to_owned()),
        recipe: optional("srt-recipe"),
        eval_recipe: optional("eval-srt-recipe"),
        delta,
        origin: world.line(side, &entry.path, row.at),
    }
}

/// A point's name in texts: its entry, scenario, topology and concurrency.
pub(super) fn subject(row: &MatrixRow, conc: i64) -> String {
    let role = |of: &RoleTopology| {
        let ep = if of.ep > 1 { format!("ep{}", of.ep) } else { String::new() };
        let dpa = if of.dp_attn { "dpa" } else { "" };
        let workers = if of.workers == 1 { String::new() } else { format!("{}x", of.workers) };
        format!("{workers}tp{}{ep}{dpa}", of.tp)
    };
    let roles = topology(row).iter().map(role).collect::<Vec<_>>().join("+");
    format!("{} {} {roles} c{conc}", row.config, row.workload.name())
}

fn topology(row: &MatrixRow) -> Vec<RoleTopology> {
    let of = |role: &str, fields: &serde_json::Map<String, serde_json::Value>| {
        let number =
            |field: &str, or| fields.get(field).and_then(serde_json::Value::as_i64).unwrap_or(or);
        RoleTopology {
            role: role.to_owned(),
            workers: number("num-worker", 1),
            tp: number("tp", 1),
            pp: number("pp", 1),
            ep: number("ep", 1),
            dp_attn: fields.get("dp-attn") == Some(&true.into()),
            hardware: fields.get("hardware").and_then(|text| text.as_str()).map(str::to_owned),
        }
    };
    let worker = |role: &str| row.fields.get(role).and_then(serde_json::Value::as_object);
    match (worker("prefill"), worker("decode")) {
        (Some(prefill), Some(decode)) => {
            let decode = self::of_workers(of("decode", decode));
            match decode {
                Some(decode) => vec![of("prefill", prefill), decode],
                None => vec![of("agg", prefill)],
            }
        }
        _ => vec![of("agg", &row.fields)],
    }
}

/// A role that has workers.
fn of_workers(role: RoleTopology) -> Option<RoleTopology> {
    (role.workers > 0).then_some(role)
}
