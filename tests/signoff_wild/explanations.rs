//! Unchecked items and where people explain them.

use super::{compare, filled, with_box, with_details};

/// The explanation of the item, in a filled form where only it is not checked.
fn explained(words: &str, details: &str) -> Option<String> {
    let body = with_details(details);
    let lines = body.lines().map(|line| match line.contains(words) && line.contains("[x]") {
        true => line.replacen("[x]", "[ ]", 1),
        false => line.to_owned(),
    });
    let checklist = compare(&lines.collect::<Vec<_>>().join("\n"));
    let [unchecked] = checklist.unchecked.as_slice() else { panic!("{words}") };
    let explanation = unchecked.explained.clone();
    assert_eq!(
        checklist.matched.iter().find(|item| item.id == unchecked.id).unwrap().explained,
        explanation
    );
    explanation.map(|explanation| explanation.quote)
}

#[test]
fn an_unchecked_item_is_explained_by_number_topic_or_sentence() {
    for (words, details, quote) in [
        ("speculative decoding PRs", "item 5: not applicable", "item 5: not applicable"),
        (
            "speculative decoding PRs",
            "Items 5, 6 and 7 do not apply here.",
            "Items 5, 6 and 7 do not apply here.",
        ),
        (
            "golden AL curve",
            "- **Golden AL**: no drafts are served",
            "Golden AL: no drafts are served",
        ),
        ("append-only: true", "- append-only: N/A, one entry", "append-only: N/A, one entry"),
        (
            "speculative decoding PRs",
            "All fine. This PR has no speculative decoding, so no chat template applies. Done.",
            "This PR has no speculative decoding, so no chat template applies",
        ),
        ("passes evals", "evals pass on one\nof the two points only", "evals pass on one"),
        (
            "MODELS.md",
            "The model is deprecated, see [why](https://github.com/acme/bench/blob/main/docs/MODELS.md).",
            "The model is deprecated, see why (https://github.com/acme/bench/blob/main/docs/MODELS.md).",
        ),
    ] {
        assert_eq!(explained(words, details).as_deref(), Some(quote), "{details}");
    }
}

#[test]
fn a_digit_or_a_common_word_explains_nothing() {
    for (words, details) in [
        ("speculative decoding PRs", "5 points were run"),
        ("speculative decoding PRs", "5: not applicable"),
        ("speculative decoding PRs", "The chat is long. The template is old."),
        ("passes evals", "The evals are there."),
        ("golden AL curve", "A golden day."),
        ("not submit a deprecated", "item 15 is fine"),
        ("passes evals", "> this PR passes evals"),
        ("passes evals", "```\nthis PR passes evals\n```"),
        ("passes evals", "- [x] Verified that this PR passes evals."),
        ("passes evals", "- insert any additional info here"),
        // The words of one item in two bullets.
        ("speculative decoding PRs", "- the chat template\n- no speculative decoding"),
    ] {
        assert_eq!(explained(words, details), None, "{details}");
    }
}

#[test]
fn a_reason_on_the_items_own_line_explains_it() {
    let body = filled().replace(
        "- [x] Verified that speculative decoding PRs uses chat templates to align the AL distribution to real world",
        "- [ ] Verified that speculative decoding PRs uses chat templates to align the AL distribution to real world. N/A: no drafts",
    );
    let checklist = compare(&body);
    let explanation = checklist.unchecked[0].explained.clone().unwrap();
    assert_eq!(explanation.quote, "N/A: no drafts");
    assert_eq!(explanation.origin.line, Some(6));
    // The Pareto item's own wording holds "N/A if no curves are affected".
    let body = with_box("Reported measured", "[ ]");
    assert_eq!(compare(&body).unchecked[0].explained, None);
    // As a bullet under the item.
    let body = filled().replace("[x] For agentic", "[ ] For agentic");
    let body = body
        .replace("acceptance target.\n", "acceptance target.\n  - N/A – fixed sequences only\n");
    let explained = compare(&body).unchecked[0].explained.clone().unwrap();
    assert_eq!(explained.quote, "N/A – fixed sequences only");
}
