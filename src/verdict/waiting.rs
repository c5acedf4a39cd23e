//! What the check run says while nobody has signed.

use super::{CheckOutput, Discarded, discarded};
use crate::facts::Scope;
use crate::limits::CHECK_TEXT_CHARS;
use crate::rules::escape::{code_span, prose};

/// Paths named; more are counted.
const PATHS: usize = 20;

/// The output of a check run that waits: who can sign, by changed path, and what did not count as a
/// sign-off. It mentions nobody.
pub fn waiting(scope: &Scope, discarded: &[Discarded]) -> CheckOutput {
    let mut lines = vec![
        "Nobody who owns what this pull request changes has signed it off yet. The verification \
         starts by itself once a sign-off is posted."
            .to_owned(),
    ];
    if let Some(why) = &scope.closed_because {
        lines.push(format!("A sign-off is asked for because {}.", prose(why)));
    }
    let paths = scope.remaining.iter().take(PATHS).map(|path| {
        let owners: Vec<String> = path.owners.iter().map(|owner| code_span(owner)).collect();
        format!("- {}: {}", code_span(&path.path), owners.join(" or "))
    });
    let mut paths: Vec<String> = paths.collect();
    if scope.remaining.len() > PATHS {
        paths.push(format!("- and {} more paths", scope.remaining.len() - PATHS));
    }
    if !paths.is_empty() {
        lines.push(format!("Who can sign:\n\n{}", paths.join("\n")));
    }
    if !discarded.is_empty() {
        lines.push(discarded::block(discarded));
    }
    // The list of what did not count is bounded; the paths of a hostile tree are not.
    let mut summary = lines.join("\n\n");
    while summary.encode_utf16().count() > CHECK_TEXT_CHARS {
        lines.remove(1);
        summary = lines.join("\n\n");
    }
    CheckOutput {
        title: "waiting for a code owner's sign-off".to_owned(),
        summary,
        text: String::new(),
        annotations: Vec::new(),
    }
}
