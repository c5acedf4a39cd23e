//! All files of a profile's folder: which of them are rules, and what only all of them together can show.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value as Json;

use super::read::File;
use super::rule::Rule;
use super::types::{Record, Schema, Type, of_json};
use crate::facts::Facts;
use crate::profile::{Choices, Diagnostic, Files, Node, Place, Profile};

/// What every file is checked against.
pub(super) struct World {
    /// Types of the facts by name.
    pub facts: BTreeMap<String, Type>,
    /// Type of `profile`.
    pub profile: Type,
    /// The choices of the profile that examples start from.
    pub choices: Choices,
    /// Type of `tables`.
    pub tables: Type,
}

/// Reads `tables/*.yaml`.
pub(super) fn tables(files: &Files, problems: &mut Vec<Diagnostic>) -> BTreeMap<String, Json> {
    let mut tables = BTreeMap::new();
    for (path, source) in files {
        let Some(file) = path.strip_prefix("tables/") else { continue };
        let Some(name) = file.strip_suffix(".yaml").filter(|name| !name.contains('/')) else {
            continue;
        };
        match Node::parse(path, source) {
            Ok(node) => _ = tables.insert(name.to_owned(), node.to_json()),
            Err(problem) => problems.push(problem),
        }
    }
    tables
}

/// Reads every rule file, and holds the rules against one another and against the profile.
pub(super) fn rules(
    files: &Files,
    tables: &BTreeMap<String, Json>,
    profile: Option<&Profile>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<Rule> {
    let choices = profile.map_or(
        Choices {
            author_may_sign: Default::default(),
            review_of_older_commit: Default::default(),
            no_ci: Default::default(),
        },
        |profile| profile.settings.choices(),
    );
    let world = World {
        facts: Schema::new(Facts::schema()).facts(),
        profile: Schema::new(Choices::schema()).whole(),
        choices,
        tables: Type::Record(Arc::new(Record {
            name: "tables".to_owned(),
            fields: tables
                .iter()
                .map(|(name, table)| (name.clone(), of_json(name, table)))
                .collect(),
        })),
    };
    let mut rules = Vec::new();
    let mut seen: BTreeMap<String, (String, Place)> = BTreeMap::new();
    let mut claimed = BTreeSet::new();
    // Of all files, so that a rule with a mistake in it is not reported as lacking, too.
    let mut ids = BTreeSet::new();
    for (path, source) in files {
        if path == "profile.yaml" || path == "items.yaml" || path.starts_with("tables/") {
            continue;
        }
        if path.contains('/') || !path.ends_with(".yaml") {
            if path.ends_with(".yml") || path.ends_with(".yaml") {
                problems.push(
                    Diagnostic::new(path, Place::START, "this file is not read")
                        .with_help("a rule file is `NAME.yaml` beside `profile.yaml`"),
                );
            }
            continue;
        }
        let node = match Node::parse(path, source) {
            Ok(node) => node,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let rule = File::new(path, source, &world, problems).rule(&node);
        ids.extend(node.get("id").and_then(Node::text).map(str::to_owned));
        for key in ["id", "number"] {
            let Some(value) = node.get(key) else { continue };
            let name = match value.text() {
                Some(text) => format!("{key} `{text}`"),
                None => format!("{key} {}", value.to_json()),
            };
            if let Some((other, place)) = seen.get(&name) {
                problems.push(
                    Diagnostic::new(path, value.place, format!("the {name} is taken"))
                        .with_help(format!("by {other}:{}", place.line)),
                );
            } else {
                seen.insert(name, (path.clone(), value.place));
            }
        }
        if let Some(profile) = profile {
            let known = || profile.items.items.iter().map(|item| item.id.as_str());
            for item in node.get("items").map(Node::elements).unwrap_or_default() {
                let Some(id) = item.text() else { continue };
                claimed.insert(id.to_owned());
                if !known().any(|known| known == id) {
                    problems.push(
                        Diagnostic::new(path, item.place, format!("unknown template item `{id}`"))
                            .suggesting(id, known().collect::<Vec<_>>()),
                    );
                }
            }
        }
        rules.extend(rule);
    }
    if let Some(profile) = profile {
        across(files, profile, &ids, &claimed, problems);
    }
    rules
}

/// What only the profile and all rules together can show.
fn across(
    files: &Files,
    profile: &Profile,
    ids: &BTreeSet<String>,
    claimed: &BTreeSet<String>,
    problems: &mut Vec<Diagnostic>,
) {
    // The files were read before; a tree is needed again for the places only.
    let tree = |path: &str| files.get(path).and_then(|source| Node::parse(path, source).ok());
    if let Some(items) = tree("items.yaml") {
        let nodes = items.get("items").map(Node::elements).unwrap_or_default();
        for (item, node) in profile.items.items.iter().zip(nodes) {
            if !claimed.contains(&item.id) {
                let place = node.get("id").map_or(node.place, |id| id.place);
                problems.push(
                    Diagnostic::new(
                        "items.yaml",
                        place,
                        format!("no rule answers for the template item `{}`", item.id),
                    )
                    .with_help("name it in `items` of a rule; `attest: true` is an answer"),
                );
            }
        }
    }
    let Some(settings) = tree("profile.yaml") else { return };
    let overridable = settings.get("overridable").map(Node::elements).unwrap_or_default();
    let escalated = settings.get("escalation").map(Node::elements).unwrap_or_default();
    let escalated = escalated.iter().filter_map(|entry| entry.get("check"));
    for node in overridable.iter().chain(escalated) {
        let Some(id) = node.text() else { continue };
        if !ids.contains(id) {
            problems.push(
                Diagnostic::new("profile.yaml", node.place, format!("no rule has the id `{id}`"))
                    .suggesting(id, ids.iter().map(String::as_str)),
            );
        }
    }
}
