//! The report: a line a finding, and below it what to do.

/// One line of the report.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    what: &'static str,
    finding: Finding,
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
enum Finding {
    /// All is well.
    Ok(String),
    /// Everything works, but somebody should know.
    Note { text: String, fix: String },
    /// Something does not work.
    Wrong { problem: String, fix: String },
}

impl Line {
    /// Whether something does not work.
    pub(super) fn is_wrong(&self) -> bool {
        matches!(self.finding, Finding::Wrong { .. })
    }
}

/// All is well.
pub(super) fn ok(what: &'static str, text: impl Into<String>) -> Line {
    Line { what, finding: Finding::Ok(text.into()) }
}

/// Everything works, but somebody should know.
pub(super) fn note(what: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Line {
    Line { what, finding: Finding::Note { text: text.into(), fix: fix.into() } }
}

/// Something does not work.
pub(super) fn wrong(
    what: &'static str,
    problem: impl Into<String>,
    fix: impl Into<String>,
) -> Line {
    Line { what, finding: Finding::Wrong { problem: problem.into(), fix: fix.into() } }
}

/// Writes the report.
pub(super) fn print(out: &mut impl std::io::Write, lines: &[Line]) -> std::io::Result<()> {
    for line in lines {
        let (word, text, fix) = match &line.finding {
            Finding::Ok(text) => ("ok", text, None),
            Finding::Note { text, fix } => ("note", text, Some(fix)),
            Finding::Wrong { problem, fix } => ("wrong", problem, Some(fix)),
        };
        writeln!(out, "{word:<5}  {:<14} {}", line.what, plain(text))?;
        if let Some(fix) = fix {
            writeln!(out, "       {:<14} fix: {}", "", plain(fix))?;
        }
    }
    Ok(())
}

/// Texts of documents and of GitHub stand in some lines: nothing in them may steer a terminal.
fn plain(text: &str) -> String {
    let shown =
        |c: char| if crate::rules::escape::invisible(c) && c != '\n' { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

/// What is wrong, without the fixes.
#[cfg(test)]
pub(super) fn problems(lines: Vec<Line>) -> Vec<String> {
    let problem = |line: Line| match line.finding {
        Finding::Wrong { problem, .. } => Some(problem),
        _ => None,
    };
    lines.into_iter().filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_one_line_a_finding_and_the_fix_below_it() {
        let lines = [
            ok("database", "SQLite"),
            note("checks", "open", "close it"),
            wrong("rules", "no\u{1b}ne", "write some"),
        ];
        let mut out = Vec::new();
        print(&mut out, &lines).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "ok     database       SQLite\n\
             note   checks         open\n       \x20              fix: close it\n\
             wrong  rules          no\u{fffd}ne\n       \x20              fix: write some\n"
        );
    }
}
