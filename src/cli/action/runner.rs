//! The runner's side: its environment in, its summary and outputs out (GitHub: "Default environment
//! variables", "Workflow commands").

use std::io::Write as _;
use std::path::PathBuf;

use super::said::Said;
use crate::cli::{Exit, to_stderr, to_stdout};
use crate::limits::WEBHOOK_BYTES;
use crate::sources::RepoName;

/// Bytes of a job's summary that GitHub takes.
const SUMMARY_BYTES: usize = 1 << 20;

/// What the runner says of the job.
pub(super) struct Runner {
    pub(super) repository: RepoName,
    pub(super) api_url: String,
    pub(super) token: String,
    /// Marks what is ours among what the repository's other workflows write.
    pub(super) marker_key: Option<String>,
    event_name: String,
    event_path: PathBuf,
    summary: Option<PathBuf>,
    output: Option<PathBuf>,
}

impl Runner {
    /// Reads the environment.
    ///
    /// # Errors
    /// Names the variable that is missing or wrong.
    pub(super) fn from_environment(token: &str) -> Result<Self, String> {
        let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let need = |name: &str| {
            get(name).ok_or_else(|| {
                format!(
                    "the environment variable {name} is not set; a runner of GitHub Actions sets it"
                )
            })
        };
        Ok(Self {
            repository: need("GITHUB_REPOSITORY")?
                .parse()
                .map_err(|error| format!("GITHUB_REPOSITORY: {error}"))?,
            api_url: get("COUNTERSIGN_GITHUB_API_URL")
                .or_else(|| get("GITHUB_API_URL"))
                .unwrap_or_else(|| "https://api.github.com".to_owned()),
            token: get(token).ok_or_else(|| {
                format!("the environment variable {token} is not set; give it the job's token")
            })?,
            marker_key: get("COUNTERSIGN_MARKER_KEY"),
            event_name: get("GITHUB_EVENT_NAME").unwrap_or_default(),
            event_path: get("GITHUB_EVENT_PATH").unwrap_or_default().into(),
            summary: get("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            output: get("GITHUB_OUTPUT").map(PathBuf::from),
        })
    }

    /// Name and payload of the event that started the workflow.
    ///
    /// # Errors
    /// Where the file cannot be read or is larger than any payload.
    pub(super) fn event(&self) -> Result<(String, Vec<u8>), String> {
        use std::io::Read as _;
        let path = self.event_path.display();
        let mut body = Vec::new();
        std::fs::File::open(&self.event_path)
            .and_then(|file| file.take(WEBHOOK_BYTES as u64 + 1).read_to_end(&mut body))
            .map_err(|error| format!("GITHUB_EVENT_PATH: {path}: {error}"))?;
        if body.len() > WEBHOOK_BYTES {
            return Err(format!("GITHUB_EVENT_PATH: {path}: larger than any payload of GitHub"));
        }
        Ok((self.event_name.clone(), body))
    }

    /// Writes the job's summary and outputs, one line to standard output, and gives the exit code.
    pub(super) fn tell(&self, said: &Said) -> Exit {
        let mut summary = said.summary.clone();
        if summary.len() > SUMMARY_BYTES {
            let mut end = SUMMARY_BYTES;
            while !summary.is_char_boundary(end) {
                end -= 1;
            }
            summary.truncate(end);
        }
        self.append(self.summary.as_ref(), &format!("{summary}\n"));
        let outputs = [
            ("verdict", Some(said.verdict)),
            ("assessed-commit", said.commit.as_deref()),
            ("comment-url", said.comment_url.as_deref()),
        ];
        let mut lines = String::new();
        for (name, value) in outputs {
            // A line break in a value would be another output.
            let value = value.unwrap_or_default();
            if !value.chars().any(char::is_control) {
                lines.push_str(&format!("{name}={value}\n"));
            }
        }
        self.append(self.output.as_ref(), &lines);
        // Only words of our own: the runner obeys lines that begin with `::`.
        to_stdout(&format!("{}: {}\n", said.verdict, said.line));
        said.exit
    }

    fn append(&self, file: Option<&PathBuf>, text: &str) {
        let Some(file) = file else { return };
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(file);
        if let Err(error) = opened.and_then(|mut file| file.write_all(text.as_bytes())) {
            to_stderr(&format!("error: {}: {error}", file.display()));
        }
    }
}
