//! Without a configuration: what the command line needs.

use secrecy::SecretString;
use serde_json::Value;

use super::lines::{Line, note, ok, wrong};
use super::profiles::told_of;
use crate::cli::rules::load_named;
use crate::config::Config;
use crate::github::{ApiError, Client};
use crate::profile::builtin_names;

/// Rules and token.
pub(super) async fn examine(config: &Config, token_env: &str) -> Vec<Line> {
    let mut lines = vec![note(
        "configuration",
        "there is none, so that only what the command line needs is looked at",
        "for a server, deploy/README.md says how to begin",
    )];
    let mut told = Vec::new();
    for name in builtin_names() {
        match load_named(name, None) {
            Ok(rules) => told.push(told_of(&rules)),
            Err(error) => {
                lines.push(wrong("rules", error.to_string(), "this build is broken; build it anew"))
            }
        }
    }
    lines.push(ok("rules", told.join("; ")));
    lines.push(token(config, token_env).await);
    lines
}

/// Whose token it is.
async fn token(config: &Config, variable: &str) -> Line {
    let Some(token) = std::env::var(variable).ok().filter(|token| !token.is_empty()) else {
        return wrong(
            "token",
            format!("{variable} is not set: `verify` and `facts` read nothing from GitHub"),
            "put a token in it that may read the repository; `lint`, `rules` and --replay need none",
        );
    };
    let url = config.github.api_url.as_str();
    let client = match Client::with_token(url, Some(SecretString::from(token))) {
        Ok(client) => client,
        Err(error) => return wrong("token", error.to_string(), format!("look at {variable}")),
    };
    match client.get("/user", "application/vnd.github+json", None).await {
        Ok(response) => {
            let user: Value = serde_json::from_slice(&response.body).unwrap_or_default();
            match user["login"].as_str() {
                Some(login) => ok("token", format!("{variable} is a token of {login}")),
                None => wrong(
                    "token",
                    format!("GitHub answers {} to {variable}", response.status),
                    "check `COUNTERSIGN_GITHUB_API_URL`",
                ),
            }
        }
        // The tokens of Apps, and those of workflow runs, belong to no account.
        Err(ApiError::Forbidden(_)) => {
            ok("token", format!("{variable} is the token of an App, not of an account"))
        }
        Err(error @ ApiError::Unauthorized(_)) => {
            wrong("token", format!("{variable}: {error}"), "make a new token, and set it")
        }
        Err(error) => wrong(
            "token",
            format!("{variable}: {error}"),
            "try again; see https://www.githubstatus.com",
        ),
    }
}
