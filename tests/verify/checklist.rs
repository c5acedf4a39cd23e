//! Check 5: the sign-off has every item of the current checklist, checked or explained.

use super::*;
use crate::support::CommitSpec;

const EVALS: &str = "- [x] Verified that this PR passes evals.";

async fn checklist_where(from: &str, to: &str) -> Verdict {
    verdict(case(B200, |case| case.replace("signoff.md", from, to))).await
}

/// The template of the case without the items that hold a text.
fn template_without(case: &Case, item: &str) -> String {
    let text = case.text(TEMPLATE).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains(item)).collect();
    assert_eq!(kept.len() + 1, text.lines().count(), "{item} is one line of the template");
    kept.join("\n") + "\n"
}

#[tokio::test]
async fn every_item_of_the_current_checklist_is_counted() {
    let verdict = verdict(case(B200, |_| {})).await;
    let row = verdict.row("checklist");
    assert_eq!(row.summary(), "17 items of the current checklist are checked or explained");
    // Asked for and not given: the commonest form of all, and no failure.
    row.expect("pass", &["note: The item asks for a link to a run, and none is given: `Verified that this PR passes evals."]);
}

#[tokio::test]
async fn an_item_that_came_after_the_sign_off_fails_and_both_templates_are_shown() {
    let stand_in = serve(case(B200, |case| {
        let older = template_without(case, "Pareto counts");
        case.write("older/docs/PR_REVIEW_CHECKLIST.md", older);
        let commit = |id: &str, tree: Option<&str>, date: &str| CommitSpec {
            id: id.to_owned(),
            tree: tree.map(str::to_owned),
            date: Some(date.to_owned()),
            ..CommitSpec::default()
        };
        case.spec.main = vec![
            commit("older", Some("older"), "2026-09-01T08:00:00Z"),
            commit("newer", None, "2026-09-11T08:25:00Z"),
        ];
        case.replace("signoff.md", "- [x] Reported Pareto counts per affected curve\n", "");
    }))
    .await;
    let verdict = verdict_on(&stand_in, &[]).await;
    assert_eq!(verdict.code, 1);
    let (older, newer) = {
        let world = stand_in.world();
        (world.history.main["older"].clone(), world.history.main["newer"].clone())
    };
    let row = verdict.row("checklist");
    row.expect(
        "fail",
        &[
            "fail: The sign-off lacks the item `Reported measured throughput/E2EL Pareto counts",
            "- [ ] Reported measured throughput/E2EL Pareto counts",
            &format!("the sign-off was posted under `{older}`, current is `{newer}` of `2026-09-11T08:25:00Z`"),
            "note: Added to the checklist since the sign-off was posted: `pareto`",
        ],
    );
    row.expect_evidence();
}

#[tokio::test]
async fn every_missing_item_is_named_at_once() {
    let verdict = verdict(case(B200, |case| {
        case.replace("signoff.md", &format!("{EVALS}\n"), "");
        case.replace("signoff.md", "- [x] append-only: not used\n", "");
    }))
    .await;
    verdict.row("checklist").expect(
        "fail",
        &[
            "The sign-off lacks the item `Verified that this PR passes evals.",
            "The sign-off lacks the item `If this PR uses append-only: true",
        ],
    );
}

#[tokio::test]
async fn a_box_that_draws_nothing_gets_the_line_to_paste() {
    for typed in ["[]", "[ x]", "[x ]", "[✓]"] {
        let verdict = checklist_where(EVALS, &EVALS.replace("[x]", typed)).await;
        let row = verdict.row("checklist");
        row.expect(
            "fail",
            &[
                &format!("Line 5, column 3: `{typed}` draws no box"),
                "- [x] Verified that this PR passes evals.",
            ],
        );
        assert_eq!(verdict.code, 1, "{typed}");
    }
}

#[tokio::test]
async fn an_unchecked_item_needs_a_sentence_that_names_it() {
    let unchecked = EVALS.replace("[x]", "[ ]");
    let verdict = checklist_where(EVALS, &unchecked).await;
    let row = verdict.row("checklist");
    row.expect(
        "fail",
        &["fail: The item is neither checked nor explained: `Verified that this PR passes evals."],
    );
    row.expect_evidence();
}

#[tokio::test]
async fn an_explanation_is_quoted_and_never_graded() {
    for reason in [
        "item 4: the runner is down",
        "Nobody can say yet that it passes evals, the runner is down",
    ] {
        let verdict = verdict(case(B200, |case| {
            case.replace("signoff.md", EVALS, &EVALS.replace("[x]", "[ ]"));
            case.replace(
                "signoff.md",
                "- image bump only",
                &format!("- {reason}\n- image bump only"),
            );
        }))
        .await;
        let said = format!("note: The item is not checked, and explained by `{reason}`");
        verdict.row("checklist").expect("pass", &[&said]);
    }
}

#[tokio::test]
async fn a_digit_or_a_common_word_explains_nothing() {
    for reason in ["4 of 4 are fine", "no evals needed here"] {
        let verdict = verdict(case(B200, |case| {
            case.replace("signoff.md", EVALS, &EVALS.replace("[x]", "[ ]"));
            case.replace(
                "signoff.md",
                "- image bump only",
                &format!("- {reason}\n- image bump only"),
            );
        }))
        .await;
        assert_eq!(verdict.row("checklist").status(), "fail", "{reason}");
    }
}

#[tokio::test]
async fn a_form_that_nobody_filled_in_is_a_sign_off_that_fails_with_all_items() {
    let verdict = verdict(case(B200, |case| {
        let text = case.text("signoff.md").unwrap();
        case.write("signoff.md", text.replace("[x]", "[ ]").replace("[X]", "[ ]"));
    }))
    .await;
    let row = verdict.row("checklist");
    let failing = row.told().iter().filter(|told| told.starts_with("fail: ")).count();
    // Each of the 17 is named, be it as a failure or with the words of the details that explain it.
    assert_eq!(
        failing + row.told().iter().filter(|told| told.contains("explained by")).count(),
        17
    );
    row.expect("fail", &["neither checked nor explained: `Verified that the general code quality"]);
    verdict.row("code-quality").expect("attested", &["`@nv-ada` has not checked this item"]);
}

#[tokio::test]
async fn a_placeholder_that_was_left_is_noted() {
    let verdict = checklist_where("- image bump only", "- insert any additional info here").await;
    verdict.row("checklist").expect("pass", &["note: A placeholder of the template was left"]);
}

#[tokio::test]
async fn a_template_item_that_no_rule_knows_is_never_passed_over() {
    let verdict = verdict(case(B200, |case| {
        let from = "- [ ] Verified that this PR passes evals.";
        let to = "- [ ] Watered the office plants\n- [ ] Verified that this PR passes evals.";
        case.replace(TEMPLATE, from, to);
    }))
    .await;
    verdict.row("checklist").expect("fail", &["lacks the item `Watered the office plants`"]);
    let last = verdict.json["checks"].as_array().unwrap().last().unwrap();
    assert_eq!(last["number"], Value::Null);
    assert_eq!(word(&last["id"]), "item:watered-the-office-plants");
    Row(last).expect("attested", &["no rule knows this item"]);
}

#[tokio::test]
async fn what_only_a_person_can_judge_is_the_signers_word() {
    let verdict = verdict(case(B200, |_| {})).await;
    let row = verdict.row("code-quality");
    assert_eq!(
        (row.status(), row.summary()),
        ("attested".into(), "`@nv-ada`'s word; not machine-checked".into())
    );
    assert_eq!(row.0["verified"], false);
    assert_eq!(row.0["findings"][0]["evidence"][0]["line"], 3, "the item in the comment");
}

#[tokio::test]
async fn without_a_checklist_document_nothing_is_claimed() {
    let verdict = verdict(case(B200, |case| case.remove(TEMPLATE))).await;
    let row = verdict.row("checklist");
    row.expect("fail", &["unverified: there is no checklist on main"]);
    assert_eq!(row.0["verified"], false);
}
