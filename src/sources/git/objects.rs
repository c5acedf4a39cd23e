//! Files out of git: one process that is asked for all of them.

use std::process::Stdio;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::run::{Failure, Git};
use super::{Trouble, text};
use crate::limits::REPLY_BYTES;

/// One `git cat-file --batch` that is asked for all files.
#[derive(Debug)]
pub(super) struct Objects {
    _process: Child,
    names: ChildStdin,
    answers: BufReader<ChildStdout>,
}

pub(super) enum Object {
    Blob(Bytes),
    /// Something else stands there: a folder, a submodule, a link that leads nowhere.
    NoFile,
    Missing,
}

impl Objects {
    pub(super) fn start(git: &Git) -> Result<Self, Failure> {
        let mut process = Command::from(git.command(&["cat-file", "--batch", "--follow-symlinks"]))
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let broken = || Failure::NotRun("git gave no pipes".to_owned());
        let names = process.stdin.take().ok_or_else(broken)?;
        let answers = BufReader::new(process.stdout.take().ok_or_else(broken)?);
        Ok(Self { _process: process, names, answers })
    }

    /// The object of that name, and the reader where it can be asked again.
    pub(super) async fn read(mut self, name: &str) -> Result<(Object, Option<Self>), Trouble> {
        self.names.write_all(format!("{name}\n").as_bytes()).await?;
        self.names.flush().await?;
        let mut line = Vec::new();
        self.answers.read_until(b'\n', &mut line).await?;
        let line = text(&line).trim_end_matches('\n').to_owned();
        let mut words = line.rsplit(' ');
        let (last, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if line.is_empty() {
            return Err(Trouble::Lacking("git cat-file ended early".to_owned()));
        }
        if last == "missing" || last == "ambiguous" {
            return Ok((Object::Missing, Some(self)));
        }
        let Ok(size) = last.parse::<usize>() else {
            return Err(Trouble::Lacking(format!("git cat-file said `{line}`")));
        };
        if size > REPLY_BYTES {
            return Err(Trouble::TooLarge);
        }
        // The object is followed by a line break; so is the name behind `dangling`, `loop` and
        // `notdir`, whose size it is.
        let mut body = vec![0; size + 1];
        self.answers.read_exact(&mut body).await?;
        body.pop();
        let object = if kind == "blob" { Object::Blob(body.into()) } else { Object::NoFile };
        Ok((object, Some(self)))
    }
}
