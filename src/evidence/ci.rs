//! `ci`: the check runs of all apps and the commit statuses on the assessed commit.
//!
//! What bears our own name is left out, whoever posted it. Of each check the newest execution counts,
//! but nothing hides behind its namesake: two workflows may each have a job of one name, and one
//! workflow may have two. What was skipped never executed, so that it does not replace what did.

use std::collections::{BTreeMap, BTreeSet};

use super::in_order::{all_in_order, in_order};
use super::{Context, missing, pr, sweep};
use crate::facts::{Ci, CiCheck, CiKind, Missing, Origin, OriginKind};
use crate::sources::types::{CheckRun, Status};

/// The fact.
pub(super) async fn ci(context: &Context<'_>) -> Result<Ci, Missing> {
    let pull = pr::pull(context).await?;
    let sha = pull.head_sha.as_str();
    let (runs, statuses) = in_order!(check_runs(context, sha), statuses(context, sha))?;
    let runs = newest(context, runs).await?;
    let web = pr::web(context, &pull);
    let page = format!("{web}/commit/{sha}/checks");
    let at = |url: Option<String>| Origin {
        commit: Some(sha.to_owned()),
        ..Origin::new(OriginKind::CheckRun).at_url(url.unwrap_or_else(|| page.clone()))
    };
    let all = runs
        .into_iter()
        .map(|run| {
            let state = state_of(&run);
            let app = run.app.map(|app| app.slug).unwrap_or_default();
            check(context, CiKind::CheckRun, run.name, app, state, at(run.html_url))
        })
        .chain(statuses.into_iter().map(|status| {
            let url = status.target_url.filter(|url| !url.is_empty());
            check(context, CiKind::Status, status.context, String::new(), status.state, at(url))
        }));
    let (ignored, mut checks): (Vec<CiCheck>, Vec<CiCheck>) =
        all.partition(|check| context.profile.ci.is_ignored(&check.name));
    checks.sort_by(|a, b| {
        let key = |check: &CiCheck| (check.kind, check.origin.url.clone());
        (&a.name, &a.app, key(a)).cmp(&(&b.name, &b.app, key(b)))
    });
    let ignored: BTreeSet<String> = ignored.into_iter().map(|check| check.name).collect();
    Ok(Ci {
        commit: sha.to_owned(),
        ran: checks.iter().filter(|check| check.state != "skipped").count() as i64,
        absent: context.profile.ci.absent(checks.iter().map(|check| check.name.as_str())),
        checks,
        ignored: ignored.into_iter().collect(),
        origin: at(None),
    })
}

/// All check runs on a commit but those of our name.
async fn check_runs(context: &Context<'_>, sha: &str) -> Result<Vec<CheckRun>, Missing> {
    let runs = context.reader.check_runs(context.repo, sha).await.map_err(missing)?;
    let runs = runs.ok_or_else(|| sweep::unseen(&format!("the check runs of {sha}")))?;
    let ours = &context.profile.settings.check_run;
    Ok(runs.into_iter().filter(|run| !ours.is_ours(&run.name)).collect())
}

/// The newest commit status of each context but ours.
async fn statuses(context: &Context<'_>, sha: &str) -> Result<Vec<Status>, Missing> {
    let statuses = context.reader.statuses(context.repo, sha).await.map_err(missing)?;
    let statuses =
        statuses.ok_or_else(|| sweep::unseen(&format!("the commit statuses of {sha}")))?;
    let ours = &context.profile.settings.check_run;
    // GitHub gives one of each; the newest, should it ever list more while they change.
    let mut newest: BTreeMap<String, Status> = BTreeMap::new();
    for status in statuses.into_iter().filter(|status| !ours.is_ours(&status.context)) {
        if newest.get(&status.context).is_none_or(|kept| kept.id < status.id) {
            newest.insert(status.context.clone(), status);
        }
    }
    Ok(newest.into_values().collect())
}

fn check(
    context: &Context<'_>,
    kind: CiKind,
    name: String,
    app: String,
    state: String,
    origin: Origin,
) -> CiCheck {
    let finished = state != "pending";
    CiCheck {
        ok: finished && context.profile.settings.ci.passing.contains(&state),
        required: context.profile.ci.is_required(&name),
        finished,
        name,
        app,
        kind,
        state,
        origin,
    }
}

/// How a check run ended; `pending` until it has.
fn state_of(run: &CheckRun) -> String {
    match (run.status.as_str(), &run.conclusion) {
        ("completed", Some(conclusion)) => conclusion.clone(),
        ("completed", None) => "unknown".to_owned(),
        _ => "pending".to_owned(),
    }
}

/// Where in a workflow a check run was executed.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Execution {
    /// The workflow's file; empty where no workflow made it.
    workflow: String,
    run: i64,
    attempt: i64,
}

/// Each check by its newest execution.
async fn newest(context: &Context<'_>, runs: Vec<CheckRun>) -> Result<Vec<CheckRun>, Missing> {
    let mut named: BTreeMap<(i64, String), Vec<CheckRun>> = BTreeMap::new();
    for run in runs {
        let app = run.app.as_ref().map_or(0, |app| app.id);
        named.entry((app, run.name.clone())).or_default().push(run);
    }
    // Only where namesakes disagree does it matter which of them replaces which.
    let unclear = named.values().filter(|runs| {
        let states: BTreeSet<String> = runs.iter().map(state_of).collect();
        states.len() > 1
    });
    let ids: BTreeSet<i64> = unclear.flatten().filter_map(workflow_run).collect();
    let places = all_in_order(ids.into_iter().map(|id| executions(context, id))).await?;
    let places: BTreeMap<i64, Execution> = places.into_iter().flatten().collect();
    Ok(named.into_values().flat_map(|runs| newest_of(runs, &places)).collect())
}

fn workflow_run(run: &CheckRun) -> Option<i64> {
    sweep::run_id(run.details_url.as_deref()?)
}

/// The check runs of a workflow's run, by id. A run that is gone leaves no places, and its checks
/// count by their ids.
async fn executions(context: &Context<'_>, id: i64) -> Result<Vec<(i64, Execution)>, Missing> {
    let Some(run) = context.reader.run(context.repo, id).await.map_err(missing)? else {
        return Ok(Vec::new());
    };
    let jobs = context.reader.jobs(context.repo, &run).await.map_err(missing)?;
    let place = |attempt| Execution { workflow: run.path.clone(), run: id, attempt };
    let jobs = jobs.unwrap_or_default().into_iter();
    Ok(jobs.map(|job| (job.id, place(job.attempt))).collect())
}

/// Of namesakes by one app the newest in each workflow: executed before skipped, then the newest run
/// and attempt, then the one that did not succeed, then the newest.
fn newest_of(runs: Vec<CheckRun>, places: &BTreeMap<i64, Execution>) -> Vec<CheckRun> {
    let mut newest: BTreeMap<String, CheckRun> = BTreeMap::new();
    let place = |run: &CheckRun| places.get(&run.id).cloned().unwrap_or_default();
    let rank = |run: &CheckRun| {
        let state = state_of(run);
        // Two of one attempt are two checks; of others, the later one replaces the earlier.
        let stands = places.contains_key(&run.id) && state != "success";
        (state != "skipped", place(run), stands, run.id)
    };
    for run in runs {
        let workflow = place(&run).workflow;
        if newest.get(&workflow).is_none_or(|kept| rank(kept) < rank(&run)) {
            newest.insert(workflow, run);
        }
    }
    newest.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_run(id: i64, conclusion: &str) -> CheckRun {
        CheckRun {
            id,
            name: "build".to_owned(),
            head_sha: String::new(),
            status: if conclusion == "pending" { "queued" } else { "completed" }.to_owned(),
            conclusion: (conclusion != "pending").then(|| conclusion.to_owned()),
            started_at: None,
            completed_at: None,
            html_url: None,
            details_url: None,
            external_id: None,
            app: None,
        }
    }

    /// A workflow's file, its run and the attempt.
    type Where = (&'static str, i64, i64);

    /// What counts of namesakes: id, conclusion, and where a workflow executed it.
    fn counted(runs: &[(i64, &str, Option<Where>)]) -> Vec<i64> {
        let places = runs.iter().filter_map(|(id, _, place)| {
            let (workflow, run, attempt) = (*place)?;
            Some((*id, Execution { workflow: workflow.to_owned(), run, attempt }))
        });
        let places = places.collect();
        let counts = |turn: usize| -> Vec<i64> {
            let mut turned = runs.to_vec();
            turned.rotate_left(turn);
            let turned = turned.iter().map(|(id, conclusion, _)| check_run(*id, conclusion));
            newest_of(turned.collect(), &places).iter().map(|run| run.id).collect()
        };
        for turn in 1..runs.len() {
            assert_eq!(counts(turn), counts(0), "the order in which GitHub lists them");
        }
        counts(0)
    }

    #[test]
    fn a_later_execution_replaces_an_earlier_one() {
        assert_eq!(counted(&[(1, "failure", None), (2, "success", None)]), [2]);
        assert_eq!(counted(&[(1, "success", None), (2, "pending", None)]), [2]);
        let again = [("ci.yml", 7, 1), ("ci.yml", 7, 2)];
        assert_eq!(counted(&[(1, "failure", Some(again[0])), (2, "success", Some(again[1]))]), [2]);
    }

    #[test]
    fn what_was_skipped_replaces_nothing_that_ran() {
        assert_eq!(counted(&[(1, "failure", None), (2, "skipped", None)]), [1]);
        let later = (2, "skipped", Some(("ci.yml", 8, 1)));
        assert_eq!(counted(&[(1, "failure", Some(("ci.yml", 7, 1))), later]), [1]);
    }

    #[test]
    fn no_failure_hides_behind_its_namesake() {
        let other = [("a.yml", 7, 1), ("b.yml", 8, 1)];
        assert_eq!(
            counted(&[(1, "failure", Some(other[0])), (2, "success", Some(other[1]))]),
            [1, 2],
            "two workflows"
        );
        let twins = Some(("a.yml", 7, 1));
        assert_eq!(counted(&[(1, "failure", twins), (2, "success", twins)]), [1], "one workflow");
    }
}
