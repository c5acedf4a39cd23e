//! Sign-offs as people write them: every kind that was seen in public threads. People, runs and
//! numbers are invented; the templates are the benchmark repository's own.

mod claims;
mod commands;
mod details;
mod explanations;
mod fix;
mod properties;
mod recognition;
mod template;

use std::sync::LazyLock;

use countersign::facts::{Checklist, ItemState, SignOff, SignOffKind, TemplateItem};
use countersign::signoff::settings::{Grammar, ItemTable, ReuseSettings};
use countersign::signoff::{NotASignOff, Place, Posted, Reader, Versions};

/// The words by which the benchmark repository's sign-offs are read.
pub const PROFILE: &str = r#"
schema: countersign/profile/v1
name: inferencex
signoff:
  phrase: As a PR reviewer and CODEOWNER
  minimum_items: 3
  details_headings: [additional detail section, additional details section]
  signature: "Signed:"
  placeholders: [insert any additional info here]
  signature_placeholders: [FILL_IN_GITHUB_USERNAME]
  run_link_wanted: [please link]
  run_links: ['/actions/runs/(?<id>\d+)', 'unofficialRun=(?<id>\d+)']
  legacy_verdicts:
    markers: ["<!-- codeowner-signoff-verify"]
    authors: ["github-actions[bot]", klara-cold]
template:
  paths: [docs/PR_REVIEW_CHECKLIST.md]
  heading: '## Template'
"#;

/// The item table of the benchmark repository.
pub const ITEMS: &str = include_str!("../rules/inferencex/items.yaml");

const NEWEST: &str = include_str!("fixtures/checklists/2026-10-newest.md");

fn grammar() -> Grammar {
    let profile: serde_json::Value = serde_yaml::from_str(PROFILE).unwrap();
    serde_json::from_value(profile["signoff"].clone()).unwrap()
}

fn item_table() -> ItemTable {
    serde_yaml::from_str(ITEMS).unwrap()
}

fn reader() -> &'static Reader {
    static READER: LazyLock<Reader> =
        LazyLock::new(|| Reader::new(&grammar(), &item_table()).unwrap());
    &READER
}

fn place() -> Place {
    Place::Comment { url: "https://github.com/acme/bench/pull/7#issuecomment-11".to_owned() }
}

fn posted() -> Posted {
    Posted {
        author: "octo-owner".to_owned(),
        kind: SignOffKind::IssueComment,
        id: 11,
        created: "2026-10-13T07:00:00Z".to_owned(),
        updated: "2026-10-13T07:00:00Z".to_owned(),
        edited_by: None,
        reviewed_commit: None,
    }
}

fn parse(body: &str) -> SignOff {
    match reader().parse(body, &place()) {
        Ok(parsed) => parsed.into_fact(posted()),
        Err(refused) => panic!("{refused} at {:?}:\n{body}", refused.line),
    }
}

fn refuse(body: &str) -> NotASignOff {
    match reader().parse(body, &place()) {
        Ok(parsed) => panic!("read as a sign-off with {} items:\n{body}", parsed.items.len()),
        Err(refused) => refused,
    }
}

fn document_place() -> Place {
    Place::Repository {
        web: "https://github.com/acme/bench".to_owned(),
        commit: "c".repeat(40),
        path: "docs/PR_REVIEW_CHECKLIST.md".to_owned(),
    }
}

fn template(document: &str) -> Vec<TemplateItem> {
    reader().parse_template(document, "## Template", &document_place()).unwrap()
}

fn compare(body: &str) -> Checklist {
    reader().compare(&parse(body), &template(NEWEST), Versions::default())
}

/// The newest template's form, without its fence.
fn form() -> String {
    NEWEST.split("```").nth(1).unwrap().trim_start().to_owned()
}

/// The same with every box checked and the rest filled in.
fn filled() -> String {
    form()
        .replace("- [ ]", "- [x]")
        .replace("- insert any additional info here", "- All eight points were run.")
        .replace("FILL_IN_GITHUB_USERNAME", "octo-owner")
}

/// A filled form in which one item's box is another text.
fn with_box(words: &str, typed: &str) -> String {
    let lines = filled();
    let lines = lines.lines().map(|line| match line.contains(words) {
        true => line.replacen("[x]", typed, 1),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A filled form with other details.
fn with_details(details: &str) -> String {
    filled().replace("- All eight points were run.", details)
}

/// A short sign-off around some item lines.
fn short(items: &str) -> String {
    format!(
        "As a PR reviewer and CODEOWNER, I have reviewed this and have:\n{items}\n\n\
         ### Additional detail section:\n- none\n\nSigned: `octo-owner`\n"
    )
}

const THREE: &str = "- [x] Verified that the general code quality is fine\n\
                     - [x] Verified that this PR has passed PR validation\n\
                     - [x] Verified that this PR passes evals";

fn ids(signoff: &SignOff) -> Vec<&str> {
    signoff.items.iter().map(|item| item.id.as_deref().unwrap_or("-")).collect()
}

fn states(signoff: &SignOff) -> Vec<ItemState> {
    signoff.items.iter().map(|item| item.state).collect()
}

#[test]
fn a_filled_form_is_read_whole() {
    let signoff = parse(&filled());
    assert_eq!(signoff.items.len(), 17);
    assert!(signoff.items.iter().all(|item| item.checked && item.id.is_some()));
    assert_eq!(signoff.details.text, "- All eight points were run.");
    assert_eq!((signoff.details.heading, signoff.details.line), (true, 21));
    assert!(!signoff.details.placeholder && !signoff.details.empty);
    assert_eq!(signoff.signed.as_deref(), Some("octo-owner"));
    assert_eq!(
        signoff.items[1].text,
        "Verified that the general code quality meets the InferenceX standard and does not make the code quality any worse."
    );
    assert_eq!((signoff.items[1].line, signoff.items[1].column), (3, 3));
    assert_eq!((signoff.items[12].line, signoff.items[12].column), (14, 5));
    assert_eq!(signoff.items[1].origin.line, Some(3));
    let checklist = compare(&filled());
    assert_eq!(checklist.matched.len(), 17);
    assert!(checklist.missing.is_empty() && checklist.unchecked.is_empty());
}

#[test]
fn other_bullets_blanks_and_line_ends_are_no_matter() {
    let plain = filled();
    let expected = parse(&plain);
    let numbered = {
        let mut number = 0;
        let lines = plain.lines().map(|line| match line.strip_prefix("- [x]") {
            Some(rest) => {
                number += 1;
                format!("{number}. [x]{rest}")
            }
            None => line.replace("  - [x]", "    - [x]"),
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    for (kind, body) in [
        ("capital X", plain.replace("[x]", "[X]")),
        ("stars", plain.replace("- [x]", "* [x]")),
        ("plus", plain.replace("- [x]", "+ [x]")),
        ("numbers", numbered),
        ("trailing blanks", plain.replace('\n', "  \n")),
        ("CRLF", plain.replace('\n', "\r\n")),
        ("lone CR", plain.replace('\n', "\r")),
        ("two blanks before everything", indented(&plain, "  ")),
        ("four blanks before everything", indented(&plain, "    ")),
        ("a tab before everything", indented(&plain, "\t")),
        ("no-break spaces in the text", plain.replace("Verified that", "Verified\u{a0}that")),
        ("no-break space behind the box", plain.replace("[x] ", "[x]\u{a0}")),
        ("zero-width characters", plain.replace("evals", "ev\u{200b}als")),
        ("direction controls", plain.replace("golden", "\u{202a}golden\u{202c}")),
        ("byte order mark", format!("\u{feff}{plain}")),
        ("blank lines between items", plain.replace("\n- [x]", "\n\n- [x]")),
        ("leading blank lines", format!("\n\n{plain}")),
        ("a heading", format!("## Review\n\n{plain}")),
        ("an HTML comment", format!("<!-- note to self -->\n{plain}")),
        (
            "somebody's marker",
            format!("<!-- codeowner-signoff-verify signoff=issuecomment-1 -->\n{plain}"),
        ),
        ("our marker", format!("<!-- countersign signoff=issue_comment/1 -->\n\n{plain}")),
        (
            "details around it",
            format!("<details><summary>Sign-off</summary>\n\n{plain}\n\n</details>\n"),
        ),
        ("a fence around it", format!("```\n{plain}```\n")),
        ("a fence with a language", format!("~~~markdown\n{plain}~~~\n")),
        ("a fence that nobody closed", format!("```md\n{plain}")),
        (
            "a bold phrase",
            plain.replacen(
                "As a PR reviewer and CODEOWNER,",
                "**As a PR reviewer and CODEOWNER**,",
                1,
            ),
        ),
        ("the phrase as a heading", format!("### {plain}")),
    ] {
        let signoff = parse(&body);
        assert_eq!(ids(&signoff), ids(&expected), "{kind}");
        assert_eq!(states(&signoff), states(&expected), "{kind}");
        assert_eq!(signoff.signed, expected.signed, "{kind}");
        assert!(signoff.details.text.contains("All eight points were run."), "{kind}");
        assert!(signoff.details.heading && !signoff.details.empty, "{kind}");
        for item in &signoff.items {
            assert_eq!(typed_at(&body, item.line, item.column, 3), item.typed, "{kind}");
        }
    }
}

fn indented(body: &str, by: &str) -> String {
    body.lines()
        .map(|line| if line.is_empty() { String::new() } else { format!("{by}{line}") })
        .collect::<Vec<_>>()
        .join("\n")
}

/// What stands at a line and column, counted as people do.
fn typed_at(body: &str, line: i64, column: i64, length: usize) -> String {
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let line = body.split('\n').nth(usize::try_from(line).unwrap() - 1).unwrap();
    line.chars().skip(usize::try_from(column).unwrap() - 1).take(length).collect()
}

#[test]
fn a_box_that_markdown_does_not_draw_is_unchecked_and_shown_with_its_place() {
    for typed in [
        "[]",
        "[ x]",
        "[x ]",
        "[✓]",
        "\\[x]",
        "［x］",
        "［ｘ］",
        "[-]",
        "[~]",
        "[N/A]",
        "[✔️]",
        "[x\u{200b}]",
    ] {
        let body = with_box("passes evals", typed);
        let signoff = parse(&body);
        let item = signoff.items.iter().find(|item| item.id.as_deref() == Some("evals")).unwrap();
        assert_eq!((item.state, item.checked), (ItemState::Malformed, false), "{typed}");
        assert_eq!((item.typed.as_str(), item.line, item.column), (typed, 5, 3));
        assert!(
            item.text.starts_with("Verified that this PR passes evals."),
            "{typed}: {}",
            item.text
        );
        let checklist = compare(&body);
        assert!(checklist.missing.is_empty(), "{typed}: unchecked, not missing");
        let [unchecked] = checklist.unchecked.as_slice() else { panic!("{typed}") };
        assert_eq!((unchecked.id.as_str(), unchecked.typed.as_str()), ("evals", typed));
        assert!(unchecked.paste.starts_with("- [x] Verified that this PR passes evals."));
        assert_eq!(unchecked.explained, None);
    }
    let glued =
        filled().replace("- [x] Verified that this PR passes", "- [x]Verified that this PR passes");
    assert_eq!(compare(&glued).unchecked[0].id, "evals");
    let no_blank =
        filled().replace("- [x] Verified that this PR passes", "-[x] Verified that this PR passes");
    let checklist = compare(&no_blank);
    assert_eq!(checklist.unchecked[0].id, "evals");
    assert_eq!((checklist.unchecked[0].line, checklist.unchecked[0].column), (5, 2));
    assert_eq!(checklist.matched.len(), 17, "the item before it keeps its own");
}

#[test]
fn columns_are_characters() {
    let body = short(&format!("{THREE}\n- 结果 [x] no box in the middle\n  - [ x] Verified 结果"));
    let signoff = parse(&body);
    assert_eq!(signoff.items.len(), 4);
    assert_eq!((signoff.items[3].line, signoff.items[3].column), (6, 5));
}

#[test]
fn retyped_and_shortened_items_are_known_by_their_words() {
    let body = short(
        "- [x] latest version of PR_REVIEW_CHECKLIST used\n\
         - [x] Code quality ok\n\
         - [x] PR validation passed: https://github.com/acme/bench/actions/runs/3826\n\
         - [x] vLLM/SGLang submitted before ATOM: https://github.com/acme/bench/pull/5\n\
         - [x] documented in vLLM recipes / SGLang cookbook\n\
         \x20\x20- [x] linked, and it is MERGED\n\
         - [x] something of my own",
    );
    assert_eq!(
        ids(&parse(&body)),
        [
            "latest-template",
            "code-quality",
            "pr-validation",
            "engine-first",
            "recipe-documented",
            "recipe-link",
            "-"
        ]
    );
}

#[test]
fn another_order_and_older_links_are_no_matter() {
    let form = filled();
    let (head, rest) = form.split_once('\n').unwrap();
    let mut lines: Vec<&str> = rest.lines().take(10).collect();
    lines.reverse();
    let tail: Vec<&str> = rest.lines().skip(10).collect();
    let body = format!("{head}\n{}\n{}", lines.join("\n"), tail.join("\n"));
    let body =
        body.replace("/blob/main/inferencex-e2e/docs/PR_REVIEW", "/edit/main/docs/PR_REVIEW");
    let checklist = compare(&body);
    assert_eq!((checklist.matched.len(), checklist.unchecked.len()), (17, 0));
    assert_eq!(checklist.matched[0].id, "latest-template", "in the template's order");
}

#[test]
fn struck_items_are_taken_back() {
    let body = filled().replace("- [x] Verified that this PR passes evals.  Please link to GitHub Action workflow that shows this.", "- [x] ~~Verified that this PR passes evals.~~");
    let signoff = parse(&body);
    assert_eq!(signoff.items[3].id.as_deref(), Some("evals"));
    assert_eq!((signoff.items[3].state, signoff.items[3].checked), (ItemState::Unchecked, false));
    let partly = filled().replace("passes evals.  Please link", "passes evals. ~~Please link~~");
    assert!(parse(&partly).items[3].checked);
}

#[test]
fn of_two_checklists_in_one_comment_the_copy_that_is_not_checked_counts() {
    let items: String = filled().lines().skip(1).take(17).map(|line| format!("{line}\n")).collect();
    let again = items.replace(
        "- [x] Verified that this PR passes evals",
        "- [ ] Verified that this PR passes evals",
    );
    let body =
        filled().replacen(&items, &format!("{items}\nAnd for the second curve:\n\n{again}"), 1);
    let checklist = compare(&body);
    let [unchecked] = checklist.unchecked.as_slice() else { panic!("{:?}", checklist.unchecked) };
    assert_eq!((unchecked.id.as_str(), unchecked.line), ("evals", 25));
    // A second form below the signature is somebody's leftover.
    let twice = format!("{}\n{}", filled(), form());
    assert_eq!(parse(&twice).items.len(), 17);
    assert!(compare(&twice).unchecked.is_empty());
}

#[test]
fn what_is_no_list_item_is_no_item() {
    let signoff = parse(&short(&format!(
        "{THREE}\n\n| box | text |\n|--|--|\n| [x] | golden AL |\n\n> - [x] does not patch\n\n<!--\n- [x] append-only\n-->\n\n```\n- [x] Pareto\n```\n"
    )));
    assert_eq!(ids(&signoff), ["code-quality", "pr-validation", "evals"]);
}

#[test]
fn words_added_below_an_item_make_no_other_item_of_it() {
    let body =
        short(&format!("{THREE}\n  The code quality of the golden AL is fine, see append-only"));
    assert_eq!(ids(&parse(&body)), ["code-quality", "pr-validation", "evals"]);
}

fn reuse_settings() -> ReuseSettings {
    serde_yaml::from_str(
        "commands:\n- { name: /use, run_id: required }\n- { name: /reuse-sweep-run, run_id: optional }\nassociations: [OWNER, MEMBER]\n",
    )
    .unwrap()
}
