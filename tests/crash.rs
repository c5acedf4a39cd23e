//! Kills, lost answers and repeated deliveries: one verdict each time, whatever breaks off where.
//!
//! The server is the real program in a process of its own, killed with SIGKILL while the stand-in
//! holds one of its requests, and started again on the same SQLite file. Like GitHub, the stand-in
//! carries out what it has received although its sender is dead. Every test asserts every write.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{APP_SLUG, ServerProcess, StandIn, World};

const CASE: &str = "gb200-sglang-agentx-refresh";
const SIGN_OFF: u64 = 4_377_201_550;
const MARKER: &str = "<!-- countersign signoff=issue_comment/4377201550 -->";

const BEGIN: &str = "POST /repos/*/check-runs";
const FINISH: &str = "PATCH /repos/*/check-runs/*";
const POST: &str = "POST /repos/*/issues/*/comments";
const UPDATE: &str = "PATCH /repos/*/issues/comments/*";

/// What one sign-off leads to when nothing goes wrong.
const ONE_VERDICT: [&str; 3] = ["run 1 begun", "run 1 finished: success", "verdict posted"];

/// A stand-in, and the folder of a server that comes and goes.
struct Scene {
    stand_in: StandIn,
    folder: TempDir,
}

impl Scene {
    async fn set() -> Self {
        Self { stand_in: StandIn::serving(CASE).await, folder: tempfile::tempdir().unwrap() }
    }

    /// A server on the folder's database.
    async fn serve(&self) -> ServerProcess {
        let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
        ServerProcess::start(program, &["serve"], &self.stand_in, self.folder.path()).await
    }

    /// Delivers and gives how it was received; anything but a 202 is a failure.
    async fn deliver(&self, asked: Value) -> String {
        let received = self.stand_in.deliver(&asked).await;
        assert_eq!(received["status"], 202, "{received}");
        received["body"].as_str().unwrap().trim_end().to_owned()
    }

    async fn sign(&self) {
        let asked = json!({ "event": "issue_comment", "action": "created", "comment": SIGN_OFF });
        assert_eq!(self.deliver(asked).await, "queued");
    }

    /// Edits the sign-off and tells the server.
    async fn edit(&self, from: &str, to: &str) {
        let before = self.stand_in.world().comments[&SIGN_OFF].body.clone();
        assert!(before.contains(from), "{from:?} is not in the sign-off");
        self.stand_in.edit(SIGN_OFF, &before.replacen(from, to, 1), "nv-marie");
        let asked = json!({ "event": "issue_comment", "action": "edited", "comment": SIGN_OFF });
        assert_eq!(self.deliver(asked).await, "queued");
    }

    /// Waits for the writes so far to be these, and says what else was written where they are not.
    async fn until_written(&self, expected: &[&str]) {
        let enough = |world: &World| world.writes.len() >= expected.len();
        self.stand_in.until(&format!("{expected:?}"), enough).await;
        self.written(expected);
    }

    fn written(&self, expected: &[&str]) {
        assert_eq!(told(&self.stand_in.world()), expected);
        let writes = self.stand_in.writes();
        let mut finished = Vec::new();
        for write in writes.iter().filter(|write| write.path.contains("/check-runs/")) {
            assert!(!finished.contains(&&write.path), "a finished run was patched: {write:?}");
            if write.body["status"] == "completed" {
                finished.push(&write.path);
            }
        }
    }

    /// The one verdict comment says so, and the runs of this commit ended so, by number.
    fn stands(&self, header: &str, runs: &[(&str, &str)]) {
        let head = self.stand_in.sha("head");
        let world = self.stand_in.world();
        let ours = world.comments.values().filter(|c| c.app.as_deref() == Some(APP_SLUG));
        let verdicts: Vec<&str> =
            ours.map(|comment| comment.body.as_str()).filter(|b| b.starts_with(MARKER)).collect();
        assert_eq!(verdicts.len(), 1, "{verdicts:#?}");
        assert!(verdicts[0].starts_with(&format!("{MARKER}\n{header}\n")), "{}", verdicts[0]);
        assert!(verdicts[0].contains(&format!("Assessed commit: `{head}`.")), "{}", verdicts[0]);
        let found: Vec<(&str, &str)> = world
            .check_runs
            .values()
            .map(|run| {
                assert_eq!(run.head_sha, world.commit("head").unwrap());
                let text = |field: &str| run.fields[field].as_str().unwrap_or("none");
                let number = text("external_id").rsplit_once(&format!("/9264/{head}/"));
                let (id, number) = number.unwrap_or_else(|| panic!("{}", text("external_id")));
                let id = id.strip_prefix("v1/").and_then(|id| id.parse::<u64>().ok());
                assert!(id.is_some(), "{}", text("external_id"));
                (number, text("conclusion"))
            })
            .collect();
        assert_eq!(found, runs);
    }
}

/// One line a write, in the words of the conversation.
fn told(world: &World) -> Vec<String> {
    let number = |external_id: &Value| {
        let id = external_id.as_str().unwrap_or_default();
        id.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let number_of = |path: &str| {
        let id = path.rsplit('/').next().and_then(|id| id.parse().ok());
        number(&world.check_runs[&id.unwrap()].fields["external_id"])
    };
    let lines = world.writes.iter().map(|write| {
        let text = write.body["body"].as_str().unwrap_or_default();
        let line = match (write.method.as_str(), write.path.as_str()) {
            ("POST", path) if path.ends_with("/check-runs") => {
                format!("run {} begun", number(&write.body["external_id"]))
            }
            ("PATCH", path) if path.contains("/check-runs/") => {
                let conclusion = write.body["conclusion"].as_str().unwrap_or("nothing");
                format!("run {} finished: {conclusion}", number_of(path))
            }
            ("POST", _) if text.starts_with("<!-- countersign change=") => "change told".to_owned(),
            ("POST", _) if text.starts_with(MARKER) => "verdict posted".to_owned(),
            ("PATCH", _) if text.starts_with(MARKER) => "verdict updated".to_owned(),
            ("DELETE", _) => "comment removed".to_owned(),
            other => format!("{other:?}"),
        };
        match (write.status, write.replied) {
            (200..=204, None) => line,
            (200..=204, Some(status)) => format!("{line}, answered {status}"),
            (status, _) => format!("{line}, refused {status}"),
        }
    });
    lines.collect()
}

/// Killed while that request is held; it is carried out before the next start, or never.
async fn killed_at(pattern: &str, carried_out: bool) {
    let scene = Scene::set().await;
    let server = scene.serve().await;
    let hold = scene.stand_in.hold_next(pattern);
    scene.sign().await;
    hold.wait_until_held().await;
    server.kill();
    let before = scene.stand_in.writes().len();
    let _held = if carried_out {
        hold.release();
        scene.stand_in.until("the held write", |world| world.writes.len() > before).await;
        None
    } else {
        Some(hold)
    };

    let server = scene.serve().await;
    scene.stand_in.until("a verdict", |world| world.writes.len() >= ONE_VERDICT.len()).await;
    server.until_ended("retry", 1).await;
    scene.written(&ONE_VERDICT);
    scene.stands("## ✅✅✅ **APPROVED** ✅✅✅", &[("1", "success")]);
}

#[tokio::test]
async fn killed_before_the_check_run_was_made() {
    killed_at(BEGIN, false).await;
}

#[tokio::test]
async fn killed_after_the_check_run_was_made() {
    killed_at(BEGIN, true).await;
}

#[tokio::test]
async fn killed_before_the_check_run_was_finished() {
    killed_at(FINISH, false).await;
}

#[tokio::test]
async fn killed_after_the_check_run_was_finished() {
    killed_at(FINISH, true).await;
}

#[tokio::test]
async fn killed_before_the_comment_was_posted() {
    killed_at(POST, false).await;
}

#[tokio::test]
async fn killed_after_the_comment_was_posted() {
    killed_at(POST, true).await;
}

#[tokio::test]
async fn killed_before_anything_was_read() {
    let scene = Scene::set().await;
    let server = scene.serve().await;
    let hold = scene.stand_in.hold("GET /repos/*");
    scene.sign().await;
    hold.wait_until_held().await;
    server.kill();
    hold.release();
    scene.written(&[]);
    let server = scene.serve().await;
    server.until_ended("done", 1).await;
    scene.written(&ONE_VERDICT);
    scene.stands("## ✅✅✅ **APPROVED** ✅✅✅", &[("1", "success")]);
}

#[tokio::test]
async fn killed_between_check_run_and_comment() {
    let scene = Scene::set().await;
    let server = scene.serve().await;
    let finish = scene.stand_in.hold_next(FINISH);
    scene.sign().await;
    finish.wait_until_held().await;
    let look = scene.stand_in.hold_next("GET /repos/*/issues/*/comments");
    finish.release();
    look.wait_until_held().await;
    server.kill();
    scene.written(&ONE_VERDICT[..2]);
    let server = scene.serve().await;
    server.until_ended("retry", 1).await;
    scene.written(&ONE_VERDICT);
    scene.stands("## ✅✅✅ **APPROVED** ✅✅✅", &[("1", "success")]);
}

/// The held comment comes through when another stands already: one of the two goes, by itself.
#[tokio::test]
async fn a_comment_that_comes_through_late_does_not_stay_beside_its_repetition() {
    let scene = Scene::set().await;
    let server = scene.serve().await;
    let hold = scene.stand_in.hold_next(POST);
    scene.sign().await;
    hold.wait_until_held().await;
    server.kill();
    let server = scene.serve().await;
    server.until_ended("retry", 1).await;
    scene.written(&ONE_VERDICT);
    hold.release();
    let mut expected = ONE_VERDICT.to_vec();
    expected.extend(["verdict posted", "comment removed"]);
    scene.until_written(&expected).await;
    server.until_ended("done", 1).await;
    scene.written(&expected);
    scene.stands("## ✅✅✅ **APPROVED** ✅✅✅", &[("1", "success")]);
    server.until_idle().await;
}

/// GitHub removes no check run: the late one is finished like the first.
#[tokio::test]
async fn a_check_run_that_comes_through_late_is_not_left_open() {
    let scene = Scene::set().await;
    let server = scene.serve().await;
    let hold = scene.stand_in.hold_next(BEGIN);
    scene.sign().await;
    hold.wait_until_held().await;
    server.kill();
    let server = scene.serve().await;
    server.until_ended("retry", 1).await;
    scene.written(&ONE_VERDICT);
    hold.release();
    let mut expected = ONE_VERDICT.to_vec();
    expected.extend(["run 1 begun", "run 1 finished: success"]);
    scene.until_written(&expected).await;
    server.until_ended("done", 1).await;
    scene.written(&expected);
    scene.stands("## ✅✅✅ **APPROVED** ✅✅✅", &[("1", "success"), ("1", "success")]);
}

#[tokio::test]
async fn a_write_that_worked_though_its_answer_is_a_502_is_not_repeated() {
    let scene = Scene::set().await;
    let server = scene.serve().await;
    for pattern in [BEGIN, FINISH, POST] {
        scene.stand_in.lose_next_answer(pattern, 502);
    }
    scene.sign().await;
    server.until_ended("done", 1).await;
    let first = ["run 1 begun", "run 1 finished: success", "verdict posted"];
    let mut expected: Vec<String> = first.map(|line| format!("{line}, answered 502")).into();
    assert_eq!(told(&scene.stand_in.world()), expected);
    scene.stands("## ✅✅✅ **APPROVED** ✅✅✅", &[("1", "success")]);

    for pattern in [UPDATE, POST] {
        scene.stand_in.lose_next_answer(pattern, 502);
    }
    scene.edit(PASSES_EVALS, &unchecked(PASSES_EVALS)).await;
    server.until_ended("done", 2).await;
    expected.extend(
        [
            "run 2 begun",
            "run 2 finished: failure",
            "verdict updated, answered 502",
            "change told, answered 502",
        ]
        .map(str::to_owned),
    );
    assert_eq!(told(&scene.stand_in.world()), expected);
    scene.stands("## ❌❌❌ **REJECTED** ❌❌❌", &[("1", "success"), ("2", "failure")]);
}

#[tokio::test]
async fn a_delivery_that_comes_twice_is_one_verification() {
    let scene = Scene::set().await;
    let server = scene.serve().await;
    let asked = || json!({ "event": "issue_comment", "action": "created", "comment": SIGN_OFF, "guid": "one" });
    let (first, second) = tokio::join!(scene.deliver(asked()), scene.deliver(asked()));
    let mut answers = [first.as_str(), second.as_str()];
    answers.sort_unstable();
    assert_eq!(answers, ["already queued or done", "queued"]);
    server.until_ended("done", 1).await;
    scene.written(&ONE_VERDICT);

    assert_eq!(scene.deliver(asked()).await, "already queued or done");
    server.until_idle().await;
    server.kill();
    let server = scene.serve().await;
    assert_eq!(scene.deliver(asked()).await, "already queued or done");
    server.until_idle().await;
    scene.written(&ONE_VERDICT);
    scene.stands("## ✅✅✅ **APPROVED** ✅✅✅", &[("1", "success")]);
}

/// Acknowledged is on disk: GitHub sends it again after the crash, and it is one verification.
#[tokio::test]
async fn a_delivery_that_comes_again_while_its_job_is_taken_up_is_one_verification() {
    let scene = Scene::set().await;
    let server = scene.serve().await;
    let hold = scene.stand_in.hold_next(BEGIN);
    let asked = || json!({ "event": "issue_comment", "action": "created", "comment": SIGN_OFF, "guid": "one" });
    scene.deliver(asked()).await;
    hold.wait_until_held().await;
    server.kill();
    let again = scene.stand_in.hold_next(FINISH);
    let server = scene.serve().await;
    again.wait_until_held().await;
    assert_eq!(scene.deliver(asked()).await, "already queued or done");
    again.release();
    server.until_ended("retry", 1).await;
    scene.written(&ONE_VERDICT);
    scene.stands("## ✅✅✅ **APPROVED** ✅✅✅", &[("1", "success")]);
}

/// Two deliveries about one sign-off, the second while the first is assessed: a second run, and still
/// one comment.
#[tokio::test]
async fn what_is_asked_while_it_is_assessed_is_assessed_once_more() {
    let scene = Scene::set().await;
    let server = scene.serve().await;
    let hold = scene.stand_in.hold_next(FINISH);
    scene.sign().await;
    hold.wait_until_held().await;
    scene.sign().await;
    scene.sign().await;
    hold.release();
    server.until_ended("done", 2).await;
    server.until_idle().await;
    let mut expected = ONE_VERDICT.to_vec();
    expected.extend(["run 2 begun", "run 2 finished: success"]);
    scene.written(&expected);
    scene.stands("## ✅✅✅ **APPROVED** ✅✅✅", &[("1", "success"), ("2", "success")]);
}

const PASSES_EVALS: &str = "- [x] Verified that this PR passes evals";

fn unchecked(item: &str) -> String {
    item.replace("[x]", "[ ]")
}

#[tokio::test]
async fn an_edit_updates_the_comment_and_a_change_is_told_once() {
    let scene = Scene::set().await;
    let server = scene.serve().await;
    scene.sign().await;
    server.until_ended("done", 1).await;

    scene.edit(PASSES_EVALS, &unchecked(PASSES_EVALS)).await;
    server.until_ended("done", 2).await;
    let mut expected = ONE_VERDICT.to_vec();
    expected.extend(["run 2 begun", "run 2 finished: failure", "verdict updated", "change told"]);
    scene.written(&expected);
    scene.stands("## ❌❌❌ **REJECTED** ❌❌❌", &[("1", "success"), ("2", "failure")]);
    let told = scene.stand_in.writes().pop().unwrap().body["body"].as_str().unwrap().to_owned();
    assert!(told.contains("**APPROVED** → **REJECTED**"), "{told}");
    assert!(told.contains("Check 5 (Checklist): PASS → FAIL"), "{told}");

    // Another item more: rejected as before, so that the comment says more and nobody is called.
    let validation = "- [x] Verified that this PR has passed PR validation";
    scene.edit(validation, &unchecked(validation)).await;
    server.until_ended("done", 3).await;
    expected.extend(["run 3 begun", "run 3 finished: failure", "verdict updated"]);
    scene.written(&expected);
}

/// Killed between the comment and the word about the change: what it said before is still known.
#[tokio::test]
async fn a_change_is_told_once_across_a_crash() {
    for carried_out in [false, true] {
        let scene = Scene::set().await;
        let server = scene.serve().await;
        scene.sign().await;
        server.until_ended("done", 1).await;
        let hold = scene.stand_in.hold_next(POST);
        scene.edit(PASSES_EVALS, &unchecked(PASSES_EVALS)).await;
        hold.wait_until_held().await;
        server.kill();
        let _held = if carried_out {
            hold.release();
            scene.stand_in.until("the held write", |world| world.writes.len() == 7).await;
            None
        } else {
            Some(hold)
        };
        let server = scene.serve().await;
        server.until_ended("retry", 1).await;
        let mut expected = ONE_VERDICT.to_vec();
        let change = ["run 2 begun", "run 2 finished: failure", "verdict updated", "change told"];
        expected.extend(change);
        scene.written(&expected);
        scene.stands("## ❌❌❌ **REJECTED** ❌❌❌", &[("1", "success"), ("2", "failure")]);
    }
}

#[tokio::test]
async fn verify_again_makes_the_next_run_and_leaves_the_finished_one() {
    let scene = Scene::set().await;
    let server = scene.serve().await;
    scene.sign().await;
    server.until_ended("done", 1).await;
    for (action, identifier) in
        [("requested_action", json!("verify_again")), ("rerequested", Value::Null)]
    {
        let asked = json!({
            "event": "check_run", "action": action, "identifier": identifier, "sender": "nv-marie",
        });
        assert_eq!(scene.deliver(asked).await, "queued");
        let count = if action == "rerequested" { 3 } else { 2 };
        server.until_ended("done", count).await;
    }
    let mut expected = ONE_VERDICT.to_vec();
    expected.extend([
        "run 2 begun",
        "run 2 finished: success",
        "run 3 begun",
        "run 3 finished: success",
    ]);
    scene.written(&expected);
    let runs = [("1", "success"), ("2", "success"), ("3", "success")];
    scene.stands("## ✅✅✅ **APPROVED** ✅✅✅", &runs);
}
