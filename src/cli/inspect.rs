//! `countersign inspect`: what one reader makes of one file, as JSON.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;

use super::Exit;
use super::lint::{as_json, bad_input, name_of, print, read, reader};
use crate::limits;
use crate::signoff::{Place, Posted};

/// Arguments of `inspect`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which reader.
    #[arg(value_enum)]
    kind: Kind,
    /// What it reads; `-` is standard input.
    file: PathBuf,
    /// For `codeowners`: the paths whose owners are asked for.
    paths: Vec<String>,
    /// The profile's folder; the built-in one by default.
    #[arg(long, value_name = "DIR")]
    rules: Option<PathBuf>,
}

/// The readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A sign-off comment.
    Signoff,
    /// A CODEOWNERS file: the owners of each path.
    Codeowners,
    /// A server's log.
    Log,
    /// A performance changelog.
    Changelog,
    /// A serving recipe.
    Recipe,
    /// Curves whose Pareto points are counted.
    Pareto,
    /// A checkpoint's safetensors header.
    Safetensors,
}

/// Runs it.
pub fn run(args: Args) -> Exit {
    let answer = match args.kind {
        Kind::Signoff if !args.paths.is_empty() => {
            Err("`inspect signoff` takes one file; only `codeowners` takes paths".to_owned())
        }
        Kind::Signoff => signoff(&args.file, args.rules.as_deref()),
        Kind::Codeowners
        | Kind::Log
        | Kind::Changelog
        | Kind::Recipe
        | Kind::Pareto
        | Kind::Safetensors => Err("this reader is not built yet".to_owned()),
    };
    match answer {
        Ok(value) => print(&as_json(&value), Exit::Clean),
        Err(message) => bad_input(&message),
    }
}

/// The sign-off as the facts hold it, with `recognised` beside it; else why it is none.
fn signoff(file: &Path, rules: Option<&Path>) -> Result<serde_json::Value, String> {
    let (reader, _) = reader(rules)?;
    let body = read(file, limits::BODY_BYTES)?;
    let place = Place::File { path: name_of(file) };
    Ok(match reader.parse(&body, &place) {
        Ok(parsed) => {
            let mut value = json!(parsed.into_fact(Posted::file("")));
            value["recognised"] = json!(true);
            value
        }
        Err(refused) => json!({
            "recognised": false,
            "why": refused.reason.to_string(),
            "near": refused.near,
            "line": refused.line,
            "hint": refused.hint(),
        }),
    })
}
