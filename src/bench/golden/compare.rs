//! Whether a pinned value is the golden one.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Choice, GoldenCurve, GoldenSettings, Meaning, Speculation, ThinkingMode, choose};
use crate::bench::decimal::Decimal;
use crate::bench::python_json::short;

/// A value that a launch pins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// The argument or variable.
    pub knob: String,
    /// Its value as written.
    pub text: String,
}

/// A golden value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The curve.
    pub curve: String,
    /// The mode.
    pub mode: ThinkingMode,
    /// The draft tokens.
    pub draft_tokens: i64,
    /// The acceptance length.
    pub value: Decimal,
    /// Its line in the curve's file.
    pub line: i64,
}

/// What came of the comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The golden value; `None` where there is none or it is not known which.
    pub expected: Option<Cell>,
    /// What the knob has to be set to for it, exactly; `None` where that is no finite decimal, and where
    /// nothing is expected or the knob's meaning is not known.
    pub expected_knob: Option<Decimal>,
    /// The acceptance length that is pinned; `None` where the value cannot be read.
    pub pinned: Option<Decimal>,
    /// Whether they agree.
    pub agreement: Agreement,
}

/// Whether a pinned value is the golden one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Agreement {
    /// It is, to the places of the settings.
    Agrees,
    /// It is another value.
    Differs {
        /// Golden values that it is instead: of the other mode, another length, a related curve.
        instead: Vec<Cell>,
    },
    /// No curve is committed for this model and method: the details have to state the source of the value.
    NoCurve,
    /// The curve has no such mode or length: likewise.
    NoCell {
        /// The curve.
        curve: String,
    },
    /// The curve is named by the rules and not among those that were read.
    CurveUnread {
        /// The curve.
        curve: String,
    },
    /// It depends on what is not known.
    Unsettled {
        /// What has to be stated.
        missing: String,
    },
    /// The value is no number, or one that no acceptance can have.
    BadValue {
        /// What is wrong with it.
        error: String,
    },
    /// The table does not know what the knob means.
    UnknownKnob,
}

/// Compares a pinned value with the golden one. `curves` are those of the default branch, by the name of
/// their file without ending.
pub fn compare(
    of: &Speculation,
    pinned: &Pinned,
    curves: &BTreeMap<String, GoldenCurve>,
    settings: &GoldenSettings,
) -> Comparison {
    let mut found = Comparison {
        expected: None,
        expected_knob: None,
        pinned: None,
        agreement: Agreement::UnknownKnob,
    };
    let meaning = settings.knobs.get(&pinned.knob).copied();
    let length = meaning.map(|meaning| acceptance_length(&pinned.text, meaning, of.draft_tokens));
    if let Some(Ok(length)) = &length {
        found.pinned = Some(length.clone());
    }
    let cell = match expected(of, curves, settings) {
        Ok(cell) => cell,
        Err(agreement) => {
            found.agreement = agreement;
            return found;
        }
    };
    found.expected_knob = meaning.and_then(|meaning| knob(&cell, meaning));
    found.agreement = match length {
        None => Agreement::UnknownKnob,
        Some(Err(error)) => Agreement::BadValue { error },
        Some(Ok(length)) if agrees(&length, &cell.value, settings) => Agreement::Agrees,
        Some(Ok(length)) => {
            Agreement::Differs { instead: instead(&length, of, &cell, curves, settings) }
        }
    };
    found.expected = Some(cell);
    found
}

/// The golden value of a way of speculating, whether anything is pinned or not.
///
/// # Errors
/// There is none, or it is not known which.
fn expected(
    of: &Speculation,
    curves: &BTreeMap<String, GoldenCurve>,
    settings: &GoldenSettings,
) -> Result<Cell, Agreement> {
    let unsettled = |missing: &str| Agreement::Unsettled { missing: missing.to_owned() };
    let name = match choose(of, settings) {
        Choice::Curve { curve } => curve,
        Choice::None => return Err(Agreement::NoCurve),
        Choice::Unsettled { missing } => return Err(Agreement::Unsettled { missing }),
    };
    if of.top_k.is_some_and(|top_k| top_k != 1) {
        return Err(unsettled("an acceptance length of drafts that form a tree"));
    }
    let mode = of.mode.ok_or_else(|| unsettled("one thinking mode"))?;
    let draft_tokens = of.draft_tokens.ok_or_else(|| unsettled("the number of draft tokens"))?;
    let Some(curve) = curves.get(&name) else {
        return Err(Agreement::CurveUnread { curve: name });
    };
    match curve.value(mode, draft_tokens) {
        Some(golden) => {
            let (value, line) = (golden.value.clone(), golden.line);
            Ok(Cell { curve: name, mode, draft_tokens, value, line })
        }
        None => Err(Agreement::NoCell { curve: name }),
    }
}

/// The acceptance length that a knob's value means.
fn acceptance_length(
    text: &str,
    meaning: Meaning,
    draft_tokens: Option<i64>,
) -> Result<Decimal, String> {
    let value =
        Decimal::parse(text.trim()).ok_or_else(|| format!("`{}` is no number", short(text)))?;
    let draft_tokens = draft_tokens.map(Decimal::from);
    let accepted = match meaning {
        Meaning::AcceptanceLength => value.minus(&1.into()),
        Meaning::AcceptedTokens => Some(value),
        Meaning::AcceptanceRate => {
            let tokens = draft_tokens
                .as_ref()
                .ok_or("a rate means no length while the number of draft tokens is not known")?;
            value.times(tokens)
        }
    };
    let too_long = || format!("`{}` has too many digits", short(text));
    let accepted = accepted.ok_or_else(too_long)?;
    let length = accepted.plus(&1.into()).ok_or_else(too_long)?;
    if accepted.is_negative() || draft_tokens.is_some_and(|tokens| accepted > tokens) {
        return Err(format!("`{}` means a length of {length}, which cannot be", short(text)));
    }
    Ok(length)
}

/// What a knob has to be set to; `None` where that is no finite decimal.
fn knob(cell: &Cell, meaning: Meaning) -> Option<Decimal> {
    let accepted = cell.value.minus(&1.into())?;
    match meaning {
        Meaning::AcceptanceLength => Some(cell.value.clone()),
        Meaning::AcceptedTokens => Some(accepted),
        Meaning::AcceptanceRate => accepted.divided(cell.draft_tokens),
    }
}

fn agrees(a: &Decimal, b: &Decimal, settings: &GoldenSettings) -> bool {
    a.rounded(settings.places) == b.rounded(settings.places)
}

/// The golden values that a pinned one is instead, of all curves that the rules name for the model: those
/// of the same curve first.
fn instead(
    length: &Decimal,
    of: &Speculation,
    expected: &Cell,
    curves: &BTreeMap<String, GoldenCurve>,
    settings: &GoldenSettings,
) -> Vec<Cell> {
    let mut names = vec![&expected.curve];
    for rule in settings.curves.iter().filter(|rule| rule.prefixes.contains(&of.model_prefix)) {
        if !names.contains(&&rule.curve) {
            names.push(&rule.curve);
        }
    }
    let mut found = Vec::new();
    for name in names {
        let Some(curve) = curves.get(name) else { continue };
        for (&mode, values) in &curve.values {
            for (&draft_tokens, golden) in values {
                if agrees(length, &golden.value, settings) {
                    let (curve, value, line) = (name.clone(), golden.value.clone(), golden.line);
                    found.push(Cell { curve, mode, draft_tokens, value, line });
                }
            }
        }
    }
    found
}
