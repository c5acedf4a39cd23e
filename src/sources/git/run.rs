//! How git is run: plumbing only, in a clean environment, without any network, and without any program
//! that the clone's configuration names.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tokio::process::Command;

use super::text;

/// Why a git command gave nothing.
pub(super) enum Failure {
    NotRun(String),
    Refused { code: Option<i32>, said: String },
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::NotRun(error.to_string())
    }
}

/// How git is run.
#[derive(Debug)]
pub(super) struct Git {
    dir: PathBuf,
}

impl Git {
    /// A work tree's own folder is not a git folder, but holds one.
    pub(super) fn at(dir: &Path) -> Self {
        let inner = dir.join(".git");
        Self { dir: if inner.exists() { inner } else { dir.to_owned() } }
    }

    pub(super) fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        command
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            // An older git does not know GIT_NO_LAZY_FETCH. An empty list allows no protocol at all,
            // whatever the clone's own configuration allows.
            .env("GIT_ALLOW_PROTOCOL", "")
            .arg("--git-dir")
            .arg(&self.dir)
            .args(["--no-pager", "--literal-pathspecs", "-c", "core.quotepath=off"])
            // Plumbing that reads the index (diff-tree does) would run the clone's own program.
            .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(super) fn run_now(&self, args: &[&str]) -> Result<Vec<u8>, Failure> {
        outcome(self.command(args).output()?)
    }

    pub(super) async fn run(&self, args: &[&str]) -> Result<Vec<u8>, Failure> {
        outcome(Command::from(self.command(args)).kill_on_drop(true).output().await?)
    }
}

fn outcome(output: Output) -> Result<Vec<u8>, Failure> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = text(&output.stderr).lines().next().unwrap_or_default().to_owned();
    Err(Failure::Refused { code: output.status.code(), said })
}
