//! The verdict as the output of a check run, within GitHub's limits.

use super::comment::{CommentOptions, author, checks, fails, header, last_lines, sentence};
use super::fit::{fit, units};
use super::row::{Place, heading, one_line, shown};
use super::terminal::plain;
use super::{Outcome, Verdict, discarded};
use crate::facts::{Origin, OriginKind};
use crate::limits::{ANNOTATIONS, CHECK_TEXT_CHARS, MESSAGE_CHARS};
use crate::rules::{Finding, Level, Row};

/// What a check run shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOutput {
    /// One line of plain text, shown in the list of checks.
    pub title: String,
    /// Markdown: what stands in the open. At most [`CHECK_TEXT_CHARS`] characters.
    pub summary: String,
    /// Markdown: the rest and the last lines. At most [`CHECK_TEXT_CHARS`] characters.
    pub text: String,
    /// Findings on lines of the assessed commit, at most [`ANNOTATIONS`].
    pub annotations: Vec<Annotation>,
}

impl CheckOutput {
    /// A title and a summary, nothing else.
    pub fn plain(title: &str, summary: &str) -> Self {
        Self {
            title: title.to_owned(),
            summary: summary.to_owned(),
            text: String::new(),
            annotations: Vec::new(),
        }
    }
}

/// A finding on a line of the assessed commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// Path in the repository.
    pub path: String,
    /// 1-based line.
    pub line: i64,
    /// How loud it is.
    pub level: AnnotationLevel,
    /// The row, as plain text.
    pub title: String,
    /// The finding and its fix, as plain text.
    pub message: String,
}

/// GitHub's levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnotationLevel {
    /// Worth knowing.
    Notice,
    /// Of an advisory or excepted row.
    Warning,
    /// Of a failing row.
    Failure,
}

impl AnnotationLevel {
    /// The word that GitHub's API takes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }
}

/// The output. It mentions nobody: the comment does.
///
/// `preface` is Markdown of our own that stands at the head of the summary: the pull request's
/// other sign-offs; empty for none.
pub fn check_output(verdict: &Verdict, options: &CommentOptions<'_>, preface: &str) -> CheckOutput {
    let rows = shown(verdict);
    let (open, quiet) = rows.split_at(rows.partition_point(|row| Place::of(row) != Place::Quiet));
    let mut head = vec![header(verdict).to_owned(), sentence(verdict)];
    head.extend(verdict.changed.as_ref().map(|changed| format!("What changes: {changed}.")));
    if !preface.is_empty() {
        head.push(preface.to_owned());
    }
    let discarded = discarded::block(&verdict.discarded);
    let last = Some(discarded).filter(|block| !block.is_empty()).into_iter();
    let last = last.chain([last_lines(verdict, options)]).collect();
    CheckOutput {
        title: title(verdict),
        summary: stacked(head, open, Vec::new(), author(verdict)),
        text: stacked(Vec::new(), quiet, last, author(verdict)),
        annotations: annotations(verdict, &rows),
    }
}

fn stacked(before: Vec<String>, rows: &[&Row], after: Vec<String>, signer: Option<&str>) -> String {
    let around: usize = before.iter().chain(&after).map(|part| units(part) + 2).sum();
    let rows = fit(rows, signer, CHECK_TEXT_CHARS.saturating_sub(around));
    before.into_iter().chain(rows).chain(after).collect::<Vec<_>>().join("\n\n")
}

fn title(verdict: &Verdict) -> String {
    let of = |place| verdict.checks.iter().filter(|row| Place::of(row) == place).count();
    match verdict.verdict {
        Outcome::Approved if verdict.clean() => "APPROVED".to_owned(),
        Outcome::Approved => "APPROVED with warnings".to_owned(),
        Outcome::Rejected => format!("REJECTED: {}", fails(of(Place::Failed))),
        Outcome::NotRequired => "no sign-off required".to_owned(),
        Outcome::Undecided => match &verdict.retry_at {
            Some(at) => format!("not assessed yet: tried again at {at}"),
            None => format!("could not assess: {} undecided", checks(verdict.undecided.len())),
        },
    }
}

fn annotations(verdict: &Verdict, rows: &[&Row]) -> Vec<Annotation> {
    let mut annotations: Vec<Annotation> = Vec::new();
    for row in rows {
        for finding in &row.findings {
            for origin in &finding.evidence {
                let Some((path, line)) = at_fault(origin, &verdict.assessed_commit) else {
                    continue;
                };
                let annotation = Annotation {
                    path: path.to_owned(),
                    line,
                    level: level(row, finding),
                    title: heading(row),
                    message: message(finding),
                };
                if annotations.len() < ANNOTATIONS && !annotations.contains(&annotation) {
                    annotations.push(annotation);
                }
            }
        }
    }
    annotations
}

/// A file of the assessed commit with a line; one at another commit has other lines.
fn at_fault<'a>(origin: &'a Origin, commit: &str) -> Option<(&'a str, i64)> {
    let file = matches!(origin.kind, OriginKind::File | OriginKind::Diff);
    let here = origin.commit.as_deref() == Some(commit);
    let line = origin.line.filter(|line| *line > 0)?;
    (file && here).then_some((origin.path.as_deref()?, line))
}

fn level(row: &Row, finding: &Finding) -> AnnotationLevel {
    match (finding.level, Place::of(row)) {
        (Level::Note, _) | (_, Place::Quiet) => AnnotationLevel::Notice,
        (_, Place::Failed) => AnnotationLevel::Failure,
        (_, Place::Warned | Place::Undecided) => AnnotationLevel::Warning,
    }
}

fn message(finding: &Finding) -> String {
    let mut text = plain(&one_line(&finding.message));
    if let Some(fix) = &finding.fix {
        text.push_str(&format!("\nFix: {}", plain(fix.trim())));
    }
    text.chars().take(2 * MESSAGE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AnnotationLevel, check_output};
    use crate::facts::{Origin, OriginKind};
    use crate::limits::CHECK_TEXT_CHARS;
    use crate::rules::{Finding, Level, Row, RowStatus};
    use crate::verdict::samples::{HEAD, finding, row, subject};
    use crate::verdict::{CommentOptions, Tries, conclude};

    const OPTIONS: CommentOptions<'_> =
        CommentOptions { report_url: None, command: "countersign verify URL", escalations: &[] };

    fn at(commit: &str, line: Option<i64>) -> Finding {
        let origin = Origin::file("https://github.example/o/n", commit, "configs/a.yaml", line);
        Finding {
            fix: Some("pin `b`".into()),
            evidence: vec![origin.clone(), origin],
            ..finding(Level::Fail, "`a` is not pinned")
        }
    }

    #[test]
    fn annotations_sit_on_lines_of_the_assessed_commit_only() {
        let artifact = Origin {
            kind: OriginKind::Artifact,
            path: Some("server.log".into()),
            line: Some(3),
            commit: Some(HEAD.into()),
            ..Origin::new(OriginKind::Artifact)
        };
        let elsewhere = Finding { evidence: vec![artifact], ..finding(Level::Fail, "x") };
        let findings =
            vec![at(HEAD, Some(7)), at(HEAD, None), at(&"9".repeat(40), Some(7)), elsewhere];
        let fails = Row { title: "Engine".into(), findings, ..row(6, RowStatus::Fail) };
        let warns = Row { findings: vec![at(HEAD, Some(8))], ..row(14, RowStatus::Warn) };
        let output =
            check_output(&conclude(vec![warns, fails], subject(), Tries::Last), &OPTIONS, "");
        let shown: Vec<_> =
            output.annotations.iter().map(|a| (a.path.as_str(), a.line, a.level)).collect();
        assert_eq!(
            shown,
            [
                ("configs/a.yaml", 7, AnnotationLevel::Failure),
                ("configs/a.yaml", 8, AnnotationLevel::Warning)
            ]
        );
        assert_eq!(output.annotations[0].message, "a is not pinned\nFix: pin b");
        assert_eq!(output.annotations[0].title, "❌ Check 6 (Engine): FAIL");
        assert_eq!(output.title, "REJECTED: 1 check fails");
    }

    #[test]
    fn titles_say_what_the_list_of_checks_has_to() {
        let title =
            |rows, tries| check_output(&conclude(rows, subject(), tries), &OPTIONS, "").title;
        let waiting =
            Row { retry_at: Some("2026-10-13T08:30:00Z".into()), ..row(1, RowStatus::Undecided) };
        assert_eq!(title(vec![row(0, RowStatus::Pass)], Tries::Last), "APPROVED");
        assert_eq!(title(vec![row(4, RowStatus::Warn)], Tries::Last), "APPROVED with warnings");
        assert_eq!(
            title(vec![waiting.clone()], Tries::Left),
            "not assessed yet: tried again at 2026-10-13T08:30:00Z"
        );
        assert_eq!(title(vec![waiting], Tries::Last), "could not assess: 1 check undecided");
        let outside = crate::verdict::Subject { required: false, ..subject() };
        let none = check_output(&conclude(Vec::new(), outside, Tries::Last), &OPTIONS, "");
        assert_eq!(none.title, "no sign-off required");
    }

    #[test]
    fn it_calls_nobody() {
        let output = check_output(
            &conclude(vec![row(1, RowStatus::Fail)], subject(), Tries::Last),
            &OPTIONS,
            "",
        );
        assert!(!output.summary.contains("@bob"));
        assert!(output.summary.starts_with("## ❌❌❌ **REJECTED** ❌❌❌\n\n1 check fails at"));
        assert!(output.text.contains(&format!("Assessed commit: `{HEAD}`.")));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn github_takes_it(rows in 0..30_i64, findings in 0..20_usize, length in 0..2_000_usize) {
            let message = "😀".repeat(length);
            let rows = (0..rows)
                .map(|n| Row {
                    findings: vec![finding(Level::Fail, &message); findings],
                    ..row(n, if n % 2 == 0 { RowStatus::Pass } else { RowStatus::Fail })
                })
                .collect();
            let output = check_output(&conclude(rows, subject(), Tries::Last), &OPTIONS, "");
            prop_assert!(output.summary.encode_utf16().count() <= CHECK_TEXT_CHARS);
            prop_assert!(output.text.encode_utf16().count() <= CHECK_TEXT_CHARS);
        }
    }
}
