//! The whole way of one sign-off, with nothing but this machine:
//!
//! ```text
//! cargo run --example demo             # once through, then it ends
//! cargo run --example demo -- --serve  # the same, then both stay up
//! ```
//!
//! A stand-in of GitHub serves the case of a GB200 refresh, a countersign server starts on a fresh
//! SQLite file, the stand-in delivers the signed webhook, and what was posted is printed.

#![allow(missing_docs, clippy::disallowed_methods, unreachable_pub, clippy::unwrap_used)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a demonstration")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use serde_json::json;

#[path = "../tests/support/mod.rs"]
mod support;

use support::{Case, Options, ServerProcess, StandIn};

/// Shows one sign-off from the webhook to the verdict.
#[derive(Debug, Parser)]
struct Args {
    /// Folder of the case.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/gb200-sglang-agentx-refresh"))]
    case: PathBuf,
    /// Keep stand-in and server up until Ctrl-C.
    #[arg(long)]
    serve: bool,
}

fn main() -> ExitCode {
    // The server is this program again, in a process of its own.
    if std::env::args().nth(1).as_deref() == Some("countersign-server") {
        let cli = countersign::cli::Cli::parse_from(["countersign", "serve"]);
        return countersign::cli::run(cli).into();
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    match runtime.block_on(demo(Args::parse())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints one step and how long it took.
struct Steps(Instant);

impl Steps {
    fn done(&mut self, what: &str) {
        println!("{:>7} ms  {what}", self.0.elapsed().as_millis());
        self.0 = Instant::now();
    }
}

async fn demo(args: Args) -> anyhow::Result<()> {
    let mut steps = Steps(Instant::now());
    let stand_in = StandIn::try_start(Case::open(&args.case)?, Options::default()).await?;
    steps.done(&format!("GitHub's stand-in serves {} at {}", name(&args.case), stand_in.url));

    let folder = tempfile::tempdir()?;
    let program = std::env::current_exe()?;
    let server =
        ServerProcess::start(&program, &["countersign-server"], &stand_in, folder.path()).await;
    steps.done(&format!("countersign serves at {} on a fresh SQLite file", server.url));

    let signoff = signoff(&stand_in)?;
    let asked = json!({ "event": "issue_comment", "action": "created", "comment": signoff.0, "sender": signoff.1 });
    let received = stand_in.deliver(&asked).await;
    steps.done(&format!("the signed webhook is acknowledged: {}", received["status"]));

    let comment = |write: &support::Write| write.path.ends_with("/comments") && write.status < 300;
    stand_in.until("the verdict", |world| world.writes.iter().any(comment)).await;
    steps.done("the verdict is posted");

    println!("\nWhat was read and written, in this order:");
    for request in stand_in.requests() {
        println!("  {} {} {}", request.status, request.method, request.path);
    }
    for write in stand_in.writes() {
        println!("\n=== {} {} → {}", write.method, write.path, write.status);
        match write.body["body"].as_str() {
            Some(body) => println!("{body}"),
            None => println!("{:#}", shortened(write.body.clone())),
        }
    }
    if args.serve {
        println!(
            "\nBoth stay up; Ctrl-C ends them. The server is at {}, its metrics at /metrics.",
            server.url
        );
        println!("The command line against the same stand-in, in a second terminal:");
        for (variable, value) in stand_in.environment() {
            println!("  export {variable}={value}");
        }
        println!("  cargo run -- verify {}", stand_in.pull_url());
        tokio::signal::ctrl_c().await?;
    }
    Ok(())
}

/// A check run's body without its rows, which the comment below shows readably.
fn shortened(mut body: serde_json::Value) -> serde_json::Value {
    if let Some(text) = body.pointer_mut("/output/text") {
        let rows = text.as_str().map_or(0, |text| text.matches("Check ").count());
        *text = json!(format!("… {rows} rows, as in the comment …"));
    }
    body
}

fn name(case: &Path) -> String {
    case.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Id and author of the comment that opens like a sign-off.
fn signoff(stand_in: &StandIn) -> anyhow::Result<(u64, String)> {
    let world = stand_in.world();
    let found =
        world.comments.values().rev().find(|comment| {
            comment.body.trim_start().starts_with("As a PR reviewer and CODEOWNER")
        });
    let found = found.ok_or_else(|| anyhow::anyhow!("the case has no sign-off"))?;
    Ok((found.id, found.author.clone()))
}
