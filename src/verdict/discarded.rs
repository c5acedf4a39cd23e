//! What somebody probably meant to count and what did not, each with its reason.

use serde::{Deserialize, Serialize};

use super::fit::units;
use super::inert::{explained, link, unheard};
use super::row::one_line;
use super::terminal::{value, visible};
use crate::rules::escape::code_span;

/// Entries shown; the JSON has all.
const SHOWN: usize = 20;
/// UTF-16 units that the list may take: the rows of the verdict come first.
const ROOM: usize = 16_000;
/// Characters of a reason; the longest one of ours has some 250.
const WHY_CHARS: usize = 500;

/// Something that was probably meant to count and did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discarded {
    /// What it was probably meant as.
    pub kind: DiscardedKind,
    /// The account that wrote it.
    pub author: String,
    /// The page of the comment that it stands in; `null` where it has none.
    pub url: Option<String>,
    /// 1-based line in the comment, where one line is at fault.
    pub line: Option<i64>,
    /// That line as written, at most [`crate::limits::QUOTE_CHARS`] characters.
    pub text: Option<String>,
    /// Why it does not count, and what to do where something can be done: plain words, with names
    /// and forms between backticks.
    pub why: String,
}

/// What something was probably meant as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiscardedKind {
    /// A sign-off.
    SignOff,
    /// A command that pins a run, or that asks for another verification.
    Command,
    /// An administrator's exception.
    Override,
}

impl DiscardedKind {
    fn word(self) -> &'static str {
        match self {
            Self::SignOff => "Sign-off",
            Self::Command => "Command",
            Self::Override => "Override",
        }
    }
}

impl std::fmt::Display for Discarded {
    /// One line of plain text, with nothing in it that steers a terminal.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kind.word())?;
        if let Some(text) = self.quoted() {
            write!(f, " “{}”", value(text))?;
        }
        if let Some(url) = &self.url {
            write!(f, " at {}", value(url))?;
        }
        let why: String = one_line(&self.why).chars().take(WHY_CHARS).collect();
        write!(f, " by {}: {}", value(&self.author), visible(&why))
    }
}

impl Discarded {
    /// What is quoted of it: a command as a whole; of a sign-off the reason says enough.
    fn quoted(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| self.kind != DiscardedKind::SignOff)
    }

    /// ``Command `/use` by `@bob` ([comment `:3`](…)): why``, inert Markdown on one line.
    fn markdown(&self) -> String {
        let quoted = self.quoted().map(|text| format!(" {}", code_span(text)));
        let place = match self.line {
            Some(line) => format!("comment {}", code_span(&format!(":{line}"))),
            None => "comment".to_owned(),
        };
        format!(
            "{}{} by {} ({}): {}",
            self.kind.word(),
            quoted.unwrap_or_default(),
            unheard(&self.author),
            link(&place, self.url.as_deref()),
            explained(&self.why, WHY_CHARS)
        )
    }
}

/// The list as a block of Markdown under its own line; empty where everything counted. It takes at
/// most [`ROOM`] units and a few words; what is left out is counted.
pub(super) fn block(discarded: &[Discarded]) -> String {
    if discarded.is_empty() {
        return String::new();
    }
    let mut text = "**Did not count**\n".to_owned();
    let mut shown = 0;
    for one in discarded.iter().take(SHOWN) {
        let line = format!("\n- {}", one.markdown());
        if units(&text) + units(&line) > ROOM {
            break;
        }
        text.push_str(&line);
        shown += 1;
    }
    if shown < discarded.len() {
        text.push_str(&format!("\n- and {} more", discarded.len() - shown));
    }
    text
}

/// The list as lines of a terminal, under its own line; none where everything counted.
pub(super) fn lines(discarded: &[Discarded]) -> Vec<String> {
    if discarded.is_empty() {
        return Vec::new();
    }
    let mut lines = vec!["Did not count:".to_owned()];
    lines.extend(discarded.iter().take(SHOWN).map(|one| format!("   - {one}")));
    if discarded.len() > SHOWN {
        lines.push(format!("   - and {} more", discarded.len() - SHOWN));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{Discarded, DiscardedKind, ROOM, block, lines};

    fn command(why: &str) -> Discarded {
        Discarded {
            kind: DiscardedKind::Command,
            author: "bob".into(),
            url: Some("https://github.example/c/9".into()),
            line: Some(3),
            text: Some("please /use 12".into()),
            why: why.into(),
        }
    }

    #[test]
    fn each_entry_says_what_whose_where_and_why() {
        let command = command("the command stands inside a sentence; it has to be `/use <run id>`");
        let signoff = Discarded {
            kind: DiscardedKind::SignOff,
            line: None,
            text: Some("- item".into()),
            why: "no box is drawn: the items have no `[ ]`; remove the ``` lines".into(),
            ..command.clone()
        };
        let both = [command, signoff];
        assert_eq!(
            block(&both),
            "**Did not count**\n\n\
             - Command `please /use 12` by `@bob` ([comment `:3`](https://github.example/c/9)): \
             the command stands inside a sentence; it has to be `/use <run id>`\n\
             - Sign-off by `@bob` ([comment](https://github.example/c/9)): \
             no box is drawn: the items have no `[ ]`; remove the ```` ``` ```` lines"
        );
        assert_eq!(
            lines(&both),
            [
                "Did not count:",
                "   - Command “please /use 12” at https://github.example/c/9 by bob: the command \
                 stands inside a sentence; it has to be `/use <run id>`",
                "   - Sign-off at https://github.example/c/9 by bob: no box is drawn: the items \
                 have no `[ ]`; remove the ``` lines",
            ]
        );
    }

    #[test]
    fn many_are_counted_and_long_ones_take_no_more_room() {
        assert_eq!((block(&[]), lines(&[]).len()), (String::new(), 0));
        let many = vec![command("it is late"); 25];
        assert!(block(&many).ends_with("\n- and 5 more"));
        assert_eq!(block(&many).lines().count(), 2 + 20 + 1);
        assert_eq!(lines(&many).last().map(String::as_str), Some("   - and 5 more"));
        let long = vec![command(&"@team ".repeat(1_000)); 25];
        let long: Vec<Discarded> =
            long.into_iter().map(|one| Discarded { author: "😀`".repeat(1_000), ..one }).collect();
        let text = block(&long);
        assert!(text.encode_utf16().count() <= ROOM + 40);
        let shown = text.matches("\n- Command").count();
        assert!(shown < 20 && text.ends_with(&format!("\n- and {} more", 25 - shown)));
    }
}
