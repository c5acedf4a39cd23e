//! `verify` against the stand-in: what an approval must not be had by.

use std::process::Command;

use serde_json::Value;

use crate::support::{Case, CommentSpec, CommitSpec, Options, Person, StandIn};

/// The verdict on the newest sign-off of a case, as JSON.
async fn verdict(case: Case) -> Value {
    let stand_in = StandIn::start(case, Options::default()).await;
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(["verify", &stand_in.pull_url(), "--format", "json"]);
    command.envs(stand_in.environment());
    let run = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    serde_json::from_slice(&run.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn row<'v>(verdict: &'v Value, id: &str) -> &'v Value {
    verdict["checks"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap()
}

fn comment(id: u64, author: &str, body: String) -> CommentSpec {
    let created = format!("2026-09-11T08:{}:00Z", 20 + id);
    serde_json::from_value(serde_json::json!({
        "id": id, "author": author, "body": body, "created": created
    }))
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_with_a_workflow_that_a_later_commit_puts_back_is_no_proof() {
    let case = Case::load("b200-image-bump").with(|case| {
        for path in case.files_under("head").unwrap() {
            let text = case.text(&format!("head/{path}")).unwrap();
            case.write(&format!("fake/{path}"), text);
        }
        case.write("fake/.github/workflows/run-sweep.yml", "name: every job is green\n");
        let fake = CommitSpec {
            id: "fake".to_owned(),
            tree: Some("fake".to_owned()),
            date: Some("2026-09-11T00:49:00Z".to_owned()),
            ..CommitSpec::default()
        };
        case.spec.pull_request.commits.insert(0, fake);
        case.spec.runs[0].head = "fake".to_owned();
    });
    let verdict = verdict(case).await;
    let sweep = row(&verdict, "sweep");
    assert_eq!((&sweep["status"], &sweep["verified"]), (&"fail".into(), &false.into()));
    assert!(sweep.to_string().contains(".github/workflows/run-sweep.yml"), "{sweep}");
    assert_eq!(verdict["verdict"], "REJECTED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_in_codeowners_signs_nothing_without_write_access() {
    for (role, status) in [(Some("read"), "fail"), (None, "fail"), (Some("write"), "pass")] {
        let case = Case::load("b200-image-bump").with(|case| {
            let person = Person { role: role.map(str::to_owned), ..Person::default() };
            case.spec.people.insert("nv-ada".to_owned(), Some(person));
        });
        let verdict = verdict(case).await;
        assert_eq!(row(&verdict, "codeowner")["status"], status, "{role:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stranger_writes_keeps_no_command_from_being_read() {
    let case = Case::load("b200-image-bump").with(|case| {
        let jobs = &mut case.spec.runs[0].jobs;
        let job = jobs.iter_mut().find(|job| job.name.ends_with("sgl TP4 c16")).unwrap();
        job.conclusion = Some("failure".to_owned());
        let flood = "/countersign override sweep abcdef0 nothing\n\n/use 1\n\n".repeat(600);
        let said = "/countersign override sweep {{head}} the machine is gone\n\n/use 34911820457";
        case.spec.comments.push(comment(1, "zed", flood));
        case.spec.comments.push(comment(2, "lena-core", said.to_owned()));
    });
    let verdict = verdict(case).await;
    assert_eq!(row(&verdict, "sweep")["overridden"]["by"], "lena-core");
    assert_eq!(row(&verdict, "reuse-command")["status"], "pass");
    assert_eq!(verdict["verdict"], "APPROVED");
}
