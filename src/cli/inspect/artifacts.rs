//! What the evidence of a sweep is held against: golden curves, bars, frontiers.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::bench::{notes, read};
use crate::bench::settings::ArtifactSettings;
use crate::bench::{golden as curve, pareto as frontier, thresholds as bars};
use crate::cli::rules::load;
use crate::cli::{name_of, read_text};
use crate::limits;

/// The golden values of a curve, by mode and number of draft tokens.
pub(super) fn golden(file: &Path) -> Result<Json, String> {
    let read = curve::read(&read(file)?).map_err(|error| format!("{}: {error}", name_of(file)))?;
    let mut values = serde_json::Map::new();
    for (mode, cells) in &read.values {
        let cell = |(tokens, golden): (&i64, &curve::Golden)| json!({ "draft_tokens": tokens, "value": golden.value, "line": golden.line });
        values.insert(mode.to_string(), cells.iter().map(cell).collect());
    }
    Ok(json!({
        "file": name_of(file),
        "label": read.label,
        "run": read.run,
        "values": values,
        "notes": notes(&read.notes),
    }))
}

/// The bars of a file.
pub(super) fn thresholds(file: &Path) -> Result<Json, String> {
    let read = bars::read(&read(file)?).map_err(|error| format!("{}: {error}", name_of(file)))?;
    let found = read.bars().map(|bar| {
        json!({ "model": bar.model, "task": bar.task, "value": bar.value.ok(), "line": bar.line })
    });
    Ok(json!({
        "file": name_of(file),
        "bars": found.collect::<Vec<_>>(),
        "problems": notes(&read.problems),
        "notes": notes(&read.notes),
    }))
}

/// The frontier of each curve (the contract's form).
pub(super) fn pareto(file: &Path, rules: Option<&Path>) -> Result<Json, String> {
    let settings = settings(rules)?.pareto;
    let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", name_of(file));
    let text = read_text(file, limits::JSON_BYTES)?;
    let curves = frontier::read(text.as_bytes(), &settings).map_err(|error| fail(&error))?;
    let report = frontier::report(&curves, &settings).map_err(|error| fail(&error))?;
    Ok(json!(report))
}

/// The profile's table of that name.
fn settings(rules: Option<&Path>) -> Result<ArtifactSettings, String> {
    const TABLE: &str = "artifacts";
    let loaded = load(rules).map_err(|error| error.to_string())?;
    let table = loaded.tables.get(TABLE);
    let table = table.ok_or_else(|| {
        format!("the profile has no tables/{TABLE}.yaml; choose one that has with --rules")
    })?;
    serde::Deserialize::deserialize(table)
        .map_err(|error: serde_json::Error| format!("tables/{TABLE}.yaml: {error}"))
}
