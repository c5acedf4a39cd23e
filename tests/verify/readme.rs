//! The verdict that the README shows is the one that the program gives.

use super::*;

/// What the README says was left wrong: a run whose number lacks a digit, on which a job failed; a box that
/// Markdown does not draw; an item missing.
fn left_wrong(case: &mut Case) {
    let job = run(case).jobs.iter_mut().find(|job| job.name.ends_with("c128")).unwrap();
    job.conclusion = Some("failure".to_owned());
    case.replace("signoff.md", "runs/34911820457", "runs/3491182045");
    case.replace(
        "signoff.md",
        "- [x] Verified that this PR passes",
        "- [ x] Verified that this PR passes",
    );
    case.replace("signoff.md", "- [x] append-only: not used\n", "");
}

#[tokio::test]
async fn the_verdict_in_the_readme_is_the_programs() {
    let stand_in = serve(case(B200, left_wrong)).await;
    let ran =
        countersign(&stand_in, &["verify", &stand_in.pull_url(), "--format", "markdown"]).await;
    let quoted: Vec<String> = ran
        .stdout
        .trim_end()
        .lines()
        .map(|line| format!("> {line}").trim_end().to_owned())
        .collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let is_quote = |line: &&str| line.starts_with('>');
    let shown: Vec<&str> =
        readme.lines().skip_while(|line| !is_quote(line)).take_while(is_quote).collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, readme.replace(&shown.join("\n"), &quoted.join("\n"))).unwrap();
        return;
    }
    assert_eq!(shown, quoted, "UPDATE_DOCS=1 cargo test --test e2e -- readme writes it anew");
}
