//! The CODEOWNERS file that counts, the paths that it is asked about, and the people it names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::accounts::{account, membership};
use super::in_order::{all_in_order, in_order};
use super::{Context, missing, pr};
use crate::bench::codeowners::{Codeowners, Owner};
use crate::facts::{Account, Membership, Missing};

/// The CODEOWNERS file that counts.
pub(super) struct File {
    pub(super) path: String,
    pub(super) codeowners: Arc<Codeowners>,
    pub(super) problems: Vec<String>,
}

/// Reads it at the tip of the target branch; the first candidate that exists counts.
pub(super) async fn file(context: &Context<'_>) -> Result<File, Missing> {
    let base = pr::base(context).await?;
    let candidates = &context.profile.settings.scope.codeowners;
    let reads = candidates.iter().map(|path| context.reader.file(context.repo, &base, path));
    let found = all_in_order(reads).await.map_err(missing)?;
    let Some((path, bytes)) =
        candidates.iter().zip(found).find_map(|(path, bytes)| Some((path, bytes?)))
    else {
        return Err(Missing::submission(format!(
            "there is no CODEOWNERS file at {} (looked for {})",
            base,
            candidates.join(", ")
        ))
        .with_fix("Add a CODEOWNERS file to the target branch."));
    };
    let text = String::from_utf8_lossy(&bytes);
    let (codeowners, problems) = Codeowners::parse(&text);
    let problems = problems.into_iter().map(|p| format!("line {}: {}", p.line, p.reason)).collect();
    Ok(File { path: path.clone(), codeowners: Arc::new(codeowners), problems })
}

/// Old and new path of every changed file, once.
pub(super) async fn changed_paths(context: &Context<'_>) -> Result<BTreeSet<String>, Missing> {
    let files = pr::files(context).await?;
    Ok(files.into_iter().flat_map(|file| [Some(file.path), file.previous_path]).flatten().collect())
}

/// Every team that stands anywhere in CODEOWNERS, once.
fn teams<'a>(lines: impl IntoIterator<Item = &'a Vec<String>>) -> BTreeSet<&'a str> {
    let owners = lines.into_iter().flatten().map(String::as_str);
    owners.filter(|owner| matches!(Owner::parse(owner), Some(Owner::Team { .. }))).collect()
}

/// Whether the signer is in each team of CODEOWNERS.
pub(super) async fn memberships(context: &Context<'_>) -> Result<Vec<Membership>, Missing> {
    let Some(posted) = context.posted else { return Ok(Vec::new()) };
    let file = file(context).await?;
    let teams = teams(file.codeowners.lines().iter().map(|line| &line.owners));
    all_in_order(teams.into_iter().map(|team| membership(context, team, &posted.author))).await
}

/// The accounts whose role matters to the scope gate: each login that owns a changed path.
pub(super) async fn scope_accounts(
    context: &Context<'_>,
) -> Result<BTreeMap<String, Account>, Missing> {
    if !context.profile.settings.scope.exempt_admins {
        return Ok(BTreeMap::new());
    }
    let (file, paths) = in_order!(file(context), changed_paths(context))?;
    let mut logins = BTreeSet::new();
    for line in paths.iter().filter_map(|path| file.codeowners.owners_of(path)) {
        for owner in &line.owners {
            if let Some(Owner::Login(login)) = Owner::parse(owner) {
                logins.insert(login.to_ascii_lowercase());
            }
        }
    }
    let accounts = all_in_order(logins.iter().map(|login| account(context, login))).await?;
    Ok(logins.into_iter().zip(accounts).collect())
}
