//! The verdict for a terminal, and Markdown of ours as plain words.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::comment::{author, checks, sentence};
use super::inert::{steers, web};
use super::row::{Place, face, lead, name, one_line, shown, statement};
use super::{Outcome, Verdict, discarded};
use crate::facts::Origin;
use crate::limits::VALUE_CHARS;
use crate::rules::{Level, Row};

/// How the outcome and the words of rows are painted.
struct Paint {
    color: bool,
}

impl Paint {
    fn bold(&self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[1;{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn faint(&self, text: &str) -> String {
        if self.color { format!("\u{1b}[2m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// The verdict as lines for people: the outcome, what it is about, one line a check with what was
/// found under it, failures first. Nothing is wrapped, so that lines can be searched; the only
/// escape sequences are our own colours, and without `color` there are none.
pub fn text(verdict: &Verdict, color: bool) -> String {
    let paint = Paint { color };
    let mut out = format!("{}\n{}\n", title(verdict, &paint), subject(verdict));
    if let Some(changed) = &verdict.changed {
        out.push_str(&format!("What changes: {changed}.\n"));
    }
    let mut place = None;
    for row in shown(verdict) {
        // A blank line where the kind changes, and around whatever has more than one line.
        let lines = lines(row, verdict, &paint);
        if place != Some(Place::of(row)) || Place::of(row) != Place::Quiet {
            out.push('\n');
        }
        place = Some(Place::of(row));
        for line in lines {
            out.push_str(&line);
            out.push('\n');
        }
    }
    let discarded = discarded::lines(&verdict.discarded);
    if !discarded.is_empty() {
        out.push('\n');
    }
    for line in discarded {
        out.push_str(&line);
        out.push('\n');
    }
    out.push('\n');
    for line in ending(verdict) {
        out.push_str(&line);
        out.push('\n');
    }
    out
}

fn title(verdict: &Verdict, paint: &Paint) -> String {
    match verdict.verdict {
        Outcome::Approved if verdict.clean() => paint.bold("32", "✅✅✅ APPROVED ✅✅✅"),
        Outcome::Approved => paint.bold("33", "⚠️ APPROVED with warnings ⚠️"),
        Outcome::Rejected => paint.bold("31", "❌❌❌ REJECTED ❌❌❌"),
        Outcome::Undecided => paint.bold("33", "⏳ UNDECIDED ⏳"),
        Outcome::NotRequired => paint.bold("32", "➖ NO SIGN-OFF REQUIRED ➖"),
    }
}

fn subject(verdict: &Verdict) -> String {
    let by = match &verdict.signoff {
        Some(signoff) => format!(", signed off by @{}", value(&signoff.author)),
        None => String::new(),
    };
    format!("{}#{}{by}", value(&verdict.repository), verdict.pull_request)
}

fn lines(row: &Row, verdict: &Verdict, paint: &Paint) -> Vec<String> {
    let (sign, word) = face(row.status, row.overridden.is_some());
    let painted = match Place::of(row) {
        Place::Failed => paint.bold("31", word),
        Place::Warned | Place::Undecided => paint.bold("33", word),
        Place::Quiet => word.to_owned(),
    };
    let said = plain(&statement(row, author(verdict)));
    let mut lines = vec![format!("{sign} {}: {painted} — {said}", name(row.number, &row.title))];
    let lead = lead(row);
    for finding in &row.findings {
        let message = plain(&one_line(&finding.message));
        let note = if finding.level == Level::Note { "note: " } else { "" };
        let about = match &finding.subject {
            Some(subject) if !message.contains(subject.as_str()) => {
                format!(" ({})", value(subject))
            }
            _ => String::new(),
        };
        if lead.is_some_and(|lead| std::ptr::eq(lead, finding)) {
            lines[0].push_str(&about);
        } else {
            lines.push(format!("   - {note}{message}{about}"));
        }
        if let Some(fix) = &finding.fix {
            for (index, line) in plain(fix.trim()).lines().enumerate() {
                let before = if index == 0 { "fix: " } else { "     " };
                lines.push(format!("     {before}{line}"));
            }
        }
        // What holds needs no more than its line; the JSON has the rest.
        if Place::of(row) != Place::Quiet {
            lines.extend(finding.evidence.iter().map(|origin| paint.faint(&see(origin))));
        }
    }
    lines
}

/// `see: path:12 /pointer https://…`.
fn see(origin: &Origin) -> String {
    let mut words = Vec::new();
    if let Some(path) = &origin.path {
        let line = origin.line.map(|line| format!(":{line}")).unwrap_or_default();
        words.push(format!("{}{line}", value(path)));
    }
    words.extend(origin.pointer.as_deref().map(value));
    words.extend(origin.url.as_deref().and_then(web).map(|url| visible(url.as_str())));
    words.extend(origin.quote.as_deref().map(|quote| format!("“{}”", value(quote))));
    format!("     see: {}", words.join("  "))
}

fn ending(verdict: &Verdict) -> Vec<String> {
    let mut lines = vec![plain(&sentence(verdict))];
    if verdict.verdict == Outcome::Undecided {
        lines.push(
            "To decide the rest, run the same command again; a run on a local clone (--git-dir) takes \
             the sign-off by --signoff, and what only GitHub has by the pull request's address."
                .to_owned(),
        );
    }
    lines.push(tally(verdict));
    if verdict.partial {
        lines.push("Partial: only some of the checks were asked for.".to_owned());
    }
    lines.push(format!("Assessed commit: {}.", value(&verdict.assessed_commit)));
    if let Some(newer) = &verdict.inputs.newer_head {
        lines.push(format!("A newer commit stands unassessed: {}.", value(newer)));
    }
    lines.push(format!("Rules {}, verdict {}", value(&verdict.rules_digest), verdict.id));
    lines
}

/// `19 checks: 1 FAIL, 1 WARN, 17 PASS.`
fn tally(verdict: &Verdict) -> String {
    let mut words: Vec<(&str, usize)> = Vec::new();
    for row in shown(verdict) {
        let (_, word) = face(row.status, row.overridden.is_some());
        match words.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => words.push((word, 1)),
        }
    }
    let words: Vec<String> = words.iter().map(|(word, count)| format!("{count} {word}")).collect();
    format!("{}: {}.", checks(verdict.checks.len()), words.join(", "))
}

/// Markdown of ours as plain words: code spans and emphasis without their signs, the address of a
/// link behind its words, a fenced block as indented lines.
pub(super) fn plain(markdown: &str) -> String {
    let mut out = String::new();
    let mut address: Option<(String, usize)> = None;
    let mut block = false;
    for event in Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                block = true;
                if !out.is_empty() && !out.ends_with('\n') {
                    out.push('\n');
                }
            }
            Event::End(TagEnd::CodeBlock) => block = false,
            Event::Text(text) if block => {
                text.lines().for_each(|line| out.push_str(&format!("  {line}\n")));
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                address = Some((dest_url.into_string(), out.len()));
            }
            Event::End(TagEnd::Link) => {
                if let Some((url, from)) = address.take()
                    && out[from..] != url
                {
                    out.push_str(&format!(" {url}"));
                }
            }
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                out.push_str(&text);
            }
            Event::SoftBreak => out.push(' '),
            Event::HardBreak | Event::End(TagEnd::Paragraph | TagEnd::Item) => out.push('\n'),
            _ => {}
        }
    }
    visible(out.trim_end())
}

/// A value from outside on one line, cut where it is long.
pub(super) fn value(text: &str) -> String {
    let line = one_line(text);
    let mut shown: String = line.chars().take(VALUE_CHARS).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    visible(&shown)
}

/// A text with every control and invisible character but line breaks shown, never sent.
pub(super) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            '\t' => out.push(' '),
            c if steers(c) => out.push_str(&c.escape_unicode().to_string()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{plain, text};
    use crate::facts::{Origin, OriginKind};
    use crate::rules::{Finding, Level, Row, RowStatus};
    use crate::verdict::samples::{finding, row, subject};
    use crate::verdict::{Tries, conclude};

    #[test]
    fn markdown_becomes_words() {
        assert_eq!(
            plain(
                "**Fix:** put `a` ([run](https://h.example/1)):\n```\n- [x] b\n  c\n```\nthen go"
            ),
            "Fix: put a (run https://h.example/1):\n  - [x] b\n    c\nthen go"
        );
        assert_eq!(plain("`a\u{1b}[31m`\u{9b}"), "a\\u{1b}[31m\\u{9b}");
    }

    #[test]
    fn a_rejection_reads_from_top_to_bottom() {
        let fault = Finding {
            fix: Some("run the sweep again:\n```\n/use 3826\n```".into()),
            subject: Some("beta c16".into()),
            evidence: vec![
                Origin::new(OriginKind::Run)
                    .at_url("https://github.example/runs/1")
                    .quoting("9 jobs"),
            ],
            ..finding(Level::Fail, "7 of `9` jobs executed")
        };
        let rows = vec![
            row(0, RowStatus::Pass),
            Row {
                summary: "7 of `9` jobs executed (+1 more)".into(),
                findings: vec![fault, finding(Level::Note, "`1` was named too")],
                ..row(1, RowStatus::Fail)
            },
            row(4, RowStatus::Warn),
            row(17, RowStatus::Attested),
        ];
        let verdict = conclude(rows, subject(), Tries::Last);
        insta::assert_snapshot!(text(&verdict, false), @r"
        ❌❌❌ REJECTED ❌❌❌
        example/bench#12, signed off by @bob

        ❌ Check 1 (Title 1): FAIL — 7 of 9 jobs executed (+1 more) (beta c16)
             fix: run the sweep again:
                    /use 3826
             see: https://github.example/runs/1  “9 jobs”
           - note: 1 was named too

        ⚠️ Check 4 (Title 4): WARN — summary 4

        ✅ Check 0 (Title 0): PASS — summary 0
        ✍️ Check 17 (Title 17): ATTESTED — summary 17

        1 check fails at the assessed commit; each says what to do, and editing the sign-off has it verified again.
        4 checks: 1 FAIL, 1 WARN, 1 PASS, 1 ATTESTED.
        Assessed commit: 1111111111111111111111111111111111111111.
        Rules sha256:4444444444444444444444444444444444444444444444444444444444444444, verdict sha256:b596f0008fb379d9bd59f9aeb102862a97450b14caae70b2ae070967b36cccbe
        ");
        assert!(text(&verdict, true).starts_with("\u{1b}[1;31m❌❌❌ REJECTED ❌❌❌\u{1b}[0m\n"));
    }
}
