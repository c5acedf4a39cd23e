//! A box that Markdown does not draw, put right: what was typed as a tick stays one, what was left
//! empty stays empty, and what could mean either is left alone.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::form::FormItem;
use super::text::CleanText;

/// A change of some bytes of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// Makes several changes, whose ranges do not overlap.
pub(super) fn edited(body: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut out = String::with_capacity(body.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(&body[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(&body[at..]);
    out
}

/// What a box means as it was typed: checked or not; `None` where that cannot be told (`[-]`,
/// `[N/A]`, `✗`).
pub(super) fn meaning(typed: &str) -> Option<bool> {
    let cleaned = CleanText::new(typed);
    let frame =
        |c: char| matches!(c, '[' | ']' | '［' | '］' | '\\' | '\u{fe0f}') || c.is_whitespace();
    let inside: String = cleaned.as_str().chars().filter(|c| !frame(*c)).collect();
    match inside.as_str() {
        "" | "☐" | "⬜" => Some(false),
        "x" | "X" | "ｘ" | "Ｘ" | "✓" | "✔" | "✅" | "☑" => Some(true),
        _ => None,
    }
}

/// The change that makes a box one that Markdown draws: bullet and blanks around it where they are
/// lacking, nothing else of the line. `None` where what stands around it is no mere slip.
pub(super) fn drawn(
    body: &str,
    text: &CleanText<'_>,
    item: &FormItem,
    checked: bool,
) -> Option<Edit> {
    static BULLET: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?P<indent>[ \t]*)(?:(?P<real>[-*+]|\d{1,9}[.)])|(?P<other>[•·‣◦–—]))?(?P<blank>[ \t]*)$")
            .expect("the pattern is a constant")
    });
    let range = text.original_range(item.range.clone());
    let start = line_start(body, range.start);
    let typed_before = &body[start..range.start];
    let cleaned = CleanText::as_laid_out(typed_before);
    let parts = BULLET.captures(cleaned.as_str())?;
    let has_blank = parts.name("blank").is_some_and(|blank| !blank.is_empty());
    let indent = parts.name("indent").map_or("", |indent| indent.as_str());
    let before = match (parts.name("real"), parts.name("other")) {
        (Some(_), _) if has_blank => typed_before.to_owned(),
        (Some(_), _) => format!("{typed_before} "),
        (None, Some(_)) => format!("{indent}- "),
        (None, None) => format!("{typed_before}- "),
    };
    let behind = body[range.end..].chars().next();
    let after = match behind {
        // A link whose text is a cross is somebody's link.
        Some('(' | '[' | ':') => return None,
        Some(c) if c.is_whitespace() => "",
        None => "",
        Some(_) => " ",
    };
    let mark = if checked { "x" } else { " " };
    Some(Edit { range: start..range.end, text: format!("{before}[{mark}]{after}") })
}

/// Where the line of a byte begins.
pub(super) fn line_start(body: &str, at: usize) -> usize {
    body[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

/// Where the line after that of a byte begins; the end of the body where it is the last one.
pub(super) fn next_line_start(body: &str, at: usize) -> usize {
    match body[at..].find(['\n', '\r']) {
        Some(end) if body[at + end..].starts_with("\r\n") => at + end + 2,
        Some(end) => at + end + 1,
        None => body.len(),
    }
}

/// How the lines of a body end: as its first one does.
pub(super) fn line_end(body: &str) -> &'static str {
    match body.find(['\n', '\r']) {
        Some(at) if body[at..].starts_with("\r\n") => "\r\n",
        Some(at) if body[at..].starts_with('\r') => "\r",
        _ => "\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_one_only_where_nothing_else_can_be_meant() {
        for typed in
            ["[x]", "[ x]", "[X ]", "\\[x\\]", "［ｘ］", "[✓]", "[✔️]", "☑", "✅", "[x\u{200b}]"]
        {
            assert_eq!(meaning(typed), Some(true), "{typed}");
        }
        for typed in ["[]", "[ ]", "[  ]", "［］", "[\u{a0}]", "☐", "⬜"] {
            assert_eq!(meaning(typed), Some(false), "{typed}");
        }
        for typed in ["[-]", "[~]", "[N/A]", "[y]", "[done]", "✗", "☒", "❌"] {
            assert_eq!(meaning(typed), None, "{typed}");
        }
    }

    #[test]
    fn lines_begin_and_end_as_they_were_typed() {
        let body = "a\r\nb\rc\nd";
        assert_eq!(next_line_start(body, 0), 3);
        assert_eq!(next_line_start(body, 3), 5);
        assert_eq!(next_line_start(body, 7), body.len());
        assert_eq!(line_start(body, 5), 5);
        assert_eq!((line_end(body), line_end("a\rb"), line_end("a")), ("\r\n", "\r", "\n"));
    }

    #[test]
    fn changes_are_made_from_the_first_to_the_last() {
        let edit = |range, text: &str| Edit { range, text: text.to_owned() };
        assert_eq!(edited("abcd", vec![edit(3..4, "D"), edit(0..1, ""), edit(2..2, "-")]), "b-cD");
    }
}
