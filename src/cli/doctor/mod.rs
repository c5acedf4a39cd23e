//! `countersign doctor`: one line for each thing that is needed, and what to do where it is wrong, so
//! that a mistake is found before an event finds it.
//!
//! With a configuration it looks at what a server needs; without one at what the command line needs.

mod app;
mod command_line;
mod database;
mod lines;
mod profiles;
mod repository;

use std::io::Write as _;
use std::path::PathBuf;

use secrecy::ExposeSecret;

use self::lines::{Line, note, ok, wrong};
use super::{Exit, serve};
use crate::config::Config;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The server's configuration file [default: countersign.toml, where it exists]
    #[arg(long, value_name = "FILE", env = "COUNTERSIGN_CONFIG")]
    config: Option<PathBuf>,
    /// Without a configuration: the environment variable that holds the token.
    #[arg(long, value_name = "NAME", default_value = "GITHUB_TOKEN")]
    token_env: String,
}

/// Fewer characters can be guessed from one recorded delivery.
const SECRET_CHARS: usize = 16;

/// Runs it.
pub fn run(args: Args) -> Exit {
    let config = match serve::load(args.config.as_deref()) {
        Ok(config) => config,
        Err(errors) => {
            let _ = writeln!(anstream::stderr(), "{errors}");
            return Exit::BadInput;
        }
    };
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        let _ = writeln!(anstream::stderr(), "no threads can be started");
        return Exit::Undecided;
    };
    let lines = if args.config.is_none() && is_for_no_server(&config) {
        runtime.block_on(command_line::examine(&config, &args.token_env))
    } else {
        runtime.block_on(examine(&config))
    };
    // Nobody is left to tell where standard output is closed.
    let _ = lines::print(&mut anstream::stdout(), &lines);
    if lines.iter().any(Line::is_wrong) { Exit::Findings } else { Exit::Clean }
}

/// Whether nothing at all of a server was set.
fn is_for_no_server(config: &Config) -> bool {
    !std::path::Path::new(crate::config::FILE).exists()
        && config.repositories.is_empty()
        && config.github.app_id.is_none()
        && config.github.private_key.is_none()
        && config.webhook.secret.is_none()
}

async fn examine(config: &Config) -> Vec<Line> {
    let mut lines = configuration(config);
    let profiles = profiles::read(config, &mut lines);
    lines.push(database::examine(&config.database_url).await);
    lines.extend(app::examine(config, &profiles).await);
    lines
}

fn configuration(config: &Config) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Err(missing) = config.app() {
        lines.extend(missing.0.iter().map(|error| {
            wrong(
                "configuration",
                error.to_string(),
                "see deploy/README.md for where each comes from",
            )
        }));
    }
    let secrets = [
        ("webhook.secret", &config.webhook.secret),
        ("webhook.secret_previous", &config.webhook.secret_previous),
    ];
    for (name, secret) in secrets {
        if secret.as_ref().is_some_and(|s| s.expose_secret().chars().count() < SECRET_CHARS) {
            lines.push(wrong(
                "configuration",
                format!("`{name}` has fewer than {SECRET_CHARS} characters"),
                "make one with `openssl rand -hex 32`, and set it on the App's settings page too",
            ));
        }
    }
    if config.repositories.is_empty() {
        lines.push(wrong(
            "configuration",
            "no repository is served",
            "add a [[repository]] with name and profile",
        ));
    }
    lines.extend(served_twice(config));
    if lines.is_empty() {
        let names: Vec<_> = config.repositories.iter().map(|r| r.name.to_string()).collect();
        lines.push(ok("configuration", format!("serves {}", names.join(", "))));
    }
    if config.webhook.secret_previous.is_some() {
        lines.push(note(
            "configuration",
            "the previous webhook secret is still taken",
            "remove it when countersign_previous_secret_total no longer rises",
        ));
    }
    if config.now.is_some() {
        lines.push(wrong(
            "configuration",
            "`now` is set: every verdict speaks of that day",
            "unset it; it is for tests",
        ));
    }
    lines
}

/// Repositories with several entries, of which only one can count.
fn served_twice(config: &Config) -> Vec<Line> {
    let names: Vec<String> =
        config.repositories.iter().map(|r| r.name.to_string().to_ascii_lowercase()).collect();
    let again = config.repositories.iter().enumerate().filter(|(n, _)| {
        let before = &names[..*n];
        before.iter().filter(|name| **name == names[*n]).count() == 1
    });
    again
        .map(|(_, entry)| {
            wrong(
                "configuration",
                format!("{} has several [[repository]] entries", entry.name),
                "keep the one whose profile is meant",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, variables: &[(&str, &str)]) -> Config {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let variables = variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        Config::load(Some(file.path()), variables).unwrap()
    }

    #[test]
    fn a_configuration_that_cannot_serve_says_all_that_it_lacks() {
        let config = load("", &[("COUNTERSIGN_WEBHOOK_SECRET", "short")]);
        let problems = lines::problems(configuration(&config));
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems[0].starts_with("`github.app_id` is not set"));
        assert!(problems[1].starts_with("`github.private_key` is not set"));
        assert_eq!(problems[2], "`webhook.secret` has fewer than 16 characters");
        assert_eq!(problems[3], "no repository is served");
    }

    #[test]
    fn a_repository_that_is_served_twice_is_named_once() {
        let entry = |name: &str| format!("[[repository]]\nname = \"{name}\"\nprofile = \"p\"\n");
        let text = ["a/b", "A/B", "c/d", "a/B"].map(entry).concat();
        let problems = lines::problems(served_twice(&load(&text, &[])));
        assert_eq!(problems, ["A/B has several [[repository]] entries"]);
    }
}
