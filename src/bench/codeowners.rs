//! CODEOWNERS with GitHub's semantics.
//!
//! Source of the rules: GitHub's documentation "About code owners" (syntax, exceptions to
//! gitignore) and `.github/CODEOWNERS` of the benchmark repository. The last matching line wins and
//! owners of earlier lines do not accumulate; a line without owners clears ownership; `!`, `[ ]` and
//! `\#` do not work; `docs/*` reaches direct children only; a line that cannot be read is skipped.
//! The file's problems are returned beside it, never swallowed.

use globset::{GlobBuilder, GlobMatcher};

use crate::limits;

/// A parsed file.
#[derive(Debug, Clone)]
pub struct Codeowners {
    lines: Vec<Line>,
}

/// One line that assigns, or clears, ownership.
#[derive(Debug, Clone)]
pub struct Line {
    /// The pattern as written.
    pub pattern: String,
    /// 1-based.
    pub number: i64,
    /// The owners as written (`@login`, `@org/team`, e-mail); empty clears ownership.
    pub owners: Vec<String>,
    matchers: Vec<GlobMatcher>,
}

/// A line that could not be read; GitHub skips it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// 1-based.
    pub line: i64,
    /// What is wrong with it.
    pub reason: String,
}

/// An owner as CODEOWNERS writes it, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// `@login`.
    Login(&'a str),
    /// `@org/team`.
    Team {
        /// The organisation.
        org: &'a str,
        /// The team's slug.
        slug: &'a str,
    },
    /// An e-mail address.
    Email(&'a str),
}

impl<'a> Owner<'a> {
    /// Takes an owner apart; `None` where it is neither of the three forms.
    pub fn parse(text: &'a str) -> Option<Self> {
        let word = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        match text.strip_prefix('@') {
            Some(name) => match name.split_once('/') {
                Some((org, slug)) if word(org) && word(slug) => Some(Self::Team { org, slug }),
                None if word(name) => Some(Self::Login(name)),
                _ => None,
            },
            None => text
                .split_once('@')
                .filter(|(user, host)| !user.is_empty() && host.contains('.'))
                .map(|_| Self::Email(text)),
        }
    }
}

impl Codeowners {
    /// Reads a file of at most [`limits::CODEOWNERS_BYTES`] bytes; a longer one has one problem and
    /// no lines, because GitHub ignores it whole.
    pub fn parse(text: &str) -> (Self, Vec<Problem>) {
        let mut lines = Vec::new();
        let mut problems = Vec::new();
        if text.len() > limits::CODEOWNERS_BYTES {
            let reason = format!(
                "the file has {} bytes; GitHub ignores one over {}",
                text.len(),
                limits::CODEOWNERS_BYTES
            );
            return (Self { lines }, vec![Problem { line: 0, reason }]);
        }
        for (number, raw) in (1..).zip(text.lines()) {
            match parse_line(raw, number) {
                Ok(Some(line)) => lines.push(line),
                Ok(None) => {}
                Err(reason) => problems.push(Problem { line: number, reason }),
            }
        }
        (Self { lines }, problems)
    }

    /// The last line that matches a path (relative, `/` between its parts); `None` where none does.
    pub fn owners_of(&self, path: &str) -> Option<&Line> {
        self.lines.iter().rev().find(|line| line.matchers.iter().any(|m| m.is_match(path)))
    }

    /// All lines, in the order of the file.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}

/// `None` for a blank line or a comment.
fn parse_line(raw: &str, number: i64) -> Result<Option<Line>, String> {
    let words = words(raw);
    let Some((pattern, owners)) = words.split_first() else { return Ok(None) };
    if let Some(bad) = owners.iter().find(|owner| Owner::parse(owner).is_none()) {
        return Err(format!(
            "`{bad}` is no owner; expected @login, @org/team or an e-mail address"
        ));
    }
    let matchers = matchers(pattern)?;
    Ok(Some(Line { pattern: pattern.clone(), number, owners: owners.to_vec(), matchers }))
}

/// Splits at blanks that no backslash escapes, up to a word that begins a comment.
fn words(raw: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = raw.trim_start_matches('\u{feff}').chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                word.push(c);
                word.extend(chars.next());
            }
            c if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            '#' if word.is_empty() => break,
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The globs that together are a pattern: the path itself, and what lies below it.
fn matchers(pattern: &str) -> Result<Vec<GlobMatcher>, String> {
    if pattern.starts_with('!') {
        return Err("`!` does not negate in CODEOWNERS".to_owned());
    }
    if pattern.starts_with("\\#") {
        return Err("`\\#` is not supported in CODEOWNERS".to_owned());
    }
    if pattern.contains(['[', ']']) {
        return Err("`[ ]` ranges are not supported in CODEOWNERS".to_owned());
    }
    let directory_only = pattern.ends_with('/');
    let trimmed = pattern.trim_end_matches('/');
    let anchored = trimmed.contains('/');
    let core = trimmed.trim_start_matches('/');
    if core.is_empty() {
        return Err(format!("`{pattern}` names nothing"));
    }
    // Braces are literal on GitHub; globset would read them as alternatives.
    let literal = core.replace('{', "\\{").replace('}', "\\}");
    let rooted = if anchored { literal } else { format!("**/{literal}") };
    let children_only = anchored && (core == "*" || core.ends_with("/*"));
    let mut globs = Vec::new();
    if !directory_only {
        globs.push(rooted.clone());
    }
    if directory_only || !children_only {
        globs.push(format!("{rooted}/**"));
    }
    globs
        .iter()
        .map(|glob| {
            GlobBuilder::new(glob)
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .map(|built| built.compile_matcher())
                .map_err(|error| format!("`{pattern}` is no pattern: {}", error.kind()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners(file: &str, path: &str) -> Option<String> {
        let (codeowners, problems) = Codeowners::parse(file);
        assert_eq!(problems, [], "{file}");
        codeowners.owners_of(path).map(|line| line.owners.join(" "))
    }

    /// The examples of GitHub's documentation, and what they say does not work.
    #[test]
    fn matches_as_github_documents() {
        let cases = [
            ("*", "a/b/c.rs", true),
            ("*.js", "deep/down/x.js", true),
            ("*.js", "x.jsx", false),
            ("/build/logs/", "build/logs/a/b.txt", true),
            ("/build/logs/", "x/build/logs/a.txt", false),
            ("/build/logs/", "build/logs", false),
            ("docs/*", "docs/getting-started.md", true),
            ("docs/*", "docs/build-app/troubleshooting.md", false),
            ("docs/*", "x/docs/a.md", false),
            ("apps/", "apps/a.rs", true),
            ("apps/", "x/y/apps/z/a.rs", true),
            ("apps/", "apps", false),
            ("/docs/", "docs/a/b.md", true),
            ("/docs/", "x/docs/a.md", false),
            ("**/logs", "build/logs/a.txt", true),
            ("**/logs", "scripts/logs", true),
            ("**/logs", "deeply/nested/logs/x/y", true),
            ("/apps/github", "apps/github/a", true),
            ("/apps/github", "apps/github", true),
            ("/apps/github", "apps/githubx", false),
            ("README", "sub/README", true),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("docs/**/x.md", "docs/a/b/x.md", true),
            ("docs/**/x.md", "docs/x.md", true),
            ("with\\ blank.md", "with blank.md", true),
            ("a{b,c}", "ab", false),
            ("a{b,c}", "a{b,c}", true),
            ("/*", "a.md", true),
            ("/*", "a/b.md", false),
        ];
        for (pattern, path, expected) in cases {
            let found = owners(&format!("{pattern} @someone"), path);
            assert_eq!(found.is_some(), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn last_match_wins_and_an_ownerless_line_clears() {
        let file = "* @core/all # everyone\n*.yaml @a @b\n/generated/\n";
        assert_eq!(owners(file, "x.rs").as_deref(), Some("@core/all"));
        assert_eq!(owners(file, "x.yaml").as_deref(), Some("@a @b"));
        assert_eq!(owners(file, "generated/x.yaml").as_deref(), Some(""));
        assert_eq!(owners("\n# nothing\n", "x"), None);
    }

    #[test]
    fn what_github_does_not_support_is_a_problem_with_its_line() {
        let (codeowners, problems) =
            Codeowners::parse("* @ok\n!x @a\n\\#x @a\na[bc] @a\nx notanowner\n/ @a\n");
        let lines: Vec<i64> = problems.iter().map(|p| p.line).collect();
        assert_eq!(lines, [2, 3, 4, 5, 6]);
        assert_eq!(codeowners.owners_of("ab").map(|line| line.number), Some(1));
    }

    #[test]
    fn owners_are_taken_apart() {
        assert_eq!(Owner::parse("@o/t"), Some(Owner::Team { org: "o", slug: "t" }));
        assert_eq!(Owner::parse("@me"), Some(Owner::Login("me")));
        assert_eq!(Owner::parse("a@b.org"), Some(Owner::Email("a@b.org")));
        assert_eq!(Owner::parse("@"), None);
        assert_eq!(Owner::parse("@a/b/c"), None);
    }
}
