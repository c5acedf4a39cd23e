use super::{Columns, Query, State, Words, read};

fn words() -> Words {
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    Words {
        scenarios: [("agentic-coding".to_owned(), list(&["agentic coding"]))].into(),
        columns: Columns {
            prefix: list(&["Prefix"]),
            active: list(&["active scenarios"]),
            deprecated: list(&["deprecated scenarios"]),
            scenario: list(&["scenario"]),
            status: list(&["status"]),
            model: list(&["model"]),
            notice: list(&["deprecated"]),
            arm: list(&["deprecated arm"]),
        },
        nothing: list(&["none"]),
        deprecated: list(&["deprecated", "retired"]),
        last_day: list(&["last day"]),
        from_the_beginning: list(&["from day 0"]),
    }
}

const DOCUMENT: &str = "\
# Models

### Monday, August 3, 2026

**Monday, August 3, 2026** is the last day for what is listed below.

| Model | Deprecated | Remains |
|---|---|---|
| Aster (`aster`) | Single-turn 8k1k | Agentic coding |
| Briar (`briar`) | All **bf16** recipes, in every scenario | fp8 |
| Dahlia (`dahlia`) | whatever the council says | |

| Model | Deprecated arm | Published arm |
|---|---|---|
| Briar (`briar`) | Agentic coding, non-MTP | Agentic coding, MTP |
| Clover (`clover`) | Agentic coding, non-Leaf (deprecated from day 0) | Agentic coding, Leaf |

### Thursday, August 6, 2026

**Thursday, August 6, 2026** is the last day for the **Single-turn 8k1k** scenario on **Elder** (`elder`). It goes.

## Scenarios

| Scenario | ISL/OSL | Status |
|---|---|---|
| Agentic coding | long | Active. |
| Single-turn 1k1k | 1024 / 1024 | **Deprecated for all models** since 2026-07-17 |

## Matrix

| Class | Prefix | Date added | Active scenarios | Deprecated scenarios |
|---|---|---|---|---|
| Aster | `aster` | x | Agentic coding, Single-turn 8k1k | |
| Briar | `briar` | x | Single-turn 8k1k and Agentic coding, both limited to fp8/fp4 | all bf16 recipes (removed 2026-08-04) |
| Clover | `clover` | x | Agentic coding (Leaf only) | Agentic coding non-Leaf arm (deprecated from day 0) |
| Dahlia | `dahlia` | x | Agentic coding | |
| Elder | `elder` | x | Single-turn 8k1k | |
| Fern / Fern.1 | `fern`, `fern.1` | x | None (retired 2026-07-18) | Single-turn 8k1k |
| Gorse | `gorse` | x | Agentic coding | Standalone non-Leaf baseline (not required from day 0) |
";

fn judge(
    prefix: &str,
    scenario: &str,
    precision: &str,
    speculative: bool,
    date: &str,
) -> (State, i64) {
    let found = read(DOCUMENT, &words());
    let judged = found.judge(&Query { prefix, scenario, precision, speculative, date });
    (judged.state, judged.line)
}

#[test]
fn the_last_day_is_still_allowed() {
    let at = |date| judge("aster", "8k1k", "fp4", true, date);
    assert_eq!(at("2026-08-02"), (State::Scheduled, 9));
    assert_eq!(at("2026-08-03"), (State::Scheduled, 9));
    assert_eq!(at("2026-08-04"), (State::Deprecated, 9));
    assert_eq!(judge("aster", "agentic-coding", "fp4", true, "2026-09-01").0, State::Active);
    // A sentence is a statement, too.
    assert_eq!(judge("elder", "8k1k", "fp8", false, "2026-08-06"), (State::Scheduled, 20));
    assert_eq!(judge("elder", "8k1k", "fp8", false, "2026-08-07"), (State::Deprecated, 20));
}

#[test]
fn scenarios_and_precisions_and_whole_models_go() {
    assert_eq!(judge("aster", "1k1k", "fp4", true, "2026-07-17"), (State::Deprecated, 27));
    assert_eq!(judge("aster", "1k1k", "fp4", true, "2026-07-16").0, State::Unlisted);
    for scenario in ["8k1k", "agentic-coding"] {
        assert_eq!(
            judge("briar", scenario, "bf16", true, "2026-08-03").0,
            State::Deprecated,
            "the matrix says so already"
        );
        assert_eq!(judge("briar", scenario, "fp8", true, "2026-09-01").0, State::Active);
        assert_eq!(judge("briar", scenario, "int4", true, "2026-09-01").0, State::Deprecated);
    }
    assert_eq!(judge("fern.1", "agentic-coding", "fp8", true, "2026-07-18").0, State::Deprecated);
    assert_eq!(judge("fern", "8k1k", "fp8", true, "2026-07-17").0, State::Scheduled);
    assert_eq!(judge("nobody", "8k1k", "fp8", true, "2026-09-01"), (State::Unlisted, 0));
}

#[test]
fn an_arm_without_speculation_is_only_held_against_where_it_never_counted() {
    assert_eq!(judge("briar", "agentic-coding", "fp8", false, "2026-09-01").0, State::Conditional);
    assert_eq!(judge("clover", "agentic-coding", "fp8", false, "2026-09-01").0, State::Deprecated);
    assert_eq!(judge("clover", "agentic-coding", "fp8", true, "2026-09-01").0, State::Active);
    assert_eq!(judge("gorse", "agentic-coding", "fp8", false, "2026-09-01").0, State::Conditional);
}

#[test]
fn a_statement_of_an_unknown_form_leaves_its_own_model_open() {
    assert_eq!(judge("dahlia", "agentic-coding", "fp8", true, "2026-07-01"), (State::Unknown, 11));
    assert_eq!(judge("gorse", "agentic-coding", "fp8", true, "2026-07-01").0, State::Active);
}

#[test]
fn no_document_breaks_it() {
    for text in
        ["", "| a |\n|---|\n", &"(".repeat(100_000), &"| `x` ".repeat(50_000), "\u{0}\u{feff}"]
    {
        let found = read(text, &words());
        let query = Query {
            prefix: "x",
            scenario: "y",
            precision: "z",
            speculative: false,
            date: "2026-01-01",
        };
        assert_eq!(found.judge(&query).state, State::Unlisted);
    }
}
