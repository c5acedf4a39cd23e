//! Values from outside, made inert for GitHub's Markdown.
//!
//! Inside a code span GitHub makes no mention, link, reference, emoji or HTML of anything, and decodes no
//! entity, so that is where every value goes. What a code span itself does not defuse is taken care of
//! here: runs of backticks, line ends, characters that cannot be seen, and comment marks, which a program
//! that looks for our marker could take for one.

use crate::limits;

/// A value as a code span on one line, at most [`limits::VALUE_CHARS`] characters of it.
///
/// Characters that cannot be seen or that change the direction of the text stand as `\u{…}`; line ends
/// and tabs as blanks; an empty value as `(empty)`, without a span.
pub fn code_span(value: &str) -> String {
    let text = visible(value, limits::VALUE_CHARS);
    let text = text.trim();
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    let fence = "`".repeat(longest_run(text) + 1);
    // CommonMark takes one blank off each side, so a backtick at an end needs one to lose.
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Plain words as inert Markdown: words of letters, digits and simple punctuation stay, every other word
/// becomes a code span, the punctuation around it left out. For reasons that the program itself wrote around values from outside.
pub fn prose(text: &str) -> String {
    let text = visible(text, limits::MESSAGE_CHARS);
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        // `word`, or word: with marks around it that mean nothing to Markdown there.
        let core = word.trim_end_matches([',', ';', ':', '.', ')']);
        let (core, tail) = word.split_at(core.len());
        let (head, core) = core.split_at(core.len() - core.trim_start_matches('(').len());
        if is_plain(core) && !is_list_mark(word, out.is_empty()) {
            out.push_str(word);
        } else if is_plain(core) || core.is_empty() {
            out.push_str(&code_span(word));
        } else {
            let quoted = core.strip_prefix('`').and_then(|inner| inner.strip_suffix('`'));
            let quoted = quoted.filter(|inner| !inner.is_empty() && !inner.contains('`'));
            out.push_str(head);
            out.push_str(&code_span(quoted.unwrap_or(core)));
            out.push_str(tail);
        }
    }
    out
}

/// Lines to paste as a fenced block with line ends around it. Each line at most
/// [`limits::ITEM_CHARS`] characters.
pub fn paste<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let lines: Vec<String> = lines
        .into_iter()
        .flat_map(str::lines)
        .map(|line| visible(line, limits::ITEM_CHARS).trim_end().to_owned())
        .collect();
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}\n{}\n{fence}\n", lines.join("\n"))
}

/// The first `chars` characters of a one-line Markdown text that consists of plain words and code spans,
/// cut between two words outside of every span.
pub fn cut(markdown: &str, chars: usize) -> String {
    if markdown.chars().count() <= chars {
        return markdown.to_owned();
    }
    let limit =
        markdown.char_indices().nth(chars.saturating_sub(2)).map_or(markdown.len(), |(at, _)| at);
    let mut safe = 0;
    let mut at = 0;
    while at <= limit {
        let rest = &markdown[at..];
        if rest.starts_with('`') {
            let run = rest.len() - rest.trim_start_matches('`').len();
            at += run + closing(&rest[run..], run).map_or(0, |end| end + run);
            if at <= limit {
                safe = at;
            }
        } else if let Some(next) = rest.chars().next() {
            if next == ' ' {
                safe = at;
            }
            at += next.len_utf8();
        }
    }
    format!("{} …", markdown[..safe].trim_end())
}

/// Where the run of exactly `run` backticks that closes a span begins.
fn closing(text: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`') {
        let start = at + start;
        let length = text[start..].len() - text[start..].trim_start_matches('`').len();
        if length == run {
            return Some(start);
        }
        at = start + length;
    }
    None
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// At most `chars` characters, each of them one that a person sees as what it is.
fn visible(value: &str, chars: usize) -> String {
    let mut out = String::new();
    for (count, c) in value.chars().enumerate() {
        if count == chars {
            out.push('…');
            break;
        }
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if invisible(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    // A marker of ours, or anybody's, is an HTML comment.
    out.replace("<!--", "<! --").replace("-->", "-- >")
}

/// Controls, format characters (zero width, direction, tags, soft hyphen, byte order mark), line and
/// paragraph separators, variation selectors, fillers that show nothing, and private use.
pub fn invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}')
}

/// Whether a word holds nothing that GitHub's Markdown acts on.
fn is_plain(word: &str) -> bool {
    !word.to_ascii_lowercase().starts_with("www.")
        && word.chars().all(|c| {
            c.is_alphanumeric()
                || matches!(
                    c,
                    '-' | '.'
                        | ','
                        | ';'
                        | '/'
                        | '\''
                        | '"'
                        | '%'
                        | '+'
                        | '='
                        | '…'
                        | '('
                        | ')'
                        | '–'
                        | '—'
                )
        })
}

/// Whether a first word would begin a list or a heading's underline.
fn is_list_mark(word: &str, first: bool) -> bool {
    let digits = word.trim_end_matches(['.', ')']);
    first
        && (word.chars().all(|c| matches!(c, '-' | '+' | '='))
            || (digits.len() < word.len() && digits.bytes().all(|b| b.is_ascii_digit())))
}

#[cfg(test)]
#[path = "escape_tests.rs"]
mod tests;
