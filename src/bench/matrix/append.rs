//! Whether a change only appends points to curves that stay as they are.
//!
//! Source: `append_only_delta` and `_matrix_visual_series_key` of `process_changelog.py`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::MatrixRow;
use crate::facts::canonical;

/// What a change does to the points of one entry.
#[derive(Debug, Clone, Default)]
pub struct Appended {
    /// Points that were there and are not any more.
    pub breaches: Vec<Breach>,
    /// Rows at the new revision, and of each the concurrencies that were not there.
    pub added: Vec<(usize, Vec<i64>)>,
    /// Those of the added rows that belong to no curve that is there, or to one of another image: index
    /// of the row, and why.
    pub strange: Vec<(usize, String)>,
}

/// A point that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// The row at the old revision.
    pub row: usize,
    /// Whether the whole recipe is gone, removed or with other settings; else these concurrencies are.
    pub recipe: bool,
    /// The concurrencies.
    pub conc: Vec<i64>,
}

/// The curve that a row's points belong to, as canonical JSON.
pub fn series(row: &MatrixRow) -> String {
    let field = |name: &str| row.fields.get(name).cloned().unwrap_or(Json::Null);
    let hardware = |role: &str| field(role).get("hardware").cloned().unwrap_or(Json::Null);
    let fixed = |name: &str| if row.agentic() { Json::Null } else { field(name) };
    let offloads = !matches!(row.text("kv-offloading"), "" | "none");
    canonical(&json!([
        field("model"),
        field("model-prefix"),
        field("precision"),
        field("framework"),
        field("runner"),
        field("disagg") == Json::Bool(true),
        row.agentic(),
        fixed("isl"),
        fixed("osl"),
        offloads,
        fixed("spec-decoding"),
        hardware("prefill"),
        hardware("decode"),
    ]))
}

/// Compares the rows of one entry at two revisions.
pub fn appended(base: &[MatrixRow], head: &[MatrixRow]) -> Appended {
    let mut found = Appended::default();
    let (before, after) = (concurrencies(base), concurrencies(head));
    let mut told = BTreeSet::new();
    for (index, row) in base.iter().enumerate() {
        let lost: Vec<i64> = match after.get(&*row.identity) {
            None if !told.insert(&*row.identity) => continue,
            None => before[&*row.identity].iter().copied().collect(),
            Some(kept) => row.conc.iter().copied().filter(|conc| !kept.contains(conc)).collect(),
        };
        if !lost.is_empty() {
            let recipe = !after.contains_key(&*row.identity);
            found.breaches.push(Breach { row: index, recipe, conc: lost });
        }
    }
    let mut images: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for row in base {
        images.entry(series(row)).or_default().insert(row.text("image"));
    }
    let mut seen: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for (index, row) in head.iter().enumerate() {
        let known = before.get(&*row.identity);
        let seen = seen.entry(&*row.identity).or_default();
        let is_new = |conc: &i64| known.is_none_or(|known| !known.contains(conc));
        let new: Vec<i64> =
            row.conc.iter().copied().filter(is_new).filter(|c| seen.insert(*c)).collect();
        if new.is_empty() {
            continue;
        }
        found.added.push((index, new));
        let why = match images.get(&series(row)) {
            None => Some("it belongs to no curve that is there".to_owned()),
            Some(images) if images.len() > 1 => {
                Some("the curve that it belongs to has several images already".to_owned())
            }
            Some(images) if !images.contains(row.text("image")) => Some(format!(
                "its curve was measured with the image {}",
                images.iter().copied().collect::<Vec<_>>().join(", ")
            )),
            Some(_) => None,
        };
        found.strange.extend(why.map(|why| (index, why)));
    }
    found
}

fn concurrencies(rows: &[MatrixRow]) -> BTreeMap<&str, BTreeSet<i64>> {
    let mut all: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for row in rows {
        all.entry(&*row.identity).or_default().extend(&row.conc);
    }
    all
}
