//! One repository: whether its default branch holds what the profile looks for there, and whether
//! anything requires the check.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::lines::{Line, note, ok, wrong};
use crate::bench::codeowners::Codeowners;
use crate::github::{App, Client};
use crate::profile::Profile;
use crate::rules::RuleSet;
use crate::rules::escape::cut;
use crate::signoff::Place;
use crate::sources::live::Live;
use crate::sources::{ReadError, Reader, RepoName};

/// Characters of an unknown item that are shown.
const ITEM_CHARS: usize = 60;
const JSON: &str = "application/vnd.github+json";

#[derive(Deserialize)]
struct RepositoryWire {
    default_branch: String,
}

/// One rule of a branch; those of other kinds have other parameters.
#[derive(Deserialize)]
struct BranchRuleWire {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    parameters: serde_json::Value,
}

#[derive(Deserialize)]
struct RequiredWire {
    context: String,
    #[serde(default)]
    integration_id: Option<u64>,
}

/// A repository as it is looked at.
struct Looked<'a> {
    client: Arc<Client>,
    reader: Reader,
    name: &'a RepoName,
    branch: String,
}

/// Everything that is looked at there.
pub(super) async fn examine(github: &App, name: &RepoName, rules: &RuleSet) -> Vec<Line> {
    let client = match github.client_for(name.owner(), name.name()).await {
        Ok(client) => client,
        Err(error) => return vec![unread("repository", name, &error.to_string())],
    };
    let route = format!("/repos/{name}");
    let branch = match get::<RepositoryWire>(&client, &route).await {
        Ok(repository) => repository.default_branch,
        Err(error) => return vec![unread("repository", name, &error)],
    };
    let reader = Reader::new(Arc::new(Live::new(Arc::clone(&client))));
    let looked = Looked { client, reader, name, branch };
    vec![
        looked.codeowners(&rules.profile).await,
        looked.template(&rules.profile).await,
        looked.required(&rules.profile, github.id()).await,
    ]
}

async fn get<T: DeserializeOwned>(client: &Client, route: &str) -> Result<T, String> {
    let response = client.get(route, JSON, None).await.map_err(|error| error.to_string())?;
    if response.status != 200 {
        return Err(format!("GitHub answers {} to {route}", response.status));
    }
    serde_json::from_slice(&response.body).map_err(|error| format!("{route}: {error}"))
}

fn unread(what: &'static str, name: &RepoName, error: &str) -> Line {
    let fix = "grant what is missing above, or try again; see https://www.githubstatus.com";
    wrong(what, format!("{name}: {error}"), fix)
}

impl Looked<'_> {
    /// The first of these paths that exists on the default branch, with its text.
    async fn first<'p>(&self, paths: &'p [String]) -> Result<Option<(&'p str, String)>, ReadError> {
        for path in paths {
            if let Some(bytes) = self.reader.file(self.name, &self.branch, path).await? {
                return Ok(Some((path, String::from_utf8_lossy(&bytes).into_owned())));
            }
        }
        Ok(None)
    }

    /// CODEOWNERS, as we and as GitHub read it.
    async fn codeowners(&self, profile: &Profile) -> Line {
        let (name, branch) = (self.name, &self.branch);
        let places = &profile.settings.scope.codeowners;
        let (path, text) = match self.first(places).await {
            Ok(Some(found)) => found,
            Ok(None) => {
                return wrong(
                    "codeowners",
                    format!("{name}: there is none on {branch} (looked for {})", places.join(", ")),
                    "add one: without it nobody can sign",
                );
            }
            Err(error) => return unread("codeowners", name, &error.to_string()),
        };
        let (codeowners, problems) = Codeowners::parse(&text);
        let mut problems: Vec<String> =
            problems.into_iter().map(|p| format!("line {}: {}", p.line, p.reason)).collect();
        match self.reader.codeowners_errors(name, branch).await {
            Ok(errors) => problems.extend(errors.unwrap_or_default().into_iter().map(|error| {
                let first = error.message.lines().next().unwrap_or_default();
                format!("line {}: {first}", error.line)
            })),
            Err(error) => return unread("codeowners", name, &error.to_string()),
        }
        if let Some(first) = problems.first() {
            let more = match problems.len() - 1 {
                0 => String::new(),
                more => format!(" (+{more} more)"),
            };
            return wrong(
                "codeowners",
                format!("{name}: {path} on {branch}, {first}{more}"),
                "mend the line: while it cannot be read every pull request needs a sign-off",
            );
        }
        if codeowners.lines().is_empty() {
            return wrong(
                "codeowners",
                format!("{name}: {path} on {branch} names nobody"),
                "name the owners: without any nobody can sign",
            );
        }
        ok("codeowners", format!("{name}: {path} on {branch}"))
    }

    /// The template, and whether every item of it is known.
    async fn template(&self, profile: &Profile) -> Line {
        let (name, branch) = (self.name, &self.branch);
        let settings = &profile.settings.template;
        let (path, text) = match self.first(&settings.paths).await {
            Ok(Some(found)) => found,
            Ok(None) => {
                return wrong(
                    "template",
                    format!(
                        "{name}: there is none on {branch} (looked for {})",
                        settings.paths.join(", ")
                    ),
                    "add the template there, or correct `template.paths` of the profile",
                );
            }
            Err(error) => return unread("template", name, &error.to_string()),
        };
        let reader = match profile.reader() {
            Ok(reader) => reader,
            Err(error) => return wrong("template", error.to_string(), "mend the profile"),
        };
        let place = Place::File { path: path.to_owned() };
        let items = match reader.parse_template(&text, &settings.heading, &place) {
            Ok(items) => items,
            Err(error) => {
                return wrong(
                    "template",
                    format!("{name}: {path} on {branch}: {error}"),
                    "mend the document, or `template.heading` and `signoff.phrase` of the profile",
                );
            }
        };
        let unknown: Vec<String> = items
            .iter()
            .filter(|item| item.id.starts_with("item:"))
            .map(|item| {
                format!(
                    "line {} \"{}\"",
                    item.origin.line.unwrap_or(0),
                    cut(&item.text, ITEM_CHARS)
                )
            })
            .collect();
        if !unknown.is_empty() {
            return note(
                "template",
                format!(
                    "{name}: {path} on {branch} has items that no rule answers for: {}",
                    unknown.join(", ")
                ),
                "give each an entry in items.yaml and a rule; until then its row says ATTESTED",
            );
        }
        ok("template", format!("{name}: {path} on {branch}, {} items", items.len()))
    }

    /// Whether a ruleset of the default branch requires the check, and from us.
    async fn required(&self, profile: &Profile, app: u64) -> Line {
        let (name, branch) = (self.name, &self.branch);
        let check = &profile.settings.check_run;
        let route = format!("/repos/{name}/rules/branches/{}", escaped(branch));
        let rules: Vec<BranchRuleWire> = match get(&self.client, &route).await {
            Ok(rules) => rules,
            Err(error) => return unread("enforcement", name, &error),
        };
        let checks = rules.into_iter().filter(|rule| rule.kind == "required_status_checks");
        let mut required: Vec<RequiredWire> = Vec::new();
        for rule in checks {
            let list = rule.parameters["required_status_checks"].clone();
            match serde_json::from_value::<Vec<RequiredWire>>(list) {
                Ok(list) => required.extend(list),
                Err(error) => return unread("enforcement", name, &format!("{route}: {error}")),
            }
        }
        let ours: Vec<&RequiredWire> =
            required.iter().filter(|required| check.is_ours(&required.context)).collect();
        if ours.iter().any(|required| required.integration_id == Some(app)) {
            return ok(
                "enforcement",
                format!("{name}: {branch} requires `{}` of this App", check.name),
            );
        }
        let other = ours.iter().find_map(|required| required.integration_id);
        match (ours.is_empty(), other) {
            (true, _) => note(
                "enforcement",
                format!(
                    "{name}: nothing enforces the check: no ruleset of {branch} requires `{}`",
                    check.name
                ),
                "require it in a ruleset of the branch, with this App as its source (classic branch \
                 protection does it too, and cannot be seen from here)",
            ),
            (false, Some(other)) => wrong(
                "enforcement",
                format!(
                    "{name}: {branch} requires `{}` of the App {other}, which is not this one",
                    check.name
                ),
                "make this App the check's source in the ruleset",
            ),
            (false, None) => note(
                "enforcement",
                format!("{name}: {branch} requires `{}`, but takes it of anybody", check.name),
                "make this App the check's source in the ruleset",
            ),
        }
    }
}

/// A branch's name as a part of a path; its slashes stay, as GitHub takes them.
fn escaped(branch: &str) -> String {
    percent_encoding::utf8_percent_encode(branch, crate::limits::PATH_ESCAPES).to_string()
}
