//! Pull requests that share a head.
//!
//! A check run belongs to a commit, and a branch that requires it asks for its name there: the approval
//! of one pull request would let every other one with the same head be merged, into another branch with
//! other owners. So nothing is approved at a head that two of them have.

use serde::Deserialize;

use super::api::json as read;
use super::{Conclusion, PublishError, Publisher, Subject};
use crate::limits::PAGE_ITEMS;
use crate::verdict::CheckOutput;

#[derive(Deserialize)]
struct Pull {
    number: i64,
    state: String,
    head: Head,
}

#[derive(Deserialize)]
struct Head {
    sha: String,
}

impl Publisher {
    /// What can be concluded of a pull request at its head: a success only where no other open pull
    /// request has that head.
    ///
    /// # Errors
    /// [`PublishError::Api`] where GitHub does not answer or lets us not.
    pub(super) async fn alone(
        &self,
        subject: &Subject,
        conclusion: Conclusion,
        output: &CheckOutput,
    ) -> Result<(Conclusion, CheckOutput), PublishError> {
        let unchanged = || Ok((conclusion, output.clone()));
        if conclusion != Conclusion::Success {
            return unchanged();
        }
        let (repo, head) = (&subject.repo, &subject.head);
        let route = format!("/repos/{repo}/commits/{head}/pulls?per_page={PAGE_ITEMS}");
        let pulls: Vec<Pull> =
            read("looking for other pull requests at the head", self.client.get(&route).await)?;
        let is_twin = |pull: &&Pull| {
            pull.state == "open" && pull.head.sha == *head && pull.number != subject.number
        };
        let mut twins: Vec<i64> = pulls.iter().filter(is_twin).map(|pull| pull.number).collect();
        twins.sort_unstable();
        let Some(first) = twins.first() else { return unchanged() };
        let all = twins.iter().map(|number| format!("#{number}")).collect::<Vec<_>>().join(", ");
        let summary = format!(
            "**Held back.** {all} has the same head as this pull request, and GitHub shows one check \
             for both, whatever each of them is merged into. Close one of them, or push a commit to one, \
             and have the sign-off verified again.\n\n{}",
            output.summary
        );
        let title = format!("held back: #{first} has the same head");
        Ok((Conclusion::ActionRequired, CheckOutput { title, summary, ..output.clone() }))
    }
}
