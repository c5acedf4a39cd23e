//! Accounts, teams and code ownership.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Origin;

/// Roles and memberships that were looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct People {
    /// The signer's login as GitHub spells it.
    pub signer: String,
    /// Every account whose role was asked for, by login in lower case.
    pub accounts: Vec<Account>,
    /// Every membership that was asked for, by team and login.
    pub memberships: Vec<Membership>,
}

/// One account and what it may do in the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    /// Login as GitHub spells it.
    pub login: String,
    /// Whether it is an app or a bot account.
    pub bot: bool,
    /// `admin`, `write`, `read` or `none`: GitHub's legacy base permission.
    pub permission: String,
    /// The role's name (`admin`, `maintain`, `write`, `triage`, `read`, a custom role, or empty).
    pub role: String,
    /// Whether both of them are `admin`.
    pub admin: bool,
}

/// Whether one account is in one team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Membership {
    /// `@org/team` as CODEOWNERS writes it.
    pub team: String,
    /// The account.
    pub login: String,
    /// `member`, `not_member`, `unreadable`, or `offline` where a local run did not ask.
    pub state: String,
    /// What GitHub said where it is unreadable.
    pub reason: Option<String>,
}

/// Who owns what the pull request changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Owners {
    /// The signer.
    pub signer: String,
    /// Path of the CODEOWNERS file at the tip of the target branch.
    pub file: String,
    /// One a changed path (old and new path of a rename), by path.
    pub paths: Vec<OwnedPath>,
    /// Whether the signer stands anywhere in the file, by login or by a readable team.
    pub signer_listed: bool,
    /// Whether the signer stands on a line that matches some changed path by login.
    pub signer_listed_on_match: bool,
    /// GitHub's legacy base permission of the signer (`admin`, `write`, `read` or `none`); null where
    /// nobody could be asked, in a local run.
    pub signer_permission: Option<String>,
    /// Whether a sign-off is required at all.
    pub scope: Scope,
    /// Lines that GitHub or we could not read, as text.
    pub errors: Vec<String>,
    /// The CODEOWNERS file.
    pub origin: Origin,
}

/// The ownership of one changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnedPath {
    /// The path.
    pub path: String,
    /// The pattern of the last matching line; empty where none matches.
    pub pattern: String,
    /// 1-based number of that line; 0 where none matches.
    pub line: i64,
    /// The owners on it, as written.
    pub owners: Vec<String>,
    /// Whether everybody who is listed may sign for it: the pattern is `*`, and the profile says so.
    pub catch_all: bool,
    /// Whether the signer is one of them, by login or by a confirmed membership.
    pub signer_owns: bool,
    /// Whether only an unreadable team stands between the signer and ownership.
    pub undecidable: bool,
    /// The line in CODEOWNERS.
    pub origin: Origin,
}

/// The scope gate: whether the pull request needs a sign-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    /// Whether some owner remains who is neither of an exempt team nor an administrator, or the
    /// question could not be settled (it then fails closed).
    pub required: bool,
    /// Paths with the owners that remain, by path.
    pub remaining: Vec<Remaining>,
    /// Why it failed closed, where it did.
    pub closed_because: Option<String>,
}

/// One path with the owners that remain after the exemptions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remaining {
    /// The path.
    pub path: String,
    /// The owners, as written.
    pub owners: Vec<String>,
}
