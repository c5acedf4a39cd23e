//! Replies that are kept between verifications.
//!
//! What can never change is kept by its key; for the rest each page is kept with its ETag and asked
//! for again, which costs nothing of the hourly budget where it has not changed. Only complete 200s
//! are kept: a 404 may be a permission that is missing, or a commit that GitHub does not show yet.
//!
//! Everything is kept for one identity (an installation, a token), so that a reply of a private
//! repository is never given to somebody who may not read it. An installation that loses a
//! repository stops at the mutable reads, which every verification begins with.

use bytes::Bytes;

use super::{ReadKey, Reply};
use crate::limits::CACHE_BYTES;

/// What one entry weighs beside its body: key, headers and the cache's own bookkeeping.
const ENTRY_BYTES: usize = 512;

/// A bounded cache, shared by all verifications of a process.
#[derive(Debug)]
pub struct Cache {
    replies: moka::future::Cache<(String, ReadKey), Reply>,
    pages: moka::future::Cache<PageKey, Page>,
}

/// One request as GitHub tells them apart: identity, route and `Accept`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PageKey {
    pub(super) identity: String,
    pub(super) route: String,
    pub(super) accept: &'static str,
}

/// A complete 200 with its ETag.
#[derive(Debug, Clone)]
pub(super) struct Page {
    pub(super) etag: String,
    pub(super) link: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) body: Bytes,
}

impl Default for Cache {
    fn default() -> Self {
        Self::new()
    }
}

impl Cache {
    /// An empty cache of [`CACHE_BYTES`].
    pub fn new() -> Self {
        Self::of_bytes(CACHE_BYTES)
    }

    /// An empty cache of that many bytes, half for what never changes and half for the rest.
    pub fn of_bytes(bytes: u64) -> Self {
        let weight = |length: usize| u32::try_from(length + ENTRY_BYTES).unwrap_or(u32::MAX);
        Self {
            replies: moka::future::Cache::builder()
                .max_capacity(bytes / 2)
                .weigher(move |_, reply: &Reply| weight(reply.body.len()))
                .build(),
            pages: moka::future::Cache::builder()
                .max_capacity(bytes / 2)
                .weigher(move |_, page: &Page| weight(page.body.len()))
                .build(),
        }
    }

    pub(super) fn holds(&self, identity: &str, key: &ReadKey) -> bool {
        key.immutable() && self.replies.contains_key(&(identity.to_owned(), key.clone()))
    }

    pub(super) async fn reply(&self, identity: &str, key: &ReadKey) -> Option<Reply> {
        if !key.immutable() {
            return None;
        }
        self.replies.get(&(identity.to_owned(), key.clone())).await
    }

    /// Keeps a reply where it can never change.
    pub(super) async fn keep_reply(&self, identity: &str, key: &ReadKey, reply: &Reply) {
        if key.immutable() && reply.status == 200 {
            self.replies.insert((identity.to_owned(), key.clone()), reply.clone()).await;
        }
    }

    pub(super) async fn page(&self, key: &PageKey) -> Option<Page> {
        self.pages.get(key).await
    }

    pub(super) async fn keep_page(&self, key: PageKey, page: Page) {
        self.pages.insert(key, page).await;
    }
}
