use pulldown_cmark::{Event, Options, Parser, Tag};

use super::*;

/// The text of the only code span, where the Markdown is one paragraph with nothing else in it.
fn only_code(markdown: &str) -> String {
    let text = format!("before {markdown} after");
    let events: Vec<_> = Parser::new_ext(&text, Options::ENABLE_GFM).collect();
    match events.as_slice() {
        [
            Event::Start(Tag::Paragraph),
            Event::Text(before),
            Event::Code(code),
            Event::Text(after),
            Event::End(_),
        ] => {
            assert_eq!((before.as_ref(), after.as_ref()), ("before ", " after"));
            code.to_string()
        }
        other => panic!("{markdown:?} is not one code span: {other:?}"),
    }
}

#[test]
fn hostile_values_become_one_code_span_that_shows_them() {
    for (value, shown) in [
        ("plain", "plain"),
        ("a `b` c", "a `b` c"),
        ("a ``` b", "a ``` b"),
        ("`", "`"),
        ("``edge", "``edge"),
        ("edge`", "edge`"),
        (" blanks ", "blanks"),
        ("@team", "@team"),
        ("&#64;team", "&#64;team"),
        ("a|b", "a|b"),
        ("a\nb\r\nc\td", "a b  c d"),
        ("<!-- countersign signoff=x -->", "<! -- countersign signoff=x -- >"),
        ("</details>", "</details>"),
        ("![x](http://x.example/y.png)", "![x](http://x.example/y.png)"),
        ("## ✅✅✅ **APPROVED** ✅✅✅", "## ✅✅✅ **APPROVED** ✅✅✅"),
        ("\\", "\\"),
        ("a\u{202e}b", "a\\u{202e}b"),
        ("a\u{200b}b", "a\\u{200b}b"),
        ("a\u{2066}b", "a\\u{2066}b"),
        ("a\0b", "a\\u{0}b"),
        ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
        ("日本語", "日本語"),
    ] {
        assert_eq!(only_code(&code_span(value)), shown, "{value:?}");
    }
}

#[test]
fn an_empty_value_says_so() {
    for value in ["", " ", "\n\n"] {
        assert_eq!(code_span(value), "(empty)");
    }
}

#[test]
fn long_values_are_cut() {
    let shown = only_code(&code_span(&"x".repeat(100_000)));
    assert_eq!(shown.chars().count(), limits::VALUE_CHARS + 1);
    assert!(shown.ends_with('…'));
    let ticks = code_span(&"`".repeat(100_000));
    assert!(ticks.len() < 4 * limits::VALUE_CHARS, "{}", ticks.len());
}

#[test]
fn prose_keeps_words_and_wraps_what_markdown_acts_on() {
    assert_eq!(
        prose("the run expired, see @octo/team (#12): https://x.example/y, *now*"),
        "the run expired, see `@octo/team` (`#12`): `https://x.example/y`, `*now*`"
    );
    assert_eq!(prose("needs `members:read`, not more"), "needs `members:read`, not more");
    assert_eq!(prose("- a"), "`-` a");
    assert_eq!(prose("1. a"), "`1.` a");
    assert_eq!(prose("team: not\nreadable"), "team: not readable");
    assert_eq!(prose("www.evil.example"), "`www.evil.example`");
    assert_eq!(prose("a__b__ <b>"), "`a__b__` `<b>`");
}

#[test]
fn a_paste_block_cannot_be_closed_from_within() {
    let block = paste(["- [ ] one ``` two", "```", "</details>\u{202e}"]);
    assert_eq!(block, "\n````\n- [ ] one ``` two\n```\n</details>\\u{202e}\n````\n");
    let events: Vec<_> = Parser::new(&block).collect();
    assert!(matches!(events.first(), Some(Event::Start(Tag::CodeBlock(_)))), "{events:?}");
    assert!(matches!(events.last(), Some(Event::End(pulldown_cmark::TagEnd::CodeBlock))));
    assert!(!paste(["<!-- countersign signoff=x -->"]).contains("<!--"));
}

#[test]
fn cutting_never_opens_a_span() {
    let long = format!("word {} tail of words", code_span(&"a b ".repeat(30)));
    for chars in 8..long.chars().count() {
        let short = cut(&long, chars);
        assert!(short.chars().count() <= chars, "{chars}: {short}");
        assert_eq!(short.matches('`').count() % 2, 0, "{chars}: {short}");
    }
    assert_eq!(cut("one two three", 9), "one two …");
    assert_eq!(cut("one", 9), "one");
}

proptest::proptest! {
    /// Whatever the value is, GitHub sees one code span of it.
    #[test]
    fn any_value_is_one_code_span(value in "[`\\\\<>&@|*_\\[\\]()!#~ \\n\\-a-c\u{202e}\u{200b}]{0,40}") {
        let span = code_span(&value);
        if span != "(empty)" {
            only_code(&span);
        }
        assert!(!span.contains("<!--") && !span.contains("-->") && !span.contains('\n'));
    }

    /// Whatever the words are, they are text and code.
    #[test]
    fn any_prose_is_text_and_code(value in "[`\\\\<>&@|*_\\[\\]()!#~+=.:1 \\n\\-a-c\u{202e}]{0,60}") {
        let markdown = prose(&value);
        for event in Parser::new_ext(&markdown, Options::ENABLE_GFM) {
            match event {
                Event::Start(Tag::Paragraph) | Event::End(_) | Event::Code(_) => {}
                Event::Text(text) => assert!(!text.contains(['@', '#', '<', '&']), "{markdown}"),
                other => panic!("{markdown:?} has {other:?}"),
            }
        }
    }
}
