//! Bodies made to cost work. What is asserted is that what comes out is bounded; that each is read
//! at all within a test run is what would fail were some pass not linear.

use super::settings::{Grammar, ItemDefinition, ItemTable, ReuseCommandSettings, ReuseSettings};
use super::*;

const SIZE: usize = 65_536;

fn reader() -> Reader {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let grammar = Grammar {
        phrase: "I sign".to_owned(),
        minimum_items: 3,
        details_headings: words(&["details"]),
        signature: "Signed:".to_owned(),
        placeholders: words(&["fill in"]),
        signature_placeholders: words(&["NAME"]),
        run_link_wanted: words(&["please link"]),
        run_links: words(&["/runs/(?<id>[0-9]+)"]),
        legacy_verdicts: None,
    };
    let item = ItemDefinition {
        id: "evals".to_owned(),
        label: "Evals".to_owned(),
        tokens: vec![words(&["passes evals"])],
    };
    Reader::new(&grammar, &ItemTable { items: vec![item] }).expect("the settings are sound")
}

/// A body that opens like a sign-off and goes on with a piece until it is as long as one can be.
fn filled_with(piece: &str) -> String {
    format!("I sign\n- [x] a\n- [x] b\n- [x] c\n{}", piece.repeat(SIZE / piece.len()))
}

#[test]
fn what_comes_out_of_a_hostile_body_is_bounded() {
    let reader = reader();
    let place = Place::File { path: "draft.md".to_owned() };
    let deep: String = (0..350).map(|depth| format!("{}- [x] a\n", " ".repeat(depth))).collect();
    let deeper: String = (0..250).map(|depth| format!("{}- [x] a\n", "  ".repeat(depth))).collect();
    let pieces = [
        "- [x] passes evals https://a.b/runs/1\n",
        "[ ]",
        "[",
        "]",
        "![",
        "- ",
        "* [x] ",
        "> ",
        "`",
        "``` \n",
        "*",
        "_",
        "**a",
        "~~",
        "<",
        "<!--",
        "<a ",
        "\\",
        "&#64;",
        "|",
        "|-",
        "| [x] |\n",
        "a\n",
        "- a\n",
        "-[x] a\n",
        "[x]a\n",
        "\t",
        "    a\n",
        "\n",
        "\r",
        "\r\n",
        "\u{200b}",
        "\u{a0}",
        "［x］",
        "https://a.b/",
        "https://",
        "fill in ",
        "fill in\n",
        "details:\n",
        "Signed: a\n",
        "### details\n",
        "[a]: b\n",
        "[a][a]",
        "item 1, ",
        "item ",
        "n/a: ",
        "passes evals. ",
        "1. ",
        "1) [x] a\n",
        "(((",
        "http://a.b/((",
        "- - - [x] a\n",
        "$",
        "☑",
    ];
    let bodies = pieces.iter().map(|piece| filled_with(piece));
    let one_line = format!("{}\n{}", filled_with("- "), "a\n".repeat(SIZE / 2));
    for body in bodies.chain([deep, deeper, one_line]) {
        if let Ok(parsed) = reader.parse(&body, &place) {
            let links: usize = parsed.items.iter().map(|item| item.links.len()).sum();
            assert!(parsed.items.len() <= limits::ITEMS);
            assert!(links + parsed.details.links.len() <= limits::LINKS);
            assert!(parsed.details.text.len() <= body.len());
            assert!(
                parsed.items.iter().all(|item| item.text.chars().count() <= limits::ITEM_CHARS)
            );
        }
        let bare = &body["I sign".len().min(body.len())..];
        assert!(reader.parse(bare, &place).is_err());
    }
}

#[test]
fn a_hostile_draft_is_mended_in_few_readings() {
    let reader = reader();
    for piece in
        ["-[x] a\n", "[x]a\n", "1) [ x] a\n", "- - - [x] a\n", "- [ x]\n", "☑", "  -[x] a\n"]
    {
        let fixed = reader.fix(&filled_with(piece), None);
        assert_eq!(reader.fix(&fixed.text, None), Fixed { changes: Vec::new(), ..fixed });
    }
}

#[test]
fn commands_of_a_hostile_body_are_bounded() {
    let settings = ReuseSettings {
        commands: vec![ReuseCommandSettings {
            name: "/use".to_owned(),
            run_id: settings::Presence::Required,
        }],
        associations: Vec::new(),
    };
    for piece in [
        "/use 1\n",
        "/use ",
        "/use 1 ",
        "> /use 1\n",
        "```\n/use 1\n",
        "/countersign override a abcdef1 b\n",
        "/countersign override ",
        "/countersign verify\n",
        "/countersign verfiy\n",
        "a /countersign verify\n",
    ] {
        let body = piece.repeat(SIZE / piece.len());
        assert!(reuse_lines(&body, &settings).len() <= limits::COMMANDS);
        assert!(reuse_near_misses(&body, &settings).len() <= limits::COMMANDS);
        assert!(override_lines(&body).len() <= limits::COMMANDS);
        assert!(override_near_misses(&body).len() <= limits::COMMANDS);
        assert!(verify_lines(&body).len() <= limits::COMMANDS);
        assert!(near_commands(&body, Some(&settings)).len() <= limits::COMMANDS);
    }
}
