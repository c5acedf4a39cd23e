//! One rejection with five faults: all of them at once, each with its fix, on one screen.

use super::*;

/// Signed by the owner of another part, on a run with a failed job, with a box left open, one that
/// Markdown does not draw, and an item missing.
fn with_five_faults(case: &mut Case) {
    signoff(case).author = "amd-noor".to_owned();
    let job = run(case).jobs.iter_mut().find(|job| job.name.contains("TP4 c16")).unwrap();
    job.conclusion = Some("failure".to_owned());
    let text = case.text("signoff.md").unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = |lines: &[String], words: &str| {
        lines.iter().position(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}"))
    };
    let open = at(&lines, "general code quality");
    lines[open] = lines[open].replacen("[X]", "[ ]", 1);
    let malformed = at(&lines, "passes evals");
    lines[malformed] = lines[malformed].replacen("[x]", "[ x]", 1);
    lines.remove(at(&lines, "MODELS.md"));
    case.write("signoff.md", lines.join("\n"));
}

/// Lines of a screen that is 1080 pixels high, at 24 pixels a line of a comment, without the browser's own.
const SCREEN: usize = 40;
/// Characters of a line of a comment.
const WIDTH: usize = 150;

#[tokio::test]
async fn a_rejection_with_five_faults_shows_them_all_on_one_screen() {
    let stand_in = serve(case(B200, with_five_faults)).await;
    let ran =
        countersign(&stand_in, &["verify", &stand_in.pull_url(), "--format", "markdown"]).await;
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let (open, folded) = ran.stdout.split_once("<details>").unwrap();
    assert!(!folded.contains("FAIL"), "{folded}");
    let head = stand_in.sha("head");
    // Each fault, and below it what to do about it.
    let mut at = 0;
    for (fault, fix) in [
        (
            "by `@nv-ada`, `@nv-tomasz`, `@SemiAnalysisAI/core` could not be verified",
            "An owner of the path who is named on its line by login posts a sign-off",
        ),
        (
            "incomplete: 11 of 12 jobs succeeded",
            &format!("/countersign override sweep {head} <reason>"),
        ),
        (
            "The sign-off lacks the item `Verified against the current MODELS.md",
            "- [ ] Verified against the current [MODELS.md](https://github.com/SemiAnalysisAI/InferenceX/blob/main/docs/MODELS.md)",
        ),
        ("Line 5, column 3: `[ x]` draws no box", "- [x] Verified that this PR passes evals."),
        (
            "The item is neither checked nor explained: `Verified that the general code quality",
            "Edit the sign-off and check the item once it is true, or say in a sentence",
        ),
    ] {
        let found = |words: &str, from: usize| {
            open[from..]
                .find(words)
                .map(|at| from + at)
                .unwrap_or_else(|| panic!("{words} in {open}"))
        };
        at = found(fault, at);
        at = found(fix, at);
    }
    assert_eq!(open.matches("**Fix:**").count(), 6, "five, and the warning's: {open}");
    let rendered = |line: &str| {
        // A link takes the room of its text; an empty line is half a line's distance.
        let text = regex::Regex::new(r"\]\(https?://[^)]*\)").unwrap().replace_all(line, "]");
        text.chars().count().div_ceil(WIDTH)
    };
    let lines: usize = open.lines().map(rendered).sum();
    assert!(lines <= SCREEN, "{lines} lines: {open}");
}
