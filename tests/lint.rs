//! `lint` and `inspect` as people run them: the program itself, its two streams, its exit code.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::signoff_wild::{ITEMS, PROFILE};

/// What a profile has beside the words of its sign-offs.
const REST_OF_PROFILE: &str = "
scope: { codeowners: [CODEOWNERS], exempt_teams: [], exempt_admins: false }
trigger: { permissions: [write], roles: [write] }
check_run: { name: countersign }
";

const DRAFT: &str = "\
As a PR reviewer and CODEOWNER, I have reviewed this and have:
- [x] Verified that this is the latest version of PR_REVIEW_CHECKLIST.md
- [ x] Verified that the general code quality is fine: https://a.example/1
- [x] Verified that this PR has passed PR validation. Please link to GitHub Action workflow that shows this.
- [ ] Verified that this PR passes evals.
- [ ] For agentic workloads: golden AL curve
- [x] My own promise

### Additional detail section:
- Golden AL: fixed sequences only

Signed: `FILL_IN_GITHUB_USERNAME`
";

const TEMPLATE: &str = "\
# Checklist

## Template
```
As a PR reviewer and CODEOWNER, I have reviewed this and have:
- [ ] Verified that this is the latest version of PR_REVIEW_CHECKLIST.md
- [ ] Verified that the general code quality is fine
- [ ] Verified that this PR has passed PR validation. Please link to GitHub Action workflow that shows this.
- [ ] Verified that this PR passes evals.
- [ ] For agentic workloads: golden AL curve
- [ ] Verified that this PR does not patch the engine
```
";

/// What a run of the program gave.
struct Outcome {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs the program in a folder with the profile, the draft and the template.
fn run(arguments: &[&str], stdin: &[u8]) -> Outcome {
    run_in(folder().path(), arguments, stdin)
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("rules")).unwrap();
    write("rules/profile.yaml", &format!("{PROFILE}{REST_OF_PROFILE}"));
    write("rules/items.yaml", ITEMS);
    write("draft.md", DRAFT);
    write("template.md", TEMPLATE);
    write("CODEOWNERS", "* @acme/core\n");
    std::fs::write(folder.path().join("latin1.md"), b"caf\xe9").unwrap();
    folder
}

fn run_in(folder: &Path, arguments: &[&str], stdin: &[u8]) -> Outcome {
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its input may close the pipe first.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn problems_are_drawn_at_their_places() {
    let outcome = run(&["lint", "draft.md", "--rules", "rules", "--template", "template.md"], b"");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (1, ""));
    insta::assert_snapshot!(outcome.stdout, @r#"
    error: `code-quality`: `[ x]` looks like a box, but Markdown draws none, so the item is not checked
     --> draft.md:3:3
      |
    3 | - [ x] Verified that the general code quality is fine: https://a.example/1
      |   ^^^^ no box is drawn here
      |
      = help: write `[x]` once it is true, or say in the details why it is not
    - [x] Verified that the general code quality is fine: https://a.example/1

    note: `pr-validation` asks for a link to a workflow run and has none
     --> draft.md:4:1
      |
    4 | - [x] Verified that this PR has passed PR validation. Please link to GitHub Action workflow that shows this.
      | ^ no run linked here or in the details

    error: `evals`: the item is not checked
     --> draft.md:5:3
      |
    5 | - [ ] Verified that this PR passes evals.
      |   ^^^ not checked
      |
      = help: write `[x]` once it is true, or say in the details why it is not
    - [x] Verified that this PR passes evals.

    note: `golden-al`: the item is not checked
     --> draft.md:6:3
      |
    6 | - [ ] For agentic workloads: golden AL curve
      |   ^^^ not checked
      |
      = help: explained by "Golden AL: fixed sequences only"

    note: this item is none of the template's; nothing will check it
     --> draft.md:7:3
      |
    7 | - [x] My own promise
      |   ^^^ unknown item

    error: the item `no-engine-patch` is missing: Verified that this PR does not patch the engine
     |
     = help: paste this line, and check it once it is true
    - [ ] Verified that this PR does not patch the engine

    note: no login stands on a `Signed:` line
     |
     = help: end with `Signed:` and your login; the account that posts counts in any case

    draft.md: 3 problems, 4 notes
    "#);
}

#[test]
fn a_clean_draft_is_said_to_be_clean() {
    let draft = DRAFT
        .replace("[ x]", "[x]")
        .replace("[ ]", "[x]")
        .replace("- [x] My own promise", "- [x] Verified that this PR does not patch the engine")
        .replace("- Golden AL", "- https://github.com/acme/bench/actions/runs/3826, golden AL")
        .replace("FILL_IN_GITHUB_USERNAME", "octo-owner");
    let arguments = ["lint", "-", "--rules", "rules", "--template", "template.md"];
    let outcome = run(&arguments, draft.as_bytes());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{}", outcome.stdout);
    assert_eq!(outcome.stdout, "<stdin>: nothing to report\n");
}

#[test]
fn without_a_template_the_known_items_are_looked_for_and_it_says_so() {
    let outcome = run(&["lint", "draft.md", "--rules", "rules"], b"");
    assert_eq!(outcome.code, 1);
    assert_eq!(outcome.stdout.matches("of the known items are missing: ").count(), 1);
    assert!(outcome.stdout.contains(", `exceptions-explained`, `pareto`"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("--template FILE shows the lines"));
    assert!(outcome.stdout.ends_with(
        "Compared with the known items only; --template FILE compares with a checklist document.\n"
    ));
}

#[test]
fn the_json_form_holds_the_same() {
    let arguments =
        ["lint", "draft.md", "--rules", "rules", "--template", "template.md", "--format", "json"];
    let outcome = run(&arguments, b"");
    let value: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(outcome.code, 1);
    assert_eq!(value["schema"], "countersign/lint/v1");
    assert_eq!((&value["clean"], &value["compared_with"]), (&false.into(), &"template.md".into()));
    let quality =
        value["problems"].as_array().unwrap().iter().find(|p| p["item"] == "code-quality").unwrap();
    assert_eq!(
        (&quality["line"], &quality["column"], &quality["width"]),
        (&3.into(), &3.into(), &4.into())
    );
    assert_eq!(
        quality["paste"],
        "- [x] Verified that the general code quality is fine: https://a.example/1"
    );
}

#[test]
fn a_draft_that_would_not_be_recognised_is_a_finding_with_the_reason() {
    let outcome = run(&["lint", "-", "--rules", "rules"], format!("LGTM\n\n{DRAFT}").as_bytes());
    assert_eq!(outcome.code, 1);
    assert!(outcome.stdout.starts_with("error: this would not be read as a sign-off: the opening phrase does not open the comment\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("--> <stdin>:3:1"));
    assert!(
        outcome
            .stdout
            .contains("= help: move everything above the opening phrase below the checklist")
    );
}

#[test]
fn what_a_terminal_would_obey_is_not_printed() {
    let draft = DRAFT.replace("My own promise", "My \u{1b}[2J\u{202e}promise");
    let draft = draft.replace("Golden AL: fixed", "Golden AL: \u{1b}]0;owned\u{7} fixed");
    let outcome = run(&["lint", "-", "--rules", "rules"], draft.as_bytes());
    assert_eq!(outcome.code, 1);
    assert!(!outcome.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{:?}", outcome.stdout);
}

#[test]
fn input_that_cannot_be_read_is_bad_input() {
    let long = "x".repeat(4 * 65_536 + 1);
    for (arguments, stdin, says) in [
        (vec!["lint", "nowhere.md", "--rules", "rules"], "", "nowhere.md: cannot be read"),
        (vec!["lint", "latin1.md", "--rules", "rules"], "", "latin1.md: not UTF-8: byte 3"),
        (
            vec!["lint", "-", "--rules", "rules"],
            long.as_str(),
            "<stdin>: longer than the 262144 bytes",
        ),
        (
            vec!["lint", "draft.md", "--rules", "nowhere"],
            "",
            "`nowhere` is neither a folder nor a profile that is built in",
        ),
        (
            vec!["lint", "draft.md", "--rules", "rules", "--template", "CODEOWNERS"],
            "",
            "CODEOWNERS: it has neither",
        ),
        (vec!["inspect", "signoff", "latin1.md", "--rules", "rules"], "", "not UTF-8"),
        (vec!["lint", "nowhere.md", "--fix", "--rules", "rules"], "", "nowhere.md: cannot be read"),
        (vec!["lint", "latin1.md", "--fix", "--rules", "rules"], "", "not UTF-8"),
        (vec!["inspect", "safetensors", "draft.md"], "", "not built yet"),
        (vec!["inspect", "log", "nowhere.log"], "", "nowhere.log: cannot be read"),
        (vec!["inspect", "pareto", "draft.md"], "", "draft.md: "),
        (vec!["inspect", "pareto", "-"], "[]", "<stdin>: "),
        (
            vec!["inspect", "pareto", "-"],
            "[{\"key\": \"a\", \"points\": []}, {\"key\": \"a\", \"points\": []}]",
            "<stdin>: ",
        ),
        (vec!["inspect", "golden", "-"], "m: {thinking_on: {1: 3.5}}", "<stdin>: "),
        (vec!["inspect", "thresholds", "-"], "models: 5", "<stdin>: "),
        (
            vec!["inspect", "signoff", "draft.md", "more.md", "--rules", "rules"],
            "",
            "takes one file",
        ),
    ] {
        let outcome = run(&arguments, stdin.as_bytes());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(outcome.stderr.contains(says), "{arguments:?}: {}", outcome.stderr);
    }
}

/// What `--fix` makes of [`DRAFT`].
fn mended() -> String {
    DRAFT.replace("[ x]", "[x]").replace(
        "- [x] My own",
        "- [ ] Verified that this PR does not patch the engine\n- [x] My own",
    )
}

#[test]
fn fix_mends_the_file_in_place_and_reports_what_is_left() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let file = folder.path().join("draft.md");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let arguments = ["lint", "draft.md", "--fix", "--rules", "rules", "--template", "template.md"];
    let outcome = run_in(folder.path(), &arguments, b"");
    assert_eq!(outcome.code, 1, "{}", outcome.stdout);
    assert_eq!(
        outcome.stderr,
        "draft.md:3: `[ x]` is now `[x]`\n\
         draft.md:7: the item `no-engine-patch` was put in, unchecked\n"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), mended());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 5, "nothing else is left in the folder");
    // Two boxes are not checked, and that only their author can mend.
    assert!(outcome.stdout.contains("error: `evals`: the item is not checked"));
    assert!(outcome.stdout.contains("error: `no-engine-patch`: the item is not checked"));
    assert!(outcome.stdout.ends_with("draft.md: 2 problems, 4 notes\n"), "{}", outcome.stdout);

    let before = std::fs::metadata(&file).unwrap().modified().unwrap();
    let again = run_in(folder.path(), &arguments, b"");
    assert_eq!((again.code, again.stderr.as_str(), again.stdout), (1, "", outcome.stdout));
    let untouched = std::fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(before, untouched, "a whole draft is not written again");
}

#[test]
fn fix_of_standard_input_prints_the_draft_alone() {
    let arguments = ["lint", "-", "--fix", "--rules", "rules", "--template", "template.md"];
    let outcome = run(&arguments, DRAFT.as_bytes());
    assert_eq!((outcome.code, outcome.stdout), (1, mended()));
    assert!(outcome.stderr.starts_with("<stdin>:3: `[ x]` is now `[x]`\n"), "{}", outcome.stderr);
    assert!(outcome.stderr.ends_with("<stdin>: 2 problems, 4 notes\n"), "{}", outcome.stderr);
    let slips = DRAFT
        .replace("- [ ] ", "- [✓] ")
        .replace("- [x] My own promise", "-[x] Verified that this PR does not patch the engine")
        .replace("FILL_IN_GITHUB_USERNAME", "octo-owner");
    let outcome = run(&arguments, slips.as_bytes());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(!outcome.stdout.contains(['✓']) && !outcome.stdout.contains("[ ]"));
}

#[test]
fn inspect_shows_a_sign_off_as_the_facts_hold_it() {
    let outcome = run(&["inspect", "signoff", "draft.md", "--rules", "rules"], b"");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let value: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        (&value["recognised"], &value["author"], &value["kind"]),
        (&true.into(), &"".into(), &"file".into())
    );
    assert_eq!(value["items"].as_array().unwrap().len(), 6);
    assert_eq!(
        (&value["items"][1]["typed"], &value["items"][1]["state"]),
        (&"[ x]".into(), &"malformed".into())
    );
    assert_eq!(value["items"][1]["origin"]["path"], "draft.md");
    assert_eq!(value["details"]["line"], 10);
    assert!(value["signed"].is_null());
}

#[test]
fn inspect_says_why_a_text_is_no_sign_off() {
    let outcome = run(&["inspect", "signoff", "-", "--rules", "rules"], b"LGTM");
    let value: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(outcome.code, 0);
    assert_eq!(
        value,
        serde_json::json!({
            "recognised": false,
            "why": "the opening phrase \"As a PR reviewer and CODEOWNER\" is missing",
            "near": false,
            "line": null,
            "hint": null,
        })
    );
}
