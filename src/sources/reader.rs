//! What one verification reads with: every key at most once, every reply typed.
//!
//! A reader belongs to one verification. It keeps each reply that was asked for, so that those who
//! ask for the same key at the same time share one read, the record holds what the verdict saw, and
//! `--timings` can show how deep the reads stood in one another.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::AbortHandle;

use super::types::{
    self, CheckRun, CodeownersError, CodeownersErrorsWire, Commit, Compare, Edit, File, Grants,
    GrantsWire, History, Job, Permission, Posted, PostedWire, Pull, Run, TeamMember, Tips,
};
use super::{ReadError, ReadKey, Reply, RepoName, Source};
use crate::facts::SignOffKind;
use crate::limits::BODY_BYTES;

type Outcome = Result<Reply, ReadError>;

/// When one key was read, for `--timings`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// The key as it is written in a record.
    pub key: String,
    /// Milliseconds from the reader's start to the start of the read.
    pub started_ms: u64,
    /// Milliseconds from the reader's start to its end.
    pub ended_ms: u64,
    /// What answered.
    pub from: ReadFrom,
    /// The round it stood in: one more than the highest round of the network reads that had ended
    /// before it began. What was held needs no round; it shows how many had gone before.
    pub round: u32,
    /// How often it was asked for; all but the first were answered from memory.
    pub asked: u32,
}

/// What answered a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadFrom {
    /// A request, perhaps answered by "not modified".
    Network,
    /// A cache, a clone or a record: nothing was sent.
    Held,
}

/// Reads for one verification.
pub struct Reader {
    source: Arc<dyn Source>,
    began: Instant,
    memory: Arc<Mutex<Memory>>,
}

#[derive(Default)]
struct Memory {
    reads: BTreeMap<ReadKey, Read>,
    rounds_ended: u32,
}

struct Read {
    outcome: Shared<BoxFuture<'static, Outcome>>,
    task: AbortHandle,
    from: ReadFrom,
    round: u32,
    asked: u32,
    started_ms: u64,
    /// The outcome again, and when it came, once it is there.
    ended: Option<(u64, Outcome)>,
}

impl Drop for Read {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("reads", &lock(&self.memory).reads.len()).finish()
    }
}

fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    // Whoever panicked left plain data behind, whole at every step.
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reader {
    /// A reader that has read nothing yet.
    pub fn new(source: Arc<dyn Source>) -> Self {
        Self { source, began: Instant::now(), memory: Arc::default() }
    }

    /// Reads one key: the first asker starts the read, later ones share it. A read that was started
    /// goes on when its asker is dropped, so that another one can still have it.
    ///
    /// # Errors
    /// As the source says.
    pub async fn read(&self, key: &ReadKey) -> Result<Reply, ReadError> {
        let outcome = {
            let mut memory = lock(&self.memory);
            let read = self.start(&mut memory, key);
            read.asked += 1;
            read.outcome.clone()
        };
        outcome.await
    }

    /// Starts reading keys that will probably be asked for, without waiting. What nobody asks for
    /// afterwards is neither in [`Reader::record`] nor in [`Reader::keys_read`].
    pub fn read_ahead(&self, keys: impl IntoIterator<Item = ReadKey>) {
        let mut memory = lock(&self.memory);
        for key in keys {
            self.start(&mut memory, &key);
        }
    }

    fn start<'m>(&self, memory: &'m mut Memory, key: &ReadKey) -> &'m mut Read {
        let rounds_ended = memory.rounds_ended;
        memory.reads.entry(key.clone()).or_insert_with(|| {
            let from = if self.source.holds(key) { ReadFrom::Held } else { ReadFrom::Network };
            let round = rounds_ended + u32::from(from == ReadFrom::Network);
            let began = self.began;
            let started_ms = millis(began);
            let (source, shared, owned) =
                (Arc::clone(&self.source), Arc::downgrade(&self.memory), key.clone());
            let task = tokio::spawn(async move {
                let outcome = source.read(&owned).await;
                if let Some(memory) = shared.upgrade() {
                    let mut memory = lock(&memory);
                    if from == ReadFrom::Network {
                        memory.rounds_ended = memory.rounds_ended.max(round);
                    }
                    if let Some(read) = memory.reads.get_mut(&owned) {
                        read.ended = Some((millis(began), outcome.clone()));
                    }
                }
                outcome
            });
            let abort = task.abort_handle();
            let what = key.to_string();
            let outcome = async move {
                task.await.unwrap_or_else(|error| {
                    Err(ReadError::Unavailable {
                        what,
                        reason: format!("the read broke off: {error}"),
                    })
                })
            };
            Read {
                outcome: outcome.boxed().shared(),
                task: abort,
                from,
                round,
                asked: 0,
                started_ms,
                ended: None,
            }
        })
    }

    /// The mutable keys that were asked for, in order: what a later verification of the same
    /// sign-off may read ahead.
    pub fn keys_read(&self) -> Vec<ReadKey> {
        lock(&self.memory)
            .reads
            .iter()
            .filter(|(key, read)| read.asked > 0 && !key.immutable())
            .filter(|(key, _)| !matches!(key, ReadKey::PullAtEnd { .. }))
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Everything that was asked for and has been answered, for the record.
    pub fn record(&self) -> Vec<(ReadKey, Result<Reply, ReadError>)> {
        lock(&self.memory)
            .reads
            .iter()
            .filter(|(_, read)| read.asked > 0)
            .filter_map(|(key, read)| Some((key.clone(), read.ended.as_ref()?.1.clone())))
            .collect()
    }

    /// When everything was read that was asked for, in the order in which the reads began.
    pub fn timings(&self) -> Vec<Timing> {
        let memory = lock(&self.memory);
        let mut timings: Vec<_> = memory
            .reads
            .iter()
            .filter(|(_, read)| read.asked > 0)
            .filter_map(|(key, read)| {
                Some(Timing {
                    key: key.to_string(),
                    started_ms: read.started_ms,
                    ended_ms: read.ended.as_ref()?.0,
                    from: read.from,
                    round: read.round,
                    asked: read.asked,
                })
            })
            .collect();
        timings.sort_by(|a, b| (a.started_ms, &a.key).cmp(&(b.started_ms, &b.key)));
        timings
    }

    // --- typed reads; a 404 or 410 is `None` -------------------------------

    /// The pull request.
    ///
    /// # Errors
    /// As the source says, or [`ReadError::Malformed`]; so for all typed reads.
    pub async fn pull(&self, repo: &RepoName, number: i64) -> Result<Option<Pull>, ReadError> {
        self.typed(ReadKey::Pull { repo: repo.clone(), number }).await
    }

    /// The head of the pull request when everything else was read.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn head_at_end(
        &self,
        repo: &RepoName,
        number: i64,
    ) -> Result<Option<String>, ReadError> {
        let pull: Option<Pull> =
            self.typed(ReadKey::PullAtEnd { repo: repo.clone(), number }).await?;
        Ok(pull.map(|pull| pull.head_sha))
    }

    /// The tips of default branch, target branch and pull request.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn tips(&self, repo: &RepoName, number: i64) -> Result<Option<Tips>, ReadError> {
        self.typed(ReadKey::Tips { repo: repo.clone(), number }).await
    }

    /// Its commits, oldest first.
    ///
    /// # Errors
    /// As for [`Reader::pull`]; [`ReadError::TooLarge`] where GitHub may have cut the list.
    pub async fn pull_commits(
        &self,
        repo: &RepoName,
        number: i64,
    ) -> Result<Option<Vec<Commit>>, ReadError> {
        self.typed(ReadKey::PullCommits { repo: repo.clone(), number }).await
    }

    /// Its changed files.
    ///
    /// # Errors
    /// As for [`Reader::pull`]; [`ReadError::TooLarge`] where GitHub may have cut the list.
    pub async fn pull_files(
        &self,
        repo: &RepoName,
        number: i64,
    ) -> Result<Option<Vec<File>>, ReadError> {
        self.typed(ReadKey::PullFiles { repo: repo.clone(), number }).await
    }

    /// The comments of its conversation, oldest first.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn issue_comments(
        &self,
        repo: &RepoName,
        number: i64,
    ) -> Result<Option<Vec<Posted>>, ReadError> {
        let key = ReadKey::IssueComments { repo: repo.clone(), number };
        self.posted(key, SignOffKind::IssueComment).await
    }

    /// Its reviews, oldest first.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn reviews(
        &self,
        repo: &RepoName,
        number: i64,
    ) -> Result<Option<Vec<Posted>>, ReadError> {
        self.posted(ReadKey::Reviews { repo: repo.clone(), number }, SignOffKind::Review).await
    }

    /// The comments on lines of its diff, oldest first.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn review_comments(
        &self,
        repo: &RepoName,
        number: i64,
    ) -> Result<Option<Vec<Posted>>, ReadError> {
        let key = ReadKey::ReviewComments { repo: repo.clone(), number };
        self.posted(key, SignOffKind::ReviewComment).await
    }

    /// The last edit of each text, by GraphQL id; what is gone is not in it.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn edits(
        &self,
        repo: &RepoName,
        ids: impl IntoIterator<Item = String>,
    ) -> Result<BTreeMap<String, Edit>, ReadError> {
        let mut ids: Vec<_> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let edits: Option<Vec<Option<Edit>>> =
            self.typed(ReadKey::Edits { repo: repo.clone(), ids }).await?;
        let edits = edits.unwrap_or_default().into_iter().flatten();
        Ok(edits.map(|edit| (edit.id.clone(), edit)).collect())
    }

    /// Two commits compared.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn compare(
        &self,
        repo: &RepoName,
        base: &str,
        head: &str,
    ) -> Result<Option<Compare>, ReadError> {
        let (base, head) = (base.to_owned(), head.to_owned());
        self.typed(ReadKey::Compare { repo: repo.clone(), base, head }).await
    }

    /// A file's bytes at a commit; `None` where no file is there.
    ///
    /// # Errors
    /// As the source says.
    pub async fn file(
        &self,
        repo: &RepoName,
        commit: &str,
        path: &str,
    ) -> Result<Option<Bytes>, ReadError> {
        let (commit, path) = (commit.to_owned(), path.to_owned());
        let reply = self.read(&ReadKey::File { repo: repo.clone(), commit, path }).await?;
        Ok((reply.status == 200).then_some(reply.body))
    }

    /// The last commit at or before a time that touched a path; `until` is RFC 3339.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn history(
        &self,
        repo: &RepoName,
        from: &str,
        path: &str,
        until: Option<&str>,
    ) -> Result<Option<History>, ReadError> {
        let key = ReadKey::History {
            repo: repo.clone(),
            from: from.to_owned(),
            path: path.to_owned(),
            until: until.map(str::to_owned),
        };
        let commits: Option<Vec<History>> = self.typed(key).await?;
        Ok(commits.and_then(|commits| commits.into_iter().next()))
    }

    /// All check runs at a commit, also those that a later one of the same name replaced.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn check_runs(
        &self,
        repo: &RepoName,
        commit: &str,
    ) -> Result<Option<Vec<CheckRun>>, ReadError> {
        self.typed(ReadKey::CheckRuns { repo: repo.clone(), commit: commit.to_owned() }).await
    }

    /// A workflow run.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn run(&self, repo: &RepoName, id: i64) -> Result<Option<Run>, ReadError> {
        self.typed(ReadKey::Run { repo: repo.clone(), id }).await
    }

    /// The jobs of all attempts of a run, as it stands.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn jobs(&self, repo: &RepoName, run: &Run) -> Result<Option<Vec<Job>>, ReadError> {
        let completed = run.status == "completed";
        let key = ReadKey::Jobs { repo: repo.clone(), id: run.id, attempt: run.attempt, completed };
        self.typed(key).await
    }

    /// What an account may do in the repository; `None` where there is no such account.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn permission(
        &self,
        repo: &RepoName,
        login: &str,
    ) -> Result<Option<Permission>, ReadError> {
        self.typed(ReadKey::Permission { repo: repo.clone(), login: login.to_lowercase() }).await
    }

    /// Whether an account is in a team; `None` where it is not, or there is no such team.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn team_member(
        &self,
        repo: &RepoName,
        org: &str,
        team: &str,
        login: &str,
    ) -> Result<Option<TeamMember>, ReadError> {
        let key = ReadKey::TeamMember {
            repo: repo.clone(),
            org: org.to_owned(),
            team: team.to_owned(),
            login: login.to_lowercase(),
        };
        self.typed(key).await
    }

    /// The lines of CODEOWNERS that GitHub cannot read; `None` where there is no such file.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn codeowners_errors(
        &self,
        repo: &RepoName,
        commit: &str,
    ) -> Result<Option<Vec<CodeownersError>>, ReadError> {
        let key = ReadKey::CodeownersErrors { repo: repo.clone(), commit: commit.to_owned() };
        let errors: Option<CodeownersErrorsWire> = self.typed(key).await?;
        Ok(errors.map(|wire| wire.errors))
    }

    /// What our installation may do; `None` where we are none.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn grants(&self, repo: &RepoName) -> Result<Option<Grants>, ReadError> {
        let grants: Option<GrantsWire> = self.typed(ReadKey::Grants { repo: repo.clone() }).await?;
        Ok(grants.map(|wire| wire.permissions))
    }

    async fn typed<T: DeserializeOwned>(&self, key: ReadKey) -> Result<Option<T>, ReadError> {
        let reply = self.read(&key).await?;
        if reply.status != 200 {
            return Ok(None);
        }
        types::parse(&reply.body)
            .map(Some)
            .map_err(|reason| ReadError::Malformed { what: key.to_string(), reason })
    }

    async fn posted(
        &self,
        key: ReadKey,
        kind: SignOffKind,
    ) -> Result<Option<Vec<Posted>>, ReadError> {
        let what = key.to_string();
        let Some(wires) = self.typed::<Vec<PostedWire>>(key).await? else { return Ok(None) };
        let posted = wires.into_iter().map(|wire| wire.into_posted(kind));
        posted.collect::<Result<_, _>>().map(Some).map_err(|(id, _)| ReadError::TooLarge {
            what: format!("{what}: text of {id}"),
            bound: format!("{BODY_BYTES} bytes"),
        })
    }
}

fn millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
