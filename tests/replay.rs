//! Records: what is written is read again, and not a byte else.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use countersign::sources::record::{self, Meta, RecordError, Replay};
use countersign::sources::{ReadError, ReadKey, Reply, RepoName, Source};
use serde_json::json;
use tempfile::TempDir;

type Read = (ReadKey, Result<Reply, ReadError>);

fn meta() -> Meta {
    Meta {
        target: "https://github.com/octo/bench/pull/7#issuecomment-11".to_owned(),
        head: "a".repeat(40),
        base: "b".repeat(40),
        now: "2026-10-13T08:00:00Z".to_owned(),
        options: json!({ "profile": "example", "only": null, "digest": "sha256:0" }),
    }
}

fn reply(status: u16, body: &'static [u8]) -> Result<Reply, ReadError> {
    Ok(Reply { status, headers: BTreeMap::new(), body: Bytes::from_static(body) })
}

fn reads() -> Vec<Read> {
    let repo: RepoName = "octo/bench".parse().unwrap();
    let file = |path: &str| ReadKey::File {
        repo: repo.clone(),
        commit: "a".repeat(40),
        path: path.into(),
    };
    let what = format!("run {repo}/5");
    vec![
        (file("z\n..\u{202e}.md"), reply(200, b"\xff\xfe no text")),
        (file("a.md"), reply(200, b"same")),
        (file("b.md"), reply(200, b"same")),
        (file("none.md"), reply(404, b"")),
        (
            ReadKey::Run { repo: repo.clone(), id: 5 },
            Err(ReadError::RateLimited { what, until: "2026-10-13T09:00:00Z".into() }),
        ),
        (ReadKey::Edits { repo, ids: vec!["A".into()] }, reply(200, b"[null]")),
    ]
}

fn recorded() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    record::write(dir.path(), &meta(), &reads()).unwrap();
    dir
}

fn refused(dir: &Path) -> RecordError {
    Replay::open(dir).map(drop).expect_err("the record is taken")
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(dir.join("blobs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.push(dir.join("record.json"));
    files.sort();
    files
}

#[tokio::test]
async fn what_was_read_is_read_again() {
    let dir = recorded();
    let (replay, found) = Replay::open(dir.path()).unwrap();
    assert_eq!(found, meta());
    for (key, outcome) in reads() {
        assert_eq!(replay.read(&key).await, outcome, "{key}");
    }
    let unknown = ReadKey::Run { repo: "octo/bench".parse().unwrap(), id: 6 };
    let what = unknown.to_string();
    assert_eq!(replay.read(&unknown).await, Err(ReadError::NotRecorded { what }));
}

#[test]
fn the_same_reads_give_the_same_bytes_in_any_order() {
    let (one, other) = (recorded(), tempfile::tempdir().unwrap());
    let mut reads = reads();
    reads.reverse();
    record::write(other.path(), &meta(), &reads).unwrap();
    let bytes =
        |dir: &Path| files(dir).into_iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>();
    assert_eq!(bytes(one.path()), bytes(other.path()));
    // Four bodies, two of them alike and one empty.
    assert_eq!(files(one.path()).len(), 4 + 1);
}

#[test]
fn only_its_owner_may_read_a_record() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("new/record");
    record::write(&record, &meta(), &reads()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&record), mode(&record.join("blobs"))), (0o700, 0o700));
    for file in files(&record) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_changed_byte_anywhere_is_found() {
    let dir = recorded();
    for file in files(dir.path()) {
        let whole = fs::read(&file).unwrap();
        // Every byte of a small blob, every 7th of the list; and a byte more.
        let step = if file.ends_with("record.json") { 7 } else { 1 };
        let mut changed: Vec<Vec<u8>> = (0..whole.len())
            .step_by(step)
            .map(|place| {
                let mut bytes = whole.clone();
                bytes[place] ^= 1;
                bytes
            })
            .collect();
        changed.push([whole.as_slice(), b"\n"].concat());
        for bytes in changed {
            fs::write(&file, bytes).unwrap();
            let error = refused(dir.path());
            let named = error.to_string().contains(file.file_name().unwrap().to_str().unwrap());
            assert!(named, "{} is not named: {error}", file.display());
        }
        fs::write(&file, &whole).unwrap();
    }
    assert!(Replay::open(dir.path()).is_ok());
}

#[test]
fn blanks_and_order_inside_the_list_count_as_well() {
    let dir = recorded();
    let list = dir.path().join("record.json");
    let text = fs::read_to_string(&list).unwrap();
    for changed in [
        text.replacen("\": \"", "\":  \"", 1),
        text.trim_end().to_owned(),
        text.replacen("{\n", "{\n  \"surplus\": 1,\n", 1),
    ] {
        fs::write(&list, &changed).unwrap();
        assert!(matches!(refused(dir.path()), RecordError::Changed { path, .. } if path == list));
    }
}

#[test]
fn missing_and_surplus_files_are_named() {
    let dir = recorded();
    for file in files(dir.path()) {
        let whole = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        assert!(matches!(refused(dir.path()), RecordError::Missing(path) if path == file));
        fs::write(&file, whole).unwrap();
    }
    for surplus in ["notes.txt", ".hidden", "blobs/extra", &format!("blobs/{}", "0".repeat(64))] {
        let file = dir.path().join(surplus);
        fs::write(&file, "").unwrap();
        assert!(
            matches!(refused(dir.path()), RecordError::Surplus(path) if path == file),
            "{surplus}"
        );
        fs::remove_file(file).unwrap();
    }
    assert!(Replay::open(dir.path()).is_ok());
}

#[test]
fn a_pipe_in_a_files_place_is_refused_and_not_waited_for() {
    for blob in [false, true] {
        let dir = recorded();
        let all = files(dir.path());
        let file = all.into_iter().find(|file| file.ends_with("record.json") != blob).unwrap();
        fs::remove_file(&file).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
        assert!(made.success());
        assert!(
            matches!(refused(dir.path()), RecordError::Unreadable { path, .. } if path == file)
        );
    }
}

#[test]
fn another_schema_and_a_key_that_is_not_its_reads_are_refused() {
    let dir = recorded();
    let list = dir.path().join("record.json");
    let text = fs::read_to_string(&list).unwrap();
    fs::write(&list, text.replace("record/v1", "record/v9")).unwrap();
    let error = refused(dir.path()).to_string();
    assert!(error.contains("countersign/record/v9; expected countersign/record/v1"), "{error}");
    fs::write(&list, "not json").unwrap();
    assert!(matches!(refused(dir.path()), RecordError::Unreadable { path, .. } if path == list));
}

#[test]
fn a_case_is_no_record() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("case.yaml"), "repository: octo/bench\n").unwrap();
    let error = refused(dir.path());
    assert!(
        matches!(error, RecordError::Case(_)) && error.to_string().contains("stand-in"),
        "{error}"
    );
    let error = record::write(dir.path(), &meta(), &reads()).unwrap_err();
    assert!(matches!(error, RecordError::Case(_)), "{error}");
    let nowhere = dir.path().join("nowhere");
    assert!(matches!(refused(&nowhere), RecordError::Io { path, .. } if path == nowhere));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(refused(empty.path()), RecordError::Missing(_)));
}

#[test]
fn a_record_is_written_over_a_record_and_over_nothing_else() {
    let dir = recorded();
    record::write(dir.path(), &meta(), &reads()[..1]).unwrap();
    assert_eq!(files(dir.path()).len(), 2);
    Replay::open(dir.path()).unwrap();

    let notes = dir.path().join("notes.txt");
    fs::write(&notes, "mine").unwrap();
    let error = record::write(dir.path(), &meta(), &reads()).unwrap_err();
    assert!(matches!(&error, RecordError::Occupied(path) if *path == notes), "{error}");
    assert_eq!(files(dir.path()).len(), 2);
    assert_eq!(fs::read_to_string(notes).unwrap(), "mine");

    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("record.json"), "{}").unwrap();
    let error = record::write(other.path(), &meta(), &reads()).unwrap_err();
    assert!(matches!(error, RecordError::Occupied(_)), "{error}");
}
