//! How points are started: recipes, scripts, and what of them takes part in a verdict.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Origin;

/// A recipe or script that affected points run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recipe {
    /// Its path at the assessed commit; as written, where it is not in the tree.
    pub path: String,
    /// The variant that is meant; `null` for a whole file.
    pub selector: Option<String>,
    /// The points that run it, by subject.
    pub points: Vec<String>,
    /// Whether the pull request changes the file.
    pub changed: bool,
    /// Whether it stands in the tree of the assessed commit.
    pub in_tree: bool,
    /// What of it could not be read or resolved, and why.
    pub unresolved: Vec<Unresolved>,
    /// Arguments of a server whose value is set where this verifier does not see it.
    pub open_settings: Vec<Unresolved>,
    /// Scripts that it has run inside of the serving container before serving.
    pub setup_scripts: Vec<String>,
    /// Its first line, or that of the variant.
    pub origin: Origin,
}

/// Something that cannot be known from the files alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unresolved {
    /// What, and why.
    pub what: String,
    /// Where.
    pub origin: Origin,
}

/// How one role of a row of the matrix is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Launch {
    /// The point, and the role where there are several.
    pub subject: String,
    /// The key of its entry.
    pub config: String,
    /// The subjects of its points: they differ in concurrency alone.
    pub points: Vec<String>,
    /// `agg`, `prefill`, `decode` or `frontend`.
    pub role: String,
    /// The framework of its entry.
    pub framework: String,
    /// Whether the point decodes speculatively.
    pub speculative: bool,
    /// Whether the point replays agents' traces.
    pub agentic: bool,
    /// Arguments of the server by name, without leading dashes; values as text.
    pub args: BTreeMap<String, String>,
    /// Environment variables by name.
    pub env: BTreeMap<String, String>,
    /// All of them with their origins, by kind, then name.
    pub settings: Vec<Setting>,
    /// What it was read from: `recipe` or `log`.
    pub source: String,
    /// Where it begins.
    pub origin: Origin,
}

/// One setting of a launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// `arg` or `env`.
    pub kind: String,
    /// Its name as written, without leading dashes.
    pub name: String,
    /// Its value as text.
    pub value: String,
    /// Where it stands.
    pub origin: Origin,
}

/// A setting that changes the model's architecture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArchitectureOverride {
    /// The launch, or the file where it is a script's own edit.
    pub subject: String,
    /// The key, with the keys that lead to it: `text_config.use_index_cache`.
    pub key: String,
    /// Its value.
    pub value: String,
    /// What the table of architecture overrides says of it.
    pub class: OverrideClass,
    /// Why the table says so.
    pub why: String,
    /// Where.
    pub origin: Origin,
}

/// What an override does to the work that is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OverrideClass {
    /// The same work.
    Safe,
    /// Less of it.
    Reducing,
    /// Not known.
    Unknown,
}

/// Whether a launch publishes events and metrics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventPublication {
    /// The launch.
    pub subject: String,
    /// What the files say.
    pub state: PublicationState,
    /// The setting as written; empty where there is none.
    pub setting: String,
    /// Where it stands; where it would, if there is none.
    pub origin: Origin,
}

/// What the files say of event publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PublicationState {
    /// Switched on.
    Enabled,
    /// Switched off.
    Disabled,
    /// Not said, so that the implementation's default decides.
    Omitted,
    /// Said in a form that cannot be read.
    Unknown,
}
