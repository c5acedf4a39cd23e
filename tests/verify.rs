//! Conversations: the program asks the stand-in about a pull request and says what it makes of it.
//!
//! Each test takes one of the two cases, changes what it is about, and reads the verdict as a user
//! would: the JSON and the exit code of the real program, or what the server's worker wrote.

mod checklist;
mod codeowner;
mod content;
mod discarded;
mod example;
mod exits;
mod five_faults;
mod head;
mod overrides;
mod readme;
mod registry;
mod reuse;
mod scope;
mod sweep;
mod undecided;
mod undeserved;
mod webhook;
mod worker;

use std::process::Command;

use serde_json::Value;

use crate::support::{Case, CommentKind, CommentSpec, Options, Person, RunSpec, StandIn};

/// An image bump in the old layout: nine benchmarks, three evaluations, signed off by `nv-ada`.
const B200: &str = "b200-image-bump";
/// A refresh of an agentic curve in the newest layout, its run pinned, signed off by `nv-marie`.
const GB200: &str = "gb200-sglang-agentx-refresh";
/// The run of [`B200`] that counts.
const RUN: u64 = 34_911_820_457;
/// The sign-off of [`B200`].
const SIGNOFF: u64 = 4_110_262_733;
const CODEOWNERS: &str = "base/.github/CODEOWNERS";
const TEMPLATE: &str = "base/docs/PR_REVIEW_CHECKLIST.md";

/// A case with something changed.
fn case(name: &str, change: impl FnOnce(&mut Case)) -> Case {
    Case::load(name).with(change)
}

async fn serve(case: Case) -> StandIn {
    StandIn::start(case, Options::default()).await
}

/// The sign-off: the last comment of either case.
fn signoff(case: &mut Case) -> &mut CommentSpec {
    case.spec.comments.last_mut().unwrap()
}

/// The run that counts: the first of either case.
fn run(case: &mut Case) -> &mut RunSpec {
    case.spec.runs.first_mut().unwrap()
}

/// Adds a conversation comment at a time.
fn say(case: &mut Case, id: u64, author: &str, created: &str, body: &str) {
    let comment = CommentSpec::said(id, author, body);
    case.spec.comments.push(CommentSpec { created: Some(created.to_owned()), ..comment });
}

fn person(case: &mut Case, login: &str, role: &str, association: &str) {
    let person = Person {
        role: Some(role.to_owned()),
        association: Some(association.to_owned()),
        ..Person::default()
    };
    case.spec.people.insert(login.to_owned(), Some(person));
}

/// A pull request of one commit that changes only these files.
fn changing_only(case: &mut Case, files: &[(&str, &str)]) {
    case.spec.pull_request.commits.retain(|commit| commit.id == "head");
    for path in case.files_under("head").unwrap() {
        case.remove(&format!("head/{path}"));
    }
    for (path, text) in files {
        case.write(&format!("head/{path}"), *text);
    }
}

/// What a run of the program gave.
#[derive(Debug)]
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs the program against a stand-in; what `more` names wins over the stand-in's environment.
async fn countersign_with(stand_in: &StandIn, more: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(arguments).envs(stand_in.environment()).env("NO_COLOR", "1");
    command.envs(more.iter().copied());
    // The stand-in answers on this thread, so that the program is waited for on another.
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

async fn countersign(stand_in: &StandIn, arguments: &[&str]) -> Ran {
    countersign_with(stand_in, &[], arguments).await
}

/// A verdict as `--format json` prints it, with the exit code.
#[derive(Debug)]
struct Verdict {
    code: i32,
    json: Value,
    /// The document as it was printed.
    text: String,
    stderr: String,
}

impl Verdict {
    fn of(ran: Ran) -> Self {
        let json = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{error} in the output of {ran:#?}"));
        Self { code: ran.code, json, text: ran.stdout, stderr: ran.stderr }
    }

    fn outcome(&self) -> &str {
        self.json["verdict"].as_str().unwrap()
    }

    /// The row of a check, at the place that its number gives it.
    fn row(&self, id: &str) -> Row<'_> {
        let rows = self.json["checks"].as_array().unwrap();
        let row = rows.iter().find(|row| row["id"] == id);
        Row(row.unwrap_or_else(|| panic!("no row {id} in {:#}", self.json)))
    }
}

/// One row of a verdict.
#[derive(Debug, Clone, Copy)]
struct Row<'v>(&'v Value);

impl Row<'_> {
    fn status(self) -> String {
        self.0["status"].as_str().unwrap().to_owned()
    }

    fn summary(self) -> String {
        self.0["summary"].as_str().unwrap().to_owned()
    }

    /// `LEVEL: message`, and the fix below it, for every finding.
    fn told(self) -> Vec<String> {
        let findings = self.0["findings"].as_array().unwrap().iter();
        let told = findings.map(|finding| {
            let said = format!("{}: {}", word(&finding["level"]), word(&finding["message"]));
            match finding["fix"].as_str() {
                Some(fix) => format!("{said}\n{fix}"),
                None => said,
            }
        });
        told.collect()
    }

    /// Holds the row to a status and to findings that contain these words.
    #[track_caller]
    fn expect(self, status: &str, words: &[&str]) {
        assert_eq!(self.status(), status, "{:#}", self.0);
        let told = self.told();
        for words in words {
            let said = told.iter().any(|finding| finding.contains(words));
            assert!(said, "nothing says {words:?}: {told:#?}");
        }
    }

    /// Holds every failure and warning to evidence that a person can open.
    #[track_caller]
    fn expect_evidence(self) {
        for finding in self.0["findings"].as_array().unwrap() {
            let shown = finding["evidence"].as_array().unwrap();
            let loud = ["fail", "warn"].contains(&word(&finding["level"]));
            assert!(!loud || shown.iter().any(|one| one["url"].is_string()), "{finding:#}");
        }
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The verdict on the newest sign-off of a case, by the program.
async fn verdict(case: Case) -> Verdict {
    verdict_on(&serve(case).await, &[]).await
}

/// The same with more arguments, on a stand-in that runs.
async fn verdict_on(stand_in: &StandIn, more: &[&str]) -> Verdict {
    let url = stand_in.pull_url();
    let arguments = [&["verify", url.as_str(), "--format", "json"], more].concat();
    Verdict::of(countersign(stand_in, &arguments).await)
}
