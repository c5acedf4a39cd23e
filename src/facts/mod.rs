//! The one model of what was found out about a submission.
//!
//! Everything that a rule can speak of is a field here, and nothing else is: the same structs are
//! printed by `countersign facts`, described by the generated JSON schema, handed to rule
//! expressions and filled in by rule examples. No policy and no reading from outside lives here.
//!
//! Conventions, relied on by `rules/`: integers are `i64`; lists and maps are never optional and
//! have a fixed order; every field is always present (`null` where there is no value); a value that
//! a row may cite carries an [`Origin`].

#![deny(clippy::disallowed_methods)]

mod changelog;
mod checklist;
mod ci;
mod claims;
mod configs;
mod digest;
mod launches;
mod origin;
mod people;
mod policy;
mod pr;
mod sweep;

pub use changelog::{
    AppendOnly, AppendedConfig, BrokenEntry, Changelog, ChangelogEntry, ChangelogProblem,
    Isolation, Violation,
};
pub use checklist::{
    Checklist, Details, Explanation, ItemState, Link, MatchedItem, MissingItem, SignOff,
    SignOffKind, SignedItem, Staleness, Template, TemplateItem, UncheckedItem,
};
pub use ci::{Ci, CiCheck, CiKind};
pub use claims::{Claims, ItemClaim};
pub use configs::{
    Changes, Config, ConfigChange, ConfigSide, Delta, FileNote, Layout, Point, RegistryImage,
    RoleTopology, SharedChange, Sibling, Tree,
};
pub use digest::{canonical, sha256_hex};
pub use launches::{
    ArchitectureOverride, EventPublication, Launch, OverrideClass, PublicationState, Recipe,
    Setting, Unresolved,
};
pub use origin::{Origin, OriginKind};
pub use people::{Account, Membership, OwnedPath, Owners, People, Remaining, Scope};
pub use policy::{Deprecation, DeprecationState, Patch, Waiver};
pub use pr::{ChangedFile, Clock, CommitRef, Pr};
pub use sweep::{
    Chosen, FamilyCount, Job, OverrideCommand, PlannedJob, Reuse, ReuseCommand, Sweep, SweepCommit,
    SweepRun, UnusedRun,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value that was found, or the reason why it was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    /// Found, with its origins inside the value.
    Known(T),
    /// Not found; says whose lack it is.
    Missing(Missing),
}

impl<T> Fact<T> {
    /// The value, where it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Missing(_) => None,
        }
    }

    /// Why the value is missing, where it is.
    pub fn missing(&self) -> Option<&Missing> {
        match self {
            Self::Known(_) => None,
            Self::Missing(missing) => Some(missing),
        }
    }
}

impl<T> From<Result<T, Missing>> for Fact<T> {
    fn from(result: Result<T, Missing>) -> Self {
        match result {
            Ok(value) => Self::Known(value),
            Err(missing) => Self::Missing(missing),
        }
    }
}

/// Why a fact is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// Whose lack it is; decides between "could not be verified" and "undecided".
    pub cause: Cause,
    /// One line that a person can act on. Plain text; quotes from outside are already bounded.
    pub reason: String,
    /// What to do about it.
    pub fix: Option<String>,
    /// RFC 3339 time of the next try, for [`Cause::Ours`] where one is known.
    pub retry_at: Option<String>,
}

impl Missing {
    /// The submission lacks it: not found, expired, never produced, cut or unreadable.
    pub fn submission(reason: impl Into<String>) -> Self {
        Self { cause: Cause::Submission, reason: reason.into(), fix: None, retry_at: None }
    }

    /// Our inability: a timeout, a 5xx, a rate limit, a permission that we lack, our own error.
    pub fn ours(reason: impl Into<String>) -> Self {
        Self { cause: Cause::Ours, reason: reason.into(), fix: None, retry_at: None }
    }

    /// Not asked for in local mode.
    pub fn offline(what: &str) -> Self {
        Self {
            cause: Cause::Offline,
            reason: format!("{what}: not available offline"),
            fix: None,
            retry_at: None,
        }
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn with_fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

/// Whose lack a missing fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The submission's; the row is "could not be verified".
    Submission,
    /// Ours or GitHub's; nothing is concluded.
    Ours,
    /// Nobody's: a local run does not ask for it.
    Offline,
}

/// Declares [`Facts`] and the table of its names in one place, so that neither can lack a fact.
macro_rules! facts {
    ($( $(#[doc = $doc:literal])+ $name:ident : $ty:ty ),+ $(,)?) => {
        /// All facts of one verification. A fact that no selected rule names is not gathered and
        /// stands as missing with cause `offline`.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub struct Facts { $( $(#[doc = $doc])+ pub $name: Fact<$ty>, )+ }

        /// The names of all facts, in the order of [`Facts`].
        pub const FACT_NAMES: &[&str] = &[$( stringify!($name) ),+];

        impl Facts {
            /// Every fact missing for the same reason.
            pub fn all_missing(missing: &Missing) -> Self {
                Self { $( $name: Fact::Missing(missing.clone()), )+ }
            }

            /// Why the fact of that name is missing; `None` where it is known or no fact is called so.
            pub fn missing(&self, name: &str) -> Option<&Missing> {
                match name { $( stringify!($name) => self.$name.missing(), )+ _ => None }
            }

            /// The fact of that name as JSON (`{"known": …}` or `{"missing": …}`).
            ///
            /// # Panics
            /// Never: every type here serialises.
            pub fn json(&self, name: &str) -> Option<serde_json::Value> {
                let value = match name {
                    $( stringify!($name) => serde_json::to_value(&self.$name), )+
                    _ => return None,
                };
                Some(value.expect("facts are plain data"))
            }

            /// The value of the fact of that name for rule expressions, where it is known.
            pub fn value(&self, name: &str) -> Option<minijinja::Value> {
                match name {
                    $( stringify!($name) => self.$name.known().map(|v| minijinja::Value::from(minijinja::value::Serde(v))), )+
                    _ => None,
                }
            }
        }
    };
}

facts! {
    /// The date that the rules see.
    clock: Clock,
    /// The pull request at the assessed commit.
    pr: Pr,
    /// The sign-off that is verified.
    signoff: SignOff,
    /// The current checklist template.
    template: Template,
    /// The sign-off held against the template.
    checklist: Checklist,
    /// Roles and memberships that were looked up.
    people: People,
    /// Who owns what the pull request changes, and whether the signer does.
    owners: Owners,
    /// Where the benchmark's files stand.
    layout: Layout,
    /// What the pull request changes of the benchmark, taken together.
    changes: Changes,
    /// Affected entries of the master configurations, by key.
    configs: Vec<Config>,
    /// The points of the affected entries, in the order of the matrix.
    points: Vec<Point>,
    /// The changelog against the merge base.
    changelog: Changelog,
    /// The recipes and scripts of affected points, by path and selector.
    recipes: Vec<Recipe>,
    /// How each role of each affected point is started.
    launches: Vec<Launch>,
    /// What the document of models says of what is affected.
    deprecations: Vec<Deprecation>,
    /// Settings that change a model's architecture.
    overrides_arch: Vec<ArchitectureOverride>,
    /// Whether launches publish events and metrics.
    event_publication: Vec<EventPublication>,
    /// Changes of the engine inside of its image, by path and line.
    patches: Vec<Patch>,
    /// Whether the images of the affected entries are in their registries.
    registry: Vec<RegistryImage>,
    /// What is appended to curves, and whether that is all.
    append_only: AppendOnly,
    /// The benchmark runs on the pull request's commits.
    sweep: Sweep,
    /// The check runs and commit statuses on the assessed commit.
    ci: Ci,
    /// Commands that pin a run for reuse.
    reuse: Reuse,
    /// Exceptions that administrators recorded for the assessed commit.
    overrides: Vec<OverrideCommand>,
}

impl Facts {
    /// The JSON schema of all facts, as `rules check` reads it and `docs/facts.schema.json` holds it.
    pub fn schema() -> serde_json::Value {
        serde_json::to_value(schemars::schema_for!(Facts)).expect("a schema is plain data")
    }

    /// SHA-256 (64 hex digits) over the canonical JSON of the named facts, missing reasons included.
    pub fn digest<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> String {
        let chosen: std::collections::BTreeMap<&str, serde_json::Value> =
            names.into_iter().filter_map(|name| Some((name, self.json(name)?))).collect();
        sha256_hex(canonical(&chosen).as_bytes())
    }
}
