//! Which entries a pull request affects, and what of each entry's points it adds, keeps and takes away.
//!
//! Source: section "affected set" of the verifier's specification: an entry is affected where it is new,
//! where it says something else, where a new changelog entry selects it, or where a changed recipe or
//! script is what it runs. Comments, formatting and the file in which an entry stands are no change.

use std::collections::{BTreeMap, BTreeSet};

use super::master::Entry;
use super::matrix::MatrixRow;
use super::yaml::{Node, Pair, Value};

/// How an entry is affected; the first that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The key is new.
    Added,
    /// It says something else.
    Changed,
    /// A new changelog entry selects it.
    Declared,
    /// A changed file is what it runs.
    Referenced,
    /// The key is gone.
    Removed,
}

/// An affected entry.
#[derive(Debug, Clone)]
pub struct Affected<'e> {
    /// How.
    pub change: Change,
    /// The entry at the merge base.
    pub base: Option<&'e Entry>,
    /// The entry at the assessed commit.
    pub head: Option<&'e Entry>,
    /// Whether nothing but the image differs.
    pub image_only: bool,
}

impl Affected<'_> {
    /// The key.
    pub fn key(&self) -> &str {
        self.head.or(self.base).map_or("", |entry| &entry.key)
    }
}

/// Entries by key; of a key that stands in several files, the last.
pub fn by_key(entries: &[Entry]) -> BTreeMap<&str, &Entry> {
    entries.iter().map(|entry| (entry.key.as_str(), entry)).collect()
}

/// The affected entries, by key.
pub fn affected<'e>(
    base: &BTreeMap<&str, &'e Entry>,
    head: &BTreeMap<&str, &'e Entry>,
    declared: &BTreeSet<&str>,
    referenced: &BTreeSet<&str>,
) -> Vec<Affected<'e>> {
    let keys: BTreeSet<&str> = base.keys().chain(head.keys()).copied().collect();
    let mut found = Vec::new();
    for key in keys {
        let (before, after) = (base.get(key).copied(), head.get(key).copied());
        let change = match (before, after) {
            (None, Some(_)) => Change::Added,
            (Some(_), None) => Change::Removed,
            (Some(a), Some(b)) if !a.node.same(&b.node) => Change::Changed,
            _ if declared.contains(key) => Change::Declared,
            _ if referenced.contains(key) => Change::Referenced,
            _ => continue,
        };
        let image_only = change == Change::Changed
            && matches!((before, after), (Some(a), Some(b)) if without_image(a).same(&without_image(b)));
        found.push(Affected { change, base: before, head: after, image_only });
    }
    found
}

fn without_image(entry: &Entry) -> Node {
    let Value::Mapping(pairs) = &entry.node.value else { return entry.node.clone() };
    let kept = |pair: &&Pair| pair.key.key_name() != "image";
    Node { value: Value::Mapping(pairs.iter().filter(kept).cloned().collect()), at: entry.node.at }
}

/// At which revisions a point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Delta {
    /// At the merge base only.
    Base,
    /// At the assessed commit only.
    Head,
    /// At both.
    Both,
}

/// One point: a row and one of its concurrencies.
#[derive(Debug, Clone, Copy)]
pub struct PointOf<'r> {
    /// The row, at the assessed commit where it is there.
    pub row: &'r MatrixRow,
    /// Requests at a time.
    pub conc: i64,
    /// At which revisions it is.
    pub delta: Delta,
}

/// The points of an entry at two revisions: those of the assessed commit in the order of the matrix, then
/// those that are gone. A point that a row repeats stands once.
pub fn points<'r>(base: &'r [MatrixRow], head: &'r [MatrixRow]) -> Vec<PointOf<'r>> {
    let all = |rows: &'r [MatrixRow]| -> BTreeSet<(&'r str, i64)> {
        rows.iter().flat_map(|row| row.conc.iter().map(|conc| (&*row.identity, *conc))).collect()
    };
    let (before, after) = (all(base), all(head));
    let mut seen = BTreeSet::new();
    let mut points = Vec::new();
    for row in head {
        for conc in &row.conc {
            let point = (&*row.identity, *conc);
            if seen.insert(point) {
                let delta = if before.contains(&point) { Delta::Both } else { Delta::Head };
                points.push(PointOf { row, conc: *conc, delta });
            }
        }
    }
    for row in base {
        for conc in &row.conc {
            let point = (&*row.identity, *conc);
            if !after.contains(&point) && seen.insert(point) {
                points.push(PointOf { row, conc: *conc, delta: Delta::Base });
            }
        }
    }
    points
}
