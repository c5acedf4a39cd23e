//! `countersign lint`: a draft is read as it would be once posted, and each problem is drawn at its
//! place, before anybody waits for a verdict.

use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use clap::ValueEnum;
use include_dir::{Dir, include_dir};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Exit;
use crate::facts::TemplateItem;
use crate::limits;
use crate::profile::TemplatePlace;
use crate::signoff::settings::Grammar;
use crate::signoff::{Place, Problem, ProblemLevel, Reader};

/// Arguments of `lint`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The draft; `-` reads standard input.
    file: PathBuf,
    /// The checklist document that it has to follow; without it, only the known items are looked for.
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// The profile's folder; the built-in one by default.
    #[arg(long, value_name = "DIR")]
    rules: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How problems are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Drawn, for people.
    Text,
    /// One JSON document.
    Json,
}

/// Runs it.
pub fn run(args: Args) -> Exit {
    match lint(&args) {
        Ok((output, exit)) => print(&output, exit),
        Err(message) => bad_input(&message),
    }
}

fn lint(args: &Args) -> Result<(String, Exit), String> {
    let (reader, heading) = reader(args.rules.as_deref())?;
    let template = match &args.template {
        Some(file) => Some(template(&reader, &heading, file)?),
        None => None,
    };
    let body = read(&args.file, limits::BODY_BYTES)?;
    let problems = reader.lint(&body, template.as_deref());
    let fails = problems.iter().any(|problem| problem.level == ProblemLevel::Fail);
    let name = name_of(&args.file);
    let output = match args.format {
        Format::Text => drawn(&name, &body, &problems, args.template.is_some()),
        Format::Json => as_json(&serde_json::json!({
            "schema": "countersign/lint/v1",
            "file": name,
            "clean": !fails,
            "compared_with": args.template.as_deref().map_or("the known items".to_owned(), name_of),
            "problems": problems,
        })),
    };
    Ok((output, if fails { Exit::Findings } else { Exit::Clean }))
}

/// A checklist document from disk.
fn template(reader: &Reader, heading: &str, file: &Path) -> Result<Vec<TemplateItem>, String> {
    let document = read(file, limits::DOCUMENT_BYTES)?;
    let place = Place::File { path: name_of(file) };
    let items = reader.parse_template(&document, heading, &place);
    items.map_err(|error| format!("{}: {error}", name_of(file)))
}

/// The problems as rustc draws its own, a summary below.
fn drawn(name: &str, body: &str, problems: &[Problem], with_template: bool) -> String {
    let mut out = String::new();
    for problem in problems {
        draw(&mut out, name, body, problem);
    }
    let fails = problems.iter().filter(|problem| problem.level == ProblemLevel::Fail).count();
    let notes = problems.len() - fails;
    // Writing into a string does not fail.
    let _ = match (fails, notes) {
        (0, 0) => writeln!(out, "{}: nothing to report", plain(name)),
        _ => writeln!(
            out,
            "{}: {}, {}",
            plain(name),
            counted(fails, "problem"),
            counted(notes, "note")
        ),
    };
    if !with_template {
        out.push_str("Compared with the known items only; --template FILE compares with a checklist document.\n");
    }
    out
}

fn draw(out: &mut String, name: &str, body: &str, problem: &Problem) {
    let level = match problem.level {
        ProblemLevel::Fail => Level::ERROR,
        ProblemLevel::Note => Level::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(plain(&problem.message)));
    let place = problem.place(body);
    group = match (&place, usize::try_from(problem.line)) {
        (Some((line, span)), Ok(number)) => group.element(
            Snippet::source(*line).path(name.to_owned()).line_start(number).annotation(
                AnnotationKind::Primary.span(span.clone()).label(problem.label.as_str()),
            ),
        ),
        _ => group,
    };
    if let Some(fix) = &problem.fix {
        group = group.element(Level::HELP.message(plain(fix)));
    }
    out.push_str(&Renderer::styled().render(&[group]));
    out.push('\n');
    if let Some(paste) = &problem.paste {
        // On a line of its own, so that it can be taken as it is.
        out.push_str(&plain(paste));
        out.push('\n');
    }
    out.push('\n');
}

/// A text without what a terminal would obey.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The reader that a profile's words make, and the heading above its template.
pub(super) fn reader(rules: Option<&Path>) -> Result<(Reader, String), String> {
    /// What of `profile.yaml` is needed here.
    #[derive(Deserialize)]
    struct Words {
        signoff: Grammar,
        template: TemplatePlace,
    }
    let words: Words = rule_file(rules, "profile.yaml")?;
    let reader = Reader::new(&words.signoff, &rule_file(rules, "items.yaml")?)
        .map_err(|error| format!("the profile cannot be used: {error}"))?;
    Ok((reader, words.template.heading))
}

/// One file of a profile's folder, or of the built-in profile.
fn rule_file<T: DeserializeOwned>(rules: Option<&Path>, name: &str) -> Result<T, String> {
    static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/rules");
    let (text, path) = match rules {
        Some(folder) => {
            let path = folder.join(name);
            (read(&path, limits::RULE_FILE_BYTES)?, name_of(&path))
        }
        None => {
            let path = format!("inferencex/{name}");
            let file = BUILT_IN.get_file(&path).and_then(|file| file.contents_utf8());
            let text =
                file.ok_or_else(|| format!("{path} is not built in; name a folder with --rules"))?;
            (text.to_owned(), path)
        }
    };
    serde_yaml::from_str(&text).map_err(|error| format!("{path}: {error}"))
}

/// A file, or standard input for `-`, as text of at most so many bytes.
pub(super) fn read(file: &Path, limit: usize) -> Result<String, String> {
    let name = name_of(file);
    let mut bytes = Vec::new();
    let bound = limit as u64 + 1;
    let outcome = if file == Path::new("-") {
        io::stdin().lock().take(bound).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|open| open.take(bound).read_to_end(&mut bytes))
    };
    outcome.map_err(|error| format!("{name}: cannot be read: {error}"))?;
    if bytes.len() > limit {
        return Err(format!("{name}: longer than the {limit} bytes that are read; shorten it"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("{name}: not UTF-8: byte {at} begins no character; save the file as UTF-8")
    })
}

/// How a file is called in messages.
pub(super) fn name_of(file: &Path) -> String {
    if file == Path::new("-") { "<stdin>".to_owned() } else { file.display().to_string() }
}

/// A JSON document as it is printed.
pub(super) fn as_json(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

/// Prints a result; a reader that went away (`| head`) is no fault.
pub(super) fn print(output: &str, exit: Exit) -> Exit {
    match anstream::stdout().lock().write_all(output.as_bytes()) {
        Ok(()) => exit,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => exit,
        Err(error) => bad_input(&format!("standard output cannot be written: {error}")),
    }
}

/// Says on standard error why nothing was done.
pub(super) fn bad_input(message: &str) -> Exit {
    // Where even standard error is gone, the exit code still says it.
    let _ = writeln!(anstream::stderr().lock(), "error: {}", plain(message));
    Exit::BadInput
}
