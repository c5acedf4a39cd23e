//! What a row of a master configuration runs: its recipe's path, or its script's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::layout::{Layout, Tree};
use super::master::{Entry, Row, Topology, Workload};

/// How launchers find the script of a row that names no recipe. The launchers of the benchmark repository
/// put names together from the row's fields; each pattern is one of their forms, tried in order, and the
/// first that exists counts. `{model}`, `{precision}`, `{sku}`, `{framework}` stand for those fields,
/// `{scenario}`, `{spec}` and `{suffix}` for what the tables below make of scenario type, way of
/// speculating and framework (nothing where the table has no such key).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptNames {
    /// Patterns for rows of one node.
    pub single_node: Vec<String>,
    /// Patterns for rows of several nodes.
    pub multi_node: Vec<String>,
    /// What `{scenario}` stands for, by scenario type.
    pub scenario: BTreeMap<String, String>,
    /// What `{spec}` stands for, by way of speculating.
    pub spec: BTreeMap<String, String>,
    /// What `{suffix}` stands for, by framework.
    pub suffix: BTreeMap<String, String>,
    /// Variables that a script is started with, by the field of the row that they hold.
    pub environment: BTreeMap<String, String>,
    /// Variables that it is started with whatever the row is.
    pub constants: BTreeMap<String, String>,
    /// First words of the commands that start a server.
    pub servers: Vec<String>,
}

/// What a row runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The path in the tree; as written, where nothing in the tree is called so.
    pub path: String,
    /// The variant, of a recipe that says which.
    pub selector: Option<String>,
    /// Whether it is in the tree.
    pub in_tree: bool,
    /// Whether it is a script.
    pub is_script: bool,
}

/// The recipe that a reference `PATH` or `PATH:SELECTOR` names.
///
/// Ruling: `recipes/x` is looked for in the folders of recipes; a whole path is relative to the layout's
/// root; where the entry names a folder, the path is relative to that.
pub fn recipe(written: &str, entry: &Entry, layout: &Layout, tree: &Tree) -> Reference {
    let (path, selector) = match written.split_once(':') {
        Some((path, selector)) => (path, Some(selector.to_owned())),
        None => (written, None),
    };
    let bare = path.strip_prefix("recipes/").unwrap_or(path);
    let folder = entry.recipe_dir.iter().map(|dir| dir.text.trim_end_matches('/'));
    let candidates = folder
        .flat_map(|dir| [format!("{}{dir}/{path}", layout.prefix), format!("{dir}/{path}")])
        .chain([format!("{}{path}", layout.prefix), path.to_owned()])
        .chain(layout.recipes.iter().map(|folder| format!("{folder}{bare}")));
    let found = candidates.into_iter().find(|candidate| tree.contains_key(candidate));
    let in_tree = found.is_some();
    let path = found.unwrap_or_else(|| path.to_owned());
    Reference { path, selector, in_tree, is_script: false }
}

/// The script of a row that names no recipe; the first pattern's name where none is in the tree, and
/// nothing where there is no pattern.
pub fn script(
    row: &Row,
    workload: Workload,
    entry: &Entry,
    names: &ScriptNames,
    layout: &Layout,
    tree: &Tree,
) -> Option<Reference> {
    let patterns = match row.topology {
        Topology::Single(_) => &names.single_node,
        Topology::Multi { .. } => &names.multi_node,
    };
    let of =
        |table: &BTreeMap<String, String>, key: &str| table.get(key).cloned().unwrap_or_default();
    let name = |pattern: &String| {
        let filled = pattern
            .replace("{scenario}", &of(&names.scenario, workload.scenario_type()))
            .replace("{spec}", &of(&names.spec, &row.spec_decoding))
            .replace("{suffix}", &of(&names.suffix, &entry.framework.text))
            .replace("{model}", &entry.model_prefix.text)
            .replace("{precision}", &entry.precision.text)
            .replace("{sku}", entry.sku())
            .replace("{framework}", &entry.framework.text);
        format!("{}{filled}", layout.prefix)
    };
    let mut candidates = patterns.iter().map(name);
    let first = candidates.next()?;
    let found =
        std::iter::once(first.clone()).chain(candidates).find(|path| tree.contains_key(path));
    let in_tree = found.is_some();
    Some(Reference { path: found.unwrap_or(first), selector: None, in_tree, is_script: true })
}
