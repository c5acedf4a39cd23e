//! Golden acceptance lengths: the committed curves, which of them applies, and whether a pinned value is
//! that of the curve.
//!
//! The acceptance length is the mean number of tokens that one verification yields: the accepted draft
//! tokens and one of the target's own. Some engines are told the draft tokens alone, so that their knob is
//! one less; what a knob means stands in a table.
//!
//! Source: `golden-al.md`.

mod choose;
mod compare;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::decimal::Decimal;
use super::yaml::Note;

pub use choose::{Choice, Speculation, choose, settle_mode};
pub use compare::{Agreement, Cell, Comparison, Pinned, compare};
pub use read::read;

/// Which curve is whose, and how values are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenSettings {
    /// Places after the point to which both sides are rounded.
    pub places: u32,
    /// The mode where nothing states one.
    pub default_mode: ThinkingMode,
    /// What knobs mean, by the engine's name of the argument or variable.
    pub knobs: BTreeMap<String, Meaning>,
    /// Curves, tried in order: the first whose conditions all hold.
    pub curves: Vec<CurveRule>,
}

/// When a curve applies. A condition that is not given always holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveRule {
    /// The name of its file without ending.
    pub curve: String,
    /// The repository's short names of models.
    pub prefixes: Vec<String>,
    /// Ways of speculating, compared without case.
    pub methods: Vec<String>,
    /// What the name of the checkpoint contains.
    #[serde(default)]
    pub checkpoint_contains: Option<String>,
    /// What the name of the draft model contains.
    #[serde(default)]
    pub draft_contains: Option<String>,
    /// How the draft is sampled, compared without case.
    #[serde(default)]
    pub sampling: Option<String>,
}

/// What a knob's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// The acceptance length.
    AcceptanceLength,
    /// The accepted draft tokens: one less.
    AcceptedTokens,
    /// The accepted share of the draft tokens: one less, divided by their number.
    AcceptanceRate,
}

/// Whether the model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingMode {
    /// It does.
    ThinkingOn,
    /// It does not.
    ThinkingOff,
}

impl ThinkingMode {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::ThinkingOn, Self::ThinkingOff];
}

/// As in the files.
impl fmt::Display for ThinkingMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ThinkingOn => "thinking_on",
            Self::ThinkingOff => "thinking_off",
        })
    }
}

/// A golden value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Golden {
    /// The acceptance length.
    pub value: Decimal,
    /// Its line.
    pub line: i64,
}

/// A committed curve.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldenCurve {
    /// The model that was measured; not the repository's short name.
    pub label: String,
    /// The run that measured it, where the file begins with it.
    pub run: Option<String>,
    /// Golden values by mode and number of draft tokens. What is not there has no golden value.
    pub values: BTreeMap<ThinkingMode, BTreeMap<i64, Golden>>,
    /// Duplicate keys; the last one counts.
    pub notes: Vec<Note>,
}

impl GoldenCurve {
    /// The golden value of a mode and a number of draft tokens.
    pub fn value(&self, mode: ThinkingMode, draft_tokens: i64) -> Option<&Golden> {
        self.values.get(&mode)?.get(&draft_tokens)
    }
}
