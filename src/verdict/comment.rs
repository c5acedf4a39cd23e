//! The verdict comment, by the contract's grammar.

use super::fit::{fit, units};
use super::inert::{link, mention, prose};
use super::row::{Place, shown};
use super::{Outcome, SignedBy, Verdict};
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
    format!("<!-- countersign signoff={}/{} -->", signoff.kind.as_str(), signoff.id)
}

/// The comment, at most [`COMMENT_CHARS`] characters: where findings are too many, they are cut with
/// a count, and the last lines stand whole.
///
/// The first line is [`marker`], where there is a sign-off. The signer of a rejected sign-off and the
/// people whom the profile calls are mentioned; nobody else is.
pub fn comment(verdict: &Verdict, options: &CommentOptions<'_>) -> String {
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
        (_, Outcome::Approved) => None,
        _ => Some(sentence(verdict)),
    };
    let calls = called(verdict, options.escalations);
    for paragraph in opening.into_iter().chain(calls) {
        head.push_str("\n\n");
        head.push_str(&paragraph);
    }
    let last = last_lines(verdict, options);

    let rows = shown(verdict);
    let quiet = rows.partition_point(|row| Place::of(row) != Place::Quiet);
    let fold = format!("<details>\n<summary>{}</summary>", counts(&rows[quiet..]));
    let frame = units(&head) + units(&last) + units(&fold) + units("\n\n\n\n\n\n</details>\n\n\n");
    let mut blocks = fit(&rows, author(verdict), COMMENT_CHARS.saturating_sub(frame)).into_iter();

    let mut parts = vec![head];
    parts.extend(blocks.by_ref().take(quiet));
    let folded: Vec<String> = blocks.collect();
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
            "Everything that the sign-off claims held against the evidence.".to_owned()
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
            let proven = match failed {
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

/// `12 passed, 3 not applicable, 2 attested`.
fn counts(rows: &[&Row]) -> String {
    [
        (RowStatus::Pass, "passed"),
        (RowStatus::NotApplicable, "not applicable"),
        (RowStatus::Attested, "attested"),
    ]
    .into_iter()
    .map(|(status, word)| (rows.iter().filter(|row| row.status == status).count(), word))
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
mod tests {
    use proptest::prelude::*;

    use super::{CommentOptions, comment};
    use crate::limits::COMMENT_CHARS;
    use crate::profile::Escalation;
    use crate::rules::{Finding, Level, Override, Row, RowStatus, Severity};
    use crate::verdict::row::samples::{HEAD, finding, row, subject};
    use crate::verdict::{Tries, Verdict, conclude};

    const OPTIONS: CommentOptions<'_> = CommentOptions {
        report_url: Some("https://countersign.example/v/1"),
        command: "countersign verify https://github.example/example/bench/pull/12#issuecomment-11",
        escalations: &[],
    };

    fn concluded(rows: Vec<Row>) -> Verdict {
        conclude(rows, subject(), Tries::Last)
    }

    #[test]
    fn a_rejection_as_it_stands_on_the_page() {
        let fault = Finding {
            fix: Some("run the sweep again and name it".into()),
            ..finding(Level::Fail, "7 of 9 jobs executed")
        };
        let excepted = Row {
            overridden: Some(Override {
                by: "alice".into(),
                url: "https://github.example/c/9".into(),
                reason: "agreed".into(),
            }),
            findings: vec![finding(Level::Fail, "no evaluation ran")],
            ..row(2, RowStatus::Fail)
        };
        let verdict = concluded(vec![
            row(0, RowStatus::Pass),
            Row {
                summary: "7 of 9 jobs executed".into(),
                findings: vec![fault],
                ..row(1, RowStatus::Fail)
            },
            excepted,
            Row { severity: Severity::Advisory, ..row(4, RowStatus::Warn) },
            row(12, RowStatus::NotApplicable),
            row(17, RowStatus::Attested),
        ]);
        insta::assert_snapshot!(comment(&verdict, &OPTIONS), @r"
        <!-- countersign signoff=issue_comment/11 -->
        ## ❌❌❌ **REJECTED** ❌❌❌

        @bob, 1 check fails at the assessed commit; each says what to do, and editing the sign-off has it verified again.

        ❌ Check 1 (Title 1): FAIL — 7 of 9 jobs executed

        - **Fix:** run the sweep again and name it

        ⚠️ Check 2 (Title 2): OVERRIDDEN — by `@alice`: `agreed`, [comment](https://github.example/c/9)

        - no evaluation ran

        ⚠️ Check 4 (Title 4): WARN — summary 4

        <details>
        <summary>1 passed, 1 not applicable, 1 attested</summary>

        ✅ Check 0 (Title 0): PASS — summary 0

        ➖ Check 12 (Title 12): N/A — summary 12

        ✍️ Check 17 (Title 17): ATTESTED — summary 17

        </details>

        Assessed commit: `1111111111111111111111111111111111111111`.

        Rules `sha256:4444444444444444444444444444444444444444444444444444444444444444` · target branch at `222222222222` · date `2026-10-13` · sign-off `sha256:333333333333` · runs `3826/3` · evidence `sha256:555555555555`.

        [Full report](https://countersign.example/v/1) · Reproduce: `countersign verify https://github.example/example/bench/pull/12#issuecomment-11`
        ");
    }

    #[test]
    fn an_approval_calls_nobody() {
        let verdict = concluded(vec![row(0, RowStatus::Pass), row(17, RowStatus::Attested)]);
        let text = comment(&verdict, &OPTIONS);
        assert!(text.starts_with(
            "<!-- countersign signoff=issue_comment/11 -->\n## ✅✅✅ **APPROVED** ✅✅✅\n\n<details>\n\
             <summary>1 passed, 1 attested</summary>\n\n✅ Check 0 (Title 0): PASS — summary 0\n\n"
        ));
        assert!(!text.contains("@bob "));
    }

    #[test]
    fn a_warning_calls_whom_the_profile_names() {
        let calls = [Escalation {
            check: "check-14".into(),
            logins: vec!["carol".into(), "dan".into()],
            text: "below five points: an *administrator* has to record an exception.".into(),
        }];
        let options = CommentOptions { escalations: &calls, ..OPTIONS };
        let warned = concluded(vec![row(14, RowStatus::Warn)]);
        assert!(comment(&warned, &options).contains(
            "## ⚠️ **APPROVED with warnings** ⚠️\n\n@carol @dan below five points: an \
             \\*administrator\\* has to record an exception.\n\n⚠️ Check 14"
        ));
        let passed = concluded(vec![row(14, RowStatus::Pass)]);
        assert!(!comment(&passed, &options).contains("@carol"));
    }

    #[test]
    fn without_anything_to_fold_there_is_no_fold() {
        let text = comment(&concluded(vec![row(1, RowStatus::Fail)]), &OPTIONS);
        assert!(!text.contains("details"));
    }

    #[test]
    fn a_newer_head_and_many_runs_are_said() {
        let mut about = subject();
        about.inputs.newer_head = Some("7".repeat(40));
        about.inputs.runs = (0..8).map(|n| n.to_string()).collect();
        let text = comment(&conclude(Vec::new(), about, Tries::Last), &OPTIONS);
        assert!(text.contains(&format!("A newer commit stands unassessed: `{}`.", "7".repeat(40))));
        assert!(text.contains("runs `0`, `1`, `2`, `3`, `4` and 3 more"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn it_never_exceeds_what_github_takes_and_the_last_lines_survive(
            rows in 0..30_i64, items in 0..500_usize, findings in 0..20_usize, length in 0..2_000_usize,
        ) {
            let message = format!("`{}`", "😀".repeat(length));
            let mut all: Vec<Row> = (0..rows)
                .map(|n| Row {
                    summary: message.clone(),
                    findings: vec![finding(Level::Fail, &message); findings],
                    ..row(n, if n % 3 == 0 { RowStatus::Pass } else { RowStatus::Fail })
                })
                .collect();
            all.extend((0..items).map(|n| Row {
                id: format!("item:{n}"),
                number: None,
                title: "word ".repeat(40),
                ..row(0, RowStatus::Attested)
            }));
            let text = comment(&concluded(all), &OPTIONS);
            prop_assert!(text.encode_utf16().count() <= COMMENT_CHARS);
            let assessed = format!("\n\nAssessed commit: `{HEAD}`.\n\n");
            prop_assert!(text.contains(&assessed));
            prop_assert!(text.trim_end().ends_with("issuecomment-11`"));
            for n in 0..rows {
                prop_assert_eq!(text.matches(&format!("Check {n} (Title")).count(), 1);
            }
        }
    }
}
