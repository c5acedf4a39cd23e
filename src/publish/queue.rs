//! The merge queue: which heads a commit of it holds.

use serde::Deserialize;
use serde_json::json;

use super::{PublishError, Publisher};
use crate::github::ApiError;
use crate::sources::RepoName;

/// The first entries of a queue; GitHub lets no more than 100 build at once.
const QUEUE: &str = "query MergeQueue($owner:String!,$name:String!,$branch:String!){\
    repository(owner:$owner,name:$name){mergeQueue(branch:$branch){entries(first:100){nodes{\
    position headCommit{oid} pullRequest{number headRefOid}}}}}}";

/// A pull request that stands in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedPull {
    /// Its number.
    pub number: i64,
    /// Its head, 40 hex digits.
    pub head: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    position: i64,
    head_commit: Option<Oid>,
    pull_request: Option<PullRequest>,
}

#[derive(Deserialize)]
struct Oid {
    oid: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullRequest {
    number: i64,
    head_ref_oid: String,
}

impl Publisher {
    /// The pull requests that a commit of the queue holds: its own, and those that stand before it.
    /// Empty where the queue no longer has that commit.
    ///
    /// # Errors
    /// [`PublishError::Api`] where GitHub does not answer or lets us not.
    pub async fn queued(
        &self,
        repo: &RepoName,
        branch: &str,
        commit: &str,
    ) -> Result<Vec<QueuedPull>, PublishError> {
        let variables = json!({ "owner": repo.owner(), "name": repo.name(), "branch": branch });
        let failed =
            |error| PublishError::Api { what: "reading the merge queue".to_owned(), error };
        let data = self.client.graphql(QUEUE, variables).await.map_err(failed)?;
        let nodes = &data["repository"]["mergeQueue"]["entries"]["nodes"];
        if nodes.is_null() {
            return Ok(Vec::new());
        }
        let mut entries: Vec<Entry> = serde_json::from_value(nodes.clone())
            .map_err(|error| failed(ApiError::Malformed(error.to_string())))?;
        entries.sort_by_key(|entry| entry.position);
        let is_it = |entry: &Entry| entry.head_commit.as_ref().is_some_and(|c| c.oid == commit);
        let Some(last) = entries.iter().position(is_it) else { return Ok(Vec::new()) };
        let pulls = entries.into_iter().take(last + 1).filter_map(|entry| entry.pull_request);
        Ok(pulls.map(|pull| QueuedPull { number: pull.number, head: pull.head_ref_oid }).collect())
    }
}
