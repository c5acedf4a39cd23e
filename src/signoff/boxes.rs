//! Boxes: those that Markdown draws, and what only looks like one. A reviewer who typed `[ x]` has
//! to hear of it; otherwise the sign-off goes out into the void.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::rows::{Kind, Row};
use super::text::CleanText;
use crate::facts::ItemState;

/// A box at the head of a row.
pub(super) struct ItemBox {
    pub(super) state: ItemState,
    /// Where it stands in the cleaned text.
    pub(super) range: Range<usize>,
    /// The row's texts behind it: for people, and with link targets.
    pub(super) plain: String,
    pub(super) marked: String,
}

/// The box at the head of a row, if there is one or something that looks like one.
///
/// Tables, quotes, code, HTML and headings have none: nothing there is an item of a list.
pub(super) fn box_of(row: &Row, text: &CleanText<'_>) -> Option<ItemBox> {
    if row.kind != Kind::Text || row.quoted {
        return None;
    }
    if let Some(range) = &row.drawn {
        let empty = row.plain.trim().is_empty();
        let state = match text.typed(range.clone()) {
            // GitHub draws no box where no text follows.
            _ if empty => ItemState::Malformed,
            // A struck statement is taken back, whatever its box says.
            "[x]" | "[X]" if row.struck => ItemState::Unchecked,
            "[x]" | "[X]" => ItemState::Checked,
            "[ ]" | "[\t]" => ItemState::Unchecked,
            // Something invisible was typed inside; GitHub draws no box.
            _ => ItemState::Malformed,
        };
        let (plain, marked) = (row.plain.clone(), row.marked.clone());
        return Some(ItemBox { state, range: range.clone(), plain, marked });
    }
    let line = text.line_around(row.start);
    let found = LOOSE_BOX.captures(&text.as_str()[line.clone()])?;
    let (whole, inside) = (found.name("box")?, found.name("in"));
    let range = line.start + whole.start()..line.start + whole.end();
    let is_link = text.as_str()[range.end..].starts_with(['(', '[', ':']);
    if is_link && !inside.is_some_and(|inside| matches!(inside.as_str().trim(), "" | "x" | "X")) {
        return None;
    }
    let behind = |text: &str| match LOOSE_BOX.find(text) {
        Some(head) => text[head.end()..].to_owned(),
        None => text.to_owned(),
    };
    let (plain, marked) = (behind(&row.plain), behind(&row.marked));
    Some(ItemBox { state: ItemState::Malformed, range, plain, marked })
}

/// What people type where they mean a box: any bullets, then brackets (full-width ones too) around
/// blanks and at most one sign or a word that stands for yes or no, or a ballot sign alone.
static LOOSE_BOX: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^[ \t]*(?:(?:[-*+•·‣◦–—]|\d{1,9}[.)])[ \t]*)*",
        r"(?P<box>\\?[\[［](?P<in>[ \t]{0,3}(?:[^\s\d\[\]［］^]\x{FE0F}?)?[ \t]{0,3}",
        r"|[ \t]?(?i:n/?a|yes|no|ok|done|todo|xx)[ \t]?)\\?[\]］]",
        r"|[☐☑☒✅✔✓✗✘❌❎⬜]\x{FE0F}?)[ \t]*"
    ))
    .expect("the pattern is a constant")
});

#[cfg(test)]
mod tests {
    use super::super::rows::Rows;
    use super::*;

    /// State, box as typed, and text of each box.
    fn boxes(body: &str) -> Vec<(ItemState, String, String)> {
        let text = CleanText::new(body);
        let rows = Rows::of(text.as_str());
        let found = rows.rows.iter().filter_map(|row| box_of(row, &text));
        found.map(|b| (b.state, text.typed(b.range).trim_end().to_owned(), b.plain)).collect()
    }

    #[test]
    fn what_markdown_draws() {
        for (line, state) in [
            ("- [x] t", ItemState::Checked),
            ("* [X] t", ItemState::Checked),
            ("+ [ ] t", ItemState::Unchecked),
            ("1. [x] t", ItemState::Checked),
            ("2) [ ] t", ItemState::Unchecked),
            ("- [x]\u{a0}t", ItemState::Checked),
            ("-\u{a0}[x] t", ItemState::Checked),
            ("- \u{200b}[x] t", ItemState::Checked),
            ("- [x] ~~t~~", ItemState::Unchecked),
        ] {
            let found = boxes(line);
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!(found[0].0, state, "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_a_box() {
        for (line, typed) in [
            ("- [] t", "[]"),
            ("- [ x] t", "[ x]"),
            ("- [x ] t", "[x ]"),
            ("- [x]t", "[x]"),
            ("- [✓] t", "[✓]"),
            ("- [✔️] t", "[✔️]"),
            ("- \\[x] t", "\\[x]"),
            ("- \\[x\\] t", "\\[x\\]"),
            ("- ［x］ t", "［x］"),
            ("- ［ｘ］t", "［ｘ］"),
            ("- [-] t", "[-]"),
            ("- [~] t", "[~]"),
            ("- [N/A] t", "[N/A]"),
            ("- [y] t", "[y]"),
            ("-[x] t", "[x]"),
            ("[x] t", "[x]"),
            ("- [\u{a0}] t", "[\u{a0}]"),
            ("- [x\u{200b}] t", "[x\u{200b}]"),
            ("- [x](https://a.b) t", "[x]"),
            ("- **[x]** t", "[x]"),
            ("☑ t", "☑"),
            ("- ✅ t", "✅"),
            ("• [x] t", "[x]"),
        ] {
            let found = boxes(line);
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!((found[0].0, found[0].1.as_str()), (ItemState::Malformed, typed), "{line}");
            assert!(found[0].2.trim_end().ends_with('t'), "{line}: {:?}", found[0].2);
        }
        assert_eq!(boxes("- [x]"), [(ItemState::Malformed, "[x]".to_owned(), String::new())]);
    }

    #[test]
    fn what_is_no_box() {
        for line in [
            "- [1] t",
            "- [run](https://a.b) t",
            "- [a](https://a.b) t",
            "- text [x] t",
            "- `[x]` t",
            "> - [x] t",
            "| [x] | t |\n|--|--|",
            "```\n- [x] t\n```",
            "<!--\n- [x] t\n-->",
            "# [x] t",
            "- [FP8] t",
        ] {
            assert!(boxes(line).is_empty(), "{line}");
        }
    }
}
