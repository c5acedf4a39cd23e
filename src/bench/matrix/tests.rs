use super::{
    EvalChoice, JobName, JobWords, MatrixRow, MatrixSettings, appended, evals, family, rows,
};
use crate::bench::affected::{Delta, points};
use crate::bench::master;
use crate::bench::runners;

fn settings() -> MatrixSettings {
    MatrixSettings { dram_cap_mib: 2_861_022, agentic_seconds: 3_600, evals: Vec::new() }
}

fn choice() -> EvalChoice {
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    EvalChoice {
        workload: "8k1k".to_owned(),
        min_conc: 16,
        groups: list(&["model", "runner", "spec-decoding", "dp-attn"]),
        agentic_groups: list(&["model", "runner"]),
        ..EvalChoice::default()
    }
}

fn entry(scenarios: &str) -> Vec<MatrixRow> {
    let text = format!(
        "k:\n  image: o/n:1\n  model: m\n  model-prefix: aster\n  precision: fp8\n  framework: x\n  \
         runner: cluster:a1-p\n  multinode: false\n  scenarios:\n{scenarios}"
    );
    let master = master::read("a.yaml", &text).unwrap();
    assert!(master.problems.is_empty(), "{:?}", master.problems);
    let runners = runners::read(
        "labels: {}\nhardware: {'cluster:a1-p': {available-cpu-dram-mib: 3000000, gpus-per-node: 8}}\n",
    );
    rows(&master.entries[0], &runners.unwrap(), &settings())
}

fn fixed(rows: &str) -> Vec<MatrixRow> {
    entry(&format!(
        "    fixed-seq-len:\n    - isl: 8192\n      osl: 1024\n      search-space:\n{rows}"
    ))
}

fn agentic(rows: &str) -> Vec<MatrixRow> {
    entry(&format!("    agentic-coding:\n    - dram-utilization: 0.8\n      search-space:\n{rows}"))
}

#[test]
fn rows_are_those_of_the_generator() {
    let rows = fixed("      - { tp: 4, conc-list: [4, 8] }\n");
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (rows[0].exp_name.as_str(), rows[1].conc.as_slice()),
        ("aster_8k1k", [8].as_slice())
    );
    let row = rows[0].to_json();
    assert_eq!(
        (&row["max-model-len"], &row["pp"], &row["dp-attn"]),
        (&9472.into(), &1.into(), &false.into())
    );
    assert_eq!(family(&rows[0], false), "single-node 8k1k /");
    assert_eq!(rows[0].identity, rows[1].identity);

    let rows = agentic(
        "      - { tp: 4, kv-offloading: dram, kv-offload-backend: {name: z}, conc-list: [8] }\n      - { prefill: {num-worker: 1, tp: 4, ep: 4}, decode: {num-worker: 2, tp: 8, dp-attn: true}, conc-list: [8, 16] }\n",
    );
    assert_eq!(rows[0].exp_name, "aster_tp4_conc8_kvdram-z");
    // 2,861,022 MiB at most, four fifths of it, half of the node, rounded down.
    assert_eq!(rows[0].to_json()["total-cpu-dram-gb"], 1199);
    assert_eq!(rows.len(), 3, "one allocation a concurrency");
    assert_eq!(rows[1].exp_name, "aster_p1x4ep4_d2x8dpa_conc8");
    assert_eq!(
        (family(&rows[1], false), family(&rows[1], true)),
        ("multi-node agentic /".into(), "multi-node agentic eval /".into())
    );
}

#[test]
fn evaluations_are_the_highest_and_the_median() {
    let rows = fixed(
        "      - { tp: 4, conc-list: [1, 8, 16, 32, 64, 128] }\n      - { tp: 8, conc-list: [128, 4] }\n",
    );
    let chosen: Vec<(i64, i64)> = evals(&rows, &choice())
        .iter()
        .map(|planned| (planned.conc, rows[planned.row].fields["tp"].as_i64().unwrap()))
        .collect();
    assert_eq!(chosen, [(64, 4), (128, 4), (128, 8)], "of 16, 32, 64 and 128");
    let none = fixed("      - { tp: 4, conc-list: [1, 8] }\n");
    assert!(evals(&none, &choice()).is_empty());
    let rows = agentic("      - { tp: 4, kv-offloading: none, conc-list: [2, 4] }\n");
    assert_eq!(evals(&rows, &choice()).iter().map(|planned| planned.conc).collect::<Vec<_>>(), [4]);
}

#[test]
fn appending_keeps_every_point_and_its_curve() {
    let base = fixed("      - { tp: 4, conc-list: [4, 8] }\n");
    let more = appended(
        &base,
        &fixed("      - { tp: 4, conc-list: [4, 8, 16] }\n      - { tp: 8, conc-list: [4] }\n"),
    );
    assert!(more.breaches.is_empty() && more.strange.is_empty(), "{more:?}");
    assert_eq!(
        more.added.iter().map(|(_, conc)| conc.clone()).collect::<Vec<_>>(),
        [vec![16], vec![4]]
    );
    let less = appended(&base, &fixed("      - { tp: 4, conc-list: [8] }\n"));
    assert_eq!(
        (less.breaches.len(), less.breaches[0].conc.as_slice(), less.breaches[0].recipe),
        (1, [4].as_slice(), false)
    );
    let other = appended(&base, &fixed("      - { tp: 4, ep: 4, conc-list: [4, 8] }\n"));
    assert_eq!((other.breaches.len(), other.breaches[0].recipe), (1, true));
    let method = appended(
        &base,
        &fixed(
            "      - { tp: 4, conc-list: [4, 8] }\n      - { tp: 4, conc-list: [4], spec-decoding: mtp }\n",
        ),
    );
    assert_eq!(method.strange.len(), 1, "another way of speculating is another curve");
}

#[test]
fn points_are_at_one_revision_or_at_both() {
    let (base, head) = (
        fixed("      - { tp: 4, conc-list: [4, 8] }\n"),
        fixed("      - { tp: 4, conc-list: [8, 16] }\n"),
    );
    let found: Vec<(i64, Delta)> =
        points(&base, &head).iter().map(|point| (point.conc, point.delta)).collect();
    assert_eq!(found, [(8, Delta::Both), (16, Delta::Head), (4, Delta::Base)]);
}

#[test]
fn newer_generators_choose_by_more_fields_and_once_for_the_dashboard() {
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let newer = EvalChoice {
        agentic_groups: list(&["model", "runner", "dp-attn", "image", "kv-offloading"]),
        agentic_blind: list(&["kv-offloading", "kv-offload-backend", "total-cpu-dram-gb"]),
        agentic_highest: true,
        ..choice()
    };
    let rows = agentic(
        "      - { tp: 4, kv-offloading: dram, kv-offload-backend: {name: z}, conc-list: [8, 16] }\n      - { tp: 4, kv-offloading: none, conc-list: [2, 16] }\n      - { tp: 4, kv-offloading: none, dp-attn: true, conc-list: [32, 64] }\n",
    );
    let chosen = |rows: &[MatrixRow], choice: &EvalChoice| -> Vec<(i64, String)> {
        let planned = evals(rows, choice);
        planned.iter().map(|p| (p.conc, rows[p.row].text("kv-offloading").to_owned())).collect()
    };
    assert_eq!(chosen(&rows, &newer), [(16, "none".into()), (64, "none".into())]);
    assert_eq!(chosen(&rows, &choice()), [(64, "none".into())], "as it was in August");
    // No topology reaches sixteen.
    let rows = agentic(
        "      - { prefill: {num-worker: 1, tp: 4}, decode: {num-worker: 2, tp: 8}, conc-list: [2, 8] }\n      - { prefill: {num-worker: 1, tp: 4}, decode: {num-worker: 1, tp: 8}, conc-list: [4] }\n",
    );
    assert_eq!(chosen(&rows, &newer), [(8, String::from("none"))]);
    assert!(chosen(&rows, &choice()).is_empty());
}

#[test]
fn jobs_name_their_rows() {
    let names = JobWords { frameworks: [("x".to_owned(), "xx".to_owned())].into() };
    let row = |rows: &str| fixed(rows).remove(0);
    let plain = row("      - { tp: 4, conc-list: [4] }\n");
    let runs = |name: &str, row: &MatrixRow, conc: &[i64]| {
        JobName::read(name, "single-node 8k1k /").is_some_and(|job| job.runs(row, conc, &names))
    };
    assert!(runs("single-node 8k1k / / p50 | aster fp8 a1 xx TP4 c4", &plain, &[4]));
    assert!(runs(
        "single-node 8k1k / / aster fp8 cluster:a1-p_3 xx TP4 none KV offload c4",
        &plain,
        &[4]
    ));
    for other in [
        "single-node 8k1k / / p50 | aster fp8 a1 xx TP4 c8",
        "single-node 8k1k / / p50 | aster fp8 a1 xx TP4 mtp c4",
        "single-node 8k1k / / p50 | aster fp8 a2 xx TP4 c4",
        "single-node 8k1k / / p50 | aster fp8 a1 xx TP4/EP4 c4",
        "single-node 8k1k / / p50 | aster fp8 a1 xx TP4 dram KV offload c4",
        "single-node 8k1k / / p50 | aster fp8 a1 x TP4 c4",
        "single-node 8k1k /",
    ] {
        assert!(!runs(other, &plain, &[4]), "{other}");
    }
    let wide =
        row("      - { tp: 4, ep: 8, pp: 2, dp-attn: true, spec-decoding: mtp, conc-list: [4] }\n");
    let name = "single-node 8k1k / / p50 | aster fp8 a1 xx TP4/PP2/EP8/DPA mtp c4 | eval";
    assert!(runs(name, &wide, &[4]));
    assert!(JobName::read(name, "single-node 8k1k /").unwrap().evaluates);
    let many = &agentic(
        "      - { prefill: {num-worker: 2, tp: 4, ep: 4}, decode: {num-worker: 1, tp: 8, dp-attn: true}, kv-offloading: dram, kv-offload-backend: {name: z}, conc-list: [8] }\n",
    )[0];
    let name = "multi-node agentic / / p50 | aster fp8 a1 xx (TP4/EP4) dram KV offload z c8";
    let job = JobName::read(name, "multi-node agentic /").unwrap();
    assert!(job.runs(many, &[8], &names), "{job:?}");
    assert!(!job.runs(many, &[8, 16], &names));
}
