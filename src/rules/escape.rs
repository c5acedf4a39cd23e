//! Values from outside as inert Markdown: the one place where text of a submission enters ours.

use crate::limits::VALUE_CHARS;

/// A value as a Markdown code span that nothing inside can leave.
///
/// The fence is longer than any run of backticks inside; line breaks become blanks; control, bidi
/// and zero-width characters are shown as `\u{…}`; HTML comment delimiters are broken up, so that
/// no marker of ours can be quoted; past [`VALUE_CHARS`] the value is cut with `…`.
pub fn code_span(value: &str) -> String {
    let mut shown = String::new();
    for (kept, c) in value.chars().enumerate() {
        if kept == VALUE_CHARS {
            shown.push('…');
            break;
        }
        match c {
            '\n' | '\r' | '\t' => shown.push(' '),
            c if invisible(c) => shown.push_str(&c.escape_unicode().to_string()),
            c => shown.push(c),
        }
    }
    let shown = shown.replace("<!--", "<! --").replace("-->", "-- >");
    if shown.is_empty() {
        return "` `".to_owned();
    }
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let edge = |c: char| c == '`' || c == ' ';
    // CommonMark takes one blank off both ends, unless there is nothing but blanks.
    let pad = if shown.starts_with(edge) || shown.ends_with(edge) { " " } else { "" };
    format!("{fence}{pad}{shown}{pad}{fence}")
}

/// Whether a character has no face of its own and can reorder, join or hide others.
fn invisible(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::code_span;

    #[test]
    fn the_fence_is_longer_than_any_run_inside() {
        assert_eq!(code_span("a"), "`a`");
        assert_eq!(code_span("a`b``c"), "```a`b``c```");
        assert_eq!(code_span("`a"), "`` `a ``");
        assert_eq!(code_span(" a"), "`  a `");
        assert_eq!(code_span(""), "` `");
    }

    #[test]
    fn nothing_hides_or_spans_lines() {
        assert_eq!(code_span("a\nb\u{202e}c\u{1b}[31m"), "`a b\\u{202e}c\\u{1b}[31m`");
        assert_eq!(code_span("<!-- x -->"), "`<! -- x -- >`");
        assert_eq!(code_span(&"x".repeat(100_000)).chars().count(), 303);
    }
}
