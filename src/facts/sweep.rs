//! Benchmark runs, reuse commands and administrators' exceptions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Origin;

/// The benchmark runs on the pull request's commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// Commits of the pull request that have runs of a sweep workflow, newest first.
    pub commits: Vec<SweepCommit>,
    /// The run that proves most: the best complete one, else the one nearest to it; `null` where
    /// no run counts at all.
    pub chosen: Option<Chosen>,
    /// Runs that somebody named (the sign-off, a reuse command) and that do not count, with why.
    pub unused: Vec<UnusedRun>,
    /// Whether what has to run was derived from the affected configurations; where it could not be, it is
    /// or nothing is planned, it is read off the job names, and this is false.
    pub from_plan: bool,
    /// What has to run at the assessed commit: measurements, then evaluations; empty where nothing is
    /// affected, or without a plan.
    pub planned: Vec<PlannedJob>,
}

/// One job that has to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedJob {
    /// Its point, or the points that it runs one after the other.
    pub subject: String,
    /// The key of its entry.
    pub config: String,
    /// `throughput` or `eval`.
    pub kind: String,
    /// The start of its job's name, e.g. `agentic eval /`.
    pub family: String,
    /// In the chosen run: `success`, another conclusion, `pending`, `absent`, or `changed` where the run
    /// measured something else by that name.
    pub state: String,
    /// The row in the master configuration.
    pub origin: Origin,
}

/// One commit with runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SweepCommit {
    /// 40 hex digits.
    pub sha: String,
    /// Its runs of a sweep workflow, newest first.
    pub runs: Vec<SweepRun>,
}

/// One run, in its latest state: each job name by its latest execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SweepRun {
    /// The run's id.
    pub id: i64,
    /// Its latest attempt.
    pub attempt: i64,
    /// Path of its workflow file.
    pub workflow: String,
    /// The event that started it.
    pub event: String,
    /// `completed` or what it is doing.
    pub status: String,
    /// Its conclusion; empty while it has none.
    pub conclusion: String,
    /// Job families that executed or were skipped, by the profile's order.
    pub families: Vec<FamilyCount>,
    /// Its jobs of a benchmark or evaluation family, by name.
    pub jobs: Vec<Job>,
    /// The run's page.
    pub origin: Origin,
}

/// The jobs of one family, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FamilyCount {
    /// The prefix of the profile, e.g. `agentic eval /`.
    pub family: String,
    /// `throughput` or `eval`.
    pub kind: String,
    /// Jobs that executed and succeeded.
    pub succeeded: i64,
    /// Jobs that executed and did not succeed, or are still running.
    pub failed: i64,
    /// Jobs that never executed.
    pub skipped: i64,
}

/// One job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// The whole name, as the check run has it.
    pub name: String,
    /// Its family.
    pub family: String,
    /// `throughput` or `eval`.
    pub kind: String,
    /// `success`, `failure`, `cancelled`, `timed_out`, `skipped`, … or `pending`.
    pub conclusion: String,
    /// Whether it executed at all (`skipped` has not).
    pub executed: bool,
    /// The attempt of its latest execution.
    pub attempt: i64,
    /// The job's page.
    pub origin: Origin,
}

/// The run that proves most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Chosen {
    /// The run's id.
    pub run_id: i64,
    /// Its latest attempt.
    pub attempt: i64,
    /// The commit that it ran on.
    pub sha: String,
    /// Whether everything planned succeeded and no executed job failed; without a plan whether both kinds
    /// executed.
    pub complete: bool,
    /// Whether it is finished.
    pub finished: bool,
    /// Executed successes in throughput families.
    pub throughput: i64,
    /// Executed successes in evaluation families.
    pub evals: i64,
    /// Executed successes over all families.
    pub succeeded: i64,
    /// Executed jobs over all families.
    pub executed: i64,
    /// Jobs of executed families that did not succeed, by name.
    pub missing: Vec<Job>,
    /// Planned jobs that it did not run.
    pub absent: Vec<PlannedJob>,
    /// Planned jobs whose configuration is another one since.
    pub changed_since: Vec<PlannedJob>,
    /// Recipes and scripts of planned jobs that have been edited since, sorted.
    pub edited_since: Vec<String>,
    /// Jobs that have to run: those of the plan, without one those that executed.
    pub wanted: i64,
    /// Those of them that succeeded.
    pub have: i64,
    /// Measurements that have to run; 1 without a plan.
    pub wanted_throughput: i64,
    /// Evaluations that have to run; 1 without a plan.
    pub wanted_evals: i64,
    /// Files that produce this run's evidence and that the pull request changes, at the assessed
    /// commit or at that of the run; where there are any it proves nothing by itself.
    pub self_produced: Vec<String>,
    /// The run's page.
    pub origin: Origin,
}

/// A run that somebody named and that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnusedRun {
    /// The id as it was written.
    pub run_id: i64,
    /// Why it does not count.
    pub why: String,
    /// A run of the pull request that was probably meant.
    pub suggestion: Option<i64>,
    /// Where it was named.
    pub origin: Origin,
}

/// Commands that pin a run for reuse.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reuse {
    /// Every command line found, oldest first.
    pub commands: Vec<ReuseCommand>,
    /// The one that counts: the newest authorised one.
    pub winner: Option<ReuseCommand>,
}

/// One command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReuseCommand {
    /// Who wrote it.
    pub author: String,
    /// GitHub's `author_association`.
    pub association: String,
    /// Whether that association is one of the profile's.
    pub authorised: bool,
    /// The run that it pins; `null` for the automatic form.
    pub run_id: Option<i64>,
    /// The line as written, at most [`crate::limits::QUOTE_CHARS`] characters.
    pub text: String,
    /// Whether it stands in a code block (it counts all the same).
    pub in_code: bool,
    /// When the comment was posted, RFC 3339.
    pub created: String,
    /// The comment.
    pub origin: Origin,
}

/// One `override` command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverrideCommand {
    /// The check that it names.
    pub check: String,
    /// The commit that it names, as written.
    pub sha: String,
    /// Who wrote it.
    pub author: String,
    /// Whether permission and role are both `admin`.
    pub is_admin: bool,
    /// The reason given.
    pub reason: String,
    /// Whether it counts for the assessed commit.
    pub valid: bool,
    /// Why it does not, where it does not.
    pub why_not: Option<String>,
    /// When the comment was posted, RFC 3339.
    pub created: String,
    /// The comment.
    pub origin: Origin,
}
