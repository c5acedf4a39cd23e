//! Who we are, and by what our own things are told from those of others.
//!
//! An App writes under an identity that is only its own. In a GitHub Action every workflow of the
//! repository writes as one and the same account: there a keyed digest in the marker, and in the
//! check run's `external_id`, says which things are ours.

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

use super::Subject;

/// The app that we are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppIdentity {
    /// GitHub's id of it.
    pub id: i64,
    /// Its slug.
    pub slug: String,
}

/// Who writes.
#[derive(Debug, Clone)]
pub enum Identity {
    /// Our own App.
    App(AppIdentity),
    /// A person, with a token of theirs: a comment is ours by its author and marker.
    Person,
    /// A bot account that others write as, too: what is ours carries a digest made with this key.
    Shared(SecretString),
}

impl Identity {
    /// The mark of something on a pull request: 64 hex digits, HMAC-SHA256 over the repository's id,
    /// the pull request's number and the words. `None` where nobody else writes as we do.
    pub(super) fn mark(&self, subject: &Subject, words: &str) -> Option<String> {
        let Self::Shared(key) = self else { return None };
        let mut mac = Hmac::<Sha256>::new_from_slice(key.expose_secret().as_bytes())
            .expect("HMAC takes keys of any length");
        mac.update(format!("{}/{}\n{words}", subject.repository_id, subject.number).as_bytes());
        Some(hex::encode(mac.finalize().into_bytes()))
    }

    /// A text with its hidden first line marked as ours, where that needs a mark.
    pub(super) fn marked(&self, subject: &Subject, text: &str) -> String {
        let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
        match (self.mark(subject, line), line.strip_suffix(" -->")) {
            (Some(mark), Some(open)) => format!("{open} key={mark} -->\n{rest}"),
            _ => text.to_owned(),
        }
    }

    /// An `external_id` with its mark, where that needs one.
    pub(super) fn external_id(&self, subject: &Subject, n: i64) -> String {
        let id = subject.external_id(n);
        match self.mark(subject, &id) {
            Some(mark) => format!("{id}/{mark}"),
            None => id,
        }
    }

    /// The number in an `external_id` of ours at that commit; `None` for what is not ours.
    pub(super) fn number(&self, subject: &Subject, external_id: &str) -> Option<i64> {
        let inside = external_id.strip_prefix(&subject.external_id(""))?;
        let n = inside.split('/').next()?.parse().ok()?;
        (self.external_id(subject, n) == external_id).then_some(n)
    }
}

#[cfg(test)]
mod tests {
    use super::{AppIdentity, Identity};
    use crate::publish::Subject;

    fn subject(number: i64) -> Subject {
        Subject {
            repo: "harbour/pilots".parse().expect("a name"),
            repository_id: 5,
            number,
            head: "a".repeat(40),
            details_url: None,
        }
    }

    #[test]
    fn what_is_shared_is_told_apart_by_a_digest_that_others_cannot_make() {
        let ours = Identity::Shared("harbour master".to_owned().into());
        let text = "<!-- countersign signoff=issue_comment/11 -->\n## Verdict\n";
        let marked = ours.marked(&subject(7), text);
        let digest = marked.split_once("key=").and_then(|(_, rest)| rest.get(..64));
        let digest = digest.expect("a digest").to_owned();
        assert_eq!(
            marked,
            format!("<!-- countersign signoff=issue_comment/11 key={digest} -->\n## Verdict\n")
        );
        // On another pull request, or with another key, it is another one.
        assert!(!ours.marked(&subject(8), text).contains(&digest));
        let other = Identity::Shared("harbour mistress".to_owned().into());
        assert!(!other.marked(&subject(7), text).contains(&digest));
    }

    #[test]
    fn the_number_of_a_check_run_is_read_from_our_own_only() {
        let app = Identity::App(AppIdentity { id: 1, slug: "countersign".to_owned() });
        let ours = Identity::Shared("harbour master".to_owned().into());
        let other = Identity::Shared("harbour mistress".to_owned().into());
        let subject = subject(7);
        let plain = format!("v1/5/7/{}/12", "a".repeat(40));
        assert_eq!(app.external_id(&subject, 12), plain);
        assert_eq!(app.number(&subject, &plain), Some(12));
        assert_eq!(app.number(&subject, &format!("{plain}/ab")), None);
        let marked = ours.external_id(&subject, 12);
        assert_eq!(ours.number(&subject, &marked), Some(12));
        for forged in [&plain, &other.external_id(&subject, 12), &marked.replace("/12/", "/13/")] {
            assert_eq!(ours.number(&subject, forged), None, "{forged}");
        }
    }
}
