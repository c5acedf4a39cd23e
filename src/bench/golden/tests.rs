use super::*;
use crate::bench::settings::tests::settings;

/// `NAME LABEL; MODE values…; …` of the committed curves that the page's examples use.
const CURVES: [(&str, &[(&str, &str)]); 7] = [
    (
        "qwen3.5_mtp",
        &[
            ("thinking_on", "1.93 2.73 3.39 3.97 4.41 4.80 5.04 5.21"),
            ("thinking_off", "1.92 2.70 3.33 3.83 4.20 4.48 4.73 4.71"),
        ],
    ),
    ("glm5.2_mtp", &[("thinking_on", "1.84 2.50 2.99 3.33 3.61 3.78 3.91 4.06")]),
    (
        "minimaxm3_eagle3",
        &[
            ("thinking_on", "1.78 2.38 2.83 3.11 3.35 3.45 3.53 3.74"),
            ("thinking_off", "1.84 2.52 2.93 3.41 3.59 3.57 3.85 4.06"),
        ],
    ),
    (
        "minimaxm3_eagle3_gqa",
        &[
            ("thinking_on", "1.79 2.39 2.78 3.02 3.21 3.30 3.52 3.51"),
            ("thinking_off", "1.83 2.46 2.97 3.29 3.72 3.76 3.75 3.93"),
        ],
    ),
    ("kimik3_dspark", &[("thinking_on", "1.84 2.45 2.87 3.22 3.44 3.54 3.78 3.88")]),
    (
        "kimik3_dspark_probabilistic_sample_method_block_rejection_sample_method",
        &[("thinking_on", "1.85 2.51 3.00 3.36 3.62 3.75 3.84 4.00")],
    ),
    ("dsv4-pro-0813-dspark", &[("thinking_on", "1.84 2.51 3.01 3.36 3.61 3.77 3.73 3.47")]),
];

fn curves() -> BTreeMap<String, GoldenCurve> {
    let text = |modes: &[(&str, &str)]| {
        let mut text = "# Source run: https://example.org/runs/1\nmeasured:\n".to_owned();
        for (mode, values) in modes {
            text.push_str(&format!("  {mode}:\n"));
            for (n, value) in values.split(' ').enumerate() {
                text.push_str(&format!("    {}: {value}\n", n + 1));
            }
        }
        text
    };
    CURVES.iter().map(|(name, modes)| ((*name).to_owned(), read(&text(modes)).unwrap())).collect()
}

fn speculation(prefix: &str, method: &str, draft_tokens: i64) -> Speculation {
    Speculation {
        model_prefix: prefix.to_owned(),
        method: Some(method.to_owned()),
        draft_tokens: Some(draft_tokens),
        mode: Some(ThinkingMode::ThinkingOn),
        ..Speculation::default()
    }
}

fn compared(of: &Speculation, knob: &str, text: &str) -> Comparison {
    let pinned = Pinned { knob: knob.to_owned(), text: text.to_owned() };
    compare(of, &pinned, &curves(), &settings().golden)
}

fn agreement(of: &Speculation, knob: &str, text: &str) -> Agreement {
    compared(of, knob, text).agreement
}

const LENGTH: &str = "SGLANG_SIMULATE_ACC_LEN";
const SYNTHETIC: &str = "synthetic_acceptance_length";
const ACCEPTED: &str = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS";
const RATE: &str = "spec-decode-acceptance-rate";

#[test]
fn example_1_the_other_modes_value_differs_and_is_named() {
    let of = speculation("qwen3.5", "NEXTN", 3);
    assert_eq!(agreement(&of, LENGTH, "3.39"), Agreement::Agrees);
    let found = compared(&of, LENGTH, "3.33");
    assert_eq!(found.expected.unwrap().value.to_string(), "3.39");
    assert_eq!(found.pinned.unwrap().to_string(), "3.33");
    let Agreement::Differs { instead } = found.agreement else { panic!() };
    assert_eq!(instead.len(), 1);
    assert_eq!((instead[0].mode, instead[0].draft_tokens), (ThinkingMode::ThinkingOff, 3));
}

#[test]
fn example_2_a_count_of_accepted_tokens_is_one_less() {
    let of = speculation("glm5.2", "mtp", 3);
    let found = compared(&of, ACCEPTED, "1.99");
    assert_eq!(found.agreement, Agreement::Agrees);
    assert_eq!(found.expected_knob.unwrap().to_string(), "1.99");
    let found = compared(&of, ACCEPTED, "2.99");
    assert!(matches!(found.agreement, Agreement::Differs { .. }));
    assert_eq!(found.pinned.unwrap().to_string(), "3.99");
    assert_eq!(found.expected.unwrap().value.to_string(), "2.99");
}

#[test]
fn example_3_the_draft_model_chooses_the_curve() {
    let mut of = speculation("minimaxm3", "eagle3", 3);
    of.draft_model = Some("Inferact/MiniMax-M3-EAGLE3-GQA".to_owned());
    assert_eq!(agreement(&of, SYNTHETIC, "2.78"), Agreement::Agrees);
    let Agreement::Differs { instead } = agreement(&of, SYNTHETIC, "2.83") else { panic!() };
    assert_eq!((instead[0].curve.as_str(), instead[0].draft_tokens), ("minimaxm3_eagle3", 3));
    of.draft_model = Some("Inferact/MiniMax-M3-EAGLE3".to_owned());
    assert_eq!(agreement(&of, SYNTHETIC, "2.83"), Agreement::Agrees);
    of.draft_model = None;
    let missing = "the draft model".to_owned();
    assert_eq!(agreement(&of, SYNTHETIC, "2.83"), Agreement::Unsettled { missing });
}

#[test]
fn example_4_the_sampling_has_to_be_stated() {
    let mut of = speculation("kimik3", "dspark", 4);
    of.sampling = Some("probabilistic".to_owned());
    assert_eq!(agreement(&of, SYNTHETIC, "3.36"), Agreement::Agrees);
    let Agreement::Differs { instead } = agreement(&of, SYNTHETIC, "3.22") else { panic!() };
    assert_eq!(instead[0].curve, "kimik3_dspark");
    of.sampling = None;
    let missing = "how the draft is sampled".to_owned();
    assert_eq!(agreement(&of, SYNTHETIC, "3.36"), Agreement::Unsettled { missing });
    of.sampling = Some("typical".to_owned());
    assert_eq!(agreement(&of, SYNTHETIC, "3.36"), Agreement::NoCurve);
}

#[test]
fn example_5_the_checkpoint_chooses_the_curve() {
    let mut of = speculation("dsv4", "DSPARK", 6);
    of.checkpoint = Some("deepseek-ai/DeepSeek-V4-Pro-0813".to_owned());
    assert_eq!(agreement(&of, LENGTH, "3.77"), Agreement::Agrees);
    of.checkpoint = Some("deepseek-ai/DeepSeek-V4-Pro".to_owned());
    assert_eq!(agreement(&of, LENGTH, "3.77"), Agreement::NoCurve);
}

#[test]
fn example_6_a_rate_times_the_draft_tokens_is_one_less() {
    let mut of = speculation("kimik3", "dspark", 7);
    of.sampling = Some("greedy".to_owned());
    assert_eq!(agreement(&of, "spec-decode-acceptance-length", "3.78"), Agreement::Agrees);
    let found = compared(&of, RATE, "0.397142");
    assert_eq!(found.agreement, Agreement::Agrees);
    assert_eq!(found.pinned.unwrap().to_string(), "3.779994");
    // (3.78 − 1) / 7 is no finite decimal.
    assert_eq!(found.expected_knob, None);
    assert!(matches!(agreement(&of, RATE, "0.4"), Agreement::Differs { .. }));
    // As Python prints the quotient.
    assert_eq!(agreement(&of, RATE, "0.39714285714285713"), Agreement::Agrees);
}

#[test]
fn example_7_a_mode_without_values_has_no_cell() {
    let mut of = speculation("glm5.2", "EAGLE", 4);
    assert_eq!(agreement(&of, LENGTH, "3.33"), Agreement::Agrees);
    assert_eq!(agreement(&speculation("glm5.2", "EAGLE", 8), LENGTH, "4.06"), Agreement::Agrees);
    of.mode = Some(ThinkingMode::ThinkingOff);
    let curve = "glm5.2_mtp".to_owned();
    assert_eq!(agreement(&of, LENGTH, "3.33"), Agreement::NoCell { curve: curve.clone() });
    let nine = speculation("glm5.2", "EAGLE", 9);
    assert_eq!(agreement(&nine, LENGTH, "4.06"), Agreement::NoCell { curve });
}

#[test]
fn numbers_compare_to_two_places() {
    let of = speculation("qwen3.5", "mtp", 6);
    for agrees in ["4.8", "4.80", "4.800000", "48e-1", " 4.8 ", "4.8049"] {
        assert_eq!(agreement(&of, LENGTH, agrees), Agreement::Agrees, "{agrees}");
    }
    for differs in ["4.81", "4.79", "4.8051"] {
        assert!(matches!(agreement(&of, LENGTH, differs), Agreement::Differs { .. }), "{differs}");
    }
}

#[test]
fn what_no_acceptance_can_be_is_a_bad_value() {
    let of = speculation("qwen3.5", "mtp", 3);
    for text in ["", "3,39", "nan", "inf", "0.99", "4.01", "-3.39", "1e400", "${AL}", "3.39 # x"] {
        let found = compared(&of, LENGTH, text);
        assert!(matches!(found.agreement, Agreement::BadValue { .. }), "{text}: {found:?}");
        assert_eq!((found.pinned, found.expected.is_some()), (None, true));
    }
    assert!(matches!(agreement(&of, RATE, "1.01"), Agreement::BadValue { .. }));
}

#[test]
fn what_is_not_known_is_never_an_agreement() {
    let unsettled = |change: fn(&mut Speculation)| {
        let mut of = speculation("qwen3.5", "mtp", 3);
        change(&mut of);
        match agreement(&of, LENGTH, "3.39") {
            Agreement::Unsettled { missing } => missing,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(unsettled(|of| of.draft_tokens = None), "the number of draft tokens");
    assert_eq!(unsettled(|of| of.mode = None), "one thinking mode");
    assert_eq!(unsettled(|of| of.method = None), "the way of speculating");
    assert!(unsettled(|of| of.top_k = Some(4)).contains("tree"));
    let of = speculation("qwen3.5", "mtp", 3);
    assert_eq!(agreement(&of, "SOME_KNOB", "3.39"), Agreement::UnknownKnob);
    assert_eq!(agreement(&speculation("other", "mtp", 3), LENGTH, "2"), Agreement::NoCurve);
    // A curve that the table names and that was not read.
    let curve = "qwen3.8next_mtp".to_owned();
    let next = speculation("qwen3.8next", "mtp", 3);
    assert_eq!(agreement(&next, LENGTH, "2.32"), Agreement::CurveUnread { curve });
}

#[test]
fn the_mode_is_what_all_evidence_agrees_on() {
    use ThinkingMode::*;
    let golden = settings().golden;
    assert_eq!(settle_mode(&[], &golden), Some(ThinkingOn));
    assert_eq!(settle_mode(&[ThinkingOff, ThinkingOff], &golden), Some(ThinkingOff));
    assert_eq!(settle_mode(&[ThinkingOn, ThinkingOff], &golden), None);
}

#[test]
fn a_curve_is_read_with_its_lines() {
    let text = "# Source: https://example.org/runs/1 x\n# more\nm-1:\n  thinking_on:\n    1: 1.84\n    2: 3\n";
    let curve = read(text).unwrap();
    assert_eq!(
        (curve.label.as_str(), curve.run.as_deref()),
        ("m-1", Some("https://example.org/runs/1"))
    );
    let golden = curve.value(ThinkingMode::ThinkingOn, 1).unwrap();
    assert_eq!((golden.value.to_string().as_str(), golden.line), ("1.84", 5));
    assert_eq!(curve.value(ThinkingMode::ThinkingOn, 3), None);
    assert_eq!(curve.value(ThinkingMode::ThinkingOff, 1), None);
    let older = "m-1:\n  thinking_on:\n  - 1: 1.84\n  - 2: 3\n";
    let older = read(older).unwrap();
    assert_eq!(older.value(ThinkingMode::ThinkingOn, 2).unwrap().value, 3.into());
    assert_eq!(older.run, None);
}

#[test]
fn a_curve_that_breaks_a_rule_is_not_used() {
    for (text, line) in [
        ("", 1),
        ("a: {thinking_on: {1: 1.5}}\nb: {}", 1),
        ("- a", 1),
        ("a:\n  thinking: {1: 1.5}", 2),
        ("a:\n  thinking_on:\n    0: 1", 3),
        ("a:\n  thinking_on:\n    -1: 1", 3),
        ("a:\n  thinking_on:\n    1.0: 1.5", 3),
        ("a:\n  thinking_on:\n    x: 1.5", 3),
        ("a:\n  thinking_on:\n    100000000000: 1.5", 3),
        ("a:\n  thinking_on:\n    1: 0.99", 3),
        ("a:\n  thinking_on:\n    1: 2.01", 3),
        ("a:\n  thinking_on:\n    1: .nan", 3),
        ("a:\n  thinking_on:\n    1: .inf", 3),
        ("a:\n  thinking_on:\n    1: '1.5'", 3),
        ("a:\n  thinking_on:\n  - {1: 1.5, 2: 1.6}", 3),
        ("a:\n  thinking_on:\n  - 1: 1.5\n  - 1: 1.6", 4),
        ("a:\n  thinking_on: 1.5", 2),
        ("a: 1", 1),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!(error.at.line.max(1), line, "{text:?}: {error}");
    }
}
