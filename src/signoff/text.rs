//! The text of a comment as it is read: what people cannot see taken out, every kind of blank and
//! line end made one, a common indent removed; and the way back to where a thing was typed.

use std::ops::Range;

/// A cleaned slice of a body that still knows where each byte came from.
pub(super) struct CleanText<'a> {
    body: &'a str,
    text: String,
    /// Where a run of bytes that were copied one to one begins: (in `text`, in `body`), ascending.
    runs: Vec<(usize, usize)>,
    /// Where each line of `body` begins.
    lines: Vec<usize>,
}

/// A place in the body, 1-based, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: i64,
    pub(super) column: i64,
}

impl<'a> CleanText<'a> {
    /// Cleans a whole body.
    pub(super) fn new(body: &'a str) -> Self {
        Self::within(body, 0..body.len())
    }

    /// Cleans a part of a body; positions stay those in the whole body.
    pub(super) fn within(body: &'a str, part: Range<usize>) -> Self {
        let indent = common_indent(&body[part.clone()]);
        Self::without_indent(body, part, indent)
    }

    /// Cleans a body and keeps a common indent: what GitHub shows as code stays code.
    pub(super) fn as_laid_out(body: &'a str) -> Self {
        Self::without_indent(body, 0..body.len(), 0)
    }

    fn without_indent(body: &'a str, part: Range<usize>, indent: usize) -> Self {
        let mut clean = Self {
            body,
            text: String::with_capacity(part.len()),
            runs: Vec::new(),
            lines: line_starts(body),
        };
        let mut indent_left = indent;
        let mut characters = body[part.clone()].char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let original = part.start + at;
            match character {
                ' ' | '\t' if indent_left > 0 => indent_left -= 1,
                '\r' if matches!(characters.peek(), Some((_, '\n'))) => {}
                '\r' | '\n' => {
                    clean.push('\n', original);
                    indent_left = indent;
                }
                invisible if is_invisible(invisible) => {}
                blank if is_blank(blank) => {
                    clean.push(' ', original);
                    indent_left = 0;
                }
                other => {
                    clean.push(other, original);
                    indent_left = 0;
                }
            }
        }
        clean
    }

    fn push(&mut self, character: char, original: usize) {
        let at = self.text.len();
        let follows = self.runs.last().is_some_and(|(clean, body)| at - clean + body == original);
        if !follows {
            self.runs.push((at, original));
        }
        self.text.push(character);
    }

    /// The cleaned text: lines end in `\n`.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The byte of the body at which the character at this byte of the cleaned text was typed.
    fn original(&self, at: usize) -> usize {
        match self.runs.partition_point(|(clean, _)| *clean <= at).checked_sub(1) {
            Some(run) => {
                let (clean, body) = self.runs[run];
                (body + (at - clean)).min(self.body.len())
            }
            None => 0,
        }
    }

    /// The bytes of the body from which a range of the cleaned text came.
    pub(super) fn original_range(&self, range: Range<usize>) -> Range<usize> {
        let Some(last) = self.text[range.clone()].char_indices().next_back() else {
            let at = self.original(range.start);
            return at..at;
        };
        let last = self.original(range.start + last.0);
        let length = self.body[last..].chars().next().map_or(0, char::len_utf8);
        self.original(range.start)..last + length
    }

    /// A range of the cleaned text as it was typed.
    pub(super) fn typed(&self, range: Range<usize>) -> &'a str {
        &self.body[self.original_range(range)]
    }

    /// The line of the body, 1-based, on which a byte of the cleaned text was typed.
    pub(super) fn line(&self, at: usize) -> i64 {
        as_i64(self.line_index(self.original(at)) + 1)
    }

    /// Where a byte of the cleaned text was typed.
    pub(super) fn position(&self, at: usize) -> Position {
        let original = self.original(at);
        let line = self.line_index(original);
        let column = self.body[self.lines[line]..original].chars().count() + 1;
        Position { line: as_i64(line + 1), column: as_i64(column) }
    }

    fn line_index(&self, original: usize) -> usize {
        // The first line begins at 0, so that there is always one before.
        self.lines.partition_point(|start| *start <= original).saturating_sub(1)
    }

    /// The whole line of the cleaned text around a byte, without its line end.
    pub(super) fn line_around(&self, at: usize) -> Range<usize> {
        let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = self.text[at..].find('\n').map_or(self.text.len(), |length| at + length);
        start..end
    }
}

/// Where each line begins; `\n`, `\r\n` and a lone `\r` end one (CommonMark).
fn line_starts(body: &str) -> Vec<usize> {
    let bytes = body.as_bytes();
    let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
}

/// The lines of a body without their ends.
pub(super) fn lines(body: &str) -> impl Iterator<Item = &str> {
    let starts = line_starts(body);
    let ends = starts.clone().into_iter().skip(1).chain([body.len()]);
    starts.into_iter().zip(ends).map(|(start, end)| body[start..end].trim_end_matches(['\n', '\r']))
}

/// Bytes of indent (blanks and tabs) that every line with text has in common.
fn common_indent(text: &str) -> usize {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let mut lines = text.split(['\n', '\r']).filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next() else { return 0 };
    let first = &first[..indent(first)];
    lines.fold(first.len(), |common, line| {
        let same = first.bytes().zip(line.bytes()).take_while(|(a, b)| a == b).count();
        common.min(same)
    })
}

/// Characters that leave no mark of their own: zero-width ones, direction controls, tags.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{00ad}' | '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Blanks that Markdown does not take for one.
fn is_blank(character: char) -> bool {
    matches!(
        character,
        '\u{00a0}' | '\u{2000}'
            ..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// A count as the facts hold it; no text that is read is longer than `i64::MAX` bytes.
pub(super) fn as_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A text on one line: every run of blanks becomes one.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first characters of a text; a cut is shown by `…`.
pub(super) fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some(_) => text.chars().take(characters.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_blanks_and_invisible_characters_are_made_one() {
        let text = CleanText::new("a\r\nb\u{a0}c\u{200b}d\re\u{202e}");
        assert_eq!(text.as_str(), "a\nb cd\ne");
    }

    #[test]
    fn a_place_is_that_of_the_body() {
        let body = "\u{feff}é\r\n\u{200b}- [x] ok";
        let text = CleanText::new(body);
        let at = text.as_str().find('[').expect("it has a box");
        // The zero-width character before the bullet is a character that was typed.
        assert_eq!(text.position(at), Position { line: 2, column: 4 });
        assert_eq!(text.typed(at..at + 3), "[x]");
    }

    #[test]
    fn a_common_indent_goes_and_a_deeper_one_stays() {
        let text = CleanText::new("    a\n\n      - b\n    c\n");
        assert_eq!(text.as_str(), "a\n\n  - b\nc\n");
        assert_eq!(text.position(0), Position { line: 1, column: 5 });
    }

    #[test]
    fn a_range_is_given_back_as_it_was_typed() {
        let text = CleanText::new("[\u{a0}] [x\u{200b}]");
        assert_eq!(text.as_str(), "[ ] [x]");
        assert_eq!(text.typed(0..3), "[\u{a0}]");
        assert_eq!(text.typed(4..7), "[x\u{200b}]");
    }

    #[test]
    fn an_empty_text_has_a_first_line() {
        let text = CleanText::new("");
        assert_eq!(text.position(0), Position { line: 1, column: 1 });
        assert_eq!(text.line_around(0), 0..0);
    }

    #[test]
    fn a_cut_is_shown() {
        assert_eq!(shortened("abcd", 4), "abcd");
        assert_eq!(shortened("abcde", 4), "abc…");
    }
}
