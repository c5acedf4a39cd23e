//! Where a tree of the benchmark repository keeps what.
//!
//! The repository has moved its files more than once, so each tree is asked for itself. The profile names
//! the candidates, newest first; what a candidate finds decides.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Candidates for everything, newest first. `*` stays within a folder, `**` crosses folders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayoutNames {
    /// Folders under which everything may stand, with their slash; the empty one for the root.
    pub prefixes: Vec<String>,
    /// Globs of master configurations. The first glob that finds any decides.
    pub masters: Vec<String>,
    /// Paths of the changelog.
    pub changelog: Vec<String>,
    /// Paths of the runners.
    pub runners: Vec<String>,
    /// Paths of the document of models.
    pub models: Vec<String>,
    /// Paths of the bars of the evaluations.
    pub thresholds: Vec<String>,
    /// Folders of golden acceptance lengths, with their slash.
    pub golden: Vec<String>,
    /// Folders of waivers, with their slash.
    pub waivers: Vec<String>,
    /// Folders of launch recipes, with their slash: `recipes/x` of a configuration is looked for in them.
    pub recipes: Vec<String>,
    /// Folders of setup scripts, with their slash.
    pub setup_scripts: Vec<String>,
    /// Globs of files that belong to another project and are not looked at.
    #[serde(default)]
    pub foreign: Vec<String>,
}

/// What a tree has, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// The folder under which everything stands; empty for the root.
    pub prefix: String,
    /// The master configurations, sorted.
    pub masters: Vec<String>,
    /// See [`LayoutNames`].
    pub changelog: Option<String>,
    /// See [`LayoutNames`].
    pub runners: Option<String>,
    /// See [`LayoutNames`].
    pub models: Option<String>,
    /// See [`LayoutNames`].
    pub thresholds: Option<String>,
    /// See [`LayoutNames`].
    pub golden: Option<String>,
    /// See [`LayoutNames`].
    pub waivers: Option<String>,
    /// Folders of recipes that have files, newest first.
    pub recipes: Vec<String>,
    /// Folders of setup scripts that have files, newest first.
    pub setup_scripts: Vec<String>,
}

/// A tree by path: what a file is, and the digest of its content.
pub type Tree = BTreeMap<String, String>;

impl LayoutNames {
    /// Finds what a tree has.
    pub fn find(&self, tree: &Tree) -> Layout {
        let file = |candidates: &[String]| {
            candidates.iter().find(|path| tree.contains_key(*path)).cloned()
        };
        let folders = |candidates: &[String]| -> Vec<String> {
            candidates.iter().filter(|folder| has_under(tree, folder)).cloned().collect()
        };
        let masters = self.masters.iter().map(|pattern| matching(tree, pattern));
        let masters = masters.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
        let prefix = masters
            .first()
            .and_then(|master| self.prefixes.iter().find(|prefix| master.starts_with(*prefix)))
            .cloned()
            .unwrap_or_default();
        Layout {
            prefix,
            masters,
            changelog: file(&self.changelog),
            runners: file(&self.runners),
            models: file(&self.models),
            thresholds: file(&self.thresholds),
            golden: folders(&self.golden).into_iter().next(),
            waivers: folders(&self.waivers).into_iter().next(),
            recipes: folders(&self.recipes),
            setup_scripts: folders(&self.setup_scripts),
        }
    }

    /// A path without the folder under which everything stands: what a file is called in every layout.
    pub fn place<'a>(&self, path: &'a str) -> &'a str {
        let prefix =
            self.prefixes.iter().filter(|prefix| path.starts_with(*prefix)).max_by_key(|p| p.len());
        prefix.map_or(path, |prefix| &path[prefix.len()..])
    }
}

/// A glob in which `*` stays within a folder.
pub fn glob(pattern: &str) -> Option<GlobMatcher> {
    Some(GlobBuilder::new(pattern).literal_separator(true).build().ok()?.compile_matcher())
}

fn matching(tree: &Tree, pattern: &str) -> Vec<String> {
    let Some(glob) = glob(pattern) else { return Vec::new() };
    let literal = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
    under(tree, literal).filter(|path| glob.is_match(path)).map(str::to_owned).collect()
}

fn has_under(tree: &Tree, folder: &str) -> bool {
    under(tree, folder).next().is_some()
}

/// The paths of a tree that begin so, sorted.
pub fn under<'t>(tree: &'t Tree, beginning: &str) -> impl Iterator<Item = &'t str> {
    let beginning = beginning.to_owned();
    tree.range(beginning.clone()..)
        .map(|(path, _)| path.as_str())
        .take_while(move |path| path.starts_with(&beginning))
}

#[cfg(test)]
mod tests {
    use super::{LayoutNames, Tree};

    fn names() -> LayoutNames {
        let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        LayoutNames {
            prefixes: list(&["new/", ""]),
            masters: list(&[
                "new/configs/*-master.yaml",
                "configs/*-master.yaml",
                "old/*-master.yaml",
            ]),
            changelog: list(&["new/log.yaml", "log.yaml"]),
            runners: list(&["new/configs/runners.yaml", "configs/runners.yaml"]),
            models: list(&["new/MODELS.md", "docs/MODELS.md", "MODELS.md"]),
            thresholds: Vec::new(),
            golden: list(&["new/golden/", "golden/"]),
            waivers: list(&["new/waiver/", "waiver/"]),
            recipes: list(&["new/recipes/", "recipes/"]),
            setup_scripts: Vec::new(),
            foreign: Vec::new(),
        }
    }

    fn tree(paths: &[&str]) -> Tree {
        paths.iter().map(|path| ((*path).to_owned(), String::new())).collect()
    }

    #[test]
    fn each_tree_is_asked_for_itself() {
        let root = names().find(&tree(&[
            "configs/a-master.yaml",
            "configs/b-master.yaml",
            "configs/deprecated/c-master.yaml",
            "configs/search.yaml",
            "golden/x.yaml",
            "log.yaml",
            "MODELS.md",
        ]));
        assert_eq!(root.masters, ["configs/a-master.yaml", "configs/b-master.yaml"]);
        assert_eq!((root.prefix.as_str(), root.changelog.as_deref()), ("", Some("log.yaml")));
        assert_eq!(
            (root.golden.as_deref(), root.models.as_deref()),
            (Some("golden/"), Some("MODELS.md"))
        );

        let moved = tree(&["new/configs/a-master.yaml", "configs/z-master.yaml", "docs/MODELS.md"]);
        let moved = names().find(&moved);
        assert_eq!((moved.prefix.as_str(), moved.masters.len()), ("new/", 1));
        assert_eq!(moved.models.as_deref(), Some("docs/MODELS.md"));

        let oldest = names().find(&tree(&["old/a-master.yaml", "goldenrod/x"]));
        assert_eq!((oldest.masters.len(), oldest.golden), (1, None));
        assert_eq!(names().find(&Tree::new()).masters, Vec::<String>::new());
        assert_eq!(names().place("new/configs/x"), "configs/x");
        assert_eq!(names().place("configs/x"), "configs/x");
    }
}
