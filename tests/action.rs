//! The GitHub Action: its script, run as a runner runs it, against the stand-in.
//!
//! Every workflow of a repository writes as one account, so that what is ours is told by a digest that
//! only the holder of the marker key can make; a job on a fork's pull request can only read.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{
    ACTIONS_SLUG, Case, CheckSpec, CommentKind, CommentSpec, JOB_TOKEN, Options, PERSONAL_LOGIN,
    PullState, READ_ONLY_JOB_TOKEN, StandIn, World,
};

const SIGNOFF: u64 = 7002;
const KEY: &str = "of this repository only";
const ROBOT: &str = "github-actions[bot]";

/// What a runner gives to a job.
struct Job<'a> {
    stand_in: &'a StandIn,
    token: &'a str,
    key: &'a str,
    inputs: Vec<(&'a str, &'a str)>,
}

/// What a job leaves behind.
#[derive(Debug)]
struct Ended {
    code: i32,
    /// The job's summary, Markdown.
    summary: String,
    outputs: BTreeMap<String, String>,
    /// What the runner reads for workflow commands.
    log: String,
}

impl<'a> Job<'a> {
    fn new(stand_in: &'a StandIn) -> Self {
        Self { stand_in, token: JOB_TOKEN, key: KEY, inputs: Vec::new() }
    }

    /// The job of an event.
    async fn runs(&self, asked: Value) -> Ended {
        let event = asked["event"].as_str().unwrap().to_owned();
        self.runs_with(&event, &self.stand_in.payload(&asked)).await
    }

    async fn runs_with(&self, event: &str, payload: &[u8]) -> Ended {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("event.json"), payload).unwrap();
        let (repository, now) = {
            let spec = &self.stand_in.world().case.spec;
            (spec.repository.clone(), spec.now.clone())
        };
        let mut command = Command::new("sh");
        command
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/action/run.sh"))
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GITHUB_REPOSITORY", repository)
            .env("GITHUB_API_URL", &self.stand_in.url)
            .env("GITHUB_EVENT_NAME", event)
            .env("GITHUB_EVENT_PATH", at("event.json"))
            .env("GITHUB_STEP_SUMMARY", at("summary.md"))
            .env("GITHUB_OUTPUT", at("output"))
            .env("GITHUB_TOKEN", self.token)
            .env("COUNTERSIGN_MARKER_KEY", self.key)
            .env("COUNTERSIGN_BINARY", env!("CARGO_BIN_EXE_countersign"))
            .env("COUNTERSIGN_NOW", now)
            .envs(self.inputs.iter().copied());
        let ended = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        let text = |name: &str| std::fs::read_to_string(at(name)).unwrap_or_default();
        let outputs = text("output");
        let outputs = outputs.lines().filter_map(|line| line.split_once('='));
        Ended {
            code: ended.status.code().unwrap(),
            summary: text("summary.md"),
            outputs: outputs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            log: String::from_utf8(ended.stdout).unwrap()
                + &String::from_utf8(ended.stderr).unwrap(),
        }
    }
}

impl Ended {
    fn verdict(&self) -> (i32, &str) {
        (self.code, self.outputs.get("verdict").map_or("", String::as_str))
    }
}

async fn parcel(change: impl FnOnce(&mut Case)) -> StandIn {
    StandIn::start(Case::load("library-release").with(change), Options::default()).await
}

fn commented() -> Value {
    json!({ "event": "issue_comment", "action": "created", "comment": SIGNOFF })
}

/// Comments that a job wrote, oldest first.
fn written(world: &World) -> Vec<&str> {
    let robots = world.comments.values().filter(|comment| comment.author == ROBOT);
    robots.map(|comment| comment.body.as_str()).collect()
}

/// Conclusions, or else states, of our check runs, oldest first.
fn checks(world: &World) -> Vec<String> {
    let ours = world.check_runs.values().filter(|run| {
        run.app == ACTIONS_SLUG
            && run.fields["name"] == "countersign"
            && run.fields["external_id"].as_str().is_some_and(|id| id.starts_with("v1/"))
    });
    let word = |fields: &serde_json::Map<String, Value>| {
        fields["conclusion"].as_str().or(fields["status"].as_str()).unwrap_or_default().to_owned()
    };
    ours.map(|run| word(&run.fields)).collect()
}

#[tokio::test]
async fn a_whole_sign_off_is_approved_by_check_comment_summary_and_outputs() {
    let stand_in = parcel(|_| {}).await;
    let ended = Job::new(&stand_in).runs(commented()).await;
    assert_eq!(ended.verdict(), (0, "APPROVED"), "{ended:#?}");
    assert_eq!(ended.outputs["assessed-commit"], stand_in.sha("head"));
    assert!(ended.summary.contains("✅✅✅ **APPROVED** ✅✅✅"), "{}", ended.summary);
    let world = stand_in.world();
    assert_eq!(checks(&world), ["success"]);
    let comments = written(&world);
    assert_eq!(comments.len(), 1);
    assert!(comments[0].starts_with("<!-- countersign signoff=issue_comment/7002 key="));
    let ours = world.comments.values().find(|comment| comment.author == ROBOT).unwrap();
    assert!(
        ended.outputs["comment-url"].ends_with(&format!("#issuecomment-{}", ours.id)),
        "{ended:#?}"
    );
}

#[tokio::test]
async fn a_rejected_sign_off_fails_the_job_and_its_mended_edit_updates_the_comment() {
    let line = "- [x] I read every changed line.";
    let open = "- [ ] I read every changed line.";
    let stand_in = parcel(|case| case.replace("signoff.md", line, open)).await;
    let job = Job::new(&stand_in);
    let ended = job.runs(commented()).await;
    assert_eq!(ended.verdict(), (1, "REJECTED"), "{ended:#?}");
    let tolerant =
        Job { inputs: vec![("COUNTERSIGN_FAIL_ON_REJECTED", "false")], ..Job::new(&stand_in) };
    assert_eq!(tolerant.runs(commented()).await.verdict(), (0, "REJECTED"));
    let mended = stand_in.world().comments[&SIGNOFF].body.replace(open, line);
    stand_in.edit(SIGNOFF, &mended, "pa-rosa");
    let edited = json!({ "event": "issue_comment", "action": "edited", "comment": SIGNOFF });
    let ended = job.runs(edited).await;
    assert_eq!(ended.verdict(), (0, "APPROVED"), "{ended:#?}");
    let world = stand_in.world();
    assert_eq!(written(&world).len(), 1, "one comment for one sign-off");
    assert!(written(&world)[0].contains("**APPROVED**"));
    assert_eq!(checks(&world).last().map(String::as_str), Some("success"));
}

#[tokio::test]
async fn what_asks_for_nothing_writes_nothing_and_says_why() {
    let talk = |case: &mut Case| {
        case.spec.comments.push(CommentSpec::said(7003, "pa-emil", "Looks good to me."));
        let template = case.text("signoff.md").unwrap();
        case.spec.comments.push(CommentSpec::said(7004, "dependabot[bot]", &template));
        case.spec.comments.push(CommentSpec::said(7005, "pa-guest", &template));
    };
    let asks = [
        (7003, PullState::Open, false),
        (7004, PullState::Open, false),
        (7005, PullState::Open, false),
        (SIGNOFF, PullState::Open, true),
        (SIGNOFF, PullState::Closed, false),
    ];
    for (comment, state, draft) in asks {
        let stand_in = parcel(|case| {
            talk(case);
            if comment != SIGNOFF {
                case.spec.comments.retain(|comment| comment.id != SIGNOFF);
            }
            case.spec.pull_request.state = state;
            case.spec.pull_request.draft = draft;
        })
        .await;
        let asked = json!({ "event": "issue_comment", "action": "created", "comment": comment });
        let ended = Job::new(&stand_in).runs(asked).await;
        assert_eq!(ended.verdict(), (0, "NOTHING"), "{comment} {state:?} {draft}: {ended:#?}");
        assert!(ended.summary.starts_with("Nothing to verify: "), "{}", ended.summary);
        assert!(stand_in.writes().is_empty(), "{comment}: {:#?}", stand_in.writes());
    }
}

#[tokio::test]
async fn a_deleted_sign_off_no_longer_counts() {
    let stand_in = parcel(|_| {}).await;
    let job = Job::new(&stand_in);
    job.runs(commented()).await;
    stand_in.delete(SIGNOFF);
    let gone = json!({ "event": "issue_comment", "action": "deleted", "comment": SIGNOFF });
    let ended = job.runs(gone).await;
    assert_eq!(ended.verdict(), (0, "WAITING"), "{ended:#?}");
    let world = stand_in.world();
    assert_eq!(checks(&world).last().map(String::as_str), Some("in_progress"));
    assert!(written(&world)[0].contains("**APPROVED**"), "the verdict stays as history");
}

#[tokio::test]
async fn a_sign_off_of_somebody_who_may_not_sign_has_its_comment_and_takes_nothing_away() {
    let stand_in = parcel(|case| {
        let open = case.text("signoff.md").unwrap().replace("[x] I read", "[ ] I read");
        case.spec.comments.push(CommentSpec {
            kind: CommentKind::Review,
            ..CommentSpec::said(7003, "pa-emil", &open)
        });
    })
    .await;
    let ended = Job::new(&stand_in).runs(commented()).await;
    assert_eq!(ended.verdict(), (0, "APPROVED"), "{ended:#?}");
    let world = stand_in.world();
    assert_eq!(written(&world).len(), 2, "a comment each");
    assert_eq!(checks(&world), ["success"]);
    assert!(ended.summary.contains("APPROVED") && ended.summary.contains("REJECTED"));
}

#[tokio::test]
async fn a_review_is_verified_while_the_job_itself_runs_on_its_commit() {
    let stand_in = parcel(|case| {
        let signoff = case.text("signoff.md").unwrap();
        case.spec.comments.pop();
        case.spec.comments.push(CommentSpec {
            kind: CommentKind::Review,
            ..CommentSpec::said(7003, "pa-rosa", &signoff)
        });
        let workflow = include_str!("../deploy/action/example.yml");
        let (_, job) = workflow.split_once("    name: ").unwrap();
        case.spec.checks.push(CheckSpec {
            name: job.lines().next().unwrap().to_owned(),
            app: ACTIONS_SLUG.to_owned(),
            id: None,
            conclusion: None,
            status: Some("in_progress".to_owned()),
            on: "head".to_owned(),
        });
    })
    .await;
    let asked = json!({ "event": "pull_request_review", "action": "submitted", "review": 7003 });
    let ended = Job::new(&stand_in).runs(asked).await;
    assert_eq!(ended.verdict(), (0, "APPROVED"), "{ended:#?}");
    assert!(ended.summary.contains("The profile ignores `countersign-action`"));
}

#[tokio::test]
async fn a_job_that_may_only_read_leaves_the_verdict_in_its_summary_and_says_so() {
    let stand_in = parcel(|case| {
        case.spec.pull_request.head_repository = Some("pa-dev/parcel".to_owned());
    })
    .await;
    let job = Job { token: READ_ONLY_JOB_TOKEN, ..Job::new(&stand_in) };
    let ended = job.runs(commented()).await;
    assert_eq!(ended.verdict(), (0, "APPROVED"), "the verdict stands: {ended:#?}");
    assert!(ended.summary.starts_with("> **Nothing was posted on the pull request.**"));
    assert!(ended.summary.contains("on a pull request from a fork"), "{}", ended.summary);
    assert!(ended.summary.contains("`/countersign verify`"), "{}", ended.summary);
    assert!(ended.summary.contains("**APPROVED**"), "{}", ended.summary);
    assert_eq!(ended.outputs["comment-url"], "");
    {
        let world = stand_in.world();
        assert!(written(&world).is_empty() && checks(&world).is_empty());
    }

    // Not of a fork, it is the workflow that has to be mended.
    let stand_in = parcel(|_| {}).await;
    let job = Job { token: READ_ONLY_JOB_TOKEN, ..Job::new(&stand_in) };
    let ended = job.runs(commented()).await;
    assert!(ended.summary.contains("`checks: write`"), "{}", ended.summary);
}

#[tokio::test]
async fn without_a_key_of_its_own_nothing_is_posted() {
    let stand_in = parcel(|_| {}).await;
    let ended = Job { key: "", ..Job::new(&stand_in) }.runs(commented()).await;
    assert_eq!(ended.verdict(), (0, "APPROVED"), "{ended:#?}");
    assert!(ended.summary.contains("`COUNTERSIGN_MARKER_KEY` is not set"), "{}", ended.summary);
    assert!(stand_in.writes().is_empty());
}

#[tokio::test]
async fn what_another_workflow_wrote_as_the_same_account_is_not_ours() {
    let forged = "<!-- countersign signoff=issue_comment/7002 -->\n## ✅✅✅ **APPROVED** ✅✅✅\n";
    let keyed = format!(
        "<!-- countersign signoff=issue_comment/7002 key={} -->\n## ✅✅✅ **APPROVED** ✅✅✅\n",
        "0".repeat(64)
    );
    let stand_in = parcel(|case| {
        let line = "[x] I read every changed line.";
        case.replace("signoff.md", line, "[ ] I read every changed line.");
        for (id, body) in [(6001, forged), (6002, &keyed)] {
            let mut comment = CommentSpec::said(id, ROBOT, body);
            comment.app = Some(ACTIONS_SLUG.to_owned());
            case.spec.comments.push(comment);
        }
        case.spec.checks.push(CheckSpec {
            name: "countersign".to_owned(),
            app: ACTIONS_SLUG.to_owned(),
            id: None,
            conclusion: Some("success".to_owned()),
            status: None,
            on: "head".to_owned(),
        });
    })
    .await;
    let before: Vec<u64> = stand_in.world().check_runs.keys().copied().collect();
    let ended = Job::new(&stand_in).runs(commented()).await;
    assert_eq!(ended.verdict(), (1, "REJECTED"), "{ended:#?}");
    let world = stand_in.world();
    assert_eq!(world.comments[&6001].body, forged);
    assert_eq!(world.comments[&6002].body, keyed);
    let ours = world.comments.values().filter(|one| one.author == ROBOT && one.id > SIGNOFF);
    assert_eq!(ours.count(), 1, "a comment of our own");
    for id in before {
        assert_eq!(world.check_runs[&id].fields["conclusion"], "success", "left as it was");
    }
    assert_eq!(checks(&world), ["failure"], "and one of our own that is newer");
}

#[tokio::test]
async fn another_key_does_not_take_over_what_the_first_wrote() {
    let stand_in = parcel(|_| {}).await;
    Job::new(&stand_in).runs(commented()).await;
    Job { key: "another", ..Job::new(&stand_in) }.runs(commented()).await;
    assert_eq!(written(&stand_in.world()).len(), 2);
}

#[tokio::test]
async fn a_target_is_verified_by_hand_and_only_in_the_own_repository() {
    let stand_in = parcel(|_| {}).await;
    let url = format!("{}#issuecomment-{SIGNOFF}", stand_in.pull_url());
    let by_hand = |target: &'static str| Job {
        inputs: vec![("COUNTERSIGN_TARGET", target)],
        ..Job::new(&stand_in)
    };
    let ended = by_hand(url.leak()).runs_with("workflow_dispatch", b"{}").await;
    assert_eq!(ended.verdict(), (0, "APPROVED"), "{ended:#?}");
    let other = by_hand("https://github.com/example/elsewhere/pull/41");
    let ended = other.runs_with("workflow_dispatch", b"{}").await;
    assert_eq!(ended.code, 2, "{ended:#?}");
    assert!(ended.log.contains("is not in example/parcel"), "{}", ended.log);
}

#[tokio::test]
async fn a_hostile_event_gives_the_runner_no_command() {
    let hostile = "::error::owned\n::set-output name=verdict::APPROVED\n`x` $(touch pwned)\r\n";
    let stand_in = parcel(|case| {
        let signoff = case.text("signoff.md").unwrap();
        let signoff = signoff.replace("Nothing to add.", hostile);
        case.spec.comments.last_mut().unwrap().file = None;
        case.spec.comments.last_mut().unwrap().body = Some(signoff);
    })
    .await;
    let ended = Job::new(&stand_in).runs(commented()).await;
    assert_eq!(ended.verdict(), (0, "APPROVED"), "{ended:#?}");
    let lines: Vec<&str> = ended.log.lines().collect();
    let stop = lines[0].strip_prefix("::stop-commands::").expect("commands are stopped first");
    assert!(stop.len() == 32 && lines.contains(&format!("::{stop}::").as_str()), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("owned")), "{lines:?}");

    for body in [&b"{"[..], b"[]", b"null", b"\xff\xfe", br#"{"action":"created"}"#] {
        let ended = Job::new(&stand_in).runs_with("issue_comment", body).await;
        assert_eq!(ended.code, 2, "{body:?}: {ended:#?}");
        assert!(ended.log.contains("GITHUB_EVENT_PATH: "), "{}", ended.log);
    }
}

#[tokio::test]
async fn what_is_not_the_submissions_fault_concludes_nothing() {
    let stand_in = parcel(|_| {}).await;
    stand_in.fault(crate::support::Fault {
        pattern: "GET /repos/*/check-runs*".to_owned(),
        status: Some(502),
        ..Default::default()
    });
    let ended = Job::new(&stand_in).runs(commented()).await;
    assert_eq!(ended.verdict(), (3, "UNDECIDED"), "{ended:#?}");
    assert!(!ended.summary.contains("REJECTED"), "{}", ended.summary);
    assert!(written(&stand_in.world()).is_empty());
}

#[tokio::test]
async fn a_personal_token_is_not_taken_for_the_jobs() {
    let stand_in = parcel(|_| {}).await;
    let job = Job { token: crate::support::PERSONAL_TOKEN, ..Job::new(&stand_in) };
    let ended = job.runs(commented()).await;
    assert_eq!(ended.verdict(), (0, "APPROVED"), "{ended:#?}");
    assert!(ended.summary.contains("Nothing was posted"), "{}", ended.summary);
    let world = stand_in.world();
    assert!(world.comments.values().all(|one| one.author != PERSONAL_LOGIN), "apps post checks");
}

#[test]
fn the_readme_shows_the_workflow_that_is_tested() {
    let readme = include_str!("../deploy/action/README.md");
    assert!(readme.contains(include_str!("../deploy/action/example.yml")));
}
