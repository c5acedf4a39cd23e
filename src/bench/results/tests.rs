use serde_json::{Value as Json, json};

use super::curves::curves;
use super::*;
use crate::bench::pareto::{self, Coordinate, Status};
use crate::bench::settings::tests::settings;

fn fixed() -> Json {
    json!({
        "hw": "b200-dgxc", "conc": 16, "image": "lmsysorg/sglang:v0.5.17", "model": "org/Model-FP4",
        "infmax_model_prefix": "dsr1", "framework": "sglang", "precision": "fp4",
        "spec_decoding": "mtp", "disagg": false, "recipe_fingerprint": "", "isl": 8192, "osl": 1024,
        "is_multinode": false, "tput_per_gpu": 1500.5, "output_tput_per_gpu": 166.7,
        "input_tput_per_gpu": 1333.8, "tp": 4, "pp": 1, "dcp_size": 1, "pcp_size": 2, "ep": 4,
        "dp_attention": "false", "median_e2el": 12.5, "p99.9_ttft": 0.7, "mean_intvty": 80.1,
        "p99_e2el": 20.0,
        "benchmark_outcome": {"status": "passed", "requested": 160, "completed": 152, "failed": 8,
            "max_failure_rate": 0.05},
        "power_watts": 5, "something_new": {"deep": [1]},
    })
}

fn agentic() -> Json {
    json!({
        "scenario_type": "agentic-coding", "hw": "cluster:gb200-nv", "conc": 32, "image": "vllm/vllm:1",
        "model": "org/Model-FP4", "infmax_model_prefix": "dsv4", "framework": "dynamo-vllm",
        "precision": "fp4", "spec_decoding": "mtp", "disagg": true, "is_multinode": true,
        "num_gpus": 16, "num_prefill_gpu": 8, "num_decode_gpu": 8,
        "prefill_tp": 4, "prefill_ep": 4, "prefill_dp_attention": true, "prefill_num_workers": 2,
        "decode_tp": 8, "decode_ep": 8, "decode_dp_attention": "true", "decode_num_workers": 1,
        "decode_hw": "gb200", "kv_offloading": "dram",
        "kv_offload_backend": {"name": "mooncake", "version": "0.3"},
        "num_requests_total": 1000, "num_requests_successful": 950,
        "request_metrics": {
            "latency": {"e2el": {"p50": 9.0, "p75": 12.0, "p90": 20.25}, "ttft": {"mean": 0.5}},
            "throughput": {"duration_seconds": 3600.2,
                "per_gpu": {"total_tput_tps": 900.5, "output_tput_tps": 9.0, "input_tput_tps": 891.5}},
        },
    })
}

fn rows(json: &Json) -> Rows {
    read(json.to_string().as_bytes()).unwrap()
}

/// The row, after setting a field to what the text is.
fn with(mut row: Json, pointer: &str, value: &str) -> Row {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    row.pointer_mut(parent).unwrap()[key] = json!("@");
    let text = row.to_string().replace("\"@\"", value);
    read(text.as_bytes()).unwrap().rows.remove(0)
}

fn without(mut row: Json, key: &str) -> Row {
    row.as_object_mut().unwrap().remove(key).unwrap();
    rows(&row).rows.remove(0)
}

fn lacks(row: &Row) -> Vec<(&str, bool)> {
    row.lacks.iter().map(|lack| (lack.pointer.as_str(), lack.kind == LackKind::Missing)).collect()
}

#[test]
fn a_fixed_row_is_read_whole() {
    let found = rows(&fixed());
    let row = &found.rows[0];
    assert!(row.lacks.is_empty(), "{:?}", row.lacks);
    assert_eq!(row.pointer, "");
    assert_eq!(row.image.as_deref(), Some("lmsysorg/sglang:v0.5.17"));
    assert_eq!(row.identity.scenario, Scenario::Fixed { isl: Some(8192), osl: Some(1024) });
    assert_eq!(row.accelerators(), Some(8));
    assert_eq!(row.latency("e2el", "median").unwrap().value.as_ref().unwrap().text(), "12.5");
    assert_eq!(row.latency("e2el", "p50").unwrap().pointer, "/median_e2el");
    assert!(row.latency("ttft", "p99.9").is_some() && row.latency("intvty", "mean").is_some());
    assert_eq!(row.latency("e2el", "p90"), None);
    assert_eq!(row.requests.failed, Some(8));
    assert!(row.identity.is_known());
}

#[test]
fn an_agentic_row_is_read_whole() {
    let found = rows(&json!([fixed(), agentic()]));
    let row = &found.rows[1];
    assert!(row.lacks.is_empty(), "{:?}", row.lacks);
    assert_eq!(row.accelerators(), Some(16));
    assert_eq!(row.identity.kv_offload_backend.as_deref(), Some("mooncake 0.3"));
    let p90 = row.latency("e2el", "p90").unwrap();
    assert_eq!(p90.pointer, "/1/request_metrics/latency/e2el/p90");
    assert_eq!(
        row.latency("e2el", "median").unwrap().pointer,
        "/1/request_metrics/latency/e2el/p50"
    );
    assert_eq!(
        row.metrics.duration_seconds.as_ref().unwrap().decimal().unwrap().to_string(),
        "3600.2"
    );
    let Topology::Multi { prefill, decode, .. } = &row.identity.topology else { panic!() };
    assert_eq!((prefill.pp, decode.workers, decode.dp_attention), (Some(1), Some(1), Some(true)));
    assert_eq!(decode.hw.as_deref(), Some("gb200"));
    assert!(row.identity.is_known());
}

#[test]
fn missing_fields_are_listed_by_pointer_and_stay_unknown() {
    let row = without(fixed(), "image");
    assert_eq!((row.image.as_deref(), lacks(&row)), (None, vec![("/image", true)]));
    let row = without(fixed(), "tput_per_gpu");
    assert_eq!(lacks(&row), [("/tput_per_gpu", true)]);
    let row = without(agentic(), "request_metrics");
    assert_eq!(lacks(&row), [("/request_metrics", true)]);
    assert!(row.metrics.latency.is_empty());
    let row = without(fixed(), "is_multinode");
    assert_eq!((row.identity.topology.clone(), row.accelerators()), (Topology::Unknown, None));
    let empty = read(b"[{}, 5, null]").unwrap();
    assert!(empty.rows[0].lacks.iter().all(|lack| lack.kind == LackKind::Missing));
    assert_eq!(
        empty.lacks.iter().map(|lack| lack.pointer.as_str()).collect::<Vec<_>>(),
        ["/1", "/2"]
    );
}

#[test]
fn sizes_that_old_rows_lack_are_one_and_illegible_ones_are_unknown() {
    let row = without(fixed(), "pp");
    assert_eq!(row.accelerators(), Some(8));
    assert!(row.lacks.is_empty());
    for value in ["\"x\"", "null", "1.5", "0", "-1", "true", "99999999999999999999"] {
        let row = with(fixed(), "/pp", value);
        assert_eq!((row.accelerators(), lacks(&row)), (None, vec![("/pp", false)]), "{value}");
    }
    let huge = with(fixed(), "/tp", "9223372036854775807");
    assert_eq!(huge.accelerators(), None);
    assert_eq!(with(fixed(), "/conc", "\"16\"").identity.conc, Some(16));
}

#[test]
fn a_measure_that_is_no_number_is_kept_as_such() {
    for value in ["NaN", "1e400", "true", "null", "\"1500\"", "[]"] {
        let row = with(fixed(), "/tput_per_gpu", value);
        assert!(row.metrics.total_per_gpu.as_ref().unwrap().value.is_err(), "{value}");
        assert_eq!(lacks(&row), [("/tput_per_gpu", false)], "{value}");
    }
    let row = with(agentic(), "/request_metrics/throughput/per_gpu", "3");
    assert_eq!(lacks(&row), [("/request_metrics/throughput/per_gpu", false)]);
}

#[test]
fn failed_requests_make_a_point_unusable_past_the_bar() {
    let results = settings().results;
    assert!(rows(&fixed()).rows[0].unusable(&results).is_empty());
    let reasons = with(fixed(), "/benchmark_outcome/failed", "9").unusable(&results);
    assert_eq!(reasons, ["9 of 160 requests failed, more than a share of 0.05"]);
    assert_eq!(
        with(fixed(), "/benchmark_outcome/status", "\"failed\"").unusable(&results).len(),
        1
    );
    assert_eq!(with(fixed(), "/benchmark_outcome/failed", "-1").unusable(&results).len(), 1);
    // A row cannot allow itself more, but less.
    let mut generous = fixed();
    generous["benchmark_outcome"]["max_failure_rate"] = json!(0.9);
    assert_eq!(with(generous, "/benchmark_outcome/failed", "9").unusable(&results).len(), 1);
    let strict = with(fixed(), "/benchmark_outcome/max_failure_rate", "0.01");
    assert_eq!(strict.unusable(&results).len(), 1);

    let successful = |n: &str| with(agentic(), "/num_requests_successful", n).unusable(&results);
    assert!(successful("900").is_empty());
    assert_eq!(successful("899").len(), 1);
    assert_eq!(successful("0").len(), 2);
    assert_eq!(successful("1001").len(), 1);
}

#[test]
fn duplicates_are_found_by_what_a_point_is() {
    let mut other = fixed();
    other["tput_per_gpu"] = json!(1);
    other["image"] = json!("other:1");
    let mut higher = fixed();
    higher["conc"] = json!(32);
    let found = rows(&json!([fixed(), agentic(), higher, other]));
    assert_eq!(duplicates(&found.rows), [vec![0, 3]]);
    assert_eq!(images(&found.rows).len(), 3);
    // What is unknown is not the same.
    let mut unknown = fixed();
    unknown.as_object_mut().unwrap().remove("hw");
    assert!(duplicates(&rows(&json!([unknown, unknown])).rows).is_empty());
}

#[test]
fn duplicate_keys_and_broken_files_are_said() {
    let found = read(b"[{\"hw\": \"a\", \"hw\": \"b\"}]").unwrap();
    assert_eq!(found.notes[0].pointer, "/0/hw");
    assert_eq!(found.rows[0].identity.hw.as_deref(), Some("b"));
    for (text, part) in [("3", "expected a row"), ("[", "line 1"), ("\"x\"", "found the text")] {
        assert!(read(text.as_bytes()).unwrap_err().to_string().contains(part), "{text}");
    }
    let deep = "[".repeat(100_000);
    assert!(matches!(read(deep.as_bytes()), Err(RowsError::Json(_))));
    let many = format!("[{}0]", "0,".repeat(crate::limits::RESULT_ROWS));
    assert!(matches!(read(many.as_bytes()), Err(RowsError::TooMany(_))));
}

#[test]
fn rows_of_one_series_are_one_curve() {
    let mut dominated = fixed();
    dominated["median_e2el"] = json!(20);
    dominated["tput_per_gpu"] = json!(1000);
    dominated["image"] = json!("other:1");
    let mut plain = fixed();
    plain["spec_decoding"] = json!("none");
    let mut broken = fixed();
    broken.as_object_mut().unwrap().remove("median_e2el");
    let mut unknown = fixed();
    unknown.as_object_mut().unwrap().remove("precision");
    let found = rows(&json!([fixed(), agentic(), plain, dominated, broken, unknown]));
    let settings = settings();
    let more = ["p75".to_owned(), "p90".to_owned()];
    let (series, without) = curves(&found.rows, "77", &more, &settings.results.curves);
    assert_eq!(without, [5]);
    let keys: Vec<_> = series.iter().map(|series| series.curve.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "dsr1/8k1k/b200_sglang_mtp/fp4/77/median",
            "dsv4/agentic_traces/gb200_dynamo-vllm/fp4/77/p90",
            "dsv4/agentic_traces/gb200_dynamo-vllm/fp4/77/p75",
            "dsr1/8k1k/b200_sglang/fp4/77/median",
        ]
    );
    assert_eq!(series[0].rows, [0, 3, 4]);
    let report = pareto::cover(&series[0].curve, &settings.pareto);
    assert_eq!((report.measured, report.invalid, report.count), (3, 1, 1));
    assert_eq!(report.status, Status::Warn);
    assert_eq!(series[0].curve.points[2].x, Coordinate::missing());
}

#[test]
fn a_disaggregated_variant_is_a_series_where_the_table_says_so() {
    let mut settings = settings().results.curves;
    settings.disaggregated = vec!["dynamo-vllm".to_owned()];
    let row = rows(&agentic()).rows.remove(0);
    let name = curves::series(&row.identity, &settings).unwrap();
    assert_eq!(name, "dsv4/agentic_traces/gb200_dynamo-vllm-disagg/fp4");
    let unknown = Identity { disagg: None, ..row.identity };
    assert_eq!(curves::series(&unknown, &settings), None);
}
