//! All reading from outside, behind one question: what does this key hold?
//!
//! A [`ReadKey`] names a thing by its meaning (a file at a commit, the comments of a pull request),
//! not by the request that fetches it, so that the live API, a local clone and a record answer the
//! same questions. Recording sits outermost, above cache and retry.

pub mod cache;
pub mod git;
mod key;
pub mod live;
mod outside;
pub mod reader;
pub mod record;
mod route;
pub mod types;
mod wire;

pub use key::{ReadKey, RepoName};
pub use outside::Outside;
pub use reader::Reader;

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::future::BoxFuture;

/// What a key holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// 200, or 404/410 where the thing does not exist.
    pub status: u16,
    /// The headers that a reader may look at, lower-case names; never a token or a signed URL.
    pub headers: BTreeMap<String, String>,
    /// For lists: all pages as one JSON array. For files: the raw bytes. Else: the JSON object.
    pub body: Bytes,
}

/// Why a key could not be read. None of these says anything about the submission, but for
/// [`ReadError::TooLarge`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case", tag = "error")]
pub enum ReadError {
    /// Our installation or token may not read it.
    #[error("{what}: GitHub refused it; our token lacks `{permission}`")]
    Forbidden {
        /// What was read.
        what: String,
        /// The permission that is missing, e.g. `members:read`.
        permission: String,
    },
    /// GitHub's rate limit.
    #[error("{what}: GitHub's rate limit is used up until {until}")]
    RateLimited {
        /// What was read.
        what: String,
        /// RFC 3339.
        until: String,
    },
    /// 5xx, timeouts, broken connections, truncated bodies, after the last try.
    #[error("{what}: {reason}")]
    Unavailable {
        /// What was read.
        what: String,
        /// What went wrong.
        reason: String,
    },
    /// A reply that is not what GitHub documents.
    #[error("{what}: the reply could not be read: {reason}")]
    Malformed {
        /// What was read.
        what: String,
        /// Where and why.
        reason: String,
    },
    /// Not asked for in local mode.
    #[error("{what}: not available offline")]
    Offline {
        /// What was to be read.
        what: String,
    },
    /// Past a bound of `limits.rs`.
    #[error("{what}: more than {bound}")]
    TooLarge {
        /// What was read.
        what: String,
        /// The bound, with its unit.
        bound: String,
    },
    /// The record that is replayed does not hold it.
    #[error("the record does not hold `{what}`")]
    NotRecorded {
        /// The key.
        what: String,
    },
}

impl ReadError {
    /// What went wrong, without what was to be read.
    pub fn reason(&self) -> &str {
        match self {
            Self::Forbidden { permission, .. } => permission,
            Self::RateLimited { .. } => "the rate limit is used up",
            Self::Unavailable { reason, .. } | Self::Malformed { reason, .. } => reason,
            Self::Offline { .. } => "not available offline",
            Self::TooLarge { bound, .. } => bound,
            Self::NotRecorded { .. } => "not in the record that is replayed",
        }
    }
}

/// A place that things are read from: the live API, a local clone, a record.
pub trait Source: Send + Sync {
    /// Reads one key. 404 and 410 are replies, everything else that fails is an error.
    fn read<'a>(&'a self, key: &'a ReadKey) -> BoxFuture<'a, Result<Reply, ReadError>>;

    /// Whether it would answer this key without asking anybody.
    fn holds(&self, _key: &ReadKey) -> bool {
        false
    }
}
