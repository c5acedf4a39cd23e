//! What has to run for the affected entries: measurements and evaluations, as the generator plans them.
//!
//! Source: `checks.md`, checks 1 and 2, with ruling 7; `process_changelog.py` of the benchmark repository.
//! Of an affected entry that no changelog entry selects, the points are planned that were not there or
//! whose recipe or script changes, with their evaluations.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::point::subject;
use super::world::{At, Found, Side, World};
use crate::bench::changelog::{self, Difference};
use crate::bench::master::{AGENTIC_CODING, FIXED_SEQ_LEN};
use crate::bench::matrix::{EvalChoice, JobName, JobWords, MatrixRow, appended, evals, family};
use crate::bench::reference::Reference;
use crate::evidence::in_order::in_order;
use crate::evidence::{Context, missing, pr};
use crate::facts::{Job, Missing, Origin, PlannedJob};
use crate::limits::CHANGELOG_SELECTIONS;

/// One job that has to run.
#[derive(Debug, Clone)]
pub(in crate::evidence) struct Planned {
    pub(in crate::evidence) row: MatrixRow,
    /// What it runs, one after the other.
    pub(in crate::evidence) conc: Vec<i64>,
    pub(in crate::evidence) eval: bool,
    /// The start of its name.
    pub(in crate::evidence) family: String,
    pub(in crate::evidence) subject: String,
    /// The recipe or script that it runs, where that is in the tree: its path and its blob.
    file: Option<(String, String)>,
    pub(in crate::evidence) origin: Origin,
}

impl Planned {
    fn row_key(&self) -> (String, Arc<str>) {
        (self.row.config.clone(), Arc::clone(&self.row.identity))
    }

    /// As the facts have it.
    pub(in crate::evidence) fn fact(&self, state: &str) -> PlannedJob {
        PlannedJob {
            subject: self.subject.clone(),
            config: self.row.config.clone(),
            kind: if self.eval { "eval" } else { "throughput" }.to_owned(),
            family: self.family.clone(),
            state: state.to_owned(),
            origin: self.origin.clone(),
        }
    }
}

/// What has to run at the assessed commit, in the order of entries and rows; measurements first.
///
/// # Errors
/// The changelog adds more selections than are followed.
pub(in crate::evidence) fn plan(world: &World<'_>) -> Result<Vec<Planned>, Missing> {
    of(world, &world.at_head())
}

/// What the affected entries run at some commit: by entry and identity, the blobs of recipes and scripts.
#[derive(Debug, Default)]
pub(in crate::evidence) struct Work(BTreeMap<(String, Arc<str>), BTreeSet<Option<String>>>);

impl Work {
    /// Whether there is such a point in it, whatever its recipe or script says.
    pub(in crate::evidence) fn has(&self, one: &Planned) -> bool {
        self.0.contains_key(&one.row_key())
    }

    /// The recipe or script of a point, where its text is another one there.
    pub(in crate::evidence) fn edited<'p>(&self, one: &'p Planned) -> Option<&'p str> {
        let blob = one.file.as_ref().map(|(_, blob)| blob.clone());
        let other = self.0.get(&one.row_key()).is_some_and(|blobs| !blobs.contains(&blob));
        one.file.as_ref().filter(|_| other).map(|(path, _)| path.as_str())
    }
}

/// What the affected entries run at an earlier commit of the pull request.
pub(in crate::evidence) async fn work_at(
    context: &Context<'_>,
    world: &World<'_>,
    sha: &str,
) -> Result<Work, Missing> {
    let compared = async {
        let base = pr::base(context).await?;
        context.reader.compare(context.repo, &base, sha).await.map_err(missing)
    };
    let (side, compared) = in_order!(world.side_at(context, sha), compared)?;
    let difference: Difference =
        changelog::compare(&world.base.changelog.entries, &side.changelog.entries);
    let files = compared.map(|compared| compared.files).unwrap_or_default();
    let changed = files.iter().flat_map(|f| [Some(f.path.as_str()), f.previous_path.as_deref()]);
    let at = At {
        side: &side,
        added: difference.added.iter().map(|index| &side.changelog.entries[*index]).collect(),
        changed: changed.flatten().collect(),
    };
    let jobs = Jobs::new(world, &side);
    let found = world.found_at(&at);
    let mut work = Work::default();
    for row in found.iter().flat_map(|found| &found.head_rows) {
        let blob = jobs.file(row).map(|(_, blob)| blob);
        let key = (row.config.clone(), Arc::clone(&row.identity));
        work.0.entry(key).or_default().insert(blob);
    }
    Ok(work)
}

fn of(world: &World<'_>, at: &At<'_>) -> Result<Vec<Planned>, Missing> {
    let found = world.found_at(at);
    let affected: Vec<&Found<'_>> = found.iter().filter(|found| found.of.head.is_some()).collect();
    let folders = |folder: &str| at.side.tree.keys().any(|path| path.starts_with(folder));
    let choice = world.settings.matrix.eval_choice(folders);
    let mut all = Jobs::new(world, at.side);
    let mut declared = BTreeSet::new();
    let mut told = BTreeSet::new();
    for entry in &at.added {
        let keys: BTreeSet<&str> = at.side.selected(entry).into_iter().collect();
        let selected = affected.iter().filter(|found| keys.contains(found.of.key()));
        let kinds: BTreeSet<&str> = [FIXED_SEQ_LEN, AGENTIC_CODING]
            .into_iter()
            .filter(|kind| entry.selects_scenario(kind))
            .collect();
        // What an entry before said runs nothing more.
        let flags = (entry.append_only, entry.evals_only, entry.no_evals, entry.all_evals);
        if !told.insert((keys.clone(), kinds.clone(), flags, entry.eval_min_prefill_ep)) {
            continue;
        }
        if told.len() > CHANGELOG_SELECTIONS {
            return Err(Missing::submission(format!(
                "the changelog adds more than {CHANGELOG_SELECTIONS} different selections of configurations"
            ))
            .with_fix("Put into one changelog entry what runs in the same way."));
        }
        let of_kinds = |rows: &[MatrixRow]| -> Vec<MatrixRow> {
            rows.iter()
                .filter(|row| kinds.contains(row.workload.scenario_type()))
                .cloned()
                .collect()
        };
        let mut rows = Vec::new();
        for found in selected {
            declared.insert(found.of.key());
            let head = of_kinds(&found.head_rows);
            if entry.append_only {
                for (index, conc) in appended(&of_kinds(&found.base_rows), &head).added {
                    all.measure(&head[index], &conc);
                }
            } else {
                rows.extend(head);
            }
        }
        if !entry.evals_only {
            rows.iter().for_each(|row| all.measure(row, &row.conc));
        }
        if !entry.no_evals {
            all.evaluate(&rows, choice, entry.all_evals, entry.eval_min_prefill_ep);
        }
    }
    let undeclared = affected.iter().filter(|found| !declared.contains(found.of.key()));
    let rows: Vec<MatrixRow> = undeclared.flat_map(|found| all.new_rows(found, at)).collect();
    rows.iter().for_each(|row| all.measure(row, &row.conc));
    all.evaluate(&rows, choice, false, None);
    all.throughput.append(&mut all.evals);
    Ok(all.throughput)
}

struct Jobs<'w> {
    world: &'w World<'w>,
    side: &'w Side,
    throughput: Vec<Planned>,
    evals: Vec<Planned>,
    /// By entry, identity, concurrencies, and whether it is an evaluation.
    planned: BTreeSet<(String, Arc<str>, Vec<i64>, bool)>,
}

impl<'w> Jobs<'w> {
    fn new(world: &'w World<'w>, side: &'w Side) -> Self {
        let (throughput, evals, planned) = Default::default();
        Self { world, side, throughput, evals, planned }
    }
}

impl Jobs<'_> {
    fn measure(&mut self, row: &MatrixRow, conc: &[i64]) {
        if self.is_new(row, conc, false) {
            let planned = self.planned(row, conc, false);
            self.throughput.push(planned);
        }
    }

    /// Whether nothing that is planned measures, or evaluates, the same; from now on something does.
    fn is_new(&mut self, row: &MatrixRow, conc: &[i64], eval: bool) -> bool {
        self.planned.insert((row.config.clone(), Arc::clone(&row.identity), conc.to_vec(), eval))
    }

    /// Of an entry, the rows with a point that was not there, or that run a changed file.
    fn new_rows(&self, found: &Found<'_>, at: &At<'_>) -> Vec<MatrixRow> {
        let rows = &found.head_rows;
        let added = appended(&found.base_rows, rows).added;
        let mut new: BTreeMap<usize, Vec<i64>> = added.into_iter().collect();
        for (index, row) in rows.iter().enumerate() {
            let path = self.runs(row).map(|run| run.path);
            if path.is_some_and(|path| at.changed.contains(path.as_str())) {
                new.insert(index, row.conc.clone());
            }
        }
        new.into_iter().map(|(index, conc)| MatrixRow { conc, ..rows[index].clone() }).collect()
    }

    fn runs(&self, row: &MatrixRow) -> Option<Reference> {
        let entry = self.side.entries.iter().rfind(|entry| entry.key == row.config)?;
        let (scenario, master) = entry.rows().find(|(_, master)| master.at == row.at)?;
        self.world.runs(self.side, entry, master, scenario.workload)
    }

    /// What a row runs, where that is in the tree: its path and its blob.
    fn file(&self, row: &MatrixRow) -> Option<(String, String)> {
        let path = self.runs(row)?.path;
        let blob = self.side.tree.get(&path)?.clone();
        Some((path, blob))
    }

    /// The evaluations among the rows; all of them that can be evaluated, where a changelog entry asks
    /// for that.
    fn evaluate(
        &mut self,
        rows: &[MatrixRow],
        choice: Option<&EvalChoice>,
        all: bool,
        min_prefill_ep: Option<i64>,
    ) {
        let Some(choice) = choice else { return };
        let chosen: Vec<(usize, i64)> = if all {
            let of = |row: &MatrixRow| row.agentic() || row.workload.name() == choice.workload;
            let rows = rows.iter().enumerate().filter(|(_, row)| of(row));
            rows.flat_map(|(index, row)| row.conc.iter().map(move |conc| (index, *conc))).collect()
        } else {
            evals(rows, choice).into_iter().map(|planned| (planned.row, planned.conc)).collect()
        };
        for (index, conc) in chosen {
            let row = &rows[index];
            let ep = row.fields.get("prefill").and_then(|of| of.get("ep")?.as_i64()).unwrap_or(1);
            if row.multinode() && min_prefill_ep.is_some_and(|least| ep < least) {
                continue;
            }
            if self.is_new(row, &[conc], true) {
                let planned = self.planned(row, &[conc], true);
                self.evals.push(planned);
            }
        }
    }

    fn planned(&self, row: &MatrixRow, conc: &[i64], eval: bool) -> Planned {
        let entry = self.side.entries.iter().rfind(|entry| entry.key == row.config);
        let path = entry.map(|entry| entry.path.as_str()).unwrap_or_default();
        let subject = match conc {
            [first, rest @ ..] => {
                let more: String = rest.iter().map(|conc| format!("x{conc}")).collect();
                format!("{}{more}", subject(row, *first))
            }
            [] => row.config.clone(),
        };
        Planned {
            row: row.clone(),
            conc: conc.to_vec(),
            eval,
            family: family(row, eval),
            subject,
            file: self.file(row),
            origin: self.world.line(self.side, path, row.at),
        }
    }
}

/// Of each planned job its state among the jobs of a run: `success`, the conclusion of the job that ran
/// it, or `absent`. Every job stands for one planned job.
pub(in crate::evidence) fn covered(
    planned: &[Planned],
    jobs: &[Job],
    canaries: &BTreeSet<&str>,
    names: &JobWords,
) -> Vec<String> {
    let read: Vec<Option<JobName>> =
        jobs.iter().map(|job| JobName::read(&job.name, &job.family)).collect();
    let mut free: BTreeMap<usize, &Job> = jobs.iter().enumerate().collect();
    let state = |planned: &Planned| {
        let stands = |index: &usize, job: &Job, own: bool| {
            let family = if own {
                job.family == planned.family
            } else {
                !planned.eval && canaries.contains(job.family.as_str())
            };
            let runs = || {
                let name = read[*index].as_ref()?;
                Some(
                    name.runs(&planned.row, &planned.conc, names)
                        || (planned.eval && name.runs(&planned.row, &planned.row.conc, names)),
                )
            };
            family && job.executed && runs().unwrap_or(false)
        };
        let rank = |(index, job): &(&usize, &&Job)| (job.conclusion != "success", **index);
        let best = |own: bool| {
            free.iter()
                .filter(|(index, job)| stands(index, job, own))
                .min_by_key(rank)
                .map(|(i, _)| *i)
        };
        match best(true).or_else(|| best(false)) {
            Some(index) => free.remove(&index).map(|job| job.conclusion.clone()),
            None => None,
        }
        .unwrap_or_else(|| "absent".to_owned())
    };
    planned.iter().map(state).collect()
}
