//! What is a sign-off at all, and what is said to those who missed it.

use countersign::signoff::Reason;

use super::{THREE, compare, filled, form, indented, parse, reader, refuse, short};

#[test]
fn the_empty_form_is_a_sign_off_with_everything_unchecked() {
    let checklist = compare(&form());
    assert_eq!(checklist.unchecked.len(), 17);
    assert!(checklist.unchecked.iter().all(|item| item.explained.is_none()));
    let signoff = parse(&form());
    assert!(signoff.details.placeholder && signoff.details.empty);
    assert_eq!(signoff.signed, None);
}

#[test]
fn the_template_shown_in_a_fence_is_none() {
    let refused = refuse(&format!("```\n{}```\n", form()));
    assert_eq!((refused.reason.clone(), refused.near), (Reason::TemplateShown, false));
    assert_eq!(refused.hint(), None);
}

#[test]
fn mentions_of_the_phrase_are_no_sign_off_and_get_no_hint() {
    let phrase = "As a PR reviewer and CODEOWNER, I have reviewed this and have";
    for (body, reason) in [
        (quoted(&filled()), Reason::Quoted),
        (
            format!("Follow the template exactly, including `{phrase}`, so that it triggers."),
            Reason::CodeSpan,
        ),
        (
            format!("Follow the template exactly, including {phrase}, so that it triggers."),
            Reason::InSentence,
        ),
        (format!("`{phrase}`"), Reason::CodeSpan),
        (format!("<!-- {phrase} -->\nPlease review."), Reason::HtmlComment),
        (format!("Please post this:\n\n```\n{}```\n", form()), Reason::CodeBlock),
        (
            "LGTM, thanks!".to_owned(),
            Reason::NoPhrase { phrase: "As a PR reviewer and CODEOWNER".to_owned() },
        ),
        (String::new(), Reason::NoPhrase { phrase: "As a PR reviewer and CODEOWNER".to_owned() }),
        (
            "- [x] tests\n- [ ] docs\n- [x] changelog".to_owned(),
            Reason::NoPhrase { phrase: "As a PR reviewer and CODEOWNER".to_owned() },
        ),
    ] {
        let refused = refuse(&body);
        assert_eq!((refused.reason.clone(), refused.near), (reason, false), "{body}");
        assert_eq!(refused.hint(), None);
    }
}

fn quoted(body: &str) -> String {
    body.lines().map(|line| format!("> {line}\n")).collect()
}

#[test]
fn attempts_that_miss_get_a_hint() {
    let two: String = THREE.lines().take(2).map(|line| format!("{line}\n")).collect();
    let rendered = filled().replace("- [x] ", "• ");
    for (body, reason, hint) in [
        (format!("LGTM!\n\n{}", filled()), Reason::Late, "move everything above"),
        (format!("# A\n\n# B\n\n{}", filled()), Reason::Late, "move everything above"),
        (format!("Hi! {}", filled()), Reason::InSentence, "begin the comment"),
        (
            filled().replacen("As a PR reviewer", "As a reviewer", 1),
            Reason::NoPhrase { phrase: "As a PR reviewer and CODEOWNER".to_owned() },
            "begin the comment with the template's first line",
        ),
        (
            format!("My sign-off:\n\n```\n{}```\n", filled()),
            Reason::CodeBlock,
            "remove the ``` lines",
        ),
        (
            format!(
                "<details><summary>Sign-off</summary>\n{}\n</details>",
                THREE
                    .lines()
                    .fold("As a PR reviewer and CODEOWNER, I have:\n".to_owned(), |all, line| all
                        + line
                        + "\n")
            ),
            Reason::HtmlBlock,
            "leave a blank line",
        ),
        (rendered, Reason::NoBoxes, "copy the template"),
        (
            format!("As a PR reviewer and CODEOWNER, I have:\n\n{}", indented(THREE, "    ")),
            Reason::BoxesInCode,
            "remove the ``` lines and the indent",
        ),
        (
            "As a PR reviewer and CODEOWNER, I have reviewed this: all good".to_owned(),
            Reason::TooFewItems { found: 0, needed: 3 },
            "paste the whole template",
        ),
        (short(&two), Reason::TooFewItems { found: 2, needed: 3 }, "paste the whole template"),
    ] {
        let refused = refuse(&body);
        assert_eq!((refused.reason.clone(), refused.near), (reason, true), "{body}");
        assert!(refused.hint().unwrap().starts_with(hint), "{:?}", refused.hint());
    }
}

#[test]
fn the_hint_for_a_rendered_copy_says_that_no_box_is_drawn() {
    let refused = refuse(&form().replace("- [ ] ", "• "));
    assert!(refused.to_string().starts_with("no box is drawn"));
    assert_eq!(refused.line, Some(2));
}

#[test]
fn a_body_beyond_what_github_holds_is_not_read() {
    let refused = refuse(&"x".repeat(4 * 65_536 + 1));
    assert_eq!(refused.reason, Reason::TooLong { bytes: 4 * 65_536 + 1 });
}

/// The first lines of the earlier verifier's comment, as it changed over time (`domain/publication`).
const LEGACY: [&str; 4] = [
    "<!-- codeowner-signoff-verify sha=7a80e4bf3dd2d936031ebd45939326e97c83ffee -->",
    "<!-- codeowner-signoff-verify -->",
    "<!-- codeowner-signoff-verify signoff=issuecomment-4110262733 -->",
    "<!-- codeowner-signoff-verify signoff=discussion_r77 -->",
];

#[test]
fn an_earlier_verifiers_verdict_is_known_by_marker_and_account_in_every_form() {
    for marker in LEGACY {
        let verdict = format!("{marker}\n## ❌❌❌ **REJECTED** ❌❌❌\n");
        for author in ["github-actions[bot]", "klara-cold", "Klara-Cold"] {
            assert!(reader().is_legacy_verdict(author, &verdict), "{author}: {marker}");
            assert!(reader().is_legacy_verdict(author, &verdict.replace('\n', "\r\n")));
        }
        assert!(!reader().is_legacy_verdict("octo-owner", &verdict), "{marker}");
        assert!(!reader().is_legacy_verdict("klara-cold", &format!("Look:\n{verdict}")));
    }
    for other in ["<!-- codeowner-signoff-verifying -->", "codeowner-signoff-verify", ""] {
        assert!(!reader().is_legacy_verdict("klara-cold", other), "{other}");
    }
}

#[test]
fn a_marker_that_anybody_types_has_no_meaning() {
    for marker in LEGACY {
        let signoff = parse(&format!("{marker}\n{}", filled()));
        assert_eq!(signoff.items.len(), 17, "{marker}");
    }
}
