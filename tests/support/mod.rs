//! The GitHub stand-in: a small HTTP server that answers as GitHub does for one case.
//!
//! A case is a folder (`tests/cases/`): two file trees that become real commits, comments, runs,
//! artifacts, and what goes wrong. Tests start it with [`StandIn::start`], change it while it runs
//! and read every write; `cargo run --example stand-in` serves a case to anything else.

#![allow(dead_code, reason = "two crates use it, each of them a part")]

mod answer;
mod artifacts;
mod auth;
mod build;
mod case;
mod control;
mod elsewhere;
mod faults;
mod git;
mod graphql;
mod history;
mod process;
mod rest;
mod rounds;
mod server;
mod spec;
mod stand_in;
mod storage;
mod webhook;
mod world;

#[allow(unused_imports, reason = "two crates use it, each of them a part")]
pub use self::{
    auth::{
        ACTIONS_SLUG, APP_ID, APP_SLUG, INSTALLATION_ID, JOB_TOKEN, PERSONAL_LOGIN, PERSONAL_TOKEN,
        READ_ONLY_JOB_TOKEN, WEBHOOK_SECRET,
    },
    case::Case,
    faults::Hold,
    process::ServerProcess,
    rounds::Round,
    spec::{
        ArtifactSpec, CheckSpec, CommentKind, CommentSpec, CommitSpec, Fault, JobSpec, MorePull,
        Move, OneOrMany, Person, PullState, RequiredCheck, RunSpec, Spec, StatusSpec, UpstreamPull,
        UpstreamSpec,
    },
    stand_in::{Options, StandIn},
    webhook::signature,
    world::{CheckRun, Logged, World, Write},
};
