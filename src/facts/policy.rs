//! What the repository's documents and registries say of affected configurations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Origin;

/// What the document of models says of an affected model, scenario and precision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deprecation {
    /// The entry, the scenario and the precision that it touches.
    pub subject: String,
    /// The key of the entry.
    pub config: String,
    /// The repository's own name of the model.
    pub prefix: String,
    /// The scenario.
    pub scenario: String,
    /// The precision.
    pub precision: String,
    /// Whether it decodes speculatively.
    pub speculative: bool,
    /// What is said.
    pub state: DeprecationState,
    /// The last day on which it may be submitted, `YYYY-MM-DD`; `null` where none is named.
    pub last_day: Option<String>,
    /// The statement.
    pub row: String,
    /// The entry.
    pub config_origin: Origin,
    /// The line of the document.
    pub origin: Origin,
}

/// What the document says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeprecationState {
    /// It may be submitted.
    Active,
    /// It may be submitted until a day that has not passed.
    Scheduled,
    /// It may not.
    Deprecated,
    /// It may not, but for a condition that is not held against it.
    Conditional,
    /// The document does not name the model.
    Unlisted,
    /// The document speaks of it in a form that cannot be read.
    Unknown,
}

/// Something that changes the engine inside of its image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Patch {
    /// The file that does it.
    pub path: String,
    /// Its 1-based line; 0 for a file as a whole.
    pub line: i64,
    /// What kind of change it is, in the words of the table of engine patches.
    pub kind: String,
    /// What is changed: a package, a path, a module.
    pub target: String,
    /// The command, cut.
    pub text: String,
    /// Whether the pull request leaves the file as it was.
    pub unchanged: bool,
    /// The waiver that covers it, or comes nearest.
    pub waiver: Option<Waiver>,
    /// Where a waiver would have to stand.
    pub waiver_path: String,
    /// The line.
    pub origin: Origin,
}

/// A waiver for a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waiver {
    /// Its path.
    pub path: String,
    /// What it lacks; empty where it covers the patch.
    pub missing: Vec<String>,
    /// Whether the sign-off's details link it; `null` where there is no sign-off to look at.
    pub linked: Option<bool>,
    /// Whether it says of itself that it is only proposed.
    pub proposed: bool,
    /// The document.
    pub origin: Origin,
}
