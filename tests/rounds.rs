//! How often a verification waits for an answer, whatever the machine: the stand-in answers only when
//! the client has gone quiet, and counts those rounds.
//!
//! Counted are the rounds with at least one request that gathers evidence. Three kinds are apart:
//! what the App asks for itself (`/app…`, `…/installation`: its name, its installation, its tokens);
//! what publication writes; and what publication reads before it writes, which is the commit's check
//! runs by `check_name` and its pull requests, one check run by its id, and the comments again once the
//! check run is finished. The reader asks for check runs of every name, and for comments before that.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use serde_json::json;

use crate::support::{Case, Logged, Options, Round, ServerProcess, StandIn};

const CASE: &str = "gb200-sglang-agentx-refresh";
const SIGN_OFF: u64 = 4_377_201_550;
/// A client that has not asked for so long waits for an answer; generous, since machines are shared.
const QUIET: Duration = Duration::from_millis(300);

/// Rounds of a verdict by a process that knows nothing yet.
const COLD: usize = 5;
/// Rounds of an edited sign-off by a server that has assessed it before.
const EDITED: usize = 3;

async fn stand_in() -> StandIn {
    let options = Options { rounds: Some(QUIET), ..Options::default() };
    StandIn::start(Case::load(CASE), options).await
}

async fn countersign(stand_in: &StandIn, arguments: &[&str]) -> Output {
    tokio::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(arguments)
        .envs(stand_in.environment())
        .output()
        .await
        .unwrap()
}

/// The requests of each round that gather evidence.
fn gathering(rounds: &[Round]) -> Vec<Vec<&str>> {
    let mut published = false;
    let mut counted = Vec::new();
    for round in rounds {
        let lines = round.requests.iter().map(String::as_str);
        let of_evidence: Vec<&str> = lines.filter(|line| !apart(line, published)).collect();
        published |= round.requests.iter().any(|line| line.starts_with("PATCH "));
        if !of_evidence.is_empty() {
            counted.push(of_evidence);
        }
    }
    counted
}

fn apart(line: &str, published: bool) -> bool {
    let (method, route) = line.split_once(' ').unwrap();
    let path = route.split('?').next().unwrap();
    let of_app = path.starts_with("/app") || path.ends_with("/installation");
    let writes = method != "GET" && path != "/graphql";
    let looks = route.contains("check_name=")
        || path.ends_with("/pulls")
        || path.contains("/check-runs/")
        || (published && path.contains("/issues/") && path.ends_with("/comments"));
    of_app || writes || looks
}

/// Nothing is asked for twice, but for the pull request: once to assess its head, and once when
/// everything is read, to say whether the head has moved.
/// One route answers every query: the tips, and who edited what.
fn once_each<'a>(lines: impl IntoIterator<Item = &'a str>) {
    let (queries, mut lines): (Vec<&str>, Vec<&str>) =
        lines.into_iter().partition(|line| *line == "POST /graphql");
    assert_eq!(queries.len(), 2, "{lines:#?}");
    lines.sort_unstable();
    let pull = "GET /repos/SemiAnalysisAI/InferenceX/pulls/9264";
    assert_eq!(lines.iter().filter(|line| **line == pull).count(), 2, "{lines:#?}");
    let twice: Vec<_> = lines.windows(2).filter(|two| two[0] == two[1] && two[0] != pull).collect();
    assert!(twice.is_empty(), "asked for twice: {twice:#?}");
}

#[tokio::test]
async fn a_cold_verdict_waits_at_most_five_times_and_asks_for_nothing_twice() {
    let stand_in = stand_in().await;
    let output = countersign(&stand_in, &["verify", &stand_in.pull_url(), "--timings"]).await;
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    let rounds = stand_in.rounds();
    let counted = gathering(&rounds);
    assert!(counted.len() <= COLD, "{rounds:#?}");
    assert_eq!(counted.len(), rounds.len(), "the command line does nothing but read");
    once_each(counted.iter().flatten().copied());

    // `--timings` tells the same, and names each round.
    for (at, round) in counted.iter().enumerate() {
        let noun = if round.len() == 1 { "read" } else { "reads" };
        let line = format!("round {}: {} {noun}, ", at + 1, round.len());
        assert!(told.contains(&line), "no `{line}` in\n{told}");
    }
    let last = told.lines().last().unwrap();
    assert!(last.starts_with(&format!("{} rounds, ", counted.len())), "{told}");
}

#[tokio::test]
async fn an_edited_sign_off_waits_at_most_three_times_and_asks_for_nothing_twice() {
    let stand_in = stand_in().await;
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
    let server = ServerProcess::start(program, &["serve"], &stand_in, folder.path()).await;
    let deliver = async |action: &str| {
        let asked = json!({ "event": "issue_comment", "action": action, "comment": SIGN_OFF });
        assert_eq!(stand_in.deliver(&asked).await["status"], 202);
    };
    deliver("created").await;
    server.until_ended("done", 1).await;
    let (rounds_before, requests_before) = (stand_in.rounds().len(), stand_in.requests().len());
    let first = stand_in.rounds();
    let cold = gathering(&first);
    assert!(cold.len() <= COLD, "{first:#?}");
    once_each(cold.iter().flatten().copied());

    let body = stand_in.world().comments[&SIGN_OFF].body.clone();
    stand_in.edit(SIGN_OFF, &body.replacen("- [x]", "- [ ]", 2), "nv-marie");
    deliver("edited").await;
    server.until_ended("done", 2).await;
    let rounds = stand_in.rounds().split_off(rounds_before);
    let counted = gathering(&rounds);
    assert!(counted.len() <= EDITED, "{rounds:#?}");
    once_each(counted.iter().flatten().copied());

    // What can never change is not asked for again, and what did not change costs nothing.
    let again = stand_in.requests().split_off(requests_before);
    let spent = |one: &&Logged| one.method == "GET" && one.status == 200;
    let spent: Vec<&str> = again.iter().filter(spent).map(|one| one.path.as_str()).collect();
    assert!(!spent.iter().any(|path| path.contains("/contents/")), "{spent:#?}");
    assert!(!spent.iter().any(|path| path.contains("/compare/")), "{spent:#?}");
    let kept = again.iter().filter(|one| one.status == 304).count();
    assert!(kept >= 5, "{again:#?}");
}
