//! Artifacts of runs: folders of the case, as the zip files that GitHub hands out.

use std::io::{Cursor, Write as _};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, bail, ensure};
use zip::write::SimpleFileOptions;

use super::case::Case;
use super::history::History;
use super::spec::{ArtifactSpec, RunSpec};

/// One upload.
#[derive(Debug, Clone)]
pub struct Artifact {
    pub id: u64,
    pub run: u64,
    pub name: String,
    /// Its folder or `.zip` in the case.
    pub from: String,
    pub expired: bool,
    pub created_at: Option<String>,
    /// Packed when it is first asked for.
    packed: Arc<OnceLock<Vec<u8>>>,
}

impl Artifact {
    /// The artifacts of a run: those that it lists; every one of the case's for an only run that
    /// lists none.
    pub fn of_run(case: &Case, run: &RunSpec) -> anyhow::Result<Vec<Self>> {
        let runs = &case.spec.runs;
        let place = runs.iter().position(|known| known.id == run.id).unwrap_or_default();
        let mut artifacts = Vec::new();
        let mut add = |name: &str, spec: &ArtifactSpec| -> anyhow::Result<()> {
            let number = artifacts.len() as u64 + 1;
            let artifact = Self {
                id: spec.id.unwrap_or(6_000_000_000 + place as u64 * 100_000 + number),
                run: run.id,
                name: name.to_owned(),
                from: source(case, name, spec.from.as_deref(), spec.expired)?,
                expired: spec.expired,
                created_at: spec.created_at.clone(),
                packed: Arc::default(),
            };
            artifacts.push(artifact);
            Ok(())
        };
        match &run.artifacts {
            Some(listed) => {
                for (name, uploads) in listed {
                    for upload in &uploads.0 {
                        add(name, upload)?;
                    }
                }
            }
            None if runs.len() > 1 => {}
            None => {
                for name in case.names_in("artifacts")? {
                    add(name.strip_suffix(".zip").unwrap_or(&name), &ArtifactSpec::default())?;
                }
            }
        }
        Ok(artifacts)
    }

    /// The zip file. The same case gives the same bytes.
    pub fn zip(&self, case: &Case, history: &History) -> anyhow::Result<&[u8]> {
        if let Some(packed) = self.packed.get() {
            return Ok(packed);
        }
        let packed = self.pack(case, history)?;
        Ok(self.packed.get_or_init(|| packed))
    }

    fn pack(&self, case: &Case, history: &History) -> anyhow::Result<Vec<u8>> {
        if self.from.ends_with(".zip") {
            return case.file(&self.from)?.with_context(|| format!("{}: no such file", self.from));
        }
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
        let mut packed = Vec::new();
        for path in case.files_under(&self.from)? {
            if let Some((archive, _)) = path.split_once(".tar.gz.d/") {
                if packed.last().is_none_or(|last| last != archive) {
                    packed.push(archive.to_owned());
                    zip.start_file(format!("{archive}.tar.gz"), options)?;
                    zip.write_all(&tar_of(
                        case,
                        history,
                        &format!("{}/{archive}.tar.gz.d", self.from),
                    )?)?;
                }
                continue;
            }
            let bytes = case.file(&format!("{}/{path}", self.from))?.unwrap_or_default();
            zip.start_file(path.as_str(), options)?;
            zip.write_all(&history.fill_bytes(bytes)?)?;
        }
        Ok(zip.finish()?.into_inner())
    }
}

/// Where an artifact's content is: as `from` says, else under its name.
fn source(case: &Case, name: &str, from: Option<&str>, expired: bool) -> anyhow::Result<String> {
    let named = from.unwrap_or(name);
    let candidates = [
        named.to_owned(),
        format!("artifacts/{named}"),
        format!("{named}.zip"),
        format!("artifacts/{named}.zip"),
    ];
    let candidates = if from.is_some() { &candidates[..] } else { &candidates[1..] };
    for candidate in candidates {
        let file = candidate.ends_with(".zip") && case.file(candidate)?.is_some();
        if file || case.has_folder(candidate) {
            return Ok(candidate.clone());
        }
    }
    if expired {
        return Ok(String::new());
    }
    bail!("artifact {name}: neither a folder nor a .zip at {}", candidates.join(", "))
}

/// A folder as a gzipped tar file, by the system's own `tar`.
fn tar_of(case: &Case, history: &History, folder: &str) -> anyhow::Result<Vec<u8>> {
    let dir = tempfile::tempdir()?;
    for path in case.files_under(folder)? {
        let target = dir.path().join(&path);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let bytes = case.file(&format!("{folder}/{path}"))?.unwrap_or_default();
        std::fs::write(target, history.fill_bytes(bytes)?)?;
    }
    let out = Command::new("tar")
        .args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--mode=a+rX,u+w", "--use-compress-program=gzip -n", "-cf", "-", "-C"])
        .arg(dir.path())
        .arg(".")
        .output()
        .context("tar has to be on the PATH")?;
    ensure!(out.status.success(), "tar: {}", String::from_utf8_lossy(&out.stderr).trim());
    Ok(out.stdout)
}
