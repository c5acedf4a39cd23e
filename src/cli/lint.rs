//! `countersign lint`: a draft is read as it would be once posted, and each problem is drawn at its
//! place, before anybody waits for a verdict. With `--fix`, its form is mended first.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use clap::ValueEnum;

use super::profile::ProfileArgs;
use super::{Exit, as_json, bad, name_of, read_text, to_stderr, to_stdout};
use crate::facts::TemplateItem;
use crate::limits;
use crate::profile::Profile;
use crate::signoff::{CurrentTemplate, Place, Problem, ProblemLevel, Reader};
use crate::sources::RepoName;

/// Arguments of `lint`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The draft; `-` reads standard input.
    file: PathBuf,
    /// Mend the draft's form first: boxes that are not drawn, missing lines. No box is checked that was
    /// not typed so, and nothing is taken away. The file is changed in place; with `-` the mended text
    /// goes to standard output and the problems to standard error.
    #[arg(long)]
    fix: bool,
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
            // There the mended text has standard output for itself.
            if args.fix && args.file == Path::new("-") {
                to_stderr(output.trim_end());
            } else {
                to_stdout(&output);
            }
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
        Some(file) => Some(Document::read(&reader, &heading, file)?),
        None => None,
    };
    let mut body = read_text(&args.file, limits::BODY_BYTES)?;
    if args.fix {
        body = mended(args, &reader, &body, template.as_ref())?;
    }
    let items = template.as_ref().map(|template| template.items.as_slice());
    let problems = reader.lint(&body, items);
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

/// The mended draft, where it came from; each change is told on standard error.
fn mended(
    args: &Args,
    reader: &Reader,
    body: &str,
    template: Option<&Document>,
) -> Result<String, String> {
    let current = template.map(|it| CurrentTemplate { text: &it.text, items: &it.items });
    let fixed = reader.fix(body, current);
    if args.file == Path::new("-") {
        to_stdout(&fixed.text);
    } else if fixed.text != body {
        replace(&args.file, &fixed.text)
            .map_err(|error| format!("{}: cannot be written: {error}", name_of(&args.file)))?;
    }
    let name = plain(&name_of(&args.file));
    for change in &fixed.changes {
        to_stderr(&format!("{name}:{}: {}", change.line, plain(&change.message)));
    }
    Ok(fixed.text)
}

/// Puts a text in a file's place in one step: whoever reads the file sees the one or the other. Its
/// permissions stay; where it is a link, what it points at is replaced.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let file = file.canonicalize()?;
    let permissions = std::fs::metadata(&file)?.permissions();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let fresh = file.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let written = std::fs::File::create_new(&fresh).and_then(|mut open| {
        open.set_permissions(permissions)?;
        open.write_all(text.as_bytes())?;
        open.sync_all()?;
        std::fs::rename(&fresh, &file)
    });
    if written.is_err() {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&fresh);
    }
    written
}

/// A checklist document's template.
struct Document {
    text: String,
    items: Vec<TemplateItem>,
}

impl Document {
    /// Reads it from disk.
    fn read(reader: &Reader, heading: &str, file: &Path) -> Result<Self, String> {
        let document = read_text(file, limits::DOCUMENT_BYTES)?;
        let place = Place::File { path: name_of(file) };
        let items = reader.parse_template(&document, heading, &place);
        let text = reader.template_source(&document, heading);
        items
            .and_then(|items| Ok(Self { text: text?.to_owned(), items }))
            .map_err(|error| format!("{}: {error}", name_of(file)))
    }
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
            // Of the same length, for the span counts bytes.
            let line = line.replace(|c| matches!(c, '\u{80}'..='\u{9f}'), "·");
            group.element(Snippet::source(line).path(plain(name)).line_start(number).annotation(
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
