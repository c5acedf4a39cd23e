//! The benchmark's files at the merge base and at the assessed commit, each read once.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use crate::bench::affected::{self, Affected};
use crate::bench::changelog::{self, Difference};
use crate::bench::layout::{Layout, Tree};
use crate::bench::master::{self, AGENTIC_CODING, Entry, FIXED_SEQ_LEN};
use crate::bench::matrix::{self, MatrixRow};
use crate::bench::reference::{self, Reference};
use crate::bench::runners::{self, Runners};
use crate::bench::yaml::Place;
use crate::evidence::in_order::{all_in_order, in_order};
use crate::evidence::{Context, missing, pr};
use crate::facts::{Missing, Origin};
use crate::profile::BenchmarkSettings;
use crate::sources::ReadKey;
use crate::sources::types::{File, Pull};

/// One revision.
pub(super) struct Side {
    /// 40 hex digits.
    pub(super) commit: String,
    pub(super) tree: Tree,
    pub(super) layout: Layout,
    pub(super) entries: Vec<Entry>,
    pub(super) runners: Runners,
    pub(super) changelog: changelog::Changelog,
    /// The changelog's bytes; empty where there is none.
    pub(super) changelog_bytes: Bytes,
    /// What was odd in a file: its path, where, what.
    pub(super) notes: Vec<(String, Place, String)>,
}

impl Side {
    /// The keys that a changelog entry selects here, sorted.
    pub(super) fn selected(&self, entry: &changelog::Entry) -> Vec<&str> {
        let keys = self.entries.iter().map(|entry| entry.key.as_str());
        let selects = |key: &&str| entry.config_keys.iter().any(|w| changelog::selects(w, key));
        let selected: BTreeSet<&str> = keys.filter(selects).collect();
        selected.into_iter().collect()
    }
}

/// A commit of the pull request against the merge base.
pub(super) struct At<'s> {
    pub(super) side: &'s Side,
    /// The changelog entries that it adds.
    pub(super) added: Vec<&'s changelog::Entry>,
    /// The paths that it changes, both names of what it moves.
    pub(super) changed: BTreeSet<&'s str>,
}

/// Both, and what the pull request does to them.
pub(in crate::evidence) struct World<'a> {
    pub(super) settings: &'a BenchmarkSettings,
    /// The repository's page.
    pub(super) web: String,
    pub(super) pull: Pull,
    /// The changed files, by path.
    pub(super) files: Vec<File>,
    pub(super) base: Side,
    pub(super) head: Side,
    /// The changelog's entries, compared.
    pub(super) difference: Difference,
}

/// An affected entry with its rows at both revisions.
pub(super) struct Found<'w> {
    pub(super) of: Affected<'w>,
    /// The scenario types that are affected.
    pub(super) scenarios: BTreeSet<&'static str>,
    pub(super) base_rows: Vec<MatrixRow>,
    pub(super) head_rows: Vec<MatrixRow>,
}

/// A tree, and where it keeps what.
struct Listed {
    commit: String,
    tree: Tree,
    layout: Layout,
}

async fn listed(
    context: &Context<'_>,
    settings: &BenchmarkSettings,
    commit: String,
) -> Result<Listed, Missing> {
    let files = context.reader.tree(context.repo, &commit).await.map_err(missing)?;
    let files = files.ok_or_else(|| Missing::ours(format!("the tree of {commit} is not there")))?;
    let tree: Tree = files.into_iter().map(|file| (file.path, file.sha)).collect();
    let layout = settings.layout.find(&tree);
    Ok(Listed { commit, tree, layout })
}

/// Reads what both revisions say.
///
/// The head's tree needs the pull request alone. The merge base comes with the comparison, and with it
/// which files differ: those that the head's layout names are asked for at once with the base's tree, for
/// they stand in the same places nearly always.
pub(super) async fn world<'a>(
    context: &Context<'_>,
    settings: &'a BenchmarkSettings,
) -> Result<World<'a>, Missing> {
    let head = async { listed(context, settings, pr::pull(context).await?.head_sha).await };
    let (pull, comparison, files, head) =
        in_order!(pr::pull(context), pr::comparison(context), pr::files(context), head)?;
    let named = [&head.layout.changelog, &head.layout.runners].into_iter().flatten();
    let named: BTreeSet<&String> = named.chain(&head.layout.masters).collect();
    context.reader.read_ahead(files.iter().filter(|file| named.contains(&file.path)).map(|file| {
        ReadKey::File {
            repo: context.repo.clone(),
            commit: comparison.merge_base.clone(),
            path: file.path.clone(),
        }
    }));
    // A file that both have alike is read once, at the assessed commit.
    let (head_commit, head_tree) = (head.commit.clone(), head.tree.clone());
    let base = async {
        let base = listed(context, settings, comparison.merge_base.clone()).await?;
        side(context, base, Some((&head_commit, &head_tree))).await
    };
    let (base, head) = in_order!(base, side(context, head, None))?;
    let difference = changelog::compare(&base.changelog.entries, &head.changelog.entries);
    let web = pr::web(context, &pull);
    Ok(World { settings, web, pull, files, base, head, difference })
}

/// A file's bytes at a revision.
pub(super) async fn bytes(
    context: &Context<'_>,
    commit: &str,
    path: &str,
) -> Result<Option<Bytes>, Missing> {
    context.reader.file(context.repo, commit, path).await.map_err(missing)
}

async fn side(
    context: &Context<'_>,
    Listed { commit, tree, layout }: Listed,
    other: Option<(&String, &Tree)>,
) -> Result<Side, Missing> {
    let read = async |path: &String| {
        let same =
            other.filter(|(_, other)| other.get(path) == tree.get(path) && tree.contains_key(path));
        let at = same.map_or(&commit, |(commit, _)| commit);
        let found = bytes(context, at, path).await?;
        let found = found.ok_or_else(|| Missing::ours(format!("{path} at {at} is not there")))?;
        Ok::<_, Missing>((path.clone(), found))
    };
    let masters = all_in_order(layout.masters.iter().map(&read));
    let runners = all_in_order(layout.runners.iter().map(&read));
    let changelog = all_in_order(layout.changelog.iter().map(&read));
    let (masters, runner_files, changelogs) = in_order!(masters, runners, changelog)?;

    let unreadable = |path: &str, problem: String| {
        Missing::submission(format!("{path} at {commit} cannot be read: {problem}"))
            .with_fix(format!("Mend {path}."))
    };
    let mut notes = Vec::new();
    let mut entries = Vec::new();
    for (path, bytes) in &masters {
        let text = text(bytes).map_err(|problem| unreadable(path, problem))?;
        let read = master::read(path, text).map_err(|error| unreadable(path, error.to_string()))?;
        let odd = read.problems.into_iter().chain(read.notes);
        notes.extend(odd.map(|note| (path.clone(), note.at, note.message)));
        entries.extend(read.entries);
    }
    let runners = match runner_files.first() {
        None => Runners::default(),
        Some((path, bytes)) => {
            let text = text(bytes).map_err(|problem| unreadable(path, problem))?;
            runners::read(text).map_err(|error| unreadable(path, error.to_string()))?
        }
    };
    let (changelog, changelog_bytes) = match changelogs.into_iter().next() {
        None => (changelog::Changelog::default(), Bytes::new()),
        Some((path, bytes)) => {
            let text = text(&bytes).map_err(|problem| unreadable(&path, problem))?;
            let read =
                changelog::read(text).map_err(|error| unreadable(&path, error.to_string()))?;
            (read, bytes)
        }
    };
    Ok(Side { commit, tree, layout, entries, runners, changelog, changelog_bytes, notes })
}

/// A file as text.
pub(super) fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes)
        .map_err(|error| format!("it is no UTF-8 at byte {}", error.valid_up_to()))
}

impl<'a> World<'a> {
    /// A line of a file at a revision.
    pub(super) fn line(&self, side: &Side, path: &str, at: Place) -> Origin {
        Origin::file(&self.web, &side.commit, path, (at.line > 0).then_some(at.line))
    }

    /// A changed file.
    pub(super) fn changed(&self, path: &str) -> Origin {
        Origin::file(&self.web, &self.head.commit, path, None)
    }

    /// The new entries of the changelog.
    pub(super) fn added(&self) -> impl Iterator<Item = &changelog::Entry> {
        self.difference.added.iter().map(|index| &self.head.changelog.entries[*index])
    }

    /// The keys that a changelog entry selects at the assessed commit, sorted.
    pub(super) fn selected(&self, entry: &changelog::Entry) -> Vec<&str> {
        self.head.selected(entry)
    }

    /// What the pull request was at the assessed commit.
    pub(super) fn at_head(&self) -> At<'_> {
        At { side: &self.head, added: self.added().collect(), changed: self.changed_paths() }
    }

    /// Whether a commit of the pull request is not the assessed one.
    pub(in crate::evidence) fn is_earlier(&self, sha: &str) -> bool {
        self.head.commit != sha
    }

    /// Another commit of the pull request.
    pub(super) async fn side_at(
        &self,
        context: &Context<'_>,
        commit: &str,
    ) -> Result<Side, Missing> {
        let there = listed(context, self.settings, commit.to_owned()).await?;
        side(context, there, Some((&self.head.commit, &self.head.tree))).await
    }

    /// What a row of an entry runs at a revision, without its evaluations.
    pub(super) fn runs(
        &self,
        side: &Side,
        entry: &Entry,
        row: &master::Row,
        workload: master::Workload,
    ) -> Option<Reference> {
        match &row.recipe {
            Some(written) => {
                Some(reference::recipe(&written.text, entry, &side.layout, &side.tree))
            }
            None => reference::script(
                row,
                workload,
                entry,
                &self.settings.scripts,
                &side.layout,
                &side.tree,
            ),
        }
    }

    /// The paths that the pull request changes, both names of what it moves.
    pub(super) fn changed_paths(&self) -> BTreeSet<&str> {
        self.files
            .iter()
            .flat_map(|file| [Some(file.path.as_str()), file.previous_path.as_deref()])
            .flatten()
            .collect()
    }

    /// The affected entries, by key.
    pub(super) fn found(&self) -> Vec<Found<'_>> {
        self.found_at(&self.at_head())
    }

    /// The same of another commit of the pull request.
    pub(super) fn found_at<'s>(&'s self, at: &At<'s>) -> Vec<Found<'s>> {
        let side = at.side;
        let (base, head) = (affected::by_key(&self.base.entries), affected::by_key(&side.entries));
        let mut declared: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
        for entry in &at.added {
            let scenarios = [FIXED_SEQ_LEN, AGENTIC_CODING];
            let scenarios = scenarios.into_iter().filter(|kind| entry.selects_scenario(kind));
            let scenarios: Vec<_> = scenarios.collect();
            for key in side.selected(entry) {
                declared.entry(key).or_default().extend(scenarios.iter().copied());
            }
        }
        let mut referenced: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
        for entry in head.values() {
            for (scenario, row) in entry.rows() {
                let run = self.runs(side, entry, row, scenario.workload);
                let eval = row.eval_recipe.as_ref();
                let eval =
                    eval.map(|w| reference::recipe(&w.text, entry, &side.layout, &side.tree));
                let mut both = [run, eval].into_iter().flatten();
                if both.any(|found| at.changed.contains(found.path.as_str())) {
                    let kind = scenario.workload.scenario_type();
                    referenced.entry(&entry.key).or_default().insert(kind);
                }
            }
        }
        let names = |map: &BTreeMap<&'_ str, BTreeSet<&'static str>>| -> BTreeSet<String> {
            map.keys().map(|key| (*key).to_owned()).collect()
        };
        let (declared_keys, referenced_keys) = (names(&declared), names(&referenced));
        let declared_keys: BTreeSet<&str> = declared_keys.iter().map(String::as_str).collect();
        let referenced_keys: BTreeSet<&str> = referenced_keys.iter().map(String::as_str).collect();
        let found = affected::affected(&base, &head, &declared_keys, &referenced_keys);
        found
            .into_iter()
            .map(|of| {
                let rows = |side: &Side, entry: Option<&Entry>| {
                    entry.map(|entry| matrix::rows(entry, &side.runners, &self.settings.matrix))
                };
                let all = of.head.or(of.base).into_iter().flat_map(Entry::rows);
                let all: BTreeSet<&'static str> =
                    all.map(|(scenario, _)| scenario.workload.scenario_type()).collect();
                let only = match of.change {
                    affected::Change::Declared => declared.get(of.key()),
                    affected::Change::Referenced => referenced.get(of.key()),
                    _ => None,
                };
                let scenarios = match only {
                    Some(only) => all.intersection(only).copied().collect(),
                    None => all,
                };
                Found {
                    scenarios,
                    base_rows: rows(&self.base, of.base).unwrap_or_default(),
                    head_rows: rows(side, of.head).unwrap_or_default(),
                    of,
                }
            })
            .collect()
    }
}
