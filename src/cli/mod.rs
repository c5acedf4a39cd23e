//! The command line: one file a subcommand, and the one table of exit codes.

pub mod action;
pub mod doctor;
pub mod draft;
pub mod facts;
pub mod inspect;
pub mod lint;
pub mod profile;
mod publish;
mod rule_files;
pub mod rules;
pub mod serve;
pub mod target;
mod timings;
pub mod verify;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::rules::RuleSet;
use crate::verdict::{self, Verdict};

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
    /// Print the current checklist, filled in with what the evidence already proves.
    Draft(draft::Args),
    /// Check a draft sign-off before it is posted, or mend its form with --fix; offline.
    Lint(lint::Args),
    /// What one reader makes of one file, as JSON.
    Inspect(inspect::Args),
    /// List, check, test or explain rules.
    Rules(rules::Args),
    /// One run of the GitHub Action: verify what the workflow's event is about.
    Action(action::Args),
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
        Command::Draft(args) => draft::run(args),
        Command::Lint(args) => lint::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Rules(args) => rules::run(args),
        Command::Action(args) => action::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Doctor(args) => doctor::run(args),
    }
}

/// How a verdict is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a terminal.
    Text,
    /// As the comment would be.
    Markdown,
    /// The stable document.
    Json,
}

/// The verdict in one of its forms.
fn rendered(verdict: &Verdict, rules: &RuleSet, format: Format) -> String {
    match format {
        Format::Text => verdict::text(verdict, colored()),
        Format::Json => verdict::json(verdict),
        Format::Markdown => publish::comment(verdict, rules),
    }
}

/// Whether standard output takes colour (a terminal, and `NO_COLOR` is not set).
fn colored() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// The result, and nothing else, goes to standard output. A closed pipe is the reader's business.
fn to_stdout(text: &str) {
    let mut out = anstream::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        to_stderr(&format!("error: standard output: {error}"));
    }
}

/// Everything else goes to standard error, a line at a time.
fn to_stderr(text: &str) {
    // Where standard error is gone nobody is left to be told.
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Bad usage or bad input: says so and ends with 2.
fn bad(error: &str) -> Exit {
    // Mistakes in rule files are drawn with the word already.
    let error = error.trim_end();
    let error = error.strip_prefix("error: ").unwrap_or(error);
    to_stderr(&format!("error: {}", without_controls(error)));
    Exit::BadInput
}

/// A text whose control characters, line ends aside, are replaced.
fn without_controls(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// How a file is called in messages.
fn name_of(file: &Path) -> String {
    if file == Path::new("-") { "<stdin>".to_owned() } else { file.display().to_string() }
}

/// A JSON document as it is printed: what could steer a terminal, or turn the order of what it shows, is
/// escaped.
fn as_json(value: &serde_json::Value) -> String {
    let mut text = String::new();
    for shown in format!("{value:#}\n").chars() {
        match shown {
            '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(shown)));
            }
            shown => text.push(shown),
        }
    }
    text
}

/// Reads a text file, or standard input for `-`, of at most so many bytes.
fn read_text(file: &Path, limit: usize) -> Result<String, String> {
    use std::io::Read;
    let name = name_of(file);
    let mut bytes = Vec::new();
    let bound = limit as u64 + 1;
    let outcome = if file == Path::new("-") {
        std::io::stdin().lock().take(bound).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|open| open.take(bound).read_to_end(&mut bytes))
    };
    outcome.map_err(|error| format!("{name}: cannot be read: {error}"))?;
    if bytes.len() > limit {
        return Err(format!("{name}: longer than the {limit} bytes that are read; shorten it"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("{name}: not UTF-8: byte {at} begins no character; save the file as UTF-8")
    })
}

/// Runs to the end, or to Ctrl-C.
fn block_on(work: impl Future<Output = Exit>) -> Exit {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return bad(&format!("the runtime did not start: {error}")),
    };
    runtime.block_on(async {
        tokio::select! {
            exit = work => exit,
            _ = tokio::signal::ctrl_c() => Exit::Interrupted,
        }
    })
}
