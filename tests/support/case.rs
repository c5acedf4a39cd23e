//! A case: its `case.yaml` and its files, from disk and as a test has changed them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use super::spec::Spec;

/// A case that can be served. Tests change it with [`Case::with`] instead of copying its folder.
#[derive(Debug, Clone)]
pub struct Case {
    /// `case.yaml`; free to change.
    pub spec: Spec,
    dir: PathBuf,
    /// Files that differ from those on disk; `None` where one is taken away.
    changed: BTreeMap<String, Option<Vec<u8>>>,
}

/// One file of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    pub bytes: Vec<u8>,
    pub executable: bool,
}

/// A tree, or what is laid over one: `None` removes the path.
pub type Tree = BTreeMap<String, Option<TreeFile>>;

impl Case {
    /// The case of that name in `tests/cases/`.
    ///
    /// # Panics
    /// Where it cannot be read: a test has nothing to say then.
    pub fn load(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
        Self::open(&dir).unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// Reads the case of a folder.
    pub fn open(dir: &Path) -> anyhow::Result<Self> {
        let path = dir.join("case.yaml");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("{}: every case has a case.yaml", path.display()))?;
        Self::parse(dir, &text).with_context(|| path.display().to_string())
    }

    /// A case from the text of its `case.yaml`; other files are looked for in `dir`.
    pub fn parse(dir: &Path, text: &str) -> anyhow::Result<Self> {
        let options = serde_yaml::options! {
            strict_booleans: true,
            leading_zero_numbers_as_strings: true,
            underscored_numbers_as_strings: true,
            with_snippet: false,
        };
        let spec = serde_yaml::from_str_with_options(text, options).map_err(|error| match error
            .location()
        {
            Some(at) => anyhow::anyhow!("line {}, column {}: {error}", at.line(), at.column()),
            None => anyhow::anyhow!("{error}"),
        })?;
        Ok(Self { spec, dir: dir.to_owned(), changed: BTreeMap::new() })
    }

    /// The same case with something changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Puts a file into the case, in memory.
    pub fn write(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.changed.insert(path.to_owned(), Some(bytes.into()));
    }

    /// Takes a file out of the case, in memory.
    pub fn remove(&mut self, path: &str) {
        self.changed.insert(path.to_owned(), None);
    }

    /// Replaces text in a file of the case, in memory.
    ///
    /// # Panics
    /// Where the text is not in it: the test would be about nothing.
    pub fn replace(&mut self, path: &str, from: &str, to: &str) {
        let text = self.text(path).unwrap_or_else(|error| panic!("{error:#}"));
        assert!(text.contains(from), "{path} does not contain {from:?}");
        self.write(path, text.replace(from, to));
    }

    /// A file's bytes; `None` where there is no such file.
    pub fn file(&self, path: &str) -> anyhow::Result<Option<Vec<u8>>> {
        ensure!(
            path.split('/').all(|part| part != ".."),
            "{path}: a case names files of its own folder only"
        );
        if let Some(changed) = self.changed.get(path) {
            return Ok(changed.clone());
        }
        let on_disk = self.dir.join(path);
        if !on_disk.is_file() {
            return Ok(None);
        }
        std::fs::read(&on_disk).map(Some).with_context(|| on_disk.display().to_string())
    }

    /// A text file that has to be there.
    pub fn text(&self, path: &str) -> anyhow::Result<String> {
        let bytes =
            self.file(path)?.with_context(|| format!("{path}: no such file in the case"))?;
        String::from_utf8(bytes).with_context(|| format!("{path}: not UTF-8"))
    }

    /// The paths of all files under a folder, relative to it, sorted. Links are not followed.
    pub fn files_under(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let mut found = BTreeSet::new();
        let mut folders = vec![String::new()];
        while let Some(below) = folders.pop() {
            let on_disk = self.dir.join(folder).join(&below);
            if !on_disk.is_dir() {
                continue;
            }
            for entry in std::fs::read_dir(&on_disk)? {
                let entry = entry?;
                let Ok(name) = entry.file_name().into_string() else {
                    bail!("{}: a file name that is not UTF-8", on_disk.display());
                };
                let path = if below.is_empty() { name } else { format!("{below}/{name}") };
                if entry.file_type()?.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path);
                }
            }
        }
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        for (path, content) in &self.changed {
            if let Some(below) = path.strip_prefix(&prefix) {
                if content.is_some() {
                    found.insert(below.to_owned());
                } else {
                    found.remove(below);
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    /// The names of the folders (and files) directly in a folder, sorted.
    pub fn names_in(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let names: BTreeSet<String> = self
            .files_under(folder)?
            .iter()
            .map(|path| path.split('/').next().unwrap_or(path).to_owned())
            .collect();
        Ok(names.into_iter().collect())
    }

    /// Whether there is any file under a folder.
    pub fn has_folder(&self, folder: &str) -> bool {
        self.files_under(folder).is_ok_and(|files| !files.is_empty())
    }

    /// A folder of the case as a tree: `<path>.deleted` removes that path.
    pub fn tree(&self, folder: &str) -> anyhow::Result<Tree> {
        let mut tree = Tree::new();
        for path in self.files_under(folder)? {
            let full = format!("{folder}/{path}");
            if let Some(gone) = path.strip_suffix(".deleted") {
                tree.insert(gone.to_owned(), None);
                continue;
            }
            let bytes = self.file(&full)?.unwrap_or_default();
            let executable = is_executable(&self.dir.join(&full));
            tree.insert(path, Some(TreeFile { bytes, executable }));
        }
        ensure!(!tree.is_empty(), "{folder}: no such folder in the case, or nothing in it");
        Ok(tree)
    }

    /// Where a path that may lead out of the case is (`git: {dir: ../clone.git}`).
    pub fn outside(&self, path: &str) -> PathBuf {
        self.dir.join(path)
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}
