//! The App: whether GitHub knows it, what it may do where it is installed, what it is told of.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::{Line, note, ok, wrong};
use super::repository;
use crate::cli::serve;
use crate::config::{Config, Repository};
use crate::github::App;
use crate::rules::RuleSet;

/// A permission of the App, and what it is for. `deploy/app-manifest.json` asks for the same.
struct Permission {
    name: &'static str,
    access: Access,
    reason: &'static str,
    need: Need,
}

/// What needs a permission.
#[derive(Clone, Copy)]
enum Need {
    /// Every verification.
    Always,
    /// These facts.
    Facts(&'static [&'static str]),
    /// What only some repositories have: nobody is told of its lack.
    Some,
}

impl Permission {
    const fn new(name: &'static str, access: Access, reason: &'static str) -> Self {
        Self { name, access, reason, need: Need::Always }
    }

    const fn needed_by(mut self, need: Need) -> Self {
        self.need = need;
        self
    }
}

const PERMISSIONS: &[Permission] = &[
    Permission::new("metadata", Access::Read, "every App has it"),
    Permission::new(
        "contents",
        Access::Read,
        "the files at the assessed commit, CODEOWNERS, history",
    ),
    Permission::new("pull_requests", Access::Read, "the pull request, its reviews and files"),
    Permission::new("issues", Access::Write, "comments: reading sign-offs, posting the verdict"),
    Permission::new("checks", Access::Write, "the check run, and the jobs' check runs"),
    Permission::new("actions", Access::Read, "workflow runs, their artifacts and logs")
        .needed_by(Need::Facts(&["sweep", "ci"])),
    Permission::new(
        "members",
        Access::Read,
        "whether a code owner is in the team that owns a path",
    )
    .needed_by(Need::Facts(&["owners", "people"])),
    // GitHub tells of `merge_group` only who may read the queue; few repositories have one.
    Permission::new("merge_queues", Access::Read, "what stands in a merge queue")
        .needed_by(Need::Some),
    Permission::new("statuses", Access::Read, "the commit statuses of other services")
        .needed_by(Need::Facts(&["ci"])),
];

/// Facts that need no more than what every verification needs. One that stands neither here nor in the
/// table is taken to need everything.
const FACTS_WITHOUT_MORE: &[&str] = &[
    "clock",
    "pr",
    "signoff",
    "template",
    "checklist",
    "reuse",
    "overrides",
    "layout",
    "changes",
    "configs",
    "points",
    "changelog",
    "recipes",
    "launches",
    "deprecations",
    "overrides_arch",
    "event_publication",
    "patches",
    "registry",
    "append_only",
];

/// On top, where a profile publishes a commit status.
const STATUSES: Permission =
    Permission::new("statuses", Access::Write, "the commit status that the profile asks for");

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Read,
    Write,
}

impl Access {
    fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    fn of(word: &str) -> Option<Self> {
        match word {
            "read" => Some(Self::Read),
            "write" | "admin" => Some(Self::Write),
            _ => None,
        }
    }
}

/// The events that the App has to be told of, and what stops working without each.
/// `deploy/app-manifest.json` asks for the same.
const EVENTS: &[(&str, &str)] = &[
    ("check_run", "\"Verify again\" and Re-run do nothing"),
    ("check_suite", "CI that ends after a sign-off is not looked at by itself"),
    ("issue_comment", "sign-offs and commands in the conversation are not seen"),
    ("merge_group", "a merge queue waits for the check for ever"),
    ("pull_request", "a new commit is not verified, and stands without the check"),
    ("pull_request_review", "sign-offs in reviews are not seen"),
    ("pull_request_review_comment", "sign-offs on a line are not seen"),
    ("status", "services that post commit statuses are not looked at by themselves"),
];

/// Events without which only some repositories lack something.
const EVENTS_OF_SOME: &[&str] = &["merge_group", "status"];

/// Who GitHub says that we are, and for each repository what is wrong there.
pub(super) async fn examine(config: &Config, profiles: &BTreeMap<String, RuleSet>) -> Vec<Line> {
    if config.app().is_err() {
        // What is missing was said above.
        return Vec::new();
    }
    let github = match serve::app(config) {
        Ok(github) => github,
        Err(error) => {
            let fix = "take both from the App's settings page";
            return vec![wrong("credentials", error.to_string(), fix)];
        }
    };
    let mut lines = match github.identity().await {
        Ok(identity) => {
            let known = format!("GitHub knows the App `{}`", identity.slug);
            let mut lines = vec![ok("credentials", known)];
            lines.extend(events(&identity.events));
            lines
        }
        Err(error) => {
            let fix = "compare github.app_id and github.private_key with the App's settings page, \
                       and this machine's clock with the real time";
            return vec![wrong("credentials", error.to_string(), fix)];
        }
    };
    let mut seen = BTreeSet::new();
    for entry in &config.repositories {
        if seen.insert(entry.name.to_string().to_ascii_lowercase()) {
            lines.extend(installation(&github, entry, profiles.get(&entry.profile)).await);
        }
    }
    lines
}

/// What the installation on a repository lets us do, and what is there. `rules`: those of its profile,
/// where they can be read.
async fn installation(github: &App, entry: &Repository, rules: Option<&RuleSet>) -> Vec<Line> {
    let name = &entry.name;
    match github.grants(name.owner(), name.name()).await {
        Ok(Some(granted)) => {
            let mut lines = permissions(&name.to_string(), &granted, rules);
            if let Some(rules) = rules {
                lines.extend(repository::examine(github, name, rules).await);
            }
            lines
        }
        Ok(None) => vec![wrong(
            "permissions",
            format!("the App is not installed on {name}"),
            "install it there, from the App's public page",
        )],
        Err(error) => vec![wrong(
            "permissions",
            format!("{name}: {error}"),
            "try again; see https://www.githubstatus.com",
        )],
    }
}

/// Holds the events that the App is subscribed to against the table.
fn events(subscribed: &[String]) -> Vec<Line> {
    let lacking = EVENTS.iter().filter(|(event, _)| !subscribed.iter().any(|s| s == event));
    let mut lines: Vec<Line> = lacking
        .map(|(event, without)| {
            let text = format!("the App is not subscribed to `{event}`: {without}");
            let fix = "tick it on the App's settings page, \"Permissions & events\"";
            if EVENTS_OF_SOME.contains(event) {
                note("events", text, fix)
            } else {
                wrong("events", text, fix)
            }
        })
        .collect();
    if lines.is_empty() {
        lines.push(ok("events", "the App is told of everything that starts a verification"));
    }
    lines
}

/// Whether one of the facts needs a permission; of rules that cannot be read (`None`) any may.
fn is_needed(permission: &Permission, facts: Option<&BTreeSet<&str>>) -> bool {
    let by = match (permission.need, facts) {
        (Need::Always, _) | (Need::Facts(_), None) => return true,
        (Need::Some, _) => return false,
        (Need::Facts(by), Some(_)) => by,
    };
    let in_table = |fact: &str| {
        let named = |p: &Permission| matches!(p.need, Need::Facts(by) if by.contains(&fact));
        FACTS_WITHOUT_MORE.contains(&fact) || PERMISSIONS.iter().any(named)
    };
    facts.into_iter().flatten().any(|fact| by.contains(fact) || !in_table(fact))
}

/// Holds what an installation grants against what the facts of the rules need; against everything
/// where the rules cannot be read.
fn permissions(
    repository: &str,
    granted: &BTreeMap<String, String>,
    rules: Option<&RuleSet>,
) -> Vec<Line> {
    let facts = rules.map(|rules| rules.facts_needed(None));
    let publishes_status =
        rules.is_some_and(|r| r.profile.settings.check_run.status_context.is_some());
    let needed = PERMISSIONS
        .iter()
        .filter(|permission| is_needed(permission, facts.as_ref()))
        .filter(|permission| !(publishes_status && permission.name == STATUSES.name))
        .chain(publishes_status.then_some(&STATUSES));
    let lacking = needed.filter(|permission| {
        granted.get(permission.name).and_then(|word| Access::of(word)) < Some(permission.access)
    });
    let mut lines: Vec<Line> = lacking
        .map(|Permission { name, access, reason, .. }| {
            wrong(
                "permissions",
                format!("{repository}: `{name}: {}` is missing ({reason})", access.as_str()),
                "grant it on the App's settings page, and accept the request in the installation",
            )
        })
        .collect();
    if lines.is_empty() {
        lines.push(ok("permissions", format!("{repository}: all that is needed is granted")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::lines::problems;
    use super::*;
    use crate::facts::FACT_NAMES;
    use crate::profile::builtin;

    fn manifest() -> serde_json::Value {
        serde_json::from_str(include_str!("../../../deploy/app-manifest.json")).unwrap()
    }

    fn rules(name: &str, change: impl FnOnce(String) -> String) -> RuleSet {
        let mut files = builtin(name).unwrap();
        let profile = change(files["profile.yaml"].clone());
        files.insert("profile.yaml".to_owned(), profile);
        RuleSet::from_files(name, &files).unwrap()
    }

    fn granted(of: &[(&str, &str)]) -> BTreeMap<String, String> {
        of.iter().map(|(name, access)| ((*name).to_owned(), (*access).to_owned())).collect()
    }

    #[test]
    fn the_manifest_asks_for_what_the_tables_say() {
        let asked: BTreeMap<String, String> =
            serde_json::from_value(manifest()["default_permissions"].clone()).unwrap();
        let table: BTreeMap<_, _> =
            PERMISSIONS.iter().map(|p| (p.name.to_owned(), p.access.as_str().to_owned())).collect();
        assert_eq!(asked, table);
        assert!(problems(permissions("harbour/pilots", &asked, None)).is_empty());
        let asked: Vec<String> =
            serde_json::from_value(manifest()["default_events"].clone()).unwrap();
        assert_eq!(asked, EVENTS.iter().map(|(event, _)| *event).collect::<Vec<_>>());
    }

    #[test]
    fn each_permission_that_is_missing_or_too_small_is_named() {
        let granted = granted(&[
            ("metadata", "read"),
            ("contents", "write"),
            ("pull_requests", "read"),
            ("issues", "read"),
            ("checks", "write"),
            ("actions", "read"),
            ("statuses", "read"),
        ]);
        let publishing = rules("example", |profile| {
            profile.replace("  name: countersign\n", "  name: countersign\n  status_context: c\n")
        });
        assert_eq!(
            problems(permissions("harbour/pilots", &granted, Some(&publishing))),
            [
                "harbour/pilots: `issues: write` is missing (comments: reading sign-offs, posting \
                 the verdict)",
                "harbour/pilots: `members: read` is missing (whether a code owner is in the team \
                 that owns a path)",
                "harbour/pilots: `statuses: write` is missing (the commit status that the profile \
                 asks for)",
            ]
        );
    }

    #[test]
    fn a_permission_that_no_fact_of_the_rules_needs_is_not_asked_for() {
        let granted = granted(&[
            ("metadata", "read"),
            ("contents", "read"),
            ("pull_requests", "read"),
            ("issues", "write"),
            ("checks", "write"),
            ("members", "read"),
        ]);
        let ci = problems(permissions("harbour/pilots", &granted, Some(&rules("example", |p| p))));
        assert_eq!(ci.len(), 2, "{ci:?}");
        assert!(ci[0].contains("`actions: read`") && ci[1].contains("`statuses: read`"), "{ci:?}");
        let needs = |name: &str, facts: &[&str]| {
            let facts = facts.iter().copied().collect();
            PERMISSIONS.iter().any(|p| p.name == name && is_needed(p, Some(&facts)))
        };
        assert!(!needs("statuses", &["pr", "owners", "sweep"]) && !needs("actions", &["pr"]));
        assert!(needs("statuses", &["ci"]) && needs("contents", &[]));
        assert!(needs("statuses", &["a fact of tomorrow"]));
        assert!(!needs("merge_queues", &["a fact of tomorrow"]));
        assert!(FACTS_WITHOUT_MORE.iter().all(|fact| FACT_NAMES.contains(fact)));
    }

    #[test]
    fn an_event_that_is_lacking_says_what_stops_working() {
        let all: Vec<String> = EVENTS.iter().map(|(event, _)| (*event).to_owned()).collect();
        assert_eq!(problems(events(&all)), [""; 0]);
        let without: Vec<String> = all.iter().filter(|e| !e.contains("review")).cloned().collect();
        assert_eq!(
            problems(events(&without)),
            [
                "the App is not subscribed to `pull_request_review`: sign-offs in reviews are not seen",
                "the App is not subscribed to `pull_request_review_comment`: sign-offs on a line are \
                 not seen",
            ]
        );
        let without: Vec<String> = all.iter().filter(|e| *e != "merge_group").cloned().collect();
        assert_eq!(problems(events(&without)), [""; 0], "a repository may have no merge queue");
    }
}
