//! What holds for any body.

use countersign::facts::ItemState;
use countersign::signoff::{override_near_misses, reuse_lines};
use proptest::prelude::*;

use super::{place, reader, reuse_settings, typed_at};

/// Pieces of which hostile and clumsy bodies are made.
pub fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("As a PR reviewer and CODEOWNER, I have:\n".to_owned()),
        Just("- [x] passes evals\n".to_owned()),
        Just("- [ ] code quality\n".to_owned()),
        Just("  - [ x] golden AL https://a.example/actions/runs/1 \n".to_owned()),
        Just("-[x] append-only\n".to_owned()),
        Just("［x］ Pareto\n".to_owned()),
        Just("- \u{200b}[x\u{200b}]\u{a0}does not patch\n".to_owned()),
        Just("> ".to_owned()),
        Just("```\n".to_owned()),
        Just("\n".to_owned()),
        Just("    ".to_owned()),
        Just("### Additional detail section: \n".to_owned()),
        Just("Signed: @a\n".to_owned()),
        Just("| [x] | b |\n|--|--|\n".to_owned()),
        Just("<!-- ".to_owned()),
        Just("-->\n".to_owned()),
        Just("~~".to_owned()),
        "\\PC{0,6}",
        "[\\[\\]x\\-*_`<>#:\\\\ \\n\\t]{0,8}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_place_points_at_the_box_as_typed(body in pieces()) {
        let reader = reader();
        if let Ok(parsed) = reader.parse(&body, &place()) {
            for item in &parsed.items {
                let length = item.typed.chars().count();
                prop_assert_eq!(typed_at(&body, item.line, item.column, length), item.typed.as_str());
                prop_assert!(!item.typed.is_empty());
                prop_assert_eq!(item.checked, item.state == ItemState::Checked);
            }
            for link in parsed.items.iter().flat_map(|item| &item.links).chain(&parsed.details.links) {
                prop_assert!(link.line >= 1 && link.line <= i64::try_from(body.lines().count()).unwrap());
            }
        }
        reader.lint(&body, None);
        reuse_lines(&body, &reuse_settings());
        override_near_misses(&body);
    }

    #[test]
    fn line_ends_make_no_difference(body in pieces()) {
        let reader = reader();
        let unix = body.replace('\r', "");
        let windows = unix.replace('\n', "\r\n");
        match (reader.parse(&unix, &place()), reader.parse(&windows, &place())) {
            (Ok(one), Ok(other)) => {
                prop_assert_eq!(one.items, other.items);
                prop_assert_eq!(one.details, other.details);
                prop_assert_eq!(one.signed, other.signed);
            }
            (Err(one), Err(other)) => prop_assert_eq!(one, other),
            (one, other) => prop_assert!(false, "{one:?} but {other:?}"),
        }
    }
}
