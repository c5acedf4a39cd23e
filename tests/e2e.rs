//! Every test that needs more than one room, in one binary.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stderr,
    unreachable_pub
)]

mod support;

mod action;
mod crash;
mod doctor;
mod draft;
mod greeting;
mod house;
mod inert;
mod inspect;
mod life;
mod lint;
mod publish;
mod replay;
mod rounds;
mod rules;
mod server;
mod signoff_wild;
mod sources;
mod stand_in;
mod store;
mod verify;
