//! `inspect`: what one reader makes of one file, as the contract has it.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// What the program prints of a text, read from standard input.
fn inspect(kind: &str, text: &str) -> Value {
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["inspect", kind, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_frontier_keeps_plateaus_counts_what_is_invalid_and_names_its_points() {
    let text = r#"[
        { "key": "a", "points": [{ "x": 2, "y": 150 }, { "x": 1, "y": 100 }, { "x": 3, "y": 140 }, { "x": 4, "y": 200 },
                                 { "x": 5, "y": 260 }] },
        { "key": "b", "points": [{ "x": 1, "y": 1 }, { "x": 2, "y": 1 }, { "x": 3, "y": 1 }, { "x": 4, "y": 2 }, { "x": 5, "y": 3 }] },
        { "key": "c", "points": [{ "x": 1, "y": NaN }, { "x": true, "y": 3 }, { "x": 2, "y": 1e400 }, { "x": 1.5, "y": 7 }] },
        { "key": "d", "points": [] }
    ]"#;
    assert_eq!(
        inspect("pareto", text),
        json!([
            { "key": "a", "measured": 5, "invalid": 0, "count": 4, "status": "WARN", "frontier": [1, 0, 3, 4] },
            { "key": "b", "measured": 5, "invalid": 0, "count": 5, "status": "PASS", "frontier": [0, 1, 2, 3, 4] },
            { "key": "c", "measured": 4, "invalid": 3, "count": 1, "status": "WARN", "frontier": [3] },
            { "key": "d", "measured": 0, "invalid": 0, "count": 0, "status": "WARN", "frontier": [] },
        ])
    );
}

#[test]
fn a_golden_curve_by_mode_and_draft_tokens() {
    let text = "# Source GitHub Actions run: https://github.com/o/r/actions/runs/1\n\
                some-model:\n  thinking_on:\n    1: 1.93\n    2: 2.73\n  thinking_off:\n    1: 1.90\n";
    let read = inspect("golden", text);
    assert_eq!(
        (&read["label"], &read["run"]),
        (&json!("some-model"), &json!("https://github.com/o/r/actions/runs/1"),)
    );
    assert_eq!(
        read["values"]["thinking_on"],
        json!([
            { "draft_tokens": 1, "value": "1.93", "line": 4 },
            { "draft_tokens": 2, "value": "2.73", "line": 5 },
        ])
    );
    assert_eq!(read["values"]["thinking_off"][0]["value"], "1.9");
}

#[test]
fn bars_of_every_model_and_of_one() {
    let both = inspect(
        "thresholds",
        "default:\n  gsm8k: 0.9\nmodels:\n  m:\n    gsm8k: 0\n    swe: high\n",
    );
    assert_eq!(
        both["bars"],
        json!([
            { "model": null, "task": "gsm8k", "value": "0.9", "line": 2 },
            { "model": "m", "task": "gsm8k", "value": "0", "line": 5 },
            { "model": "m", "task": "swe", "value": null, "line": 6 },
        ])
    );
    assert_eq!(both["problems"][0]["line"], 6);
    let flat = inspect("thresholds", "gsm8k: 0.85\n");
    assert_eq!(
        flat["bars"],
        json!([{ "model": null, "task": "gsm8k", "value": "0.85", "line": 1 }])
    );
}

#[test]
fn rows_of_results_with_what_speaks_against_them_and_their_frontier() {
    let row = |conc: i64, latency: f64, throughput: f64, failed: i64| {
        json!({
            "hw": "b200-nscale", "conc": conc, "image": "o/i:1", "model": "o/m", "infmax_model_prefix": "m",
            "framework": "vllm", "precision": "fp4", "spec_decoding": "none", "disagg": false,
            "recipe_fingerprint": "", "isl": 8192, "osl": 1024, "is_multinode": false, "tp": 8, "pp": 1,
            "dcp_size": 1, "pcp_size": 1, "ep": 8, "dp_attention": "false", "tput_per_gpu": throughput,
            "output_tput_per_gpu": 1.0, "input_tput_per_gpu": 1.0, "median_e2el": latency,
            "benchmark_outcome": { "status": "passed", "requested": 100, "completed": 100 - failed,
                                   "failed": failed, "max_failure_rate": 0.5 }
        })
    };
    let rows =
        [row(4, 1.0, 100.0, 0), row(8, 2.0, 90.0, 6), row(16, 3.0, 120.0, 5), row(16, 3.5, 1.0, 0)];
    let read = inspect("results", &json!(rows).to_string());
    let row = |n: usize| &read["rows"][n];
    assert_eq!((&row(0)["pointer"], &row(0)["accelerators"]), (&json!("/0"), &json!(8)));
    assert_eq!(row(0)["unusable"], json!([]));
    // What the row allows itself does not widen what is allowed.
    assert_eq!(row(1)["unusable"], json!(["6 of 100 requests failed, more than a share of 0.05"]));
    assert_eq!(row(2)["unusable"], json!([]));
    assert_eq!(read["same_point"], json!([[2, 3]]));
    assert_eq!(
        read["curves"],
        json!([{ "key": "m/8k1k/b200_vllm/fp4/-/median", "measured": 4, "invalid": 0, "count": 2,
                 "status": "WARN", "frontier": [0, 2] }])
    );
}

#[test]
fn evaluations_by_their_bars() {
    let text = r#"[
        { "task": "gsm8k", "model_prefix": "m", "em_strict": 0.9, "em_flexible": 0.84999, "score": 0.9, "n_eff": 1319 },
        { "task": "gsm8k", "model_prefix": "m", "em_strict": 0.85, "em_flexible": 0.86, "n_eff": 1319 },
        { "task": "gsm8k", "model_prefix": "m", "score": NaN, "n_eff": 1319 },
        { "task": "free", "model_prefix": "m", "score": 0.0, "n_eff": 1319 }
    ]"#;
    let folder = tempfile::tempdir().unwrap();
    let (rows, bars) = (folder.path().join("rows.json"), folder.path().join("bars.yaml"));
    std::fs::write(&rows, text).unwrap();
    std::fs::write(&bars, "default:\n  free: 0\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["inspect", "evals"])
        .args([&rows, &bars])
        .output()
        .unwrap();
    let read: Value = serde_json::from_slice(&output.stdout).unwrap();
    let outcome = |n: usize| read["rows"][n]["judgement"]["outcome"].as_str().unwrap();
    assert_eq!(
        [outcome(0), outcome(1), outcome(2), outcome(3)],
        ["failed", "passed", "failed", "passed_without_bar",]
    );
    assert_eq!(
        read["rows"][0]["judgement"]["failures"],
        json!([{ "kind": "below", "metric": "em_flexible", "value": "0.84999", "bar": "0.85" }])
    );
}

#[test]
fn what_could_steer_a_terminal_is_escaped() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["inspect", "codeowners", "-", "a\u{9b}31m\u{202e}b"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take());
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(output.contains("a\\u009b31m\\u202eb"), "{output}");
    let read: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(read["paths"][0]["path"], "a\u{9b}31m\u{202e}b");
}

#[test]
fn a_log_says_what_was_launched() {
    let text = "[2026-10-13 07:00:00] server_args=ServerArgs(model_path='o/m', tp_size=8, kv_cache_dtype='auto', \
                speculative_algorithm=None, quantization=None, api_key='secret-of-somebody')\n\
                INFO:     10.0.0.1:5000 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK\n";
    let read = inspect("log", text);
    assert_eq!(read["engine"], "sglang");
    let launch = &read["launches"][0];
    assert_eq!((&launch["complete"], &launch["line"]), (&json!(true), &json!(1)));
    assert_eq!(launch["args"]["tp_size"], 8);
    assert_eq!(launch["args"]["quantization"], Value::Null);
    assert_eq!(read["requests"], json!({ "chat": 1, "completions": 0 }));
    assert!(!read.to_string().contains("secret-of-somebody"), "{read:#}");
    // A dump that is cut says nothing of what is not there.
    let cut = inspect("log", "server_args=ServerArgs(model_path='o/m', tp_size=8, kv_cache_dt\n");
    assert_ne!(cut["launches"][0]["complete"], json!(true));
    assert!(cut["launches"][0]["args"].get("kv_cache_dtype").is_none());
    assert_eq!(inspect("log", "nothing of an engine\n")["launches"], json!([]));
}
