//! What the pull request changes of the benchmark: layouts, configurations, points.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Origin;

/// Where the benchmark repository keeps its files, at the merge base and at the assessed commit.
///
/// `null` and empty where a tree has no such file. A move from one layout to another is no change of
/// what the files say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Layout {
    /// The merge base, against which the pull request is compared.
    pub base: Tree,
    /// The assessed commit.
    pub head: Tree,
    /// Whether the two keep their files in different places.
    pub moved: bool,
}

/// The benchmark's documents in one tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tree {
    /// The commit, 40 hex digits.
    pub commit: String,
    /// The folder under which everything stands, with its slash; empty for the root.
    pub prefix: String,
    /// The master configurations, by path.
    pub masters: Vec<String>,
    /// The changelog of performance changes.
    pub changelog: Option<String>,
    /// The runners and what hardware they have.
    pub runners: Option<String>,
    /// The document that says which models are benchmarked.
    pub models: Option<String>,
    /// The bars of the evaluations.
    pub thresholds: Option<String>,
    /// The folder of golden acceptance lengths.
    pub golden: Option<String>,
    /// The folder of waivers.
    pub waivers: Option<String>,
    /// The tree's page.
    pub origin: Origin,
}

/// What the pull request changes of the benchmark, taken together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// One sentence of ours, made of counts: "image-only bump of 1 entry, 9 points; changelog: 1 entry
    /// added, history intact".
    pub sentence: String,
    /// Affected entries of the master configurations that remain.
    pub configs: i64,
    /// Their points.
    pub points: i64,
    /// Jobs that have to measure them, by the generator's plan.
    pub planned_throughput: i64,
    /// Jobs that have to evaluate them.
    pub planned_evals: i64,
    /// Changed files that any configuration may run: the set of affected ones cannot be enumerated.
    pub shared: Vec<SharedChange>,
    /// What was odd in the files that were read, and accepted.
    pub notes: Vec<FileNote>,
    /// The pull request.
    pub origin: Origin,
}

/// A changed file that several configurations share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedChange {
    /// Its path.
    pub path: String,
    /// The changed file.
    pub origin: Origin,
}

/// Something odd in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileNote {
    /// What.
    pub what: String,
    /// The line.
    pub origin: Origin,
}

/// An affected entry of a master configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// Its key.
    pub key: String,
    /// How the pull request affects it; the first that holds.
    pub change: ConfigChange,
    /// Whether nothing but the container image differs.
    pub image_only: bool,
    /// The scenarios that are affected: those that a changelog entry selects, else all that it has.
    pub scenarios: Vec<String>,
    /// The entry at the merge base.
    pub base: Option<ConfigSide>,
    /// The entry at the assessed commit; `null` where it was removed.
    pub head: Option<ConfigSide>,
    /// Other entries at the assessed commit for the same model and hardware, whose framework stands in
    /// the table of open-source engines.
    pub open_source_siblings: Vec<Sibling>,
    /// Where the sign-off's details speak of this entry (its key, image, model or hardware) and link an
    /// issue or pull request of another repository: those links.
    pub explained: Vec<String>,
    /// The entry, at the assessed commit where it is there.
    pub origin: Origin,
}

/// How an entry is affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfigChange {
    /// The key is new.
    Added,
    /// What it says differs.
    Changed,
    /// A new changelog entry selects it.
    Declared,
    /// A changed recipe or script is what it runs.
    Referenced,
    /// The key is gone.
    Removed,
}

/// An entry at one of the two commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigSide {
    /// The container image as written.
    pub image: String,
    /// The image without scheme, tag and digest, `#` read as `/`; e.g. `registry/org/name`.
    pub image_repository: String,
    /// The organisation: the part of that before the last slash.
    pub image_organisation: String,
    /// The model as written.
    pub model: String,
    /// The repository's own name of the model.
    pub model_prefix: String,
    /// The precision as written.
    pub precision: String,
    /// The framework as written.
    pub framework: String,
    /// The runner as written.
    pub runner: String,
    /// The hardware: the runner without `cluster:`, up to its first `-`.
    pub sku: String,
    /// Whether it runs on several nodes.
    pub multinode: bool,
    /// Whether prefill and decode are apart.
    pub disagg: bool,
    /// Whether any of its points decodes speculatively.
    pub speculative: bool,
    /// Its scenarios, in the file's order: `8k1k` and its like, `agentic-coding`.
    pub scenarios: Vec<String>,
    /// The line of its key.
    pub origin: Origin,
    /// The line of its image.
    pub image_origin: Origin,
}

/// An image of affected entries, and what its registry says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegistryImage {
    /// The reference as written.
    pub image: String,
    /// The keys of the entries that run it, sorted.
    pub configs: Vec<String>,
    /// Whether the registry could be asked; where it could not, nothing below is known.
    pub asked: bool,
    /// Whether it is there.
    pub exists: bool,
    /// The digest that its tag names.
    pub digest: Option<String>,
    /// The digest that the reference pins.
    pub pinned_digest: Option<String>,
    /// Whether the tag names what the reference pins, itself or for one platform; true where nothing is
    /// pinned.
    pub agrees: bool,
    /// Why the registry could not be asked.
    pub why: Option<String>,
    /// The registry.
    pub registry: Origin,
    /// The line of the image in the first of the entries.
    pub origin: Origin,
}

/// Another entry for the same model and hardware.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sibling {
    /// Its key.
    pub key: String,
    /// Its framework.
    pub framework: String,
    /// Whether this pull request adds it.
    pub added: bool,
    /// Its line.
    pub origin: Origin,
}

/// One point of an affected entry: a row of its matrix at one concurrency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Its name in texts: key, scenario, what tells it from its neighbours, concurrency.
    pub subject: String,
    /// The key of its entry.
    pub config: String,
    /// `8k1k`, `1k1k`, …, or `agentic-coding`.
    pub scenario: String,
    /// The repository's own name of the model.
    pub model_prefix: String,
    /// The model as written.
    pub model: String,
    /// The precision as written.
    pub precision: String,
    /// The framework as written.
    pub framework: String,
    /// The runner as written.
    pub runner: String,
    /// The hardware.
    pub sku: String,
    /// The container image as written.
    pub image: String,
    /// `none`, or how it speculates.
    pub spec_decoding: String,
    /// Whether it decodes speculatively.
    pub speculative: bool,
    /// Whether it replays agents' traces.
    pub agentic: bool,
    /// Whether it runs on several nodes.
    pub multinode: bool,
    /// Whether prefill and decode are apart.
    pub disagg: bool,
    /// Tokens in; `null` for agents' traces.
    pub isl: Option<i64>,
    /// Tokens out; `null` for agents' traces.
    pub osl: Option<i64>,
    /// Requests at a time.
    pub conc: i64,
    /// The workers, by role.
    pub topology: Vec<RoleTopology>,
    /// `none`, or where the KV cache is offloaded to.
    pub kv_offloading: String,
    /// The launch recipe, as written: `PATH` or `PATH:SELECTOR`.
    pub recipe: Option<String>,
    /// The launch recipe of its evaluations, as written.
    pub eval_recipe: Option<String>,
    /// Whether it is there at the merge base, at the assessed commit, or at both.
    pub delta: Delta,
    /// The row in the master configuration.
    pub origin: Origin,
}

/// At which of the two commits something is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Delta {
    /// At the merge base only.
    Base,
    /// At the assessed commit only.
    Head,
    /// At both.
    Both,
}

/// The workers of one role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleTopology {
    /// `agg`, `prefill` or `decode`.
    pub role: String,
    /// Workers.
    pub workers: i64,
    /// Tensor parallelism: accelerators a worker shares its weights over.
    pub tp: i64,
    /// Pipeline parallelism.
    pub pp: i64,
    /// Expert parallelism.
    pub ep: i64,
    /// Whether attention runs data-parallel.
    pub dp_attn: bool,
    /// The hardware of this role, where it is named.
    pub hardware: Option<String>,
}
