//! `layout`, `configs`, `points`.

use std::collections::BTreeSet;

use super::point;
use super::runs::Runs;
use super::world::{Found, Side, World};
use crate::bench::affected::{self, Change};
use crate::bench::image;
use crate::bench::master::Entry;
use serde::Deserialize;

use crate::facts::{
    Config, ConfigChange, ConfigSide, Delta, Details, Layout, Origin, OriginKind, Point, Sibling,
    Tree,
};
use crate::limits::SIBLINGS;

/// The table of frameworks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Frameworks {
    /// Those that serve by an open-source engine.
    open_source: Vec<String>,
}

pub(super) fn layout(world: &World<'_>) -> Layout {
    let tree = |side: &Side| {
        let commit = &side.commit;
        let mut origin =
            Origin::new(OriginKind::Commit).at_url(format!("{}/tree/{commit}", world.web));
        origin.commit = Some(commit.clone());
        let found = &side.layout;
        Tree {
            commit: commit.clone(),
            prefix: found.prefix.clone(),
            masters: found.masters.clone(),
            changelog: found.changelog.clone(),
            runners: found.runners.clone(),
            models: found.models.clone(),
            thresholds: found.thresholds.clone(),
            golden: found.golden.clone(),
            waivers: found.waivers.clone(),
            origin,
        }
    };
    let (base, head) = (tree(&world.base), tree(&world.head));
    let moved = world.base.layout.prefix != world.head.layout.prefix;
    Layout { base, head, moved }
}

pub(super) fn configs(
    world: &World<'_>,
    found: &[Found<'_>],
    frameworks: &Frameworks,
    details: Option<&Details>,
) -> Vec<Config> {
    let open: BTreeSet<&str> = frameworks.open_source.iter().map(String::as_str).collect();
    let config = |found: &Found<'_>| {
        let of = &found.of;
        let side =
            |side: &Side, entry: Option<&Entry>| entry.map(|entry| config_side(world, side, entry));
        let (base, head) = (side(&world.base, of.base), side(&world.head, of.head));
        let siblings = of.head.map(|entry| siblings(world, entry, &open)).unwrap_or_default();
        let origin = head.as_ref().or(base.as_ref()).map(|side| side.origin.clone());
        Config {
            key: of.key().to_owned(),
            change: match of.change {
                Change::Added => ConfigChange::Added,
                Change::Changed => ConfigChange::Changed,
                Change::Declared => ConfigChange::Declared,
                Change::Referenced => ConfigChange::Referenced,
                Change::Removed => ConfigChange::Removed,
            },
            image_only: of.image_only,
            scenarios: scenarios(found),
            open_source_siblings: siblings,
            explained: of.head.map(|entry| explained(world, entry, details)).unwrap_or_default(),
            origin: origin.unwrap_or_else(|| Origin::new(OriginKind::File)),
            base,
            head,
        }
    };
    found.iter().map(config).collect()
}

/// The short names of the affected scenarios, in the file's order, each once.
pub(super) fn scenarios(found: &Found<'_>) -> Vec<String> {
    let entry = found.of.head.or(found.of.base);
    let mut names: Vec<String> = Vec::new();
    for scenario in entry.into_iter().flat_map(|entry| &entry.scenarios) {
        let name = scenario.workload.name();
        if found.scenarios.contains(scenario.workload.scenario_type()) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn config_side(world: &World<'_>, side: &Side, entry: &Entry) -> ConfigSide {
    let repository = image::read(&entry.image.text).repository();
    let mut scenarios: Vec<String> = Vec::new();
    for scenario in &entry.scenarios {
        let name = scenario.workload.name();
        if !scenarios.contains(&name) {
            scenarios.push(name);
        }
    }
    ConfigSide {
        image: entry.image.text.clone(),
        image_organisation: repository.rsplit_once('/').map_or("", |(before, _)| before).to_owned(),
        image_repository: repository,
        model: entry.model.text.clone(),
        model_prefix: entry.model_prefix.text.clone(),
        precision: entry.precision.text.clone(),
        framework: entry.framework.text.clone(),
        runner: entry.runner.text.clone(),
        sku: entry.sku().to_owned(),
        multinode: entry.multinode,
        disagg: entry.disagg,
        speculative: entry.speculates(),
        scenarios,
        origin: world.line(side, &entry.path, entry.at),
        image_origin: world.line(side, &entry.path, entry.image.at).quoting(&entry.image.text),
    }
}

/// `checks.md`, check 6: the same model on the same hardware, also where this pull request adds it.
fn siblings(world: &World<'_>, entry: &Entry, open: &BTreeSet<&str>) -> Vec<Sibling> {
    let before = affected::by_key(&world.base.entries);
    let alike = |other: &&Entry| {
        other.key != entry.key
            && other.model_prefix.text == entry.model_prefix.text
            && other.sku() == entry.sku()
            && open.contains(other.framework.text.as_str())
    };
    let sibling = |other: &Entry| Sibling {
        key: other.key.clone(),
        framework: other.framework.text.clone(),
        added: !before.contains_key(other.key.as_str()),
        origin: world.line(&world.head, &other.path, other.at),
    };
    world.head.entries.iter().filter(alike).take(SIBLINGS).map(sibling).collect()
}

/// Links of the details that stand beside a word of the entry's: its key, image, model or hardware.
///
/// A paragraph or list item is what stands together.
fn explained(world: &World<'_>, entry: &Entry, details: Option<&Details>) -> Vec<String> {
    let Some(details) = details else { return Vec::new() };
    let words = [&entry.key, &entry.image.text, &entry.model.text, &entry.model_prefix.text];
    let names_it = |block: &str| {
        let block = block.to_lowercase();
        let sku = entry.sku();
        words
            .into_iter()
            .map(String::as_str)
            .chain([sku])
            .any(|word| !word.is_empty() && block.contains(&word.to_lowercase()))
    };
    let ours = format!("{}/", world.web.to_lowercase());
    let elsewhere = |url: &&str| {
        let lower = url.to_lowercase();
        !lower.starts_with(&ours) && ["/issues/", "/pull/"].iter().any(|part| lower.contains(part))
    };
    let mut found: Vec<String> = Vec::new();
    for block in blocks(&details.text).filter(|block| names_it(block)) {
        for link in details.links.iter().map(|link| link.url.as_str()).filter(elsewhere) {
            if block.contains(link) && !found.iter().any(|known| known == link) {
                found.push(link.to_owned());
            }
        }
    }
    found
}

/// Paragraphs and list items.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut starts = vec![0];
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let begins = line.trim_start();
        if begins.is_empty() || begins.starts_with(['-', '*', '+']) {
            starts.push(offset);
        }
        offset += line.len();
    }
    starts.push(text.len());
    let blocks: Vec<&str> = starts.windows(2).map(|two| &text[two[0]..two[1]]).collect();
    blocks.into_iter()
}

pub(super) fn points(world: &World<'_>, found: &[Found<'_>], runs: &Runs<'_>) -> Vec<Point> {
    let mut all = Vec::new();
    for found in found {
        let Some(entry) = found.of.head.or(found.of.base) else { continue };
        for point in affected::points(&found.base_rows, &found.head_rows) {
            if !found.scenarios.contains(point.row.workload.scenario_type()) {
                continue;
            }
            let (side, delta) = match point.delta {
                affected::Delta::Base => (&world.base, Delta::Base),
                affected::Delta::Head => (&world.head, Delta::Head),
                affected::Delta::Both => (&world.head, Delta::Both),
            };
            let mut point = point::point(world, side, entry, point.row, point.conc, delta);
            point.speculative |= runs.speculating.contains(&entry.key);
            all.push(point);
        }
    }
    all
}
