//! `append_only`: whether a change that says so only appends points.
//!
//! Source: `checks.md`, check 12; `validate_append_only_scope` and `append_only_delta` of the benchmark
//! repository's `process_changelog.py`.

use std::collections::{BTreeMap, BTreeSet};

use super::changes;
use super::point::subject;
use super::world::{Found, Side, World, bytes, text};
use crate::bench::affected;
use crate::bench::master::{AGENTIC_CODING, Entry, FIXED_SEQ_LEN};
use crate::bench::matrix::{self, MatrixRow, appended};
use crate::bench::recipe::{self, Recipe};
use crate::bench::yaml::{Node, Value};
use crate::evidence::Context;
use crate::evidence::in_order::{all_in_order, in_order};
use crate::facts::{AppendOnly, AppendedConfig, Isolation, Missing, Violation};
use crate::profile::Profile;

/// The changed recipe files as they are at the two revisions, where a changelog entry says that points
/// are appended; a file that is not there, or that cannot be read, is `None`.
pub(super) async fn recipes(
    context: &Context<'_>,
    world: &World<'_>,
) -> Result<BTreeMap<String, [Option<Recipe>; 2]>, Missing> {
    if !world.added().any(|entry| entry.append_only) {
        return Ok(BTreeMap::new());
    }
    let changed = world.files.iter().map(|file| &file.path);
    let changed = changed.filter(|path| [".yaml", ".yml"].iter().any(|end| path.ends_with(end)));
    let of_recipes = |side: &Side, path: &str| {
        side.tree.contains_key(path)
            && side.layout.recipes.iter().any(|folder| path.starts_with(folder.as_str()))
    };
    let read = async |side: &Side, path: &String| {
        if !of_recipes(side, path) {
            return Ok(None);
        }
        let bytes = bytes(context, &side.commit, path).await?;
        let recipe = bytes.and_then(|bytes| recipe::read(path, text(&bytes).ok()?).ok());
        Ok::<_, Missing>(recipe)
    };
    let both = changed.map(async |path| {
        let (base, head) = in_order!(read(&world.base, path), read(&world.head, path))?;
        Ok::<_, Missing>((path.clone(), [base, head]))
    });
    Ok(all_in_order(both).await?.into_iter().collect())
}

pub(super) fn append_only(
    world: &World<'_>,
    profile: &Profile,
    found: &[Found<'_>],
    recipes: &BTreeMap<String, [Option<Recipe>; 2]>,
) -> AppendOnly {
    let appending: Vec<_> = world.added().filter(|entry| entry.append_only).collect();
    if appending.is_empty() {
        return AppendOnly::default();
    }
    let mut selected: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
    for entry in &appending {
        for key in world.selected(entry) {
            let kinds = [FIXED_SEQ_LEN, AGENTIC_CODING];
            let kinds = kinds.into_iter().filter(|kind| entry.selects_scenario(kind));
            selected.entry(key).or_default().extend(kinds);
        }
    }
    let mixed = world.added().filter(|entry| !entry.append_only);
    let mixed = mixed.map(|entry| changes::entry(world, entry)).collect();
    let mut all = AppendOnly { declared: true, mixed, ..AppendOnly::default() };
    for found in found {
        match selected.get(found.of.key()) {
            Some(kinds) => config(world, found, kinds, &mut all),
            None => all.outside.extend(unselected(world, found)),
        }
    }
    all.added = all.configs.iter().flat_map(|config| config.added.iter().cloned()).collect();
    all.isolation = isolation(world, profile, &all.added, recipes);
    all
}

/// An entry that no appending entry selects must stay as it was.
fn unselected(world: &World<'_>, found: &Found<'_>) -> Option<Violation> {
    let what = match found.of.change {
        affected::Change::Added => "is new",
        affected::Change::Changed => "changes",
        affected::Change::Removed => "is removed",
        affected::Change::Declared | affected::Change::Referenced => return None,
    };
    let (side, entry) = match (found.of.head, found.of.base) {
        (Some(entry), _) => (&world.head, entry),
        (None, Some(entry)) => (&world.base, entry),
        (None, None) => return None,
    };
    Some(Violation {
        subject: entry.key.clone(),
        what: format!("{what}, and no appending changelog entry selects it"),
        origin: world.line(side, &entry.path, entry.at),
    })
}

fn config(
    world: &World<'_>,
    found: &Found<'_>,
    kinds: &BTreeSet<&'static str>,
    all: &mut AppendOnly,
) {
    let config = found.of.key().to_owned();
    let (Some(base), Some(head)) = (found.of.base, found.of.head) else {
        let (side, entry) = match (found.of.head, found.of.base) {
            (Some(entry), _) => (&world.head, entry),
            (None, Some(entry)) => (&world.base, entry),
            (None, None) => return,
        };
        let origin = world.line(side, &entry.path, entry.at);
        let what = "has no curve at the merge base to which points could be appended".to_owned();
        all.modified.push(Violation { subject: config.clone(), what, origin: origin.clone() });
        all.configs.push(AppendedConfig { config, added: Vec::new(), origin });
        return;
    };
    all.modified.extend(scope(world, base, head, kinds));
    let of_kinds = |rows: &[MatrixRow]| -> Vec<MatrixRow> {
        let kept = rows.iter().filter(|row| kinds.contains(row.workload.scenario_type()));
        kept.cloned().collect()
    };
    let (before, after) = (of_kinds(&found.base_rows), of_kinds(&found.head_rows));
    let delta = appended(&before, &after);
    for breach in &delta.breaches {
        let row = &before[breach.row];
        let violation = |conc: i64, what: &str| Violation {
            subject: subject(row, conc),
            what: what.to_owned(),
            origin: world.line(&world.base, &base.path, row.at),
        };
        for conc in &breach.conc {
            if breach.recipe {
                all.modified.push(violation(*conc, "was there, and its settings are not any more"));
            } else {
                all.removed.push(violation(*conc, "was there and is not any more"));
            }
        }
    }
    for (index, why) in &delta.strange {
        let row = &after[*index];
        all.strange.push(Violation {
            subject: subject(row, row.conc.first().copied().unwrap_or_default()),
            what: why.clone(),
            origin: world.line(&world.head, &head.path, row.at),
        });
    }
    let added = delta.added.iter().flat_map(|(index, conc)| {
        conc.iter().map(|conc| subject(&after[*index], *conc)).collect::<Vec<_>>()
    });
    let origin = world.line(&world.head, &head.path, head.at);
    all.configs.push(AppendedConfig { config, added: added.collect(), origin });
}

/// What a selected entry must keep: its scenarios, and all of what is not selected.
fn scope(
    world: &World<'_>,
    base: &Entry,
    head: &Entry,
    kinds: &BTreeSet<&'static str>,
) -> Vec<Violation> {
    let scenarios = |entry: &Entry| -> BTreeMap<String, Node> {
        match entry.node.get("scenarios").map(|node| &node.value) {
            Some(Value::Mapping(pairs)) => {
                pairs.iter().map(|pair| (pair.key.key_name(), pair.value.clone())).collect()
            }
            _ => BTreeMap::new(),
        }
    };
    let rest = |entry: &Entry| match &entry.node.value {
        Value::Mapping(pairs) => {
            let kept = pairs.iter().filter(|pair| pair.key.key_name() != "scenarios").cloned();
            Node { value: Value::Mapping(kept.collect()), at: entry.node.at }
        }
        _ => entry.node.clone(),
    };
    let mut wrong = Vec::new();
    let mut say = |what: String| {
        let origin = world.line(&world.head, &head.path, head.at);
        wrong.push(Violation { subject: head.key.clone(), what, origin });
    };
    let (before, after) = (scenarios(base), scenarios(head));
    let keys = |map: &BTreeMap<String, Node>| map.keys().cloned().collect::<BTreeSet<_>>();
    for name in keys(&before).symmetric_difference(&keys(&after)) {
        say(format!("the scenario type {name} is added or removed"));
    }
    let unselected: Vec<_> = before.keys().filter(|name| !kinds.contains(name.as_str())).collect();
    for name in &unselected {
        if after.get(*name).is_some_and(|now| !now.same(&before[*name])) {
            say(format!(
                "the scenario type {name} changes, which its changelog entry does not select"
            ));
        }
    }
    if !unselected.is_empty() && !rest(base).same(&rest(head)) {
        say("fields of the whole entry change, which other scenario types use too".to_owned());
    }
    wrong
}

/// Every changed file that can reach a benchmark, and whether it can be shown to reach appended points
/// alone.
fn isolation(
    world: &World<'_>,
    profile: &Profile,
    added: &[String],
    recipes: &BTreeMap<String, [Option<Recipe>; 2]>,
) -> Vec<Isolation> {
    let appended: BTreeSet<&str> = added.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for file in &world.files {
        let paths = [Some(file.path.as_str()), file.previous_path.as_deref()];
        let groups = profile.groups.of(paths.into_iter().flatten());
        if !groups.contains(&world.settings.group) {
            continue;
        }
        let read_here = |layout: &crate::bench::layout::Layout| {
            layout.masters.contains(&file.path) || layout.changelog.as_ref() == Some(&file.path)
        };
        if read_here(&world.head.layout) || read_here(&world.base.layout) {
            continue;
        }
        let kept =
            recipes.get(&file.path).and_then(|[base, head]| keeps(base.as_ref()?, head.as_ref()));
        let (proven, why) = match kept {
            Some(None) => {
                (true, "every launch that it described is described as before".to_owned())
            }
            Some(Some(launch)) => (false, format!("its launch {launch} is described otherwise")),
            None => isolated(world, &file.path, &appended),
        };
        found.push(Isolation {
            path: file.path.clone(),
            proven,
            why,
            origin: world.changed(&file.path),
        });
    }
    found
}

/// Whether a recipe file describes every launch that it described as it did; else the first that it does
/// not. `None` where that cannot be told.
fn keeps(base: &Recipe, head: Option<&Recipe>) -> Option<Option<String>> {
    let name =
        |selector: &str| if selector.is_empty() { "as a whole" } else { selector }.to_owned();
    for variant in base.variants() {
        let before = base.resolve(variant).ok()?;
        let now = head.and_then(|head| {
            let same = head.variants().iter().find(|other| other.selector == variant.selector);
            head.resolve(same?).ok()
        });
        if !now.is_some_and(|now| now.same(&before)) {
            return Some(Some(name(&variant.selector)));
        }
    }
    Some(None)
}

fn isolated(world: &World<'_>, path: &str, appended: &BTreeSet<&str>) -> (bool, String) {
    let mut users = Vec::new();
    for entry in &world.head.entries {
        for row in matrix::rows(entry, &world.head.runners, &world.settings.matrix) {
            let Some((scenario, master)) = entry.rows().find(|(_, master)| master.at == row.at)
            else {
                continue;
            };
            let runs = world.runs(&world.head, entry, master, scenario.workload);
            if runs.is_some_and(|run| run.path == path) {
                users.extend(row.conc.iter().map(|conc| subject(&row, *conc)));
            }
        }
    }
    if users.is_empty() {
        return (false, "no configuration names it, so that any may use it".to_owned());
    }
    match users.iter().find(|user| !appended.contains(user.as_str())) {
        None => (true, "only appended points run it".to_owned()),
        Some(other) => (false, format!("{other} runs it, too, and was there before")),
    }
}
