use serde_json::{Value as Json, json};

use super::*;
use crate::bench::results::RowsError;
use crate::bench::settings::tests::settings;
use crate::bench::thresholds::{self, Thresholds};

const BARS: &str = "\
default: {gsm8k: 0.90, ruler_lite: 0.0, broken: high}
models:
  dsr1: {gsm8k: 0.91}
";

fn bars() -> Thresholds {
    thresholds::read(BARS).unwrap()
}

fn row() -> Json {
    json!({
        "is_multinode": false, "model_prefix": "dsr1", "model": "org/Model", "hw": "B200-DGXC",
        "framework": "sglang", "precision": "fp4", "spec_decoding": "none", "isl": 8192, "osl": "1024",
        "tp": 8, "ep": 1, "conc": 64, "dp_attention": "false", "task": "gsm8k", "em_strict": 0.95,
        "em_strict_se": 0.006, "em_flexible": 0.951, "em_flexible_se": 0.006, "n_eff": 1319,
        "source": "eval_x/results_1.json", "infrastructure_success": true, "integration_error": null,
        "score": 0.95, "score_name": "em_strict", "score_se": 0.006,
    })
}

fn rows(json: &Json) -> EvalRows {
    read(json.to_string().as_bytes()).unwrap()
}

/// The judgement of the row after setting a field to what the text is, or taking it away.
fn judged(changes: &[(&str, &str)]) -> Judgement {
    let mut changed = row();
    for (n, (key, value)) in changes.iter().enumerate() {
        if value.is_empty() {
            changed.as_object_mut().unwrap().remove(*key);
        } else {
            changed[*key] = json!(format!("@{n}"));
        }
    }
    let mut text = changed.to_string();
    for (n, (_, value)) in changes.iter().enumerate() {
        text = text.replace(&format!("\"@{n}\""), value);
    }
    let settings = settings();
    let found = read(text.as_bytes()).unwrap();
    judge(&found.rows[0], &bars(), &settings.thresholds, &settings.evals)
}

#[test]
fn a_collected_row_is_read_whole() {
    let found = rows(&json!([row()]));
    let row = &found.rows[0];
    assert!(row.lacks.is_empty(), "{:?}", row.lacks);
    assert_eq!((row.identity.osl, row.identity.conc), (Some(1024), Some(64)));
    assert_eq!(row.identity.sizes, BTreeMap::from([("ep".to_owned(), 1), ("tp".to_owned(), 8)]));
    assert_eq!(row.metrics["em_strict"].pointer, "/0/em_strict");
    assert_eq!((row.image.as_ref(), row.infrastructure_success), (None, Some(true)));
}

#[test]
fn a_score_passes_at_its_bar_and_not_below() {
    let found = judged(&[]);
    assert_eq!(found.outcome, Outcome::Passed);
    assert_eq!(found.bar.unwrap().value.to_string(), "0.91");
    assert_eq!(found.scores.len(), 2);
    let at = [("em_strict", "0.91"), ("em_flexible", "0.910")];
    assert_eq!(judged(&at).outcome, Outcome::Passed);
    let found = judged(&[("em_strict", "0.9099999999999999999999")]);
    assert_eq!(found.outcome, Outcome::Failed);
    assert!(
        matches!(&found.failures[..], [Failure::Below { metric, .. }] if metric == "em_strict")
    );
}

#[test]
fn every_headline_metric_has_to_reach_the_bar() {
    let found = judged(&[("em_flexible", "0.5")]);
    assert!(
        matches!(&found.failures[..], [Failure::Below { metric, .. }] if metric == "em_flexible")
    );
    // Without one of them the score has to as well.
    let found = judged(&[("em_flexible", "null"), ("score", "0.2")]);
    assert!(matches!(&found.failures[..], [Failure::Below { metric, .. }] if metric == "score"));
    let found = judged(&[("em_strict", ""), ("em_flexible", ""), ("score", "0.95")]);
    assert_eq!((found.outcome, found.scores.len()), (Outcome::Passed, 1));
    let found = judged(&[("em_strict", ""), ("em_flexible", ""), ("score", "null")]);
    assert_eq!(found.failures, [Failure::NoScore]);
}

#[test]
fn a_score_that_is_no_share_fails() {
    for value in ["NaN", "Infinity", "1e400", "true", "\"0.95\"", "[]"] {
        let found = judged(&[("em_strict", value)]);
        assert!(matches!(&found.failures[..], [Failure::NotANumber { .. }]), "{value}: {found:?}");
    }
    for value in ["1.0000001", "95", "-0.1"] {
        let found = judged(&[("em_strict", value)]);
        assert!(matches!(&found.failures[..], [Failure::OutOfRange { .. }]), "{value}: {found:?}");
    }
    assert_eq!(judged(&[("em_strict", "1")]).outcome, Outcome::Passed);
}

#[test]
fn what_the_job_says_of_itself_counts() {
    assert_eq!(judged(&[("infrastructure_success", "false")]).failures, [Failure::Infrastructure]);
    assert_eq!(judged(&[("infrastructure_success", "")]).outcome, Outcome::Passed);
    let unreadable = Failure::Unreadable { pointer: "/infrastructure_success".to_owned() };
    assert_eq!(judged(&[("infrastructure_success", "0")]).failures, [unreadable]);
    for error in ["\"no answer\"", "{\"a\": 1}", "false"] {
        let found = judged(&[("integration_error", error)]);
        assert!(matches!(&found.failures[..], [Failure::Integration { .. }]), "{error}");
    }
}

#[test]
fn zero_bars_and_single_samples_prove_no_accuracy() {
    let found = judged(&[("task", "\"ruler_lite\""), ("em_strict", "0"), ("em_flexible", "0.0")]);
    assert_eq!(found.outcome, Outcome::PassedWithoutBar);
    assert_eq!(found.no_accuracy_bar, [NoAccuracyBar::ZeroBar]);
    let found = judged(&[("n_eff", "1")]);
    assert_eq!(found.outcome, Outcome::PassedWithoutBar);
    assert_eq!(found.no_accuracy_bar, [NoAccuracyBar::FewSamples { samples: "1".to_owned() }]);
    // A single sample below its bar is below its bar.
    assert_eq!(judged(&[("n_eff", "1"), ("em_strict", "0.5")]).outcome, Outcome::Failed);
    for none in ["0", "-3", "NaN", "\"many\""] {
        let found = judged(&[("n_eff", none)]);
        assert!(matches!(&found.failures[..], [Failure::NoSamples { .. }]), "{none}");
    }
    assert_eq!(judged(&[("n_eff", "")]).outcome, Outcome::Passed);
    assert_eq!(settings().evals.no_bar_words, "no accuracy bar in force");
}

#[test]
fn a_bar_that_is_not_known_is_never_reached() {
    let found = judged(&[("task", "\"broken\"")]);
    assert!(matches!(&found.failures[..], [Failure::BarUnknown { .. }]));
    assert_eq!(judged(&[("task", "")]).failures, [Failure::NoSubject]);
    assert_eq!(judged(&[("model_prefix", "3")]).failures, [Failure::NoSubject]);
    let found = judged(&[("task", "\"new_task\"")]);
    assert_eq!(found.bar.unwrap().value.to_string(), "0.85");
}

#[test]
fn duplicates_do_not_differ_by_attention_or_case() {
    let (mut other, mut task) = (row(), row());
    other["dp_attention"] = json!(true);
    other["hw"] = json!("b200-dgxc");
    other["score"] = json!(0.1);
    task["task"] = json!("ruler_lite");
    let found = rows(&json!([row(), task, other]));
    assert_eq!(duplicates(&found.rows), [vec![0, 2]]);
    assert!(duplicates(&rows(&json!([{}, {}])).rows).is_empty());
}

#[test]
fn duplicates_on_both_sides_of_the_bar_are_contested() {
    let settings = settings();
    let (mut same, mut below) = (row(), row());
    same["em_strict"] = json!(0.99);
    below["em_strict"] = json!(0.2);
    let contested = |rows: &EvalRows| {
        let judge = |row| judge(row, &bars(), &settings.thresholds, &settings.evals);
        contested(&rows.rows, &rows.rows.iter().map(judge).collect::<Vec<_>>())
    };
    assert!(contested(&rows(&json!([row(), same]))).is_empty());
    assert!(contested(&rows(&json!([below, below]))).is_empty());
    assert_eq!(contested(&rows(&json!([row(), below]))), [vec![0, 1]]);
}

#[test]
fn broken_files_of_rows_are_said() {
    assert!(matches!(read(b"3"), Err(RowsError::Shape { line: 1, .. })));
    assert!(matches!(read(b"[{]"), Err(RowsError::Json(_))));
    assert_eq!(read(b"[1]").unwrap().lacks[0].pointer, "/0");
    assert_eq!(read(b"[]").unwrap().rows, []);
}

fn raw() -> Json {
    json!({
        "lm_eval_version": "0.4.9",
        "results": {"gsm8k": {
            "alias": "gsm8k", "exact_match,strict-match": 0.95,
            "exact_match_stderr,strict-match": 0.006, "exact_match,flexible-extract": 0.96,
            "exact_match_stderr,flexible-extract": "N/A", "other,none": 0.1,
        }},
        "configs": {"gsm8k": {"metric_list": [{"metric": "exact_match"}], "filter_list": []}},
        "n-samples": {"gsm8k": {"original": 1319, "effective": 1319}},
    })
}

fn read_json(json: &Json) -> Raw {
    read_raw(json.to_string().as_bytes(), &settings().evals).unwrap()
}

fn judged_raw(json: &Json) -> Judgement {
    let (found, settings) = (read_json(json), settings());
    let error = found.integration_error.as_deref();
    judge_task(&found.tasks[0], Some("dsr1"), error, &bars(), &settings.thresholds, &settings.evals)
}

#[test]
fn raw_results_are_read_by_task_metric_and_filter() {
    let found = read_json(&raw());
    assert!(found.recognised && found.lacks.is_empty());
    let task = &found.tasks[0];
    let scores: Vec<_> = task
        .scores
        .iter()
        .map(|score| (score.metric.as_str(), score.filter.as_str(), score.headline))
        .collect();
    assert!(scores.contains(&("exact_match", "strict-match", true)));
    assert!(scores.contains(&("exact_match", "flexible-extract", true)));
    assert!(scores.contains(&("exact_match_stderr", "strict-match", false)));
    assert!(scores.contains(&("other", "none", false)));
    assert_eq!(scores.len(), 5);
    assert_eq!(task.samples.as_ref().unwrap().pointer, "/n-samples/gsm8k/effective");
    assert_eq!(task.original_samples, Some(1319));
    let strict = task.scores.iter().find(|score| score.filter == "strict-match").unwrap();
    assert_eq!(strict.measure.pointer, "/results/gsm8k/exact_match,strict-match");
    assert_eq!(judged_raw(&raw()).outcome, Outcome::Passed);
}

#[test]
fn raw_results_below_their_bar_or_without_a_declared_metric_fail() {
    let mut below = raw();
    below["results"]["gsm8k"]["exact_match,flexible-extract"] = json!(0.9);
    let found = judged_raw(&below);
    assert!(
        matches!(&found.failures[..], [Failure::Below { metric, .. }] if metric == "exact_match,flexible-extract")
    );
    let mut undeclared = raw();
    undeclared.as_object_mut().unwrap().remove("configs");
    assert_eq!(judged_raw(&undeclared).failures, [Failure::NoScore]);
    let mut failed = raw();
    failed["integration_error"] = json!("timeout");
    assert_eq!(judged_raw(&failed).outcome, Outcome::Failed);
}

#[test]
fn what_is_no_file_of_results_is_not_recognised() {
    let mut own = raw();
    own.as_object_mut().unwrap().remove("lm_eval_version");
    assert!(!read_json(&own).recognised);
    assert!(read_json(&own).tasks.is_empty());
    own["result_format"] = json!("inferencex-eval-v1");
    assert!(read_json(&own).recognised);
    own["result_format"] = json!("other");
    assert!(!read_json(&own).recognised);
    let broken = read_json(&json!({"lm_eval_version": 1, "results": {"a": 3}}));
    assert_eq!(broken.lacks[0].pointer, "/results/a");
    let many: serde_json::Map<String, Json> =
        (0..3_000).map(|n| (format!("t{n}"), json!({}))).collect();
    let many = read_json(&json!({"lm_eval_version": 1, "results": many}));
    assert_eq!((many.tasks.len(), many.lacks[0].pointer.as_str()), (0, "/results"));
}

#[test]
fn what_a_job_says_of_itself_is_read() {
    let meta = read_meta(
        br#"{"is_multinode": true, "framework": "dynamo-sglang", "precision": "fp4", "spec_decoding": "mtp",
        "recipe_fingerprint": "ab", "tp": 8, "conc": 512, "ep": 8, "dp_attention": false,
        "prefill_tp": 4, "decode_tp": 8, "model": "org/M", "infmax_model_prefix": "dsr1",
        "hw": "gb200-nv", "isl": "8192", "osl": "1024", "eval_concs": [64, 512],
        "completed_eval_concs": [64], "failed_eval_concs": []}"#,
    )
    .unwrap();
    assert!(meta.lacks.is_empty(), "{:?}", meta.lacks);
    assert_eq!(meta.identity.isl, Some(8192));
    assert_eq!((meta.identity.sizes["decode_tp"], meta.image), (8, None));
    assert_eq!(meta.batch.unwrap().open(), Some(vec![512]));
    let one = read_meta(b"{\"conc\": 64}").unwrap();
    assert_eq!((one.batch, one.identity.conc), (None, Some(64)));
}

#[test]
fn a_concurrency_that_is_not_accounted_for_is_open() {
    let open = |planned, completed, failed| {
        let text = format!(
            "{{\"eval_concs\": {planned}, \"completed_eval_concs\": {completed}, \"failed_eval_concs\": {failed}}}"
        );
        read_meta(text.as_bytes()).unwrap().batch.unwrap().open()
    };
    assert_eq!(open("[1, 2]", "[1, 2]", "[]"), Some(vec![]));
    assert_eq!(open("[1, 2]", "[1, 2]", "[2]"), Some(vec![2]));
    assert_eq!(open("[2, 1]", "[]", "[]"), Some(vec![1, 2]));
    assert_eq!(open("[1]", "[1]", "[7]"), Some(vec![7]));
    for bad in ["null", "[0]", "[1.5]", "\"1\"", "[NaN]"] {
        assert_eq!(open("[1]", bad, "[]"), None, "{bad}");
    }
}

#[test]
fn of_several_files_the_newest_one_a_concurrency_counts() {
    let name = file_name("eval_x/results_2026-08-20T10-11-12.345678_conc16_1.json");
    assert_eq!((name.conc, name.part), (Some(16), Some(1)));
    assert_eq!(name.stamp.as_deref(), Some("2026-08-20T10-11-12.345678"));
    assert_eq!(file_name("results.json"), FileName::default());
    let files = [
        "a/results_2026-08-20T10-11-12.3_conc16.json",
        "a/results_2026-08-20T10-11-12.3_conc16_2.json",
        "a/results_2026-08-21T00-00-00.0_conc64.json",
        "a/results_2026-08-19T23-59-59.9_conc64.json",
        "a/results_2026-08-20T10:11:12.3.json",
        "a/results.json",
    ];
    assert_eq!(newest(&files), [4, 1, 2]);
}
