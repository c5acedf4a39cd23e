//! `countersign inspect`: what one reader makes of one file, as JSON.

mod artifacts;
mod bench;
mod log;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;

use super::lint::reader;
use super::rules::load;
use super::{Exit, as_json, bad, name_of, read_text, to_stdout};
use crate::bench::codeowners::Codeowners;
use crate::bench::yaml;
use crate::limits;
use crate::signoff::{Place, Posted};

/// Arguments of `inspect`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which reader.
    #[arg(value_enum)]
    kind: Kind,
    /// The file that it reads; `-` is standard input.
    file: PathBuf,
    /// For `codeowners` the paths whose owners are asked for; for `master` the runners file; for
    /// `changelog` an older one, to say what was added since; for `evals` the file of bars.
    paths: Vec<String>,
    /// A profile's folder, or the name of one that is built in.
    #[arg(long, value_name = "DIR|NAME")]
    rules: Option<PathBuf>,
}

/// The readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A sign-off comment.
    Signoff,
    /// A CODEOWNERS file: the owners of each path.
    Codeowners,
    /// A YAML file of the benchmark repository, read as its PyYAML does.
    Yaml,
    /// A master configuration: the rows and evaluations that the generator makes of it.
    Master,
    /// A performance changelog.
    Changelog,
    /// A launch recipe: every variant of it.
    Recipe,
    /// A curve of golden acceptance lengths.
    Golden,
    /// The bars of evaluations.
    Thresholds,
    /// Curves whose Pareto points are counted.
    Pareto,
    /// Collected rows of measured points, with the frontiers of their curves.
    Results,
    /// Collected rows of evaluations, each held against its bar.
    Evals,
    /// A server's log: what was launched with what, and what it says of itself.
    Log,
    /// A checkpoint's safetensors header (not built yet).
    Safetensors,
}

impl Args {
    fn others(&self) -> Vec<PathBuf> {
        self.paths.iter().map(PathBuf::from).collect()
    }
}

/// A table of the profile by its name, as what its reader takes it for.
fn table<T: serde::de::DeserializeOwned>(rules: Option<&Path>, name: &str) -> Result<T, String> {
    let loaded = load(rules).map_err(|error| error.to_string())?;
    let table = loaded.tables.get(name).ok_or_else(|| {
        format!("the profile has no tables/{name}.yaml; choose one that has with --rules")
    })?;
    T::deserialize(table).map_err(|error| format!("tables/{name}.yaml: {error}"))
}

/// Runs it.
pub fn run(args: Args) -> Exit {
    let answer = match args.kind {
        Kind::Signoff
        | Kind::Yaml
        | Kind::Recipe
        | Kind::Golden
        | Kind::Thresholds
        | Kind::Pareto
        | Kind::Results
        | Kind::Log
            if !args.paths.is_empty() =>
        {
            Err("this reader takes one file".to_owned())
        }
        Kind::Master => bench::master(&args.file, &args.others(), args.rules.as_deref()),
        Kind::Changelog => bench::changelog(&args.file, &args.others()),
        Kind::Recipe => bench::recipe(&args.file),
        Kind::Signoff => signoff(&args.file, args.rules.as_deref()),
        Kind::Yaml => {
            read_text(&args.file, limits::YAML_BYTES).and_then(|text| yaml(&args.file, &text))
        }
        Kind::Codeowners => codeowners(&args.file, &args.paths),
        Kind::Golden => artifacts::golden(&args.file),
        Kind::Thresholds => artifacts::thresholds(&args.file),
        Kind::Pareto => artifacts::pareto(&args.file, args.rules.as_deref()),
        Kind::Results => artifacts::results(&args.file, args.rules.as_deref()),
        Kind::Evals => artifacts::evals(&args.file, &args.others(), args.rules.as_deref()),
        Kind::Log => log::log(&args.file, args.rules.as_deref()),
        Kind::Safetensors => {
            Err("this reader is not built yet; `countersign inspect --help` says which are"
                .to_owned())
        }
    };
    match answer {
        Ok(value) => {
            to_stdout(&as_json(&value));
            Exit::Clean
        }
        Err(message) => bad(&message),
    }
}

/// The sign-off as the facts hold it, with `recognised` beside it; else why it is none.
fn signoff(file: &Path, rules: Option<&Path>) -> Result<serde_json::Value, String> {
    let (reader, _) = reader(rules)?;
    let body = read_text(file, limits::BODY_BYTES)?;
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

/// The value as JSON, and the duplicate keys.
fn yaml(file: &Path, text: &str) -> Result<serde_json::Value, String> {
    let read = yaml::parse(text).map_err(|error| format!("{}: {error}", name_of(file)))?;
    let notes: Vec<_> = read
        .notes
        .iter()
        .map(|note| json!({ "line": note.at.line, "column": note.at.column, "message": note.message }))
        .collect();
    Ok(json!({ "file": name_of(file), "value": read.root.to_json(), "notes": notes }))
}

/// The owners of each path: the last matching line decides. A path that no line matches has none.
fn codeowners(file: &Path, paths: &[String]) -> Result<serde_json::Value, String> {
    let text = read_text(file, limits::CODEOWNERS_BYTES)?;
    let (codeowners, problems) = Codeowners::parse(&text);
    let problems: Vec<_> = problems
        .iter()
        .map(|problem| json!({ "line": problem.line, "reason": problem.reason }))
        .collect();
    let paths: Vec<_> = paths
        .iter()
        .map(|path| match codeowners.owners_of(path.trim_start_matches('/')) {
            Some(line) => json!({
                "path": path, "owners": line.owners, "pattern": line.pattern, "line": line.number,
            }),
            None => json!({ "path": path, "owners": [], "pattern": null, "line": null }),
        })
        .collect();
    Ok(json!({ "file": name_of(file), "paths": paths, "problems": problems }))
}
