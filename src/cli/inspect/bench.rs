//! Files of the benchmark repository, as the verifier reads them.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::bench::matrix::{self, MatrixRow, MatrixSettings};
use crate::bench::runners::Runners;
use crate::bench::yaml::{Note, Place};
use crate::bench::{changelog, master, recipe, runners};
use crate::cli::rules::load_profile;
use crate::cli::{name_of, read_text};
use crate::limits;

pub(super) fn read(file: &Path) -> Result<String, String> {
    read_text(file, limits::YAML_BYTES)
}

pub(super) fn notes(notes: &[Note]) -> Json {
    notes.iter().map(|note| json!({ "line": note.at.line, "message": note.message })).collect()
}

/// The rows that the generator makes of a master configuration, with their evaluations. A second file
/// gives the runners, without which budgets of memory stay unknown.
pub(super) fn master(
    file: &Path,
    others: &[PathBuf],
    rules: Option<&Path>,
) -> Result<Json, String> {
    let settings = settings(rules)?;
    let fail = |file: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", name_of(file));
    let read_master =
        master::read(&name_of(file), &read(file)?).map_err(|error| fail(file, &error))?;
    let runners = match others {
        [] => Runners::default(),
        [one] => runners::read(&read(one)?).map_err(|error| fail(one, &error))?,
        _ => {
            return Err(
                "`inspect master` takes a master configuration and a runners file".to_owned()
            );
        }
    };
    let mut entries = Vec::new();
    for entry in &read_master.entries {
        let rows = matrix::rows(entry, &runners, &settings);
        entries.push(json!({
            "key": entry.key,
            "line": entry.at.line,
            "rows": rows.iter().map(row).collect::<Vec<_>>(),
            "evals": evals(&rows, &settings),
        }));
    }
    Ok(json!({
        "file": name_of(file),
        "entries": entries,
        "problems": notes(&read_master.problems),
        "notes": notes(&read_master.notes),
    }))
}

fn row(row: &MatrixRow) -> Json {
    let mut value = row.to_json();
    value["line"] = row.at.line.into();
    value["family"] = matrix::family(row, false).into();
    value
}

fn evals(rows: &[MatrixRow], settings: &MatrixSettings) -> Vec<Json> {
    // One file has no tree around it: the choice that asks for none.
    let Some(choice) = settings.eval_choice(|_| false) else { return Vec::new() };
    let planned = matrix::evals(rows, choice);
    planned
        .iter()
        .map(|planned| {
            let row = &rows[planned.row];
            json!({
                "exp-name": row.exp_name,
                "conc": planned.conc,
                "line": row.at.line,
                "family": matrix::family(row, true),
            })
        })
        .collect()
}

fn settings(rules: Option<&Path>) -> Result<MatrixSettings, String> {
    let profile = load_profile(rules).map_err(|error| error.to_string())?;
    let benchmark = profile.settings.benchmark.map(|benchmark| benchmark.matrix);
    benchmark.ok_or_else(|| "the profile has no `benchmark`; choose one with --rules".to_owned())
}

/// A changelog's entries; with a second, older file what was added, removed and changed since.
pub(super) fn changelog(file: &Path, others: &[PathBuf]) -> Result<Json, String> {
    let parse = |file: &Path| {
        changelog::read(&read(file)?).map_err(|error| format!("{}: {error}", name_of(file)))
    };
    let head = parse(file)?;
    let entry = |entry: &changelog::Entry| {
        json!({
            "line": entry.at.line,
            "config_keys": entry.config_keys,
            "scenarios": entry.scenarios,
            "append_only": entry.append_only,
            "evals_only": entry.evals_only,
            "all_evals": entry.all_evals,
            "no_evals": entry.no_evals,
            "pr_link": entry.pr_link,
            "problems": notes(&entry.problems),
        })
    };
    let mut value = json!({
        "file": name_of(file),
        "entries": head.entries.iter().map(entry).collect::<Vec<_>>(),
        "problems": notes(&head.problems),
    });
    match others {
        [] => {}
        [older] => {
            let base = parse(older)?;
            let found = changelog::compare(&base.entries, &head.entries);
            let line = |at: Place| at.line;
            value["added"] = found.added.iter().map(|i| line(head.entries[*i].at)).collect();
            value["removed"] = found.removed.iter().map(|i| line(base.entries[*i].at)).collect();
            value["changed"] =
                found.changed.iter().map(|(_, i)| line(head.entries[*i].at)).collect();
        }
        _ => return Err("`inspect changelog` takes a changelog and an older one".to_owned()),
    }
    Ok(value)
}

/// The launches that a recipe file describes.
pub(super) fn recipe(file: &Path) -> Result<Json, String> {
    let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", name_of(file));
    let read_recipe = recipe::read(&name_of(file), &read(file)?).map_err(|error| fail(&error))?;
    let setting = |setting: &recipe::Setting| json!({ "name": setting.name, "value": setting.value, "line": setting.at.line });
    let settings = |list: &[recipe::Setting]| list.iter().map(setting).collect::<Vec<_>>();
    let one = |found: &Option<recipe::Setting>| found.as_ref().map(setting);
    let mut launches = Vec::new();
    for variant in read_recipe.variants() {
        launches.push(match read_recipe.launch(variant) {
            Err(error) => json!({ "selector": variant.selector, "problem": error.to_string() }),
            Ok(launch) => json!({
                "selector": launch.selector,
                "line": launch.at.line,
                "schema": launch.schema,
                "engine": one(&launch.engine),
                "image": one(&launch.image),
                "model": one(&launch.model),
                "precision": one(&launch.precision),
                "setup_script": one(&launch.setup_script),
                "roles": launch.roles.iter().map(|role| json!({
                    "name": role.name,
                    "line": role.at.line,
                    "args": settings(&role.args),
                    "env": settings(&role.env),
                    "nodes": role.nodes,
                    "workers": role.workers,
                    "gpus": role.gpus,
                })).collect::<Vec<_>>(),
                "benchmark": settings(&launch.benchmark),
            }),
        });
    }
    Ok(json!({
        "file": name_of(file),
        "launches": launches,
        "notes": notes(&read_recipe.notes),
    }))
}
