//! What a sign-off claims, small enough to be kept with its verdict.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ItemState;

/// The claims of one version of a sign-off. Two versions with the same claims differ in layout only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Its items by id; one that no entry of `items.yaml` matches is called `item:<first words>`.
    pub items: BTreeMap<String, ItemClaim>,
    /// The workflow runs that it links, ascending, each once.
    pub runs: Vec<i64>,
    /// Digest of the words of the additional details, 16 hex digits.
    pub details: String,
    /// The login on the signature line; `null` where it has none.
    pub signed: Option<String>,
}

/// What one item claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemClaim {
    /// Its box.
    pub state: ItemState,
    /// Digest of its words and links, 16 hex digits.
    pub words: String,
}
