//! `countersign doctor`: one line for each thing that a server needs, and what to do where it is wrong.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use secrecy::ExposeSecret;

use super::{Exit, serve};
use crate::config::{Config, Repository};
use crate::sources::RepoName;
use crate::store::Store;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The server's configuration file [default: countersign.toml, where it exists]
    #[arg(long, value_name = "FILE", env = "COUNTERSIGN_CONFIG")]
    config: Option<PathBuf>,
}

/// Fewer characters can be guessed from one recorded delivery.
const SECRET_CHARS: usize = 16;

/// What the App must be allowed, and what for. `deploy/app-manifest.json` asks for the same.
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
    Permission::new("actions", Access::Read, "workflow runs, their artifacts and logs"),
    Permission::new(
        "members",
        Access::Read,
        "whether a code owner is in the team that owns a path",
    ),
];

/// On top, where a profile publishes a commit status.
const STATUSES: Permission =
    Permission::new("statuses", Access::Write, "the commit status that the profile asks for");

struct Permission {
    name: &'static str,
    access: Access,
    reason: &'static str,
}

impl Permission {
    const fn new(name: &'static str, access: Access, reason: &'static str) -> Self {
        Self { name, access, reason }
    }
}

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

/// One line of the report.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    what: &'static str,
    finding: Result<String, Wrong>,
}

#[derive(Debug, PartialEq, Eq)]
struct Wrong {
    problem: String,
    fix: String,
}

fn ok(what: &'static str, text: impl Into<String>) -> Line {
    Line { what, finding: Ok(text.into()) }
}

fn wrong(what: &'static str, problem: impl Into<String>, fix: impl Into<String>) -> Line {
    Line { what, finding: Err(Wrong { problem: problem.into(), fix: fix.into() }) }
}

/// Runs it.
pub fn run(args: Args) -> Exit {
    let config = match serve::load(args.config.as_deref()) {
        Ok(config) => config,
        Err(errors) => {
            let _ = writeln!(anstream::stderr(), "{errors}");
            return Exit::BadInput;
        }
    };
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        let _ = writeln!(anstream::stderr(), "no threads can be started");
        return Exit::Undecided;
    };
    let lines = runtime.block_on(examine(&config));
    // Nobody is left to tell where standard output is closed.
    let _ = print(&mut anstream::stdout(), &lines);
    if lines.iter().all(|line| line.finding.is_ok()) { Exit::Clean } else { Exit::Findings }
}

fn print(out: &mut impl std::io::Write, lines: &[Line]) -> std::io::Result<()> {
    for line in lines {
        match &line.finding {
            Ok(text) => writeln!(out, "ok     {:<14} {text}", line.what)?,
            Err(Wrong { problem, fix }) => {
                writeln!(out, "wrong  {:<14} {problem}", line.what)?;
                writeln!(out, "       {:<14} fix: {fix}", "")?;
            }
        }
    }
    Ok(())
}

async fn examine(config: &Config) -> Vec<Line> {
    let mut lines = configuration(config);
    lines.extend(rules(config));
    lines.push(database(config).await);
    lines.extend(credentials(config).await);
    lines
}

fn configuration(config: &Config) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Err(missing) = config.app() {
        lines.extend(missing.0.iter().map(|error| {
            wrong(
                "configuration",
                error.to_string(),
                "see deploy/README.md for where each comes from",
            )
        }));
    }
    let secrets = [
        ("webhook.secret", &config.webhook.secret),
        ("webhook.secret_previous", &config.webhook.secret_previous),
    ];
    for (name, secret) in secrets {
        if secret.as_ref().is_some_and(|s| s.expose_secret().chars().count() < SECRET_CHARS) {
            lines.push(wrong(
                "configuration",
                format!("`{name}` has fewer than {SECRET_CHARS} characters"),
                "make one with `openssl rand -hex 32`, and set it on the App's settings page too",
            ));
        }
    }
    if config.repositories.is_empty() {
        lines.push(wrong(
            "configuration",
            "no repository is served",
            "add a [[repository]] with name and profile",
        ));
    }
    if lines.is_empty() {
        let names: Vec<_> = config.repositories.iter().map(|r| r.name.to_string()).collect();
        lines.push(ok("configuration", format!("serves {}", names.join(", "))));
    }
    if config.webhook.secret_previous.is_some() {
        lines.push(ok(
            "configuration",
            "the previous webhook secret is still taken; remove it when \
             countersign_previous_secret_total no longer rises",
        ));
    }
    if config.now.is_some() {
        lines.push(wrong(
            "configuration",
            "`now` is set: every verdict speaks of that day",
            "unset it; it is for tests",
        ));
    }
    lines
}

/// The rule files of every profile that is served, and how many of them are not built yet.
fn rules(config: &Config) -> Option<Line> {
    let profiles = match serve::profiles(config) {
        Ok(profiles) => profiles,
        Err(error) => {
            let fix = "mend the files; `countersign rules check --rules DIR` shows them alone";
            let text = format!("{error:#}");
            let text = text.strip_prefix("error: ").unwrap_or(&text).to_owned();
            return Some(wrong("rules", text, fix));
        }
    };
    let mut told: Vec<String> = profiles
        .values()
        .map(|loaded| {
            let rules = &loaded.rules;
            format!(
                "{}: {} rules, {} of them not machine-checked yet",
                rules.profile.settings.name,
                rules.rules.len(),
                rules.not_built().count()
            )
        })
        .collect();
    told.sort();
    told.dedup();
    (!told.is_empty()).then(|| ok("rules", told.join("; ")))
}

async fn database(config: &Config) -> Line {
    let look = async {
        let store = Store::open(&config.database_url).await?;
        let backlog = store.backlog().await?;
        Ok::<_, crate::store::StoreError>((store.kind(), backlog))
    };
    match look.await {
        Ok((kind, jobs)) => ok(
            "database",
            format!(
                "{kind}; {} jobs wait, {} run, {} were given up",
                jobs.queued, jobs.running, jobs.failed
            ),
        ),
        Err(error) => wrong(
            "database",
            error.to_string(),
            "check `database_url`, and that the server's account may write there",
        ),
    }
}

/// Who GitHub says that we are, and what each installation lets us do.
async fn credentials(config: &Config) -> Vec<Line> {
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
            vec![ok("credentials", format!("GitHub knows the App `{}`", identity.slug))]
        }
        Err(error) => {
            let fix = "compare github.app_id and github.private_key with the App's settings page, \
                       and this machine's clock with the real time";
            return vec![wrong("credentials", error.to_string(), fix)];
        }
    };
    for Repository { name, .. } in &config.repositories {
        match github.grants(name.owner(), name.name()).await {
            Ok(Some(granted)) => {
                lines.extend(permissions(
                    &name.to_string(),
                    &granted,
                    publishes_status(config, name),
                ));
            }
            Ok(None) => lines.push(wrong(
                "permissions",
                format!("the App is not installed on {name}"),
                "install it there, from the App's public page",
            )),
            Err(error) => lines.push(wrong(
                "permissions",
                format!("{name}: {error}"),
                "try again; see https://www.githubstatus.com",
            )),
        }
    }
    lines
}

/// Whether the profile of a repository asks for a commit status.
fn publishes_status(config: &Config, repository: &RepoName) -> bool {
    // Rules that cannot be read were told of above.
    let profiles = serve::profiles(config).unwrap_or_default();
    profiles
        .get(&repository.to_string().to_ascii_lowercase())
        .is_some_and(|l| l.rules.profile.settings.check_run.status_context.is_some())
}

/// Holds what an installation grants against the table.
fn permissions(
    repository: &str,
    granted: &BTreeMap<String, String>,
    publishes_status: bool,
) -> Vec<Line> {
    let status = publishes_status.then_some(&STATUSES);
    let mut lines = Vec::new();
    for Permission { name, access, reason } in PERMISSIONS.iter().chain(status) {
        if granted.get(*name).and_then(|word| Access::of(word)) < Some(*access) {
            lines.push(wrong(
                "permissions",
                format!("{repository}: `{name}: {}` is missing ({reason})", access.as_str()),
                "grant it on the App's settings page, and accept the request in the installation",
            ));
        }
    }
    if lines.is_empty() {
        lines.push(ok("permissions", format!("{repository}: all that is needed is granted")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(lines: Vec<Line>) -> Vec<String> {
        lines.into_iter().filter_map(|line| line.finding.err()).map(|wrong| wrong.problem).collect()
    }

    #[test]
    fn the_manifest_asks_for_what_the_table_says() {
        let manifest: serde_json::Value =
            serde_json::from_str(include_str!("../../deploy/app-manifest.json")).unwrap();
        let asked: BTreeMap<String, String> =
            serde_json::from_value(manifest["default_permissions"].clone()).unwrap();
        let table: BTreeMap<_, _> =
            PERMISSIONS.iter().map(|p| (p.name.to_owned(), p.access.as_str().to_owned())).collect();
        assert_eq!(asked, table);
        assert!(permissions("harbour/pilots", &asked, false)[0].finding.is_ok());
    }

    #[test]
    fn each_permission_that_is_missing_or_too_small_is_named() {
        let granted = BTreeMap::from(
            [
                ("metadata", "read"),
                ("contents", "write"),
                ("pull_requests", "read"),
                ("issues", "read"),
                ("checks", "write"),
                ("actions", "read"),
            ]
            .map(|(name, access)| (name.to_owned(), access.to_owned())),
        );
        assert_eq!(
            problems(permissions("harbour/pilots", &granted, true)),
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
    fn the_report_has_one_line_a_finding_and_the_fix_below_it() {
        let lines = [ok("database", "SQLite"), wrong("rules", "none", "write some")];
        let mut out = Vec::new();
        print(&mut out, &lines).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "ok     database       SQLite\n\
             wrong  rules          none\n       \x20              fix: write some\n"
        );
    }

    #[test]
    fn a_configuration_that_cannot_serve_says_all_that_it_lacks() {
        let variables = [("COUNTERSIGN_WEBHOOK_SECRET".to_owned(), "short".to_owned())];
        let config = Config::load(Some(&std::path::PathBuf::from("/dev/null")), variables).unwrap();
        let problems = problems(configuration(&config));
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems[0].starts_with("`github.app_id` is not set"));
        assert!(problems[1].starts_with("`github.private_key` is not set"));
        assert_eq!(problems[2], "`webhook.secret` has fewer than 16 characters");
        assert_eq!(problems[3], "no repository is served");
    }
}
