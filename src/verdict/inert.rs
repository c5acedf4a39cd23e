//! Values from outside as inert pieces of a text: links, labels, mentions, terminal text.
//!
//! Values that need no other form stand in a [`code_span`].

use url::Url;

use crate::limits::MESSAGE_CHARS;
use crate::rules::escape::{self, code_span};

/// Characters of a label (a row's title): enough to recognise a template item by its first words.
const LABEL_CHARS: usize = 80;
/// Characters of an address; browsers and GitHub take longer ones, people do not.
const ADDRESS_CHARS: usize = 2_000;

/// A link, where the address is one that may be followed; otherwise the label alone. The label is
/// Markdown of our own, perhaps a code span.
pub(crate) fn link(label: &str, address: Option<&str>) -> String {
    match address.and_then(destination) {
        Some(destination) => format!("[{label}]({destination})"),
        None => label.to_owned(),
    }
}

/// An address as a Markdown link destination: http or https, no credentials, and nothing in it that
/// ends the destination or begins something else.
fn destination(address: &str) -> Option<String> {
    let url = web(address)?;
    let mut out = String::with_capacity(url.as_str().len());
    for c in url.as_str().chars() {
        match c {
            '(' | ')' | '<' | '>' | '[' | ']' | '`' | '|' | '"' | '\'' | '\\' | '$' | ' ' => {
                out.push_str(&format!("%{:02X}", u32::from(c)));
            }
            // An entity in a destination is decoded, so that a query would change its meaning.
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    Some(out)
}

/// An address that may be shown as one.
pub(super) fn web(address: &str) -> Option<Url> {
    if address.chars().count() > ADDRESS_CHARS {
        return None;
    }
    let url = Url::parse(address).ok()?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none();
    plain.then_some(url)
}

/// A few words as a label inside a row's grammar: letters, digits and what cannot be mistaken for
/// Markdown, a mention, an address or a reference; everything else becomes a blank.
pub(super) fn label(text: &str) -> String {
    let mut out = String::new();
    let mut kept = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // `GH-12` would be a reference, `Append-only` is none.
        let inside = c == '-' && chars.peek().is_some_and(|next| next.is_alphabetic());
        if c.is_alphanumeric() || matches!(c, ',' | '…') || inside {
            if kept == LABEL_CHARS {
                out.push('…');
                break;
            }
            out.push(c);
            kept += 1;
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    let out = out.trim_end();
    if out.is_empty() { "untitled".to_owned() } else { out.to_owned() }
}

/// `@login`, which calls that account. What cannot be a login stands in a code span.
pub(super) fn mention(login: &str) -> String {
    let fits = (1..=39).contains(&login.len())
        && !login.starts_with('-')
        && login.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if fits { format!("@{login}") } else { unheard(login) }
}

/// The same name without the call.
pub(crate) fn unheard(login: &str) -> String {
    code_span(&format!("@{login}"))
}

/// Whether a character steers what shows it instead of being seen: controls (also U+0080 to U+009F,
/// which some terminals obey), direction, zero width, line and paragraph separators, tags.
pub(super) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// A sentence of the profile, which is plain text, as Markdown.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(MESSAGE_CHARS) {
        match c {
            c if c.is_control() => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// A reason in words of our own as Markdown on one line, about `chars` characters of it at most. What
/// stands between two backticks is a code span, and so is every word that is more than a word.
pub(super) fn explained(why: &str, chars: usize) -> String {
    let mut pieces: Vec<String> = Vec::new();
    let mut rest: &str = match why.char_indices().nth(4 * chars) {
        Some((end, _)) => &why[..end],
        None => why,
    };
    while let Some(at) = rest.find('`') {
        let run = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let (before, marks) = rest.split_at(at);
        pieces.push(around(before));
        let inner = &marks[run..];
        match inner.find('`') {
            Some(end) if run == 1 && end > 0 => {
                pieces.push(code_span(&inner[..end]));
                rest = &inner[end + 1..];
            }
            // Backticks that surround nothing are named themselves.
            _ => {
                pieces.push(code_span(&marks[..run]));
                rest = inner;
            }
        }
    }
    pieces.push(around(rest));
    let mut whole = String::new();
    for piece in pieces {
        // Two spans that touch would be one.
        if whole.ends_with('`') && piece.starts_with('`') {
            whole.push(' ');
        }
        whole.push_str(&piece);
    }
    escape::cut(whole.trim(), chars)
}

/// Plain words with the blank that was before and behind them.
fn around(text: &str) -> String {
    let blank = |is: bool| if is { " " } else { "" };
    let inner = escape::prose(text);
    if inner.is_empty() {
        return blank(!text.is_empty()).to_owned();
    }
    let (first, last) =
        (text.starts_with(char::is_whitespace), text.ends_with(char::is_whitespace));
    format!("{}{inner}{}", blank(first), blank(last))
}

#[cfg(test)]
mod tests {
    use super::{explained, label, link, mention, prose};

    #[test]
    fn only_web_addresses_become_links() {
        assert_eq!(link("run", Some("https://h.example/a?b=1")), "[run](https://h.example/a?b=1)");
        for refused in
            ["javascript:alert(1)", "data:text/html,x", "https://a@b.example/", "no address", ""]
        {
            assert_eq!(link("run", Some(refused)), "run", "{refused}");
        }
        assert_eq!(link("run", None), "run");
    }

    #[test]
    fn a_destination_ends_where_it_should() {
        assert_eq!(
            link("x", Some("https://h.example/a) [y](https://e.example)?a=1&copy=2`|")),
            "[x](https://h.example/a%29%20%5By%5D%28https://e.example%29?a=1&amp;copy=2%60%7C)"
        );
    }

    #[test]
    fn a_label_is_words() {
        assert_eq!(label("Append-only"), "Append-only");
        assert_eq!(
            label("**Ping** @team GH-12 #4\n## https://x.example"),
            "Ping team GH 12 4 https x example"
        );
        assert_eq!(label("☠☠"), "untitled");
        assert_eq!(label(&"a".repeat(500)).chars().count(), 81);
    }

    #[test]
    fn a_reason_shows_its_forms_and_hides_everything_else() {
        for (why, shown) in [
            ("it has to be `/use <run id>`, or `/use`", "it has to be `/use <run id>`, or `/use`"),
            ("remove the ``` lines", "remove the ```` ``` ```` lines"),
            ("an open ` stays", "an open `` ` `` stays"),
            ("a `b``c`", "a `b` `c`"),
            ("@`@", "`@` `` ` `` `@`"),
            ("@team *b* [x](https://h.example)", "`@team` `*b*` `[x](https://h.example`)"),
            ("- a\nb", "`-` a b"),
            ("`` @team ``", "``` `` ```  `@team` ``` `` ```"),
            ("``", "``` `` ```"),
        ] {
            let spaced = explained(why, 200).split_whitespace().collect::<Vec<_>>().join(" ");
            let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(spaced, shown, "{why}");
        }
        assert!(explained(&"word ".repeat(200), 50).chars().count() <= 50);
    }

    #[test]
    fn only_a_login_is_called() {
        assert_eq!(mention("bob-2"), "@bob-2");
        assert_eq!(mention("bob @team"), "`@bob @team`");
        assert_eq!(mention(""), "`@`");
        assert_eq!(prose("a *b* <i>\nc"), "a \\*b\\* \\<i\\> c");
    }
}
