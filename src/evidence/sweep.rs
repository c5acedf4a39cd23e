//! `sweep`: which benchmark runs executed on the pull request's commits, and how far.
//!
//! `checks.md`, check 1, with ruling 7: check runs lead from a commit to its runs; each job counts by
//! its latest execution, so that "re-run failed jobs" keeps earlier successes; what was skipped never
//! executed; aggregators are no evidence; only runs of a listed workflow and event, on a commit of
//! the pull request, count. What has to run is the plan of the affected configurations at the assessed
//! commit; a profile without a benchmark has none, and the families are read off the job names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::FutureExt;

use super::bench::{self, Planned, Work, World};
use super::in_order::{all_in_order, in_order};
use super::{Context, commands, missing, pr};
use crate::facts::{
    Chosen, FamilyCount, Job, Missing, Origin, OriginKind, PlannedJob, Sweep, SweepCommit,
    SweepRun, UnusedRun,
};
use crate::profile::{FamilyKind, SweepSettings};
use crate::sources::types::{self, CheckRun, File, Run};

/// The fact.
pub(super) async fn sweep(
    context: &Context<'_>,
    world: impl Future<Output = bench::SharedWorld<'_>> + Send,
) -> Result<Sweep, Missing> {
    let Some(settings) = &context.profile.settings.sweep else {
        return Err(Missing::submission("the profile knows no benchmark runs"));
    };
    let world = async {
        match context.profile.settings.benchmark {
            Some(_) => world.await.map(Some),
            None => Ok(None),
        }
    };
    // Nobody who reads runs waits for the files that say what should have run.
    let world = world.boxed().shared();
    let (ran, files, named, world) = in_order!(
        commits(context, settings, world.clone()),
        pr::files(context),
        named(context),
        world
    )?;
    let plan = world.as_deref().map(bench::plan).transpose()?.unwrap_or_default();
    let changed = evidence_paths(context, settings, &files);
    let earlier = ran.iter().map(async |ran| {
        let sha = ran.commit.sha.as_str();
        Ok((sha, changed_on(context, settings, sha).await?))
    });
    let earlier: BTreeMap<&str, BTreeSet<String>> =
        all_in_order(earlier).await?.into_iter().collect();
    let self_produced = |sha: &str| {
        let on_it = earlier.get(sha).into_iter().flatten();
        changed.iter().chain(on_it).cloned().collect::<BTreeSet<String>>().into_iter().collect()
    };
    let plan = (!plan.is_empty()).then_some(plan.as_slice());
    let chosen = choose(&ran, plan, settings, self_produced);
    let planned: Vec<PlannedJob> = match &chosen {
        Some(chosen) => chosen.planned.clone(),
        None => plan.unwrap_or_default().iter().map(|one| one.fact("absent")).collect(),
    };
    let commits: Vec<SweepCommit> = ran.into_iter().map(|ran| ran.commit).collect();
    let unused = unused(&commits, named, settings);
    let chosen = chosen.map(|chosen| chosen.fact);
    Ok(Sweep { commits, chosen, unused, from_plan: plan.is_some(), planned })
}

/// Those of the changed files, old names too, that make a run's evidence.
fn evidence_paths(
    context: &Context<'_>,
    settings: &SweepSettings,
    files: &[File],
) -> BTreeSet<String> {
    let names = files
        .iter()
        .flat_map(|file| [Some(file.path.as_str()), file.previous_path.as_deref()])
        .flatten();
    names
        .filter(|path| context.profile.groups.holds(&settings.evidence_group, path))
        .map(str::to_owned)
        .collect()
}

/// What the pull request had changed of a run's evidence on the commit that the run was made on. A
/// change that a later commit takes back is not in the diff of the assessed commit, but the run was
/// made with it.
async fn changed_on(
    context: &Context<'_>,
    settings: &SweepSettings,
    sha: &str,
) -> Result<BTreeSet<String>, Missing> {
    let (pull, base) = in_order!(pr::pull(context), pr::base(context))?;
    if sha == pull.head_sha {
        return Ok(BTreeSet::new());
    }
    let compared = context.reader.compare(context.repo, &base, sha).await.map_err(missing)?;
    let compared = compared
        .ok_or_else(|| Missing::ours(format!("{sha} is not in the repository any more")))?;
    let mut paths = evidence_paths(context, settings, &compared.files);
    if compared.files_cut() {
        // GitHub names no more of them, so that nobody can say what was not changed.
        paths.insert(format!("at least {} files on {sha}", compared.files.len()));
    }
    Ok(paths)
}

/// A commit that has runs.
struct Ran {
    commit: SweepCommit,
    /// What its affected entries run, where it is not the assessed one.
    work: Option<Work>,
}

/// Every commit's runs that count, newest commit first.
async fn commits(
    context: &Context<'_>,
    settings: &SweepSettings,
    world: impl Future<Output = Result<Option<Arc<World<'_>>>, Missing>> + Clone,
) -> Result<Vec<Ran>, Missing> {
    let shas = pr::commits(context).await?;
    let per_commit = shas.iter().rev().map(async |sha| {
        let checks = context.reader.check_runs(context.repo, sha).await.map_err(missing)?;
        let checks = checks.ok_or_else(|| unseen(&format!("the check runs of {sha}")))?;
        let ids = run_ids(&checks, &settings.app);
        let found = ids
            .into_iter()
            .map(async |id| context.reader.run(context.repo, id).await.map_err(missing));
        let mut found: Vec<Run> = all_in_order(found).await?.into_iter().flatten().collect();
        found.retain(|run| why_not(run, settings).is_none() && run.head_sha == *sha);
        let work = async {
            if found.is_empty() {
                return Ok(None);
            }
            match world.clone().await? {
                Some(world) if world.is_earlier(sha) => {
                    bench::work_at(context, &world, sha).await.map(Some)
                }
                _ => Ok(None),
            }
        };
        let runs = all_in_order(found.iter().map(|run| with_jobs(context, settings, run)));
        let (mut runs, work) = in_order!(runs, work)?;
        runs.sort_by_key(|run| std::cmp::Reverse(run.id));
        Ok(Ran { commit: SweepCommit { sha: sha.clone(), runs }, work })
    });
    let all = all_in_order(per_commit).await?;
    Ok(all.into_iter().filter(|ran| !ran.commit.runs.is_empty()).collect())
}

/// The runs behind the check runs of one app: `…/actions/runs/<id>/job/<id>` (GitHub's
/// `details_url`).
fn run_ids(checks: &[CheckRun], app: &str) -> BTreeSet<i64> {
    let of_app = checks.iter().filter(|check| check.app.as_ref().is_some_and(|by| by.slug == app));
    of_app.filter_map(|check| run_id(check.details_url.as_deref()?)).collect()
}

/// The run that a check of a workflow belongs to, by its `details_url`.
pub(super) fn run_id(details_url: &str) -> Option<i64> {
    let (_, rest) = details_url.split_once("/actions/runs/")?;
    rest.split(['/', '?']).next()?.parse().ok()
}

/// A run with its jobs.
async fn with_jobs(
    context: &Context<'_>,
    settings: &SweepSettings,
    run: &Run,
) -> Result<SweepRun, Missing> {
    let jobs = context.reader.jobs(context.repo, run).await.map_err(missing)?;
    let jobs = jobs.ok_or_else(|| unseen(&format!("the jobs of run {}", run.id)))?;
    let jobs = latest_executions(jobs, settings);
    Ok(SweepRun {
        id: run.id,
        attempt: run.attempt,
        workflow: run.path.clone(),
        event: run.event.clone(),
        status: run.status.clone(),
        conclusion: run.conclusion.clone().unwrap_or_default(),
        families: count(&jobs, settings),
        jobs,
        origin: run_origin(run),
    })
}

/// What has to be there, because something that we read spoke of it: that GitHub shows us none is a
/// lag or a permission, and says nothing about the submission.
pub(super) fn unseen(what: &str) -> Missing {
    Missing::ours(format!(
        "{what}: GitHub says that there are none; it lags, or we may not see them"
    ))
}

/// Why a run is no run of the sweep, in words; `None` where it is.
fn why_not(run: &Run, settings: &SweepSettings) -> Option<String> {
    if !settings.workflows.contains(&run.path) {
        return Some(format!("it is a run of {}, not of the sweep workflow", run.path));
    }
    if !settings.events.contains(&run.event) {
        return Some(format!("it was started by {}, which does not count", run.event));
    }
    None
}

fn run_origin(run: &Run) -> Origin {
    let mut origin = Origin::new(OriginKind::Run).at_url(run.html_url.clone());
    origin.commit = Some(run.head_sha.clone());
    origin
}

/// Each job name of a family by its latest execution: the highest attempt in which it executed, else
/// the highest in which it is listed. Nothing keeps two jobs of one attempt from bearing one name;
/// the one that did not succeed counts, so that none hides behind its namesake.
fn latest_executions(jobs: Vec<types::Job>, settings: &SweepSettings) -> Vec<Job> {
    let mut latest: BTreeMap<String, Job> = BTreeMap::new();
    for job in jobs {
        let Some(family) = settings.families.iter().find(|f| job.name.starts_with(&f.prefix))
        else {
            continue;
        };
        let conclusion = match job.status.as_str() {
            "completed" => job.conclusion.unwrap_or_else(|| "unknown".to_owned()),
            _ => "pending".to_owned(),
        };
        let origin = Origin { url: job.html_url, ..Origin::new(OriginKind::CheckRun) };
        let found = Job {
            family: family.prefix.clone(),
            kind: kind(family.kind).to_owned(),
            executed: conclusion != "skipped",
            attempt: job.attempt,
            name: job.name,
            conclusion,
            origin,
        };
        let rank = |job: &Job| (job.executed, job.attempt, job.conclusion != "success");
        match latest.get(&found.name) {
            Some(kept) if rank(kept) >= rank(&found) => {}
            _ => {
                latest.insert(found.name.clone(), found);
            }
        }
    }
    latest.into_values().collect()
}

fn kind(kind: FamilyKind) -> &'static str {
    match kind {
        FamilyKind::Throughput => "throughput",
        FamilyKind::Eval => "eval",
    }
}

/// The families that have jobs, in the profile's order.
fn count(jobs: &[Job], settings: &SweepSettings) -> Vec<FamilyCount> {
    let of = |prefix: &str, pick: fn(&Job) -> bool| {
        jobs.iter().filter(|job| job.family == prefix && pick(job)).count() as i64
    };
    let counted = settings.families.iter().map(|family| FamilyCount {
        family: family.prefix.clone(),
        kind: kind(family.kind).to_owned(),
        succeeded: of(&family.prefix, |job| job.conclusion == "success"),
        failed: of(&family.prefix, |job| job.executed && job.conclusion != "success"),
        skipped: of(&family.prefix, |job| !job.executed),
    });
    counted.filter(|count| count.succeeded + count.failed + count.skipped > 0).collect()
}

/// The run that proves most: complete before incomplete, one that makes its own evidence last, then by
/// what it has of the plan, by executed successes, then one that still runs (it may yet prove more), then
/// the newest commit and the newest run. A run that ended before any job of a family executed proves
/// nothing and is none.
fn choose(
    ran: &[Ran],
    plan: Option<&[Planned]>,
    settings: &SweepSettings,
    self_produced: impl Fn(&str) -> Vec<String>,
) -> Option<Candidate> {
    let mut best: Option<Candidate> = None;
    for ran in ran {
        for run in &ran.commit.runs {
            let candidate = candidate(ran, run, plan, settings, self_produced(&ran.commit.sha));
            if candidate.fact.finished && candidate.fact.executed == 0 {
                continue;
            }
            let rank = |Candidate { fact, .. }: &Candidate| {
                let clean = fact.self_produced.is_empty();
                (fact.complete, clean, fact.have, fact.succeeded, !fact.finished)
            };
            if best.as_ref().is_none_or(|best| rank(&candidate) > rank(best)) {
                best = Some(candidate);
            }
        }
    }
    best
}

/// A run that may be chosen, and what of the plan it has.
struct Candidate {
    fact: Chosen,
    planned: Vec<PlannedJob>,
}

fn candidate(
    ran: &Ran,
    run: &SweepRun,
    plan: Option<&[Planned]>,
    settings: &SweepSettings,
    self_produced: Vec<String>,
) -> Candidate {
    let successes = |kind: &str| {
        run.families.iter().filter(|f| f.kind == kind).map(|f| f.succeeded).sum::<i64>()
    };
    let (throughput, evals) = (successes("throughput"), successes("eval"));
    let executed: i64 = run.families.iter().map(|f| f.succeeded + f.failed).sum();
    let missing: Vec<Job> = run
        .jobs
        .iter()
        .filter(|job| job.executed && job.conclusion != "success")
        .cloned()
        .collect();
    let planned = plan.map(|plan| states(plan, ran, run, settings));
    let of = |state: &str| -> Vec<PlannedJob> {
        planned.iter().flatten().filter(|job| job.state == state).cloned().collect()
    };
    let (absent, changed_since) = (of("absent"), of("changed"));
    let edited = ran
        .work
        .iter()
        .flat_map(|work| plan.unwrap_or_default().iter().filter_map(|one| work.edited(one)));
    let edited: BTreeSet<&str> = edited.collect();
    let wanted = |kind: &str| match &planned {
        Some(planned) => planned.iter().filter(|job| job.kind == kind).count() as i64,
        None => 1,
    };
    let (wanted_throughput, wanted_evals) = (wanted("throughput"), wanted("eval"));
    let (wanted, have, enough) = match &planned {
        Some(planned) => {
            let have = of("success").len();
            (planned.len() as i64, have as i64, have == planned.len())
        }
        None => (executed, throughput + evals, throughput > 0 && evals > 0),
    };
    let finished = run.status == "completed";
    let fact = Chosen {
        run_id: run.id,
        attempt: run.attempt,
        sha: ran.commit.sha.clone(),
        complete: finished && enough && missing.is_empty(),
        finished,
        throughput,
        evals,
        succeeded: throughput + evals,
        executed,
        missing,
        absent,
        changed_since,
        edited_since: edited.into_iter().map(str::to_owned).collect(),
        wanted,
        have,
        wanted_throughput,
        wanted_evals,
        self_produced,
        origin: run.origin.clone(),
    };
    Candidate { fact, planned: planned.unwrap_or_default() }
}

/// What has to run, with what the run has of it.
fn states(
    plan: &[Planned],
    ran: &Ran,
    run: &SweepRun,
    settings: &SweepSettings,
) -> Vec<PlannedJob> {
    let canaries = settings.families.iter().filter(|family| family.canary);
    let canaries: BTreeSet<&str> = canaries.map(|family| family.prefix.as_str()).collect();
    let states = bench::covered(plan, &run.jobs, &canaries, &settings.job_words);
    let there = |one: &Planned| ran.work.as_ref().is_none_or(|work| work.has(one));
    let state = |(one, state): (&Planned, String)| match state.as_str() {
        "success" if !there(one) => one.fact("changed"),
        state => one.fact(state),
    };
    plan.iter().zip(states).map(state).collect()
}

/// A run that somebody named, and what GitHub knows of it.
struct Named {
    id: i64,
    origin: Origin,
    run: Option<Run>,
}

/// The runs that the sign-off links and that the winning reuse command pins, each once.
async fn named(context: &Context<'_>) -> Result<Vec<Named>, Missing> {
    let mut places: BTreeMap<i64, Origin> = BTreeMap::new();
    for (id, origin) in super::checklist::named_runs(context) {
        places.entry(id).or_insert(origin);
    }
    // In local mode there are no comments, and a run that nobody pinned is no loss.
    if let Ok(reuse) = commands::reuse(context).await
        && let Some(winner) = reuse.winner
        && let Some(id) = winner.run_id
    {
        places.entry(id).or_insert(winner.origin);
    }
    all_in_order(places.into_iter().map(async |(id, origin)| {
        let run = context.reader.run(context.repo, id).await.map_err(missing)?;
        Ok(Named { id, origin, run })
    }))
    .await
}

/// Those of them that do not count, with why, and with what was probably meant.
fn unused(commits: &[SweepCommit], named: Vec<Named>, settings: &SweepSettings) -> Vec<UnusedRun> {
    let counted: BTreeSet<i64> =
        commits.iter().flat_map(|commit| commit.runs.iter().map(|run| run.id)).collect();
    named
        .into_iter()
        .filter(|named| !counted.contains(&named.id))
        .map(|named| {
            let why = match &named.run {
                None => "no such run exists in this repository".to_owned(),
                Some(run) => why_not(run, settings).unwrap_or_else(|| {
                    format!("it ran on {}, which is no commit of this pull request", run.head_sha)
                }),
            };
            let suggestion = named.run.is_none().then(|| meant(named.id, &counted)).flatten();
            UnusedRun { run_id: named.id, why, suggestion, origin: named.origin }
        })
        .collect()
}

/// The one counted run of which the typed id is a beginning, or that it becomes with one more digit.
fn meant(typed: i64, counted: &BTreeSet<i64>) -> Option<i64> {
    let typed = typed.to_string();
    let mut candidates = counted.iter().filter(|id| {
        let id = id.to_string();
        id.starts_with(&typed)
            || (id.len() == typed.len() + 1
                && (0..id.len()).any(|at| format!("{}{}", &id[..at], &id[at + 1..]) == typed))
    });
    let first = candidates.next()?;
    candidates.next().is_none().then_some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::matrix::JobWords;
    use crate::profile::Family;

    fn settings() -> SweepSettings {
        let family = |prefix: &str, kind| Family { prefix: prefix.to_owned(), kind, canary: false };
        SweepSettings {
            workflows: vec![".github/workflows/bench.yml".to_owned()],
            events: vec!["pull_request".to_owned()],
            app: "github-actions".to_owned(),
            evidence_group: "evidence".to_owned(),
            families: vec![
                family("bench /", FamilyKind::Throughput),
                family("eval /", FamilyKind::Eval),
            ],
            job_words: JobWords::default(),
        }
    }

    fn job(name: &str, attempt: i64, conclusion: &str) -> types::Job {
        types::Job {
            id: attempt,
            name: name.to_owned(),
            status: if conclusion == "pending" { "in_progress" } else { "completed" }.to_owned(),
            conclusion: (conclusion != "pending").then(|| conclusion.to_owned()),
            attempt,
            run_id: 1,
            started_at: None,
            completed_at: None,
            html_url: None,
        }
    }

    #[test]
    fn a_job_counts_by_its_latest_execution() {
        let jobs = vec![
            job("bench / a", 1, "success"),
            job("bench / a", 2, "skipped"),
            job("bench / b", 1, "failure"),
            job("bench / b", 2, "success"),
            job("eval / a", 2, "success"),
            job("eval / a", 1, "success"),
            job("collect-evals", 2, "success"),
            job("bench / c", 2, "pending"),
        ];
        let latest = latest_executions(jobs, &settings());
        let told: Vec<_> = latest
            .iter()
            .map(|job| (job.name.as_str(), job.conclusion.as_str(), job.attempt))
            .collect();
        assert_eq!(
            told,
            [
                ("bench / a", "success", 1),
                ("bench / b", "success", 2),
                ("bench / c", "pending", 2),
                ("eval / a", "success", 2)
            ]
        );
        let counts = count(&latest, &settings());
        assert_eq!(counts[0].succeeded, 2);
        assert_eq!(counts[0].failed, 1);
    }

    #[test]
    fn of_two_jobs_with_one_name_the_failed_one_counts() {
        for order in [["success", "failure"], ["failure", "success"]] {
            let jobs = order.map(|conclusion| job("bench / a", 1, conclusion));
            let latest = latest_executions(jobs.into(), &settings());
            let told: Vec<_> = latest.iter().map(|job| job.conclusion.as_str()).collect();
            assert_eq!(told, ["failure"], "{order:?}");
        }
        let again = [("success", 1), ("failure", 1), ("success", 2)];
        let jobs = again.map(|(conclusion, attempt)| job("bench / a", attempt, conclusion));
        let latest = latest_executions(jobs.into(), &settings());
        assert_eq!(latest[0].conclusion, "success", "a re-run of what failed is enough");
    }

    #[test]
    fn evaluations_that_were_skipped_prove_nothing() {
        let latest = latest_executions(
            vec![job("bench / a", 1, "success"), job("eval /", 1, "skipped")],
            &settings(),
        );
        let run = SweepRun {
            id: 1,
            attempt: 1,
            workflow: String::new(),
            event: String::new(),
            status: "completed".to_owned(),
            conclusion: "success".to_owned(),
            families: count(&latest, &settings()),
            jobs: latest,
            origin: Origin::new(OriginKind::Run),
        };
        let ran = Ran { commit: SweepCommit { sha: "x".into(), runs: vec![] }, work: None };
        let chosen = candidate(&ran, &run, None, &settings(), vec![]).fact;
        assert!(!chosen.complete);
        assert_eq!((chosen.throughput, chosen.evals, chosen.executed), (1, 0, 1));
    }

    #[test]
    fn the_run_that_was_meant_is_found_only_where_it_is_the_only_one() {
        let counted = BTreeSet::from([38_266_927_261, 40_000_000_001]);
        assert_eq!(meant(3_826_692_726, &counted), Some(38_266_927_261));
        assert_eq!(meant(3_266_927_261, &counted), Some(38_266_927_261));
        assert_eq!(meant(99, &counted), None);
        assert_eq!(meant(1, &BTreeSet::from([11, 12])), None);
    }

    #[test]
    fn a_details_url_names_its_run() {
        assert_eq!(run_id("https://h/o/r/actions/runs/42/job/7"), Some(42));
        assert_eq!(run_id("https://h/o/r/actions/runs/42?pr=1"), Some(42));
        assert_eq!(run_id("https://h/o/r/runs/42"), None);
    }
}
