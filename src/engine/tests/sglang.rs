use serde_json::{Value, json};

use super::*;

#[test]
fn sglangs_older_dump_is_read_at_depth_zero() {
    let log = log(SGLANG_B);
    assert_eq!(log.engine.as_deref(), Some("sglang"));
    assert_eq!(arg(&log, 0, "tp_size"), 8);
    assert_eq!(arg(&log, 0, "quantization"), &Value::Null);
    assert_eq!(arg(&log, 0, "json_model_override_args"), r#"{"index_share": false, "n": 2}"#);
    assert!(log.launches[0].complete);
    assert_eq!((log.launches[0].kind, log.launches[0].line), (Kind::Resolved, 1));
    assert_eq!(log.spec.algorithm.as_deref(), Some("EAGLE"));
    assert_eq!(log.spec.draft_model.as_deref(), Some("/m/acme-r9"));
    assert_eq!(log.spec.draft_tokens, Some(3));
    // Without the flag nobody can tell whether it was inherited.
    assert_eq!(log.spec.draft_quantization.as_deref(), Some("fp8"));
    assert_eq!(log.spec.draft_quantization_inherited, None);
    assert!(log.unknown[0].starts_with("quantization: printed as none"));
}

#[test]
fn sglangs_newest_dump_is_a_dictionary() {
    let log = log(SGLANG_C);
    assert_eq!(arg(&log, 0, "tp_size"), 4);
    assert_eq!(arg(&log, 0, "cuda_graph_config")["decode"]["bs"], json!([1, 2]));
    assert_eq!(log.spec.draft_tokens, Some(5));
    assert_eq!(log.spec.draft_quantization, None);
    assert_eq!(log.spec.draft_quantization_inherited, Some(false));
}

fn sglang_draft(value: &str, explicit: &str) -> (Option<String>, Option<bool>) {
    let spec = log(&format!(
        "server_args={{'speculative_algorithm': 'EAGLE', 'speculative_draft_model_quantization': {value}, '_speculative_draft_quantization_explicitly_set': {explicit}}}\n"
    ))
    .spec;
    (spec.draft_quantization, spec.draft_quantization_inherited)
}

#[test]
fn an_inherited_draft_quantization_is_told_from_a_given_one() {
    assert_eq!(sglang_draft("'fp8'", "False"), (Some("fp8".into()), Some(true)));
    assert_eq!(sglang_draft("'fp8'", "True"), (Some("fp8".into()), Some(false)));
    assert_eq!(sglang_draft("None", "True"), (Some("unquant".into()), Some(false)));
    assert_eq!(sglang_draft("None", "False"), (None, Some(false)));
}

#[test]
fn speculative_defaults_without_an_algorithm_say_nothing() {
    let log = log(
        "[23:03:43 TP0] server_args=ServerArgs(quantization='modelopt_fp8', speculative_algorithm=None, speculative_num_steps=5, speculative_num_draft_tokens=64, speculative_draft_model_quantization='modelopt_fp8')\n",
    );
    assert_eq!(log.spec, Spec::default());
    assert_eq!(arg(&log, 0, "speculative_num_draft_tokens"), 64);
    assert!(log.unknown.is_empty());
}

#[test]
fn ranks_that_say_the_same_are_one_launch_and_others_stay_apart() {
    let node = |rank: u32, tp: u32| {
        format!(
            "{rank}: [2026-04-02 10:00:00] server_args=ServerArgs(tp_size={tp}, node_rank={rank}, random_seed={rank}7, speculative_algorithm='EAGLE', speculative_num_draft_tokens={tp})\n"
        )
    };
    let one = log(&(node(0, 4) + &node(1, 4)));
    assert_eq!(one.launches.len(), 1);
    assert_eq!(one.launches[0].lines, [1, 2]);
    assert_eq!(one.spec.draft_tokens, Some(3));
    let two = log(&(node(0, 4) + &node(1, 8)));
    assert_eq!(two.launches.len(), 2);
    assert_eq!(two.spec.draft_tokens, None);
    assert!(two.unknown[0].contains("disagree"));
}

#[test]
fn of_restarts_the_last_ready_one_counts_and_of_roles_the_decoding_one() {
    let dump = |k: u32, role: &str| {
        format!(
            "[2026-04-02 10:00:00] server_args=ServerArgs(speculative_algorithm='EAGLE', speculative_num_draft_tokens={k}, disaggregation_mode='{role}')\n"
        )
    };
    let ready = "[2026-04-02 10:00:00] The server is fired up and ready to roll!\n";
    let restarted = log(&[&dump(3, "null"), ready, &dump(5, "null")].concat());
    assert_eq!(restarted.launches.len(), 2);
    assert_eq!(restarted.spec.draft_tokens, Some(2));
    assert_eq!(log(&(dump(3, "prefill") + &dump(5, "decode"))).spec.draft_tokens, Some(4));
}

#[test]
fn loads_of_all_ranks_are_told_once() {
    let mut text = String::new();
    for rank in 0..2 {
        text += &format!(
            "[2026-09-30 10:04:06 TP{rank} EP{rank}] Load weight end. elapsed=240.10 s, type=AcmeForCausalLM, quant=fp8, avail mem=20.00 GB, mem usage=90.00 GB.\n"
        );
        text += &format!(
            "[2026-09-30 10:05:00 TP{rank} EP{rank}] Load weight end. elapsed=9.10 s, type=AcmeForCausalLMDSpark, quant=fp8, avail mem=18.00 GB, mem usage=-2.00 GB.\n"
        );
    }
    let log = log(&text);
    let loads: Vec<_> =
        log.loads.iter().map(|load| (load.class.as_str(), load.quantization.as_deref())).collect();
    assert_eq!(loads, [("AcmeForCausalLM", Some("fp8")), ("AcmeForCausalLMDSpark", Some("fp8"))]);
}

#[test]
fn an_old_load_line_has_a_compute_type_and_no_quantization() {
    let line = "[2025-03-01 10:00:00 TP0] Load weight end. type=AcmeLM, dtype=torch.bfloat16, avail mem=2.00 GB\n";
    let log = log(&[line, line].concat());
    assert_eq!(log.loads.len(), 2, "one rank loading its class twice is two loads");
    assert_eq!(log.loads[0].quantization, None);
}

#[test]
fn every_generation_of_decode_lines_is_read() {
    for line in DECODE {
        let acceptance = log(line).acceptance;
        assert_eq!((acceptance.mean, acceptance.observations), (Some(2.4), 1), "{line}");
    }
    let lost = "[2026-03-01 10:00:00 TP0] Decode batch, #running-req: 3, token usaccept rate: 0.6, accept len\n";
    assert_eq!(log(lost).acceptance.observations, 0);
}

#[test]
fn the_environment_block_belongs_to_the_server_that_follows() {
    let log = log(&format!(
        "=== SGLANG_* env vars at launch ===\nSGLANG_ENABLE_X=1\nSGLANG_SIMULATE_ACC_LEN=3.51\n===================================\n{SGLANG_B}"
    ));
    assert_eq!(log.launches[0].env["SGLANG_SIMULATE_ACC_LEN"], "3.51");
    assert_eq!(log.launches[0].line, 5);
}

#[test]
fn the_verifying_graph_checks_the_draft_tokens() {
    let verify = |width: u32| {
        format!(
            "{SGLANG_B}[2026-04-02 10:00:09 TP0] Capture target verify CUDA graph begin. backend=full, num_tokens_per_req={width}, bs=[1, 2]\n[2026-04-02 10:00:09 TP0] Load weight end. type=A, quant=fp8\n"
        )
    };
    assert!(log(&verify(4)).unknown.is_empty());
    assert_eq!(
        log(&verify(6)).unknown,
        ["spec.draft_tokens: the arguments say 3 and the engine verifies 5"]
    );
}

#[test]
fn what_was_asked_for_fills_in_only_what_a_cut_dump_does_not_say() {
    let command = "Command: python3 -m sglang.launch_server --speculative-algorithm NEXTN --speculative-num-draft-tokens 4 --tp 4\n";
    let cut = SGLANG_B.find("speculative_num_draft_tokens=4").unwrap();
    let cut = log(&format!("{command}{}\n", &SGLANG_B[..cut]));
    assert_eq!((cut.spec.algorithm.as_deref(), cut.spec.draft_tokens), (Some("EAGLE"), Some(3)));
    // The engine's word that it does not speculate stands.
    let off = log(&format!("{command}server_args=ServerArgs(speculative_algorithm=None)\n"));
    assert_eq!(off.spec, Spec::default());
    assert_eq!(off.launches.len(), 2);
}

#[test]
fn a_cut_duplicate_is_the_launch_that_it_is_the_beginning_of() {
    let cut = format!("{}\n", &SGLANG_B[..SGLANG_B.find("cuda_graph").unwrap()]);
    for text in [cut.clone() + SGLANG_B, SGLANG_B.to_owned() + &cut] {
        let log = log(&text);
        assert_eq!(log.launches.len(), 1);
        assert!(log.launches[0].complete);
        assert!(!log.unknown.iter().any(|what| what.contains("not all")), "{log:?}");
        assert_eq!(arg(&log, 0, "speculative_num_draft_tokens"), 4);
    }
}

#[test]
fn renamed_arguments_have_their_newest_name() {
    let log = log("server_args=ServerArgs(nsa_prefill_backend='x', grpc_http_sidecar_port=1)\n");
    assert_eq!(arg(&log, 0, "dsa_prefill_backend"), "x");
    assert_eq!(arg(&log, 0, "smg_http_sidecar_port"), 1);
}
