//! The server's worker without its queue: one job at a time, on the try that a test is about.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign::facts::SignOffKind;
use countersign::github::App;
use countersign::limits::JOB_TRIES;
use countersign::profile::{Files, builtin};
use countersign::rules::RuleSet;
use countersign::server::work::{Loaded, Verifications};
use countersign::server::{Outcome, Work};
use countersign::sources::Outside;
use countersign::store::{Ask, Delivery, NewJob, PullKey, SignOffRef, Store, Trigger};

use super::*;
use crate::support::{APP_ID, Write};

/// The worker of one repository, as the App.
pub(super) struct Desk {
    pub(super) stand_in: StandIn,
    store: Store,
    work: Verifications,
    _folder: tempfile::TempDir,
}

impl Desk {
    pub(super) async fn open(case: Case) -> Self {
        Self::with_rules(case, builtin("inferencex").unwrap()).await
    }

    pub(super) async fn with_rules(case: Case, files: Files) -> Self {
        let stand_in = serve(case).await;
        let folder = tempfile::tempdir().unwrap();
        let address = format!("sqlite://{}", folder.path().join("countersign.db").display());
        let store = Store::open(&address.into()).await.unwrap();
        let pem = std::fs::read_to_string(stand_in.key_file()).unwrap();
        let app = App::new(&stand_in.url, APP_ID, pem.into()).unwrap();
        let rules = RuleSet::from_files("inferencex", &files).unwrap();
        let signoffs = rules.profile.reader().unwrap();
        let (repository, now) = {
            let spec = &stand_in.world().case.spec;
            (spec.repository.to_lowercase(), spec.now.parse().unwrap())
        };
        let profiles = BTreeMap::from([(repository, Arc::new(Loaded { rules, signoffs }))]);
        let registry = format!("{}/registry", stand_in.url).parse().unwrap();
        let outside = Outside::new(Some(registry)).unwrap();
        let work =
            Verifications::new(Arc::new(app), store.clone(), outside, profiles, None, Some(now));
        Self { stand_in, store, work, _folder: folder }
    }

    /// Carries out what an actor's sign-off asks for, as the n-th try of its job.
    pub(super) async fn attempt(&self, actor: &str, signoff: u64, n: i64) -> Outcome {
        let (repository, number) = {
            let spec = &self.stand_in.world().case.spec;
            (spec.repository.clone(), i64::try_from(spec.pull_request.number).unwrap())
        };
        let id = i64::try_from(signoff).unwrap();
        let trigger = Trigger {
            actor: actor.to_owned(),
            event: "issue_comment/created".to_owned(),
            signoff: Some(SignOffRef { kind: SignOffKind::IssueComment, id }),
            ask: Ask::Verify,
        };
        let job = NewJob {
            key: PullKey { repository: repository.clone(), number },
            triggers: vec![trigger],
        };
        let delivery = Delivery {
            guid: format!("{actor}-{signoff}-{n}"),
            event: "issue_comment".to_owned(),
            action: Some("created".to_owned()),
            repository,
            body_sha256: String::new(),
            received_at: 0,
        };
        self.store.accept(delivery, job).await.unwrap();
        let mut job = self.store.claim(1, i64::MAX).await.unwrap().unwrap();
        job.attempts = n;
        let outcome = self.work.run(job.clone()).await;
        self.store.finish(&job).await.unwrap();
        outcome
    }

    pub(super) async fn first_try(&self, actor: &str, signoff: u64) -> Outcome {
        self.attempt(actor, signoff, 1).await
    }

    pub(super) async fn last_try(&self, actor: &str, signoff: u64) -> Outcome {
        self.attempt(actor, signoff, JOB_TRIES).await
    }

    /// The comments that were written.
    pub(super) fn comments(&self) -> Vec<String> {
        comments(&self.stand_in.writes())
    }

    /// The check run as it stands: `status`, `conclusion`, title and summary.
    pub(super) fn check_run(&self) -> (String, Value, String, String) {
        let world = self.stand_in.world();
        let run = world.check_runs.values().next_back().expect("a check run");
        let output = &run.fields["output"];
        (
            word(&run.fields["status"]).to_owned(),
            run.fields.get("conclusion").cloned().unwrap_or_default(),
            word(&output["title"]).to_owned(),
            word(&output["summary"]).to_owned(),
        )
    }
}

/// The bodies of the comments among some writes, new and changed.
pub(super) fn comments(writes: &[Write]) -> Vec<String> {
    let written = writes.iter().filter(|write| write.path.contains("/comments"));
    written.map(|write| word(&write.body["body"]).to_owned()).collect()
}

#[tokio::test]
async fn a_verdict_is_a_check_run_and_one_comment() {
    let desk = Desk::open(case(B200, |_| {})).await;
    assert_eq!(desk.first_try("nv-ada", SIGNOFF).await, Outcome::Done);
    let (status, conclusion, title, _) = desk.check_run();
    assert_eq!(
        (status.as_str(), conclusion, title.as_str()),
        ("completed", "success".into(), "APPROVED with warnings")
    );
    let comments = desk.comments();
    assert_eq!(comments.len(), 1, "{comments:#?}");
    let opening = format!(
        "<!-- countersign signoff=issue_comment/{SIGNOFF} -->\n## ⚠️ **APPROVED with warnings** ⚠️\n"
    );
    assert!(comments[0].starts_with(&opening), "{}", comments[0]);
}

#[tokio::test]
async fn a_pull_request_that_needs_no_sign_off_gets_a_success_and_no_comment() {
    let desk =
        Desk::open(case(B200, |case| changing_only(case, &[("README.md", "Read me.\n")]))).await;
    assert_eq!(desk.first_try("nv-ada", SIGNOFF).await, Outcome::Done);
    let (status, conclusion, title, _) = desk.check_run();
    assert_eq!(
        (status.as_str(), conclusion, title.as_str()),
        ("completed", "success".into(), "no sign-off required")
    );
    assert_eq!(desk.comments(), Vec::<String>::new());
}

#[tokio::test]
async fn nothing_is_posted_on_a_draft_or_a_closed_pull_request() {
    for change in
        [(|case: &mut Case| case.spec.pull_request.draft = true) as fn(&mut Case), |case| {
            case.spec.pull_request.state = crate::support::PullState::Closed
        }]
    {
        let desk = Desk::open(case(B200, change)).await;
        assert_eq!(desk.first_try("nv-ada", SIGNOFF).await, Outcome::Done);
        assert!(desk.stand_in.writes().is_empty(), "{:#?}", desk.stand_in.writes());
    }
}

#[tokio::test]
async fn who_may_not_write_starts_nothing() {
    let desk = Desk::open(case(B200, |case| person(case, "rosa-visitor", "triage", "NONE"))).await;
    for actor in ["rosa-visitor", "nobody-knows-me", "image-keeper[bot]"] {
        assert_eq!(desk.first_try(actor, SIGNOFF).await, Outcome::Done);
        assert!(desk.stand_in.writes().is_empty(), "{actor}: {:#?}", desk.stand_in.writes());
    }
}

#[tokio::test]
async fn with_members_read_an_owner_of_another_vendor_is_told_so() {
    // The line of NVIDIA's masters also holds a team: its members can be read, so the answer is sure.
    let desk = Desk::open(case(B200, |case| signoff(case).author = "amd-noor".to_owned())).await;
    assert_eq!(desk.first_try("amd-noor", SIGNOFF).await, Outcome::Done);
    let (_, conclusion, title, summary) = desk.check_run();
    assert_eq!((conclusion, title.as_str()), ("failure".into(), "REJECTED: 1 check fails"));
    assert!(summary.contains("`amd-noor` is none of them"), "{summary}");
    assert!(
        desk.comments()[0].contains("## ❌❌❌ **REJECTED** ❌❌❌\n\n@amd-noor"),
        "{}",
        desk.comments()[0]
    );
}

#[tokio::test]
async fn a_head_that_moves_is_assessed_where_it_stood() {
    let desk = Desk::open(case(B200, |case| {
        case.write("newer/README.md", "Read me.\n");
        case.spec.commits.push(crate::support::CommitSpec {
            id: "newer".to_owned(),
            tree: Some("newer".to_owned()),
            ..Default::default()
        });
        let before = "GET *check-runs*".to_owned();
        case.spec.moves.push(crate::support::Move { before, head: "newer".to_owned() });
    }))
    .await;
    assert_eq!(desk.first_try("nv-ada", SIGNOFF).await, Outcome::Done);
    let (head, newer) = (desk.stand_in.sha("head"), desk.stand_in.sha("newer"));
    let on: Vec<String> = {
        let world = desk.stand_in.world();
        world.check_runs.values().map(|run| run.head_sha.clone()).collect()
    };
    assert_eq!(on, std::slice::from_ref(&head), "the check run sits on the assessed commit only");
    let comment = &desk.comments()[0];
    assert!(comment.contains(&format!("Assessed commit: `{head}`.")), "{comment}");
    assert!(
        comment.contains(&format!("A newer commit stands unassessed: `{newer}`.")),
        "{comment}"
    );
}
