//! Drafts that are mended: what is put right, and what is left to their author.

use countersign::signoff::{CurrentTemplate, Fixed};
use proptest::prelude::*;

use super::properties::pieces;
use super::*;

/// Mends a draft by the newest template.
fn fix(body: &str) -> Fixed {
    static ITEMS: LazyLock<Vec<TemplateItem>> = LazyLock::new(|| template(NEWEST));
    let text = reader().template_source(NEWEST, "## Template").unwrap();
    reader().fix(body, Some(CurrentTemplate { text, items: &ITEMS }))
}

fn messages(fixed: &Fixed) -> Vec<String> {
    fixed.changes.iter().map(|change| format!("{}: {}", change.line, change.message)).collect()
}

#[test]
fn a_box_that_is_not_drawn_is_drawn_as_it_was_meant() {
    for (typed, mended) in [
        ("- [ x] T", "- [x] T"),
        ("- [x ] T", "- [x] T"),
        ("- [X ] T", "- [x] T"),
        ("- [x]T", "- [x] T"),
        ("-[x] T", "- [x] T"),
        ("- [✓] T", "- [x] T"),
        ("- [✔️] T", "- [x] T"),
        ("- \\[x\\] T", "- [x] T"),
        ("- ［ｘ］T", "- [x] T"),
        ("• [x] T", "- [x] T"),
        ("- ☑ T", "- [x] T"),
        ("1. [ x] T", "1. [x] T"),
        ("- [x\u{200b}] T", "- [x] T"),
        ("- [] T", "- [ ] T"),
        ("-[ ] T", "- [ ] T"),
        ("- [\u{a0}] T", "- [ ] T"),
        ("- ☐ T", "- [ ] T"),
    ] {
        let text = "Verified that this PR passes evals";
        let (typed, mended) = (typed.replace('T', text), mended.replace('T', text));
        let line = format!("- [x] {text}");
        let body = short(THREE).replace(&line, &typed);
        let fixed = reader().fix(&body, None);
        assert_eq!(fixed.text, short(THREE).replace(&line, &mended), "{typed}");
        assert_eq!((fixed.changes.len(), fixed.changes[0].line, fixed.changes[0].lines), (1, 4, 0));
    }
}

#[test]
fn what_could_mean_either_is_left_to_its_author() {
    for typed in [
        "- [-] T",
        "- [~] T",
        "- [N/A] T",
        "- [y] T",
        "- ❌ T",
        "- [x](https://a.example) T",
        "- [x] ~~T~~",
        "- **[x]** T",
        "- [ ] T",
        "> - [ x] T",
    ] {
        let text = "Verified that this PR passes evals";
        let body = short(&format!("{THREE}\n{}", typed.replace('T', text)));
        let fixed = reader().fix(&body, None);
        assert_eq!((fixed.text, fixed.changes), (body, Vec::new()), "{typed}");
    }
}

#[test]
fn missing_items_are_put_in_unchecked_at_their_places() {
    let whole = filled();
    for words in ["latest version", "code quality", "I linked the corresponding", "Pareto"] {
        let body: String =
            whole.split_inclusive('\n').filter(|line| !line.contains(words)).collect();
        let lost = whole.lines().find(|line| line.contains(words)).unwrap();
        let fixed = fix(&body);
        assert_eq!(fixed.text, whole.replace(lost, &lost.replace("[x]", "[ ]")), "{words}");
        let line = whole.lines().position(|line| line == lost).unwrap() + 1;
        assert_eq!(fixed.changes.len(), 1);
        assert_eq!(fixed.changes[0].line, i64::try_from(line).unwrap(), "{words}");
        assert!(fixed.changes[0].message.ends_with(" was put in, unchecked"));
    }
}

#[test]
fn an_item_under_another_comes_with_it_and_as_its_author_indents() {
    let whole = filled().replace("\n  - [x]", "\n    - [x]").replace("- [x]", "* [x]");
    let body: String = whole
        .split_inclusive('\n')
        .filter(|line| {
            !line.contains("is documented in the official") && !line.contains("I linked")
        })
        .collect();
    let fixed = fix(&body);
    assert_eq!(fixed.changes.len(), 2, "{:?}", messages(&fixed));
    let lines: Vec<&str> = fixed.text.lines().collect();
    let parent = lines.iter().position(|l| l.contains("is documented in the official")).unwrap();
    assert!(lines[parent].starts_with("* [ ] Verified that every affected"), "{}", lines[parent]);
    assert!(lines[parent + 1].starts_with("  * [ ] I linked"), "{}", lines[parent + 1]);
    assert!(lines[parent + 2].starts_with("* [x] Verified that this PR does not patch"));
}

#[test]
fn heading_and_signature_are_put_in_and_windows_line_ends_stay() {
    let body = format!(
        "As a PR reviewer and CODEOWNER, I have reviewed this and have:\n{THREE}\n\n- my run: https://a.example/1"
    );
    let fixed = reader().fix(&body.replace('\n', "\r\n"), None);
    let wanted = format!(
        "As a PR reviewer and CODEOWNER, I have reviewed this and have:\n{THREE}\n\n\
         ### Additional detail section:\n- my run: https://a.example/1\n\n\
         Signed: `FILL_IN_GITHUB_USERNAME`"
    );
    assert_eq!(fixed.text, wanted.replace('\n', "\r\n"));
    assert_eq!(
        messages(&fixed),
        ["6: the heading of the details was put in", "8: the signature's line was put in"]
    );
    let place = place();
    let signoff = reader().parse(&fixed.text, &place).unwrap();
    assert_eq!(signoff.details.text, "- my run: https://a.example/1");
    assert_eq!(signoff.signed, None);
}

#[test]
fn the_opening_phrase_is_mended_only_where_nothing_else_stands_in_its_place() {
    let phrase = "As a PR reviewer and CODEOWNER, I have reviewed this and have:";
    let small =
        filled().replace("As a PR reviewer and CODEOWNER", "as a pr reviewer and codeowner");
    assert_eq!(fix(&small).text, filled());
    let headless = filled().replace(&format!("{phrase}\n"), "");
    assert_eq!(fix(&headless).text, filled());
    // Without the template its first line is not known.
    assert_eq!(reader().fix(&headless, None).text, headless);
    for body in [format!("LGTM\n\n{headless}"), format!("LGTM\n\n{}", filled()), "LGTM".to_owned()]
    {
        assert_eq!(fix(&body), Fixed { text: body.clone(), changes: Vec::new() });
    }
}

#[test]
fn a_form_inside_a_code_block_is_mended_there() {
    let body = format!("```\n{}```\n", filled().replacen("- [x]", "- [x ]", 1));
    assert_eq!(fix(&body).text, format!("```\n{}```\n", filled()));
    let unsigned = filled().replace("\nSigned: `octo-owner`\n", "");
    let fixed = fix(&format!("```\n{unsigned}```\n"));
    let wanted = format!("```\n{unsigned}\nSigned: `FILL_IN_GITHUB_USERNAME`\n```\n");
    assert_eq!(fixed.text, wanted);
}

#[test]
fn every_template_that_was_ever_in_force_is_a_whole_text() {
    for (document, boxes) in [
        (include_str!("../fixtures/checklists/2026-06-22.md"), 6),
        (include_str!("../fixtures/checklists/2026-07-03.md"), 10),
        (NEWEST, 17),
    ] {
        let text = reader().template_source(document, "## Template").unwrap();
        assert!(text.starts_with("As a PR reviewer and CODEOWNER, I have reviewed"), "{text}");
        assert!(text.trim_end().ends_with("Signed: `FILL_IN_GITHUB_USERNAME`"), "{text}");
        assert_eq!(text.matches("- [ ] ").count(), boxes);
        assert!(document.contains(text));
    }
}

/// What stands on a line beside bullets, boxes and blanks.
fn is_form(typed: &str) -> bool {
    typed.chars().all(|c| {
        c.is_whitespace()
            || c.is_ascii_digit()
            || "-*+•·‣◦–—.)[]［］\\xXｘＸ✓✔✅☑☐⬜\u{fe0f}\u{200b}".contains(c)
    })
}

fn lines(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.split('\n').map(str::to_owned).collect()
}

/// How the bodies of the property begin; most are sign-offs whatever follows.
const OPENINGS: [&str; 4] = [
    "",
    "As a PR reviewer and CODEOWNER, I have:\n- [ x] passes evals\n-[] code quality\n- [x] append-only\n",
    "as a pr reviewer and codeowner, I have:\n[✓] passes evals\n- [x]code quality\n* [ ] golden AL\n\n",
    "    As a PR reviewer and CODEOWNER, I have:\n    - [x] passes evals\n      - ☐ code quality\n    - [x] Pareto\n",
];

proptest! {
    // Each case is some twenty readings, twice.
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn whatever_is_mended_says_what_was_typed(
        opening in 0..OPENINGS.len(), rest in pieces(), windows: bool, with_template: bool
    ) {
        let body = format!("{}{rest}", OPENINGS[opening]);
        let body = if windows { body.replace('\n', "\r\n") } else { body };
        let mend = |body: &str| if with_template { fix(body) } else { reader().fix(body, None) };
        let fixed = mend(&body);
        let again = mend(&fixed.text);
        prop_assert_eq!(&again.text, &fixed.text);
        prop_assert!(again.changes.is_empty());
        prop_assert_eq!(fixed.changes.is_empty(), fixed.text == body);

        // Without the lines that were put in, line for line what was typed, and no tick but typed ones.
        let mut kept = lines(&fixed.text);
        for change in fixed.changes.iter().rev() {
            let from = usize::try_from(change.line - 1).unwrap();
            let to = from + usize::try_from(change.lines).unwrap();
            let put_in: Vec<String> = kept.drain(from..to).collect();
            prop_assert!(!put_in.iter().any(|line| line.contains("[x]")), "{put_in:?}");
        }
        let typed = lines(&body);
        prop_assert_eq!(kept.len(), typed.len(), "{:?}", fixed);
        for (kept, typed) in kept.iter().zip(&typed) {
            if kept == typed || kept.eq_ignore_ascii_case(typed) {
                continue;
            }
            let (before, rest) = kept.split_at(kept.find(']').unwrap() + 1);
            let was = typed.strip_suffix(rest.trim_start());
            prop_assert!(was.is_some_and(is_form), "{typed:?} became {kept:?}");
            let ticked = |text: &str| text.contains(['x', 'X', 'ｘ', 'Ｘ', '✓', '✔', '✅', '☑']);
            prop_assert_eq!(ticked(before), ticked(was.unwrap()), "{:?} became {:?}", typed, kept);
        }

        // The ordinary lint finds no fewer checked boxes than before, nor any that was not typed.
        if let (Ok(before), Ok(after)) =
            (reader().parse(&body, &place()), reader().parse(&fixed.text, &place()))
        {
            let checked = |items: &[countersign::facts::SignedItem]| {
                items.iter().filter(|item| item.checked).count()
            };
            let malformed =
                before.items.iter().filter(|item| item.state == ItemState::Malformed).count();
            prop_assert!(checked(&after.items) >= checked(&before.items));
            prop_assert!(checked(&after.items) <= checked(&before.items) + malformed);
            prop_assert_eq!(before.details.text, after.details.text);
        }
    }
}
