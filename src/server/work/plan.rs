//! What one job has to do, from what it was asked and what stands on the pull request. Pure.
//!
//! Events only say that something happened; what follows from it is derived from the pull request as
//! it is now. A job that merges many events, or that comes late, ends where one job an event would.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::types::Posted;
use crate::store::{Ask, SignOffRef, Trigger};

/// What is known when a job decides.
pub(crate) struct Seen<'a> {
    /// Whether the pull request is open and no draft.
    pub(crate) ready: bool,
    /// Why the job is there.
    pub(crate) triggers: &'a [Trigger],
    /// Whether an account may start a verification, by login in lower case; who is not here may not.
    pub(crate) may: &'a BTreeMap<String, bool>,
    /// The sign-offs on the pull request, oldest first.
    pub(crate) standing: &'a [Posted],
    /// Sign-offs that have a verdict at the head, by key, with whether it still stands: it concluded
    /// something, and neither the sign-off's text nor the target has changed since.
    pub(crate) assessed: &'a BTreeMap<String, bool>,
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Nothing, and why.
    Nothing(&'static str),
    /// To bring the check run up to date.
    Go {
        /// Sign-offs that count, oldest first, with whether each is assessed now.
        signoffs: Vec<(SignOffRef, bool)>,
    },
}

impl Seen<'_> {
    fn may(&self, login: &str) -> bool {
        self.may.get(&login.to_ascii_lowercase()) == Some(&true)
    }

    /// Triggers that count: a wish only of somebody who may have one, what happened to a sign-off that
    /// has a verdict, and what happened to the pull request, whoever did it.
    pub(crate) fn counting(&self) -> Vec<&Trigger> {
        let has_verdict = |trigger: &Trigger| {
            trigger.signoff.is_some_and(|signoff| self.assessed.contains_key(&signoff.to_string()))
        };
        let counts = |trigger: &&Trigger| match trigger.ask {
            Ask::Verify => self.may(&trigger.actor) || has_verdict(trigger),
            Ask::Again => self.may(&trigger.actor),
            Ask::Withdrawn => has_verdict(trigger),
            Ask::Changed | Ask::Evidence | Ask::Queued { .. } => true,
        };
        self.triggers.iter().filter(counts).collect()
    }

    /// Decides.
    ///
    /// A sign-off counts where its author may start a verification, where somebody who may asked about
    /// it, or where it has a verdict at this head: so that a stranger's words neither cost anything nor
    /// show up by themselves. Every one that counts has a verdict at the head in the end.
    pub(crate) fn plan(&self) -> Plan {
        let asked = self.counting();
        if asked.is_empty() {
            return Plan::Nothing("nobody who may trigger a verification asked for one");
        }
        let again = asked.iter().any(|trigger| trigger.ask == Ask::Again);
        if !self.ready && !again {
            return Plan::Nothing("the pull request is closed or a draft");
        }
        let named: BTreeSet<String> = asked
            .iter()
            .filter(|trigger| trigger.ask == Ask::Verify)
            .filter_map(|trigger| trigger.signoff.map(|signoff| signoff.to_string()))
            .collect();
        let all = asked.iter().any(|trigger| match trigger.ask {
            Ask::Verify => trigger.signoff.is_none(),
            Ask::Again | Ask::Changed | Ask::Evidence => true,
            Ask::Withdrawn | Ask::Queued { .. } => false,
        });
        let signoffs = self.standing.iter().filter_map(|posted| {
            let signoff = SignOffRef { kind: posted.kind, id: posted.id };
            let key = signoff.to_string();
            let assessed = self.assessed.get(&key);
            let counts =
                again || named.contains(&key) || self.may(&posted.author) || assessed.is_some();
            let now = all || named.contains(&key) || assessed != Some(&true);
            counts.then_some((signoff, now))
        });
        Plan::Go { signoffs: signoffs.collect() }
    }

    /// Sign-offs that an event told of as posted and that `listed` does not hold: GitHub's reads lag
    /// behind its events. One that was taken away meanwhile is not waited for.
    pub(crate) fn not_listed(&self, listed: &[Posted]) -> bool {
        let asked = self.counting();
        let withdrawn: BTreeSet<String> = self
            .triggers
            .iter()
            .filter(|trigger| trigger.ask == Ask::Withdrawn)
            .filter_map(|trigger| trigger.signoff.map(|signoff| signoff.to_string()))
            .collect();
        let mut told = asked.iter().filter(|trigger| trigger.ask == Ask::Verify);
        told.any(|trigger| {
            trigger.signoff.is_some_and(|signoff| {
                let is = |one: &Posted| one.kind == signoff.kind && one.id == signoff.id;
                !withdrawn.contains(&signoff.to_string()) && !listed.iter().any(is)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::SignOffKind;

    const ADA: SignOffRef = SignOffRef { kind: SignOffKind::IssueComment, id: 1 };
    const BEN: SignOffRef = SignOffRef { kind: SignOffKind::Review, id: 2 };
    const STRANGER: SignOffRef = SignOffRef { kind: SignOffKind::IssueComment, id: 3 };

    fn posted(signoff: SignOffRef, author: &str) -> Posted {
        Posted { kind: signoff.kind, id: signoff.id, ..Posted::local("", author) }
    }

    fn trigger(actor: &str, signoff: Option<SignOffRef>, ask: Ask) -> Trigger {
        Trigger { actor: actor.into(), event: "e/a".into(), signoff, ask }
    }

    /// The sign-offs that count, with whether each is assessed; `None` where nothing is to be done.
    fn plan(
        ready: bool,
        triggers: &[Trigger],
        assessed: &[(SignOffRef, bool)],
    ) -> Option<Vec<(SignOffRef, bool)>> {
        let may =
            BTreeMap::from([("ada".into(), true), ("ben".into(), true), ("eve".into(), false)]);
        let standing = [posted(ADA, "Ada"), posted(BEN, "ben"), posted(STRANGER, "eve")];
        let assessed = assessed.iter().map(|(one, done)| (one.to_string(), *done)).collect();
        let seen = Seen { ready, triggers, may: &may, standing: &standing, assessed: &assessed };
        match seen.plan() {
            Plan::Nothing(_) => None,
            Plan::Go { signoffs } => Some(signoffs),
        }
    }

    #[test]
    fn a_wish_is_heard_of_those_who_may_have_one() {
        assert_eq!(plan(true, &[trigger("eve", Some(STRANGER), Ask::Verify)], &[]), None);
        let by_ada = [trigger("ada", Some(STRANGER), Ask::Verify)];
        let all_new = vec![(ADA, true), (BEN, true), (STRANGER, true)];
        assert_eq!(plan(true, &by_ada, &[]), Some(all_new));
    }

    #[test]
    fn what_has_a_verdict_at_the_head_is_left_alone_until_it_is_asked_about() {
        let both = [(ADA, true), (BEN, true)];
        let asks = |signoff, ask| [trigger("ADA", signoff, ask)];
        let own = plan(true, &asks(Some(ADA), Ask::Verify), &both);
        assert_eq!(own, Some(vec![(ADA, true), (BEN, false)]));
        let command = plan(true, &asks(None, Ask::Verify), &both);
        assert_eq!(command, Some(vec![(ADA, true), (BEN, true)]));
        let gone = SignOffRef { kind: SignOffKind::IssueComment, id: 9 };
        let three = [(ADA, true), (BEN, true), (gone, true)];
        let withdrawn = plan(true, &asks(Some(gone), Ask::Withdrawn), &three);
        assert_eq!(withdrawn, Some(vec![(ADA, false), (BEN, false)]));
        let stranger = plan(true, &asks(Some(STRANGER), Ask::Withdrawn), &both);
        assert_eq!(stranger, None, "what never counted is not missed");
        let gone = [(ADA, false), (BEN, true), (gone, true)];
        let undecided = plan(true, &asks(Some(gone[2].0), Ask::Withdrawn), &gone);
        assert_eq!(
            undecided,
            Some(vec![(ADA, true), (BEN, false)]),
            "an undecided one is tried again"
        );
    }

    #[test]
    fn an_edit_of_what_has_a_verdict_is_looked_at_whoever_made_it() {
        let edited = |actor, signoff| [trigger(actor, Some(signoff), Ask::Verify)];
        for actor in ["eve", ""] {
            let both = [(ADA, false), (BEN, true)];
            let all = Some(vec![(ADA, true), (BEN, false)]);
            assert_eq!(plan(true, &edited(actor, ADA), &both), all, "its text is another one");
            assert_eq!(plan(true, &edited(actor, STRANGER), &both), None);
        }
    }

    #[test]
    fn a_new_head_has_everything_looked_at_that_counts() {
        let pushed = [trigger("", None, Ask::Changed)];
        assert_eq!(plan(true, &pushed, &[]), Some(vec![(ADA, true), (BEN, true)]));
        let known = [(STRANGER, true)];
        let all = vec![(ADA, true), (BEN, true), (STRANGER, true)];
        assert_eq!(plan(true, &pushed, &known), Some(all));
    }

    #[test]
    fn what_finishes_at_the_head_has_what_was_assessed_there_looked_at_again() {
        let finished = [trigger("", None, Ask::Evidence)];
        let both = [(ADA, true), (BEN, true)];
        assert_eq!(plan(true, &finished, &both), Some(both.to_vec()));
    }

    #[test]
    fn a_draft_waits_until_somebody_asks_in_so_many_words() {
        assert_eq!(plan(false, &[trigger("ada", Some(ADA), Ask::Verify)], &[]), None);
        assert_eq!(plan(false, &[trigger("", None, Ask::Changed)], &[]), None);
        assert_eq!(plan(false, &[trigger("eve", None, Ask::Again)], &[]), None);
        let again = plan(false, &[trigger("ada", None, Ask::Again)], &[]).unwrap();
        assert_eq!(again, [(ADA, true), (BEN, true), (STRANGER, true)]);
    }

    #[test]
    fn what_an_event_told_of_is_waited_for_unless_it_was_taken_away() {
        let may = BTreeMap::from([("ada".into(), true)]);
        let gone = SignOffRef { kind: SignOffKind::IssueComment, id: 9 };
        let listed = [posted(ADA, "ada")];
        let waits = |triggers: &[Trigger]| {
            let assessed = BTreeMap::new();
            Seen { ready: true, triggers, may: &may, standing: &[], assessed: &assessed }
                .not_listed(&listed)
        };
        assert!(!waits(&[trigger("ada", Some(ADA), Ask::Verify)]));
        assert!(waits(&[trigger("ada", Some(gone), Ask::Verify)]));
        assert!(!waits(&[trigger("eve", Some(gone), Ask::Verify)]));
        let taken = trigger("", Some(gone), Ask::Withdrawn);
        assert!(!waits(&[trigger("ada", Some(gone), Ask::Verify), taken]));
    }
}
