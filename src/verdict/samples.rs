//! Small rows and verdicts for the tests of this room.

use crate::facts::SignOffKind;
use crate::rules::{Finding, Level, Row, RowStatus, Severity};
use crate::verdict::{Inputs, SignedBy, Subject};

/// The assessed commit of [`subject`].
pub(crate) const HEAD: &str = "1111111111111111111111111111111111111111";

pub(crate) fn subject() -> Subject {
    Subject {
        repository: "example/bench".into(),
        pull_request: 12,
        required: true,
        signoff: Some(SignedBy {
            author: "bob".into(),
            kind: SignOffKind::IssueComment,
            url: Some("https://github.example/example/bench/pull/12#issuecomment-11".into()),
            id: 11,
            claims: None,
        }),
        inputs: Inputs {
            head: HEAD.into(),
            base: "2222222222222222222222222222222222222222".into(),
            newer_head: None,
            signoff_body: Some(format!("sha256:{}", "3".repeat(64))),
            runs: vec!["3826/3".into()],
            upstream: Vec::new(),
            date: "2026-10-13".into(),
        },
        profile: crate::profile::DEFAULT_PROFILE.into(),
        rules_digest: format!("sha256:{}", "4".repeat(64)),
        evidence_digest: format!("sha256:{}", "5".repeat(64)),
        partial: false,
        changed: None,
        discarded: Vec::new(),
    }
}

pub(crate) fn row(number: i64, status: RowStatus) -> Row {
    Row {
        id: format!("check-{number}"),
        number: Some(number),
        title: format!("Title {number}"),
        severity: Severity::Blocking,
        status,
        verified: !matches!(status, RowStatus::Attested | RowStatus::Undecided),
        evidence_digest: format!("sha256:{}", "6".repeat(64)),
        summary: format!("summary {number}"),
        overridden: None,
        findings: Vec::new(),
        retry_at: None,
    }
}

pub(crate) fn finding(level: Level, message: &str) -> Finding {
    Finding { level, message: message.into(), fix: None, subject: None, evidence: Vec::new() }
}
