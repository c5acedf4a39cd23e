//! What a verdict costs once everything is read: facts → rows → verdict → JSON, comment, text and
//! check run. The facts are those of the GB200 case, gathered from a record that is made at the start
//! with the stand-in.
//!
//! `cargo bench --bench verdict`
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout
)]

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use countersign::facts::Facts;
use countersign::github::Client;
use countersign::profile;
use countersign::rules::{Row, RuleSet, evaluate};
use countersign::sources::Reader;
use countersign::sources::live::Live;
use countersign::sources::record::{self, Meta, Replay};
use countersign::verdict::{self, CommentOptions, Outcome, Subject, Tries, Verdict};
use countersign::verify::{self, Assessment, Choice, Options, Target};
use divan::{Bencher, black_box};

#[path = "../tests/support/mod.rs"]
mod support;

use support::{PERSONAL_TOKEN, StandIn};

const CASE: &str = "gb200-sglang-agentx-refresh";
/// The whole of it, at most.
const BOUND: Duration = Duration::from_millis(10);
const MEASURED: usize = 201;

fn main() {
    let read = read();
    assert_eq!(read.verdict().verdict, Outcome::Approved);
    let mut times: Vec<Duration> = (0..MEASURED)
        .map(|_| {
            let started = Instant::now();
            black_box(read.rendered(&read.verdict()));
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    let (median, worst) = (times[MEASURED / 2], times[MEASURED - 1]);
    println!(
        "evaluated and rendered four ways: median {median:.2?}, worst {worst:.2?} of {MEASURED}"
    );
    divan::main();
    assert!(median < BOUND, "a verdict takes {median:?} once everything is read");
}

/// Everything that is read, and what it was assessed as.
struct Read {
    rules: RuleSet,
    facts: Facts,
    subject: Subject,
}

/// Read once: from a record, which the stand-in's answers were written to.
fn read() -> &'static Read {
    static READ: OnceLock<Read> = OnceLock::new();
    READ.get_or_init(|| {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let files = profile::builtin("inferencex").unwrap();
            let rules = RuleSet::from_files("inferencex", &files).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let (target, options) = recorded(&rules, folder.path()).await;
            let (replay, _) = Replay::open(folder.path()).unwrap();
            let reader = Reader::new(Arc::new(replay));
            let Assessment { verdict, facts, .. } =
                assess(&reader, &rules, &target, &options).await;
            Read { subject: subject(verdict), rules, facts }
        })
    })
}

/// Verifies the case against the stand-in and writes what was read.
async fn recorded(rules: &RuleSet, folder: &std::path::Path) -> (Target, Options) {
    let stand_in = StandIn::serving(CASE).await;
    let (repo, number, now) = {
        let world = stand_in.world();
        let spec = &world.case.spec;
        let number = i64::try_from(spec.pull_request.number).unwrap();
        (spec.repository.parse().unwrap(), number, spec.now.clone())
    };
    let target = Target { repo, number, signoff: Choice::Newest };
    let options =
        Options { now: now.parse().unwrap(), only: None, every_fact: false, tries: Tries::Last };
    let client = Client::with_token(&stand_in.url, Some(PERSONAL_TOKEN.into())).unwrap();
    let reader = Reader::new(Arc::new(Live::new(Arc::new(client))));
    let Assessment { verdict, .. } = assess(&reader, rules, &target, &options).await;
    let meta = Meta {
        target: target.to_string(),
        head: verdict.inputs.head,
        base: verdict.inputs.base,
        now,
        options: serde_json::Value::Null,
    };
    record::write(folder, &meta, &reader.record()).unwrap();
    (target, options)
}

async fn assess(
    reader: &Reader,
    rules: &RuleSet,
    target: &Target,
    options: &Options,
) -> Assessment {
    let signoffs = rules.profile.reader().unwrap();
    verify::verify(reader, rules, &signoffs, target, options).await.unwrap()
}

fn subject(verdict: Verdict) -> Subject {
    Subject {
        repository: verdict.repository,
        pull_request: verdict.pull_request,
        required: true,
        signoff: verdict.signoff,
        inputs: verdict.inputs,
        profile: "example".into(),
        rules_digest: verdict.rules_digest,
        evidence_digest: verdict.evidence_digest,
        partial: false,
        changed: None,
        discarded: verdict.discarded,
    }
}

impl Read {
    fn rows(&self) -> Vec<Row> {
        evaluate(&self.rules, &self.facts, None)
    }

    fn verdict(&self) -> Verdict {
        verdict::conclude(self.rows(), self.subject.clone(), Tries::Last)
    }

    fn rendered(&self, verdict: &Verdict) -> impl Sized + use<> {
        let command = verdict.command();
        let options = self.options(&command);
        (
            verdict::json(verdict),
            verdict::comment(verdict, &options),
            verdict::text(verdict, false),
            verdict::check_output(verdict, &options, ""),
        )
    }

    fn options<'a>(&'a self, command: &'a str) -> CommentOptions<'a> {
        let escalations = &self.rules.profile.settings.escalation;
        CommentOptions { report_url: None, command, escalations }
    }
}

#[divan::bench]
fn everything(bencher: Bencher<'_, '_>) {
    let read = read();
    bencher.bench(|| read.rendered(&read.verdict()));
}

#[divan::bench]
fn evaluated(bencher: Bencher<'_, '_>) {
    bencher.bench(|| read().rows());
}

#[divan::bench]
fn concluded(bencher: Bencher<'_, '_>) {
    let read = read();
    bencher
        .with_inputs(|| (read.rows(), read.subject.clone()))
        .bench_values(|(rows, subject)| verdict::conclude(rows, subject, Tries::Last));
}

#[divan::bench]
fn as_json(bencher: Bencher<'_, '_>) {
    let verdict = read().verdict();
    bencher.bench(|| verdict::json(&verdict));
}

#[divan::bench]
fn as_comment(bencher: Bencher<'_, '_>) {
    let (verdict, command) = (read().verdict(), read().verdict().command());
    bencher.bench(|| verdict::comment(&verdict, &read().options(&command)));
}

#[divan::bench]
fn as_text(bencher: Bencher<'_, '_>) {
    let verdict = read().verdict();
    bencher.bench(|| verdict::text(&verdict, true));
}

#[divan::bench]
fn as_check_run(bencher: Bencher<'_, '_>) {
    let (verdict, command) = (read().verdict(), read().verdict().command());
    bencher.bench(|| verdict::check_output(&verdict, &read().options(&command), ""));
}
