//! The database, without making one: a file that the wrong account made would stop the server.

use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use super::lines::{Line, ok, wrong};
use crate::store::{Store, StoreError};

const FIX: &str = "check `database_url`, and that the server's account may write there";

/// What stands at the address.
pub(super) async fn examine(address: &SecretString) -> Line {
    if let Some(path) = address.expose_secret().strip_prefix("sqlite://")
        && !path.is_empty()
        && !Path::new(path).exists()
    {
        return to_be_made(Path::new(path));
    }
    let look = async {
        let store = Store::open(address).await?;
        let backlog = store.backlog().await?;
        Ok::<_, StoreError>((store.kind(), backlog))
    };
    match look.await {
        Ok((kind, jobs)) => ok(
            "database",
            format!(
                "{kind}; {} jobs wait, {} run, {} were given up",
                jobs.queued, jobs.running, jobs.failed
            ),
        ),
        Err(error) => wrong("database", error.to_string(), FIX),
    }
}

/// Whether a file could be made there, by making another one and taking it away.
fn to_be_made(path: &Path) -> Line {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let probe = folder.join(format!(".countersign-doctor-{}", std::process::id()));
    let made = std::fs::File::create_new(&probe).and_then(|_| std::fs::remove_file(&probe));
    match made {
        Ok(()) => ok("database", format!("SQLite; `serve` makes {}", path.display())),
        Err(error) => {
            let problem = format!("{} cannot be made: {error}", path.display());
            wrong("database", problem, FIX)
        }
    }
}
