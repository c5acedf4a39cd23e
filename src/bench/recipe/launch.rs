//! What a variant launches: roles with their arguments and environments, the client, the frontend.
//!
//! Two generations of the format are read. In schema 2 `roles.ROLE` holds `args` and `env`; in schema 1
//! they stand in `backend.TYPE_config.ROLE` and `backend.ROLE_environment`, and counts in `resources`.

use serde_json::Value as Json;

use super::Variant;
use crate::bench::yaml::{Node, Pair, Place, Value};

/// A launch as its recipe describes it; what the launcher binds later is not in it.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Path of the recipe.
    pub path: String,
    /// Which of its variants.
    pub selector: String,
    /// Where its block begins.
    pub at: Place,
    /// 1 or 2.
    pub schema: i64,
    /// The engine, as the recipe names it.
    pub engine: Option<Setting>,
    /// The container image.
    pub image: Option<Setting>,
    /// The model's path or repository.
    pub model: Option<Setting>,
    /// The precision.
    pub precision: Option<Setting>,
    /// A script that each worker's container runs before serving.
    pub setup_script: Option<Setting>,
    /// What serves, in the order of the file.
    pub roles: Vec<Role>,
    /// The frontend or router.
    pub frontend: Role,
    /// The client: `type`, `command`, `use_chat_template`, …
    pub benchmark: Vec<Setting>,
    /// The client's environment.
    pub benchmark_env: Vec<Setting>,
    /// The whole variant, for what has no field here.
    pub root: Node,
}

/// One kind of worker.
#[derive(Debug, Clone, Default)]
pub struct Role {
    /// `agg`, `prefill`, `decode`; of the frontend its type.
    pub name: String,
    /// Where its block begins.
    pub at: Place,
    /// The engine of this role, where it has one of its own.
    pub engine: Option<Setting>,
    /// The engine's arguments by name without leading dashes.
    pub args: Vec<Setting>,
    /// Environment variables, the launch's own ones under the role's.
    pub env: Vec<Setting>,
    /// Nodes, workers and GPUs of a worker, as far as they are stated as numbers.
    pub nodes: Option<i64>,
    /// Workers.
    pub workers: Option<i64>,
    /// GPUs of a worker.
    pub gpus: Option<i64>,
}

/// A name, its value and where it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The name.
    pub name: String,
    /// The value.
    pub value: Json,
    /// Line and column of the name.
    pub at: Place,
}

impl Setting {
    fn of(pair: &Pair) -> Self {
        Self { name: pair.key.key_name(), value: pair.value.to_json(), at: pair.key.at }
    }

    /// The value as a shell or an engine would see it: text as it is, everything else as JSON.
    pub fn text(&self) -> String {
        match &self.value {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

impl Launch {
    /// Every scalar and list of the variant by its dotted path, in the order of the file:
    /// `roles.decode.args.max_batch_size`.
    pub fn leaves(&self) -> Vec<Setting> {
        let mut leaves = Vec::new();
        collect("", &self.root, self.root.at, &mut leaves);
        leaves
    }
}

fn collect(prefix: &str, node: &Node, at: Place, leaves: &mut Vec<Setting>) {
    let Value::Mapping(pairs) = &node.value else {
        leaves.push(Setting { name: prefix.to_owned(), value: node.to_json(), at });
        return;
    };
    for pair in pairs {
        let name = pair.key.key_name();
        let path = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        collect(&path, &pair.value, pair.key.at, leaves);
    }
}

/// Reads a variant.
pub(super) fn of(path: &str, variant: &Variant, root: &Node) -> Launch {
    let schema = match root.get("schema").map(|node| &node.value) {
        Some(Value::Int(n)) => *n,
        _ if root.get("roles").is_some() => 2,
        _ => 1,
    };
    let in_two = |outer: &str, inner: &str| root.get(outer).and_then(|node| setting(node, inner));
    let (engine, roles) = if schema >= 2 { newer(root) } else { older(root) };
    let image = at(root, &["identity", "container", "image"]);
    let benchmark = root.get("benchmark");
    Launch {
        path: path.to_owned(),
        selector: variant.selector.clone(),
        at: variant.at,
        schema,
        engine,
        image: in_two("model", "container").or(image),
        model: in_two("model", "path").or_else(|| at(root, &["identity", "model", "repo"])),
        precision: in_two("model", "precision"),
        setup_script: setting(root, "setup_script"),
        roles,
        frontend: frontend(root),
        benchmark: settings(benchmark)
            .into_iter()
            .filter(|setting| !matches!(setting.value, Json::Object(_)))
            .collect(),
        benchmark_env: settings(benchmark.and_then(|node| node.get("env"))),
        root: root.clone(),
    }
}

fn newer(root: &Node) -> (Option<Setting>, Vec<Role>) {
    let engine = root.pair("engine").map(engine_of);
    let roles = root.get("roles").and_then(|roles| roles.mapping().ok()).unwrap_or_default();
    let roles = roles.iter().filter(|pair| !pair.value.is_null()).map(|pair| {
        let role = &pair.value;
        Role {
            name: role_name(&pair.key.key_name()),
            at: pair.key.at,
            engine: role.pair("engine").map(engine_of),
            args: settings(role.get("args")),
            env: merged(root.get("environment"), role.get("env")),
            nodes: int(role.get("nodes")),
            workers: int(role.get("workers")),
            gpus: int(role.get("gpus")),
        }
    });
    (engine, roles.collect())
}

/// Name in `backend`, short name in `resources`.
const OLDER_ROLES: [(&str, &str); 3] =
    [("prefill", "prefill"), ("decode", "decode"), ("aggregated", "agg")];

fn older(root: &Node) -> (Option<Setting>, Vec<Role>) {
    let backend = root.get("backend");
    let engine = backend.and_then(|backend| setting(backend, "type"));
    let config = match (&engine, backend) {
        (Some(engine), Some(backend)) => backend.get(&format!("{}_config", engine.text())),
        // Without a type: the only configuration that is there.
        (None, Some(backend)) => {
            let pairs = backend.mapping().unwrap_or_default().iter();
            let mut configs = pairs.filter(|pair| pair.key.key_name().ends_with("_config"));
            configs.next().filter(|_| configs.next().is_none()).map(|pair| &pair.value)
        }
        _ => None,
    };
    let resources = root.get("resources");
    let count = |name: String| int(resources.and_then(|node| node.get(&name)));
    let roles = OLDER_ROLES.into_iter().filter_map(|(long, short)| {
        let args = config.and_then(|config| config.pair(long));
        let env = backend.and_then(|backend| backend.pair(&format!("{long}_environment")));
        let workers = count(format!("{short}_workers"));
        let nodes = count(format!("{short}_nodes"));
        let is_there = |pair: Option<&Pair>| pair.is_some_and(|pair| !pair.value.is_null());
        let runs = is_there(args) || workers.or(nodes).is_some_and(|count| count > 0);
        if !runs || workers == Some(0) {
            return None;
        }
        Some(Role {
            name: role_name(long),
            at: args.or(env).map_or(root.at, |pair| pair.key.at),
            engine: None,
            args: settings(args.map(|pair| &pair.value)),
            env: merged(root.get("environment"), env.map(|pair| &pair.value)),
            nodes,
            workers,
            gpus: count(format!("gpus_per_{short}")),
        })
    });
    (engine, roles.collect())
}

fn role_name(name: &str) -> String {
    if name == "aggregated" { "agg" } else { name }.to_owned()
}

fn frontend(root: &Node) -> Role {
    let Some(pair) = root.pair("frontend") else { return Role::default() };
    Role {
        name: pair.value.get("type").and_then(|node| node.text().ok()).unwrap_or_default().into(),
        at: pair.key.at,
        args: settings(pair.value.get("args")),
        env: settings(pair.value.get("env")),
        ..Role::default()
    }
}

/// `engine: NAME` or `engine: {type: NAME, …}`.
fn engine_of(pair: &Pair) -> Setting {
    setting(&pair.value, "type").unwrap_or_else(|| Setting::of(pair))
}

fn at(root: &Node, path: &[&str]) -> Option<Setting> {
    let (last, folders) = path.split_last()?;
    setting(folders.iter().try_fold(root, |node, name| node.get(name))?, last)
}

fn setting(node: &Node, name: &str) -> Option<Setting> {
    node.pair(name).filter(|pair| !pair.value.is_null()).map(Setting::of)
}

fn settings(node: Option<&Node>) -> Vec<Setting> {
    let pairs = node.and_then(|node| node.mapping().ok()).unwrap_or_default();
    pairs.iter().map(Setting::of).collect()
}

/// The launch's environment with the role's over it.
fn merged(below: Option<&Node>, above: Option<&Node>) -> Vec<Setting> {
    let above = settings(above);
    let mut all = settings(below);
    all.retain(|setting| !above.iter().any(|over| over.name == setting.name));
    all.extend(above);
    all
}

fn int(node: Option<&Node>) -> Option<i64> {
    node?.int().ok()
}
