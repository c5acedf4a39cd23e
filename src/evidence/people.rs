//! `people`: what the accounts that matter may do, and which teams the signer is in.

use super::accounts::account;
use super::codeowners::{memberships, scope_accounts};
use super::in_order::in_order;
use super::{Context, commands};
use crate::facts::{Missing, People};

/// The fact.
pub(super) async fn people(context: &Context<'_>) -> Result<People, Missing> {
    let signer = match context.posted {
        Some(posted) => posted,
        None => return Err(context.no_signoff.clone()),
    };
    let (own, memberships, mut accounts, overriders) = in_order!(
        account(context, &signer.author),
        memberships(context),
        scope_accounts(context),
        commands::overriders(context),
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
