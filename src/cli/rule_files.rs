//! The files of a profile from a folder on disk.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::limits;
use crate::profile::{Files, is_policy};

/// Files that a profile may have: far more than any has, far fewer than a home folder.
const FILES: usize = 500;

/// Why a profile's folder could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RuleFilesError {
    /// The folder or a file in it cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// What could not be read.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// There is no `profile.yaml`.
    #[error(
        "{}: no profile: it has no `profile.yaml`{}",
        path.display(),
        below.as_ref().map(|dir| format!("; did you mean `{}`?", dir.display())).unwrap_or_default()
    )]
    NoProfile {
        /// The folder.
        path: PathBuf,
        /// A profile's folder in it.
        below: Option<PathBuf>,
    },
    /// A file is not UTF-8.
    #[error("{}: not UTF-8 at byte {offset}", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// How many bytes are.
        offset: usize,
    },
    /// More than a profile can have.
    #[error("{}: more than {bound}", path.display())]
    TooLarge {
        /// The folder or file.
        path: PathBuf,
        /// The bound, with its unit.
        bound: String,
    },
}

/// Reads every YAML file of a profile's folder: those in it and those in `tables/`; and the words of its
/// greeting, `greeting.NAME.md`. Hidden files and everything else are passed over; links are followed.
///
/// # Errors
/// Names the file or folder that could not be read.
pub(super) fn read_dir(dir: &Path) -> Result<Files, RuleFilesError> {
    let mut files = Files::new();
    read_folder(dir, "", &mut files)?;
    if !files.contains_key("profile.yaml") {
        return Err(RuleFilesError::NoProfile { path: dir.to_owned(), below: profile_below(dir) });
    }
    let tables = dir.join("tables");
    if tables.is_dir() {
        read_folder(&tables, "tables/", &mut files)?;
    }
    Ok(files)
}

/// The first profile's folder that lies in one, for somebody who named the folder of all profiles.
fn profile_below(dir: &Path) -> Option<PathBuf> {
    let folders =
        std::fs::read_dir(dir).ok()?.take(FILES).filter_map(|entry| Some(entry.ok()?.path()));
    folders.filter(|folder| folder.join("profile.yaml").is_file()).min()
}

fn read_folder(dir: &Path, prefix: &str, files: &mut Files) -> Result<(), RuleFilesError> {
    let unreadable = |source| RuleFilesError::Unreadable { path: dir.to_owned(), source };
    for entry in std::fs::read_dir(dir).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let inside = format!("{prefix}{name}");
        if name.starts_with('.') || !is_policy(&inside) || !path.is_file() {
            continue;
        }
        if files.len() == FILES {
            let bound = format!("{FILES} files");
            return Err(RuleFilesError::TooLarge { path: dir.to_owned(), bound });
        }
        files.insert(inside, read_file(&path)?);
    }
    Ok(())
}

fn read_file(path: &Path) -> Result<String, RuleFilesError> {
    let unreadable = |source| RuleFilesError::Unreadable { path: path.to_owned(), source };
    let bound = u64::try_from(limits::RULE_FILE_BYTES).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(bound + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > limits::RULE_FILE_BYTES {
        let bound = format!("{bound} bytes");
        return Err(RuleFilesError::TooLarge { path: path.to_owned(), bound });
    }
    String::from_utf8(bytes).map_err(|error| RuleFilesError::NotText {
        path: path.to_owned(),
        offset: error.utf8_error().valid_up_to(),
    })
}
