//! Records: what is written is read again, and not a byte else; and a verdict is made again from its
//! record, to the byte, by any process.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use bytes::Bytes;
use countersign::facts::SignOffKind;
use countersign::github::Client;
use countersign::rules::RuleSet;
use countersign::sources::cache::Cache;
use countersign::sources::live::Live;
use countersign::sources::record::{self, Meta, RecordError, Replay};
use countersign::sources::{Outside, ReadError, ReadKey, Reader, Reply, RepoName, Source};
use countersign::verdict::{self, Tries};
use countersign::verify::{self, Choice, Options, Target};
use countersign::{profile, signoff};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Fault, PERSONAL_TOKEN, StandIn};

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

const CASE: &str = "gb200-sglang-agentx-refresh";
const SIGN_OFF: u64 = 4_377_201_550;
const FORMATS: [&str; 3] = ["text", "markdown", "json"];

/// The program, with nothing in its environment but what is given.
async fn countersign(arguments: &[&str], environment: &[(&str, String)]) -> Output {
    let environment = environment.iter().map(|(name, value)| (*name, value.as_str()));
    tokio::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(arguments)
        .env_clear()
        .envs(environment)
        .output()
        .await
        .unwrap()
}

async fn replayed(record: &Path, more: &[&str]) -> Output {
    let arguments = [&["verify", "--replay", record.to_str().unwrap()], more].concat();
    countersign(&arguments, &[]).await
}

fn error(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A record of each format's run, and what was printed.
struct Recorded {
    folder: TempDir,
    printed: BTreeMap<&'static str, Vec<u8>>,
    exit: Option<i32>,
}

impl Recorded {
    /// Verifies the case's sign-off once a format, each time with a record of its own.
    async fn of(stand_in: &StandIn) -> Self {
        let target = format!("{}#issuecomment-{SIGN_OFF}", stand_in.pull_url());
        Self::by(&[target.as_str()], &stand_in.environment()).await
    }

    async fn by(target: &[&str], environment: &[(&'static str, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (mut printed, mut exit) = (BTreeMap::new(), None);
        for format in FORMATS {
            let dir = folder.path().join(format);
            let options = ["--format", format, "--record", dir.to_str().unwrap()];
            let arguments = [&["verify"], target, &options].concat();
            let output = countersign(&arguments, environment).await;
            assert!(!output.stdout.is_empty(), "{}", error(&output));
            printed.insert(format, output.stdout);
            exit = output.status.code();
        }
        Self { folder, printed, exit }
    }

    fn record(&self) -> PathBuf {
        self.folder.path().join("json")
    }

    fn verdict(&self) -> Value {
        serde_json::from_slice(&self.printed["json"]).unwrap()
    }
}

/// The files of a record with their bytes.
fn bytes_of(record: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let relative = |file: &Path| file.strip_prefix(record).unwrap().to_owned();
    files(record).iter().map(|file| (relative(file), fs::read(file).unwrap())).collect()
}

#[tokio::test]
async fn a_verdict_is_made_again_to_the_byte_by_any_process() {
    let stand_in = StandIn::serving(CASE).await;
    let recorded = Recorded::of(&stand_in).await;
    assert_eq!(recorded.exit, Some(0));
    assert_eq!(recorded.verdict()["verdict"], "APPROVED");
    let record = recorded.record();
    for format in FORMATS {
        let other = recorded.folder.path().join(format);
        assert!(bytes_of(&other) == bytes_of(&record), "the record of {format} is another one");
    }
    let written = stand_in.writes();
    assert!(written.is_empty(), "nothing was to be published: {written:?}");
    drop(stand_in);

    // 24 fresh processes, each with hash seeds of its own.
    for threads in ["1", "16"] {
        for zone in ["Pacific/Kiritimati", "America/St_Johns"] {
            for locale in ["C", "tr_TR.UTF-8"] {
                for format in FORMATS {
                    let environment = [
                        ("TOKIO_WORKER_THREADS", threads.to_owned()),
                        ("TZ", zone.to_owned()),
                        ("LC_ALL", locale.to_owned()),
                    ];
                    let dir = record.to_str().unwrap();
                    let arguments = ["verify", "--replay", dir, "--format", format];
                    let output = countersign(&arguments, &environment).await;
                    assert_eq!(output.status.code(), recorded.exit, "{}", error(&output));
                    let same = output.stdout == recorded.printed[format];
                    assert!(same, "{format} differs with {environment:?}");
                }
            }
        }
    }
}

/// Whether a reply came fresh or was kept by its ETag cannot be told from a record.
#[tokio::test]
async fn cold_and_warm_reads_give_one_record_and_one_verdict() {
    let stand_in = StandIn::serving(CASE).await;
    let recorded = Recorded::of(&stand_in).await;
    let files = profile::builtin("inferencex").unwrap();
    let rules = RuleSet::from_files("inferencex", &files).unwrap();
    let signoffs: signoff::Reader = rules.profile.reader().unwrap();
    let client = Client::with_token(&stand_in.url, Some(PERSONAL_TOKEN.into())).unwrap();
    let (client, cache) = (Arc::new(client), Arc::new(Cache::new()));
    let registry = format!("{}/registry", stand_in.url);
    let outside = Outside::new(Some(registry.parse().unwrap())).unwrap();
    let target = Target {
        repo: "SemiAnalysisAI/InferenceX".parse().unwrap(),
        number: 9264,
        signoff: Choice::This(SignOffKind::IssueComment, i64::try_from(SIGN_OFF).unwrap()),
    };
    let now = "2026-10-13T08:00:00Z".parse().unwrap();
    let options = Options { now, only: None, every_fact: false, tries: Tries::Last };
    let mut reads = Vec::new();
    for _ in 0..2 {
        let live = Live::new(Arc::clone(&client)).with_cache(Arc::clone(&cache));
        let reader = Reader::new(outside.before(Arc::new(live), &rules.profile));
        let made = verify::verify(&reader, &rules, &signoffs, &target, &options).await.unwrap();
        assert!(verdict::json(&made.verdict).as_bytes() == recorded.printed["json"]);
        reads.push(reader.record());
    }
    let kept = stand_in.requests().iter().filter(|request| request.status == 304).count();
    assert!(kept >= 5, "the second was not warm: {kept} replies were kept");
    assert!(reads[0] == reads[1], "cold and warm reads differ");
    let (replay, _) = Replay::open(&recorded.record()).unwrap();
    for (key, outcome) in &reads[0] {
        assert!(replay.read(key).await == *outcome, "{key} is recorded otherwise");
    }
}

#[tokio::test]
async fn a_record_that_is_not_whole_is_refused_by_name() {
    let stand_in = StandIn::serving(CASE).await;
    let recorded = Recorded::of(&stand_in).await;
    let record = recorded.record();
    let refused = async |file: &Path, how: &str| {
        let output = replayed(&record, &[]).await;
        assert_eq!(output.status.code(), Some(2), "{how}: {}", error(&output));
        assert!(output.stdout.is_empty());
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(error(&output).contains(name), "{how}: {name} is not in {}", error(&output));
    };
    let all = files(&record);
    for file in [all.first().unwrap(), all.last().unwrap()] {
        let whole = fs::read(file).unwrap();
        let mut changed = whole.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        fs::write(file, changed).unwrap();
        refused(file, "a changed byte").await;
        fs::write(file, [whole.as_slice(), b" "].concat()).unwrap();
        refused(file, "a byte more").await;
        fs::write(file, &whole[..whole.len() - 1]).unwrap();
        refused(file, "a byte less").await;
        fs::remove_file(file).unwrap();
        refused(file, "missing").await;
        fs::write(file, whole).unwrap();
    }
    for surplus in [record.join("notes.txt"), record.join("blobs").join("0".repeat(64))] {
        fs::write(&surplus, "").unwrap();
        refused(&surplus, "surplus").await;
        fs::remove_file(surplus).unwrap();
    }
    assert_eq!(replayed(&record, &[]).await.status.code(), Some(0), "whole again");
}

#[tokio::test]
async fn a_case_and_another_time_are_refused() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(CASE);
    let output = replayed(&case, &[]).await;
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("is a case of the stand-in, not a record"), "{output:?}");

    let stand_in = StandIn::serving(CASE).await;
    let recorded = Recorded::of(&stand_in).await;
    let output = replayed(&recorded.record(), &["--now", "2026-10-13T08:00:01Z"]).await;
    assert_eq!(output.status.code(), Some(2));
    let told = error(&output);
    assert!(told.contains("--now differs from the record's 2026-10-13T08:00:00Z"), "{told}");
    for now in ["2026-10-13T08:00:00Z", "2026-10-13T10:00:00+02:00"] {
        let output = replayed(&recorded.record(), &["--now", now, "--format", "json"]).await;
        assert!(output.stdout == recorded.printed["json"], "the same instant: {now}");
    }
}

#[tokio::test]
async fn what_was_undecided_is_undecided_again() {
    let stand_in = StandIn::serving(CASE).await;
    stand_in.fault(Fault {
        pattern: "GET /repos/*/actions/runs/*/jobs".to_owned(),
        status: Some(502),
        ..Fault::default()
    });
    let recorded = Recorded::of(&stand_in).await;
    assert_eq!(recorded.exit, Some(3));
    let verdict = recorded.verdict();
    assert_eq!(verdict["verdict"], "UNDECIDED");
    assert_eq!(verdict["undecided"], json!(["sweep"]));
    drop(stand_in);
    for format in FORMATS {
        let output = replayed(&recorded.record(), &["--format", format]).await;
        assert_eq!(output.status.code(), Some(3));
        assert!(output.stdout == recorded.printed[format], "{format} differs");
    }
}

#[tokio::test]
async fn a_local_run_is_replayed_without_its_clone() {
    let stand_in = StandIn::serving(CASE).await;
    let clone = stand_in.git_dir().display().to_string();
    let (base, head) = (stand_in.sha("base"), stand_in.sha("head"));
    let target = ["--git-dir", &clone, "--base", &base, "--head", &head];
    let recorded = Recorded::by(&target, &[("PATH", std::env::var("PATH").unwrap())]).await;
    assert_eq!(recorded.exit, Some(3), "a sign-off is not available offline");
    assert_eq!(stand_in.requests().len(), 0, "a local run asks nobody");
    drop(stand_in);
    for format in FORMATS {
        let dir = recorded.folder.path().join(format);
        let output = replayed(&dir, &["--format", format]).await;
        assert_eq!(output.status.code(), Some(3), "{}", error(&output));
        assert!(output.stdout == recorded.printed[format], "{format} differs");
    }
}
