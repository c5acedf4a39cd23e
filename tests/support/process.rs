//! countersign's server as a process of its own, so that it can be killed.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::stand_in::{PATIENCE, StandIn};

/// A running server.
pub struct ServerProcess {
    child: Child,
    /// Where it answers.
    pub url: String,
    log: Arc<Mutex<String>>,
}

impl ServerProcess {
    /// Starts `program args…` (which has to end up in `countersign serve`) against a stand-in, with
    /// its configuration and database in a folder, and waits until it is ready.
    ///
    /// # Panics
    /// Where it ends before it is ready; the message holds its log.
    pub async fn start(program: &Path, args: &[&str], stand_in: &StandIn, folder: &Path) -> Self {
        let repository = stand_in.world().case.spec.repository.clone();
        let config = format!("[[repository]]\nname = \"{repository}\"\nprofile = \"inferencex\"\n");
        Self::configured(program, args, stand_in, folder, &config).await
    }

    /// The same with a configuration of its own.
    ///
    /// # Panics
    /// Where it ends before it is ready; the message holds its log.
    pub async fn configured(
        program: &Path,
        args: &[&str],
        stand_in: &StandIn,
        folder: &Path,
        text: &str,
    ) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config: PathBuf = folder.join("countersign.toml");
        std::fs::write(&config, text).unwrap();
        let mut child = Command::new(program)
            .args(args)
            .env("COUNTERSIGN_CONFIG", &config)
            .env("COUNTERSIGN_LISTEN", format!("127.0.0.1:{port}"))
            .env("COUNTERSIGN_LOG_FILTER", "countersign=debug,info")
            .env("NO_COLOR", "1")
            .envs(stand_in.environment())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let kept = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut log = kept.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        let url = format!("http://127.0.0.1:{port}");
        let mut process = Self { child, url, log };
        process.until_ready().await;
        stand_in.send_deliveries_to(&format!("{}/webhook", process.url));
        process
    }

    async fn until_ready(&mut self) {
        let ready = format!("{}/readyz", self.url);
        for _ in 0..600 {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the server ended with {status}:\n{}", self.log());
            }
            if reqwest::get(&ready).await.is_ok_and(|reply| reply.status() == 200) {
                return;
            }
            // There is nothing to be told by: the process has no line to us but its port.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the server is not ready:\n{}", self.log());
    }

    /// Waits until so many runs of jobs have ended so in this process: `done`, `retry`, …
    ///
    /// # Panics
    /// After [`PATIENCE`], with the log.
    pub async fn until_ended(&self, outcome: &str, count: usize) {
        self.until_metric(&format!("countersign_jobs_total{{outcome=\"{outcome}\"}} {count}"))
            .await;
    }

    /// Waits until no job waits and none runs.
    ///
    /// # Panics
    /// After [`PATIENCE`], with the log.
    pub async fn until_idle(&self) {
        for status in ["queued", "running"] {
            self.until_metric(&format!("countersign_backlog{{status=\"{status}\"}} 0")).await;
        }
    }

    async fn until_metric(&self, line: &str) {
        let metrics = format!("{}/metrics", self.url);
        let looking = async {
            let mut look = tokio::time::interval(Duration::from_millis(10));
            loop {
                look.tick().await;
                let text = reqwest::get(&metrics).await.unwrap().text().await.unwrap();
                if text.lines().any(|found| found == line) {
                    return;
                }
            }
        };
        if tokio::time::timeout(PATIENCE, looking).await.is_err() {
            panic!("still waiting for `{line}`; the log:\n{}", self.log());
        }
    }

    /// Everything that it wrote to standard error so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// SIGKILL: nothing is finished, nothing is written.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
