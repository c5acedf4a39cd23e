//! Where a value was read: what a person opens to see it with their own eyes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One piece of evidence, in the form that the verdict's JSON has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// What kind of thing it is.
    pub kind: OriginKind,
    /// A page that shows it.
    pub url: Option<String>,
    /// A path in the repository, or a file name inside an artifact.
    pub path: Option<String>,
    /// 1-based line in that file.
    pub line: Option<i64>,
    /// JSON pointer (RFC 6901) inside a JSON document.
    pub pointer: Option<String>,
    /// The commit at which the file was read, 40 hex digits.
    pub commit: Option<String>,
    /// At most [`crate::limits::QUOTE_CHARS`] characters of it.
    pub quote: Option<String>,
}

impl Origin {
    /// An origin of one kind with nothing else said.
    pub fn new(kind: OriginKind) -> Self {
        Self { kind, url: None, path: None, line: None, pointer: None, commit: None, quote: None }
    }

    /// The same with a page that shows it.
    #[must_use]
    pub fn at_url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// The same with a 1-based line.
    #[must_use]
    pub fn at_line(mut self, line: i64) -> Self {
        self.line = Some(line);
        self
    }

    /// The same with the first [`crate::limits::QUOTE_CHARS`] characters of a quote.
    #[must_use]
    pub fn quoting(mut self, text: &str) -> Self {
        let mut quote: String = text.chars().take(crate::limits::QUOTE_CHARS).collect();
        if quote.len() < text.len() {
            quote.pop();
            quote.push('…');
        }
        self.quote = Some(quote);
        self
    }

    /// A file of a repository on GitHub at a commit; `web` is the repository's page.
    pub fn file(web: &str, commit: &str, path: &str, line: Option<i64>) -> Self {
        let escaped = percent_encoding::utf8_percent_encode(path, crate::limits::PATH_ESCAPES);
        let anchor = line.map(|n| format!("#L{n}")).unwrap_or_default();
        Self {
            url: Some(format!("{web}/blob/{commit}/{escaped}{anchor}")),
            path: Some(path.to_owned()),
            line,
            commit: Some(commit.to_owned()),
            ..Self::new(OriginKind::File)
        }
    }
}

/// The kinds of evidence; the words are those of the verdict's JSON.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// A file at a commit.
    File,
    /// A changed file of the pull request.
    Diff,
    /// A commit.
    Commit,
    /// A workflow run.
    Run,
    /// A check run, or the job behind it.
    CheckRun,
    /// A file inside a run's artifact.
    Artifact,
    /// A line of a log.
    Log,
    /// A comment or review.
    Comment,
    /// A pull request.
    PullRequest,
    /// A published page.
    Page,
    /// A container registry.
    Registry,
    /// Model metadata.
    Metadata,
    /// The date that the rules see.
    Clock,
}
