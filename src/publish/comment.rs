//! The verdict comment, and the short one that tells of a change.

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::api::json as read;
use super::{Identity, PublishError, Publisher, Subject};
use crate::limits::{PAGE_ITEMS, PAGES};

/// What became of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Its page.
    pub url: String,
    /// Whether something was written.
    pub written: Written,
}

/// Whether something was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// There was none.
    Created,
    /// There was one with another text.
    Updated,
    /// There was one with this text.
    Unchanged,
}

#[derive(Debug, Clone, Deserialize)]
struct Comment {
    id: i64,
    html_url: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    user: Option<Account>,
    #[serde(default)]
    performed_via_github_app: Option<App>,
}

#[derive(Debug, Clone, Deserialize)]
struct Account {
    login: String,
    #[serde(default, rename = "type")]
    kind: String,
}

#[derive(Debug, Clone, Deserialize)]
struct App {
    id: i64,
}

impl Comment {
    fn is_marked(&self, marker: &str) -> bool {
        self.body.as_deref().and_then(|body| body.lines().next()).map(str::trim_end) == Some(marker)
    }

    /// GitHub gives line breaks back as they came, or as CRLF, and trims the end.
    fn says(&self, text: &str) -> bool {
        let body = self.body.as_deref().unwrap_or_default();
        body.replace("\r\n", "\n").trim_end() == text.trim_end()
    }

    fn published(self, written: Written) -> Published {
        Published { url: self.html_url, written }
    }
}

/// Whose comments are ours.
enum Ours {
    App(i64),
    Login(String),
    /// A bot's, with a first line that only we can make.
    Marked,
}

impl Ours {
    /// A marker typed by somebody else means nothing.
    fn wrote(&self, comment: &Comment) -> bool {
        match self {
            Self::App(id) => {
                comment.performed_via_github_app.as_ref().is_some_and(|app| app.id == *id)
            }
            Self::Login(login) => comment.user.as_ref().is_some_and(|user| user.login == *login),
            Self::Marked => comment.user.as_ref().is_some_and(|user| user.kind == "Bot"),
        }
    }
}

impl Publisher {
    /// The verdict comment of one sign-off, as [`crate::verdict::comment`] renders it: created,
    /// updated in place, or left alone where it says the same. Its first line, the sign-off's
    /// marker, is what it is found by.
    ///
    /// # Errors
    /// [`PublishError::Api`] where GitHub does not answer or lets us not (a locked conversation),
    /// [`PublishError::Refused`] where the pull request is gone, [`PublishError::Unmarked`] for a
    /// text without a first line to be found by.
    pub async fn comment(&self, subject: &Subject, text: &str) -> Result<Published, PublishError> {
        let text = &self.identity.marked(subject, text);
        let marker = marker(text)?;
        let ours = self.ours().await?;
        let Some(found) = self.find(subject, &ours, marker).await? else {
            return self.create(subject, &ours, marker, text).await;
        };
        if found.says(text) {
            return Ok(found.published(Written::Unchanged));
        }
        let route = format!("/repos/{}/issues/comments/{}", subject.repo, found.id);
        let reply = self.client.send(Method::PATCH, &route, &json!({ "body": text })).await;
        match read::<Comment>("updating the verdict comment", reply) {
            Ok(comment) => Ok(comment.published(Written::Updated)),
            // Somebody deleted it between the two.
            Err(PublishError::Refused { status: 404 | 410, .. }) => {
                self.create(subject, &ours, marker, text).await
            }
            Err(error) if error.answer_lost() => match self.find(subject, &ours, marker).await? {
                Some(comment) if comment.says(text) => Ok(comment.published(Written::Updated)),
                _ => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// A comment that is posted once and never changed, whoever asks how often: that a verdict changed
    /// ([`crate::verdict::changed`]), the greeting ([`crate::verdict::greeting`]).
    ///
    /// # Errors
    /// As [`Publisher::comment`].
    pub async fn post_once(
        &self,
        subject: &Subject,
        text: &str,
    ) -> Result<Published, PublishError> {
        let text = &self.identity.marked(subject, text);
        let marker = marker(text)?;
        let ours = self.ours().await?;
        match self.find(subject, &ours, marker).await? {
            Some(comment) => Ok(comment.published(Written::Unchanged)),
            None => self.create(subject, &ours, marker, text).await,
        }
    }

    /// Whether a comment of ours has that first line ([`crate::verdict::marker`]).
    ///
    /// # Errors
    /// As [`Publisher::comment`].
    pub async fn has_comment(&self, subject: &Subject, line: &str) -> Result<bool, PublishError> {
        let text = self.identity.marked(subject, line);
        let ours = self.ours().await?;
        Ok(!self.marked(subject, &ours, marker(&text)?).await?.is_empty())
    }

    async fn create(
        &self,
        subject: &Subject,
        ours: &Ours,
        marker: &str,
        text: &str,
    ) -> Result<Published, PublishError> {
        let route = format!("/repos/{}/issues/{}/comments", subject.repo, subject.number);
        let reply = self.client.send(Method::POST, &route, &json!({ "body": text })).await;
        match read::<Comment>("posting the comment", reply) {
            Ok(comment) => Ok(comment.published(Written::Created)),
            Err(error) if error.answer_lost() => {
                let found = self.find(subject, ours, marker).await?;
                found.map(|comment| comment.published(Written::Created)).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    async fn ours(&self) -> Result<Ours, PublishError> {
        match &self.identity {
            Identity::App(app) => return Ok(Ours::App(app.id)),
            Identity::Shared(_) => return Ok(Ours::Marked),
            Identity::Person => {}
        }
        let user: Account = read("asking who we are", self.client.get("/user").await)?;
        Ok(Ours::Login(user.login))
    }

    /// The comment of ours with that first line.
    ///
    /// A write that a crash or a time-out cut off can come through after it was looked for, and then
    /// there are two. The last one counts (`domain/publication`) and the others are removed, but only
    /// where we alone can have written them: a person's token is shared with that person.
    async fn find(
        &self,
        subject: &Subject,
        ours: &Ours,
        marker: &str,
    ) -> Result<Option<Comment>, PublishError> {
        let mut found = self.marked(subject, ours, marker).await?;
        let last = found.pop();
        if matches!(ours, Ours::App(_) | Ours::Marked) {
            for surplus in found {
                self.remove(subject, &surplus).await;
            }
        }
        Ok(last)
    }

    /// Removes a comment. One that stays is tried again by the next publication.
    async fn remove(&self, subject: &Subject, comment: &Comment) {
        let route = format!("/repos/{}/issues/comments/{}", subject.repo, comment.id);
        match self.client.delete(&route).await {
            Ok(reply) if matches!(reply.status, 204 | 404 | 410) => {
                tracing::info!(comment = comment.html_url, "removed a second comment of ours");
            }
            Ok(reply) => {
                let status = reply.status;
                tracing::warn!(
                    comment = comment.html_url,
                    status,
                    "a second comment of ours stays"
                );
            }
            Err(error) => {
                tracing::warn!(comment = comment.html_url, %error, "a second comment of ours stays");
            }
        }
    }

    /// The comments of ours with that first line, oldest first.
    async fn marked(
        &self,
        subject: &Subject,
        ours: &Ours,
        marker: &str,
    ) -> Result<Vec<Comment>, PublishError> {
        let mut found = Vec::new();
        for page in 1..=PAGES {
            let route = format!(
                "/repos/{}/issues/{}/comments?per_page={PAGE_ITEMS}&page={page}",
                subject.repo, subject.number
            );
            let comments: Vec<Comment> =
                read("listing the pull request's comments", self.client.get(&route).await)?;
            let last = comments.len() < PAGE_ITEMS;
            let marked = |one: &Comment| ours.wrote(one) && one.is_marked(marker);
            found.extend(comments.into_iter().filter(marked));
            if last {
                break;
            }
        }
        Ok(found)
    }
}

/// The hidden first line of a text of ours.
fn marker(text: &str) -> Result<&str, PublishError> {
    let line = text.lines().next().unwrap_or_default();
    let hidden = line.starts_with("<!-- countersign ") && line.ends_with(" -->");
    if hidden { Ok(line) } else { Err(PublishError::Unmarked) }
}
