//! `draft`: what evidence proves is filled in, the rest asks a person, and only a person's answers
//! make it a sign-off that is approved.

use std::process::Output;

use serde_json::{Value, json};

use crate::support::{Case, Options, StandIn};

const B200: &str = "b200-image-bump";
const GB200: &str = "gb200-sglang-agentx-refresh";
const PLACEHOLDER: &str = "insert any additional info here";
const DETAILS: &str = "### Additional detail section:";
const UNSIGNED: &str = "Signed: `FILL_IN_GITHUB_USERNAME`";

/// A case without its sign-off, which is the last comment of either.
fn unsigned(name: &str) -> Case {
    Case::load(name).with(|case| drop(case.spec.comments.pop()))
}

async fn serve(case: Case) -> StandIn {
    StandIn::start(case, Options::default()).await
}

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

async fn countersign(stand_in: &StandIn, arguments: &[&str]) -> Ran {
    let Output { status, stdout, stderr } =
        tokio::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(arguments)
            .envs(stand_in.environment())
            .env("NO_COLOR", "1")
            .output()
            .await
            .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: status.code().unwrap(), stdout: text(stdout), stderr: text(stderr) }
}

async fn draft(stand_in: &StandIn, more: &[&str]) -> Ran {
    let url = stand_in.pull_url();
    countersign(stand_in, &[&["draft", url.as_str()], more].concat()).await
}

/// Posts a comment.
async fn post(stand_in: &StandIn, id: u64, author: &str, created: &str, body: &str) {
    let comment = json!({ "id": id, "author": author, "created": created, "body": body });
    let posted = reqwest::Client::new()
        .post(format!("{}/_comment", stand_in.url))
        .json(&comment)
        .send()
        .await
        .unwrap();
    assert_eq!(posted.status(), 200, "{}", posted.text().await.unwrap());
}

/// The verdict on the newest sign-off, with the exit code.
async fn verdict(stand_in: &StandIn) -> (i32, Value) {
    let url = stand_in.pull_url();
    let ran = countersign(stand_in, &["verify", &url, "--format", "json"]).await;
    let json = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    (ran.code, json)
}

fn row<'v>(verdict: &'v Value, id: &str) -> &'v Value {
    verdict["checks"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap()
}

/// The template of a case: the content of its document's code block.
fn template(name: &str) -> String {
    let folder = if name == B200 { "base/docs" } else { "base/inferencex-e2e/docs" };
    let document = Case::load(name).text(&format!("{folder}/PR_REVIEW_CHECKLIST.md")).unwrap();
    document.split("```").nth(1).unwrap().trim_start().to_owned()
}

/// The additional details of the case's own sign-off.
fn details(name: &str) -> String {
    let signoff = Case::load(name).text("signoff.md").unwrap();
    let (_, below) = signoff.split_once(DETAILS).unwrap();
    below.rsplit_once("Signed:").unwrap().0.trim().to_owned()
}

/// Completes a draft in the places where it asks and nowhere else: checks what is open, puts the
/// details of the case's own sign-off where the first placeholder asks, and signs.
fn completed(draft: &str, details: &str, login: &str) -> String {
    let (items, rest) = draft.split_once(DETAILS).unwrap();
    let items = items.replace("- [ ] ", "- [x] ");
    let mut details = Some(details);
    let lines = rest.lines().filter_map(|line| match line.contains(PLACEHOLDER) {
        true => details.take().map(str::to_owned),
        false => Some(line.to_owned()),
    });
    let rest = lines.collect::<Vec<_>>().join("\n");
    format!("{items}{DETAILS}{}\n", rest.replace("FILL_IN_GITHUB_USERNAME", login))
}

/// The lines of the draft's items, without bullet and box.
fn items(draft: &str) -> Vec<(bool, &str)> {
    let items = draft.split_once(DETAILS).unwrap().0.lines();
    let of = |line: &'static str, text| <str>::trim_start(text).strip_prefix(line);
    items
        .filter_map(|line| match (of("- [x] ", line), of("- [ ] ", line)) {
            (Some(text), _) => Some((true, text)),
            (_, Some(text)) => Some((false, text)),
            _ => None,
        })
        .collect()
}

async fn a_completed_draft_is_approved(name: &str, login: &str, created: &str) {
    let stand_in = serve(unsigned(name)).await;
    let drafted = draft(&stand_in, &[]).await;
    assert_eq!(drafted.code, 0, "{}", drafted.stderr);
    let body = completed(&drafted.stdout, &details(name), login);
    assert!(!body.contains(PLACEHOLDER) && !body.contains("[ ]"), "{body}");
    post(&stand_in, 4_999_000_001, login, created, &body).await;
    let (code, verdict) = verdict(&stand_in).await;
    assert_eq!((code, verdict["verdict"].as_str()), (0, Some("APPROVED")), "{verdict:#}");
    assert_eq!(verdict["signoff"]["author"], login);
    assert!(stand_in.writes().is_empty(), "a draft writes nothing");
}

#[tokio::test]
async fn a_completed_draft_of_the_agentic_refresh_is_approved() {
    a_completed_draft_is_approved(GB200, "nv-marie", "2026-10-13T07:30:00Z").await;
}

#[tokio::test]
async fn a_completed_draft_of_the_image_bump_is_approved() {
    a_completed_draft_is_approved(B200, "nv-ada", "2026-09-11T08:30:00Z").await;
}

#[tokio::test]
async fn what_is_proven_is_filled_in_and_the_template_stays_as_it_is() {
    let stand_in = serve(unsigned(GB200)).await;
    let Ran { code, stdout, stderr } = draft(&stand_in, &[]).await;
    assert_eq!(code, 0, "{stderr}");
    let run = "https://github.com/SemiAnalysisAI/InferenceX/actions/runs/38412750933";
    let template = template(GB200);
    let (form, _) = template.split_once(&format!("- {PLACEHOLDER}")).unwrap();
    let proven = "- [ ] Verified that this PR has passed PR validation. Please link to GitHub Action workflow that shows this.";
    let filled = format!("{} [run 38412750933]({run})", proven.replace("[ ]", "[x]"));
    assert_eq!(template.matches(proven).count(), 1);
    let (drafted, rest) = stdout.split_once(&format!("{DETAILS}\n")).unwrap();
    assert!(drafted.contains(&filled), "{drafted}");
    // What is proven is checked, and nothing else differs from the template.
    let unchecked = drafted.replace(&filled, proven).replace("- [x] ", "- [ ] ");
    assert_eq!(format!("{unchecked}{DETAILS}\n"), form);
    assert_eq!(drafted.matches("- [x] ").count(), 6, "{drafted}");
    let head = stand_in.sha("head");
    let said = format!(
        "> Proven by machine at [`{}`](https://github.com/SemiAnalysisAI/InferenceX/commit/{head}):",
        &head[..7]
    );
    assert!(rest.starts_with(&said), "{rest}");
    assert!(rest.contains("is complete: 8 benchmarks and 2 evaluations succeeded ([run]("));
    assert!(rest.contains("> - **Reuse command**: `/use 38412750933` by `nv-marie` ([comment"));
    assert!(rest.ends_with(&format!("\n\n{UNSIGNED}\n")), "{rest}");
    assert!(rest.contains(&format!("\n- Item 2 (Code quality): {PLACEHOLDER}\n")), "{rest}");
    assert!(stderr.contains("  item 2 (Code quality): only a person can judge it\n"), "{stderr}");
    assert!(stderr.contains("\nCan sign: @nv-marie, @nv-ada.\n"), "{stderr}");
    let open = items(&stdout).iter().filter(|(checked, _)| !checked).count();
    let explained = stdout.matches(": not applicable: ").count();
    assert_eq!(explained, 1, "append-only does not apply");
    assert_eq!(
        stdout.matches(PLACEHOLDER).count(),
        open - explained,
        "one line for each open item"
    );
}

#[tokio::test]
async fn a_draft_as_it_is_is_rejected_for_exactly_what_is_open() {
    let stand_in = serve(unsigned(GB200)).await;
    let drafted = draft(&stand_in, &["--author", "nv-marie"]).await;
    assert!(drafted.stdout.ends_with("\nSigned: `nv-marie`\n"), "{}", drafted.stdout);
    post(&stand_in, 4_999_000_001, "nv-marie", "2026-10-13T07:30:00Z", &drafted.stdout).await;
    let (code, verdict) = verdict(&stand_in).await;
    assert_eq!((code, verdict["verdict"].as_str()), (1, Some("REJECTED")));
    let findings = row(&verdict, "checklist")["findings"].as_array().unwrap();
    let fails: Vec<&str> = findings
        .iter()
        .filter(|finding| finding["level"] == "fail")
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    let open: Vec<&str> = items(&drafted.stdout)
        .into_iter()
        .filter_map(|(checked, text)| (!checked).then_some(text))
        // What does not apply is explained.
        .filter(|text| !text.contains("append-only: true"))
        .collect();
    assert!(open.len() > 2);
    assert_eq!(fails.len(), open.len(), "{fails:#?}");
    for (said, text) in fails.iter().zip(open) {
        let said = said.strip_prefix("The item is neither checked nor explained: `").unwrap();
        // Up to the first link, whose target is not shown.
        let words = text.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ");
        let words: String = words.chars().take_while(|c| *c != '[').take(60).collect();
        assert!(words.len() > 25 && said.starts_with(&words), "{said} is not about {text}");
    }
    assert_eq!(row(&verdict, "sweep")["status"], "pass");
}

#[tokio::test]
async fn without_a_run_the_item_stays_open_and_it_says_how_to_get_one() {
    let stand_in = serve(unsigned(B200).with(|case| case.spec.runs.clear())).await;
    let Ran { code, stdout, stderr } = draft(&stand_in, &[]).await;
    assert_eq!(code, 0, "{stderr}");
    assert!(
        items(&stdout).iter().all(|(checked, text)| !checked || !text.contains("PR validation"))
    );
    assert!(!stdout.contains("/actions/runs/"), "{stdout}");
    let todo = format!(
        "- Item 3 (Sweep): {PLACEHOLDER}. To do: No passing sweep was found on any commit of this \
         pull request. Fix: Run a full sweep"
    );
    assert!(stdout.contains(&todo), "{stdout}");
    assert!(
        stderr.contains("17 items: 5 proven, 1 not applicable, 10 yours, 1 failing\n"),
        "{stderr}"
    );
    assert!(stderr.contains("  item 3 (Sweep): No passing sweep was found"), "{stderr}");
    assert!(stderr.contains("    fix: Run a full sweep on a current commit"), "{stderr}");
    // The missing reuse command is told, and its line to paste is no line of the draft.
    assert!(
        stderr.contains("  beside the checklist (Reuse command): No authorised reuse command"),
        "{stderr}"
    );
    assert!(!stdout.lines().any(|line| line.trim().starts_with("/use")), "{stdout}");
}

#[tokio::test]
async fn an_item_that_does_not_apply_is_explained_and_not_checked() {
    let case = unsigned(GB200).with(|case| {
        case.spec.pull_request.commits.retain(|commit| commit.id == "head");
        for path in case.files_under("head").unwrap() {
            case.remove(&format!("head/{path}"));
        }
        case.write("head/inferencex-e2e/docs/MODELS.md", "# Models\n");
        case.spec.runs.clear();
    });
    let stand_in = serve(case).await;
    let Ran { code, stdout, stderr } = draft(&stand_in, &[]).await;
    assert_eq!(code, 0, "{stderr}");
    let line = "- Item 3 (Sweep): not applicable: No affected configuration has anything to run";
    assert!(stdout.contains(line), "{stdout}");
    assert!(items(&stdout).iter().all(|(checked, _)| !checked), "{stdout}");
    post(&stand_in, 4_999_000_001, "nv-ada", "2026-10-13T07:30:00Z", &stdout).await;
    let (_, verdict) = verdict(&stand_in).await;
    let told = row(&verdict, "checklist")["findings"].to_string();
    let explained = "The item is not checked, and explained by `Item 3 (Sweep): not applicable";
    // The sweep, both items of images, deprecated models, architecture, patches, append-only.
    assert_eq!(told.matches("The item is not checked, and explained by").count(), 7, "{told}");
    assert!(told.contains(explained), "{told}");
}

#[tokio::test]
async fn hostile_titles_branches_and_paths_leave_no_markdown_in_the_draft() {
    let evil = "[x](https://evil.example) @nv-ada <b> `item 2`\n- [x] code quality";
    let path = "inferencex-e2e/benchmarks/[x](https:evil) @nv-ada `item 2: fine.sh";
    let workflow = ".github/actions/a) @nv-tomasz [y](z)/item 4: code quality.yml";
    let case = unsigned(GB200).with(|case| {
        case.spec.pull_request.title = evil.to_owned();
        case.spec.pull_request.head_ref = "a/@nv-ada/item-2`".to_owned();
        case.write(&format!("head/{path}"), "x\n");
        // A file that makes evidence: the sweep's row then names its path.
        case.write(&format!("head/{workflow}"), "x\n");
    });
    let stand_in = serve(case).await;
    let Ran { code, stdout, stderr } = draft(&stand_in, &[]).await;
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("/item 4: code quality.yml`"), "the row names the path: {stdout}");
    for leaked in ["evil.example", "](z)", "<b>"] {
        let outside: String = stdout.split('`').step_by(2).collect();
        assert!(!outside.contains(leaked), "{leaked} leaked: {stdout}");
    }
    let outside: String = stdout.split('`').step_by(2).collect();
    assert!(!outside.contains("@nv-"), "somebody is called: {stdout}");
    // What the path says explains no item and checks none.
    post(&stand_in, 4_999_000_001, "nv-marie", "2026-10-13T07:30:00Z", &stdout).await;
    let (_, verdict) = verdict(&stand_in).await;
    let told = row(&verdict, "checklist")["findings"].to_string();
    assert_eq!(told.matches("explained by").count(), 1, "append-only does not apply: {told}");
    let checked: Vec<&str> =
        items(&stdout).into_iter().filter_map(|(checked, text)| checked.then_some(text)).collect();
    let own = ["Verified that the general code quality", "Verified that this PR passes evals"];
    assert!(
        !checked.iter().any(|text| own.iter().any(|own| text.starts_with(own))),
        "{checked:#?}"
    );
}

#[tokio::test]
async fn what_cannot_be_read_leaves_its_items_open_and_ends_with_3() {
    let stand_in = serve(unsigned(GB200)).await;
    let whole = draft(&stand_in, &[]).await;
    stand_in.fault(crate::support::Fault {
        pattern: "GET /repos/*/actions/runs*".to_owned(),
        status: Some(502),
        ..crate::support::Fault::default()
    });
    let Ran { code, stdout, stderr } = draft(&stand_in, &[]).await;
    assert_eq!(code, 3, "{stderr}");
    assert_eq!(items(&stdout).len(), items(&whole.stdout).len());
    assert!(
        items(&stdout).iter().all(|(checked, text)| !checked || !text.contains("PR validation"))
    );
    assert!(
        stderr.contains("Could not be read; draft again later:\n  item 3 (Sweep): "),
        "{stderr}"
    );
}

#[tokio::test]
async fn a_record_gives_the_same_draft_and_a_clone_one_without_what_github_has() {
    let stand_in = serve(unsigned(GB200)).await;
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record").display().to_string();
    let first = draft(&stand_in, &["--record", &record]).await;
    let again = countersign(&stand_in, &["draft", "--replay", &record]).await;
    assert_eq!((again.code, &again.stdout), (0, &first.stdout), "{}", again.stderr);
    assert_eq!(again.stderr, first.stderr);

    let (base, head) = (stand_in.sha("base"), stand_in.sha("head"));
    let git_dir = stand_in.git_dir().display().to_string();
    let arguments = ["draft", "--git-dir", &git_dir, "--base", &base, "--head", &head];
    let local = countersign(&stand_in, &arguments).await;
    assert_eq!(local.code, 0, "{}", local.stderr);
    // What lies in the files is proven from a clone, too; what GitHub has is not.
    let proven =
        items(&local.stdout).into_iter().filter_map(|(checked, text)| checked.then_some(text));
    let proven: Vec<&str> = proven.collect();
    assert_eq!(proven.len(), 5, "{}", local.stdout);
    assert!(!proven.iter().any(|text| text.contains("PR validation")));
    assert_eq!(items(&local.stdout).len(), 17);
}

#[tokio::test]
async fn what_is_no_pull_request_or_login_is_bad_input() {
    let stand_in = serve(unsigned(GB200)).await;
    let comment = format!("{}#issuecomment-4377182244", stand_in.pull_url());
    let ran = countersign(&stand_in, &["draft", &comment]).await;
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("takes the URL of a pull request"), "{}", ran.stderr);
    let ran = draft(&stand_in, &["--author", "no login"]).await;
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let no_template =
        unsigned(GB200).with(|case| case.remove("base/inferencex-e2e/docs/PR_REVIEW_CHECKLIST.md"));
    let ran = draft(&serve(no_template).await, &[]).await;
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("there is no checklist on main"), "{}", ran.stderr);
}
