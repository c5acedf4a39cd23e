//! `pr`: the pull request at the assessed commit, and the commits and files that others build on.

use super::in_order::in_order;
use super::{Context, missing};
use crate::facts::{ChangedFile, CommitRef, Missing, Origin, OriginKind, Pr};
use crate::sources::ReadError;
use crate::sources::types::{Commit, Compare, File, Pull, Tips};

/// The pull request as GitHub describes it now.
pub(super) async fn pull(context: &Context<'_>) -> Result<Pull, Missing> {
    context.reader.pull(context.repo, context.number).await.map_err(missing)?.ok_or_else(|| {
        Missing::ours(format!(
            "pull request {}#{} does not exist, or we may not see it",
            context.repo, context.number
        ))
    })
}

/// The tips of the branches, read once and pinned.
pub(super) async fn tips(context: &Context<'_>) -> Result<Tips, Missing> {
    context
        .reader
        .tips(context.repo, context.number)
        .await
        .map_err(missing)?
        .ok_or_else(|| Missing::ours(format!("the branches of {} could not be read", context.repo)))
}

/// The pinned tip of the target branch: CODEOWNERS is read here and the diff is taken against it. Of a
/// merged pull request it is the commit that GitHub holds for it: the tip has its changes already.
pub(super) async fn base(context: &Context<'_>) -> Result<String, Missing> {
    let (pull, tips) = in_order!(pull(context), tips(context))?;
    if pull.merged {
        return Ok(pull.base_sha);
    }
    tips.base_sha.ok_or_else(|| {
        Missing::submission(format!("the target branch {} does not exist any more", tips.base_ref))
            .with_fix("Point the pull request at a branch that exists.")
    })
}

/// The three-dot comparison of the target's tip and the assessed commit, pinned by both.
pub(super) async fn comparison(context: &Context<'_>) -> Result<Compare, Missing> {
    let (pull, base) = in_order!(pull(context), base(context))?;
    context
        .reader
        .compare(context.repo, &base, &pull.head_sha)
        .await
        .map_err(missing)?
        .ok_or_else(|| Missing::ours("the assessed commit is not in the repository any more"))
}

/// The commits of the pull request, oldest first, the assessed commit last.
///
/// The list is read beside the pull request, so that a round is saved; where the head moved between
/// the two reads it does not end in the assessed commit, and the pinned comparison decides.
pub(super) async fn commits(context: &Context<'_>) -> Result<Vec<String>, Missing> {
    let listed = async {
        match context.reader.pull_commits(context.repo, context.number).await {
            // GitHub lists so many and no more; the comparison has them all.
            Err(ReadError::TooLarge { .. }) => Ok(None),
            listed => listed.map_err(missing),
        }
    };
    let (pull, listed) = in_order!(pull(context), listed)?;
    let shas = |commits: Vec<Commit>| commits.into_iter().map(|commit| commit.sha).collect();
    match listed {
        Some(listed) if listed.last().is_some_and(|last| last.sha == pull.head_sha) => {
            Ok(shas(listed))
        }
        _ => Ok(shas(comparison(context).await?.commits)),
    }
}

/// The changed files, by path. Pinned by the comparison up to its cap; past it, GitHub's list for
/// the pull request has to be as long as GitHub says that it is.
pub(super) async fn files(context: &Context<'_>) -> Result<Vec<File>, Missing> {
    let (pull, comparison) = in_order!(pull(context), comparison(context))?;
    let cut = comparison.files_cut();
    let mut files = comparison.files;
    if cut {
        let listed = context.reader.pull_files(context.repo, context.number).await;
        files = listed.map_err(missing)?.unwrap_or_default();
        if files.len() as i64 != pull.changed_files {
            return Err(Missing::ours(format!(
                "GitHub lists {} changed files and counts {}; the pull request moved while it was read",
                files.len(),
                pull.changed_files
            )));
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The repository's page, from the pull request's own; in local mode, where GitHub has it.
pub(super) fn web(context: &Context<'_>, pull: &Pull) -> String {
    match pull.html_url.rsplit_once("/pull/") {
        Some((web, _)) => web.to_owned(),
        None => format!("https://github.com/{}", context.repo),
    }
}

/// The fact.
pub(super) async fn pr(context: &Context<'_>) -> Result<Pr, Missing> {
    let (pull, tips, base_sha, comparison, commits, files) = in_order!(
        pull(context),
        tips(context),
        base(context),
        comparison(context),
        commits(context),
        files(context)
    )?;
    let web = web(context, &pull);
    let page = |kind, url: String| Origin::new(kind).at_url(url);
    let files = files.into_iter().map(|file| changed_file(context, &pull, file)).collect();
    let commits = commits
        .into_iter()
        .map(|sha| CommitRef {
            origin: Origin {
                commit: Some(sha.clone()),
                ..page(OriginKind::Commit, format!("{web}/commit/{sha}"))
            },
            sha,
        })
        .collect();
    let mut labels = pull.labels;
    labels.sort();
    Ok(Pr {
        repository: context.repo.to_string(),
        number: context.number,
        origin: page(OriginKind::PullRequest, pull.html_url),
        title: pull.title,
        body: pull.body,
        author: pull.author,
        state: if pull.merged { "merged".to_owned() } else { pull.state },
        draft: pull.draft,
        labels,
        base_ref: tips.base_ref,
        base_sha,
        head_sha: pull.head_sha,
        merge_base: comparison.merge_base,
        default_branch: tips.default_branch,
        default_sha: tips.default_sha,
        commits,
        files,
    })
}

fn changed_file(context: &Context<'_>, pull: &Pull, file: File) -> ChangedFile {
    let paths = [Some(file.path.as_str()), file.previous_path.as_deref()];
    let groups = context.profile.groups.of(paths.into_iter().flatten());
    // GitHub anchors a file of the diff by the SHA-256 of its path.
    let anchor = crate::facts::sha256_hex(file.path.as_bytes());
    let mut origin =
        Origin::new(OriginKind::Diff).at_url(format!("{}/files#diff-{anchor}", pull.html_url));
    origin.path = Some(file.path.clone());
    origin.commit = Some(pull.head_sha.clone());
    ChangedFile {
        path: file.path,
        previous_path: file.previous_path,
        status: file.status,
        additions: file.additions,
        deletions: file.deletions,
        groups,
        origin,
    }
}
