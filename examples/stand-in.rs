//! Serves a case as GitHub would, and prints the environment that points countersign at it:
//!
//! ```text
//! cargo run --example stand-in -- tests/cases/b200-image-bump --port 8400
//! ```

#![allow(missing_docs, clippy::disallowed_methods, unreachable_pub, clippy::unwrap_used)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

#[path = "../tests/support/mod.rs"]
mod support;

use support::{Case, Options, StandIn};

/// Serves a case as GitHub would.
#[derive(Debug, Parser)]
struct Args {
    /// Folder of the case.
    case: PathBuf,
    /// Port on 127.0.0.1; any free one where it is left out.
    #[arg(long)]
    port: Option<u16>,
    /// Milliseconds added to every answer.
    #[arg(long, default_value_t = 0)]
    latency: u64,
    /// Answer only when the client has gone quiet, and count those rounds (`GET /_rounds`).
    #[arg(long)]
    rounds: bool,
    /// Milliseconds without a request that make a client quiet.
    #[arg(long, default_value_t = 25)]
    quiet: u64,
    /// Where deliveries go.
    #[arg(long)]
    webhook_url: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stand-in: {error:#}");
            ExitCode::from(2)
        }
    }
}

async fn run(args: Args) -> anyhow::Result<()> {
    let case = Case::open(&args.case)?;
    let options = Options {
        port: args.port,
        latency: Duration::from_millis(args.latency),
        rounds: args.rounds.then(|| Duration::from_millis(args.quiet)),
        webhook_url: args.webhook_url,
    };
    let stand_in = StandIn::try_start(case, options).await?;
    for (name, value) in stand_in.environment() {
        println!("{name}={value}");
    }
    eprintln!("serving {} for {}", args.case.display(), stand_in.pull_url());
    let (git_dir, base, head) = (stand_in.git_dir(), stand_in.sha("base"), stand_in.sha("head"));
    eprintln!("its commits: --git-dir {} --base {base} --head {head}", git_dir.display());
    until_stopped().await
}

/// Waits for Ctrl-C or a polite kill, so that the folders that were made go away.
async fn until_stopped() -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminated.recv() => {}
    }
    Ok(())
}
