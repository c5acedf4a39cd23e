//! How one repository works: `rules/<profile>/profile.yaml` and its tables, as the types that the
//! readers own. Pure: files come in as text.

#![deny(clippy::disallowed_methods)]

mod ci;
mod diagnostic;
mod document;
mod greeting;
mod groups;
mod load;

use crate::bench::layout::LayoutNames;
use crate::bench::matrix::{JobWords, MatrixSettings};
use crate::bench::reference::ScriptNames;

pub use ci::{CiChecks, CiSettings};
pub use diagnostic::{Diagnostic, nearest};
pub use document::{Key, Kind, Node, Place, Written};
pub use greeting::{Greeting, GreetingSettings, Language, LanguageSettings, Slot, Words};
pub use groups::PathGroups;
pub use load::{Files, builtin, builtin_names, declared_name, is_policy};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::signoff::settings::{Grammar, ItemTable};
pub use crate::signoff::settings::{Presence, ReuseCommandSettings, ReuseSettings};

/// The built-in profile that is used where none is named.
pub const DEFAULT_PROFILE: &str = "inferencex";

/// A checked profile.
#[derive(Debug, Clone)]
pub struct Profile {
    /// `profile.yaml`.
    pub settings: Settings,
    /// `items.yaml`.
    pub items: ItemTable,
    /// The path groups, compiled.
    pub groups: PathGroups,
    /// Which checks of other apps count, compiled.
    pub ci: CiChecks,
    /// The greeting of a pull request; `None` where none is posted.
    pub greeting: Option<Greeting>,
}

impl Profile {
    /// Reads sign-offs and templates by this profile's words.
    ///
    /// # Errors
    /// Names the setting that cannot be worked with.
    pub fn reader(&self) -> Result<crate::signoff::Reader, crate::signoff::SettingsError> {
        crate::signoff::Reader::new(&self.settings.signoff, &self.items)
    }
}

/// `profile.yaml`, as written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `countersign/profile/v1`.
    pub schema: String,
    /// Its name; that of its folder.
    pub name: String,
    /// How a sign-off is recognised.
    pub signoff: Grammar,
    /// Where the checklist template stands.
    pub template: TemplatePlace,
    /// Who need not sign.
    pub scope: ScopeSettings,
    /// Who may start a verification.
    pub trigger: TriggerSettings,
    /// Named groups of globs; a changed file carries the names of those that match it.
    #[serde(default)]
    pub path_groups: std::collections::BTreeMap<String, Vec<String>>,
    /// What a benchmark run is; absent where the repository has none.
    #[serde(default)]
    pub sweep: Option<SweepSettings>,
    /// Where the benchmark's files stand and what its generator has as constants; absent where the
    /// repository holds no such benchmark.
    #[serde(default)]
    pub benchmark: Option<BenchmarkSettings>,
    /// Which checks of other apps count.
    #[serde(default)]
    pub ci: CiSettings,
    /// Commands that pin a run; absent where the repository has none.
    #[serde(default)]
    pub reuse: Option<ReuseSettings>,
    /// Ids of the checks that an administrator may except.
    #[serde(default)]
    pub overridable: Vec<String>,
    /// The check run.
    pub check_run: CheckRunSettings,
    /// Whom a comment calls where a row of the check is a warning, by check id.
    #[serde(default)]
    pub escalation: Vec<Escalation>,
    /// What is said once on a pull request that needs a sign-off; absent for nothing.
    #[serde(default)]
    pub greeting: Option<GreetingSettings>,
    /// Whether the author of the pull request may sign it (ruling: a note; a profile can block).
    #[serde(default)]
    pub author_may_sign: Strictness,
    /// Whether a review on an older commit counts (ruling: a note; a profile can block).
    #[serde(default)]
    pub review_of_older_commit: Strictness,
}

/// The benchmark repository's own files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkSettings {
    /// The path group of files that can change what a benchmark measures.
    pub group: String,
    /// Where they stand.
    pub layout: LayoutNames,
    /// What the generator of the matrix has as constants.
    pub matrix: MatrixSettings,
    /// How launchers find the script of a row that names no recipe.
    pub scripts: ScriptNames,
    /// The container registries that are asked about images.
    #[serde(default)]
    pub registries: Vec<Registry>,
}

/// A container registry that tells everybody what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    /// The host in an image's reference.
    pub host: String,
    /// Whether a reference that names no host means this one.
    #[serde(default)]
    pub default: bool,
    /// The base URL of its API, without `/v2`.
    pub api: String,
    /// The URL at which it gives a token to everybody, without `scope`; none where it asks for none.
    #[serde(default)]
    pub token: Option<String>,
    /// The page for people, with `{name}` for the image's repository.
    #[serde(default)]
    pub page: Option<String>,
}

/// Where the checklist template stands on the default branch.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplatePlace {
    /// Candidates, newest first; the first that exists is the template.
    pub paths: Vec<String>,
    /// The heading above the template's fence; without that heading, the first fence with the
    /// phrase, or the document itself.
    pub heading: String,
}

/// Whom the scope gate leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeSettings {
    /// Where CODEOWNERS may stand, first found wins (GitHub's order).
    pub codeowners: Vec<String>,
    /// Teams whose ownership needs no sign-off, as CODEOWNERS writes them.
    pub exempt_teams: Vec<String>,
    /// Whether owners whose permission and role are both `admin` need none.
    pub exempt_admins: bool,
    /// Whether everybody who is listed in CODEOWNERS may sign for what only its pattern `*` matches.
    #[serde(default)]
    pub any_owner_signs_catch_all: bool,
}

/// Who may start a verification: both lists must hold the account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriggerSettings {
    /// GitHub's base permissions.
    pub permissions: Vec<String>,
    /// Role names.
    pub roles: Vec<String>,
}

/// What a benchmark run is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepSettings {
    /// Paths of the workflow files whose runs count.
    pub workflows: Vec<String>,
    /// Events whose runs count.
    pub events: Vec<String>,
    /// Slug of the app whose check runs are jobs.
    pub app: String,
    /// Name of the path group whose files produce a run's evidence.
    pub evidence_group: String,
    /// Job families by the start of the job's name; the first match wins.
    pub families: Vec<Family>,
    /// What of the jobs' names is the repository's own.
    #[serde(default)]
    pub job_words: JobWords,
}

/// One job family.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// What the job's name starts with.
    pub prefix: String,
    /// What its success proves.
    pub kind: FamilyKind,
    /// Whether its job stands for a planned point of any family of its kind.
    #[serde(default)]
    pub canary: bool,
}

/// What a job's success proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FamilyKind {
    /// A measurement.
    Throughput,
    /// An evaluation.
    Eval,
}

/// The check run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRunSettings {
    /// Its name.
    pub name: String,
    /// Context of a commit status published beside it; absent for none.
    #[serde(default)]
    pub status_context: Option<String>,
}

impl CheckRunSettings {
    /// Whether a check bears a name of ours, whoever posted it and in which form: in a branch's rules
    /// check runs and commit statuses share their names.
    pub fn is_ours(&self, name: &str) -> bool {
        name == self.name || self.status_context.as_deref() == Some(name)
    }
}

/// Whom a comment calls.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Escalation {
    /// The check.
    pub check: String,
    /// Logins without `@`.
    pub logins: Vec<String>,
    /// The sentence; plain text.
    pub text: String,
}

/// What rule expressions see of a profile, as `profile`: the choices that a profile leaves open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choices {
    /// Whether the author of the pull request may sign it.
    pub author_may_sign: Strictness,
    /// Whether a review on an older commit counts.
    pub review_of_older_commit: Strictness,
    /// What it means where no check of another app ran.
    pub no_ci: Strictness,
}

impl Choices {
    /// Their JSON schema, as `rules check` reads it.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Choices).to_value()
    }
}

impl Settings {
    /// What rule expressions see of it.
    pub fn choices(&self) -> Choices {
        Choices {
            author_may_sign: self.author_may_sign,
            review_of_older_commit: self.review_of_older_commit,
            no_ci: self.ci.none,
        }
    }
}

/// Whether something is passed over with a note or blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strictness {
    /// A note.
    #[default]
    Note,
    /// A failure of the check that speaks of it.
    Block,
}
