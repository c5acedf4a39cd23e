//! The check run, and the commit status beside it.

use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::json as read;
use super::{Conclusion, Identity, PublishError, Publisher, Subject};
use crate::limits::{ANNOTATIONS_PER_REQUEST, PAGE_ITEMS, PAGES, STATUS_CHARS};
use crate::verdict::{Annotation, CheckOutput};

/// Identifier of the button on the check run; GitHub sends it back in `requested_action`.
pub const VERIFY_AGAIN: &str = "verify_again";

/// A check run as GitHub tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CheckRun {
    /// GitHub's id of it.
    pub id: i64,
    #[serde(default)]
    external_id: Option<String>,
    status: String,
    conclusion: Option<String>,
    #[serde(default)]
    app: Option<AppId>,
    #[serde(default)]
    output: Output,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct AppId {
    id: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
struct Output {
    #[serde(default)]
    annotations_count: usize,
    title: Option<String>,
    summary: Option<String>,
}

impl Output {
    fn says(&self, output: &CheckOutput) -> bool {
        let trimmed = |text: &Option<String>| text.as_deref().unwrap_or_default().trim().to_owned();
        trimmed(&self.title) == output.title.trim()
            && trimmed(&self.summary) == output.summary.trim()
    }
}

#[derive(Deserialize)]
struct CheckRuns {
    check_runs: Vec<CheckRun>,
}

#[derive(Deserialize)]
struct Status {
    state: String,
    context: String,
    description: Option<String>,
    target_url: Option<String>,
}

impl CheckRun {
    /// Whether it is finished; it is never changed again then.
    pub fn finished(&self) -> bool {
        self.status == "completed"
    }

    /// Whether it is finished with that conclusion.
    pub fn concluded(&self, conclusion: Conclusion) -> bool {
        self.finished() && conclusion.is(self.conclusion.as_deref())
    }
}

impl Subject {
    /// `v1/<repository id>/<pull request>/<commit>/<n>`.
    pub(super) fn external_id(&self, n: impl std::fmt::Display) -> String {
        format!("v1/{}/{}/{}/{n}", self.repository_id, self.number, self.head)
    }
}

impl Publisher {
    /// The check run of the `n`th verification, created as `in_progress` where it is not there yet.
    ///
    /// # Errors
    /// [`PublishError::Api`] where GitHub does not answer or lets us not, [`PublishError::Refused`]
    /// where the commit or repository is gone.
    pub async fn begin(
        &self,
        subject: &Subject,
        n: i64,
        title: &str,
        summary: &str,
    ) -> Result<CheckRun, PublishError> {
        let external_id = self.identity.external_id(subject, n);
        if let Some(run) = self.find_run(subject, &external_id).await? {
            return Ok(run);
        }
        let mut body = json!({
            "name": self.check_name,
            "head_sha": subject.head,
            "status": "in_progress",
            "external_id": external_id,
            "output": { "title": title, "summary": summary },
        });
        if let Some(url) = &subject.details_url {
            body["details_url"] = url.as_str().into();
        }
        let route = format!("/repos/{}/check-runs", subject.repo);
        let reply = self.client.send(Method::POST, &route, &body).await;
        let run = match read("creating the check run", reply) {
            Ok(run) => run,
            Err(error) if error.answer_lost() => {
                self.find_run(subject, &external_id).await?.ok_or(error)?
            }
            Err(error) => return Err(error),
        };
        self.status(subject, "pending", title).await?;
        Ok(run)
    }

    /// Shows what is known while nothing is concluded. A finished run stays as it is, and so does one
    /// that says it already.
    ///
    /// # Errors
    /// As [`Publisher::begin`].
    pub async fn progress(
        &self,
        subject: &Subject,
        run: &CheckRun,
        output: &CheckOutput,
    ) -> Result<(), PublishError> {
        let now = self.run(subject, run.id).await?;
        if now.finished() || now.output.says(output) {
            return Ok(());
        }
        let body = json!({ "status": "in_progress", "output": shown(output, &[]) });
        self.patch(subject, run.id, &body).await.map(drop)
    }

    /// Finishes a run: annotations in batches, the conclusion with the last of them. A success is held
    /// back where another open pull request has the same head.
    ///
    /// Batches that an earlier try left are not sent again. A run that is finished with the same
    /// conclusion is left alone.
    ///
    /// # Errors
    /// [`PublishError::Finished`] where the run is finished with another conclusion; else as
    /// [`Publisher::begin`].
    pub async fn complete(
        &self,
        subject: &Subject,
        run: &CheckRun,
        conclusion: Conclusion,
        output: &CheckOutput,
    ) -> Result<(), PublishError> {
        let alone = self.alone(subject, conclusion, output);
        let (now, (conclusion, output)) =
            futures_util::try_join!(self.run(subject, run.id), alone)?;
        if now.finished() && !conclusion.is(now.conclusion.as_deref()) {
            return Err(PublishError::finished(run.id, now.conclusion));
        }
        if !now.finished() {
            self.finish(subject, &now, conclusion, &output).await?;
        }
        let state = match conclusion {
            Conclusion::Success => "success",
            Conclusion::Failure => "failure",
            Conclusion::ActionRequired => "error",
        };
        self.status(subject, state, &output.title).await
    }

    async fn finish(
        &self,
        subject: &Subject,
        run: &CheckRun,
        conclusion: Conclusion,
        output: &CheckOutput,
    ) -> Result<(), PublishError> {
        // GitHub appends the annotations of every update: what is there is not sent again.
        let mut left = output.annotations.get(run.output.annotations_count..).unwrap_or_default();
        while left.len() > ANNOTATIONS_PER_REQUEST {
            let (batch, rest) = left.split_at(ANNOTATIONS_PER_REQUEST);
            let body = json!({ "status": "in_progress", "output": shown(output, batch) });
            self.patch(subject, run.id, &body).await?;
            left = rest;
        }
        let body = json!({
            "status": "completed",
            "conclusion": conclusion.as_str(),
            "output": shown(output, left),
            "actions": [{
                "label": "Verify again",
                "description": "Verify every sign-off again",
                "identifier": VERIFY_AGAIN,
            }],
        });
        match self.patch(subject, run.id, &body).await {
            Err(error) if error.answer_lost() => {
                let now = self.run(subject, run.id).await?;
                let worked = now.finished() && conclusion.is(now.conclusion.as_deref());
                if worked { Ok(()) } else { Err(error) }
            }
            other => other.map(drop),
        }
    }

    async fn run(&self, subject: &Subject, id: i64) -> Result<CheckRun, PublishError> {
        let route = format!("/repos/{}/check-runs/{id}", subject.repo);
        read("reading the check run", self.client.get(&route).await)
    }

    async fn patch(&self, subject: &Subject, id: i64, body: &Value) -> Result<Value, PublishError> {
        let route = format!("/repos/{}/check-runs/{id}", subject.repo);
        read("updating the check run", self.client.send(Method::PATCH, &route, body).await)
    }

    /// Our own run of that `external_id`. Another app's run of the same name and id is not ours.
    ///
    /// Where a creation that was cut off came through late there are two, and GitHub removes none:
    /// the one that is not finished is the one that still has to be.
    async fn find_run(
        &self,
        subject: &Subject,
        external_id: &str,
    ) -> Result<Option<CheckRun>, PublishError> {
        let ours = self.runs(subject).await?.into_iter();
        let ours = ours.filter(|run| run.external_id.as_deref() == Some(external_id));
        Ok(ours.min_by_key(CheckRun::finished))
    }

    /// The check run of a verification whose number nobody else keeps: the one that waits at this
    /// commit, now saying so, or else the next.
    ///
    /// # Errors
    /// As [`Publisher::begin`].
    pub async fn take_up(
        &self,
        subject: &Subject,
        output: &CheckOutput,
    ) -> Result<CheckRun, PublishError> {
        match self.latest(subject).await? {
            Some((_, run)) if !run.finished() => {
                self.progress(subject, &run, output).await?;
                Ok(run)
            }
            latest => {
                let n = latest.map_or(0, |(n, _)| n) + 1;
                self.begin(subject, n, &output.title, &output.summary).await
            }
        }
    }

    /// The newest verification's number and check run at a commit; of two with one number the one
    /// that is not finished.
    ///
    /// # Errors
    /// As [`Publisher::begin`].
    pub async fn latest(&self, subject: &Subject) -> Result<Option<(i64, CheckRun)>, PublishError> {
        let numbered = self.runs(subject).await?.into_iter().filter_map(|run| {
            let n = self.identity.number(subject, run.external_id.as_deref()?)?;
            Some((n, run))
        });
        Ok(numbered.max_by_key(|(n, run)| (*n, !run.finished())))
    }

    /// Our runs at a commit.
    async fn runs(&self, subject: &Subject) -> Result<Vec<CheckRun>, PublishError> {
        let mut all = Vec::new();
        let name = percent_encoding::utf8_percent_encode(
            &self.check_name,
            percent_encoding::NON_ALPHANUMERIC,
        );
        let app = match &self.identity {
            Identity::App(app) => format!("&app_id={}", app.id),
            _ => String::new(),
        };
        for page in 1..=PAGES {
            let route = format!(
                "/repos/{}/commits/{}/check-runs?check_name={name}&filter=all{app}\
                 &per_page={PAGE_ITEMS}&page={page}",
                subject.repo, subject.head
            );
            let CheckRuns { check_runs } =
                read("listing the commit's check runs", self.client.get(&route).await)?;
            let last = check_runs.len() < PAGE_ITEMS;
            all.extend(check_runs.into_iter().filter(|run| match (&self.identity, &run.app) {
                (Identity::App(app), Some(by)) => app.id == by.id,
                (Identity::App(_), None) => false,
                _ => true,
            }));
            if last {
                break;
            }
        }
        Ok(all)
    }

    /// The commit status, where the profile wants one; the newest of our context counts.
    async fn status(
        &self,
        subject: &Subject,
        state: &str,
        title: &str,
    ) -> Result<(), PublishError> {
        let Some(context) = &self.status_context else { return Ok(()) };
        let description: String = title.chars().take(STATUS_CHARS).collect();
        let route = format!(
            "/repos/{}/commits/{}/statuses?per_page={PAGE_ITEMS}",
            subject.repo, subject.head
        );
        let statuses: Vec<Status> =
            read("listing the commit's statuses", self.client.get(&route).await)?;
        let newest = statuses.iter().find(|status| status.context == *context);
        if newest.is_some_and(|status| {
            status.state == state
                && status.description.as_deref() == Some(&description)
                && status.target_url == subject.details_url
        }) {
            return Ok(());
        }
        let body = json!({
            "state": state,
            "context": context,
            "description": description,
            "target_url": subject.details_url,
        });
        let route = format!("/repos/{}/statuses/{}", subject.repo, subject.head);
        let reply = self.client.send(Method::POST, &route, &body).await;
        read::<Value>("setting the commit status", reply).map(drop)
    }
}

fn shown(output: &CheckOutput, annotations: &[Annotation]) -> Value {
    let mut shown = json!({ "title": output.title, "summary": output.summary });
    if !output.text.is_empty() {
        shown["text"] = output.text.as_str().into();
    }
    if !annotations.is_empty() {
        shown["annotations"] = annotations.iter().map(annotation).collect();
    }
    shown
}

fn annotation(one: &Annotation) -> Value {
    json!({
        "path": one.path,
        "start_line": one.line,
        "end_line": one.line,
        "annotation_level": one.level.as_str(),
        "title": one.title,
        "message": one.message,
    })
}
