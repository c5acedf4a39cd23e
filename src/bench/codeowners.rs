//! CODEOWNERS with GitHub's semantics.
//!
//! Source of the rules: GitHub's documentation "About code owners" (syntax, exceptions to
//! gitignore) and `.github/CODEOWNERS` of the benchmark repository. The last matching line wins and
//! owners of earlier lines do not accumulate; a line without owners clears ownership; `!`, `[ ]` and
//! `\#` do not work; `docs/*` reaches direct children only; a line that cannot be read is skipped.
//! The file's problems are returned beside it, never swallowed.

use std::collections::BTreeMap;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::limits;

/// A parsed file.
#[derive(Debug, Clone, Default)]
pub struct Codeowners {
    lines: Vec<Line>,
    /// Lines whose pattern is a path without a wildcard.
    paths: BTreeMap<String, Plain>,
    /// Lines whose pattern is a name without a wildcard.
    names: BTreeMap<String, Plain>,
    /// The globs of all other lines.
    globs: GlobSet,
    /// The index of the line that each glob belongs to.
    glob_lines: Vec<usize>,
}

/// Indices of lines, the last of each kind.
#[derive(Debug, Clone, Copy, Default)]
struct Plain {
    itself: Option<usize>,
    below: Option<usize>,
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
    /// Reads a file of at most [`limits::CODEOWNERS_BYTES`] bytes and [`limits::CODEOWNERS_GLOBS`]
    /// patterns with wildcards; a larger one has one problem and no lines.
    pub fn parse(text: &str) -> (Self, Vec<Problem>) {
        let nothing = |reason| (Self::default(), vec![Problem { line: 0, reason }]);
        if text.len() > limits::CODEOWNERS_BYTES {
            return nothing(format!(
                "the file has {} bytes; GitHub ignores one over {}",
                text.len(),
                limits::CODEOWNERS_BYTES
            ));
        }
        let mut read = Self::default();
        let mut globs = GlobSetBuilder::new();
        let mut problems = Vec::new();
        for (number, raw) in (1..).zip(text.lines()) {
            match parse_line(raw, number) {
                Ok(Some((line, reach))) => {
                    let index = read.lines.len();
                    read.lines.push(line);
                    read.reach(index, reach, &mut globs);
                }
                Ok(None) => {}
                Err(reason) => problems.push(Problem { line: number, reason }),
            }
        }
        if read.glob_lines.len() > limits::CODEOWNERS_GLOBS {
            return nothing(format!(
                "the file has more than {} patterns with wildcards; write paths instead",
                limits::CODEOWNERS_GLOBS
            ));
        }
        match globs.build() {
            Ok(globs) => read.globs = globs,
            Err(error) => return nothing(format!("its patterns are too large: {}", error.kind())),
        }
        (read, problems)
    }

    /// Notes what a line reaches; a later line wins over an earlier one.
    fn reach(&mut self, index: usize, reach: Reach, globs: &mut GlobSetBuilder) {
        let (places, name, directory_only) = match reach {
            Reach::Globs(all) => {
                self.glob_lines.extend(all.iter().map(|_| index));
                for glob in all {
                    globs.add(glob);
                }
                return;
            }
            Reach::Path { path, directory_only } => (&mut self.paths, path, directory_only),
            Reach::Name { name, directory_only } => (&mut self.names, name, directory_only),
        };
        let plain = places.entry(name).or_default();
        plain.below = Some(index);
        if !directory_only {
            plain.itself = Some(index);
        }
    }

    /// The last line that matches a path (relative, `/` between its parts); `None` where none does.
    pub fn owners_of(&self, path: &str) -> Option<&Line> {
        let globs = self.globs.matches(path).into_iter().map(|glob| self.glob_lines[glob]).max();
        let itself = self.paths.get(path).and_then(|plain| plain.itself);
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        let below = folders.filter_map(|folder| self.paths.get(folder)?.below).max();
        let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
        let named = self.names.get(name).and_then(|plain| plain.itself);
        let inside = parents.split('/').filter_map(|part| self.names.get(part)?.below).max();
        let last = [globs, itself, below, named, inside].into_iter().flatten().max()?;
        self.lines.get(last)
    }

    /// All lines, in the order of the file.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}

/// What a line's pattern reaches.
enum Reach {
    /// One path and what lies below it.
    Path { path: String, directory_only: bool },
    /// Whatever is called so at any depth, and what lies below it.
    Name { name: String, directory_only: bool },
    /// What one of these matches.
    Globs(Vec<Glob>),
}

/// `None` for a blank line or a comment.
fn parse_line(raw: &str, number: i64) -> Result<Option<(Line, Reach)>, String> {
    let words = words(raw);
    let Some((pattern, owners)) = words.split_first() else { return Ok(None) };
    if let Some(bad) = owners.iter().find(|owner| Owner::parse(owner).is_none()) {
        return Err(format!(
            "`{bad}` is no owner; expected @login, @org/team or an e-mail address"
        ));
    }
    let reach = reach(pattern)?;
    Ok(Some((Line { pattern: pattern.clone(), number, owners: owners.to_vec() }, reach)))
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

/// What a pattern reaches: the path itself, and what lies below it.
fn reach(pattern: &str) -> Result<Reach, String> {
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
    if !core.contains(['*', '?', '\\']) {
        let core = core.to_owned();
        return Ok(match anchored {
            true => Reach::Path { path: core, directory_only },
            false => Reach::Name { name: core, directory_only },
        });
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
    let built = globs.iter().map(|glob| {
        GlobBuilder::new(glob)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| format!("`{pattern}` is no pattern: {}", error.kind()))
    });
    Ok(Reach::Globs(built.collect::<Result<_, _>>()?))
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
