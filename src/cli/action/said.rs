//! What a run of the Action says, whether or not it could post.

use crate::cli::Exit;
use crate::rules::escape::prose;
use crate::verdict::Outcome;

/// What a run says to the runner.
pub(super) struct Said {
    /// The output `verdict`.
    pub(super) verdict: &'static str,
    /// One line for the log, in our own words.
    pub(super) line: String,
    /// Markdown for the job's summary.
    pub(super) summary: String,
    /// The output `assessed-commit`.
    pub(super) commit: Option<String>,
    /// The output `comment-url`.
    pub(super) comment_url: Option<String>,
    pub(super) exit: Exit,
}

impl Said {
    pub(super) fn nothing(why: &'static str) -> Self {
        Self {
            verdict: "NOTHING",
            line: format!("nothing to verify: {why}"),
            summary: format!("Nothing to verify: {why}."),
            commit: None,
            comment_url: None,
            exit: Exit::Clean,
        }
    }

    pub(super) fn undecided(why: &str) -> Self {
        Self {
            verdict: Outcome::Undecided.words(),
            line: "nothing was concluded; run the job again".to_owned(),
            summary: format!(
                "## ⏳ **UNDECIDED** ⏳\n\nNothing was concluded, through no fault of the submission: {}. \
                 Run the job again.",
                prose(why)
            ),
            commit: None,
            comment_url: None,
            exit: Exit::Undecided,
        }
    }
}
