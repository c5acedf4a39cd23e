//! What the sign-offs of a pull request amount to at one commit: the check run is the pull
//! request's, not a sign-off's.

use crate::verdict::{Outcome, Verdict, link, unheard};

/// Sign-offs named in the list; more are counted.
const SHOWN: usize = 20;

/// Conclusions that a check run of ours can have. GitHub counts `neutral` and `skipped` as passing,
/// so they are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// Some standing sign-off is approved, or none is needed.
    Success,
    /// Every standing sign-off is rejected.
    Failure,
    /// Could not be assessed: a fault that is not the submission's.
    ActionRequired,
}

impl Conclusion {
    /// GitHub's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::ActionRequired => "action_required",
        }
    }
}

/// One sign-off that stands on the pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// `KIND/ID`, made of our own words and GitHub's id.
    pub key: String,
    /// The account that posted it.
    pub author: String,
    /// Its verdict; `None` while it is being assessed.
    pub outcome: Option<Outcome>,
    /// The commit that the verdict speaks of.
    pub commit: String,
    /// The sign-off's page.
    pub url: Option<String>,
}

impl Standing {
    /// The sign-off of a verdict; `None` where the verdict has none.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        let signoff = verdict.signoff.as_ref()?;
        Some(Self {
            key: verdict.signoff_key()?,
            author: signoff.author.clone(),
            outcome: Some(verdict.verdict),
            commit: verdict.assessed_commit.clone(),
            url: signoff.url.clone(),
        })
    }

    /// Its verdict at that commit: a verdict never carries over to a commit that nobody assessed.
    fn at(&self, commit: &str) -> Option<Outcome> {
        self.outcome.filter(|_| self.commit == commit)
    }

    fn line(&self, commit: &str) -> String {
        format!(
            "- {} ({}): {}",
            unheard(&self.author),
            link(&self.key.replace(['_', '/'], " "), self.url.as_deref()),
            self.at(commit).map_or("being assessed", Outcome::words)
        )
    }
}

/// The conclusion at a commit; `None` where the check run stays in progress, because no sign-off
/// stands or one of them is still being assessed.
///
/// One approval is enough: a second sign-off, by somebody who may not sign or has not finished,
/// never takes it away.
pub fn aggregate(commit: &str, standing: &[Standing]) -> Option<Conclusion> {
    let outcomes: Vec<Outcome> =
        standing.iter().map(|one| one.at(commit)).collect::<Option<_>>()?;
    let any = |outcome| outcomes.contains(&outcome);
    if any(Outcome::Approved) || any(Outcome::NotRequired) {
        Some(Conclusion::Success)
    } else if any(Outcome::Undecided) {
        Some(Conclusion::ActionRequired)
    } else if any(Outcome::Rejected) {
        Some(Conclusion::Failure)
    } else {
        None
    }
}

/// The standing sign-offs as a Markdown list, for the head of a check run's summary; empty where
/// none stands.
pub fn standing_list(commit: &str, standing: &[Standing]) -> String {
    let mut lines: Vec<String> = standing.iter().take(SHOWN).map(|one| one.line(commit)).collect();
    if standing.len() > SHOWN {
        lines.push(format!("- and {} more", standing.len() - SHOWN));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Conclusion, Standing, aggregate, standing_list};
    use crate::verdict::Outcome;

    fn standing(outcome: impl Into<Option<Outcome>>) -> Standing {
        Standing {
            key: "issue_comment/11".into(),
            author: "bob".into(),
            outcome: outcome.into(),
            commit: "1111".into(),
            url: Some("https://github.example/c/11".into()),
        }
    }

    #[test]
    fn one_approval_is_enough_and_a_running_assessment_holds() {
        use Outcome::{Approved, NotRequired, Rejected, Undecided};
        let table: &[(&[Option<Outcome>], Option<Conclusion>)] = &[
            (&[], None),
            (&[Some(Approved)], Some(Conclusion::Success)),
            (&[Some(NotRequired)], Some(Conclusion::Success)),
            (&[Some(Rejected)], Some(Conclusion::Failure)),
            (&[Some(Undecided)], Some(Conclusion::ActionRequired)),
            (&[Some(Rejected), Some(Approved)], Some(Conclusion::Success)),
            (&[Some(Approved), Some(Undecided)], Some(Conclusion::Success)),
            (&[Some(Rejected), Some(Undecided)], Some(Conclusion::ActionRequired)),
            (&[Some(Approved), None], None),
            (&[None], None),
        ];
        for (outcomes, expected) in table {
            let standing: Vec<_> = outcomes.iter().map(|outcome| standing(*outcome)).collect();
            assert_eq!(aggregate("1111", &standing), *expected, "{outcomes:?}");
        }
        assert_eq!(aggregate("2222", &[standing(Outcome::Approved)]), None, "never carried over");
    }

    #[test]
    fn each_sign_off_is_listed_and_nobody_is_called() {
        let two = [standing(Outcome::Rejected), standing(None)];
        assert_eq!(
            standing_list("1111", &two),
            "- `@bob` ([issue comment 11](https://github.example/c/11)): REJECTED\n\
             - `@bob` ([issue comment 11](https://github.example/c/11)): being assessed"
        );
        assert_eq!(standing_list("1111", &[]), "");
        let many = vec![standing(None); 25];
        assert!(standing_list("1111", &many).ends_with("\n- and 5 more"));
    }
}
