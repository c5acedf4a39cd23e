//! What a sweep leaves behind, and what it is held against: rows, bars, golden curves, frontiers.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::bench::{notes, read};
use super::table;
use crate::bench::python_json::{Note, NoteKind};
use crate::bench::settings::ArtifactSettings;
use crate::bench::{
    evals as scores, golden as curve, pareto as frontier, results as rows, thresholds as bars,
};
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

/// The rows of a file of results, with what speaks against each, and the frontiers of their curves.
pub(super) fn results(file: &Path, rules: Option<&Path>) -> Result<Json, String> {
    let settings = settings(rules)?;
    let text = read_text(file, limits::JSON_BYTES)?;
    let read =
        rows::read(text.as_bytes()).map_err(|error| format!("{}: {error}", name_of(file)))?;
    // The key of a curve names its run, which no file does.
    let (series, unknown) = rows::curves::curves(&read.rows, "-", &[], &settings.results.curves);
    let curves: Vec<_> = series.into_iter().map(|series| series.curve).collect();
    let curves = match curves.as_slice() {
        [] => Vec::new(),
        curves => frontier::report(curves, &settings.pareto).map_err(|error| error.to_string())?,
    };
    let row = |row: &rows::Row| {
        json!({
            "pointer": row.pointer,
            "line": row.line,
            "identity": row.identity,
            "image": row.image,
            "accelerators": row.accelerators(),
            "unusable": row.unusable(&settings.results),
            "lacks": row.lacks,
        })
    };
    Ok(json!({
        "file": name_of(file),
        "rows": read.rows.iter().map(row).collect::<Vec<_>>(),
        "lacks": read.lacks,
        "same_point": rows::duplicates(&read.rows),
        "curves": curves,
        "without_curve": unknown,
        "notes": oddities(&read.notes),
    }))
}

/// The rows of a file of evaluations, each held against its bar. Without a file of bars those of the
/// profile's table alone are held against them.
pub(super) fn evals(file: &Path, others: &[PathBuf], rules: Option<&Path>) -> Result<Json, String> {
    let settings = settings(rules)?;
    let fail = |file: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", name_of(file));
    let bars = match others {
        [] => bars::read(""),
        [one] => bars::read(&read(one)?),
        _ => return Err("`inspect evals` takes a file of evaluations and one of bars".to_owned()),
    };
    let bars = bars.map_err(|error| fail(others.first().map_or(file, |one| one), &error))?;
    let text = read_text(file, limits::JSON_BYTES)?;
    let found = scores::read(text.as_bytes()).map_err(|error| fail(file, &error))?;
    let judge = |row| scores::judge(row, &bars, &settings.thresholds, &settings.evals);
    let judged: Vec<_> = found.rows.iter().map(judge).collect();
    let row = |(row, judgement): (&scores::EvalRow, &scores::Judgement)| {
        json!({
            "pointer": row.pointer,
            "line": row.line,
            "identity": row.identity,
            "image": row.image,
            "judgement": judgement,
            "lacks": row.lacks,
        })
    };
    Ok(json!({
        "file": name_of(file),
        "rows": found.rows.iter().zip(&judged).map(row).collect::<Vec<_>>(),
        "lacks": found.lacks,
        "same_evaluation": scores::duplicates(&found.rows),
        "contested": scores::contested(&found.rows, &judged),
        "notes": oddities(&found.notes),
    }))
}

/// What is odd about a file of JSON.
fn oddities(notes: &[Note]) -> Json {
    let what = |kind| match kind {
        NoteKind::DuplicateKey => "the key is given again; this value counts",
        NoteKind::LoneSurrogate => "half a surrogate pair",
    };
    let note = |note: &Note| json!({ "line": note.at.line, "pointer": note.pointer, "message": what(note.kind) });
    notes.iter().map(note).collect()
}

fn settings(rules: Option<&Path>) -> Result<ArtifactSettings, String> {
    table(rules, "artifacts")
}
