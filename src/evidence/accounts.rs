//! What one account may do, and whether it is in a team: the questions that several facts ask.

use super::{Context, missing};
use crate::bench::codeowners::Owner;
use crate::facts::{Account, Membership, Missing};
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
