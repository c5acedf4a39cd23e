//! `recipes`, `launches`, `overrides_arch`, `event_publication`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

use super::runs::{Run, Runs, is_agentic, plain, roles};
use super::world::World;
use crate::bench::recipe::{self, Launch};
use crate::bench::yaml::Place;
use crate::facts::{
    ArchitectureOverride, EventPublication, Launch as LaunchFact, Origin, OverrideClass,
    PublicationState, Recipe, Setting, Unresolved,
};
use crate::limits::{OVERRIDE_DEPTH, PROBLEMS};

fn line(world: &World<'_>, run: &Run<'_>, at: Place) -> Origin {
    world.line(&world.head, &run.reference.path, at)
}

/// Recipe files and scripts, by path and selector, each with the points that run it.
pub(super) fn recipes(world: &World<'_>, runs: &Runs<'_>) -> Vec<Recipe> {
    let changed = world.changed_paths();
    let mut all: BTreeMap<(String, Option<String>), Recipe> = BTreeMap::new();
    for run in &runs.all {
        let at = run.launches.first().map_or(Place::default(), |launch| launch.at);
        let key = (run.reference.path.clone(), run.reference.selector.clone());
        let recipe = all.entry(key).or_insert_with(|| Recipe {
            path: run.reference.path.clone(),
            selector: run.reference.selector.clone(),
            points: Vec::new(),
            changed: changed.contains(run.reference.path.as_str()),
            in_tree: run.reference.in_tree,
            unresolved: Vec::new(),
            open_settings: Vec::new(),
            setup_scripts: Vec::new(),
            origin: line(world, run, at),
        });
        recipe.points.extend(run.points.iter().cloned());
        for launch in &run.launches {
            for script in launch.setup_script.iter().map(recipe::Setting::text) {
                if !recipe.setup_scripts.contains(&script) {
                    recipe.setup_scripts.push(script);
                }
            }
        }
        for (found, list) in
            [(&run.unresolved, &mut recipe.unresolved), (&run.open, &mut recipe.open_settings)]
        {
            for (at, what) in found.iter().take(PROBLEMS) {
                let found = Unresolved { what: what.clone(), origin: line(world, run, *at) };
                if !list.contains(&found) {
                    list.push(found);
                }
            }
        }
    }
    for (path, at, what) in &runs.problems {
        for recipe in all.values_mut().filter(|recipe| recipe.path == *path) {
            let origin = world.line(&world.head, path, *at);
            recipe.unresolved.push(Unresolved { what: what.clone(), origin });
        }
    }
    all.into_values().collect()
}

/// One launch a row, variant and role.
pub(super) fn launches(world: &World<'_>, runs: &Runs<'_>) -> Vec<LaunchFact> {
    each(runs, |run, launch, role_name, role| {
        let setting = |kind: &str, setting: &recipe::Setting| Setting {
            kind: kind.to_owned(),
            name: setting.name.clone(),
            value: setting.text(),
            origin: line(world, run, setting.at),
        };
        let mut settings: Vec<Setting> = role.args.iter().map(|s| setting("arg", s)).collect();
        settings.extend(role.env.iter().map(|s| setting("env", s)));
        settings.sort_by(|a, b| (&a.kind, &a.name).cmp(&(&b.kind, &b.name)));
        let of = |kind: &str| {
            let kept = settings.iter().filter(|setting| setting.kind == kind);
            kept.map(|setting| (setting.name.clone(), setting.value.clone())).collect()
        };
        Some(LaunchFact {
            subject: subject(run, launch, role_name),
            config: run.entry.key.clone(),
            points: run.points.clone(),
            role: role_name.to_owned(),
            framework: run.entry.framework.text.clone(),
            speculative: runs.speculating.contains(&run.entry.key)
                || run.row.text("spec-decoding") != "none",
            agentic: is_agentic(run.row),
            args: of("arg"),
            env: of("env"),
            settings,
            source: "recipe".to_owned(),
            origin: line(world, run, role.at),
        })
    })
}

/// What a launch is called in texts: its row's points, its variant where there are several, its role.
fn subject(run: &Run<'_>, launch: &Launch, role: &str) -> String {
    let point = match run.points.as_slice() {
        [one] => one.clone(),
        [first, ..] => format!("{first} and {} more", run.points.len() - 1),
        [] => run.entry.key.clone(),
    };
    let variant = match (run.launches.len(), launch.selector.as_str()) {
        (0 | 1, _) | (_, "") => String::new(),
        (_, selector) => format!(" {selector}"),
    };
    format!("{point}{variant} {role}")
}

fn each<T>(
    runs: &Runs<'_>,
    mut of: impl FnMut(&Run<'_>, &Launch, &str, &recipe::Role) -> Option<T>,
) -> Vec<T> {
    let mut all = Vec::new();
    for run in &runs.all {
        for launch in &run.launches {
            for (name, role) in roles(launch) {
                all.extend(of(run, launch, name, role));
            }
        }
    }
    all
}

/// The table of architecture overrides.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Architecture {
    /// Arguments whose value is a mapping of configuration keys.
    settings: Vec<String>,
    /// Arguments and variables that are an override themselves, with why.
    direct: BTreeMap<String, String>,
    /// Keys that leave the work as it is, and what is under them, with why.
    safe: BTreeMap<String, String>,
    /// Keys that take work away, with why.
    reducing: BTreeMap<String, String>,
    /// What checkpoints have themselves, by the repository's name of the model, then by key.
    native: BTreeMap<String, BTreeMap<String, String>>,
}

/// Every override that a launch carries, each once a file and line.
pub(super) fn overrides(
    world: &World<'_>,
    runs: &Runs<'_>,
    table: &Architecture,
) -> Vec<ArchitectureOverride> {
    let mut found: Vec<ArchitectureOverride> = Vec::new();
    let nested = each(runs, |run, launch, name, role| {
        let mut here = Vec::new();
        for setting in role.args.iter().chain(&role.env) {
            let mut put = |key: String, value: &Json| {
                let value = value.clone();
                let value = recipe::Setting { name: String::new(), value, at: setting.at }.text();
                let (class, why) = classify(&key, &value, &run.entry.model_prefix.text, table);
                here.push(ArchitectureOverride {
                    subject: subject(run, launch, name),
                    key,
                    value,
                    class,
                    why,
                    origin: line(world, run, setting.at),
                });
            };
            let spelled = plain(&setting.name);
            if table.settings.iter().any(|known| plain(known) == spelled) {
                for (key, value) in leaves(&parsed(&setting.value)) {
                    put(key, &value);
                }
            } else if table.direct.keys().any(|known| plain(known) == spelled) {
                put(setting.name.clone(), &setting.value);
            }
        }
        Some(here)
    });
    for one in nested.into_iter().flatten() {
        let known = |other: &ArchitectureOverride| {
            other.key == one.key && other.value == one.value && other.origin == one.origin
        };
        if !found.iter().any(known) {
            found.push(one);
        }
    }
    found
}

/// A mapping that is written as JSON text, read; everything else as it is.
fn parsed(value: &Json) -> Json {
    let text = value.as_str().map(serde_json::from_str);
    match text {
        Some(Ok(parsed)) => parsed,
        _ => value.clone(),
    }
}

/// The scalars and lists of a mapping by their dotted keys.
fn leaves(value: &Json) -> Vec<(String, Json)> {
    fn walk(prefix: &str, value: &Json, depth: usize, out: &mut Vec<(String, Json)>) {
        match value {
            Json::Object(fields) if depth < OVERRIDE_DEPTH && !fields.is_empty() => {
                for (key, value) in fields {
                    let path =
                        if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                    walk(&path, value, depth + 1, out);
                }
            }
            other => out.push((prefix.to_owned(), other.clone())),
        }
    }
    let mut out = Vec::new();
    walk("", value, 0, &mut out);
    out
}

fn classify(key: &str, value: &str, model: &str, table: &Architecture) -> (OverrideClass, String) {
    let parts: Vec<&str> = key.split('.').collect();
    let last = parts.last().copied().unwrap_or_default();
    let native = table.native.get(model).into_iter().flatten();
    if native.into_iter().any(|(known, has)| plain(known) == plain(last) && has == value) {
        return (OverrideClass::Safe, "what the checkpoint has itself".to_owned());
    }
    let direct = table.direct.iter().find(|(known, _)| plain(known) == plain(key));
    if let Some(why) = table.reducing.get(last).or(direct.map(|(_, why)| why)) {
        return (OverrideClass::Reducing, why.clone());
    }
    match parts.iter().find_map(|part| table.safe.get(*part)) {
        Some(why) => (OverrideClass::Safe, why.clone()),
        None => (OverrideClass::Unknown, String::new()),
    }
}

/// The table of event publication.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Publication {
    /// Frameworks that have the setting.
    frameworks: Vec<String>,
    /// Keys of a recipe, arguments and variables that switch it.
    keys: Vec<String>,
    /// Arguments that switch it off by being there.
    negative: Vec<String>,
    /// Values that switch on, in lower case.
    on: Vec<String>,
    /// Values that switch off, in lower case.
    off: Vec<String>,
}

/// Whether each launch publishes; launches of frameworks without the setting only where they carry it.
pub(super) fn publication(
    world: &World<'_>,
    runs: &Runs<'_>,
    table: &Publication,
) -> Vec<EventPublication> {
    let mut all: Vec<EventPublication> = Vec::new();
    for run in &runs.all {
        for launch in &run.launches {
            let said = said(launch, table);
            let has = table.frameworks.contains(&run.entry.framework.text);
            let subject = match run.points.as_slice() {
                [one] => one.clone(),
                [first, ..] => format!("{first} and {} more", run.points.len() - 1),
                [] => run.entry.key.clone(),
            };
            let mut put = |state, setting: String, at| {
                let origin = line(world, run, at);
                let found = EventPublication { subject: subject.clone(), state, setting, origin };
                let known = |other: &EventPublication| {
                    other.state == found.state
                        && other.setting == found.setting
                        && other.origin == found.origin
                };
                if !all.iter().any(known) {
                    all.push(found);
                }
            };
            if said.is_empty() && has {
                put(PublicationState::Omitted, String::new(), launch.at);
            }
            for (state, setting, at) in said {
                put(state, setting, at);
            }
        }
    }
    all
}

fn said(launch: &Launch, table: &Publication) -> Vec<(PublicationState, String, Place)> {
    let is = |list: &[String], name: &str| list.iter().any(|known| plain(known) == plain(name));
    let mut said = Vec::new();
    for leaf in launch.leaves() {
        let name = leaf.name.rsplit('.').next().unwrap_or_default();
        let value = leaf.text().to_lowercase();
        let state = if is(&table.negative, name) {
            if table.off.contains(&value) {
                PublicationState::Enabled
            } else {
                PublicationState::Disabled
            }
        } else if is(&table.keys, name) {
            match (table.on.contains(&value), table.off.contains(&value)) {
                (true, _) => PublicationState::Enabled,
                (_, true) => PublicationState::Disabled,
                _ if value == "null" => continue,
                _ => PublicationState::Unknown,
            }
        } else {
            continue;
        };
        said.push((state, format!("{name}: {}", leaf.text()), leaf.at));
    }
    said
}
