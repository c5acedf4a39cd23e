//! The sign-off, the template, and the one held against the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Origin;

/// How the sign-off was posted.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SignOffKind {
    /// A conversation comment.
    IssueComment,
    /// The body of a review.
    Review,
    /// A comment on a line of the diff.
    ReviewComment,
    /// A local file.
    File,
}

impl SignOffKind {
    /// The word that JSON, markers and keys use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::IssueComment => "issue_comment",
            Self::Review => "review",
            Self::ReviewComment => "review_comment",
            Self::File => "file",
        }
    }
}

impl std::str::FromStr for SignOffKind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        [Self::IssueComment, Self::Review, Self::ReviewComment, Self::File]
            .into_iter()
            .find(|kind| kind.as_str() == word)
            .ok_or_else(|| format!("`{word}` is no kind of sign-off"))
    }
}

/// The sign-off that is verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignOff {
    /// The account that posted it, as GitHub spells it.
    pub author: String,
    /// How it was posted.
    pub kind: SignOffKind,
    /// GitHub's id of the comment or review; 0 for a file.
    pub id: i64,
    /// When it was posted, RFC 3339; empty for a file.
    pub created: String,
    /// When it was last changed, RFC 3339; empty for a file.
    pub updated: String,
    /// The account that edited it last, where somebody did.
    pub edited_by: Option<String>,
    /// For a review: the commit that the reviewer saw.
    pub reviewed_commit: Option<String>,
    /// SHA-256 of the body as GitHub holds it, 64 hex digits.
    pub body_sha256: String,
    /// Every list item with a box (or with what looks like one), in the order of the text.
    pub items: Vec<SignedItem>,
    /// The additional detail section.
    pub details: Details,
    /// The login on the `Signed:` line; `null` where the line or the name is missing.
    pub signed: Option<String>,
    /// Where it stands.
    pub origin: Origin,
}

/// What the box of an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// `[x]`.
    Checked,
    /// `[ ]`.
    Unchecked,
    /// Looks like a box, but Markdown draws none: counts as unchecked.
    Malformed,
}

/// One item of the sign-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignedItem {
    /// The item's id in `items.yaml`; `null` where none matches.
    pub id: Option<String>,
    /// Its text without the box, one line, at most [`crate::limits::ITEM_CHARS`] characters.
    pub text: String,
    /// Whether it is checked.
    pub checked: bool,
    /// What its box is.
    pub state: ItemState,
    /// The box as it was typed, e.g. `[ x]`.
    pub typed: String,
    /// 1-based line in the body.
    pub line: i64,
    /// 1-based column of the box, in characters.
    pub column: i64,
    /// Links in the item.
    pub links: Vec<Link>,
    /// Where it stands.
    pub origin: Origin,
}

/// One link of the sign-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// The target, as written.
    pub url: String,
    /// The workflow run that it names, where it names one.
    pub run_id: Option<i64>,
    /// 1-based line in the body.
    pub line: i64,
}

/// The additional detail section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Details {
    /// Its Markdown, at most [`crate::limits::BODY_BYTES`] bytes.
    pub text: String,
    /// Its links.
    pub links: Vec<Link>,
    /// Whether a placeholder of the template was left in it.
    pub placeholder: bool,
    /// Whether nothing but blanks and placeholders is in it.
    pub empty: bool,
    /// Whether it has its heading; without one, everything after the last item is the section.
    pub heading: bool,
    /// 1-based line on which it begins; 0 where there is none.
    pub line: i64,
}

/// The current checklist template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Template {
    /// Its path on the default branch.
    pub path: String,
    /// The commit at which it was read.
    pub commit: String,
    /// Its items in order, nested ones included.
    pub items: Vec<TemplateItem>,
    /// Items that no entry of `items.yaml` matches, one line each.
    pub unknown_items: Vec<TemplateItem>,
    /// The document.
    pub origin: Origin,
}

/// One item of the template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TemplateItem {
    /// The item's id in `items.yaml`, or `item:<slug>` where none matches.
    pub id: String,
    /// Its text without the box, one line.
    pub text: String,
    /// Its Markdown line as a reviewer pastes it, box unchecked.
    pub paste: String,
    /// Its place, from 1: what "item N" in a sign-off means.
    pub position: i64,
    /// Whether it asks for a link to a workflow run ("please link").
    pub wants_run_link: bool,
    /// The line in the document.
    pub origin: Origin,
}

/// The sign-off held against the template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checklist {
    /// Items of the current template that the sign-off has, in template order.
    pub matched: Vec<MatchedItem>,
    /// Items of the current template that it lacks, in template order.
    pub missing: Vec<MissingItem>,
    /// Items that it has but does not check, in template order.
    pub unchecked: Vec<UncheckedItem>,
    /// Which template it was posted with.
    pub stale: Staleness,
}

/// One item that both have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatchedItem {
    /// The item's id.
    pub id: String,
    /// The template's text, shortened to a line.
    pub text: String,
    /// Whether the sign-off checks it.
    pub checked: bool,
    /// Where the details explain it; `null` where they do not.
    pub explained: Option<Explanation>,
    /// Whether the template asks for a run link and the item and the details hold none.
    pub lacks_run_link: bool,
    /// Its line in the sign-off.
    pub origin: Origin,
}

/// One item that the sign-off lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingItem {
    /// The item's id.
    pub id: String,
    /// The template's text, shortened to a line.
    pub text: String,
    /// The line to paste.
    pub paste: String,
    /// Whether the template in force when the sign-off was posted had it; `null` where unknown.
    pub in_posted_template: Option<bool>,
    /// Its line in the template.
    pub origin: Origin,
}

/// One item that is there but not checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UncheckedItem {
    /// The item's id.
    pub id: String,
    /// The template's text, shortened to a line.
    pub text: String,
    /// What its box is.
    pub state: ItemState,
    /// The box as it was typed.
    pub typed: String,
    /// Where the details explain it; `null` where they do not.
    pub explained: Option<Explanation>,
    /// The line to paste once it is true.
    pub paste: String,
    /// 1-based line in the sign-off.
    pub line: i64,
    /// 1-based column of the box.
    pub column: i64,
    /// Its line in the sign-off.
    pub origin: Origin,
}

/// The sentence or bullet of the details that explains an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The first [`crate::limits::QUOTE_CHARS`] characters of it.
    pub quote: String,
    /// Where it stands.
    pub origin: Origin,
}

/// Which template the sign-off was posted with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Staleness {
    /// Whether the template in force when the sign-off was posted has other items than the current.
    pub is_stale: bool,
    /// The last commit of the template before the sign-off was posted; `null` where not known.
    pub posted_with: Option<String>,
    /// The last commit that changed the template, `null` where not known.
    pub current: Option<String>,
    /// When that commit was made, RFC 3339; `null` where not known.
    pub changed_at: Option<String>,
    /// Ids of the items that the current template has and the earlier one had not.
    pub added: Vec<String>,
    /// Ids of the items that the earlier template had and the current one has not.
    pub removed: Vec<String>,
}
