//! Workflow runs, their jobs, logs and artifacts.

use serde_json::{Value, json};

use super::super::answer::{Answer, Outcome, Request};
use super::super::artifacts::Artifact;
use super::super::history::{rfc3339, seconds};
use super::super::spec::{JobSpec, RunSpec};
use super::super::storage;
use super::super::world::World;
use super::{number, shapes};

/// How long artifacts live.
const RETENTION: i64 = 90 * 86_400;

/// One execution of a job.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    pub id: u64,
    pub attempt: u64,
    pub run: &'a RunSpec,
    pub spec: &'a JobSpec,
}

/// `GET …/actions/…`.
pub fn route(world: &World, request: &Request, path: &[&str]) -> Outcome {
    match path {
        ["runs"] => runs(world, request, None),
        ["workflows", workflow, "runs"] => runs(world, request, Some(workflow)),
        ["runs", id] => Answer::ok(&run_value(world, run(world, id)?, None)),
        ["runs", id, "attempts", attempt] => {
            let run = run(world, id)?;
            Answer::ok(&run_value(world, run, Some(attempt_of(run, attempt)?)))
        }
        ["runs", id, "jobs"] => {
            let run = run(world, id)?;
            let mut jobs = jobs_of(world, run);
            if request.parameter("filter").as_deref() != Some("all") {
                jobs = latest(jobs, run.attempt);
            }
            Answer::counted(request, "jobs", &jobs, |job| job_value(world, job))
        }
        ["runs", id, "attempts", attempt, "jobs"] => {
            let run = run(world, id)?;
            let jobs = latest(jobs_of(world, run), attempt_of(run, attempt)?);
            Answer::counted(request, "jobs", &jobs, |job| job_value(world, job))
        }
        ["jobs", id] => Answer::ok(&job_value(world, &job(world, id)?)),
        ["jobs", id, "logs"] => {
            let job = job(world, id)?;
            let log = job.spec.log.as_deref().ok_or_else(Answer::not_found)?;
            Ok(Answer::redirect(&storage::link(world, &format!("logs/{}/{log}", job.id))))
        }
        ["runs", id, "artifacts"] => {
            let id = run(world, id)?.id;
            let name = request.parameter("name");
            let found: Vec<&Artifact> = world
                .artifacts
                .values()
                .filter(|artifact| artifact.run == id)
                .filter(|artifact| name.as_ref().is_none_or(|name| *name == artifact.name))
                .collect();
            Answer::counted(request, "artifacts", &found, |a| artifact_value(world, a))
        }
        ["artifacts"] => {
            let name = request.parameter("name");
            let found: Vec<&Artifact> = world
                .artifacts
                .values()
                .filter(|artifact| name.as_ref().is_none_or(|name| *name == artifact.name))
                .collect();
            Answer::counted(request, "artifacts", &found, |a| artifact_value(world, a))
        }
        ["artifacts", id] => Answer::ok(&artifact_value(world, artifact(world, id)?)),
        ["artifacts", id, "zip"] => {
            let artifact = artifact(world, id)?;
            if artifact.expired {
                return Err(Answer::message(410, "Artifact has expired"));
            }
            Ok(Answer::redirect(&storage::link(world, &format!("artifacts/{}.zip", artifact.id))))
        }
        _ => Err(Answer::not_found()),
    }
}

fn run<'a>(world: &'a World, id: &str) -> Result<&'a RunSpec, Answer> {
    let id = number(id)?;
    world.case.spec.runs.iter().find(|run| run.id == id).ok_or_else(Answer::not_found)
}

fn attempt_of(run: &RunSpec, text: &str) -> Result<u64, Answer> {
    let attempt = number(text)?;
    if (1..=run.attempt).contains(&attempt) { Ok(attempt) } else { Err(Answer::not_found()) }
}

fn artifact<'a>(world: &'a World, id: &str) -> Result<&'a Artifact, Answer> {
    world.artifacts.get(&number(id)?).ok_or_else(Answer::not_found)
}

/// Every execution of every job of a run. Where a case names no ids, later attempts have higher ones,
/// as on GitHub.
pub fn jobs_of<'a>(world: &World, run: &'a RunSpec) -> Vec<Job<'a>> {
    let place =
        world.case.spec.runs.iter().position(|known| known.id == run.id).unwrap_or_default();
    let mut jobs: Vec<Job<'a>> = Vec::new();
    for (index, spec) in (1..).zip(&run.jobs) {
        let attempt = spec.attempt.unwrap_or(run.attempt);
        let made = 40_000_000_000 + place as u64 * 10_000_000 + attempt * 100_000 + index;
        jobs.push(Job { id: spec.id.unwrap_or(made), attempt, run, spec });
    }
    jobs
}

/// The latest execution of each name up to an attempt: a re-run of the failed jobs keeps the
/// others as they were.
pub fn latest(jobs: Vec<Job<'_>>, attempt: u64) -> Vec<Job<'_>> {
    let mut kept: Vec<Job<'_>> = Vec::new();
    for job in jobs.into_iter().filter(|job| job.attempt <= attempt) {
        match kept.iter_mut().find(|kept| kept.spec.name == job.spec.name) {
            Some(known) if known.attempt < job.attempt => *known = job,
            // Two executions of one name in one attempt are two jobs (a matrix may repeat a name).
            Some(known) if known.attempt == job.attempt => kept.push(job),
            Some(_) => {}
            None => kept.push(job),
        }
    }
    kept
}

/// A job by its id.
pub fn job<'a>(world: &'a World, id: &str) -> Result<Job<'a>, Answer> {
    let id = number(id)?;
    let mut jobs = world.case.spec.runs.iter().flat_map(|run| jobs_of(world, run));
    jobs.find(|job| job.id == id).ok_or_else(Answer::not_found)
}

fn runs(world: &World, request: &Request, workflow: Option<&str>) -> Outcome {
    let wanted = |name: &str, value: &str| {
        request.parameter(name).is_none_or(|wanted| wanted.eq_ignore_ascii_case(value))
    };
    let mut found: Vec<&RunSpec> = world
        .case
        .spec
        .runs
        .iter()
        .filter(|run| {
            let sha = world.commit(&run.head).unwrap_or_default();
            let conclusion = conclusion(world, run).unwrap_or_default();
            workflow.is_none_or(|name| {
                path_of(run).ends_with(name) || name == shapes::id_of(&path_of(run)).to_string()
            }) && request
                .parameter("head_sha")
                .is_none_or(|asked| world.history.real(&asked).as_ref() == Some(&sha))
                && wanted("event", &run.event)
                && (wanted("status", &run.status) || wanted("status", &conclusion))
                && request.parameter("actor").is_none_or(|actor| run.actor.as_ref() == Some(&actor))
        })
        .collect();
    found.sort_by_key(|run| (std::cmp::Reverse(created(world, run)), std::cmp::Reverse(run.id)));
    Answer::counted(request, "workflow_runs", &found, |run| run_value(world, run, None))
}

fn path_of(run: &RunSpec) -> String {
    run.path.clone().unwrap_or_else(|| format!(".github/workflows/{}", run.workflow))
}

/// The stated conclusion of a finished run; one that says nothing follows from its jobs.
fn conclusion(world: &World, run: &RunSpec) -> Option<String> {
    if run.status != "completed" {
        return None;
    }
    run.conclusion.clone().or_else(|| Some(of_jobs(&latest(jobs_of(world, run), run.attempt))))
}

fn of_jobs(jobs: &[Job<'_>]) -> String {
    let any = |word: &str| jobs.iter().any(|job| job.spec.conclusion.as_deref() == Some(word));
    let words = ["failure", "timed_out", "cancelled"];
    words.into_iter().find(|word| any(word)).unwrap_or("success").to_owned()
}

fn created(world: &World, run: &RunSpec) -> String {
    run.created_at
        .clone()
        .unwrap_or_else(|| rfc3339(seconds(&world.case.spec.now).unwrap_or_default() - 6 * 3_600))
}

fn updated(world: &World, run: &RunSpec) -> String {
    run.updated_at
        .clone()
        .unwrap_or_else(|| rfc3339(seconds(&created(world, run)).unwrap_or_default() + 2 * 3_600))
}

/// A run, as its latest or an earlier attempt.
pub fn run_value(world: &World, run: &RunSpec, attempt: Option<u64>) -> Value {
    let attempt = attempt.unwrap_or(run.attempt);
    let repo = world.own();
    let id = run.id;
    let actions = format!("{}/repos/{}/actions", world.url, repo.name);
    let url = format!("{actions}/runs/{id}");
    let html = format!("https://github.com/{}/actions/runs/{id}", repo.name);
    let sha = world.commit(&run.head).unwrap_or_default();
    let head = world.history.spoken(&sha);
    let earlier = attempt < run.attempt;
    let conclusion = if earlier {
        let jobs = jobs_of(world, run);
        let ran: Vec<Job<'_>> = jobs.into_iter().filter(|job| job.attempt == attempt).collect();
        Some(if ran.is_empty() { "failure".to_owned() } else { of_jobs(&ran) })
    } else {
        conclusion(world, run)
    };
    let actor = run.actor.as_deref().unwrap_or(&world.case.spec.pull_request.author);
    let head_repo =
        run.repository.as_ref().or(world.case.spec.pull_request.head_repository.as_ref());
    let head_repository = match head_repo.and_then(|name| world.repos.get(&name.to_lowercase())) {
        Some(fork) => shapes::repository(world, fork),
        None => match head_repo {
            Some(name) => json!({ "id": shapes::id_of(name), "full_name": name, "fork": true }),
            None => shapes::repository(world, repo),
        },
    };
    let path = path_of(run);
    let title = &world.case.spec.pull_request.title;
    let head_commit = repo.git.read_commit(&sha).map(|commit| {
        json!({
            "id": head,
            "tree_id": commit.tree,
            "message": commit.message,
            "timestamp": rfc3339(commit.committer.date),
            "author": { "name": commit.author.name, "email": commit.author.email },
            "committer": { "name": commit.committer.name, "email": commit.committer.email },
        })
    });
    json!({
        "id": id,
        "name": run.name.as_deref().unwrap_or("Run Sweep"),
        "node_id": format!("WFR_{id}"),
        "head_branch": world.pull().head_ref,
        "head_sha": head,
        "path": path,
        "display_title": format!("{} - {title}", run.name.as_deref().unwrap_or("Run Sweep")),
        "run_number": id % 100_000,
        "event": run.event,
        "status": if earlier { "completed" } else { run.status.as_str() },
        "conclusion": conclusion,
        "workflow_id": shapes::id_of(&path),
        "check_suite_id": suite(run),
        "check_suite_node_id": format!("CS_{}", suite(run)),
        "url": url,
        "html_url": html,
        "pull_requests": [],
        "created_at": created(world, run),
        "updated_at": updated(world, run),
        "run_attempt": attempt,
        "run_started_at": created(world, run),
        "actor": shapes::user(world, actor),
        "triggering_actor": shapes::user(world, actor),
        "referenced_workflows": [],
        "jobs_url": format!("{url}/jobs"),
        "logs_url": format!("{url}/logs"),
        "check_suite_url": format!("{}/repos/{}/check-suites/{}", world.url, repo.name, suite(run)),
        "artifacts_url": format!("{url}/artifacts"),
        "cancel_url": format!("{url}/cancel"),
        "rerun_url": format!("{url}/rerun"),
        "previous_attempt_url":
            if attempt > 1 { Some(format!("{url}/attempts/{}", attempt - 1)) } else { None },
        "workflow_url": format!("{actions}/workflows/{}", shapes::id_of(&path)),
        "head_commit": head_commit,
        "repository": shapes::repository(world, repo),
        "head_repository": head_repository,
    })
}

/// The check suite of a run.
pub fn suite(run: &RunSpec) -> u64 {
    run.id.wrapping_mul(7) % 9_000_000_000_000
}

/// `queued`, `in_progress` or `completed`.
pub fn status_of(job: &Job<'_>) -> &'static str {
    match (job.spec.status.as_deref(), &job.spec.conclusion) {
        (Some("queued"), _) => "queued",
        (Some("waiting"), _) => "waiting",
        (Some("completed"), _) | (None, Some(_)) => "completed",
        _ => "in_progress",
    }
}

/// When a job started and, where it has, ended. A run's attempts share its time evenly where a case
/// says nothing else.
pub fn times(world: &World, job: &Job<'_>) -> (String, Option<String>) {
    let from = seconds(&created(world, job.run)).unwrap_or_default();
    let to = seconds(&updated(world, job.run)).unwrap_or(from).max(from);
    let share = i64::try_from(job.run.attempt.max(1)).unwrap_or(1);
    let before = i64::try_from(job.attempt.max(1)).unwrap_or(1) - 1;
    let edge = |attempts: i64| rfc3339(from + (to - from) * attempts / share);
    let started = job.spec.started_at.clone().unwrap_or_else(|| edge(before));
    let ended = (status_of(job) == "completed")
        .then(|| job.spec.completed_at.clone().unwrap_or_else(|| edge(before + 1)));
    (started, ended)
}

fn job_value(world: &World, job: &Job<'_>) -> Value {
    let repo = &world.case.spec.repository;
    let api = format!("{}/repos/{repo}", world.url);
    let (started, ended) = times(world, job);
    let sha = world.commit(&job.run.head).unwrap_or_default();
    json!({
        "id": job.id,
        "run_id": job.run.id,
        "run_url": format!("{api}/actions/runs/{}", job.run.id),
        "run_attempt": job.attempt,
        "node_id": format!("CR_{}", job.id),
        "head_sha": world.history.spoken(&sha),
        "head_branch": world.pull().head_ref,
        "url": format!("{api}/actions/jobs/{}", job.id),
        "html_url": format!("https://github.com/{repo}/actions/runs/{}/job/{}", job.run.id, job.id),
        "status": status_of(job),
        "conclusion": job.spec.conclusion,
        "created_at": started,
        "started_at": started,
        "completed_at": ended,
        "name": job.spec.name,
        "steps": [],
        "check_run_url": format!("{api}/check-runs/{}", job.id),
        "labels": ["self-hosted"],
        "runner_id": null,
        "runner_name": null,
        "runner_group_id": null,
        "runner_group_name": null,
        "workflow_name": job.run.name.as_deref().unwrap_or("Run Sweep"),
    })
}

fn artifact_value(world: &World, artifact: &Artifact) -> Value {
    let repo = world.own();
    let api = format!("{}/repos/{}", world.url, repo.name);
    let run = world.case.spec.runs.iter().find(|run| run.id == artifact.run);
    let created_at = artifact
        .created_at
        .clone()
        .or_else(|| run.map(|run| updated(world, run)))
        .unwrap_or_else(|| world.case.spec.now.clone());
    let expires = seconds(&created_at).unwrap_or_default() + RETENTION;
    let sha = run.and_then(|run| world.commit(&run.head)).unwrap_or_default();
    let bytes = if artifact.expired {
        &[]
    } else {
        artifact.zip(&world.case, &world.history).unwrap_or_default()
    };
    json!({
        "id": artifact.id,
        "node_id": format!("AR_{}", artifact.id),
        "name": artifact.name,
        "size_in_bytes": bytes.len(),
        "url": format!("{api}/actions/artifacts/{}", artifact.id),
        "archive_download_url": format!("{api}/actions/artifacts/{}/zip", artifact.id),
        "expired": artifact.expired,
        "created_at": created_at,
        "updated_at": created_at,
        "expires_at": rfc3339(expires),
        "digest": format!("sha256:{}", storage::sha256(bytes)),
        "workflow_run": {
            "id": artifact.run,
            "repository_id": shapes::id_of(&repo.name),
            "head_repository_id": shapes::id_of(&world.pull().head_repo),
            "head_branch": world.pull().head_ref,
            "head_sha": world.history.spoken(&sha),
        },
    })
}
