//! The life of pull requests: every event in every state, by itself and mixed with others.
//!
//! The case has twenty pull requests on a repository whose halves have owners of their own; the server
//! is the real one, asked over HTTP, and every comment that it writes has to be expected.

mod forged;
mod hostile;
mod model;
mod queue;
mod standing;
mod states;

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{
    APP_SLUG, Case, CommentKind, CommentSpec, CommitSpec, MorePull, Options, ServerProcess,
    StandIn, World,
};

const PULLS: std::ops::RangeInclusive<u64> = 101..=120;

/// What a pull request changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changes {
    Alpha,
    Beta,
    Both,
    /// Only what the exempt team owns: no sign-off is needed.
    Core,
}

impl Changes {
    fn of(pull: u64) -> Self {
        [Self::Alpha, Self::Beta, Self::Both, Self::Alpha, Self::Core][pull as usize % 5]
    }

    fn folders(self) -> &'static [&'static str] {
        match self {
            Self::Alpha => &["alpha"],
            Self::Beta => &["beta"],
            Self::Both => &["alpha", "beta"],
            Self::Core => &["core"],
        }
    }
}

/// The case with all its pull requests.
fn whole_atlas() -> Case {
    atlas(&PULLS.collect::<Vec<_>>())
}

/// The case with some of its pull requests beside 101, each with three commits: `103-1` is the head of
/// 103, `103-2` can be pushed.
fn atlas(pulls: &[u64]) -> Case {
    Case::load("twenty-pulls").with(|case| {
        let commit = |id: String, tree: String| CommitSpec {
            id,
            tree: Some(tree),
            parent: Some("base".to_owned()),
            ..CommitSpec::default()
        };
        for pull in pulls.iter().copied() {
            for n in 1..=3 {
                let tree = format!("heads/{pull}-{n}");
                for folder in Changes::of(pull).folders() {
                    let text = format!("As pull request {pull} draws it, for the {n}th time.\n");
                    case.write(&format!("{tree}/{folder}/{pull}.txt"), text);
                }
                case.spec.commits.push(commit(format!("{pull}-{n}"), tree));
            }
            if pull != case.spec.pull_request.number {
                case.spec.more.push(MorePull {
                    number: pull,
                    author: "vi-sitor".to_owned(),
                    head: format!("{pull}-1"),
                    title: format!("Redraw {pull}"),
                    base: None,
                    state: Default::default(),
                    draft: false,
                    labels: Vec::new(),
                });
            }
        }
        case.spec.commits.push(commit("release".to_owned(), "release".to_owned()));
        case.spec.branches.insert("release".to_owned(), "release".to_owned());
    })
}

/// A sign-off's text, with so many of the three boxes ticked.
fn form(ticked: usize) -> String {
    let items = [
        "Read every changed line of the atlas",
        "Compared the changed maps with the survey",
        "Looked at the printed proof",
    ];
    let items = items.iter().enumerate().map(|(n, item)| {
        let mark = if n < ticked { 'x' } else { ' ' };
        format!("- [{mark}] {item}\n")
    });
    format!(
        "As a PR reviewer and CODEOWNER, I have reviewed this and have:\n{}\n\
         ### Additional detail section:\n- Seen on the screen and on paper.\n\nSigned: me\n",
        items.collect::<String>()
    )
}

fn comment(id: u64, pull: u64, author: &str, kind: CommentKind, body: &str) -> CommentSpec {
    CommentSpec { pull: Some(pull), kind, ..CommentSpec::said(id, author, body) }
}

/// A server and the repository that it serves.
struct Life {
    stand_in: StandIn,
    server: ServerProcess,
    _folder: tempfile::TempDir,
}

impl Life {
    async fn start(case: Case) -> Self {
        let stand_in = StandIn::start(case, Options::default()).await;
        let folder = tempfile::tempdir().unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
        let server = ServerProcess::start(program, &["serve"], &stand_in, folder.path()).await;
        Self { stand_in, server, _folder: folder }
    }

    fn world(&self) -> std::sync::MutexGuard<'_, World> {
        self.stand_in.world()
    }

    /// Sends a delivery; gives the server's status.
    async fn deliver(&self, asked: Value) -> u64 {
        self.stand_in.deliver(&asked).await["status"].as_u64().unwrap()
    }

    /// Sends a delivery and waits until everything that follows from it is done.
    async fn happens(&self, asked: Value) -> u64 {
        let status = self.deliver(asked).await;
        self.server.until_idle().await;
        status
    }

    /// Posts a comment or review and delivers that it was.
    async fn posts(&self, spec: CommentSpec) -> u64 {
        let asked = self.posted(spec);
        self.happens(asked).await
    }

    /// Posts a comment or review; gives the delivery that says so.
    fn posted(&self, spec: CommentSpec) -> Value {
        let mut world = self.world();
        let time = chrono::DateTime::parse_from_rfc3339(&world.tick()).unwrap().timestamp();
        let comment = world.comment_of(&spec, time).unwrap();
        let (id, kind) = (comment.id, comment.kind);
        world.comments.insert(id, comment);
        let action = if kind == CommentKind::Review { "submitted" } else { "created" };
        json!({ "event": event_of(kind), "action": action, "comment": id })
    }

    /// What our App wrote on a pull request, oldest first.
    fn comments(&self, pull: u64) -> Vec<String> {
        let world = self.world();
        let comments = world.comments_on(pull, CommentKind::IssueComment);
        let ours = comments.into_iter().filter(|one| one.app.as_deref() == Some(APP_SLUG));
        ours.map(|comment| comment.body.clone()).collect()
    }

    /// Our check runs at the head of a pull request, oldest first, as status or conclusion.
    fn runs(&self, pull: u64) -> Vec<String> {
        let head = self.world().pull_of(pull).head_sha.clone();
        self.runs_at(&head)
    }

    fn runs_at(&self, commit: &str) -> Vec<String> {
        let world = self.world();
        let runs = world.check_runs.values();
        let ours = runs.filter(|run| run.app == APP_SLUG && run.head_sha == commit);
        let word = |run: &crate::support::CheckRun| {
            let word = run.fields["conclusion"].as_str().or(run.fields["status"].as_str());
            word.unwrap_or_default().to_owned()
        };
        ours.map(word).collect()
    }

    /// The title of the newest check run at the head of a pull request.
    fn title(&self, pull: u64) -> String {
        let world = self.world();
        let head = &world.pull_of(pull).head_sha;
        let mut runs = world.check_runs.values();
        let newest = runs.rfind(|run| run.app == APP_SLUG && run.head_sha == *head);
        newest.unwrap().fields["output"]["title"].as_str().unwrap().to_owned()
    }
}

fn event_of(kind: CommentKind) -> &'static str {
    match kind {
        CommentKind::IssueComment => "issue_comment",
        CommentKind::Review => "pull_request_review",
        CommentKind::ReviewComment => "pull_request_review_comment",
    }
}
