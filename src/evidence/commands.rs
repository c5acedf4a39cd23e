//! `reuse` and `overrides`: whole-line commands in conversation comments.
//!
//! `checks.md`, check 4: within a comment the last matching line counts, across comments the newest
//! authorised one wins. Exceptions: `design`, "Overrides": an account whose permission and role are
//! both `admin`; the comment of a person, in that person's own words.

use std::collections::{BTreeMap, BTreeSet};

use super::accounts::account;
use super::in_order::{all_in_order, in_order};
use super::{Context, missing, pr};
use crate::facts::{Account, Missing, Origin, OriginKind, OverrideCommand, Reuse, ReuseCommand};
use crate::limits;
use crate::signoff::{OverrideLine, override_lines, reuse_lines};
use crate::sources::types::Posted;

/// Conversation comments that people wrote, oldest first.
async fn comments(context: &Context<'_>) -> Result<Vec<Posted>, Missing> {
    let comments =
        context.reader.issue_comments(context.repo, context.number).await.map_err(missing)?;
    let mut comments = comments.unwrap_or_default();
    comments.retain(|comment| !comment.author_is_bot && comment.app.is_none());
    comments.sort_by(|a, b| (&a.created, a.id).cmp(&(&b.created, b.id)));
    Ok(comments)
}

/// How many command lines of each account are read: what one account writes must not keep
/// anybody else's from being read.
#[derive(Default)]
struct Allowance(BTreeMap<String, usize>);

impl Allowance {
    /// Those of a comment's lines that its author has left.
    fn of<L>(&mut self, comment: &Posted, mut lines: Vec<L>) -> Vec<L> {
        let used = self.0.entry(comment.author.to_ascii_lowercase()).or_default();
        lines.truncate(limits::COMMANDS - *used);
        *used += lines.len();
        lines
    }
}

fn origin(comment: &Posted, line: i64, text: &str) -> Origin {
    let mut origin = Origin::new(OriginKind::Comment).at_line(line).quoting(text);
    origin.url = (!comment.html_url.is_empty()).then(|| comment.html_url.clone());
    origin
}

/// The fact `reuse`.
pub(super) async fn reuse(context: &Context<'_>) -> Result<Reuse, Missing> {
    let Some(settings) = &context.profile.settings.reuse else {
        return Err(Missing::submission("the profile knows no reuse commands"));
    };
    let mut commands = Vec::new();
    let mut allowance = Allowance::default();
    for comment in comments(context).await? {
        for line in allowance.of(&comment, reuse_lines(&comment.body, settings)) {
            commands.push(ReuseCommand {
                author: comment.author.clone(),
                association: comment.association.clone(),
                authorised: settings.associations.contains(&comment.association),
                run_id: line.run_id,
                origin: origin(&comment, line.line, &line.text),
                text: line.text,
                in_code: line.in_code,
                created: comment.created.clone(),
            });
        }
    }
    // Oldest first, so that the last authorised one is the newest comment's last line.
    let winner = commands.iter().rev().find(|command| command.authorised).cloned();
    Ok(Reuse { commands, winner })
}

/// Every override line with the comment that it stands in.
async fn override_comments(context: &Context<'_>) -> Result<Vec<(Posted, OverrideLine)>, Missing> {
    let mut found = Vec::new();
    let mut allowance = Allowance::default();
    for comment in comments(context).await? {
        for line in allowance.of(&comment, override_lines(&comment.body)) {
            found.push((comment.clone(), line));
        }
    }
    Ok(found)
}

/// The accounts that wrote override lines.
pub(super) async fn overriders(context: &Context<'_>) -> Result<Vec<Account>, Missing> {
    let found = override_comments(context).await?;
    let logins: BTreeSet<String> =
        found.iter().map(|(comment, _)| comment.author.to_ascii_lowercase()).collect();
    all_in_order(logins.iter().map(|login| account(context, login))).await
}

/// The fact `overrides`.
pub(super) async fn overrides(context: &Context<'_>) -> Result<Vec<OverrideCommand>, Missing> {
    let found = override_comments(context).await?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<String> = found.iter().map(|(comment, _)| comment.node_id.clone()).collect();
    let edits = async { context.reader.edits(context.repo, ids).await.map_err(missing) };
    let (pull, accounts, edits) = in_order!(pr::pull(context), overriders(context), edits)?;
    let overridable = &context.profile.settings.overridable;
    let judged = found.into_iter().map(|(comment, line)| {
        let is_admin = accounts
            .iter()
            .any(|account| account.login.eq_ignore_ascii_case(&comment.author) && account.admin);
        let editor = edits
            .get(&comment.node_id)
            .filter(|edit| edit.last_edited_at.is_some())
            .map(|edit| edit.editor.clone().unwrap_or_else(|| "a deleted account".to_owned()));
        let why_not = if !is_admin {
            Some("its author is no administrator of this repository".to_owned())
        } else if let Some(editor) =
            editor.filter(|editor| !editor.eq_ignore_ascii_case(&comment.author))
        {
            Some(format!("{editor} edited the comment, so that it is not its author's word"))
        } else if !overridable.contains(&line.check) {
            Some("this check cannot be excepted, or no check is called so".to_owned())
        } else if !pull.head_sha.starts_with(&line.sha) {
            Some(format!("it names another commit than the assessed {}", pull.head_sha))
        } else {
            None
        };
        OverrideCommand {
            origin: origin(&comment, line.line, &line.reason),
            check: line.check,
            sha: line.sha,
            author: comment.author,
            is_admin,
            reason: line.reason,
            valid: why_not.is_none(),
            why_not,
            created: comment.created,
        }
    });
    Ok(judged.collect())
}
