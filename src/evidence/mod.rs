//! Gathers facts: one async function a fact, one file a subject.
//!
//! Every function asks the [`Reader`] for what it needs and knows nothing of the others; what two of
//! them need is read once, because the reader remembers. They all start at once, so that a round of
//! reading is as deep as its longest chain of questions and no deeper.

mod accounts;
mod bench;
mod checklist;
mod ci;
mod codeowners;
mod commands;
mod guide;
mod in_order;
mod owners;
mod people;
mod pr;
mod sweep;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, OptionFuture};

pub use guide::guide;

use crate::facts::{Clock, Fact, Facts, Missing, Origin, OriginKind};
use crate::profile::Profile;
use crate::rules::RuleSet;
use crate::signoff;
use crate::sources::types::Posted;
use crate::sources::{ReadError, Reader, RepoName};

/// What one verification is about.
pub struct Context<'a> {
    /// Everything that is read goes through here.
    pub reader: &'a Reader,
    /// How the repository works.
    pub profile: &'a Profile,
    /// The tables beside the rules, by name.
    pub tables: &'a BTreeMap<String, serde_json::Value>,
    /// Reads sign-offs and templates by that profile.
    pub signoffs: &'a signoff::Reader,
    /// The repository.
    pub repo: &'a RepoName,
    /// The pull request.
    pub number: i64,
    /// The sign-off; `None` where there is none, or where a local run was given none.
    pub posted: Option<&'a Posted>,
    /// Why there is none.
    pub no_signoff: Missing,
    /// `YYYY-MM-DD`, UTC.
    pub date: &'a str,
}

impl<'a> Context<'a> {
    /// A table in the form that a fact needs.
    ///
    /// # Errors
    /// There is none of that name, or it has another form: the rules' fault, and so ours.
    fn table<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<T, Missing> {
        let lacking = |what: String| {
            Missing::ours(format!("the profile's table tables/{name}.yaml {what}"))
                .with_fix("Mend the table; `countersign rules check` reads it, too.")
        };
        let table = self.tables.get(name).ok_or_else(|| lacking("is not there".to_owned()))?;
        T::deserialize(table).map_err(|error| lacking(format!("cannot be read: {error}")))
    }

    /// Of a pull request on which nobody signed.
    pub fn unsigned(
        reader: &'a Reader,
        rules: &'a RuleSet,
        signoffs: &'a signoff::Reader,
        repo: &'a RepoName,
        number: i64,
        date: &'a str,
    ) -> Self {
        let no_signoff = Missing::submission("there is no sign-off");
        let (profile, tables) = (&rules.profile, &rules.tables);
        Self { reader, profile, tables, signoffs, repo, number, posted: None, no_signoff, date }
    }
}

/// Gathers the named facts; every other fact stands as missing, "not asked for".
pub async fn gather(context: &Context<'_>, wanted: &BTreeSet<&str>) -> Facts {
    let mut facts = Facts::all_missing(&Missing::offline("not asked for by the selected rules"));
    if wanted.contains("clock") {
        facts.clock = Fact::Known(clock(context.date));
    }
    let pr = optional(wanted, "pr", pr::pr(context));
    let signoff = optional(wanted, "signoff", checklist::signoff(context));
    let template = optional(wanted, "template", checklist::template(context));
    let checklist = optional(wanted, "checklist", checklist::checklist(context));
    let people = optional(wanted, "people", people::people(context));
    let owners = optional(wanted, "owners", owners::owners(context));
    // Several facts stand on the benchmark's files; whoever asks first has them read.
    let world = bench::world(context).boxed().shared();
    let sweep = optional(wanted, "sweep", sweep::sweep(context, world.clone()));
    let ci = optional(wanted, "ci", ci::ci(context));
    let reuse = optional(wanted, "reuse", commands::reuse(context));
    let overrides = optional(wanted, "overrides", commands::overrides(context));
    let bench = bench::bench(context, wanted, world).boxed();
    let (pr, signoff, template, checklist, people, owners, sweep, ci, reuse, overrides, bench) = futures_util::join!(
        pr, signoff, template, checklist, people, owners, sweep, ci, reuse, overrides, bench
    );
    bench.put(&mut facts);
    put(&mut facts.pr, pr);
    put(&mut facts.signoff, signoff);
    put(&mut facts.template, template);
    put(&mut facts.checklist, checklist);
    put(&mut facts.people, people);
    put(&mut facts.owners, owners);
    put(&mut facts.sweep, sweep);
    put(&mut facts.ci, ci);
    put(&mut facts.reuse, reuse);
    put(&mut facts.overrides, overrides);
    facts
}

/// A fact, where it is wanted. On the heap: a dozen of them side by side are more than a thread's stack
/// has room for.
fn optional<'a, T>(
    wanted: &BTreeSet<&str>,
    name: &str,
    fact: impl Future<Output = Result<T, Missing>> + Send + 'a,
) -> OptionFuture<BoxFuture<'a, Result<T, Missing>>> {
    wanted.contains(name).then(|| fact.boxed()).into()
}

fn put<T>(place: &mut Fact<T>, found: Option<Result<T, Missing>>) {
    if let Some(found) = found {
        *place = found.into();
    }
}

fn clock(date: &str) -> Clock {
    let origin = Origin::new(OriginKind::Clock).quoting(date);
    Clock { date: date.to_owned(), origin }
}

/// What a failed read means for a fact: the one table from [`ReadError`] to [`Missing`].
///
/// Only a bound that the submission itself exceeds is the submission's; everything else is ours, or
/// was not asked for (ruling 6).
pub(crate) fn missing(error: ReadError) -> Missing {
    let reason = error.to_string();
    match error {
        ReadError::Forbidden { permission, .. } => Missing::ours(reason)
            .with_fix(format!("Grant the app the permission {permission}, then verify again.")),
        ReadError::RateLimited { until, .. } => {
            Missing { retry_at: Some(until), ..Missing::ours(reason) }
        }
        ReadError::Unavailable { .. } | ReadError::Malformed { .. } => Missing::ours(reason),
        ReadError::Offline { what } => Missing::offline(&what),
        ReadError::NotRecorded { what } => Missing {
            reason: format!("{what}: not in the record that is replayed"),
            ..Missing::offline("")
        },
        ReadError::TooLarge { .. } => Missing::submission(reason),
    }
}
