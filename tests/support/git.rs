//! An object store that `git` itself fills and reads.
//!
//! Commits are made with fixed authors and dates, so that a case has the same SHAs everywhere.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, bail, ensure};

use super::case::{Tree, TreeFile};

/// A repository of its own in a folder that goes away with it.
#[derive(Debug)]
pub struct Git {
    dir: tempfile::TempDir,
    reader: Mutex<Option<Batch>>,
    /// What git has answered: everything is asked by SHA, so nothing of it can change.
    answers: Mutex<BTreeMap<Vec<String>, Arc<Vec<u8>>>>,
    commits_made: Mutex<u64>,
}

/// What a new commit holds.
#[derive(Debug)]
pub struct NewCommit<'a> {
    pub parents: Vec<&'a str>,
    /// A commit whose tree it starts from; an empty tree where there is none.
    pub tree_of: Option<&'a str>,
    pub changes: &'a Tree,
    pub message: &'a str,
    /// Seconds since 1970.
    pub date: i64,
}

/// A commit as git stores it.
#[derive(Debug, Clone)]
pub struct Commit {
    pub sha: String,
    pub tree: String,
    pub parents: Vec<String>,
    pub author: Signature,
    pub committer: Signature,
    pub message: String,
}

/// Who made a commit and when.
#[derive(Debug, Clone, Default)]
pub struct Signature {
    pub name: String,
    pub email: String,
    /// Seconds since 1970.
    pub date: i64,
}

/// An object by its name.
#[derive(Debug, Clone)]
pub struct Object {
    pub sha: String,
    /// `blob`, `tree`, `commit` or `tag`.
    pub kind: String,
    pub bytes: Vec<u8>,
}

/// A line of `git ls-tree`.
#[derive(Debug, Clone)]
pub struct TreeEntry {
    pub mode: String,
    pub kind: String,
    pub sha: String,
    pub size: Option<u64>,
    pub path: String,
}

/// A changed file.
#[derive(Debug, Clone)]
pub struct FileChange {
    pub path: String,
    pub previous: Option<String>,
    /// GitHub's word: `added`, `modified`, `removed`, `renamed`, `changed`.
    pub status: &'static str,
    pub blob: String,
    pub additions: u64,
    pub deletions: u64,
    /// From the first `@@`; absent for binary files and pure renames.
    pub patch: Option<String>,
}

impl Git {
    /// An empty repository, with the objects of an existing one at hand where one is given.
    pub fn create(clone: Option<&Path>) -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        for folder in ["objects/info", "refs"] {
            std::fs::create_dir_all(dir.path().join(folder))?;
        }
        std::fs::write(dir.path().join("HEAD"), "ref: refs/heads/main\n")?;
        let config = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
        std::fs::write(dir.path().join("config"), config)?;
        if let Some(clone) = clone {
            let store = store_of(clone)?;
            let objects = store.join("objects");
            std::fs::write(
                dir.path().join("objects/info/alternates"),
                format!("{}\n", objects.display()),
            )?;
            if store.join("shallow").is_file() {
                std::fs::copy(store.join("shallow"), dir.path().join("shallow"))?;
            }
        }
        Ok(Self {
            dir,
            reader: Mutex::default(),
            answers: Mutex::default(),
            commits_made: Mutex::default(),
        })
    }

    /// Where it is, as `--git-dir` takes it.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Makes a commit and gives its SHA.
    pub fn commit(&self, new: &NewCommit<'_>) -> anyhow::Result<String> {
        let number = {
            let mut made = lock(&self.commits_made);
            *made += 1;
            *made
        };
        let mut stream = Vec::new();
        writeln!(stream, "commit refs/heads/stand-in-{number}\nmark :1")?;
        writeln!(stream, "author Stand In <stand-in@example.org> {} +0000", new.date)?;
        writeln!(stream, "committer Stand In <stand-in@example.org> {} +0000", new.date)?;
        writeln!(stream, "data {}\n{}", new.message.len(), new.message)?;
        if let Some((first, merged)) = new.parents.split_first() {
            writeln!(stream, "from {first}")?;
            for parent in merged {
                writeln!(stream, "merge {parent}")?;
            }
        }
        writeln!(stream, "deleteall")?;
        if let Some(commit) = new.tree_of {
            let tree =
                self.read_commit(commit).with_context(|| format!("no commit {commit}"))?.tree;
            writeln!(stream, "M 040000 {tree} \"\"")?;
        }
        for (path, file) in new.changes {
            ensure!(!path.contains(['"', '\n', '\\']), "{path:?}: a path that a case cannot have");
            match file {
                None => writeln!(stream, "D \"{path}\"")?,
                Some(file) => {
                    let mode = if file.executable { "100755" } else { "100644" };
                    writeln!(stream, "M {mode} inline \"{path}\"\ndata {}", file.bytes.len())?;
                    stream.extend_from_slice(&file.bytes);
                    stream.push(b'\n');
                }
            }
        }
        writeln!(stream, "get-mark :1\ndone")?;
        let arguments = ["-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--done"];
        let sha = String::from_utf8(self.run(&arguments, &stream)?)?;
        Ok(sha.trim().to_owned())
    }

    /// The full SHA of a commit, by its SHA or by 7 or more digits of it.
    pub fn resolve(&self, sha: &str) -> Option<String> {
        let hex = (7..=40).contains(&sha.len()) && sha.bytes().all(|b| b.is_ascii_hexdigit());
        if !hex {
            return None;
        }
        self.object(&format!("{sha}^{{commit}}")).map(|object| object.sha)
    }

    /// Any object by `<sha>` or `<sha>:<path>`.
    pub fn object(&self, name: &str) -> Option<Object> {
        if name.contains('\n') {
            return None;
        }
        let mut reader = lock(&self.reader);
        if reader.is_none() {
            *reader = Batch::start(self.dir.path()).ok();
        }
        reader.as_mut()?.read(name).ok().flatten()
    }

    /// A commit by its full SHA.
    pub fn read_commit(&self, sha: &str) -> Option<Commit> {
        let object = self.object(&format!("{sha}^{{commit}}"))?;
        let text = String::from_utf8_lossy(&object.bytes);
        let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
        let mut commit = Commit {
            sha: object.sha,
            tree: String::new(),
            parents: Vec::new(),
            author: Signature::default(),
            committer: Signature::default(),
            message: message.trim_end().to_owned(),
        };
        for line in head.lines() {
            match line.split_once(' ') {
                Some(("tree", sha)) => commit.tree = sha.to_owned(),
                Some(("parent", sha)) => commit.parents.push(sha.to_owned()),
                Some(("author", rest)) => commit.author = Signature::parse(rest),
                Some(("committer", rest)) => commit.committer = Signature::parse(rest),
                _ => {}
            }
        }
        Some(commit)
    }

    /// A tree's entries: with `recursive` all of them with whole paths, trees among them.
    pub fn entries(&self, tree: &str, recursive: bool) -> anyhow::Result<Vec<TreeEntry>> {
        let mut arguments = vec!["ls-tree", "-z", "-l"];
        if recursive {
            arguments.extend(["-r", "-t"]);
        }
        arguments.push(tree);
        let out = self.ask(&arguments)?;
        let out = std::str::from_utf8(&out)?;
        out.split_terminator('\0')
            .map(|line| {
                let (meta, path) = line.split_once('\t').context("ls-tree prints a tab")?;
                let mut words = meta.split_whitespace();
                let mut next = || words.next().unwrap_or_default().to_owned();
                Ok(TreeEntry {
                    mode: next(),
                    kind: next(),
                    sha: next(),
                    size: next().parse().ok(),
                    path: path.to_owned(),
                })
            })
            .collect()
    }

    /// Commits reachable from `from`, newest first, but for those reachable from `without`.
    pub fn log(&self, from: &str, without: Option<&str>, more: &[String]) -> Vec<String> {
        let not = without.map(|sha| format!("^{sha}"));
        let mut arguments = vec!["rev-list", "--topo-order"];
        let split = more.iter().position(|word| word == "--").unwrap_or(more.len());
        arguments.extend(more[..split].iter().map(String::as_str));
        arguments.push(from);
        arguments.extend(not.as_deref());
        arguments.extend(more[split..].iter().map(String::as_str));
        let out = self.ask(&arguments).unwrap_or_default();
        String::from_utf8_lossy(&out).lines().map(str::to_owned).collect()
    }

    /// Where two histories part.
    pub fn merge_base(&self, one: &str, other: &str) -> Option<String> {
        let out = self.ask(&["merge-base", one, other]).ok()?;
        let sha = String::from_utf8_lossy(&out).trim().to_owned();
        (!sha.is_empty()).then_some(sha)
    }

    /// What changes from one commit's tree to another's, with renames, by path.
    pub fn diff(&self, from: &str, to: &str) -> anyhow::Result<Vec<FileChange>> {
        let raw = self.ask(&["diff", "-M", "--raw", "--numstat", "-z", "--abbrev=40", from, to])?;
        let mut changes = parse_raw(&String::from_utf8_lossy(&raw))?;
        let text = self.ask(&["diff", "-M", "-U3", "--no-color", from, to])?;
        let patches = split_patches(&String::from_utf8_lossy(&text));
        ensure!(patches.len() == changes.len(), "git printed a patch for each changed file");
        for (change, patch) in changes.iter_mut().zip(patches) {
            change.patch = patch;
        }
        Ok(changes)
    }

    /// The same as a tree to lay over another commit's.
    pub fn changes(&self, from: &str, to: &str) -> anyhow::Result<Tree> {
        let mut tree = Tree::new();
        for change in self.diff(from, to)? {
            if let Some(previous) = change.previous {
                tree.insert(previous, None);
            }
            let file = match change.status {
                "removed" => None,
                _ => {
                    let name = format!("{to}:{}", change.path);
                    let object = self.object(&name).with_context(|| name.clone())?;
                    Some(TreeFile { bytes: object.bytes.to_vec(), executable: false })
                }
            };
            tree.insert(change.path, file);
        }
        Ok(tree)
    }

    /// Runs git, unless it has answered the same before.
    fn ask(&self, arguments: &[&str]) -> anyhow::Result<Arc<Vec<u8>>> {
        let key: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        if let Some(known) = lock(&self.answers).get(&key) {
            return Ok(Arc::clone(known));
        }
        let answer = Arc::new(self.run(arguments, b"")?);
        lock(&self.answers).insert(key, Arc::clone(&answer));
        Ok(answer)
    }

    fn run(&self, arguments: &[&str], input: &[u8]) -> anyhow::Result<Vec<u8>> {
        let mut child = command(self.dir.path())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("git has to be on the PATH")?;
        let mut stdin = child.stdin.take().context("stdin is piped")?;
        stdin.write_all(input)?;
        drop(stdin);
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("git {}: {}", arguments.join(" "), said.trim());
        }
        Ok(output.stdout)
    }
}

impl Signature {
    fn parse(text: &str) -> Self {
        let (name, rest) = text.split_once(" <").unwrap_or((text, ""));
        let (email, when) = rest.split_once("> ").unwrap_or((rest, ""));
        let date = when.split(' ').next().and_then(|date| date.parse().ok()).unwrap_or_default();
        Self { name: name.to_owned(), email: email.to_owned(), date }
    }
}

/// `git cat-file --batch`, kept running: a blob costs no process.
#[derive(Debug)]
struct Batch {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Batch {
    fn start(dir: &Path) -> anyhow::Result<Self> {
        let mut child = command(dir)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().context("stdin is piped")?;
        let output = BufReader::new(child.stdout.take().context("stdout is piped")?);
        Ok(Self { child, input, output })
    }

    fn read(&mut self, name: &str) -> anyhow::Result<Option<Object>> {
        writeln!(self.input, "{name}")?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let words: Vec<&str> = line.trim_end().rsplitn(3, ' ').collect();
        let [size, kind, sha] = words[..] else { return Ok(None) };
        let Ok(size) = size.parse::<usize>() else { return Ok(None) };
        let mut bytes = vec![0; size + 1];
        self.output.read_exact(&mut bytes)?;
        bytes.pop();
        Ok(Some(Object { sha: sha.to_owned(), kind: kind.to_owned(), bytes }))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The folder that holds `objects`, of a bare repository or a checkout.
fn store_of(clone: &Path) -> anyhow::Result<PathBuf> {
    let out = command(clone)
        .env_remove("GIT_DIR")
        .args(["-c", "safe.directory=*", "-C"])
        .arg(clone)
        .args(["rev-parse", "--git-common-dir"])
        .output()
        .context("git has to be on the PATH")?;
    let said = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    ensure!(out.status.success() && !said.is_empty(), "{}: no git repository", clone.display());
    Ok(std::fs::canonicalize(clone.join(said))?)
}

fn command(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .env("GIT_DIR", dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .args(["-c", "core.quotePath=false", "-c", "diff.renameLimit=2000"]);
    for inherited in ["GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY"] {
        command.env_remove(inherited);
    }
    command
}

/// `--raw --numstat -z`: first all `:` records, then all counts, in the same order.
fn parse_raw(text: &str) -> anyhow::Result<Vec<FileChange>> {
    let mut changes = Vec::new();
    let mut parts = text.split_terminator('\0').peekable();
    while let Some(record) = parts.next_if(|part| part.starts_with(':')) {
        let words: Vec<&str> = record.split(' ').collect();
        let [old_mode, new_mode, old_blob, new_blob, letter] = words[..] else {
            bail!("unexpected record of git diff: {record}");
        };
        let first = parts.next().context("a path follows a record")?.to_owned();
        let renamed = letter.starts_with(['R', 'C']);
        let (path, previous) = if renamed {
            (parts.next().context("a renamed file has two paths")?.to_owned(), Some(first))
        } else {
            (first, None)
        };
        let status = match letter.as_bytes().first() {
            Some(b'A') => "added",
            Some(b'D') => "removed",
            Some(b'R') => "renamed",
            Some(b'M') if old_mode[1..] != *new_mode && old_blob == new_blob => "changed",
            _ => "modified",
        };
        let blob = if status == "removed" { old_blob } else { new_blob }.to_owned();
        changes.push(FileChange {
            path,
            previous,
            status,
            blob,
            additions: 0,
            deletions: 0,
            patch: None,
        });
    }
    for change in &mut changes {
        let counts = parts.next().context("counts follow the records")?;
        let mut words = counts.split('\t');
        change.additions = words.next().and_then(|n| n.parse().ok()).unwrap_or_default();
        change.deletions = words.next().and_then(|n| n.parse().ok()).unwrap_or_default();
        if words.next().is_none_or(str::is_empty) {
            parts.next();
            parts.next();
        }
    }
    Ok(changes)
}

/// One patch a file, from its first hunk on. Lines of a file never start with `diff --git`: each
/// of them carries a leading blank or sign.
fn split_patches(text: &str) -> Vec<Option<String>> {
    let mut patches: Vec<Option<String>> = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with("diff --git ") {
            patches.push(None);
        } else if let Some(patch) = patches.last_mut() {
            match patch {
                Some(patch) => patch.push_str(line),
                None if line.starts_with("@@ ") => *patch = Some(line.to_owned()),
                None => {}
            }
        }
    }
    for patch in patches.iter_mut().flatten() {
        if patch.ends_with('\n') {
            patch.pop();
        }
    }
    patches
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
