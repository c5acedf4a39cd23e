//! Who may start a verification.

use std::collections::{BTreeMap, BTreeSet};

use crate::profile::TriggerSettings;
use crate::sources::{ReadError, Reader, RepoName};

/// Which of the accounts may start a verification, by login in lower case; an empty login is nobody's.
///
/// `domain/publication`: base permission and role both have to be listed; an account that is not
/// known, or whose role is a custom one, starts nothing.
///
/// # Errors
/// Where a permission cannot be read.
pub async fn may_trigger<'a>(
    reader: &Reader,
    trigger: &TriggerSettings,
    repo: &RepoName,
    logins: impl Iterator<Item = &'a str>,
) -> Result<BTreeMap<String, bool>, ReadError> {
    let logins: BTreeSet<String> =
        logins.filter(|login| !login.is_empty()).map(str::to_ascii_lowercase).collect();
    let found = futures_util::future::try_join_all(logins.into_iter().map(async |login| {
        let found = reader.permission(repo, &login).await?;
        let may = found.is_some_and(|found| {
            !found.is_bot
                && trigger.permissions.contains(&found.permission)
                && trigger.roles.contains(&found.role_name)
        });
        Ok::<_, ReadError>((login, may))
    }));
    Ok(found.await?.into_iter().collect())
}
