//! The command line: exit codes, the document, the forms of a target, what goes to which stream.

use countersign::facts::{canonical, sha256_hex};
use serde_json::json;

use super::*;

/// The keys of the document, in the order of the contract.
const KEYS: [&str; 16] = [
    "schema",
    "verdict",
    "id",
    "partial",
    "warnings",
    "undecided",
    "retry_at",
    "inputs",
    "assessed_commit",
    "repository",
    "pull_request",
    "signoff",
    "rules_digest",
    "evidence_digest",
    "checks",
    "discarded",
];
const ROW_KEYS: [&str; 10] = [
    "id",
    "number",
    "title",
    "severity",
    "status",
    "verified",
    "evidence_digest",
    "summary",
    "overridden",
    "findings",
];
const FINDING_KEYS: [&str; 5] = ["level", "message", "fix", "subject", "evidence"];
const EVIDENCE_KEYS: [&str; 7] = ["kind", "url", "path", "line", "pointer", "commit", "quote"];

/// The checks of the profile by number, as the contract fixes them.
const CHECKS: [&str; 19] = [
    "codeowner",
    "sweep",
    "evals",
    "upstream-recipe",
    "reuse-command",
    "checklist",
    "upstream-image",
    "deprecated-model",
    "architecture",
    "chat-template",
    "engine-patch",
    "golden-al",
    "append-only",
    "draft-as-shipped",
    "pareto-coverage",
    "description",
    "claims",
    "code-quality",
    "vendor-overview",
];

fn sorted<'k>(keys: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    let mut keys: Vec<&str> = keys.into_iter().collect();
    keys.sort_unstable();
    keys
}

fn is_digest(value: &Value) -> bool {
    word(value).strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64)
}

/// Holds a document to the contract.
#[track_caller]
fn expect_contract(verdict: &Verdict) {
    let json = &verdict.json;
    let same = |value: &Value, expected: &[&str]| {
        let found = value.as_object().unwrap().keys().map(String::as_str);
        assert_eq!(sorted(found), sorted(expected.iter().copied()));
    };
    let top = verdict.text.lines().filter_map(|line| line.strip_prefix("  \"")?.split_once('"'));
    assert_eq!(top.map(|(key, _)| key).collect::<Vec<_>>(), KEYS);
    assert_eq!(json["schema"], "countersign/verdict/v1");
    same(
        &json["inputs"],
        &["head", "base", "newer_head", "signoff_body", "runs", "upstream", "date"],
    );
    assert!(is_digest(&json["rules_digest"]) && is_digest(&json["evidence_digest"]));
    let mut without_id = json.clone();
    without_id.as_object_mut().unwrap().remove("id");
    assert_eq!(json["id"], format!("sha256:{}", sha256_hex(canonical(&without_id).as_bytes())));
    for row in json["checks"].as_array().unwrap() {
        same(row, &ROW_KEYS);
        assert!(is_digest(&row["evidence_digest"]), "{row:#}");
        for finding in row["findings"].as_array().unwrap() {
            same(finding, &FINDING_KEYS);
            for evidence in finding["evidence"].as_array().unwrap() {
                same(evidence, &EVIDENCE_KEYS);
            }
        }
    }
}

#[tokio::test]
async fn zero_is_an_approval_with_the_whole_document() {
    let stand_in = serve(case(B200, |_| {})).await;
    let verdict = verdict_on(&stand_in, &[]).await;
    expect_contract(&verdict);
    assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"));
    let json = &verdict.json;
    assert_eq!(json["partial"], false);
    assert_eq!(json["undecided"], json!([]));
    assert_eq!(json["retry_at"], Value::Null);
    assert_eq!(json["repository"], "SemiAnalysisAI/InferenceX");
    assert_eq!(json["pull_request"], 9101);
    assert_eq!(json["assessed_commit"], stand_in.sha("head"));
    assert_eq!(json["inputs"]["base"], stand_in.sha("base"));
    assert_eq!(json["inputs"]["date"], "2026-09-11");
    let body = stand_in.world().comments[&SIGNOFF].body.clone();
    let digest = format!("sha256:{}", sha256_hex(body.as_bytes()));
    assert_eq!(json["inputs"]["signoff_body"], digest);
    let url = format!("{}#issuecomment-{SIGNOFF}", stand_in.pull_url());
    let mut signoff = json["signoff"].clone();
    let claims = signoff.as_object_mut().unwrap().remove("claims").unwrap();
    assert_eq!(signoff, json!({ "author": "nv-ada", "kind": "issue_comment", "url": url }));
    assert_eq!(claims["items"].as_object().unwrap().len(), 17);
    assert_eq!(claims["items"]["evals"]["state"], "checked");
    assert_eq!((&claims["runs"], &claims["signed"]), (&json!([RUN]), &json!("nv-ada")));
    assert_eq!(json["discarded"], json!([]), "a bot that explains the form meant none");
    let rows = json["checks"].as_array().unwrap();
    let ids: Vec<&str> = rows.iter().map(|row| word(&row["id"])).collect();
    assert_eq!(ids, CHECKS);
    let numbers: Vec<i64> = rows.iter().filter_map(|row| row["number"].as_i64()).collect();
    assert_eq!(numbers, (0..19).collect::<Vec<i64>>());
}

#[tokio::test]
async fn one_is_a_rejection() {
    let verdict = verdict(case(B200, |case| case.spec.runs.clear())).await;
    expect_contract(&verdict);
    assert_eq!((verdict.code, verdict.outcome()), (1, "REJECTED"));
}

#[tokio::test]
async fn the_same_question_has_the_same_answer_to_the_byte() {
    let stand_in = serve(case(GB200, |_| {})).await;
    let url = stand_in.pull_url();
    let arguments = ["verify", url.as_str(), "--format", "json"];
    let first = countersign(&stand_in, &arguments).await;
    let second = countersign(&stand_in, &arguments).await;
    assert_eq!(first.stdout, second.stdout);
}

#[tokio::test]
async fn each_format_prints_the_result_and_nothing_else() {
    let stand_in = serve(case(GB200, |_| {})).await;
    let url = format!("{}#issuecomment-4377201550", stand_in.pull_url());
    for (format, opens, closes) in [
        ("text", "✅✅✅ APPROVED ✅✅✅\n", "\n"),
        (
            "markdown",
            "<!-- countersign signoff=issue_comment/4377201550 -->\n## ✅✅✅ **APPROVED** ✅✅✅\n",
            "\n",
        ),
        ("json", "{\n  \"schema\": \"countersign/verdict/v1\",\n", "}\n"),
    ] {
        let ran = countersign(&stand_in, &["verify", &url, "--format", format]).await;
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{format}");
        assert!(ran.stdout.starts_with(opens) && ran.stdout.ends_with(closes), "{}", ran.stdout);
        assert!(ran.stdout.contains(&stand_in.sha("head")), "{}", ran.stdout);
    }
    assert!(stand_in.writes().is_empty(), "verify reads only");
}

#[tokio::test]
async fn all_three_kinds_of_comment_can_be_named() {
    for (kind, name, fragment) in [
        (CommentKind::IssueComment, "issue_comment", "issuecomment-"),
        (CommentKind::Review, "review", "pullrequestreview-"),
        (CommentKind::ReviewComment, "review_comment", "discussion_r"),
    ] {
        let stand_in = serve(case(B200, |case| {
            signoff(case).kind = kind;
            signoff(case).path = Some("configs/nvidia-master.yaml".to_owned());
            signoff(case).line = Some(1);
        }))
        .await;
        let url = format!("{}#{fragment}{SIGNOFF}", stand_in.pull_url());
        let ran = countersign(&stand_in, &["verify", &url, "--format", "json"]).await;
        assert_eq!(ran.stderr, "", "the one that was named needs no word");
        let verdict = Verdict::of(ran);
        assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"), "{name}");
        assert_eq!(verdict.json["signoff"]["kind"], name);
        assert_eq!(verdict.json["signoff"]["url"], url);
        assert_eq!(verdict.json["signoff"]["author"], "nv-ada");
    }
}

#[tokio::test]
async fn the_pull_requests_url_takes_the_newest_sign_off_and_says_which() {
    let stand_in = serve(case(B200, |case| {
        let again = CommentSpec {
            id: 51,
            created: Some("2026-09-11T08:30:00Z".to_owned()),
            author: "nv-tomasz".to_owned(),
            ..signoff(case).clone()
        };
        case.spec.comments.insert(0, again);
    }))
    .await;
    let verdict = verdict_on(&stand_in, &[]).await;
    assert_eq!(verdict.json["signoff"]["author"], "nv-tomasz");
    let said = format!(
        "Newest sign-off: issue_comment by nv-tomasz, {}#issuecomment-51\n",
        stand_in.pull_url()
    );
    assert_eq!(verdict.stderr, said);
}

#[tokio::test]
async fn two_is_a_target_that_is_none() {
    let stand_in = serve(case(B200, |_| {})).await;
    let url = stand_in.pull_url();
    for (target, words) in [
        ("9101".to_owned(), "expected https://HOST/OWNER/REPO/pull/N"),
        (url.replace("/pull/", "/issues/"), "its path is not OWNER/REPO/pull/N"),
        (format!("{url}#issuecomment-0{SIGNOFF}"), "names no comment or review"),
        (format!("{url}#issuecomment-77"), "it was deleted, or it is on another pull request"),
        (
            format!("{url}#pullrequestreview-{SIGNOFF}"),
            "it was deleted, or it is on another pull request",
        ),
        (format!("{url}#issuecomment-4110255102"), "a bot or an app wrote it"),
    ] {
        let ran = countersign(&stand_in, &["verify", &target, "--format", "json"]).await;
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{target}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(words), "{}", ran.stderr);
    }
}

#[tokio::test]
async fn a_comment_that_is_no_sign_off_says_what_to_mend() {
    let stand_in = serve(case(B200, |case| {
        case.replace(
            "signoff.md",
            "As a PR reviewer and CODEOWNER",
            "As PR reviewer and CODEOWNER",
        );
    }))
    .await;
    let url = format!("{}#issuecomment-{SIGNOFF}", stand_in.pull_url());
    let ran = countersign(&stand_in, &["verify", &url]).await;
    assert_eq!(ran.code, 2);
    let said = format!(
        "error: {url} is not a sign-off: the opening phrase \"As a PR reviewer and CODEOWNER\" is missing; begin the comment with the template's first line, unchanged\n"
    );
    assert_eq!(ran.stderr, said);
}

#[tokio::test]
async fn only_some_checks_make_a_partial_verdict() {
    let stand_in = serve(case(B200, |case| case.spec.runs.clear())).await;
    let verdict = verdict_on(&stand_in, &["--only", "codeowner,5"]).await;
    expect_contract(&verdict);
    assert_eq!(verdict.json["partial"], true);
    let ids: Vec<&str> =
        verdict.json["checks"].as_array().unwrap().iter().map(|row| word(&row["id"])).collect();
    assert_eq!(ids, ["codeowner", "checklist"]);
    assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"), "the sweep was not asked about");
    let jobs = stand_in.requests().iter().filter(|one| one.path.contains("/actions/")).count();
    assert_eq!(jobs, 0, "only what the selected rules name is read");

    let url = stand_in.pull_url();
    let published = countersign(&stand_in, &["verify", &url, "--only", "sweep", "--publish"]).await;
    assert_eq!((published.code, published.stdout.as_str()), (2, ""));
    let misspelt = countersign(&stand_in, &["verify", &url, "--only", "swep"]).await;
    assert_eq!((misspelt.code, misspelt.stdout.as_str()), (2, ""));
    assert!(misspelt.stderr.contains("`sweep`"), "the nearest one: {}", misspelt.stderr);
}

#[tokio::test]
async fn facts_are_what_the_rules_will_see() {
    let stand_in = serve(case(B200, |_| {})).await;
    let url = stand_in.pull_url();
    let ran = countersign(&stand_in, &["facts", &url]).await;
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let facts: Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = facts.to_string();
    for said in [&stand_in.sha("head"), "34911820457", "nv-ada", "configs/nvidia-master.yaml"] {
        assert!(text.contains(said), "{said} is not among the facts");
    }
}

#[tokio::test]
async fn facts_end_with_three_where_one_is_missing_by_a_fault_of_ours() {
    let stand_in = serve(case(B200, |_| {})).await;
    stand_in.fault(crate::support::Fault {
        pattern: "GET *jobs*".to_owned(),
        status: Some(502),
        ..Default::default()
    });
    let ran = countersign(&stand_in, &["facts", &stand_in.pull_url()]).await;
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let facts: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(facts["sweep"].to_string().contains("ours"), "{:#}", facts["sweep"]);
}

#[tokio::test]
async fn a_publication_that_fails_ends_with_three_and_the_verdict_is_printed() {
    let stand_in = serve(case(GB200, |_| {})).await;
    stand_in.fault(crate::support::Fault {
        pattern: "POST /repos/*".to_owned(),
        status: Some(403),
        ..Default::default()
    });
    let verdict = verdict_on(&stand_in, &["--publish"]).await;
    expect_contract(&verdict);
    assert_eq!((verdict.code, verdict.outcome()), (3, "APPROVED"));
    let told = &verdict.stderr;
    assert!(told.contains("error: the verdict stands, but publishing it failed: "), "{told}");
}
