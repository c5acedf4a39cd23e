use serde_json::{Value, json};

use super::*;

#[test]
fn decode_lines_weigh_by_their_requests_and_count_once_ready() {
    let line = |requests: u32, length: &str| {
        format!(
            "[2026-03-01 10:00:00 TP0] Decode batch, #running-req: {requests}, accept len: {length}, accept rate: 0.5\n"
        )
    };
    let text = [
        line(1, "9.00"),
        "[2026-03-01 10:00:00] The server is fired up and ready to roll!\n".into(),
        line(1, "2.00"),
        line(3, "3.00"),
        "[2026-03-01 10:00:00 TP0] Decode batch, #running-req: 1, #token: 3\n".into(),
    ]
    .concat();
    let log = log(&text);
    assert_eq!((log.acceptance.mean, log.acceptance.observations), (Some(2.75), 2));
}

#[test]
fn vllms_two_lines_are_two_launches() {
    let log = log(VLLM);
    assert_eq!((log.engine.as_deref(), log.version.as_deref()), (Some("vllm"), Some("0.26.0")));
    assert_eq!(log.launches.len(), 2);
    assert_eq!((log.launches[0].kind, log.launches[1].kind), (Kind::Requested, Kind::Resolved));
    assert!(log.launches.iter().all(|launch| launch.complete), "{log:?}");
    assert_eq!(arg(&log, 0, "speculative_config")["synthetic_acceptance_length"], 2.49);
    assert_eq!(arg(&log, 0, "reasoning_config")["reasoning_parser"], "x");
    assert_eq!(arg(&log, 1, "quantization"), "fp8");
    assert_eq!(arg(&log, 1, "compilation_config")["mode"], "<CompilationMode.NONE: 0>");
    assert_eq!(arg(&log, 1, "kernel_config")["moe_backend"], "auto");
    assert_eq!(log.spec.algorithm.as_deref(), Some("mtp"));
    assert_eq!(log.spec.draft_tokens, Some(3));
    assert_eq!(log.spec.draft_quantization, None);
    assert!(log.unknown.is_empty(), "{log:?}");
}

#[test]
fn vllms_bare_values_may_hold_blanks_and_keys_may_follow_two() {
    let log = log(
        "INFO 07-12 02:33:24 core.py:273] Initializing a V1 LLM engine (v0.9.1) with config: model='a', served_model_name=a b, kv_cache_dtype=auto,  device_config=cuda, quantization=None\n",
    );
    assert_eq!(arg(&log, 0, "served_model_name"), "a b");
    assert_eq!(arg(&log, 0, "device_config"), "cuda");
    assert_eq!(arg(&log, 0, "quantization"), &Value::Null);
}

#[test]
fn vllms_namespace_is_read() {
    let log = log(
        "INFO 02-12 02:33:24 api_server.py:273] vLLM API server version 0.7.3\nINFO 02-12 02:33:24 api_server.py:274] args: Namespace(host=None, model='a', quantization=None, speculative_model='d', num_speculative_tokens=4, speculative_model_quantization='fp8', api_key='xyz')\n",
    );
    assert_eq!(log.version.as_deref(), Some("0.7.3"));
    assert_eq!(log.spec.draft_model.as_deref(), Some("d"));
    assert_eq!(log.spec.draft_tokens, Some(4));
    assert_eq!(log.spec.draft_quantization.as_deref(), Some("fp8"));
    assert_eq!(log.spec.draft_quantization_inherited, Some(false));
    assert_eq!(arg(&log, 0, "api_key"), "[masked]");
}

#[test]
fn vllms_banner_has_the_version() {
    let log = log(
        "(APIServer pid=1) INFO 01-01 01:01:01 [utils.py:1]   █▄█▀ █     █     █  version 0.25.0\nsome version 3.1\n",
    );
    assert_eq!(log.version.as_deref(), Some("0.25.0"));
}

#[test]
fn vllms_metrics_are_pooled_over_verifications() {
    let line = |mean: &str, a: u32, d: u32| {
        format!(
            "(APIServer pid=1) INFO 07-12 02:33:24 [metrics.py:1] SpecDecoding metrics: Mean acceptance length: {mean}, Accepted throughput: 1.00 tokens/s, Drafted throughput: 2.00 tokens/s, Accepted: {a} tokens, Drafted: {d} tokens, Per-position acceptance rate: 0.800, 0.500, 0.200, Avg Draft acceptance rate: 50.0%\n"
        )
    };
    let log = log(&(line("2.50", 150, 300) + &line("1.00", 0, 30)));
    let mean = log.acceptance.mean.unwrap();
    assert!((mean - (1.0 + 150.0 / 110.0)).abs() < 1e-9, "{mean}");
    assert_eq!(log.acceptance.observations, 2);
}

#[test]
fn the_older_metrics_are_cumulative() {
    let line = |emitted: u32, name: &str| {
        format!(
            "INFO 02-12 02:33:24 metrics.py:1] Speculative metrics: Draft acceptance rate: 0.5, System efficiency: 0.4, Number of speculative tokens: 4, Number of accepted tokens: 9, Number of {name}: 400, Number of emitted tokens: {emitted}.\n"
        )
    };
    let log = log(&(line(100, "draft tokens") + &line(250, "draft tokens tokens")));
    assert_eq!((log.acceptance.mean, log.acceptance.observations), (Some(2.5), 2));
}

#[test]
fn successful_requests_are_counted_once_ready() {
    let post = |path: &str, status: &str| {
        format!("[2026-03-01 10:00:00] INFO:     ::1:50352 - \"POST {path} HTTP/1.1\" {status}\n")
    };
    let text = [
        post("/v1/chat/completions", "200 OK"),
        "The server is fired up and ready to roll!\n".into(),
        post("/v1/chat/completions", "200 OK"),
        "(APIServer pid=1) INFO:     1.2.3.4:5 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK\n".into(),
        post("/v1/chat/completions", "400 Bad Request"),
        post("/v1/completions", "200 OK"),
        post("/generate", "200 OK"),
        "2026-03-31 13:29:07  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 request_id=1 status=200 OK latency=3ms}: smg::response: src/a.rs:1: finished processing request\n".into(),
        "2026-03-31 13:29:07  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1}: smg::request: src/a.rs:1: started processing request\n".into(),
    ]
    .concat();
    let log = log(&text);
    assert_eq!(log.requests, Requests { chat: Some(3), completions: Some(1) });
}

#[test]
fn no_access_line_proves_nothing() {
    assert_eq!(log("INFO: \"GET /health HTTP/1.1\" 200 OK\n").requests, Requests::default());
}

#[test]
fn trtllm_tells_its_version_arguments_and_draft_length() {
    let log = log(
        "[TensorRT-LLM] TensorRT-LLM version: 1.1.0rc3\n[12/20/2025-04:20:19] [TRT-LLM] [RANK 0] [I] Run generation only CUDA graph warmup for batch size=64, draft_len=3\n2026-09-02T15:50:01.770028Z  INFO main.init: TensorRT-LLM engine args: {'model': 'a', 'tensor_parallel_size': 8, 'kv_cache_config': {'dtype': 'fp8'}, 'speculative_config': {'decoding_type': 'MTP'}, 'x': <a.B object at 0x7f>}\n",
    );
    assert_eq!((log.engine.as_deref(), log.version.as_deref()), (Some("trtllm"), Some("1.1.0rc3")));
    assert!(log.launches[0].complete);
    assert_eq!(arg(&log, 0, "kv_cache_config")["dtype"], "fp8");
    assert_eq!((log.spec.algorithm.as_deref(), log.spec.draft_tokens), (Some("MTP"), Some(3)));
}

#[test]
fn dynamos_json_records_are_read_by_their_message() {
    let message = SGLANG_C.trim().replace('"', "\\\"");
    let log = log(&format!(
        "{{\"time\":\"x\",\"level\":\"INFO\",\"target\":\"t\",\"message\":\"{message}\"}}\n{{\"message\":\"request completed\",\"method\":\"POST\",\"uri\":\"/v1/chat/completions\",\"status\":200}}\n"
    ));
    assert_eq!(arg(&log, 0, "tp_size"), 4);
    assert_eq!(log.requests.chat, Some(1));
}

#[test]
fn atom_tells_its_model_and_its_forced_and_measured_acceptance() {
    let log = log(
        "[atom 06:41:54] Initializing engine with model acme/r9...\n[atom 06:41:54] Engine kwargs: {'tensor_parallel_size': 8, 'kv_cache_dtype': 'fp8', 'compilation_config': CompilationConfig(level=3), 'speculative_config': SpeculativeConfig(method='mtp', num_spec_tokens=3)}\n[atom 06:41:54] Forced speculative acceptance ON: mean acceptance length 2.4900 over 3 draft positions (per-position rates [0.5]). Throughput numbers\n[atom 06:41:55] [MTP Stats Interval] Average toks/fwd: 9.73, Accepted/Total Draft tokens: 1/2, Acceptance rate: 72.70%\n[atom 06:41:55] [MTP Stats         ] Average toks/fwd: 1.73, Accepted/Total Draft tokens: 4/8, Acceptance rate: 72.70%, Accepted tokens distribution: {0: '27.30%', 1: '72.70%'}\n",
    );
    assert_eq!(log.engine.as_deref(), Some("atom"));
    assert_eq!(arg(&log, 0, "model"), "acme/r9");
    assert_eq!(log.spec.draft_tokens, Some(3));
    assert_eq!(log.forced_acceptance, Some(2.49));
    assert_eq!(log.acceptance.mean, Some(1.73));
}

#[test]
fn a_plugin_is_not_the_engine() {
    let text = format!("{VLLM}INFO register.py:209: Engine kwargs: {{'a': 1}}\n");
    assert_eq!(log(&text).engine.as_deref(), Some("vllm"));
}

#[test]
fn a_launchers_records_give_command_and_environment() {
    let log = log(
        "2026-10-12 18:02:11,004 INFO srtctl.launch: Starting decode worker 0 on node7\n2026-10-12 18:02:11,004 INFO srtctl.launch: Env: DYN_SKIP_SGLANG_LOG_FORMATTING=1 HF_TOKEN=abc SGLANG_SIMULATE_ACC_LEN=2.49 X=a b\n2026-10-12 18:02:11,004 INFO srtctl.launch: Command: python3 -m dynamo.sglang --model-path /model --served-model-name acme/r9 --tp 8 --speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 1 --json-model-override-args '{\"a\": 1}'\n",
    );
    assert_eq!(arg(&log, 0, "model_path"), "/model");
    assert_eq!(arg(&log, 0, "tp_size"), 8);
    assert_eq!(arg(&log, 0, "json_model_override_args"), "{\"a\": 1}");
    let env = &log.launches[0].env;
    assert_eq!((env["SGLANG_SIMULATE_ACC_LEN"].as_str(), env["X"].as_str()), ("2.49", "a b"));
    assert_eq!(env["HF_TOKEN"], "[masked]");
    assert_eq!(log.unknown, ["environment X: a blank in an unquoted value"]);
    assert_eq!(log.spec.draft_tokens, Some(3));
}

#[test]
fn command_files_are_in_the_shells_quoting() {
    let log = log(
        "vllm serve acme/r9 --port 8888 --speculative-config \\{\\\"method\\\":\\ \\\"mtp\\\",\\\"num_speculative_tokens\\\":2\\} --x $'a\\'b' \n",
    );
    assert_eq!(arg(&log, 0, "model"), "acme/r9");
    assert_eq!(arg(&log, 0, "x"), "a'b");
    assert_eq!((log.spec.algorithm.as_deref(), log.spec.draft_tokens), (Some("mtp"), Some(2)));
}

#[test]
fn traces_give_exports_and_commands() {
    let text = log(
        "2026-10-12T06:01:02.1234567Z + export SGLANG_SIMULATE_ACC_LEN=3.51\n++ export 'SGLANG_X=a b'\n+ python3 -m sglang.launch_server --model-path=/m --trust-remote-code --bs 1 2 4\nPlease run vllm serve now\n",
    );
    assert_eq!(text.launches.len(), 1);
    assert_eq!(text.launches[0].env["SGLANG_X"], "a b");
    assert_eq!(arg(&text, 0, "trust_remote_code"), true);
    assert_eq!(arg(&text, 0, "bs"), &json!([1, 2, 4]));
    let inline = log("SGLANG_SIMULATE_ACC_LEN=2.1 python3 -m sglang.launch_server --tp 2\n");
    assert_eq!(inline.launches[0].env["SGLANG_SIMULATE_ACC_LEN"], "2.1");
    let alone = log("+ export TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=1.78\n");
    assert_eq!(alone.launches[0].env["TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"], "1.78");
    assert!(!alone.launches[0].complete);
}

#[test]
fn vllms_target_and_draft_are_two_loads_of_one_process() {
    let line = |class: &str, rank: u32| {
        format!(
            "(Worker_TP{rank} pid=1{rank}) INFO 07-12 02:33:24 [model.py:1] Resolved architecture: {class}\n"
        )
    };
    let text = [line("AcmeLM", 0), line("AcmeLM", 1), line("AcmeMTP", 0), line("AcmeMTP", 1)];
    let log = log(&text.concat());
    let loads: Vec<_> = log.loads.iter().map(|load| load.class.as_str()).collect();
    assert_eq!(loads, ["AcmeLM", "AcmeMTP"]);
}

#[test]
fn an_engine_line_that_the_log_ends_in_is_not_whole() {
    let log = log(
        "INFO 07-12 02:33:24 [core.py:1] Initializing a V1 LLM engine (v0.9.1) with config: model='a', kv_cache_dtype=fp8",
    );
    assert!(!log.launches[0].complete);
    assert!(!log.launches[0].args.contains_key("kv_cache_dtype"), "it may be half a value");
    assert_eq!(arg(&log, 0, "model"), "a");
}

#[test]
fn an_engine_line_that_is_wrapped_in_a_quoted_value_is_joined() {
    let log = log(
        "(E pid=3) INFO 07-12 02:33:24 [core.py:1] Initializing a V1 LLM engine (v0.9.1) with config: model='ac\n(E pid=3) me', quantization=fp8\n(E pid=3) INFO 07-12 02:33:24 [core.py:1] x\n",
    );
    assert_eq!(arg(&log, 0, "model"), "acme");
    assert!(log.launches[0].complete);
}

#[test]
fn without_speculation_vllm_settles_nothing() {
    let log = log(
        "INFO 07-12 02:33:24 [core.py:1] Initializing a V1 LLM engine (v0.9.1) with config: model='a', speculative_config=None, quantization='x'\n",
    );
    assert_eq!(log.spec, Spec::default());
}

#[test]
fn vllms_draft_quantization_is_what_was_asked_for() {
    let text = VLLM.replace("'method': 'mtp',", "'method': 'mtp', 'quantization': 'fp8',");
    let spec = log(&text).spec;
    assert_eq!(spec.draft_quantization.as_deref(), Some("fp8"));
    assert_eq!(spec.draft_quantization_inherited, Some(false));
}

#[test]
fn several_versions_settle_none() {
    let log =
        log("[TRT-LLM] [I] TensorRT-LLM version: 1.0\n[TRT-LLM] [I] TensorRT-LLM version: 1.1\n");
    assert_eq!(log.version, None);
    assert_eq!(log.unknown, ["version: several are printed: 1.0, 1.1"]);
}

#[test]
fn a_configuration_that_leaves_most_out_is_not_complete() {
    let log = log(
        "[12/20/2025-04:20:19] [TRT-LLM] [I] PyTorchConfig(extra=None, attn_backend='TRTLLM', moe_backend='CUTLASS', kv_cache_dtype='auto')\n[12/20/2025-04:20:19] [TRT-LLM] [I] AttentionRuntimeFeatures(has_speculative_draft_tokens=False)\n",
    );
    assert_eq!(arg(&log, 0, "attn_backend"), "TRTLLM");
    assert!(!log.launches[0].complete);
    assert_eq!(log.spec, Spec::default());
}

#[test]
fn trtllms_command_names_its_model() {
    let log = log(
        "[CMD] trtllm-llmapi-launch trtllm-serve acme/r9 --tp_size 8 --ep_size=4 --config x.yaml\n",
    );
    assert_eq!(arg(&log, 0, "model"), "acme/r9");
    assert_eq!(arg(&log, 0, "moe_expert_parallel_size"), 4);
    assert_eq!(log.launches[0].kind, Kind::Requested);
}

#[test]
fn a_schedule_of_draft_lengths_settles_none() {
    let line = |length: u32| {
        format!(
            "[12/20/2025-04:20:19] [TRT-LLM] [I] Run generation only CUDA graph warmup for batch size=64, draft_len={length}\n"
        )
    };
    assert_eq!(log(&line(3)).spec.draft_tokens, Some(3));
    assert_eq!(log(&(line(3) + &line(1))).spec.draft_tokens, None);
    assert_eq!(log(&line(0)).spec.draft_tokens, None);
}
