//! `countersign lint`: a draft is read as it would be once posted, and each problem is drawn at its
//! place, before anybody waits for a verdict.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use clap::ValueEnum;

use super::profile::ProfileArgs;
use super::{Exit, as_json, bad, name_of, read_text, to_stdout};
use crate::facts::TemplateItem;
use crate::limits;
use crate::profile::Profile;
use crate::signoff::{Place, Problem, ProblemLevel, Reader};
use crate::sources::RepoName;

/// Arguments of `lint`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The draft; `-` reads standard input.
    file: PathBuf,
    /// The checklist document that it has to follow; without it, only the known items are looked for.
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    #[command(flatten)]
    profile: ProfileArgs,
    /// The repository that the draft is for, to find its profile in the configuration.
    #[arg(long, value_name = "OWNER/NAME")]
    repo: Option<RepoName>,
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
        Ok((output, exit)) => {
            to_stdout(&output);
            exit
        }
        Err(message) => bad(&message),
    }
}

fn lint(args: &Args) -> Result<(String, Exit), String> {
    let place = match &args.repo {
        Some(repo) => args.profile.place(repo)?,
        None => args.profile.only_place()?,
    };
    let (reader, heading) = reader_of(place.profile().map_err(|error| error.to_string())?)?;
    let template = match &args.template {
        Some(file) => Some(template(&reader, &heading, file)?),
        None => None,
    };
    let body = read_text(&args.file, limits::BODY_BYTES)?;
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
    let document = read_text(file, limits::DOCUMENT_BYTES)?;
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
        (Some((line, span)), Ok(number)) => {
            group.element(Snippet::source(*line).path(plain(name)).line_start(number).annotation(
                AnnotationKind::Primary.span(span.clone()).label(problem.label.as_str()),
            ))
        }
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

/// A text without what a terminal would obey: control characters, changes of direction.
fn plain(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let shown = text.chars().filter(|c| !turns(*c));
    shown.map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The reader that a profile's words make, and the heading above its template.
pub(super) fn reader(rules: Option<&Path>) -> Result<(Reader, String), String> {
    reader_of(super::rules::load_profile(rules).map_err(|error| error.to_string())?)
}

fn reader_of(profile: Profile) -> Result<(Reader, String), String> {
    let reader = profile.reader().map_err(|error| error.to_string())?;
    Ok((reader, profile.settings.template.heading))
}
