//! `people`: what the accounts that matter may do, and which teams the signer is in.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{future::try_join_all, try_join};

use super::{Context, commands, missing, owners, pr};
use crate::bench::codeowners::Owner;
use crate::facts::{Account, Membership, Missing, People};
use crate::sources::ReadError;

/// One account's permission and role; an account that GitHub does not know has none.
pub(super) async fn account(context: &Context<'_>, login: &str) -> Result<Account, Missing> {
    let lower = login.to_ascii_lowercase();
    let found = context.reader.permission(context.repo, &lower).await.map_err(missing)?;
    let (permission, role, spelled, bot) = match found {
        Some(p) => (p.permission, p.role_name, p.login, p.is_bot),
        None => ("none".to_owned(), String::new(), String::new(), false),
    };
    Ok(Account {
        login: if spelled.is_empty() { login.to_owned() } else { spelled },
        bot,
        admin: permission == "admin" && role == "admin",
        permission,
        role,
    })
}

/// Whether a login is in a team. Unreadable is a state, not an error: another line of CODEOWNERS
/// may settle the question all the same.
///
/// GitHub answers 404 both for "not a member" and for "you may not know"; only an installation that
/// was granted `members` can tell them apart (ruling 6).
pub(super) async fn membership(
    context: &Context<'_>,
    team: &str,
    login: &str,
) -> Result<Membership, Missing> {
    let Some(Owner::Team { org, slug }) = Owner::parse(team) else {
        return Err(Missing::submission(format!("`{team}` is not a team")));
    };
    let lower = login.to_ascii_lowercase();
    let of = |state: &str, reason: Option<String>| {
        Ok(Membership {
            team: team.to_owned(),
            login: login.to_owned(),
            state: state.to_owned(),
            reason,
        })
    };
    match context.reader.team_member(context.repo, org, slug, &lower).await {
        Ok(Some(found)) if found.state == "active" => of("member", None),
        Ok(Some(_)) => of("not_member", None),
        Ok(None) => {
            let grants = context.reader.grants(context.repo).await.map_err(missing)?;
            match grants {
                Some(grants) if grants.contains_key("members") => of("not_member", None),
                _ => of("unreadable", Some("we may not see its members".to_owned())),
            }
        }
        Err(error @ ReadError::Forbidden { .. }) => of("unreadable", Some(error.to_string())),
        Err(error @ ReadError::Offline { .. }) => of("offline", Some(error.to_string())),
        Err(error) => Err(missing(error)),
    }
}

/// Every team that stands anywhere in CODEOWNERS, once.
fn teams<'a>(lines: impl IntoIterator<Item = &'a Vec<String>>) -> BTreeSet<&'a str> {
    let owners = lines.into_iter().flatten().map(String::as_str);
    owners.filter(|owner| matches!(Owner::parse(owner), Some(Owner::Team { .. }))).collect()
}

/// Whether the signer is in each team of CODEOWNERS.
pub(super) async fn memberships(context: &Context<'_>) -> Result<Vec<Membership>, Missing> {
    let Some(posted) = context.posted else { return Ok(Vec::new()) };
    let file = owners::file(context).await?;
    let teams = teams(file.codeowners.lines().iter().map(|line| &line.owners));
    try_join_all(teams.into_iter().map(|team| membership(context, team, &posted.author))).await
}

/// The accounts whose role matters to the scope gate: each login that owns a changed path.
pub(super) async fn scope_accounts(
    context: &Context<'_>,
) -> Result<BTreeMap<String, Account>, Missing> {
    if !context.profile.settings.scope.exempt_admins {
        return Ok(BTreeMap::new());
    }
    let (file, paths) = try_join!(owners::file(context), owners::changed_paths(context))?;
    let mut logins = BTreeSet::new();
    for line in paths.iter().filter_map(|path| file.codeowners.owners_of(path)) {
        for owner in &line.owners {
            if let Some(Owner::Login(login)) = Owner::parse(owner) {
                logins.insert(login.to_ascii_lowercase());
            }
        }
    }
    let accounts = try_join_all(logins.iter().map(|login| account(context, login))).await?;
    Ok(logins.into_iter().zip(accounts).collect())
}

/// The fact.
pub(super) async fn people(context: &Context<'_>) -> Result<People, Missing> {
    let signer = match context.posted {
        Some(posted) => posted,
        None => return Err(context.no_signoff.clone()),
    };
    let (own, memberships, mut accounts, overriders, _) = try_join!(
        account(context, &signer.author),
        memberships(context),
        scope_accounts(context),
        commands::overriders(context),
        pr::pull(context),
    )?;
    for account in overriders.into_iter().chain([own]) {
        accounts.insert(account.login.to_ascii_lowercase(), account);
    }
    Ok(People {
        signer: signer.author.clone(),
        accounts: accounts.into_values().collect(),
        memberships,
    })
}
