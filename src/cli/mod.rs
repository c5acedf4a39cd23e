//! The command line: one file a subcommand, and the one table of exit codes.

pub mod doctor;
pub mod facts;
pub mod inspect;
pub mod lint;
pub mod rules;
pub mod serve;
pub mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// How a subcommand ends. The one table of exit codes (contract).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: APPROVED, NOT_REQUIRED, clean.
    Clean,
    /// 1: REJECTED, findings.
    Findings,
    /// 2: bad usage or bad input.
    BadInput,
    /// 3: undecided: a fault of the network, the API or ours.
    Undecided,
    /// 130: interrupted.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::BadInput => 2,
            Exit::Undecided => 3,
            Exit::Interrupted => 130,
        })
    }
}

/// Verifies a code owner's sign-off on a pull request by evidence.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Assess one sign-off; read-only unless --publish.
    Verify(verify::Args),
    /// Print the facts as JSON and stop (what the rules will see).
    Facts(facts::Args),
    /// Check a draft sign-off before it is posted; offline.
    Lint(lint::Args),
    /// What one reader makes of one file, as JSON.
    Inspect(inspect::Args),
    /// List, check, test or explain rules.
    Rules(rules::Args),
    /// The webhook server.
    Serve(serve::Args),
    /// Check configuration, credentials, permissions, database and rules; say what is wrong.
    Doctor(doctor::Args),
}

/// Runs one command line to its end.
pub fn run(cli: Cli) -> Exit {
    match cli.command {
        Command::Verify(args) => verify::run(args),
        Command::Facts(args) => facts::run(args),
        Command::Lint(args) => lint::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Rules(args) => rules::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Doctor(args) => doctor::run(args),
    }
}
