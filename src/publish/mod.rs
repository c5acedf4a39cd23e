//! The only writer: check run, commit status, verdict comment.
//!
//! Every operation can be repeated: it looks for what an earlier try left before it writes, by
//! `external_id` for a check run and by the hidden first line of a comment that we wrote ourselves.
//! A write is sent once; where its answer is lost, we look whether it worked and never send it
//! again in the same breath. The check run, which is the gate, is written before the comment.
//!
//! There is no dry run here: who must not write builds no [`Publisher`].

mod api;
mod check_run;
mod comment;
mod identity;
mod queue;
mod standing;
mod twins;

use std::sync::Arc;

pub use api::{Api, PublishError};
pub use check_run::{CheckRun, VERIFY_AGAIN};
pub use comment::{Published, Written};
pub use identity::{AppIdentity, Identity};
pub use queue::QueuedPull;
pub use standing::{Conclusion, Standing, aggregate, standing_list};

use crate::sources::RepoName;

/// Where a verification is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The repository.
    pub repo: RepoName,
    /// GitHub's id of it, which a rename does not change.
    pub repository_id: i64,
    /// The pull request's number.
    pub number: i64,
    /// The assessed commit, 40 hex digits.
    pub head: String,
    /// The page of the full report, where a server runs.
    pub details_url: Option<String>,
}

/// Writes for one identity.
#[derive(Clone)]
pub struct Publisher {
    /// The client that carries the identity's credentials.
    pub client: Arc<dyn Api>,
    /// Who writes.
    pub identity: Identity,
    /// The name of the check run.
    pub check_name: String,
    /// The context of a commit status beside it; `None` for none.
    pub status_context: Option<String>,
}
