//! The reader's typed questions; a 404 or 410 is `None`.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::super::outside::MANIFEST_DIGEST;
use super::super::types::{
    CheckRun, CodeownersError, Commit, Compare, Edit, File, Grants, History, Job, Manifest,
    Permission, Posted, Pull, Run, Status, TeamMember, Tips, TreeFile,
};
use super::super::wire::{self, CodeownersErrorsWire, GrantsWire, PostedWire};
use super::super::{ReadError, ReadKey, RepoName};
use super::Reader;
use crate::facts::SignOffKind;
use crate::limits::BODY_BYTES;

impl Reader {
    /// What a container registry holds under a tag or digest; the parts are those of the whole only.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn manifest(
        &self,
        repo: &RepoName,
        host: &str,
        name: &str,
        reference: &str,
        whole: bool,
    ) -> Result<Option<Manifest>, ReadError> {
        let key = ReadKey::Manifest {
            repo: repo.clone(),
            host: host.to_owned(),
            name: name.to_owned(),
            reference: reference.to_owned(),
            whole,
        };
        let reply = self.read(&key).await?;
        if reply.status != 200 {
            return Ok(None);
        }
        let malformed = |reason: String| ReadError::Malformed { what: key.to_string(), reason };
        let digest = reply.headers.get(MANIFEST_DIGEST);
        let digest = digest.ok_or_else(|| malformed("it names no digest".to_owned()))?.clone();
        let parts = if whole {
            let index: wire::IndexWire = wire::parse(&reply.body).map_err(malformed)?;
            index.manifests.into_iter().map(|part| part.digest).collect()
        } else {
            Vec::new()
        };
        Ok(Some(Manifest { digest, parts }))
    }

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

    /// Every file of a commit, in the order of the paths.
    ///
    /// # Errors
    /// As for [`Reader::pull`]; [`ReadError::TooLarge`] where GitHub has cut the list.
    pub async fn tree(
        &self,
        repo: &RepoName,
        commit: &str,
    ) -> Result<Option<Vec<TreeFile>>, ReadError> {
        self.typed(ReadKey::Tree { repo: repo.clone(), commit: commit.to_owned() }).await
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

    /// The newest commit status of each context at a commit.
    ///
    /// # Errors
    /// As for [`Reader::pull`].
    pub async fn statuses(
        &self,
        repo: &RepoName,
        commit: &str,
    ) -> Result<Option<Vec<Status>>, ReadError> {
        self.typed(ReadKey::Statuses { repo: repo.clone(), commit: commit.to_owned() }).await
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
        wire::parse(&reply.body)
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
