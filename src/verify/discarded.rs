//! What somebody probably meant to count and what did not: gathered in one place, from what was read.

use std::collections::BTreeMap;

use crate::facts::{OverrideCommand, SignOffKind};
use crate::limits;
use crate::signoff::settings::ReuseSettings;
use crate::signoff::{self, CommandKind, NearCommand, NotASignOff};
use crate::sources::types::Posted;
use crate::verdict::{Discarded, DiscardedKind, MARKERS};

/// Why a command that stands in the right form has no effect where it stands.
const NOT_IN_CONVERSATION: &str =
    "it stands in a review; commands count in comments of the conversation only";

/// Everything on a pull request that was probably meant to count and did not, newest first: at most
/// [`limits::DISCARDED_OF_ONE`] of one account and [`limits::DISCARDED`] in all. `reuse` are the
/// profile's commands that pin a run, `overrides` the exceptions as they were judged.
///
/// Of bots and apps only what would have been a sign-off is listed: they quote commands all the time.
pub(super) fn all(
    signoffs: &signoff::Reader,
    reuse: Option<&ReuseSettings>,
    posted: &[Posted],
    overrides: &[OverrideCommand],
) -> Vec<Discarded> {
    let mut found: Vec<(String, Discarded)> = Vec::new();
    for one in posted {
        let at = |discarded| (one.created.clone(), discarded);
        found.extend(signoff(signoffs, one).map(at));
        let withdrawn = matches!(one.state.as_deref(), Some("DISMISSED" | "PENDING"));
        if !is_machine(one) && !withdrawn {
            found.extend(commands(one, reuse).into_iter().map(at));
        }
    }
    let invalid = overrides.iter().filter_map(|command| {
        let why = command.why_not.clone()?;
        let text =
            format!("/countersign override {} {} {}", command.check, command.sha, command.reason);
        let discarded = Discarded {
            kind: DiscardedKind::Override,
            author: command.author.clone(),
            url: command.origin.url.clone(),
            line: command.origin.line,
            text: signoff::line_of(&text, 1),
            why,
        };
        Some((command.created.clone(), discarded))
    });
    found.extend(invalid);
    // The page of a comment orders those of one second, the line those of one comment.
    let key = |(time, one): &(String, Discarded)| (time.clone(), one.url.clone(), one.line);
    found.sort_by_key(|one| std::cmp::Reverse(key(one)));
    let mut of_one: BTreeMap<String, usize> = BTreeMap::new();
    found.retain(|(_, one)| {
        let kept = of_one.entry(one.author.to_ascii_lowercase()).or_default();
        *kept += 1;
        *kept <= limits::DISCARDED_OF_ONE
    });
    found.truncate(limits::DISCARDED);
    found.into_iter().map(|(_, one)| one).collect()
}

/// Whether a comment is a sign-off that counts.
pub(super) fn counts(signoffs: &signoff::Reader, posted: &Posted) -> bool {
    unfit(signoffs, posted).is_none() && recognise(signoffs, &posted.body).is_ok()
}

/// Why a comment is no sign-off that counts, in words; `None` where it is one.
pub(super) fn why_no_signoff(signoffs: &signoff::Reader, posted: &Posted) -> Option<String> {
    let not = || recognise(signoffs, &posted.body).err().map(|not| in_words(&not));
    unfit(signoffs, posted).map(|unfit| unfit.why().to_owned()).or_else(not)
}

/// A comment that was probably meant as a sign-off, or speaks as one, and is none.
pub(super) fn signoff(signoffs: &signoff::Reader, posted: &Posted) -> Option<Discarded> {
    // What we write ourselves quotes the checklist, and nobody takes it for a sign-off. A person's
    // marker means nothing.
    if is_machine(posted) && posted.body.starts_with(MARKERS) {
        return None;
    }
    let read = recognise(signoffs, &posted.body);
    let line = read.as_ref().err().and_then(|not| not.line);
    let why = match (unfit(signoffs, posted), read) {
        (None, Ok(())) => return None,
        (Some(unfit), Ok(())) => unfit.why().to_owned(),
        // Machines mention the form wherever they explain it, and an earlier verdict speaks of one.
        (Some(Unfit::LegacyVerdict), Err(_)) => return None,
        (Some(Unfit::Machine), Err(not)) if !not.near => return None,
        (_, Err(not)) if !not.speaks_of_one() => return None,
        (Some(unfit), Err(_)) => unfit.why().to_owned(),
        (None, Err(not)) => in_words(&not),
    };
    Some(Discarded {
        kind: DiscardedKind::SignOff,
        author: posted.author.clone(),
        url: page(posted),
        text: line.and_then(|line| signoff::line_of(&posted.body, line)),
        line,
        why,
    })
}

/// Why a comment cannot be a sign-off whatever it says.
enum Unfit {
    LegacyVerdict,
    Machine,
    Dismissed,
    Pending,
}

impl Unfit {
    fn why(&self) -> &'static str {
        match self {
            Self::LegacyVerdict => "it is a verdict of an earlier verifier",
            Self::Machine => "a bot or an app wrote it; only a person can sign",
            Self::Dismissed => "the review was dismissed",
            Self::Pending => "the review is not submitted yet",
        }
    }
}

fn unfit(signoffs: &signoff::Reader, posted: &Posted) -> Option<Unfit> {
    if signoffs.is_legacy_verdict(&posted.author, &posted.body) {
        return Some(Unfit::LegacyVerdict);
    }
    match posted.state.as_deref() {
        _ if is_machine(posted) => Some(Unfit::Machine),
        Some("DISMISSED") => Some(Unfit::Dismissed),
        Some("PENDING") => Some(Unfit::Pending),
        _ => None,
    }
}

fn is_machine(posted: &Posted) -> bool {
    posted.app.is_some() || posted.author_is_bot
}

fn recognise(signoffs: &signoff::Reader, body: &str) -> Result<(), NotASignOff> {
    let place = signoff::Place::Comment { url: String::new() };
    signoffs.parse(body, &place).map(drop)
}

/// Why it is none, and what to do about it.
fn in_words(not: &NotASignOff) -> String {
    match not.hint() {
        Some(hint) => format!("{not}; {hint}"),
        None => not.to_string(),
    }
}

fn page(posted: &Posted) -> Option<String> {
    (!posted.html_url.is_empty()).then(|| posted.html_url.clone())
}

/// The lines of a person's comment that were probably meant as commands and are none.
fn commands(posted: &Posted, reuse: Option<&ReuseSettings>) -> Vec<Discarded> {
    let discarded = |kind, line: i64, text: String, why: String| Discarded {
        kind,
        author: posted.author.clone(),
        url: page(posted),
        line: Some(line),
        text: Some(text),
        why,
    };
    let reuses = || {
        let lines = reuse.map(|settings| signoff::reuse_lines(&posted.body, settings));
        lines.unwrap_or_default().into_iter()
    };
    if posted.kind != SignOffKind::IssueComment {
        let why = || NOT_IN_CONVERSATION.to_owned();
        let reuses =
            reuses().map(|line| discarded(DiscardedKind::Command, line.line, line.text, why()));
        let overrides = signoff::override_lines(&posted.body).into_iter().map(|line| {
            let text = signoff::line_of(&posted.body, line.line).unwrap_or_default();
            discarded(DiscardedKind::Override, line.line, text, why())
        });
        return reuses.chain(overrides).collect();
    }
    let mut found: Vec<Discarded> = Vec::new();
    if let Some(settings) = reuse.filter(|reuse| !reuse.associations.contains(&posted.association))
    {
        let listed: Vec<String> =
            settings.associations.iter().map(|word| format!("`{word}`")).collect();
        let why = format!(
            "its author's association with the repository is `{}`, and none of {}",
            posted.association,
            listed.join(", ")
        );
        let one = |line: signoff::ReuseLine| {
            discarded(DiscardedKind::Command, line.line, line.text, why.clone())
        };
        found.extend(reuses().map(one));
    }
    let near = signoff::near_commands(&posted.body, reuse).into_iter();
    found.extend(near.map(|NearCommand { command, text, line, why }| {
        let kind = match command {
            CommandKind::Override => DiscardedKind::Override,
            CommandKind::Reuse | CommandKind::Verify => DiscardedKind::Command,
        };
        discarded(kind, line, text, why)
    }));
    found
}
