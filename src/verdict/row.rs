//! One row as Markdown: its line in the contract's grammar, and what was found as list items.

use super::Verdict;
use super::inert::{label, link, unheard};
use crate::facts::{Origin, OriginKind};
use crate::rules::escape::code_span;
use crate::rules::{Finding, Level, Row, RowStatus};

/// Pieces of evidence shown with one finding; the JSON has them all.
const EVIDENCE_SHOWN: usize = 3;
/// Characters of a quote shown in a row; the JSON has all of it.
const QUOTE_SHOWN: usize = 100;

/// Where a row stands in a rendering, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// It fails.
    Failed,
    /// It warns, or an administrator excepted its failure.
    Warned,
    /// Nothing is said, through no fault of the submission.
    Undecided,
    /// Everything else: behind the fold.
    Quiet,
}

impl Place {
    pub(super) fn of(row: &Row) -> Self {
        match row.status {
            RowStatus::Fail if row.overridden.is_none() => Self::Failed,
            RowStatus::Fail | RowStatus::Warn => Self::Warned,
            RowStatus::Undecided => Self::Undecided,
            RowStatus::Attested if is_open(row) => Self::Warned,
            RowStatus::Pass | RowStatus::NotApplicable | RowStatus::Attested => Self::Quiet,
        }
    }
}

/// Whether nobody's word stands behind an attested row: its item is open.
pub(super) fn is_open(row: &Row) -> bool {
    row.status == RowStatus::Attested
        && row.findings.iter().any(|finding| finding.level == Level::Warn)
}

/// The rows of a verdict in the order in which they are shown.
pub(super) fn shown(verdict: &Verdict) -> Vec<&Row> {
    let mut rows: Vec<&Row> = verdict.checks.iter().collect();
    rows.sort_by_key(|row| Place::of(row));
    rows
}

/// The sign and the word of a row.
pub(super) fn face(status: RowStatus, overridden: bool) -> (&'static str, &'static str) {
    match status {
        RowStatus::Pass => ("✅", "PASS"),
        RowStatus::Fail if overridden => ("⚠️", "OVERRIDDEN"),
        RowStatus::Fail => ("❌", "FAIL"),
        RowStatus::Warn => ("⚠️", "WARN"),
        RowStatus::NotApplicable => ("➖", "N/A"),
        RowStatus::Attested => ("✍️", "ATTESTED"),
        RowStatus::Undecided => ("⏳", "UNDECIDED"),
    }
}

/// `Check 3 (Upstream recipe)`, or `Item "first words…"`.
pub(super) fn name(number: Option<i64>, title: &str) -> String {
    match number {
        Some(number) => format!("Check {number} ({})", label(title)),
        None => format!("Item \"{}\"", label(title)),
    }
}

/// `❌ Check 3 (Upstream recipe): FAIL`.
pub(super) fn heading(row: &Row) -> String {
    let (sign, word) = face(row.status, row.overridden.is_some());
    format!("{sign} {}: {word}", name(row.number, &row.title))
}

/// The row's line: `❌ Check 3 (Upstream recipe): FAIL — root issue (evidence)`.
pub(super) fn line(row: &Row, signer: Option<&str>) -> String {
    format!("{} — {}", heading(row), evidenced(row, signer))
}

/// What the row says, with the evidence of the finding that it opens with.
pub(super) fn evidenced(row: &Row, signer: Option<&str>) -> String {
    let said = statement(row, signer);
    match lead(row) {
        Some(finding) => with_evidence(said, finding),
        None => said,
    }
}

/// The same line without what a rule said, for where that has no room.
pub(super) fn short_line(row: &Row) -> String {
    format!("{} — too long to be shown here", heading(row))
}

/// What the row says, without its evidence; never empty.
pub(super) fn statement(row: &Row, signer: Option<&str>) -> String {
    if let (RowStatus::Fail, Some(exception)) = (row.status, &row.overridden) {
        return format!(
            "by {}: {}, {}",
            unheard(&exception.by),
            code_span(&exception.reason),
            link("comment", Some(&exception.url))
        );
    }
    let summary = match one_line(&row.summary) {
        empty if empty.is_empty() && row.status == RowStatus::Undecided => {
            "could not be assessed".to_owned()
        }
        summary => summary,
    };
    match row.status {
        RowStatus::Attested if summary.is_empty() => match signer {
            Some(login) => format!("{}'s word; not machine-checked", unheard(login)),
            None => "not machine-checked".to_owned(),
        },
        RowStatus::Pass if summary.is_empty() => "every check held".to_owned(),
        RowStatus::NotApplicable if summary.is_empty() => "does not apply".to_owned(),
        RowStatus::Fail | RowStatus::Warn if !row.verified && !says_unverified(&summary) => {
            format!("could not be verified: {summary}")
        }
        RowStatus::Undecided => match &row.retry_at {
            Some(at) => format!("{summary}; tried again at {}", code_span(at)),
            None => summary,
        },
        _ if summary.is_empty() => "see below".to_owned(),
        _ => summary,
    }
}

/// What was found, as Markdown list items; what the row's line already says is not said again.
pub(super) fn points(row: &Row) -> Vec<String> {
    let lead = lead(row);
    let mut points = Vec::new();
    for finding in &row.findings {
        let fix = finding.fix.as_deref().map(|fix| format!("**Fix:** {}", fix.trim()));
        let text = if lead.is_some_and(|lead| std::ptr::eq(lead, finding)) {
            fix
        } else {
            let said = point(row, finding);
            Some(match fix {
                Some(fix) => format!("{said}\n{fix}"),
                None => said,
            })
        };
        points.extend(text.map(|text| item(&text)));
    }
    points
}

/// A list item whose further lines stay inside it, so that a fence that is left open ends with it.
fn item(text: &str) -> String {
    let mut out = String::from("- ");
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            out.push('\n');
            if !line.is_empty() {
                out.push_str("  ");
            }
        }
        out.push_str(line);
    }
    out
}

fn point(row: &Row, finding: &Finding) -> String {
    let message = one_line(&finding.message);
    let kind = match finding.level {
        Level::Note => "Note: ",
        Level::Unverified if row.verified && !says_unverified(&message) => {
            "Could not be verified: "
        }
        Level::Fail | Level::Warn | Level::Unverified => "",
    };
    with_evidence(format!("{kind}{message}"), finding)
}

/// The finding that the row's summary opens with.
pub(super) fn lead(row: &Row) -> Option<&Finding> {
    let first = row.findings.first()?;
    let excepted = row.status == RowStatus::Fail && row.overridden.is_some();
    let opens = one_line(&row.summary).starts_with(&one_line(&first.message));
    (opens && !excepted).then_some(first)
}

fn with_evidence(text: String, finding: &Finding) -> String {
    let mut pieces: Vec<String> = Vec::new();
    if let Some(subject) = &finding.subject
        && !text.contains(subject.as_str())
    {
        pieces.push(code_span(subject));
    }
    let mut evidence: Vec<String> = Vec::new();
    for origin in &finding.evidence {
        let piece = piece(origin, &text);
        if !evidence.contains(&piece) {
            evidence.push(piece);
        }
    }
    let more = evidence.len().saturating_sub(EVIDENCE_SHOWN);
    pieces.extend(evidence.into_iter().take(EVIDENCE_SHOWN));
    if more > 0 {
        pieces.push(format!("{more} more"));
    }
    if pieces.is_empty() { text } else { format!("{text} ({})", pieces.join(", ")) }
}

fn piece(origin: &Origin, beside: &str) -> String {
    let mut out = link(&place(origin), origin.url.as_deref());
    if let Some(quote) = &origin.quote
        && !quote.trim().is_empty()
    {
        let mut shown: String = quote.trim().chars().take(QUOTE_SHOWN).collect();
        if !beside.contains(&shown) {
            if shown.len() < quote.trim().len() {
                shown.push('…');
            }
            out.push_str(&format!(" {}", code_span(&shown)));
        }
    }
    out
}

/// What a piece of evidence is called: the end of its path with line and pointer, or its kind.
fn place(origin: &Origin) -> String {
    let line = origin.line.map(|line| format!(":{line}")).unwrap_or_default();
    let pointer = origin.pointer.as_deref().map(|at| format!(" {at}")).unwrap_or_default();
    match (&origin.path, &origin.commit, origin.kind) {
        (Some(path), _, _) => code_span(&format!("{}{line}{pointer}", tail(path))),
        (None, Some(commit), OriginKind::Commit) => {
            code_span(&commit.chars().take(7).collect::<String>())
        }
        (None, _, kind) if line.is_empty() && pointer.is_empty() => word(kind).to_owned(),
        (None, _, kind) => {
            format!("{} {}", word(kind), code_span(format!("{line}{pointer}").trim()))
        }
    }
}

/// The last two parts of a path: enough to recognise a file, and rows stay short.
fn tail(path: &str) -> String {
    let cut = path.rmatch_indices('/').nth(1);
    cut.map_or_else(|| path.to_owned(), |(at, _)| format!("…{}", &path[at..]))
}

fn word(kind: OriginKind) -> &'static str {
    match kind {
        OriginKind::File => "file",
        OriginKind::Diff => "diff",
        OriginKind::Commit => "commit",
        OriginKind::Run => "run",
        OriginKind::CheckRun => "check",
        OriginKind::Artifact => "artifact",
        OriginKind::Log => "log",
        OriginKind::Comment => "comment",
        OriginKind::PullRequest => "pull request",
        OriginKind::Page => "page",
        OriginKind::Registry => "registry",
        OriginKind::Metadata => "metadata",
        OriginKind::Clock => "date",
    }
}

fn says_unverified(text: &str) -> bool {
    text.to_lowercase().contains("could not be verified")
}

/// Safe Markdown on one line: a row of ours never ends where a rule's text has a line break.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{line, points};
    use crate::facts::{Origin, OriginKind};
    use crate::rules::{Finding, Level, Override, Row, RowStatus};
    use crate::verdict::samples::{finding, row};

    #[test]
    fn a_failure_says_the_root_issue_once_with_its_evidence_and_its_fix() {
        let lead = Finding {
            subject: Some("beta c16".into()),
            fix: Some("run the sweep again".into()),
            evidence: vec![
                Origin::new(OriginKind::Run).at_url("https://github.example/runs/3826"),
                Origin::file("https://github.example/o/n", "1111", "a/b/c.yaml", Some(4)),
            ],
            ..finding(Level::Fail, "7 of 9 jobs executed")
        };
        let row = Row {
            title: "Sweep".into(),
            summary: "7 of 9 jobs executed (+1 more)".into(),
            findings: vec![lead, finding(Level::Note, "run `1` was named too")],
            ..row(1, RowStatus::Fail)
        };
        assert_eq!(
            line(&row, Some("bob")),
            "❌ Check 1 (Sweep): FAIL — 7 of 9 jobs executed (+1 more) (`beta c16`, \
             [run](https://github.example/runs/3826), \
             [`…/b/c.yaml:4`](https://github.example/o/n/blob/1111/a/b/c.yaml#L4))"
        );
        assert_eq!(
            points(&row),
            ["- **Fix:** run the sweep again", "- Note: run `1` was named too"]
        );
    }

    #[test]
    fn a_block_to_paste_stays_inside_its_point() {
        let pasted = Finding {
            fix: Some("tick it:\n```\n- [x] item\n```\n".into()),
            ..finding(Level::Fail, "item 4 is not ticked")
        };
        let row = Row { findings: vec![pasted], ..row(5, RowStatus::Fail) };
        assert_eq!(
            points(&row),
            ["- item 4 is not ticked\n  **Fix:** tick it:\n  ```\n  - [x] item\n  ```"]
        );
    }

    #[test]
    fn each_status_has_the_grammar_of_the_contract() {
        let said = |row: Row| line(&row, Some("bob"));
        let item =
            Row { number: None, title: "Verified *x*".into(), ..row(0, RowStatus::Attested) };
        let word = Row { summary: String::new(), ..row(17, RowStatus::Attested) };
        let unverified = Row { verified: false, ..row(2, RowStatus::Fail) };
        let waiting =
            Row { retry_at: Some("2026-10-13T08:30:00Z".into()), ..row(2, RowStatus::Undecided) };
        let exception = Row {
            overridden: Some(Override {
                by: "alice".into(),
                url: "https://github.example/c/1".into(),
                reason: "agreed @ the meeting".into(),
            }),
            ..row(1, RowStatus::Fail)
        };
        assert_eq!(said(row(0, RowStatus::Pass)), "✅ Check 0 (Title 0): PASS — summary 0");
        assert_eq!(said(row(14, RowStatus::Warn)), "⚠️ Check 14 (Title 14): WARN — summary 14");
        assert_eq!(
            said(row(12, RowStatus::NotApplicable)),
            "➖ Check 12 (Title 12): N/A — summary 12"
        );
        assert_eq!(
            said(word),
            "✍️ Check 17 (Title 17): ATTESTED — `@bob`'s word; not machine-checked"
        );
        assert_eq!(said(item), "✍️ Item \"Verified x\": ATTESTED — summary 0");
        assert_eq!(
            said(unverified),
            "❌ Check 2 (Title 2): FAIL — could not be verified: summary 2"
        );
        assert_eq!(
            said(waiting),
            "⏳ Check 2 (Title 2): UNDECIDED — summary 2; tried again at `2026-10-13T08:30:00Z`"
        );
        assert_eq!(
            said(exception),
            "⚠️ Check 1 (Title 1): OVERRIDDEN — by `@alice`: `agreed @ the meeting`, \
             [comment](https://github.example/c/1)"
        );
    }

    #[test]
    fn much_evidence_is_counted() {
        let many = Finding {
            evidence: (1..=5)
                .map(|n| Origin::new(OriginKind::Log).at_line(n).quoting("ready"))
                .collect(),
            ..finding(Level::Fail, "started twice")
        };
        let row = Row {
            summary: "started twice".into(),
            findings: vec![many],
            ..row(8, RowStatus::Fail)
        };
        assert_eq!(
            line(&row, None),
            "❌ Check 8 (Title 8): FAIL — started twice \
             (log `:1` `ready`, log `:2` `ready`, log `:3` `ready`, 2 more)"
        );
    }
}
