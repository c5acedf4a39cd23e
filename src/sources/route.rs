//! Which request answers which key.
//!
//! Whatever stands in a key may come from a pull request's text, so each part is escaped, and a path
//! that no tree can hold is answered without asking.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{ReadKey, RepoName};
use crate::limits::{PAGE_ITEMS, PATH_ESCAPES, PULL_COMMITS, PULL_FILES};

/// Escapes of one part between slashes, or of one value of a query.
const PART_ESCAPES: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// How a key is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    /// One JSON document.
    Document(String),
    /// One comparison; GitHub pages its commits and gives everything else on the first page.
    Comparison(String),
    /// One file's bytes.
    Bytes(String),
    /// A list in pages.
    List {
        /// With a query, to which `&page=N` is added.
        route: String,
        /// The field that holds the list, where a page is no list itself.
        field: Option<&'static str>,
        /// The length at which GitHub stops listing, and what it is.
        cut_at: Option<(usize, &'static str)>,
    },
    /// All files of a commit.
    Tree(String),
    /// The GraphQL query of the tips.
    Tips,
    /// The GraphQL query of the edits.
    Edits,
    /// The App's own call about its installation.
    Grants,
    /// Nothing can be there.
    Nowhere,
    /// Not GitHub's to answer.
    Elsewhere,
}

/// The request for a key.
pub(super) fn request(key: &ReadKey) -> Request {
    match key {
        ReadKey::Pull { repo, number } | ReadKey::PullAtEnd { repo, number } => {
            Request::Document(pull(repo, *number, ""))
        }
        ReadKey::PullCommits { repo, number } => {
            cut_list(pull(repo, *number, "/commits?"), PULL_COMMITS, "commits of a pull request")
        }
        ReadKey::PullFiles { repo, number } => {
            cut_list(pull(repo, *number, "/files?"), PULL_FILES, "files of a pull request")
        }
        ReadKey::IssueComments { repo, number } => {
            list(format!("/repos/{repo}/issues/{number}/comments?"), None)
        }
        ReadKey::Reviews { repo, number } => list(pull(repo, *number, "/reviews?"), None),
        ReadKey::ReviewComments { repo, number } => list(pull(repo, *number, "/comments?"), None),
        ReadKey::Compare { repo, base, head } => Request::Comparison(format!(
            "/repos/{repo}/compare/{}...{}?per_page={PAGE_ITEMS}",
            part(base),
            part(head)
        )),
        ReadKey::File { repo, commit, path } => match tree_path(path) {
            Some(path) => Request::Bytes(format!(
                "/repos/{repo}/contents/{}?ref={}",
                utf8_percent_encode(path, PATH_ESCAPES),
                part(commit)
            )),
            None => Request::Nowhere,
        },
        ReadKey::Tree { repo, commit } => {
            Request::Tree(format!("/repos/{repo}/git/trees/{}?recursive=1", part(commit)))
        }
        ReadKey::History { repo, from, path, until } => {
            let until = until.as_deref().map(|at| format!("&until={}", part(at)));
            Request::Document(format!(
                "/repos/{repo}/commits?sha={}&path={}{}&per_page=1",
                part(from),
                part(path),
                until.unwrap_or_default()
            ))
        }
        ReadKey::CheckRuns { repo, commit } => list(
            format!("/repos/{repo}/commits/{}/check-runs?filter=all&", part(commit)),
            Some("check_runs"),
        ),
        ReadKey::Statuses { repo, commit } => {
            list(format!("/repos/{repo}/commits/{}/status?", part(commit)), Some("statuses"))
        }
        ReadKey::Run { repo, id } => Request::Document(format!("/repos/{repo}/actions/runs/{id}")),
        ReadKey::Jobs { repo, id, .. } => {
            list(format!("/repos/{repo}/actions/runs/{id}/jobs?filter=all&"), Some("jobs"))
        }
        ReadKey::Permission { repo, login } => match name(login) {
            Some(login) => {
                Request::Document(format!("/repos/{repo}/collaborators/{login}/permission"))
            }
            None => Request::Nowhere,
        },
        ReadKey::TeamMember { org, team, login, .. } => {
            match (name(org), name(team), name(login)) {
                (Some(org), Some(team), Some(login)) => {
                    Request::Document(format!("/orgs/{org}/teams/{team}/memberships/{login}"))
                }
                _ => Request::Nowhere,
            }
        }
        ReadKey::CodeownersErrors { repo, commit } => {
            Request::Document(format!("/repos/{repo}/codeowners/errors?ref={}", part(commit)))
        }
        ReadKey::Tips { .. } => Request::Tips,
        ReadKey::Edits { .. } => Request::Edits,
        ReadKey::Grants { .. } => Request::Grants,
        ReadKey::Manifest { .. } => Request::Elsewhere,
    }
}

/// The permission that a key needs (GitHub: "Permissions required for GitHub Apps").
pub(super) fn permission(key: &ReadKey) -> &'static str {
    match key {
        ReadKey::Pull { .. }
        | ReadKey::PullAtEnd { .. }
        | ReadKey::Tips { .. }
        | ReadKey::PullCommits { .. }
        | ReadKey::PullFiles { .. }
        | ReadKey::IssueComments { .. }
        | ReadKey::Reviews { .. }
        | ReadKey::ReviewComments { .. }
        | ReadKey::Edits { .. } => "pull_requests:read",
        ReadKey::Compare { .. }
        | ReadKey::File { .. }
        | ReadKey::Tree { .. }
        | ReadKey::History { .. }
        | ReadKey::CodeownersErrors { .. } => "contents:read",
        ReadKey::CheckRuns { .. } => "checks:read",
        ReadKey::Statuses { .. } => "statuses:read",
        ReadKey::Run { .. } | ReadKey::Jobs { .. } => "actions:read",
        ReadKey::TeamMember { .. } => "members:read",
        ReadKey::Permission { .. } | ReadKey::Grants { .. } | ReadKey::Manifest { .. } => {
            "metadata:read"
        }
    }
}

/// A path as a tree can hold one: no empty, `.` or `..` part, which a URL or git would resolve.
pub(super) fn tree_path(path: &str) -> Option<&str> {
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    path.split('/').all(plain).then_some(path)
}

fn pull(repo: &RepoName, number: i64, rest: &str) -> String {
    format!("/repos/{repo}/pulls/{number}{rest}")
}

fn list(route: String, field: Option<&'static str>) -> Request {
    Request::List { route: format!("{route}per_page={PAGE_ITEMS}"), field, cut_at: None }
}

fn cut_list(route: String, length: usize, what: &'static str) -> Request {
    let route = format!("{route}per_page={PAGE_ITEMS}");
    Request::List { route, field: None, cut_at: Some((length, what)) }
}

fn part(text: &str) -> String {
    utf8_percent_encode(text, PART_ESCAPES).to_string()
}

/// A login, organisation or team as a part of a path; `None` for what is no name at all.
fn name(text: &str) -> Option<String> {
    (!matches!(text, "" | "." | "..")).then(|| part(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repo() -> RepoName {
        "octo/bench".parse().unwrap()
    }

    fn file(path: &str) -> Request {
        let commit = "a".repeat(40);
        request(&ReadKey::File { repo: repo(), commit, path: path.to_owned() })
    }

    #[test]
    fn paths_are_escaped_but_for_their_slashes() {
        let route =
            format!("/repos/octo/bench/contents/a%20b/%23%3F%25/%C3%A9.md?ref={}", "a".repeat(40));
        assert_eq!(file("a b/#?%/é.md"), Request::Bytes(route));
    }

    #[test]
    fn a_path_that_no_tree_holds_is_not_asked_for() {
        for path in ["", "/etc/passwd", "a//b", "../../orgs/x", "a/../b", "./a", "a/", "a\0b"] {
            assert_eq!(file(path), Request::Nowhere, "{path}");
        }
        for path in ["..a", "a..b/...", "-x", "--", "a\nb"] {
            assert!(matches!(file(path), Request::Bytes(_)), "{path}");
        }
    }

    #[test]
    fn a_login_cannot_leave_its_place() {
        let member = |login: &str| {
            request(&ReadKey::TeamMember {
                repo: repo(),
                org: "octo".into(),
                team: "core".into(),
                login: login.into(),
            })
        };
        assert_eq!(
            member("a/../../x?y#z"),
            Request::Document("/orgs/octo/teams/core/memberships/a%2F..%2F..%2Fx%3Fy%23z".into())
        );
        assert_eq!(member(".."), Request::Nowhere);
        assert_eq!(member(""), Request::Nowhere);
    }

    #[test]
    fn routes_are_those_that_the_keys_name() {
        let history = ReadKey::History {
            repo: repo(),
            from: "b".repeat(40),
            path: "docs/a b.md".into(),
            until: Some("2026-10-13T08:00:00+00:00".into()),
        };
        let route = format!(
            "/repos/octo/bench/commits?sha={}&path=docs%2Fa%20b.md\
             &until=2026-10-13T08%3A00%3A00%2B00%3A00&per_page=1",
            "b".repeat(40)
        );
        assert_eq!(request(&history), Request::Document(route));
        let Request::List { route, field, cut_at } =
            request(&ReadKey::PullFiles { repo: repo(), number: 7 })
        else {
            panic!("no list");
        };
        assert_eq!(route, "/repos/octo/bench/pulls/7/files?per_page=100");
        assert_eq!((field, cut_at), (None, Some((3_000, "files of a pull request"))));
    }
}
