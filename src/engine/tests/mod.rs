use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

mod others;
mod sglang;

fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        Table::from_yaml(include_str!("../../../rules/inferencex/tables/engine-logs.yaml")).unwrap()
    });
    &TABLE
}

fn log(text: &str) -> Log {
    let mut scanner = Scanner::new(table());
    scanner.feed(text.as_bytes());
    scanner.finish()
}

fn arg<'a>(log: &'a Log, launch: usize, name: &str) -> &'a Value {
    log.launches[launch].args.get(name).unwrap_or_else(|| panic!("{name} in {log:?}"))
}

const SGLANG_B: &str = r#"[2026-04-02 10:00:00] server_args=ServerArgs(model_path='/m/acme-r9', tp_size=8, dp_size=1, ep_size=1, quantization=None, kv_cache_dtype='fp8_e4m3', json_model_override_args='{"index_share": false, "n": 2}', cuda_graph_bs=[1, 2, 4], speculative_algorithm='EAGLE', speculative_draft_model_path='/m/acme-r9', speculative_num_steps=3, speculative_eagle_topk=1, speculative_num_draft_tokens=4, speculative_draft_model_quantization='fp8')
"#;
const SGLANG_C: &str = r#"0: [2026-09-30 10:00:00] server_args={'model_path': '/m/acme-v5', 'tp_size': 4, 'ep_size': 4, 'cuda_graph_config': {'decode': {'backend': 'full', 'bs': [1, 2], 'tp_size': 9}}, 'speculative_algorithm': 'DSPARK', 'speculative_num_draft_tokens': 6, 'speculative_draft_model_quantization': None, '_speculative_draft_quantization_explicitly_set': False}
"#;
const VLLM: &str = r#"(APIServer pid=9) INFO 10-12 06:01:02 [api_utils.py:1] non-default args: {'model_tag': 'acme/r9', 'model': 'acme/r9', 'tensor_parallel_size': 8, 'enable_expert_parallel': True, 'hf_overrides': {'text_config': {'index_topk_freq': 4}}, 'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 3, 'rejection_sample_method': 'synthetic', 'synthetic_acceptance_length': 2.49}, 'reasoning_config': ReasoningConfig(reasoning_parser='x')}
(EngineCore_DP0 pid=10) INFO 10-12 06:01:09 [core.py:1] Initializing a V1 LLM engine (v0.26.0) with config: model='acme/r9', speculative_config=SpeculativeConfig(method='mtp', model='acme/r9', num_spec_tokens=3), tokenizer='acme/r9', dtype=torch.bfloat16, tensor_parallel_size=8, pipeline_parallel_size=1, data_parallel_size=1, quantization=fp8, quantization_config=None, kv_cache_dtype=fp8, served_model_name=r9, compilation_config={'mode': <CompilationMode.NONE: 0>}, kernel_config=KernelConfig(moe_backend='auto')
"#;

const DECODE: [&str; 3] = [
    "[2025-03-01 10:00:00 TP0] Decode batch. #running-req: 3, #token: 900, token usage: 0.01, accept len: 2.40, gen throughput (token/s): 80.10, #queue-req: 0\n",
    "[2026-03-01 10:00:00 TP0] Decode batch, #running-req: 3, #token: 900, token usage: 0.01, accept len: 2.40, accept rate: 0.60, cuda graph: True, gen throughput (token/s): 80.10, #queue-req: 0, \n",
    "[2026-09-01 10:00:00 DP1 TP1 EP1] Decode batch [812], #running-req: 3, #full token: 900, full token usage: 0.01, #swa token: 90, swa token usage: 0.02, mamba num: 3, mamba usage: 0.1, accept len: 2.40, accept rate: 0.47, pre-allocated usage: 0.00, #prealloc-req: 0, #transfer-req: 0, #retracted-req: 0, cuda graph: True, gen throughput (token/s): 80.10, #queue-req: 0\n",
];

#[test]
fn a_cut_dump_is_unknown_and_never_a_default() {
    let cut = SGLANG_B.find("speculative_num_draft_tokens=4").unwrap() + 29;
    let log = log(&SGLANG_B[..cut]);
    assert!(!log.launches[0].complete);
    assert!(log.launches[0].args.contains_key("speculative_eagle_topk"));
    assert!(!log.launches[0].args.contains_key("speculative_num_draft_tokens"));
    assert_eq!(log.spec.draft_tokens, None);
    assert!(!log.unknown.is_empty());
}

#[test]
fn a_dump_broken_in_the_middle_of_a_token_is_joined() {
    for (prefix, then) in [("", ""), ("service-1  | ", "service-1  | "), ("service-1  | ", "")] {
        let at = SGLANG_B.find("uler").unwrap_or(SGLANG_B.find("num_steps").unwrap() + 4);
        let broken = format!("{prefix}{}\n{then}{}", &SGLANG_B[..at], &SGLANG_B[at..]);
        let log = log(&broken);
        assert!(log.launches[0].complete, "{prefix:?} {then:?}");
        assert_eq!(arg(&log, 0, "speculative_num_steps"), 3);
    }
}

#[test]
fn a_new_record_ends_a_dump_that_never_closes() {
    let cut = &SGLANG_B[..SGLANG_B.find(", kv_cache").unwrap()];
    let log = log(&format!(
        "{cut}\n[2026-04-02 10:00:01 TP0] Load weight end. elapsed=1.0 s, type=AcmeLM, avail mem=2.0 GB.\n"
    ));
    assert!(!log.launches[0].complete);
    assert!(!log.launches[0].args.contains_key("quantization"), "its value may be cut");
    assert_eq!(log.loads[0].class, "AcmeLM");
}

#[test]
fn source_text_is_no_dump() {
    let log = log(
        "    f\"server_args={...}\"\nself.init_ipc_channels(port_args, server_args)\n  logger.info(f\"server_args={server_args}\")\n",
    );
    assert!(log.launches.is_empty(), "{log:?}");
}

#[test]
fn prefixes_colours_and_carriage_returns_do_not_hide_a_record() {
    let own = SGLANG_B.trim_end();
    for line in [
        format!("2026-10-12T06:01:02.1234567Z {own}"),
        format!("2026-10-12T06:01:02.123456789+08:00 {own}"),
        format!(" 0: {own}"),
        format!("[1,5]<stderr>:{own}"),
        format!("service-1  | {own}"),
        format!("14278:{own}"),
        format!("(Actor pid=1234, ip=1.2.3.4) {own} [repeated 7x across cluster]"),
        format!("    {own}"),
        format!("100%| 0/58 [00:00<?, ?it/s]{own}"),
        format!("bar\r{own}\r"),
        format!("\u{1b}[36m(x pid=3)\u{1b}[0m {own}"),
        format!("[36m(x pid=3)[0m {own}"),
        own.replace("server_args", "server\u{1b}[1m_args").replace("tp_size", "tp\0_size"),
        own.replace("] ", " DP1 PP0 TP3 EP3] INFO engine.py:177: "),
        own.replace(
            "[2026-04-02 10:00:00] ",
            "2026-03-18 11:22:05.874 INFO 120984 [ TP0 file.py:415] ",
        ),
        own.replace("[2026-04-02 10:00:00] ", "2026-06-07 10:59:31,659 [INFO] sglang.srt.x: "),
    ] {
        let log = log(&line);
        assert_eq!(log.launches.len(), 1, "{line}");
        assert!(log.launches[0].complete, "{line}");
        assert_eq!(arg(&log, 0, "tp_size"), 8);
    }
}

#[test]
fn the_json_is_that_of_the_contract() {
    let log = log(SGLANG_C);
    let json = serde_json::to_value(&log).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        keys(&json),
        ["acceptance", "engine", "launches", "loads", "requests", "spec", "unknown", "version"]
    );
    assert_eq!(keys(&json["launches"][0]), ["args", "complete", "env", "kind", "line"]);
    assert_eq!(json["launches"][0]["kind"], "resolved");
    assert_eq!(
        keys(&json["spec"]),
        [
            "algorithm",
            "draft_model",
            "draft_quantization",
            "draft_quantization_inherited",
            "draft_tokens"
        ]
    );
    assert_eq!(json["acceptance"], json!({"mean": null, "observations": 0}));
    assert_eq!(json["requests"], json!({"chat": null, "completions": null}));
    assert_eq!(json["version"], Value::Null);
}

#[test]
fn a_line_past_the_bound_is_cut_and_said_so() {
    let long = format!(
        "{}, x='{}', y=1)\nnext\n",
        SGLANG_B.trim_end().trim_end_matches(')'),
        "a".repeat(300_000)
    );
    let log = log(&long);
    assert!(!log.launches[0].complete);
    assert_eq!(arg(&log, 0, "tp_size"), 8);
    assert!(!log.launches[0].args.contains_key("x"));
    assert!(log.unknown[0].contains("cut at"));
}

#[test]
fn deep_values_neither_overflow_nor_hang() {
    for open in ["{", "[", "(", "{'a': ", "a(x=", "<"] {
        let log = log(&format!("server_args=ServerArgs(a=1, b={}\n", open.repeat(20_000)));
        assert_eq!(arg(&log, 0, "a"), 1);
        assert!(!log.launches[0].complete);
    }
}

#[test]
fn secrets_are_masked_wherever_they_stand() {
    let log = log(
        "server_args=ServerArgs(a='hf_abcdefghijklmnop1234', b={'api_key': 'q'}, c='http://u:p@h/x', num_draft_tokens=4, tokenizer_path='t', d='{\"api_key\": \"q\"}')\n",
    );
    let text = serde_json::to_string(&log).unwrap();
    for secret in ["abcdefghijkl", "\"q\"", "u:p", "\\\"q\\\""] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert_eq!(arg(&log, 0, "num_draft_tokens"), 4);
    assert_eq!(arg(&log, 0, "tokenizer_path"), "t");
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let texts: Vec<Vec<u8>> = [
        SGLANG_B,
        SGLANG_C,
        VLLM,
        DECODE[2],
        "\n",
        "\r\n",
        "\u{1b}[36m",
        "\u{1b}]0;",
        "'",
        "(",
        "{",
        "0: ",
        "+ export ",
        "Env: A=b ",
        "vllm serve ",
        "Engine kwargs: {",
        "=== SGLANG_* env vars at launch ===\n",
        "[MTP Stats",
        "\"POST /v1/chat/completions HTTP/1.1\" 200",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    let piece = prop_oneof![
        (proptest::sample::select(texts), any::<proptest::sample::Index>(), any::<bool>())
            .prop_map(|(text, at, whole)| if whole {
                text
            } else {
                text[..at.index(text.len())].to_vec()
            }),
        proptest::collection::vec(any::<u8>(), 0..40),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_bytes_panic_and_no_chunk_boundary_matters(bytes in pieces(), size in 1_usize..64) {
        let mut whole = Scanner::new(table());
        whole.feed(&bytes);
        let mut chunked = Scanner::new(table());
        for chunk in bytes.chunks(size) {
            chunked.feed(chunk);
        }
        let (whole, chunked) = (whole.finish(), chunked.finish());
        prop_assert_eq!(serde_json::to_string(&whole).unwrap(), serde_json::to_string(&chunked).unwrap());
        prop_assert_eq!(whole, chunked);
    }
}
