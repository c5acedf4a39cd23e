//! What the affected points run: recipe files read, variants chosen, roles with their settings.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::point::subject;
use super::world::{Found, World, bytes, text};
use crate::bench::master::{Entry, Row, Workload};
use crate::bench::matrix::MatrixRow;
use crate::bench::recipe::{self, Launch, Recipe, Role, Setting, Variant};
use crate::bench::reference::{Reference, ScriptNames};
use crate::bench::script;
use crate::bench::yaml::Place;
use crate::evidence::Context;
use crate::evidence::in_order::all_in_order;
use crate::facts::Missing;
use crate::limits::{LAUNCHES, PROBLEMS};

/// How a recipe says for which of its variants a point is meant.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Speculation {
    /// Arguments and variables that switch speculative decoding on.
    settings: Vec<String>,
    /// What a key contains whose entry is meant to speculate.
    key_words: Vec<String>,
    /// Variables of the client in which a variant names the concurrency that it is for.
    concurrency: Vec<String>,
}

/// A row of an affected entry and what it runs.
pub(super) struct Run<'w> {
    pub(super) entry: &'w Entry,
    pub(super) row: &'w MatrixRow,
    pub(super) reference: Reference,
    /// The subjects of its points.
    pub(super) points: Vec<String>,
    /// What it starts; empty where that is not known.
    pub(super) launches: Vec<Launch>,
    /// Why that is not known, or what of it is not.
    pub(super) unresolved: Vec<(Place, String)>,
    /// Arguments whose value is not known.
    pub(super) open: Vec<(Place, String)>,
}

impl Run<'_> {
    /// Whether any role of any launch is told to speculate.
    fn speculates(&self, table: &Speculation) -> bool {
        let told = |setting: &Setting| {
            let name = plain(&setting.name);
            table.settings.iter().any(|known| plain(known) == name) && !is_off(setting)
        };
        let roles = self.launches.iter().flat_map(|launch| &launch.roles);
        roles.flat_map(|role| role.args.iter().chain(&role.env)).any(told)
    }
}

/// A name by which spellings with `-` and `_` are one.
pub(super) fn plain(name: &str) -> String {
    name.trim_start_matches('-').replace('_', "-").to_lowercase()
}

fn is_off(setting: &Setting) -> bool {
    matches!(setting.text().to_lowercase().as_str(), "false" | "0" | "null" | "none" | "")
}

/// Everything that affected points of the assessed commit run.
pub(super) struct Runs<'w> {
    pub(super) all: Vec<Run<'w>>,
    /// Keys of entries that speculate, whatever their rows say.
    pub(super) speculating: BTreeSet<String>,
    /// Recipe files that cannot be read: path, place, what.
    pub(super) problems: Vec<(String, Place, String)>,
}

/// Reads the recipes and resolves what is chosen of them.
pub(super) async fn runs<'w>(
    context: &Context<'_>,
    world: &'w World<'_>,
    found: &'w [Found<'w>],
) -> Result<Runs<'w>, Missing> {
    let table: Speculation = context.table("speculation")?;
    let mut wanted: Vec<(&Entry, &MatrixRow, &Row, Reference)> = Vec::new();
    for found in found {
        let Some(entry) = found.of.head else { continue };
        for row in &found.head_rows {
            let master = entry.rows().find(|(_, master)| master.at == row.at);
            let Some((scenario, master)) = master else { continue };
            if found.scenarios.contains(scenario.workload.scenario_type())
                && let Some(reference) = world.runs(&world.head, entry, master, scenario.workload)
            {
                wanted.push((entry, row, master, reference));
            }
        }
    }
    let paths: BTreeSet<&str> = wanted
        .iter()
        .map(|(_, _, _, reference)| reference)
        .filter(|reference| reference.in_tree)
        .map(|reference| reference.path.as_str())
        .collect();
    let files = all_in_order(paths.iter().map(async |path| {
        let found = bytes(context, &world.head.commit, path).await?;
        let found = found.ok_or_else(|| Missing::ours(format!("{path} is not there any more")))?;
        Ok::<_, Missing>(((*path).to_owned(), found))
    }))
    .await?;
    let mut problems = Vec::new();
    let mut recipes: BTreeMap<String, Recipe> = BTreeMap::new();
    let is_script = |path: &str| {
        let mut of = wanted.iter().filter(|(_, _, _, reference)| reference.path == path);
        of.any(|(_, _, _, reference)| reference.is_script)
    };
    let mut scripts = BTreeMap::new();
    for (path, bytes) in &files {
        if is_script(path) {
            scripts.insert(path.clone(), String::from_utf8_lossy(bytes).into_owned());
            continue;
        }
        let read = match text(bytes) {
            Ok(text) => recipe::read(path, text).map_err(|error| (error.at, error.to_string())),
            Err(problem) => Err((Place::default(), problem)),
        };
        match read {
            Ok(recipe) => _ = recipes.insert(path.clone(), recipe),
            Err((at, problem)) => problems.push((path.clone(), at, problem)),
        }
    }
    let mut all = Vec::new();
    let mut launches = 0;
    for (entry, row, _, reference) in wanted {
        let points = row.conc.iter().map(|conc| subject(row, *conc)).collect();
        let mut run = Run {
            entry,
            row,
            reference,
            points,
            launches: Vec::new(),
            unresolved: Vec::new(),
            open: Vec::new(),
        };
        if let Some(recipe) = recipes.get(&run.reference.path) {
            resolve(&mut run, recipe, &table, &mut launches);
        } else if let Some(script) = scripts.get(&run.reference.path) {
            launches += 1;
            if launches <= LAUNCHES {
                walk(&mut run, script, &world.settings.scripts);
            }
        } else if run.reference.is_script {
            let what = format!("the script {} is not in the tree", run.reference.path);
            run.unresolved.push((Place::default(), what));
        } else if !run.reference.is_script {
            let why = if run.reference.in_tree { "cannot be read" } else { "is not in the tree" };
            run.unresolved
                .push((Place::default(), format!("the recipe {} {why}", run.reference.path)));
        }
        all.push(run);
    }
    let named = |key: &str| table.key_words.iter().any(|word| key.contains(word.as_str()));
    let speculating = all
        .iter()
        .filter(|run| run.speculates(&table) || named(&run.entry.key))
        .map(|run| run.entry.key.clone())
        .collect();
    Ok(Runs { all, speculating, problems })
}

fn resolve(run: &mut Run<'_>, recipe: &Recipe, table: &Speculation, launches: &mut usize) {
    let chosen = chosen(run, recipe, table);
    if chosen.is_empty() {
        let selector = run.reference.selector.clone().unwrap_or_default();
        run.unresolved.push((Place::default(), format!("the recipe has no variant {selector}")));
    }
    for variant in chosen {
        *launches += 1;
        if *launches > LAUNCHES {
            run.unresolved.push((variant.at, format!("more than {LAUNCHES} launches")));
            return;
        }
        match recipe.launch(variant) {
            Ok(launch) => run.launches.push(launch),
            Err(error) => run.unresolved.push((error.at, error.to_string())),
        }
    }
}

/// Walks a script with what the row gives it, and takes the servers that it starts.
fn walk(run: &mut Run<'_>, text: &str, names: &ScriptNames) {
    match script::read(text, &environment(run.row, names)) {
        Err(error) => run.unresolved.push((Place::default(), error.to_string())),
        Ok(script) => {
            run.launches = script::launches(&run.reference.path, &script, &names.servers);
            if run.launches.is_empty() {
                let what = "no command of it starts a server that is known; a shared script does";
                run.unresolved.push((Place::default(), what.to_owned()));
            }
            let unread = script.problems.into_iter().map(|note| (note.at, note.message));
            run.unresolved.extend(unread);
            let mut unknown: Vec<(Place, String)> = Vec::new();
            for setting in
                run.launches.iter().flat_map(|launch| &launch.roles).flat_map(|r| &r.args)
            {
                let text = setting.text();
                if text.contains('$') && unknown.len() < PROBLEMS {
                    unknown.push((setting.at, format!("--{} {text}", setting.name)));
                }
            }
            run.open = unknown;
        }
    }
}

/// What a row's script is started with.
pub(super) fn environment(row: &MatrixRow, names: &ScriptNames) -> BTreeMap<String, String> {
    let mut known = names.constants.clone();
    for (variable, field) in &names.environment {
        known.extend(field_of(row, field).map(|value| (variable.clone(), value)));
    }
    known
}

/// A field of a row as a script gets it; `a.b` is a field inside of one.
fn field_of(row: &MatrixRow, field: &str) -> Option<String> {
    if field == "conc" {
        return row.conc.first().map(i64::to_string);
    }
    let mut parts = field.split('.');
    let first = row.fields.get(parts.next()?)?;
    match parts.try_fold(first, |value, part| value.get(part))? {
        serde_json::Value::String(text) => Some(text.clone()),
        value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_)) => {
            Some(value.to_string())
        }
        _ => None,
    }
}

/// The variants that a row runs: those that its selector names; of a single-node recipe without one, those
/// whose client names the row's concurrency, where any does.
fn chosen<'r>(run: &Run<'_>, recipe: &'r Recipe, table: &Speculation) -> Vec<&'r Variant> {
    let all = recipe.select(run.reference.selector.as_deref());
    if run.reference.selector.is_some() || run.row.multinode() || all.len() < 2 {
        return all;
    }
    let fits = |variant: &&Variant| {
        let Ok(launch) = recipe.launch(variant) else { return false };
        let named = launch.benchmark_env.iter().filter(|s| table.concurrency.contains(&s.name));
        let mut named = named.filter_map(|setting| setting.text().trim().parse::<i64>().ok());
        named.any(|conc| run.row.conc.contains(&conc))
    };
    let fitting: Vec<&Variant> = all.iter().copied().filter(fits).collect();
    if fitting.is_empty() { all } else { fitting }
}

/// The roles of a launch with the frontend last.
pub(super) fn roles(launch: &Launch) -> impl Iterator<Item = (&str, &Role)> {
    let frontend = Some(("frontend", &launch.frontend))
        .filter(|(_, role)| !role.args.is_empty() || !role.env.is_empty());
    launch.roles.iter().map(|role| (role.name.as_str(), role)).chain(frontend)
}

/// Whether a row is a replay of agents' sessions.
pub(super) fn is_agentic(row: &MatrixRow) -> bool {
    row.workload == Workload::AgenticCoding
}
