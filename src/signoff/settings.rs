//! What the profile says about sign-offs: words and tokens, no policy of our own.

use serde::Deserialize;

/// How a sign-off is recognised and taken apart (`signoff:` of `profile.yaml`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grammar {
    /// The phrase that opens a sign-off, compared case-sensitively.
    pub phrase: String,
    /// How many checklist items make one (a comment with fewer is none).
    pub minimum_items: usize,
    /// Heading of the additional detail section, without `#`, `:` and emphasis; any case.
    pub details_headings: Vec<String>,
    /// What the signature line starts with, e.g. `Signed:`.
    pub signature: String,
    /// Texts of the template that mean "not filled in", any case.
    pub placeholders: Vec<String>,
    /// Placeholders of the signature line.
    pub signature_placeholders: Vec<String>,
    /// What an item's text contains (any case) when it asks for a link to a workflow run.
    pub run_link_wanted: Vec<String>,
    /// Regular expressions with one group `id` that find a run's id in a link.
    pub run_links: Vec<String>,
    /// Comments that an earlier verifier left; absent where there was none.
    #[serde(default)]
    pub legacy_verdicts: Option<LegacyVerdicts>,
}

/// By what the verdicts of an earlier verifier are known: both have to fit, so that a marker which
/// anybody else typed means nothing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LegacyVerdicts {
    /// What the first line begins with, up to the first word that differs from verdict to verdict.
    pub markers: Vec<String>,
    /// The accounts that posted them, whatever their type.
    pub authors: Vec<String>,
}

/// The template's items and the tokens by which each is recognised (`items.yaml`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemTable {
    /// In the order of evaluation: the first match wins.
    pub items: Vec<ItemDefinition>,
}

/// One item.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemDefinition {
    /// Stable id.
    pub id: String,
    /// A few words for people.
    pub label: String,
    /// Alternatives; the text has to contain all tokens of one of them (any case, emphasis and
    /// repeated blanks taken out, link targets kept).
    pub tokens: Vec<Vec<String>>,
}

/// Commands that pin a run (`reuse:` of `profile.yaml`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReuseSettings {
    /// The commands.
    pub commands: Vec<ReuseCommandSettings>,
    /// Associations whose commands count.
    pub associations: Vec<String>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReuseCommandSettings {
    /// The word with its slash, e.g. `/use`.
    pub name: String,
    /// Whether a run id has to follow.
    pub run_id: Presence,
}

/// Whether an argument has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It has to.
    Required,
    /// It may.
    Optional,
}
