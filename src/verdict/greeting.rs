//! The greeting: what a pull request needs before it has a verdict, once, in the profile's words.

use super::fit::units;
use super::inert::{label, link, steers};
use crate::limits::COMMENT_CHARS;
use crate::profile::{Greeting, Language, Slot, Words};
use crate::rules::escape::code_span;

/// First line of a greeting: what it is found by.
pub const GREETING_MARKER: &str = "<!-- countersign greeting -->";

/// Paths named in one line of the list; more are counted.
const PATHS_SHOWN: usize = 3;
/// Owners named in one line of the list; more are counted.
const OWNERS_SHOWN: usize = 8;
/// UTF-16 units that the lists of all languages may take together.
const LISTS: usize = 16_000;

/// What a greeting tells of one pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guide {
    /// The pull request's number.
    pub number: i64,
    /// Who can sign, by what changed; whoever signs has to be in each.
    pub signers: Vec<Signers>,
    /// Path of the CODEOWNERS file.
    pub codeowners: String,
    /// Its page.
    pub codeowners_url: Option<String>,
    /// The checklist as a reviewer pastes it.
    pub template: String,
    /// Path of the document that it stands in.
    pub checklist: String,
    /// The page of that document.
    pub checklist_url: Option<String>,
    /// The phrase that opens a sign-off.
    pub phrase: String,
}

/// Changed paths with the same owners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signers {
    /// The paths.
    pub paths: Vec<String>,
    /// The owners as CODEOWNERS writes them; one of them has to sign.
    pub owners: Vec<String>,
}

/// The greeting as Markdown, at most [`COMMENT_CHARS`] characters. The first line is
/// [`GREETING_MARKER`]; nobody is mentioned, since names stand in code spans.
///
/// The first language stands in the open. A checklist that is too long for a comment is linked instead
/// of shown, and what is still too long is left out, further languages first.
pub fn greeting(words: &Greeting, guide: &Guide) -> String {
    let all = words.languages.as_slice();
    let first = &all[..all.len().min(1)];
    let shapes = [(all, true), (first, true), (all, false), (first, false)];
    let texts = shapes.into_iter().map(|(languages, shown)| {
        let parts = languages.iter().enumerate().map(|(index, language)| {
            let text = filled(language, words, guide, shown);
            match index {
                0 => text,
                _ => format!(
                    "<details>\n<summary>{}</summary>\n\n{text}\n\n</details>",
                    label(&language.name)
                ),
            }
        });
        let parts: Vec<String> = parts.collect();
        format!("{GREETING_MARKER}\n{}\n", parts.join("\n\n"))
    });
    let mut fitting = texts.filter(|text| units(text) <= COMMENT_CHARS);
    // Words that fit in no way are none; where to look can still be said.
    fitting.next().unwrap_or_else(|| {
        format!("{GREETING_MARKER}\n{} · {}\n", codeowners(guide), checklist(guide))
    })
}

fn filled(language: &Language, words: &Greeting, guide: &Guide, template_shown: bool) -> String {
    language.text.fill(|slot| match slot {
        Slot::Number => guide.number.to_string(),
        Slot::Signers => signers(language, words, guide),
        Slot::Template if template_shown => fence(&guide.template),
        Slot::Template | Slot::Checklist => checklist(guide),
        Slot::Phrase => code_span(&guide.phrase),
        Slot::Codeowners => codeowners(guide),
        // Not in this text, which `Words` has seen to.
        Slot::Paths | Slot::Owners | Slot::Count => String::new(),
    })
}

fn checklist(guide: &Guide) -> String {
    link(&code_span(&guide.checklist), guide.checklist_url.as_deref())
}

fn codeowners(guide: &Guide) -> String {
    link(&code_span(&guide.codeowners), guide.codeowners_url.as_deref())
}

/// Who can sign, as a list; where nobody is named, the file that should.
fn signers(language: &Language, words: &Greeting, guide: &Guide) -> String {
    let more = |count: usize| filled_with(&language.more, Slot::Count, &count.to_string());
    let named = |values: &[String], shown: usize| {
        let spans: Vec<String> = values.iter().take(shown).map(|value| code_span(value)).collect();
        match values.len().saturating_sub(shown) {
            0 => spans.join(", "),
            count => format!("{} {}", spans.join(", "), more(count)),
        }
    };
    if guide.signers.is_empty() {
        return format!("- {}", codeowners(guide));
    }
    let room = LISTS / words.languages.len().max(1);
    let mut lines: Vec<String> = Vec::new();
    let mut taken = 0;
    for group in guide.signers.iter().take(words.signers_shown) {
        let line = language.signer.fill(|slot| match slot {
            Slot::Paths => named(&group.paths, PATHS_SHOWN),
            Slot::Owners => named(&group.owners, OWNERS_SHOWN),
            _ => String::new(),
        });
        taken += units(&line) + 3;
        if taken > room {
            break;
        }
        lines.push(format!("- {line}"));
    }
    if lines.len() < guide.signers.len() {
        lines.push(format!("- {}", more(guide.signers.len() - lines.len())));
    }
    lines.join("\n")
}

fn filled_with(words: &Words, wanted: Slot, value: &str) -> String {
    words.fill(|slot| if slot == wanted { value.to_owned() } else { String::new() })
}

/// A text as a code block whose fence is longer than any run of backticks in it. What steers is left
/// out: the block is there to be copied.
fn fence(text: &str) -> String {
    let kept: String = text.chars().filter(|c| matches!(c, '\n' | '\t') || !steers(*c)).collect();
    let longest = kept.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", kept.trim_end())
}
