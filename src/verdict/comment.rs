//! The verdict comment, by the contract's grammar.

use super::edits::edits;
use super::fit::{fit, units};
use super::inert::{link, mention, prose};
use super::row::{self, Place, shown};
use super::{Outcome, SignedBy, Summary, Verdict, discarded};
use crate::limits::COMMENT_CHARS;
use crate::profile::Escalation;
use crate::rules::escape::code_span;
use crate::rules::{Row, RowStatus};

/// Runs and upstream commits named in the last lines; the JSON names all.
const INPUTS_SHOWN: usize = 5;

/// What a comment says beside the verdict.
#[derive(Debug, Clone, Copy)]
pub struct CommentOptions<'a> {
    /// The page of the full report, where a server runs.
    pub report_url: Option<&'a str>,
    /// The command that reproduces the verdict.
    pub command: &'a str,
    /// Whom the profile calls where a row of theirs is a warning.
    pub escalations: &'a [Escalation],
}

/// First line of a sign-off's verdict comment. It holds nothing that a person wrote.
pub fn marker(signoff: &SignedBy) -> String {
    marker_of(&format!("{}/{}", signoff.kind.as_str(), signoff.id))
}

/// How the first line of everything begins that is posted in a conversation.
pub const MARKERS: &str = "<!-- countersign ";

/// The same of a sign-off's `KIND/ID`.
pub fn marker_of(key: &str) -> String {
    format!("<!-- countersign signoff={key} -->")
}

/// What stands above a verdict on some of the checks.
const PARTIAL: &str =
    "Partial: only some of the checks were asked for, and what was asked for held.";

/// The comment, at most [`COMMENT_CHARS`] characters: where findings are too many, they are cut with
/// a count, and the last lines stand whole.
///
/// The first line is [`marker`], where there is a sign-off. The signer of a rejected sign-off and the
/// people whom the profile calls are mentioned; nobody else is.
pub fn comment(verdict: &Verdict, options: &CommentOptions<'_>) -> String {
    comment_after(verdict, options, None)
}

/// The same where the sign-off had a verdict before: what was edited since then is said at the end of
/// the open part. Without an earlier one, or where the text is the same, it is [`comment`] to the byte.
pub fn comment_after(
    verdict: &Verdict,
    options: &CommentOptions<'_>,
    previous: Option<&Summary>,
) -> String {
    let mut head = String::new();
    if let Some(signoff) = &verdict.signoff {
        head.push_str(&marker(signoff));
        head.push('\n');
    }
    head.push_str(header(verdict));
    let opening = match (&verdict.signoff, verdict.verdict) {
        (Some(signoff), Outcome::Rejected) => {
            Some(format!("{}, {}", mention(&signoff.author), sentence(verdict)))
        }
        (_, Outcome::Approved) if verdict.partial => Some(PARTIAL.to_owned()),
        (_, Outcome::Approved) => None,
        _ => Some(sentence(verdict)),
    };
    let calls = called(verdict, options.escalations);
    let changed = verdict.changed.as_ref().map(|changed| format!("What changes: {changed}."));
    for paragraph in opening.into_iter().chain(changed).chain(calls) {
        head.push_str("\n\n");
        head.push_str(&paragraph);
    }
    let last = last_lines(verdict, options);
    let edited = previous.and_then(|previous| edits(verdict, previous));
    let edited = edited.map(|edits| format!("Edited since the last verdict: {edits}."));
    let discarded = discarded::block(&verdict.discarded);

    let rows = shown(verdict);
    let quiet = rows.partition_point(|row| Place::of(row) != Place::Quiet);
    let counted = counts(&rows[quiet..], verdict.discarded.len());
    let fold = format!("<details>\n<summary>{counted}</summary>");
    let around = [head.as_str(), &last, &fold, edited.as_deref().unwrap_or_default(), &discarded];
    let frame =
        around.iter().map(|part| units(part) + 2).sum::<usize>() + units("</details>\n\n\n");
    let mut blocks = fit(&rows, author(verdict), COMMENT_CHARS.saturating_sub(frame)).into_iter();

    let mut parts = vec![head];
    parts.extend(blocks.by_ref().take(quiet));
    parts.extend(edited);
    let folded = blocks.chain(Some(discarded).filter(|block| !block.is_empty()));
    let folded: Vec<String> = folded.collect();
    if !folded.is_empty() {
        parts.push(fold);
        parts.extend(folded);
        parts.push("</details>".to_owned());
    }
    parts.push(last);
    parts.join("\n\n") + "\n"
}

/// The one header of a verdict.
pub(super) fn header(verdict: &Verdict) -> &'static str {
    match verdict.verdict {
        Outcome::Approved if verdict.clean() => "## ✅✅✅ **APPROVED** ✅✅✅",
        Outcome::Approved => "## ⚠️ **APPROVED with warnings** ⚠️",
        Outcome::Rejected => "## ❌❌❌ **REJECTED** ❌❌❌",
        Outcome::Undecided => "## ⏳ **UNDECIDED** ⏳",
        Outcome::NotRequired => "## ➖ **NO SIGN-OFF REQUIRED** ➖",
    }
}

/// What the verdict means and what to do about it, in one sentence of plain words.
pub(super) fn sentence(verdict: &Verdict) -> String {
    let of = |place| verdict.checks.iter().filter(|row| Place::of(row) == place).count();
    let failed = of(Place::Failed);
    match verdict.verdict {
        Outcome::Approved if verdict.clean() => {
            let attested = verdict.checks.iter().filter(|row| row.status == RowStatus::Attested);
            let (open, attested): (Vec<_>, Vec<_>) = attested.partition(|row| row::is_open(row));
            let stand = |n| format!("{} {}", checks(n), if n == 1 { "stands" } else { "stand" });
            let word = match attested.len() {
                0 => None,
                n => Some(format!("{} by the reviewer's word", stand(n))),
            };
            let nobody = match open.len() {
                0 => None,
                n => Some(format!("{} by nobody's word, for the item is open", stand(n))),
            };
            let rest: Vec<String> = word.into_iter().chain(nobody).collect();
            match rest.as_slice() {
                _ if verdict.partial => PARTIAL.to_owned(),
                [] => "Everything that the sign-off claims held against the evidence.".to_owned(),
                rest => format!("What is checked by evidence held; {}.", rest.join(", ")),
            }
        }
        Outcome::Approved => {
            "No check fails; what is worth knowing before merging stands first.".to_owned()
        }
        Outcome::Rejected => format!(
            "{} at the assessed commit; each says what to do, and editing the sign-off has it \
             verified again.",
            fails(failed)
        ),
        Outcome::Undecided if verdict.undecided.is_empty() => {
            "Nothing is concluded: a local run alone approves nothing.".to_owned()
        }
        Outcome::Undecided => {
            let when = match &verdict.retry_at {
                Some(at) => format!("; tried again at {}", code_span(at)),
                None => String::new(),
            };
            let is_proven = |row: &&Row| Place::of(row) == Place::Failed && row.verified;
            let proven = match verdict.checks.iter().filter(is_proven).count() {
                0 => String::new(),
                n => format!("; proven so far: {}", fails(n)),
            };
            format!(
                "Nothing is concluded: {} could not be assessed, through no fault of the \
                 submission{proven}{when}.",
                checks(verdict.undecided.len())
            )
        }
        Outcome::NotRequired => {
            "Nothing that this pull request changes needs a code owner's sign-off.".to_owned()
        }
    }
}

pub(super) fn checks(count: usize) -> String {
    format!("{count} check{}", if count == 1 { "" } else { "s" })
}

pub(super) fn fails(count: usize) -> String {
    format!("{} fail{}", checks(count), if count == 1 { "s" } else { "" })
}

pub(super) fn author(verdict: &Verdict) -> Option<&str> {
    verdict.signoff.as_ref().map(|signoff| signoff.author.as_str())
}

fn called<'a>(
    verdict: &'a Verdict,
    escalations: &'a [Escalation],
) -> impl Iterator<Item = String> + 'a {
    let warns = |check: &str| {
        verdict.checks.iter().any(|row| row.id == check && row.status == RowStatus::Warn)
    };
    escalations.iter().filter(move |call| warns(&call.check)).map(|call| {
        let logins: Vec<String> = call.logins.iter().map(|login| mention(login)).collect();
        format!("{} {}", logins.join(" "), prose(&call.text))
    })
}

/// `12 passed, 3 not applicable, 2 attested, 1 did not count`.
fn counts(rows: &[&Row], discarded: usize) -> String {
    [
        (RowStatus::Pass, "passed"),
        (RowStatus::NotApplicable, "not applicable"),
        (RowStatus::Attested, "attested"),
    ]
    .into_iter()
    .map(|(status, word)| (rows.iter().filter(|row| row.status == status).count(), word))
    .chain([(discarded, "did not count")])
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"))
    .collect::<Vec<_>>()
    .join(", ")
}

/// Commit, rules, every input that could explain a different answer, report and command.
pub(super) fn last_lines(verdict: &Verdict, options: &CommentOptions<'_>) -> String {
    let inputs = &verdict.inputs;
    let mut lines = Vec::new();
    if verdict.partial {
        lines.push("Partial: only some of the checks were asked for.".to_owned());
    }
    lines.push(format!("Assessed commit: {}.", code_span(&verdict.assessed_commit)));
    if let Some(newer) = &inputs.newer_head {
        lines.push(format!("A newer commit stands unassessed: {}.", code_span(newer)));
    }
    let mut read = vec![
        format!("Rules {}", code_span(&verdict.rules_digest)),
        format!("target branch at {}", short(&inputs.base)),
        format!("date {}", code_span(&inputs.date)),
    ];
    read.extend(inputs.signoff_body.as_deref().map(|body| format!("sign-off {}", short(body))));
    read.extend(some("runs", &inputs.runs));
    read.extend(some("upstream", &inputs.upstream));
    read.push(format!("evidence {}", short(&verdict.evidence_digest)));
    lines.push(format!("{}.", read.join(" · ")));
    let report = options.report_url.map(|url| format!("{} · ", link("Full report", Some(url))));
    lines.push(format!("{}Reproduce: {}", report.unwrap_or_default(), code_span(options.command)));
    lines.join("\n\n")
}

fn some(word: &str, values: &[String]) -> Option<String> {
    let shown: Vec<String> =
        values.iter().take(INPUTS_SHOWN).map(|value| code_span(value)).collect();
    let more = match values.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!shown.is_empty()).then(|| format!("{word} {}{more}", shown.join(", ")))
}

/// A commit or digest, by enough of it to be told from others.
pub(super) fn short(digest: &str) -> String {
    let (scheme, digits) = match digest.split_once(':') {
        Some((scheme, digits)) => (format!("{scheme}:"), digits),
        None => (String::new(), digest),
    };
    code_span(&format!("{scheme}{}", digits.chars().take(12).collect::<String>()))
}

#[cfg(test)]
#[path = "comment_tests.rs"]
mod tests;
