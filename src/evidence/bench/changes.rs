//! `changes` and `changelog`.

use std::collections::BTreeSet;

use super::plan::plan;
use super::world::{Found, World};
use crate::bench::affected::{self, Change, Delta};
use crate::bench::changelog::Entry;
use crate::bench::layout;
use crate::evidence::Context;
use crate::facts::{
    BrokenEntry, Changelog, ChangelogEntry, ChangelogProblem, Changes, FileNote, Missing, Origin,
    OriginKind, SharedChange,
};
use crate::limits::PROBLEMS;

pub(super) fn changes(
    context: &Context<'_>,
    world: &World<'_>,
    found: &[Found<'_>],
) -> Result<Changes, Missing> {
    let shared = shared(context, world);
    let mut notes = Vec::new();
    for side in [&world.head] {
        for (path, at, what) in side.notes.iter().take(PROBLEMS) {
            notes.push(FileNote { what: what.clone(), origin: world.line(side, path, *at) });
        }
    }
    let remain = found.iter().filter(|found| found.of.head.is_some());
    let points = |found: &Found<'_>| {
        affected::points(&found.base_rows, &found.head_rows)
            .iter()
            .filter(|point| point.delta != Delta::Base)
            .filter(|point| found.scenarios.contains(point.row.workload.scenario_type()))
            .count()
    };
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let (configs, points) = remain.fold((0, 0), |(c, p), found| (c + 1, p + points(found)));
    let planned = plan(world)?;
    let evals = planned.iter().filter(|planned| planned.eval).count();
    let mut origin = Origin::new(OriginKind::PullRequest);
    origin.url = Some(world.pull.html_url.clone()).filter(|url| !url.is_empty());
    Ok(Changes {
        sentence: sentence(world, found, points, &shared),
        configs: count(configs),
        points: count(points),
        planned_throughput: count(planned.len() - evals),
        planned_evals: count(evals),
        shared,
        notes,
        origin,
    })
}

/// Changed files of a benchmark that are neither read by name nor of another project.
fn shared(context: &Context<'_>, world: &World<'_>) -> Vec<SharedChange> {
    let layout = &world.head.layout;
    let mut read: BTreeSet<&str> = layout.masters.iter().map(String::as_str).collect();
    read.extend(world.base.layout.masters.iter().map(String::as_str));
    read.extend(layout.changelog.as_deref());
    read.extend(world.base.layout.changelog.as_deref());
    let mut run = BTreeSet::new();
    for entry in &world.head.entries {
        for (scenario, row) in entry.rows() {
            run.extend(
                world.runs(&world.head, entry, row, scenario.workload).map(|found| found.path),
            );
        }
    }
    let foreign: Vec<_> =
        world.settings.layout.foreign.iter().filter_map(|pattern| layout::glob(pattern)).collect();
    let is_shared = |path: &&str| {
        context.profile.groups.of([*path]).contains(&world.settings.group)
            && !read.contains(path)
            && !run.contains(*path)
            && !foreign.iter().any(|glob| glob.is_match(path))
            && world.head.tree.contains_key(*path)
            // A recipe that no entry names is nobody's.
            && !layout.recipes.iter().any(|folder| path.starts_with(folder.as_str()))
    };
    let files = world.files.iter().map(|file| file.path.as_str()).filter(is_shared);
    files.map(|path| SharedChange { path: path.to_owned(), origin: world.changed(path) }).collect()
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Counts in words, nothing quoted.
fn sentence(
    world: &World<'_>,
    found: &[Found<'_>],
    points: usize,
    shared: &[SharedChange],
) -> String {
    let mut parts = Vec::new();
    let of = |change: Change, image_only: bool| {
        found.iter().filter(|f| f.of.change == change && f.of.image_only == image_only).count()
    };
    let entries = |count: usize| plural(count, "entry", "entries");
    let mut kinds = Vec::new();
    for (count, what) in [
        (of(Change::Changed, true), "image-only bump of"),
        (of(Change::Added, false), "new:"),
        (of(Change::Changed, false), "changed:"),
        (of(Change::Declared, false), "selected by the changelog alone:"),
        (of(Change::Referenced, false), "with a changed recipe or script:"),
        (of(Change::Removed, false), "removed:"),
    ] {
        if count > 0 {
            kinds.push(format!("{what} {}", entries(count)));
        }
    }
    if kinds.is_empty() {
        parts.push("no benchmark configuration is affected".to_owned());
    } else {
        let curves = found
            .iter()
            .flat_map(|found| {
                let rows = found.head_rows.iter();
                rows.filter(|row| found.scenarios.contains(row.workload.scenario_type()))
            })
            .map(crate::bench::matrix::series)
            .collect::<BTreeSet<_>>()
            .len();
        let on = if curves > 0 {
            format!(" on {}", plural(curves, "curve", "curves"))
        } else {
            String::new()
        };
        parts.push(format!("{}, {}{on}", kinds.join(", "), plural(points, "point", "points")));
    }
    if world.head.layout.changelog.is_some() {
        let added = world.difference.added.len();
        let broken = world.difference.removed.len() + world.difference.changed.len();
        let history = match broken {
            0 => "history intact".to_owned(),
            n => format!("{} of its history changed", entries(n)),
        };
        parts.push(format!("changelog: {} added, {history}", entries(added)));
    }
    if !shared.is_empty() {
        parts.push(format!(
            "{} that any configuration may run",
            plural(shared.len(), "changed file", "changed files")
        ));
    }
    parts.join("; ")
}

pub(super) fn entry(world: &World<'_>, entry: &Entry) -> ChangelogEntry {
    let path = world.head.layout.changelog.as_deref().unwrap_or_default();
    let keys = world.head.entries.iter().map(|entry| entry.key.as_str()).collect::<BTreeSet<_>>();
    let selects_nothing =
        |written: &&String| !keys.iter().any(|key| crate::bench::changelog::selects(written, key));
    ChangelogEntry {
        config_keys: entry.config_keys.clone(),
        selected: world.selected(entry).into_iter().map(str::to_owned).collect(),
        selecting_nothing: entry.config_keys.iter().filter(selects_nothing).cloned().collect(),
        scenarios: entry.scenarios.clone(),
        append_only: entry.append_only,
        evals_only: entry.evals_only,
        all_evals: entry.all_evals,
        no_evals: entry.no_evals,
        pr_link: entry.pr_link.clone(),
        line: entry.at.line,
        origin: world.line(&world.head, path, entry.at),
    }
}

pub(super) fn changelog(world: &World<'_>) -> Changelog {
    let (base, head) = (&world.base, &world.head);
    let path = head.layout.changelog.as_deref().unwrap_or_default();
    let old_path = base.layout.changelog.as_deref().unwrap_or_default();
    let broken = |index: usize, what: &str| {
        let entry = &base.changelog.entries[index];
        BrokenEntry {
            config_keys: entry.config_keys.clone(),
            what: what.to_owned(),
            origin: world.line(base, old_path, entry.at),
        }
    };
    let difference = &world.difference;
    let removed = difference.removed.iter().map(|index| (*index, "removed"));
    let changed = difference.changed.iter().map(|(index, _)| (*index, "changed"));
    let mut all: Vec<_> = removed.chain(changed).collect();
    all.sort_unstable();
    let problem = |what: &str, at| ChangelogProblem {
        what: what.to_owned(),
        origin: world.line(head, path, at),
    };
    let problems = world.added().flat_map(|entry| &entry.problems);
    Changelog {
        added: world.added().map(|entry| self::entry(world, entry)).collect(),
        broken: all.into_iter().map(|(index, what)| broken(index, what)).collect(),
        bytes_append_only: head.changelog_bytes.starts_with(&base.changelog_bytes),
        problems: problems.take(PROBLEMS).map(|note| problem(&note.message, note.at)).collect(),
        origin: Origin::file(&world.web, &head.commit, path, None),
    }
}
