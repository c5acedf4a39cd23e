//! The greeting of a pull request: its words by language, with places for what is read.
//!
//! The words stand in `greeting.NAME.md` beside `profile.yaml`. Of the language of rule texts they have
//! `{{ name }}` alone: which names there are is known, so that nothing can go wrong when it is posted.

use serde::Deserialize;

use super::diagnostic::Diagnostic;
use super::document::{Node, Place, Written};
use super::load::{Files, place};

/// Characters of all texts together: with the checklist they have to fit one comment of GitHub's.
const TEXT_CHARS: usize = 20_000;
/// Groups of owners that a greeting may list.
const SIGNERS: usize = 50;

/// What of it stands in `profile.yaml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GreetingSettings {
    /// The languages; the first stands in the open, each further one behind a fold.
    pub languages: Vec<LanguageSettings>,
    /// How many groups of changed paths are listed with their owners; more are counted.
    #[serde(default = "signers_shown")]
    pub signers_shown: usize,
}

fn signers_shown() -> usize {
    8
}

/// One language of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageSettings {
    /// What the language is called in itself.
    pub name: String,
    /// The file with its words, `greeting.NAME.md`.
    pub file: String,
    /// One line of the list of owners, with `paths` and `owners`.
    pub signer: String,
    /// What stands for those that are not named, with `count`.
    pub more: String,
}

/// A greeting that can be rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// The languages, at least one.
    pub languages: Vec<Language>,
    /// How many groups of changed paths are listed.
    pub signers_shown: usize,
}

/// One language of a greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Language {
    /// What it is called in itself.
    pub name: String,
    /// All of its words, as Markdown.
    pub text: Words,
    /// One line of the list of owners.
    pub signer: Words,
    /// What stands for those that are not named.
    pub more: Words,
}

/// A text with places in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Slot(Slot),
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// The pull request's number.
    Number,
    /// The list of owners; a block.
    Signers,
    /// The checklist to copy; a block.
    Template,
    /// The phrase that opens a sign-off.
    Phrase,
    /// The checklist document, linked.
    Checklist,
    /// The CODEOWNERS file, linked.
    Codeowners,
    /// Of a line of the list: the paths.
    Paths,
    /// Of a line of the list: the owners.
    Owners,
    /// How many are not named.
    Count,
}

/// Names in a language's text.
const IN_TEXT: &[(&str, Slot)] = &[
    ("checklist", Slot::Checklist),
    ("codeowners", Slot::Codeowners),
    ("number", Slot::Number),
    ("phrase", Slot::Phrase),
    ("signers", Slot::Signers),
    ("template", Slot::Template),
];
/// Names in a line of the list.
const IN_SIGNER: &[(&str, Slot)] = &[("owners", Slot::Owners), ("paths", Slot::Paths)];
/// Names in the words for those that are not named.
const IN_MORE: &[(&str, Slot)] = &[("count", Slot::Count)];

impl Words {
    /// The text with every place filled in.
    pub fn fill(&self, mut value: impl FnMut(Slot) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Slot(slot) => value(*slot),
        };
        self.0.iter().map(piece).collect()
    }

    fn holds(&self, slot: Slot) -> bool {
        self.0.contains(&Piece::Slot(slot))
    }
}

/// A mistake in a text, at a byte of it.
struct Mistake {
    at: usize,
    message: String,
    /// The name that is none.
    name: Option<String>,
}

/// Takes a text apart.
fn words(text: &str, names: &[(&str, Slot)]) -> Result<Words, Vec<Mistake>> {
    let mut pieces = Vec::new();
    let mut mistakes = Vec::new();
    let mut at = 0;
    let opens =
        |from: usize| ["{{", "{%", "{#"].iter().filter_map(|sign| text[from..].find(sign)).min();
    while let Some(found) = opens(at) {
        let start = at + found;
        if !text[start..].starts_with("{{") {
            let message = "there are no statements and comments here, only `{{ name }}`".to_owned();
            mistakes.push(Mistake { at: start, message, name: None });
            at = start + 2;
            continue;
        }
        pieces.push(Piece::Text(text[at..start].to_owned()));
        let Some(length) = text[start..].find("}}") else {
            let message = "`{{` is not closed by `}}`".to_owned();
            mistakes.push(Mistake { at: start, message, name: None });
            at = text.len();
            break;
        };
        let inner = &text[start + 2..start + length];
        let name = inner.trim();
        let name_at = start + 2 + (inner.len() - inner.trim_start().len());
        at = start + length + 2;
        match names.iter().find(|(known, _)| *known == name) {
            None => mistakes.push(Mistake {
                at: name_at,
                message: format!("nothing is called `{name}` here"),
                name: Some(name.to_owned()),
            }),
            Some((_, slot)) if is_block(*slot) && !alone(text, start, at) => {
                let message = format!("`{name}` is a block and has a line of its own");
                mistakes.push(Mistake { at: name_at, message, name: None });
            }
            Some((_, slot)) => pieces.push(Piece::Slot(*slot)),
        }
    }
    pieces.push(Piece::Text(text[at..].to_owned()));
    if mistakes.is_empty() { Ok(Words(pieces)) } else { Err(mistakes) }
}

fn is_block(slot: Slot) -> bool {
    matches!(slot, Slot::Signers | Slot::Template)
}

/// Whether a part of a text is a whole line of it.
fn alone(text: &str, start: usize, end: usize) -> bool {
    let begins = text[..start].is_empty() || text[..start].ends_with('\n');
    begins && (text[end..].is_empty() || text[end..].starts_with('\n'))
}

/// Reads the greeting; `None` with the mistakes in it, which name their places.
pub(super) fn read(
    settings: &GreetingSettings,
    node: &Node,
    files: &Files,
    problems: &mut Vec<Diagnostic>,
) -> Option<Greeting> {
    let before = problems.len();
    let mut wrong = |keys: &[&str], message: String, help: &str| {
        let at = place(node, &[&["greeting"], keys].concat());
        let problem = Diagnostic::new("profile.yaml", at, message);
        problems.push(if help.is_empty() { problem } else { problem.with_help(help) });
    };
    if settings.languages.is_empty() {
        wrong(&["languages"], "no language is given".to_owned(), "");
    }
    if settings.signers_shown == 0 || settings.signers_shown > SIGNERS {
        wrong(&["signers_shown"], format!("`signers_shown` is a number from 1 to {SIGNERS}"), "");
    }
    for (index, language) in settings.languages.iter().enumerate() {
        let index = index.to_string();
        if language.name.trim().is_empty() {
            wrong(&["languages", &index, "name"], "the name is empty".to_owned(), "");
        }
        let named = language.file.starts_with("greeting.") && language.file.ends_with(".md");
        if !named || !files.contains_key(&language.file) {
            wrong(
                &["languages", &index, "file"],
                format!("there is no file `{}`", language.file),
                "the words of a greeting stand in `greeting.NAME.md` beside `profile.yaml`",
            );
        }
    }
    let texts = settings.languages.iter().filter_map(|language| files.get(&language.file));
    let chars: usize = texts.map(|text| text.chars().count()).sum();
    if chars > TEXT_CHARS {
        let help = "with the checklist they have to fit one comment";
        let message = format!("the texts have {chars} characters, more than {TEXT_CHARS}");
        wrong(&["languages"], message, help);
    }
    let languages: Vec<Option<Language>> = settings
        .languages
        .iter()
        .enumerate()
        .map(|(index, settings)| language(settings, index, node, files, problems))
        .collect();
    let languages: Option<Vec<Language>> = languages.into_iter().collect();
    let sound = problems.len() == before;
    let greeting = languages.filter(|_| sound);
    greeting.map(|languages| Greeting { languages, signers_shown: settings.signers_shown })
}

fn language(
    settings: &LanguageSettings,
    index: usize,
    node: &Node,
    files: &Files,
    problems: &mut Vec<Diagnostic>,
) -> Option<Language> {
    let source = files.get("profile.yaml").map(String::as_str).unwrap_or_default();
    let mut short = |key: &str, text: &str, names: &[(&str, Slot)]| {
        let at = place(node, &["greeting", "languages", &index.to_string(), key]);
        let written = Written::of(source, at, text);
        let place = |offset| written.place(source, offset);
        report("profile.yaml", words(text, names), names, place, problems)
    };
    let signer = short("signer", &settings.signer, IN_SIGNER);
    let more = short("more", &settings.more, IN_MORE);
    let file = files.get(&settings.file)?;
    let place = |offset| Place::of_offset(file, offset);
    let text = report(&settings.file, words(file, IN_TEXT), IN_TEXT, place, problems)?;
    for (name, slot) in IN_TEXT.iter().filter(|(_, slot)| index == 0 && is_block(*slot)) {
        if !text.holds(*slot) {
            let message = format!("the first language says nothing of `{{{{ {name} }}}}`");
            problems.push(Diagnostic::new(&settings.file, Place::START, message));
        }
    }
    Some(Language { name: settings.name.clone(), text: lines(text), signer: signer?, more: more? })
}

/// A text whose lines end as ours do, without blank ones around it.
fn lines(words: Words) -> Words {
    let last = words.0.len().saturating_sub(1);
    let pieces = words.0.into_iter().enumerate().map(|(index, piece)| match piece {
        Piece::Text(text) => {
            let text = text.replace("\r\n", "\n");
            let text = if index == 0 { text.trim_start() } else { &text };
            Piece::Text(if index == last { text.trim_end() } else { text }.to_owned())
        }
        slot => slot,
    });
    Words(pieces.collect())
}

fn report(
    path: &str,
    words: Result<Words, Vec<Mistake>>,
    names: &[(&str, Slot)],
    place: impl Fn(usize) -> Place,
    problems: &mut Vec<Diagnostic>,
) -> Option<Words> {
    let mistakes = match words {
        Ok(words) => return Some(words),
        Err(mistakes) => mistakes,
    };
    problems.extend(mistakes.into_iter().map(|mistake| {
        let problem = Diagnostic::new(path, place(mistake.at), mistake.message);
        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        match &mistake.name {
            Some(name) => problem.suggesting(name, known),
            None => problem,
        }
    }));
    None
}
