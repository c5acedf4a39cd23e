//! Which rows claim to be the same point.

use std::collections::{BTreeMap, BTreeSet};

use super::{Identity, Role, Row, Scenario, Topology};

/// Groups of rows that claim to be the same point, as indices, each rising. A row with an unknown part of
/// its identity is in none: what is unknown is not the same.
pub fn duplicates(rows: &[Row]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<Identity, Vec<usize>> = BTreeMap::new();
    for (n, row) in rows.iter().enumerate() {
        if row.identity.is_known() {
            // Two recipes for one point are one point.
            let identity = Identity { recipe_fingerprint: None, ..row.identity.clone() };
            groups.entry(identity).or_default().push(n);
        }
    }
    let mut found: Vec<_> = groups.into_values().filter(|group| group.len() > 1).collect();
    found.sort();
    found
}

/// Images of the rows that name one, as written, each once.
pub fn images(rows: &[Row]) -> BTreeSet<&str> {
    rows.iter().filter_map(|row| row.image.as_deref()).collect()
}

impl Identity {
    /// Whether all that tells points apart is known.
    pub fn is_known(&self) -> bool {
        let texts = [&self.hw, &self.model, &self.framework, &self.precision, &self.spec_decoding];
        let role = |role: &Role| {
            let sizes = [role.tp, role.pp, role.dcp, role.pcp, role.ep];
            sizes.iter().all(Option::is_some) && role.dp_attention.is_some()
        };
        let topology = match &self.topology {
            Topology::Single { role: one } => role(one),
            Topology::Multi { prefill, decode, .. } => {
                let workers = prefill.workers.is_some() && decode.workers.is_some();
                role(prefill) && role(decode) && workers
            }
            Topology::Unknown => false,
        };
        let scenario = match &self.scenario {
            Scenario::Fixed { isl, osl } => isl.is_some() && osl.is_some(),
            Scenario::Agentic { name } => name.is_some(),
        };
        let parts = [self.disagg.is_some(), self.conc.is_some(), topology, scenario];
        texts.into_iter().all(Option::is_some) && parts.into_iter().all(|known| known)
    }
}
