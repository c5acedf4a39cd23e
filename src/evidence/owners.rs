//! `owners`: who owns what changed, whether the signer does, and whether a sign-off is needed.
//!
//! `checks.md`, check 0 and its scope gate: CODEOWNERS at the pinned tip of the target branch, the
//! last matching line, old and new path of a rename, strict for each specific path.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::accounts::account;
use super::in_order::in_order;
use super::{Context, codeowners, missing, pr};
use crate::bench::codeowners::{Codeowners, Line, Owner};
use crate::facts::{
    Account, Cause, Membership, Missing, Origin, OwnedPath, Owners, Remaining, Scope,
};

/// Who owns what changed, and whether a sign-off is needed: the same whoever signs.
pub(super) struct Ownership {
    /// Path of the CODEOWNERS file.
    pub(super) file: String,
    /// The CODEOWNERS file at the pinned tip.
    pub(super) origin: Origin,
    /// One a changed path, by path; nobody has signed.
    pub(super) paths: Vec<OwnedPath>,
    /// Whether a sign-off is needed.
    pub(super) scope: Scope,
    codeowners: Arc<Codeowners>,
    errors: Vec<String>,
}

/// CODEOWNERS held against what changed.
pub(super) async fn ownership(context: &Context<'_>) -> Result<Ownership, Missing> {
    let (pull, base, file, paths, accounts, errors) = in_order!(
        pr::pull(context),
        pr::base(context),
        codeowners::file(context),
        codeowners::changed_paths(context),
        scope_accounts(context),
        reported_errors(context),
    )?;
    let web = pr::web(context, &pull);
    let any_owner = context.profile.settings.scope.any_owner_signs_catch_all;
    let owned = |path: String| {
        let line = file.codeowners.owners_of(&path);
        let number = line.map(|line| line.number);
        let origin = Origin::file(&web, &base, &file.path, number);
        owned_path(path, line, any_owner, origin)
    };
    let paths: Vec<OwnedPath> = paths.into_iter().map(owned).collect();
    let errors: Vec<String> = file.problems.into_iter().chain(errors).collect();
    let empty = file.codeowners.lines().is_empty();
    let scope = scope(context, &paths, accounts.as_ref(), &errors, empty);
    Ok(Ownership {
        origin: Origin::file(&web, &base, &file.path, None),
        file: file.path,
        paths,
        scope,
        codeowners: file.codeowners,
        errors,
    })
}

/// The fact.
pub(super) async fn owners(context: &Context<'_>) -> Result<Owners, Missing> {
    let (ownership, memberships, signer_permission) = in_order!(
        ownership(context),
        codeowners::memberships(context),
        signer_permission(context),
    )?;
    let signer = context.posted.map(|posted| posted.author.as_str()).unwrap_or_default();
    let mut paths = ownership.paths;
    for path in &mut paths {
        signed_by(path, signer, &memberships);
    }
    let listed = |owners: &[String]| owners.iter().any(|owner| is_login(owner, signer));
    let signer_listed = !signer.is_empty()
        && (ownership.codeowners.lines().iter().any(|line| listed(&line.owners))
            || memberships.iter().any(|m| m.state == "member"));
    let signer_listed_on_match =
        !signer.is_empty() && paths.iter().any(|path| listed(&path.owners));
    if !signer_listed_on_match {
        unreadable_is_ours(context, &paths, &memberships).await?;
    }
    Ok(Owners {
        signer: signer.to_owned(),
        origin: ownership.origin,
        file: ownership.file,
        paths,
        signer_listed,
        signer_listed_on_match,
        signer_permission,
        scope: ownership.scope,
        errors: ownership.errors,
    })
}

/// The roles of the owners; `None` in local mode, where the gate fails closed.
async fn scope_accounts(
    context: &Context<'_>,
) -> Result<Option<BTreeMap<String, Account>>, Missing> {
    match codeowners::scope_accounts(context).await {
        Ok(accounts) => Ok(Some(accounts)),
        Err(missing) if missing.cause == Cause::Offline => Ok(None),
        Err(missing) => Err(missing),
    }
}

/// What the signer may do: a name in CODEOWNERS outlives the access that it was written for. `None`
/// in local mode, and where there is no sign-off.
async fn signer_permission(context: &Context<'_>) -> Result<Option<String>, Missing> {
    let Some(posted) = context.posted else { return Ok(None) };
    match account(context, &posted.author).await {
        Ok(account) => Ok(Some(account.permission)),
        Err(missing) if missing.cause == Cause::Offline => Ok(None),
        Err(missing) => Err(missing),
    }
}

/// What GitHub itself reports of the file; nothing in local mode.
async fn reported_errors(context: &Context<'_>) -> Result<Vec<String>, Missing> {
    let base = pr::base(context).await?;
    match context.reader.codeowners_errors(context.repo, &base).await {
        Ok(errors) => Ok(errors
            .unwrap_or_default()
            .into_iter()
            .map(|error| format!("line {}: {}", error.line, first_line(&error.message)))
            .collect()),
        Err(crate::sources::ReadError::Offline { .. }) => Ok(Vec::new()),
        Err(error) => Err(missing(error)),
    }
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}

fn is_login(owner: &str, signer: &str) -> bool {
    matches!(Owner::parse(owner), Some(Owner::Login(login)) if login.eq_ignore_ascii_case(signer))
}

fn owned_path(
    path: String,
    line: Option<&Line>,
    any_owner_signs_catch_all: bool,
    origin: Origin,
) -> OwnedPath {
    OwnedPath {
        undecidable: false,
        signer_owns: false,
        pattern: line.map(|line| line.pattern.clone()).unwrap_or_default(),
        line: line.map_or(0, |line| line.number),
        catch_all: any_owner_signs_catch_all && line.is_some_and(|line| line.pattern == "*"),
        owners: line.map(|line| line.owners.clone()).unwrap_or_default(),
        path,
        origin,
    }
}

/// What a path is to the signer.
fn signed_by(path: &mut OwnedPath, signer: &str, memberships: &[Membership]) {
    let owners = &path.owners;
    let team = |state: &str| {
        owners.iter().any(|owner| memberships.iter().any(|m| m.team == *owner && m.state == state))
    };
    path.signer_owns = !signer.is_empty()
        && (owners.iter().any(|owner| is_login(owner, signer)) || team("member"));
    path.undecidable = !path.signer_owns && (team("unreadable") || team("offline"));
}

/// A team that our own installation may not read is our lack, not the submission's (ruling 6); where
/// we are no installation nobody can tell, and the rule says "could not be verified".
async fn unreadable_is_ours(
    context: &Context<'_>,
    paths: &[OwnedPath],
    memberships: &[Membership],
) -> Result<(), Missing> {
    let Some(path) = paths.iter().find(|path| path.undecidable && !path.catch_all) else {
        return Ok(());
    };
    let unread = |m: &&Membership| {
        ["unreadable", "offline"].contains(&m.state.as_str()) && path.owners.contains(&m.team)
    };
    let Some(team) = memberships.iter().find(unread) else { return Ok(()) };
    let reason = format!(
        "whether {} is in {} could not be read: {}",
        team.login,
        team.team,
        team.reason.as_deref().unwrap_or("no reason given")
    );
    if team.state == "offline" {
        return Err(Missing { cause: Cause::Offline, ..Missing::ours(reason) });
    }
    let grants = context.reader.grants(context.repo).await.map_err(missing)?;
    if grants.is_some() {
        return Err(Missing::ours(reason)
            .with_fix("Grant the app the permission members:read, then verify again."));
    }
    Ok(())
}

/// The scope gate: who remains when the exempt teams and the administrators are taken out.
fn scope(
    context: &Context<'_>,
    paths: &[OwnedPath],
    accounts: Option<&BTreeMap<String, Account>>,
    errors: &[String],
    empty: bool,
) -> Scope {
    let settings = &context.profile.settings.scope;
    let exempt = |owner: &str| match Owner::parse(owner) {
        Some(Owner::Team { .. }) => {
            settings.exempt_teams.iter().any(|team| team.eq_ignore_ascii_case(owner))
        }
        Some(Owner::Login(login)) => accounts
            .and_then(|accounts| accounts.get(&login.to_ascii_lowercase()))
            .is_some_and(|account| account.admin),
        _ => false,
    };
    let remaining: Vec<Remaining> = paths
        .iter()
        .filter_map(|path| {
            let owners: Vec<String> =
                path.owners.iter().filter(|owner| !exempt(owner)).cloned().collect();
            (!owners.is_empty()).then(|| Remaining { path: path.path.clone(), owners })
        })
        .collect();
    let closed_because = if let Some(error) = errors.first() {
        Some(format!("CODEOWNERS has errors ({error})"))
    } else if accounts.is_none() {
        Some("the owners' roles are not known offline".to_owned())
    } else if empty {
        Some("CODEOWNERS assigns nothing".to_owned())
    } else {
        None
    };
    Scope { required: !remaining.is_empty() || closed_because.is_some(), remaining, closed_because }
}
