//! Files → [`Profile`], and the profiles that are built into the binary.

use std::collections::{BTreeMap, BTreeSet};

use include_dir::{Dir, include_dir};
use serde::de::DeserializeOwned;

use super::diagnostic::Diagnostic;
use super::document::{Node, Place, strict};
use super::{CiChecks, PathGroups, Profile, Settings, greeting};
use crate::signoff::settings::ItemTable;

/// How a check run (its `conclusion`) or a commit status (its `state`) can end, by GitHub's
/// documentation.
const ENDED: [&str; 10] = [
    "success",
    "failure",
    "neutral",
    "cancelled",
    "skipped",
    "timed_out",
    "action_required",
    "stale",
    "startup_failure",
    "error",
];

/// The files of a profile: path inside its folder, with `/` → text.
pub type Files = BTreeMap<String, String>;

static BUILTIN: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/rules");

/// The word that `schema:` of a profile has.
const SCHEMA: &str = "countersign/profile/v1";

/// The files of a profile that is built in; `None` where none is called so.
pub fn builtin(name: &str) -> Option<Files> {
    let mut files = Files::new();
    collect(BUILTIN.get_dir(name)?, name, &mut files);
    Some(files)
}

/// The names of the profiles that are built in, sorted.
pub fn builtin_names() -> Vec<&'static str> {
    let mut names: Vec<_> = BUILTIN.dirs().filter_map(|dir| dir.path().to_str()).collect();
    names.sort_unstable();
    names
}

/// The name that `profile.yaml` gives itself; empty where it cannot be read. A folder that is a copy, or lies
/// elsewhere, need not be called so.
pub fn declared_name(files: &Files) -> String {
    let node = files.get("profile.yaml").and_then(|text| Node::parse("profile.yaml", text).ok());
    let name = node.as_ref().and_then(|node| node.get("name")).and_then(Node::text);
    name.unwrap_or_default().to_owned()
}

/// Whether a file of a profile's folder (by its path inside) is part of the policy: YAML, and the words of
/// a greeting. Everything else there belongs to people.
pub fn is_policy(path: &str) -> bool {
    let yaml = path.ends_with(".yaml") || path.ends_with(".yml");
    let words = path.starts_with("greeting.") && path.ends_with(".md") && !path.contains('/');
    yaml || words
}

fn collect(dir: &Dir<'static>, root: &str, files: &mut Files) {
    for file in dir.files() {
        let path = file.path().strip_prefix(root).ok().and_then(|path| path.to_str());
        if let (Some(path), Some(text)) = (path, file.contents_utf8()) {
            let path = path.replace('\\', "/");
            if is_policy(&path) {
                files.insert(path, text.to_owned());
            }
        }
    }
    for inner in dir.dirs() {
        collect(inner, root, files);
    }
}

impl Profile {
    /// Reads `profile.yaml` and `items.yaml` of the profile called `name`.
    ///
    /// # Errors
    /// Every mistake in the two files; of mistakes in the form of one file only the first.
    pub fn from_files(name: &str, files: &Files) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let settings = read::<Settings>("profile.yaml", files, &mut problems);
        let items = read::<ItemTable>("items.yaml", files, &mut problems);
        if let Some((settings, node)) = &settings {
            check_settings(name, settings, node, &mut problems);
        }
        if let Some((items, node)) = &items {
            check_items(items, node, &mut problems);
        }
        let mut groups = PathGroups::default();
        if let Some((settings, node)) = &settings {
            match PathGroups::new(&settings.path_groups) {
                Ok(compiled) => groups = compiled,
                Err((group, index, error)) => {
                    let at = place(node, &["path_groups", &group, &index.to_string()]);
                    let message = format!("no glob: {}", one_line(&error));
                    problems.push(Diagnostic::new("profile.yaml", at, message));
                }
            }
        }
        let mut ci = CiChecks::default();
        if let Some((settings, node)) = &settings {
            match CiChecks::new(settings) {
                Ok(compiled) => ci = compiled,
                Err((list, index, error)) => {
                    let at = place(node, &["ci", list, &index.to_string()]);
                    let message = format!("no glob: {}", one_line(&error));
                    problems.push(Diagnostic::new("profile.yaml", at, message));
                }
            }
        }
        let greeting = settings.as_ref().and_then(|(settings, node)| {
            greeting::read(settings.greeting.as_ref()?, node, files, &mut problems)
        });
        match (settings, items) {
            (Some((settings, _)), Some((items, _))) if problems.is_empty() => {
                Ok(Self { settings, items, groups, ci, greeting })
            }
            _ => Err(problems),
        }
    }
}

fn read<T: DeserializeOwned>(
    path: &str,
    files: &Files,
    problems: &mut Vec<Diagnostic>,
) -> Option<(T, Node)> {
    let Some(source) = files.get(path) else {
        problems.push(
            Diagnostic::new(path, Place::START, "the file is missing")
                .with_help("a profile has `profile.yaml`, `items.yaml` and one file a rule"),
        );
        return None;
    };
    let read = Node::parse(path, source).and_then(|node| {
        serde_yaml::from_str_with_options(source, strict())
            .map(|value| (value, node))
            .map_err(|error| Diagnostic::of_yaml(path, &error))
    });
    read.map_err(|problem| problems.push(problem)).ok()
}

/// The place of a value inside `profile.yaml`, by its keys; as near as the keys lead.
pub(super) fn place(node: &Node, keys: &[&str]) -> Place {
    let mut at = node;
    for key in keys {
        let inner = match key.parse::<usize>() {
            Ok(index) => at.elements().get(index),
            Err(_) => at.get(key),
        };
        match inner {
            Some(inner) => at = inner,
            None => break,
        }
    }
    at.place
}

fn check_settings(name: &str, settings: &Settings, node: &Node, problems: &mut Vec<Diagnostic>) {
    let mut wrong = |keys: &[&str], message: String| {
        problems.push(Diagnostic::new("profile.yaml", place(node, keys), message));
    };
    if settings.schema != SCHEMA {
        wrong(&["schema"], format!("`schema` is `{}`, expected `{SCHEMA}`", settings.schema));
    }
    if settings.name != name {
        wrong(&["name"], format!("`name` is `{}`, expected `{name}`", settings.name));
    }
    if settings.signoff.phrase.trim().is_empty() {
        wrong(&["signoff", "phrase"], "the phrase is empty".to_owned());
    }
    for list in ["markers", "authors"] {
        let Some(legacy) = &settings.signoff.legacy_verdicts else { break };
        let words = if list == "markers" { &legacy.markers } else { &legacy.authors };
        for (index, word) in words.iter().enumerate() {
            if word.trim().is_empty() {
                let keys = ["signoff", "legacy_verdicts", list, &index.to_string()];
                wrong(&keys, "it is empty, and would stand for everything".to_owned());
            }
        }
    }
    if settings.template.paths.is_empty() {
        wrong(&["template", "paths"], "no path is given".to_owned());
    }
    for (index, pattern) in settings.signoff.run_links.iter().enumerate() {
        let keys = ["signoff", "run_links", &index.to_string()];
        match regex::RegexBuilder::new(pattern).size_limit(1 << 20).build() {
            Err(error) => wrong(&keys, format!("no regular expression: {}", one_line(&error))),
            Ok(regex) if !regex.capture_names().flatten().any(|group| group == "id") => {
                wrong(&keys, "the expression has no group `(?<id>…)`".to_owned());
            }
            Ok(_) => {}
        }
    }
    for (index, state) in settings.ci.passing.iter().enumerate() {
        if !ENDED.contains(&state.as_str()) {
            let at = place(node, &["ci", "passing", &index.to_string()]);
            let message = format!("no check of GitHub's ends in `{state}`");
            problems.push(
                Diagnostic::new("profile.yaml", at, message)
                    .suggesting(state, ENDED.iter().copied()),
            );
        }
    }
    for (index, glob) in settings.ci.required.iter().enumerate() {
        if settings.check_run.is_ours(glob) {
            let at = place(node, &["ci", "required", &index.to_string()]);
            let message = format!("`{glob}` is our own check, which would wait for itself");
            problems.push(Diagnostic::new("profile.yaml", at, message));
        }
    }
    if let Some(sweep) = &settings.sweep
        && !settings.path_groups.contains_key(&sweep.evidence_group)
    {
        let at = place(node, &["sweep", "evidence_group"]);
        problems.push(
            Diagnostic::new(
                "profile.yaml",
                at,
                format!("no group of `path_groups` is called `{}`", sweep.evidence_group),
            )
            .suggesting(&sweep.evidence_group, settings.path_groups.keys().map(String::as_str)),
        );
    }
}

fn check_items(table: &ItemTable, node: &Node, problems: &mut Vec<Diagnostic>) {
    let mut seen = BTreeSet::new();
    for (index, item) in table.items.iter().enumerate() {
        let index = index.to_string();
        if !seen.insert(item.id.as_str()) {
            let at = place(node, &["items", &index, "id"]);
            problems.push(Diagnostic::new(
                "items.yaml",
                at,
                format!("the id `{}` is given twice", item.id),
            ));
        }
        if item.tokens.is_empty() || item.tokens.iter().any(Vec::is_empty) {
            let at = place(node, &["items", &index, "tokens"]);
            problems.push(
                Diagnostic::new("items.yaml", at, format!("`{}` has no tokens", item.id))
                    .with_help("an alternative without tokens would match every text"),
            );
        }
    }
}

fn one_line(error: &impl std::fmt::Display) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
