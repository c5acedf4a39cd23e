//! Records: what a verification read, in a folder, and a source that answers from it.
//!
//! `record.json` lists every key that was asked for with its answer's digest; `blobs/<sha256>` holds
//! the answers. A record is verified whole before anything is replayed from it, to the byte: what is
//! changed, missing or surplus is named. It may hold what a private repository holds, so only its
//! owner may read it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ReadError, ReadKey, Reply, Source};
use crate::facts::{canonical, sha256_hex};
use crate::limits::REPLY_BYTES;

/// What `record.json` says it is.
pub const SCHEMA: &str = "countersign/record/v1";

const LIST: &str = "record.json";
const BLOBS: &str = "blobs";
/// The file that makes a folder a case of the stand-in.
const CASE: &str = "case.yaml";

/// What a verification was run on, beside what it read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// What was to be verified, as given.
    pub target: String,
    /// The assessed commit.
    pub head: String,
    /// The tip of the target branch.
    pub base: String,
    /// The time that the rules saw, RFC 3339.
    pub now: String,
    /// What else decides the outcome (profile, rules digest, chosen checks), as the caller likes.
    pub options: Value,
}

/// Why a record cannot be written or replayed. Each names the file.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file system refused.
    #[error("{}: {error}", .path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// A folder with other things in it is not written over.
    #[error("{}: stands in a folder that is no record; give an empty or a new folder", .0.display())]
    Occupied(PathBuf),
    /// A case of the stand-in.
    #[error("{}: this folder is a case of the stand-in, not a record; serve it with \
             `cargo run --example stand-in -- DIR` and record a verification with --record", .0.display())]
    Case(PathBuf),
    /// A file that should be there.
    #[error("{}: missing; the record is not whole", .0.display())]
    Missing(PathBuf),
    /// A file that should not be there.
    #[error("{}: not part of the record", .0.display())]
    Surplus(PathBuf),
    /// A file whose bytes are not those that were recorded.
    #[error("{}: changed since it was recorded: {reason}", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// In what.
        reason: String,
    },
    /// `record.json` is none.
    #[error("{}: {reason}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Document {
    schema: String,
    #[serde(flatten)]
    meta: Meta,
    reads: Vec<Entry>,
    /// SHA-256 of this document's canonical JSON, with this field empty.
    digest: String,
}

impl Document {
    fn sealed(mut self) -> Self {
        self.digest = String::new();
        let digest = format!("sha256:{}", sha256_hex(canonical(&self).as_bytes()));
        Self { digest, ..self }
    }

    fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data is JSON");
        text.push('\n');
        text
    }
}

#[derive(Serialize, Deserialize)]
struct Entry {
    key: String,
    read: ReadKey,
    #[serde(flatten)]
    answer: Answer,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Answer {
    Reply { status: u16, headers: BTreeMap<String, String>, sha256: String, length: usize },
    Error { error: ReadError },
}

/// Writes a record into an empty folder, a new one, or over another record.
///
/// # Errors
/// Where the folder holds something else, or cannot be written.
pub fn write(
    dir: &Path,
    meta: &Meta,
    reads: &[(ReadKey, Result<Reply, ReadError>)],
) -> Result<(), RecordError> {
    clear(dir)?;
    let blobs = dir.join(BLOBS);
    private_dir(dir)?;
    private_dir(&blobs)?;
    let mut written = BTreeSet::new();
    let mut entries = Vec::with_capacity(reads.len());
    for (key, outcome) in reads {
        let answer = match outcome {
            Ok(reply) => {
                let sha256 = sha256_hex(&reply.body);
                if written.insert(sha256.clone()) {
                    private_file(&blobs.join(&sha256), &reply.body)?;
                }
                Answer::Reply {
                    status: reply.status,
                    headers: reply.headers.clone(),
                    sha256,
                    length: reply.body.len(),
                }
            }
            Err(error) => Answer::Error { error: error.clone() },
        };
        entries.push(Entry { key: key.to_string(), read: key.clone(), answer });
    }
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    let document = Document {
        schema: SCHEMA.to_owned(),
        meta: meta.clone(),
        reads: entries,
        digest: String::new(),
    };
    // Last, so that a record that was broken off is none.
    private_file(&dir.join(LIST), document.sealed().text().as_bytes())
}

/// Makes room for a record where there is an older one; anything else stays untouched.
fn clear(dir: &Path) -> Result<(), RecordError> {
    let names = match names(dir) {
        Err(RecordError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(());
        }
        names => names?,
    };
    if names.is_empty() {
        return Ok(());
    }
    if names.contains(CASE) {
        return Err(RecordError::Case(dir.join(CASE)));
    }
    let list = dir.join(LIST);
    if let Some(other) = names.iter().find(|name| !matches!(name.as_str(), LIST | BLOBS)) {
        return Err(RecordError::Occupied(dir.join(other)));
    }
    let blobs = dir.join(BLOBS);
    if !names.contains(LIST) {
        return Err(RecordError::Occupied(blobs));
    }
    if document(&list).is_err() {
        return Err(RecordError::Occupied(list));
    }
    let kept = if names.contains(BLOBS) { self::names(&blobs)? } else { BTreeSet::new() };
    if let Some(other) = kept.iter().find(|name| !is_digest(name)) {
        return Err(RecordError::Occupied(blobs.join(other)));
    }
    let remove =
        |path: PathBuf| fs::remove_file(&path).map_err(|error| RecordError::Io { path, error });
    remove(list)?;
    kept.iter().try_for_each(|name| remove(blobs.join(name)))
}

/// A record as a source.
#[derive(Debug)]
pub struct Replay {
    reads: BTreeMap<ReadKey, Result<Reply, ReadError>>,
}

impl Replay {
    /// Opens a record and verifies every byte of it.
    ///
    /// # Errors
    /// Where anything is changed, missing or surplus, or the folder is no record.
    pub fn open(dir: &Path) -> Result<(Self, Meta), RecordError> {
        let found = names(dir)?;
        if found.contains(CASE) {
            return Err(RecordError::Case(dir.join(CASE)));
        }
        let list = dir.join(LIST);
        if !found.contains(LIST) {
            return Err(RecordError::Missing(list));
        }
        let document = document(&list)?;
        if let Some(other) = found.iter().find(|name| !matches!(name.as_str(), LIST | BLOBS)) {
            return Err(RecordError::Surplus(dir.join(other)));
        }
        let blobs = dir.join(BLOBS);
        let mut surplus = if found.contains(BLOBS) { names(&blobs)? } else { BTreeSet::new() };
        let mut bodies: BTreeMap<String, Bytes> = BTreeMap::new();
        let mut reads = BTreeMap::new();
        for entry in document.reads {
            let outcome = match entry.answer {
                Answer::Error { error } => Err(error),
                Answer::Reply { status, headers, sha256, length } => {
                    surplus.remove(&sha256);
                    let body = match bodies.get(&sha256) {
                        Some(body) => body.clone(),
                        None => blob(&blobs, &sha256, length)?,
                    };
                    bodies.insert(sha256, body.clone());
                    Ok(Reply { status, headers, body })
                }
            };
            reads.insert(entry.read, outcome);
        }
        match surplus.first() {
            Some(other) => Err(RecordError::Surplus(blobs.join(other))),
            None => Ok((Self { reads }, document.meta)),
        }
    }
}

impl Source for Replay {
    fn read<'a>(&'a self, key: &'a ReadKey) -> BoxFuture<'a, Result<Reply, ReadError>> {
        let outcome = self.reads.get(key).cloned();
        let unknown = || Err(ReadError::NotRecorded { what: key.to_string() });
        std::future::ready(outcome.unwrap_or_else(unknown)).boxed()
    }

    fn holds(&self, _key: &ReadKey) -> bool {
        true
    }
}

/// Reads `record.json` and holds it against its own digest and form.
fn document(path: &Path) -> Result<Document, RecordError> {
    let unreadable = |reason: String| RecordError::Unreadable { path: path.to_owned(), reason };
    let changed =
        |reason: &str| RecordError::Changed { path: path.to_owned(), reason: reason.into() };
    let text = bounded(path)?;
    let value: Value =
        serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    if value["schema"] != SCHEMA {
        let found = value["schema"].as_str().unwrap_or("none");
        return Err(unreadable(format!("schema {found}; expected {SCHEMA}")));
    }
    let document: Document =
        serde_json::from_value(value).map_err(|error| unreadable(error.to_string()))?;
    let digest = document.digest.clone();
    let document = document.sealed();
    if document.digest != digest {
        return Err(changed("its digest does not fit its content"));
    }
    // The digest covers what it says; this covers how it is written.
    if document.text().as_bytes() != text {
        return Err(changed("its bytes are not those that were written"));
    }
    for pair in document.reads.windows(2) {
        if pair[0].key >= pair[1].key {
            return Err(changed("its reads are not sorted, or one stands twice"));
        }
    }
    match document.reads.iter().find(|entry| entry.key != entry.read.to_string()) {
        Some(entry) => Err(unreadable(format!("`{}` is not the key of its read", entry.key))),
        None => Ok(document),
    }
}

fn blob(blobs: &Path, sha256: &str, length: usize) -> Result<Bytes, RecordError> {
    if !is_digest(sha256) {
        let reason = format!("`{sha256}` is no SHA-256");
        return Err(RecordError::Unreadable { path: blobs.with_file_name(LIST), reason });
    }
    let path = blobs.join(sha256);
    let body = match bounded(&path) {
        Err(RecordError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            return Err(RecordError::Missing(path));
        }
        body => body?,
    };
    let changed = |reason: String| Err(RecordError::Changed { path: path.clone(), reason });
    if body.len() != length {
        return changed(format!("{} bytes instead of {length}", body.len()));
    }
    if sha256_hex(&body) != sha256 {
        return changed("its digest is not its name".to_owned());
    }
    Ok(Bytes::from(body))
}

/// A file of at most [`REPLY_BYTES`]: nothing in a record is larger.
fn bounded(path: &Path) -> Result<Vec<u8>, RecordError> {
    let failed = |error| RecordError::Io { path: path.to_owned(), error };
    let mut bytes = Vec::new();
    let limit = REPLY_BYTES as u64;
    // Opening a pipe would wait for its writer.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        let reason = "not a file".to_owned();
        return Err(RecordError::Unreadable { path: path.to_owned(), reason });
    }
    let file = fs::File::open(path).map_err(failed)?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        let reason = format!("more than {limit} bytes");
        return Err(RecordError::Unreadable { path: path.to_owned(), reason });
    }
    Ok(bytes)
}

fn names(dir: &Path) -> Result<BTreeSet<String>, RecordError> {
    let failed = |error| RecordError::Io { path: dir.to_owned(), error };
    let entries = fs::read_dir(dir).map_err(failed)?;
    entries
        .map(|entry| Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned()))
        .collect()
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A folder that only its owner may enter, from its first moment or from now on.
fn private_dir(path: &Path) -> Result<(), RecordError> {
    let make = || {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(path)?;
        #[cfg(unix)]
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        Ok(())
    };
    make().map_err(|error| RecordError::Io { path: path.to_owned(), error })
}

/// A new file that only its owner may read, from its first moment.
fn private_file(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let write = || options.open(path)?.write_all(bytes);
    write().map_err(|error| RecordError::Io { path: path.to_owned(), error })
}
