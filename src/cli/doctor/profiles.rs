//! The rule files of every profile that is served.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::lines::{Line, note, ok, wrong};
use crate::cli::rules::load_named;
use crate::config::Config;
use crate::rules::RuleSet;

/// The profiles of the configuration that can be read, by name; a line for each, also for those that
/// cannot, and for those that nobody uses.
pub(super) fn read(config: &Config, lines: &mut Vec<Line>) -> BTreeMap<String, RuleSet> {
    let names: BTreeSet<&str> =
        config.repositories.iter().map(|entry| entry.profile.as_str()).collect();
    let mut profiles = BTreeMap::new();
    let mut told = Vec::new();
    for name in &names {
        match load_named(name, config.rules.as_deref()) {
            Ok(rules) => {
                told.push(told_of(&rules));
                profiles.insert((*name).to_owned(), rules);
            }
            Err(error) => {
                let text = error.to_string();
                let text = text.strip_prefix("error: ").unwrap_or(&text).to_owned();
                let fix = "mend the files; `countersign rules check --rules DIR` shows them alone";
                lines.push(wrong("rules", text, fix));
            }
        }
    }
    if !told.is_empty() {
        lines.push(ok("rules", told.join("; ")));
    }
    let unused = config.rules.as_deref().map(|dir| unused(dir, &names)).unwrap_or_default();
    if !unused.is_empty() {
        lines.push(note(
            "rules",
            format!("no repository uses {}", unused.join(", ")),
            "name it as the `profile` of a [[repository]], or take its folder away",
        ));
    }
    profiles
}

/// How much of a profile is decided by evidence.
pub(super) fn told_of(rules: &RuleSet) -> String {
    format!(
        "{}: {} rules, {} of them not machine-checked yet",
        rules.profile.settings.name,
        rules.rules.len(),
        rules.not_built().count()
    )
}

/// Profiles in the folder that are none of those names.
fn unused(dir: &Path, names: &BTreeSet<&str>) -> Vec<String> {
    // A folder that cannot be read was told of with the profile that is looked for in it.
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let profiles = entries.filter(|entry| entry.path().join("profile.yaml").is_file());
    let mut unused: Vec<String> = profiles
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !names.contains(name.as_str()))
        .collect();
    unused.sort_unstable();
    unused
}
