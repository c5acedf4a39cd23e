//! `signoff`, `template` and `checklist`: the sign-off, the current template, the one held against
//! the other.
//!
//! Ruling 2: the template on the default branch at verification time decides; the one in force when
//! the sign-off was posted is shown beside it.

use super::in_order::{all_in_order, in_order};
use super::{Context, missing, pr};
use crate::facts::{Checklist, Missing, Origin, SignOff, SignOffKind, Template, TemplateItem};
use crate::signoff::{self, Place, Versions};
use crate::sources::types::{Commit, Posted};

fn place(posted: &Posted) -> Place {
    match posted.kind {
        SignOffKind::File => Place::File { path: "sign-off".to_owned() },
        _ => Place::Comment { url: posted.html_url.clone() },
    }
}

/// The fact `signoff`.
pub(super) async fn signoff(context: &Context<'_>) -> Result<SignOff, Missing> {
    let Some(posted) = context.posted else { return Err(context.no_signoff.clone()) };
    let parsed = context
        .signoffs
        .parse(&posted.body, &place(posted))
        .map_err(|not| Missing::submission(format!("the comment is no sign-off: {not}")))?;
    Ok(parsed.into_fact(signoff::Posted {
        author: posted.author.clone(),
        kind: posted.kind,
        id: posted.id,
        created: posted.created.clone(),
        updated: posted.updated.clone(),
        edited_by: editor(context, posted).await?,
        reviewed_commit: match posted.kind {
            SignOffKind::Review => posted.commit.clone(),
            _ => None,
        },
    }))
}

/// Who edited it last. Always asked for: GitHub's `updated_at` moves for other reasons as well, and
/// within the second of the posting it does not move at all.
async fn editor(context: &Context<'_>, posted: &Posted) -> Result<Option<String>, Missing> {
    if posted.kind == SignOffKind::File {
        return Ok(None);
    }
    let edits = context.reader.edits(context.repo, [posted.node_id.clone()]).await;
    let edits = edits.map_err(missing)?;
    let edited = edits.get(&posted.node_id).filter(|edit| edit.last_edited_at.is_some());
    Ok(edited.map(|edit| edit.editor.clone().unwrap_or_else(|| "ghost".to_owned())))
}

/// The workflow runs that the sign-off links, with where it does.
pub(super) fn named_runs(context: &Context<'_>) -> Vec<(i64, Origin)> {
    let Some(posted) = context.posted else { return Vec::new() };
    let Ok(parsed) = context.signoffs.parse(&posted.body, &place(posted)) else {
        return Vec::new();
    };
    let in_items = parsed.items.iter().flat_map(|item| &item.links);
    let links = in_items.chain(&parsed.details.links);
    links
        .filter_map(|link| {
            let origin = Origin { line: Some(link.line), ..parsed.origin.clone() };
            Some((link.run_id?, origin.quoting(&link.url)))
        })
        .collect()
}

/// A version of the template document.
pub(super) struct Document {
    pub(super) path: String,
    pub(super) text: String,
}

/// The first candidate that exists at a commit.
async fn document(context: &Context<'_>, commit: &str) -> Result<Option<Document>, Missing> {
    let paths = &context.profile.settings.template.paths;
    let reads = paths.iter().map(|path| context.reader.file(context.repo, commit, path));
    let found = all_in_order(reads).await.map_err(missing)?;
    Ok(paths.iter().zip(found).find_map(|(path, bytes)| {
        let text = String::from_utf8_lossy(&bytes?).into_owned();
        Some(Document { path: path.clone(), text })
    }))
}

async fn items(
    context: &Context<'_>,
    document: &Document,
    commit: &str,
) -> Result<Vec<TemplateItem>, Missing> {
    let pull = pr::pull(context).await?;
    let place = Place::Repository {
        web: pr::web(context, &pull),
        commit: commit.to_owned(),
        path: document.path.clone(),
    };
    let heading = &context.profile.settings.template.heading;
    context.signoffs.parse_template(&document.text, heading, &place).map_err(|error| {
        Missing::submission(format!("{} at {commit}: {error}", document.path))
            .with_fix("Mend the checklist document on the default branch.")
    })
}

/// The current template document, at the tip of the default branch.
pub(super) async fn current(context: &Context<'_>) -> Result<(Document, String), Missing> {
    let tips = pr::tips(context).await?;
    let Some(document) = document(context, &tips.default_sha).await? else {
        let paths = context.profile.settings.template.paths.join(", ");
        return Err(Missing::submission(format!(
            "there is no checklist on {} (looked for {paths})",
            tips.default_branch
        ))
        .with_fix("Add the checklist document to the default branch, or correct the profile."));
    };
    Ok((document, tips.default_sha))
}

/// The fact `template`.
pub(super) async fn template(context: &Context<'_>) -> Result<Template, Missing> {
    let (pull, (document, commit)) = in_order!(pr::pull(context), current(context))?;
    let items = items(context, &document, &commit).await?;
    let unknown = items.iter().filter(|item| item.id.starts_with("item:")).cloned().collect();
    Ok(Template {
        origin: Origin::file(&pr::web(context, &pull), &commit, &document.path, None),
        path: document.path,
        commit,
        items,
        unknown_items: unknown,
    })
}

/// The fact `checklist`.
pub(super) async fn checklist(context: &Context<'_>) -> Result<Checklist, Missing> {
    let (signoff, template, (changed, posted)) =
        in_order!(signoff(context), template(context), history(context))?;
    let versions = Versions {
        posted: posted.as_ref().map(|(_, items)| items.as_slice()),
        posted_with: posted.as_ref().map(|(commit, _)| commit.clone()),
        current: changed.as_ref().map(|commit| commit.sha.clone()),
        changed_at: changed.map(|commit| commit.date),
    };
    Ok(context.signoffs.compare(&signoff, &template.items, versions))
}

type Earlier = (String, Vec<TemplateItem>);

/// The last commit that changed the template, and the template in force when the sign-off was
/// posted. Neither decides anything, so that what cannot be found is simply not shown.
async fn history(context: &Context<'_>) -> Result<(Option<Commit>, Option<Earlier>), Missing> {
    let (changed, posted) = in_order!(last_change(context, None), posted_with(context))?;
    Ok((changed, posted))
}

/// The newest commit, at or before a time, that touched one of the template's paths.
async fn last_change(
    context: &Context<'_>,
    until: Option<&str>,
) -> Result<Option<Commit>, Missing> {
    let tips = pr::tips(context).await?;
    let paths = &context.profile.settings.template.paths;
    let reads = paths
        .iter()
        .map(|path| context.reader.history(context.repo, &tips.default_sha, path, until));
    let found = all_in_order(reads).await.map_err(missing)?;
    Ok(found.into_iter().flatten().max_by(|a, b| a.date.cmp(&b.date)))
}

async fn posted_with(context: &Context<'_>) -> Result<Option<Earlier>, Missing> {
    let Some(posted) = context.posted.filter(|posted| !posted.created.is_empty()) else {
        return Ok(None);
    };
    let Some(commit) = last_change(context, Some(&posted.created)).await? else {
        return Ok(None);
    };
    let Some(document) = document(context, &commit.sha).await? else { return Ok(None) };
    // An earlier document of another shape is no fault of this sign-off.
    let items = items(context, &document, &commit.sha).await.ok();
    Ok(items.map(|items| (commit.sha, items)))
}
