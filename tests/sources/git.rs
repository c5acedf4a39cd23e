//! A local clone: the same keys in the same shapes, from a real repository.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use countersign::sources::git::{GitError, LocalClone};
use countersign::sources::types::File;
use countersign::sources::{ReadError, ReadKey, Reader};
use tempfile::TempDir;

use super::fake::{comments, repo, sha};

/// Runs git with fixed names and a date; gives what it printed.
fn git(dir: &Path, day: u32, args: &[&str]) -> String {
    let date = format!("2026-10-{day:02}T10:00:00+02:00");
    let output = Command::new("git")
        .current_dir(dir)
        .args([
            "-c",
            "user.name=Mona",
            "-c",
            "user.email=mona@example.com",
            "-c",
            "core.symlinks=true",
        ])
        .args(args)
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn put(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn commit(dir: &Path, day: u32) -> String {
    git(dir, day, &["add", "-A"]);
    git(dir, day, &["commit", "-qm", "x"]);
    git(dir, day, &["rev-parse", "HEAD"])
}

struct Clone {
    dir: TempDir,
    root: String,
    base: String,
    first: String,
    head: String,
}

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

/// main: root (day 1), base (day 4); topic, from root: first (day 2), head (day 3).
fn repository() -> Clone {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    git(at, 1, &["init", "-q", "-b", "main"]);
    put(at, "docs/old name.md", LINES);
    put(at, "gone.md", "a\nb\n");
    put(at, "kept.md", "1\n2\n");
    put(at, "real/target.md", "target\n");
    std::os::unix::fs::symlink("real/target.md", at.join("link.md")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", at.join("outside.md")).unwrap();
    std::os::unix::fs::symlink("nowhere.md", at.join("dangling.md")).unwrap();
    let root = commit(at, 1);
    git(at, 1, &["checkout", "-qb", "topic"]);
    put(at, "kept.md", "1\n2\n3\n");
    let first = commit(at, 2);
    git(at, 3, &["mv", "docs/old name.md", "docs/new\nname.md"]);
    put(at, "docs/new\nname.md", &LINES.replace("one", "ONE"));
    std::fs::remove_file(at.join("gone.md")).unwrap();
    put(at, "--leading.md", "dash\n");
    put(at, "blob.bin", "\0\u{1}");
    std::fs::write(at.join(std::ffi::OsStr::from_bytes(b"caf\xe9.md")), "x\n").unwrap();
    let head = commit(at, 3);
    git(at, 4, &["checkout", "-q", "main"]);
    put(at, "later.md", "on main\n");
    let base = commit(at, 4);
    Clone { dir, root, base, first, head }
}

impl Clone {
    fn open(&self) -> Reader {
        let clone = LocalClone::open(self.dir.path(), repo(), 7, "main", "topic").unwrap();
        assert_eq!((clone.base(), clone.head()), (self.base.as_str(), self.head.as_str()));
        Reader::new(Arc::new(clone))
    }
}

fn changed(
    path: &str,
    previous: Option<&str>,
    status: &str,
    additions: i64,
    deletions: i64,
) -> File {
    File {
        path: path.to_owned(),
        previous_path: previous.map(str::to_owned),
        status: status.to_owned(),
        additions,
        deletions,
    }
}

#[tokio::test]
async fn a_comparison_has_githubs_shape() {
    let clone = repository();
    let reader = clone.open();
    let compare = reader.compare(&repo(), &clone.base, &clone.head).await.unwrap().unwrap();
    assert_eq!(compare.merge_base, clone.root);
    assert_eq!((compare.ahead_by, compare.behind_by), (2, 1));
    let commits: Vec<_> =
        compare.commits.iter().map(|c| (c.sha.as_str(), c.date.as_str())).collect();
    assert_eq!(
        commits,
        [
            (clone.first.as_str(), "2026-10-02T08:00:00Z"),
            (clone.head.as_str(), "2026-10-03T08:00:00Z")
        ]
    );
    let mut files = compare.files.clone();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    assert_eq!(
        files,
        [
            changed("--leading.md", None, "added", 1, 0),
            changed("blob.bin", None, "added", 0, 0),
            changed("caf\u{fffd}.md", None, "added", 1, 0),
            changed("docs/new\nname.md", Some("docs/old name.md"), "renamed", 1, 1),
            changed("gone.md", None, "removed", 0, 2),
            changed("kept.md", None, "modified", 1, 0),
        ]
    );
    assert_eq!(reader.pull_files(&repo(), 7).await.unwrap().unwrap(), compare.files);
    assert_eq!(reader.pull_commits(&repo(), 7).await.unwrap().unwrap(), compare.commits);
    let pull = reader.pull(&repo(), 7).await.unwrap().unwrap();
    assert_eq!((pull.number, pull.changed_files, pull.commits), (7, 6, 2));
    assert_eq!(
        (pull.head_sha, pull.base_sha, pull.author.as_str()),
        (clone.head.clone(), clone.base.clone(), "")
    );
    let tips = reader.tips(&repo(), 7).await.unwrap().unwrap();
    assert_eq!((tips.repository_id, tips.default_sha.as_str()), (0, clone.base.as_str()));
    assert_eq!((tips.base_sha, tips.head_sha), (Some(clone.base.clone()), clone.head.clone()));
    // Another pair than the clone was opened with.
    let other = reader.compare(&repo(), &clone.root, &clone.first).await.unwrap().unwrap();
    assert_eq!(other.files, [changed("kept.md", None, "modified", 1, 0)]);
}

#[tokio::test]
async fn files_are_read_at_their_commit_whatever_they_are_called() {
    let clone = repository();
    let reader = clone.open();
    let text = async |commit: &str, path: &str| {
        let body = reader.file(&repo(), commit, path).await.unwrap();
        body.map(|body| String::from_utf8(body.to_vec()).unwrap())
    };
    assert_eq!(text(&clone.head, "kept.md").await.as_deref(), Some("1\n2\n3\n"));
    assert_eq!(text(&clone.root, "kept.md").await.as_deref(), Some("1\n2\n"));
    assert_eq!(text(&clone.head, "--leading.md").await.as_deref(), Some("dash\n"));
    let renamed = LINES.replace("one", "ONE");
    assert_eq!(text(&clone.head, "docs/new\nname.md").await, Some(renamed));
    assert_eq!(text(&clone.head, "blob.bin").await.as_deref(), Some("\0\u{1}"));
    assert_eq!(text(&clone.head, "link.md").await.as_deref(), Some("target\n"));
    let none = [
        "gone.md",
        "docs",
        "no such.md",
        "no such\nname.md",
        "outside.md",
        "dangling.md",
        "../kept.md",
        "./kept.md",
        "/etc/hostname",
        "kept.md/x",
        "",
    ];
    for path in none {
        assert_eq!(text(&clone.head, path).await, None, "{path}");
    }
    // The same process still answers after every kind of miss.
    assert_eq!(text(&clone.head, "kept.md").await.as_deref(), Some("1\n2\n3\n"));
}

#[tokio::test]
async fn history_is_the_last_commit_before_a_time() {
    let clone = repository();
    let reader = clone.open();
    let last = async |until: Option<&str>| {
        let found = reader.history(&repo(), &clone.head, "kept.md", until).await.unwrap();
        found.map(|commit| commit.sha)
    };
    assert_eq!(last(None).await, Some(clone.first.clone()));
    assert_eq!(last(Some("2026-10-02T08:00:00Z")).await, Some(clone.first.clone()));
    assert_eq!(last(Some("2026-10-02T07:59:59Z")).await, Some(clone.root.clone()));
    assert_eq!(last(Some("2026-09-30T00:00:00Z")).await, None);
    // A pattern is a name here.
    let glob = reader.history(&repo(), &clone.head, "*.md", None).await.unwrap();
    assert_eq!(glob, None);
}

#[tokio::test]
async fn what_only_the_api_has_is_offline() {
    let clone = repository();
    let reader = clone.open();
    let other = ReadKey::File {
        repo: "octo/other".parse().unwrap(),
        commit: clone.head.clone(),
        path: "kept.md".into(),
    };
    for key in [comments(), other, ReadKey::Grants { repo: repo() }] {
        let error = reader.read(&key).await.unwrap_err();
        assert_eq!(error, ReadError::Offline { what: key.to_string() });
    }
}

#[tokio::test]
async fn a_commit_that_is_not_there_is_a_fault_and_not_an_absent_file() {
    let clone = repository();
    let reader = clone.open();
    for outcome in [
        reader.file(&repo(), &sha('a'), "kept.md").await.map(drop),
        reader.compare(&repo(), &clone.base, &sha('a')).await.map(drop),
        reader.history(&repo(), &sha('a'), "kept.md", None).await.map(drop),
    ] {
        assert!(matches!(outcome, Err(ReadError::Unavailable { .. })), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_partial_clone_fetches_nothing_and_names_what_it_lacks() {
    let origin = repository();
    git(origin.dir.path(), 5, &["config", "uploadpack.allowFilter", "true"]);
    let dir = tempfile::tempdir().unwrap();
    let from = format!("file://{}", origin.dir.path().display());
    git(dir.path(), 5, &["clone", "-q", "--bare", "--filter=blob:none", &from, "bare.git"]);
    let bare = dir.path().join("bare.git");
    let clone = LocalClone::open(&bare, repo(), 0, "main", &origin.head).unwrap();
    let reader = Reader::new(Arc::new(clone));
    let error = reader.file(&repo(), &origin.head, "kept.md").await.unwrap_err();
    let ReadError::Unavailable { reason, .. } = &error else { panic!("{error}") };
    let blob = git(origin.dir.path(), 5, &["rev-parse", "topic:kept.md"]);
    assert_eq!(*reason, format!("the clone lacks its blob {blob}; fetch it first"));
    assert_eq!(reader.file(&repo(), &origin.head, "gone.md").await.unwrap(), None);
}

#[tokio::test]
async fn programs_that_a_clone_names_are_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let clone = repository();
    let at = clone.dir.path();
    let tools = tempfile::tempdir().unwrap();
    let (program, trace) = (tools.path().join("program"), tools.path().join("ran"));
    let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", trace.display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let named = program.display().to_string();
    let aliased = format!("!{named}");
    for (name, value) in [
        ("core.fsmonitor", &named),
        ("core.pager", &named),
        ("core.alternateRefsCommand", &named),
        ("core.sshCommand", &named),
        ("diff.external", &named),
        ("diff.x.command", &named),
        ("diff.x.textconv", &named),
        ("filter.x.process", &named),
        ("gpg.program", &named),
        ("alias.diff-tree", &aliased),
        ("alias.rev-list", &aliased),
    ] {
        git(at, 5, &["config", name, value]);
    }
    put(at, ".git/info/attributes", "* diff=x filter=x\n");
    let _ = std::fs::remove_file(&trace);

    let reader = clone.open();
    let compare = reader.compare(&repo(), &clone.base, &clone.head).await.unwrap().unwrap();
    assert_eq!(compare.ahead_by, 2);
    assert!(reader.file(&repo(), &clone.head, "kept.md").await.unwrap().is_some());
    reader.history(&repo(), &clone.head, "kept.md", None).await.unwrap();
    let ran = std::fs::read_to_string(&trace).unwrap_or_default();
    assert_eq!(ran, "", "a program of the clone was run");
}

#[tokio::test]
async fn histories_that_share_nothing_cannot_be_compared() {
    let clone = repository();
    let at = clone.dir.path();
    git(at, 5, &["checkout", "-q", "--orphan", "island"]);
    let island = commit(at, 5);
    let reader = clone.open();
    assert_eq!(reader.compare(&repo(), &clone.base, &island).await.unwrap(), None);
}

#[test]
fn every_kind_of_clone_opens_and_wrong_ones_say_what_is_wrong() {
    let clone = repository();
    let at = clone.dir.path();
    let tree = at.join("linked");
    git(at, 5, &["worktree", "add", "-q", tree.to_str().unwrap(), "topic"]);
    for dir in [at, &at.join(".git"), &tree] {
        let opened = LocalClone::open(dir, repo(), 7, &clone.base, "topic").unwrap();
        assert_eq!(opened.head(), clone.head);
    }
    let open =
        |dir: &Path, base: &str| LocalClone::open(dir, repo(), 7, base, "topic").unwrap_err();
    let empty = tempfile::tempdir().unwrap();
    let error = open(empty.path(), "main");
    assert!(
        matches!(&error, GitError::NoRepository { reason, .. } if reason.contains("not a git repository")),
        "{error}"
    );
    for name in ["nowhere", "--all", "", &sha('a'), "main:kept.md"] {
        let error = open(at, name);
        assert!(
            matches!(&error, GitError::NoCommit { option: "base", name: given, .. } if given == name),
            "{error}"
        );
    }
}
