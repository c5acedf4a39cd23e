//! The profile for any repository, on a release of a small library that knows no benchmarks.

use std::path::Path;

use super::worker::comments;
use super::*;
use crate::support::{CheckSpec, JobSpec, ServerProcess, StatusSpec};

const PARCEL: &str = "library-release";
const OURS: &str = "countersign";

async fn judged(change: impl FnOnce(&mut Case)) -> Verdict {
    verdict_on(&serve(case(PARCEL, change)).await, &["--rules", "example"]).await
}

/// Adds a check run of another app on the head; one without a conclusion still runs.
fn check(case: &mut Case, name: &str, app: &str, conclusion: Option<&str>) {
    case.spec.checks.push(CheckSpec {
        name: name.to_owned(),
        app: app.to_owned(),
        id: None,
        conclusion: conclusion.map(str::to_owned),
        status: None,
        on: "head".to_owned(),
    });
}

fn status(case: &mut Case, context: &str, state: &str) {
    case.spec.statuses.push(StatusSpec {
        context: context.to_owned(),
        state: state.to_owned(),
        description: None,
        on: "head".to_owned(),
        creator: None,
    });
}

/// A profile of one's own: the example with something changed in its `profile.yaml`.
fn own_profile(from: &str, to: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, mut text) in countersign::profile::builtin("example").unwrap() {
        if path == "profile.yaml" {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        std::fs::write(dir.path().join(path), text).unwrap();
    }
    dir
}

async fn judged_by(profile: &tempfile::TempDir, change: impl FnOnce(&mut Case)) -> Verdict {
    let stand_in = serve(case(PARCEL, change)).await;
    verdict_on(&stand_in, &["--rules", profile.path().to_str().unwrap()]).await
}

#[tokio::test]
async fn a_whole_sign_off_is_approved() {
    let verdict = judged(|_| {}).await;
    assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"), "{:#}", verdict.json);
    let rows = verdict.json["checks"].as_array().unwrap();
    let told: Vec<(&str, &str)> =
        rows.iter().map(|row| (word(&row["id"]), word(&row["status"]))).collect();
    let expected = [
        ("codeowner", "pass"),
        ("checklist", "pass"),
        ("ci", "pass"),
        ("secrets", "pass"),
        ("review", "attested"),
    ];
    assert_eq!(told, expected);
    // build, two tests, the audit and the status; `publish` was skipped.
    assert!(verdict.row("ci").summary().starts_with("5 checks ran on"), "{:#}", verdict.json);
}

#[tokio::test]
async fn an_open_box_without_a_word_rejects_and_an_explained_one_does_not() {
    let line = "- [x] I read every changed line.";
    let open = "- [ ] I read every changed line.";
    let silent = judged(|case| case.replace("signoff.md", line, open)).await;
    assert_eq!((silent.code, silent.outcome()), (1, "REJECTED"));
    silent.row("checklist").expect(
        "fail",
        &["The item is neither checked nor explained: `I read every changed line.`"],
    );
    let explained = judged(|case| {
        case.replace("signoff.md", line, open);
        case.replace("signoff.md", "Nothing to add.", "Item 2: all but the generated tables.");
    })
    .await;
    assert_eq!((explained.code, explained.outcome()), (0, "APPROVED"));
}

#[tokio::test]
async fn who_does_not_own_every_path_does_not_sign() {
    let verdict = judged(|case| {
        signoff(case).author = "pa-emil".to_owned();
        case.replace("signoff.md", "Signed: pa-rosa", "Signed: pa-emil");
    })
    .await;
    assert_eq!((verdict.code, verdict.outcome()), (1, "REJECTED"));
    let row = verdict.row("codeowner");
    let told = row.told();
    row.expect("fail", &["`src/lib.rs` is owned by `@pa-rosa`, and `pa-emil` is none of them"]);
    assert!(told.iter().all(|said| !said.contains("docs/CHANGELOG.md")), "theirs: {told:#?}");
    row.expect_evidence();
}

#[tokio::test]
async fn a_check_that_failed_rejects_with_a_link_to_it() {
    let verdict = judged(|case| {
        let job = &mut run(case).jobs[1];
        job.conclusion = Some("failure".to_owned());
    })
    .await;
    assert_eq!((verdict.code, verdict.outcome()), (1, "REJECTED"));
    let row = verdict.row("ci");
    row.expect("fail", &["fail: `test (stable)` ended `failure` on `"]);
    assert_eq!(row.0["verified"], true);
    let shown = word(&row.0["findings"][0]["evidence"][0]["url"]);
    assert_eq!(shown, "https://github.com/example/parcel/actions/runs/510/job/5102");
}

#[tokio::test]
async fn a_check_that_still_runs_proves_nothing_yet() {
    let verdict = judged(|case| check(case, "Slow tests", "licence-bot", None)).await;
    assert_eq!((verdict.code, verdict.outcome()), (1, "REJECTED"));
    let row = verdict.row("ci");
    row.expect("fail", &["unverified: `Slow tests` has not ended on `"]);
    assert_eq!(row.0["verified"], false);
}

#[tokio::test]
async fn a_commit_status_counts_by_its_newest_state() {
    let verdict = judged(|case| status(case, "docs/preview", "error")).await;
    assert_eq!(verdict.code, 1);
    verdict.row("ci").expect("fail", &["`docs/preview` ended `error` on `"]);
    let pending = judged(|case| status(case, "coverage", "pending")).await;
    pending.row("ci").expect("fail", &["unverified: `coverage` has not ended"]);
}

#[tokio::test]
async fn a_re_run_that_passed_replaces_the_failure_before_it() {
    let verdict = judged(|case| {
        let run = run(case);
        run.attempt = 2;
        let job = |attempt, conclusion: &str, id| JobSpec {
            name: "build".to_owned(),
            id: Some(id),
            conclusion: Some(conclusion.to_owned()),
            status: None,
            attempt: Some(attempt),
            started_at: None,
            completed_at: None,
            log: None,
        };
        run.jobs.remove(0);
        run.jobs.push(job(1, "failure", 5_101));
        run.jobs.push(job(2, "success", 5_110));
    })
    .await;
    assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"), "{:#}", verdict.json);
}

#[tokio::test]
async fn a_failure_does_not_hide_behind_a_job_of_the_same_name_in_another_workflow() {
    let verdict = judged(|case| {
        let mut other = run(case).clone();
        other.id = 520;
        other.workflow = "nightly.yml".to_owned();
        other.jobs.truncate(1);
        other.jobs[0].id = Some(5_201);
        run(case).jobs[0].conclusion = Some("failure".to_owned());
        case.spec.runs.push(other);
    })
    .await;
    verdict.row("ci").expect("fail", &["`build` ended `failure` on `"]);
}

#[tokio::test]
async fn no_ci_at_all_is_unverified_unless_the_profile_knows_of_none() {
    let silent = |case: &mut Case| {
        case.spec.runs.clear();
        case.spec.checks.clear();
        case.spec.statuses.clear();
    };
    let verdict = judged(silent).await;
    assert_eq!((verdict.code, verdict.outcome()), (1, "REJECTED"));
    let row = verdict.row("ci");
    row.expect("fail", &["unverified: No CI ran on `"]);
    assert_eq!(row.0["verified"], false);
    let knows = own_profile("  none: block", "  none: note");
    let verdict = judged_by(&knows, silent).await;
    assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"));
    verdict.row("ci").expect("pass", &["note: No CI ran on `"]);
}

#[tokio::test]
async fn the_profile_says_which_checks_are_required_ignored_and_passing() {
    let required = own_profile("required: []", r#"required: ["test (*)", "deploy *"]"#);
    let verdict = judged_by(&required, |_| {}).await;
    assert_eq!(verdict.code, 1);
    let told = verdict.row("ci").told();
    verdict.row("ci").expect("fail", &["The required check `deploy *` did not run on `"]);
    assert!(told.iter().all(|said| !said.contains("test (")), "those are there: {told:#?}");
    let present = judged_by(&required, |case| {
        check(case, "deploy preview", "licence-bot", Some("success"));
    })
    .await;
    assert_eq!((present.code, present.outcome()), (0, "APPROVED"));

    let ignoring = own_profile("ignore: [countersign-action]", "ignore: [flaky*]");
    let flaky = |case: &mut Case| check(case, "flaky/e2e", "licence-bot", Some("failure"));
    let verdict = judged_by(&ignoring, flaky).await;
    assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"));
    verdict.row("ci").expect("pass", &["note: The profile ignores `flaky/e2e`"]);
    assert_eq!(judged(flaky).await.code, 1, "without being ignored it counts");

    let strict = own_profile("passing: [success, neutral, skipped]", "passing: [success]");
    let verdict = judged_by(&strict, |_| {}).await;
    verdict.row("ci").expect("fail", &["`publish` ended `skipped` on `"]);
}

#[tokio::test]
async fn nothing_that_bears_our_name_counts_whoever_posted_it() {
    for (app, conclusion) in [
        (crate::support::APP_SLUG, Some("failure")),
        (crate::support::APP_SLUG, None),
        ("forger", Some("failure")),
        ("forger", None),
    ] {
        let verdict = judged(|case| check(case, OURS, app, conclusion)).await;
        assert_eq!(verdict.outcome(), "APPROVED", "{app} {conclusion:?}: it would hold us up");
    }
    assert_eq!(judged(|case| status(case, OURS, "failure")).await.outcome(), "APPROVED");
    let alone = judged(|case| {
        case.spec.runs.clear();
        case.spec.checks.clear();
        case.spec.statuses.clear();
        check(case, OURS, "forger", Some("success"));
        status(case, OURS, "success");
    })
    .await;
    assert_eq!(alone.outcome(), "REJECTED");
    alone.row("ci").expect("fail", &["unverified: No CI ran on `"]);
}

#[tokio::test]
async fn a_secrets_file_rejects_and_taking_one_out_is_noted() {
    let added = judged(|case| case.write("head/docs/site.pem", "-----BEGIN")).await;
    assert_eq!((added.code, added.outcome()), (1, "REJECTED"));
    let row = added.row("secrets");
    row.expect("fail", &["`docs/site.pem` has the name of a file that holds secrets (`added`)"]);
    row.expect_evidence();

    let modified = judged(|case| {
        case.write("base/.env", "A=1\n");
        case.write("head/.env", "A=2\n");
    })
    .await;
    modified.row("secrets").expect("fail", &["`.env` has the name of a file that holds"]);

    let removed = judged(|case| {
        case.write("base/.env", "A=1\n");
        case.write("head/.env.deleted", "");
    })
    .await;
    assert_eq!((removed.code, removed.outcome()), (0, "APPROVED"));
    removed.row("secrets").expect("pass", &["note: `.env` is removed, but stays in the history"]);

    let harmless = judged(|case| case.write("head/docs/keys.md", "Keep keys elsewhere.\n")).await;
    assert_eq!(harmless.outcome(), "APPROVED");
}

#[tokio::test]
async fn commit_statuses_that_cannot_be_read_leave_the_row_undecided() {
    let stand_in = serve(case(PARCEL, |_| {})).await;
    stand_in.fault(crate::support::Fault {
        pattern: "GET /repos/*/commits/*/status*".to_owned(),
        status: Some(403),
        ..Default::default()
    });
    let verdict = verdict_on(&stand_in, &["--rules", "example"]).await;
    assert_eq!((verdict.code, verdict.outcome()), (3, "UNDECIDED"));
    assert_eq!(verdict.row("ci").status(), "undecided");
}

#[tokio::test]
async fn the_configuration_says_which_profile_serves_the_repository() {
    let stand_in = serve(case(PARCEL, |_| {})).await;
    let url = stand_in.pull_url();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("countersign.toml");
    let config = file.to_str().unwrap();
    let verify = ["verify", url.as_str(), "--format", "json", "--config", config];

    // Settings of a server that this account may not read do not matter here.
    let other = "[[repository]]\nname = \"example/other\"\nprofile = \"inferencex\"\n";
    let parcel = "[[repository]]\nname = \"Example/Parcel\"\nprofile = \"example\"\n";
    let server = "[github]\nprivate_key_file = \"/nowhere.pem\"\n";
    std::fs::write(&file, format!("{server}{other}{parcel}")).unwrap();
    let verdict = Verdict::of(countersign(&stand_in, &verify).await);
    assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"), "{}", verdict.stderr);
    let built_in = verdict.json["rules_digest"].clone();

    // Its folder of profiles counts too, relative to the file.
    let profiles = folder.path().join("profiles/mine");
    std::fs::create_dir_all(&profiles).unwrap();
    for (path, text) in countersign::profile::builtin("example").unwrap() {
        let text = text.replace("name: example", "name: mine").replace("none: block", "none: note");
        std::fs::write(profiles.join(path), text).unwrap();
    }
    let mine = parcel.replace("\"example\"", "\"mine\"");
    std::fs::write(&file, format!("rules = \"profiles\"\n{mine}")).unwrap();
    let verdict = Verdict::of(countersign(&stand_in, &verify).await);
    assert_eq!(verdict.code, 0, "{}", verdict.stderr);
    assert_ne!(verdict.json["rules_digest"], built_in, "the folder's own");

    // The last line of its verdict says `--rules mine`, and that is found where it is served.
    let named = [&verify[..], &["--rules", "mine"]].concat();
    let again = Verdict::of(countersign(&stand_in, &named).await);
    assert_eq!(again.json["id"], verdict.json["id"], "{}", again.stderr);

    // --rules wins; a repository that is not served has the default, and that is said.
    let named = [&verify[..], &["--rules", "example"]].concat();
    let verdict = Verdict::of(countersign(&stand_in, &named).await);
    assert_eq!(verdict.json["rules_digest"], built_in);
    std::fs::write(&file, other).unwrap();
    let ran = countersign(&stand_in, &verify).await;
    assert_eq!(ran.code, 2, "its sign-off is none by the default profile: {}", ran.stderr);
    assert!(ran.stderr.contains("serves no example/parcel; the profile `inferencex` is used"));

    // What cannot be chosen says what was probably meant.
    let wrong = parcel.replace("\"example\"", "\"exampel\"");
    std::fs::write(&file, wrong).unwrap();
    let ran = countersign(&stand_in, &verify).await;
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("no profile `exampel` is built in; did you mean `example`?"));
    let ran = countersign(&stand_in, &["verify", &url, "--rules", "exmaple"]).await;
    assert_eq!(ran.code, 2);
    let said = "error: `exmaple` is neither a folder nor a profile that is built in; did you mean \
                `example`?";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    std::fs::write(&file, "[[repository]]\nname = \"x\"\n").unwrap();
    let ran = countersign(&stand_in, &verify).await;
    assert!(ran.code == 2 && ran.stderr.contains("`repository 1` is incomplete"), "{}", ran.stderr);
}

#[tokio::test]
async fn a_record_is_replayed_by_the_profile_that_it_was_made_with() {
    let stand_in = serve(case(PARCEL, |_| {})).await;
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let record = record.to_str().unwrap();
    let made = verdict_on(&stand_in, &["--rules", "example", "--record", record]).await;
    assert_eq!(made.code, 0);
    let asked = stand_in.requests().len();
    let ran = countersign(&stand_in, &["verify", "--replay", record, "--format", "json"]).await;
    assert_eq!((ran.code, ran.stdout), (0, made.text));
    assert_eq!(stand_in.requests().len(), asked, "nothing was asked");

    // One of another profile does not pass for a pull request without a sign-off.
    let mine = own_profile("name: example", "name: mine");
    let (mine, record) = (mine.path().to_str().unwrap(), folder.path().join("mine"));
    let record = record.to_str().unwrap();
    let made = verdict_on(&stand_in, &["--rules", mine, "--record", record]).await;
    assert_eq!(made.code, 0);
    let ran = countersign(&stand_in, &["verify", "--replay", record]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("the record was made with the profile `mine`"), "{}", ran.stderr);
    let replay = ["verify", "--replay", record, "--rules", mine, "--format", "json"];
    assert_eq!(countersign(&stand_in, &replay).await.stdout, made.text);
}

#[tokio::test]
async fn what_only_the_star_matches_is_its_owners_alone_where_the_profile_says_so() {
    let stand_in = serve(case(PARCEL, |case| drop(case.spec.comments.pop()))).await;
    let url = stand_in.pull_url();
    let ran = countersign(&stand_in, &["draft", &url, "--rules", "example"]).await;
    assert!(ran.stderr.contains("Can sign: @pa-rosa"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("@pa-emil."), "he owns the documents only: {}", ran.stderr);
    // With the other reading anybody who is listed may.
    let lenient =
        own_profile("any_owner_signs_catch_all: false", "any_owner_signs_catch_all: true");
    let emil = |case: &mut Case| case.spec.comments.last_mut().unwrap().author = "pa-emil".into();
    let row = judged_by(&lenient, emil).await;
    assert_eq!(row.row("codeowner").status(), "fail", "that rule asks for every path's owner");
    let facts = serve(case(PARCEL, emil)).await;
    for (rules, star) in [("example", false), (lenient.path().to_str().unwrap(), true)] {
        let url = facts.pull_url();
        let ran = countersign(&facts, &["facts", &url, "--rules", rules]).await;
        let facts: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let paths = &facts["owners"]["known"]["paths"];
        assert_eq!(paths[0]["catch_all"], star, "{}", facts["owners"]);
    }
}

#[tokio::test]
async fn nobodys_word_stands_behind_an_open_item() {
    let open = |case: &mut Case| {
        case.replace("signoff.md", "[x] I read every", "[ ] I read every");
        case.replace("signoff.md", "Nothing to add.", "Item 2: I read the changed files only.");
    };
    let stand_in = serve(case(PARCEL, open)).await;
    let url = stand_in.pull_url();
    let ran = countersign(&stand_in, &["verify", &url, "--rules", "example"]).await;
    assert_eq!(ran.code, 0, "it is explained: {}", ran.stdout);
    let said =
        "What is checked by evidence held; 1 check stands by nobody's word, for the item is open.";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
}

#[tokio::test]
async fn the_comment_names_the_profile_that_reproduces_it() {
    let stand_in = serve(case(PARCEL, |_| {})).await;
    let url = stand_in.pull_url();
    let ran =
        countersign(&stand_in, &["verify", &url, "--rules", "example", "--format", "markdown"])
            .await;
    let command =
        format!("Reproduce: `countersign verify {url}#issuecomment-7002 --rules example`");
    assert!(ran.stdout.contains(&command), "{}", ran.stdout);
}

#[tokio::test]
async fn a_clone_decides_what_lies_in_it_and_leaves_ci_open() {
    let stand_in = serve(case(PARCEL, |case| case.write("head/.env", "A=2\n"))).await;
    let (dir, base, head) = (stand_in.git_dir(), stand_in.sha("base"), stand_in.sha("head"));
    let dir = dir.to_str().unwrap();
    let arguments = ["verify", "--git-dir", dir, "--base", &base, "--head", &head];
    let more = ["--rules", "example", "--format", "json"];
    let verdict = Verdict::of(countersign(&stand_in, &[&arguments[..], &more].concat()).await);
    assert_eq!((verdict.code, verdict.outcome()), (1, "REJECTED"));
    assert_eq!(verdict.row("ci").status(), "undecided");
    assert_eq!(verdict.row("secrets").status(), "fail");
}

/// The parcel is served by one profile, another repository by another, in one server.
#[tokio::test]
async fn the_server_answers_each_repository_by_its_own_profile() {
    let stand_in = serve(case(PARCEL, |_| {})).await;
    let folder = tempfile::tempdir().unwrap();
    let config = "[[repository]]\nname = \"example/other\"\nprofile = \"inferencex\"\n\
                  [[repository]]\nname = \"example/parcel\"\nprofile = \"example\"\n";
    let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
    let _server =
        ServerProcess::configured(program, &["serve"], &stand_in, folder.path(), config).await;
    let asked =
        serde_json::json!({ "event": "issue_comment", "action": "created", "comment": 7_002 });
    assert_eq!(stand_in.deliver(&asked).await["status"], 202);
    stand_in
        .until("a finished check run and a comment", |world| {
            let ours = world.check_runs.values().filter(|run| run.app == crate::support::APP_SLUG);
            let mut ours = ours.map(|run| run.fields["conclusion"].clone());
            ours.any(|conclusion| conclusion == "success") && !comments(&world.writes).is_empty()
        })
        .await;
    let comments = comments(&stand_in.writes());
    let opening =
        "<!-- countersign signoff=issue_comment/7002 -->\n## ✅✅✅ **APPROVED** ✅✅✅\n";
    assert!(comments[0].starts_with(opening), "{}", comments[0]);
    assert!(comments[0].contains("Check 2 (CI): PASS"), "{}", comments[0]);
}

/// Every command that the newcomer's page shows is one that the program takes.
#[test]
fn the_commands_of_the_first_page_are_taken() {
    use clap::Parser as _;
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/first-verdict.md");
    let page = std::fs::read_to_string(page).unwrap();
    let shown = page.lines().filter(|line| line.starts_with("countersign "));
    let spoken =
        page.split('`').filter(|code| code.starts_with("countersign ") && !code.contains('\n'));
    let commands: Vec<&str> = shown.chain(spoken).collect();
    assert!(commands.len() >= 8, "{commands:#?}");
    for command in commands {
        let words = command.split('#').next().unwrap().split_whitespace();
        let taken = countersign::cli::Cli::try_parse_from(words);
        assert!(taken.is_ok(), "{command}: {}", taken.unwrap_err());
    }
}

/// What a newcomer copies is what the profile reads, and holds nothing that no rule answers for.
#[test]
fn the_template_beside_the_profile_is_the_one_that_the_case_has() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copied = std::fs::read_to_string(root.join("rules/example/SIGNOFF_TEMPLATE.md")).unwrap();
    assert_eq!(case(PARCEL, |_| {}).text("base/docs/SIGNOFF_TEMPLATE.md").unwrap(), copied);
    let files = countersign::profile::builtin("example").unwrap();
    assert!(!files.contains_key("SIGNOFF_TEMPLATE.md"), "it is no part of the policy");
    let profile = countersign::profile::Profile::from_files("example", &files).unwrap();
    let place = countersign::signoff::Place::File { path: "SIGNOFF_TEMPLATE.md".to_owned() };
    let items = profile.reader().unwrap().parse_template(&copied, "Template", &place).unwrap();
    let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
    let known: Vec<&str> = profile.items.items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, known);
}
