//! `countersign rules`: list, check, test and explain the rules of a profile.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use clap::{Subcommand, ValueEnum};

use super::rule_files::{self, RuleFilesError};
use super::{Exit, bad, to_stderr, to_stdout};
use crate::profile::{self, DEFAULT_PROFILE, Diagnostic, Files, Profile, nearest};
use crate::rules::{Attested, Rule, RuleSet, Severity, page};

/// Arguments of `rules`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: RulesCommand,
}

#[derive(Debug, Subcommand)]
enum RulesCommand {
    /// One line a rule: number, id, severity, whether it is checked, title.
    List {
        #[command(flatten)]
        place: PlaceArgs,
        /// How to print them.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Find every mistake in the rule files.
    Check {
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Run the examples of all rules.
    Test {
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// What one rule checks, why, and what it can say.
    Explain {
        /// The rule's id or number.
        rule: String,
        #[command(flatten)]
        place: PlaceArgs,
    },
}

#[derive(Debug, clap::Args)]
struct PlaceArgs {
    /// A profile's folder, or the name of one that is built in.
    #[arg(long, value_name = "DIR|NAME")]
    rules: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Why no rules could be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The folder cannot be read.
    Unreadable(RuleFilesError),
    /// No profile of this name is built in.
    NotBuiltIn(String),
    /// Neither a folder nor a built-in profile.
    Neither(String),
    /// The folder of profiles has none of this name.
    NotInFolder {
        /// The profile.
        name: String,
        /// The folder of profiles.
        dir: PathBuf,
    },
    /// The files have mistakes.
    Mistakes {
        /// The files.
        files: Files,
        /// All of them.
        found: Vec<Diagnostic>,
    },
}

impl LoadError {
    /// The error as people see it: the lines at fault with a mark below each place.
    pub fn render(&self) -> String {
        self.drawn(&Renderer::styled())
    }

    fn drawn(&self, renderer: &Renderer) -> String {
        match self {
            Self::Unreadable(error) => format!("error: {error}\n"),
            Self::NotBuiltIn(name) => format!(
                "error: no profile `{name}` is built in; {}, and `rules` names a folder of others\n",
                meant(name)
            ),
            Self::Neither(name) => format!(
                "error: `{name}` is neither a folder nor a profile that is built in; {}\n",
                meant(name)
            ),
            Self::NotInFolder { name, dir } => format!(
                "error: {}: it has no folder `{name}`; `rules` is the folder in which each profile \
                 has a folder of its name\n",
                dir.display()
            ),
            Self::Mistakes { files, found } => {
                found.iter().map(|mistake| draw(mistake, files, renderer)).collect()
            }
        }
    }
}

/// What a name that is not built in was probably meant to be, else what there is.
fn meant(name: &str) -> String {
    let known = profile::builtin_names();
    match nearest(name, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("there is {}", in_code(&known)),
    }
}

fn in_code(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The same without colour.
impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.drawn(&Renderer::plain()).trim_end())
    }
}

impl std::error::Error for LoadError {}

/// The rules in a profile's folder or of a built-in profile's name; without either those of the
/// profile that is used by default.
///
/// # Errors
/// What could not be read, or every mistake in the files.
pub fn load(place: Option<&Path>) -> Result<RuleSet, Box<LoadError>> {
    let (name, files) = read(place)?;
    checked(&name, files)
}

/// The profile of a name: a folder below `dir`, or a built-in one.
///
/// # Errors
/// As [`load`].
pub(super) fn load_named(name: &str, dir: Option<&Path>) -> Result<RuleSet, Box<LoadError>> {
    match dir {
        Some(dir) if dir.is_dir() && !dir.join(name).is_dir() => {
            let (name, dir) = (name.to_owned(), dir.to_owned());
            Err(Box::new(LoadError::NotInFolder { name, dir }))
        }
        // Where the folder itself is missing, that is what is said.
        Some(dir) if !dir.is_dir() => load(Some(dir)),
        Some(dir) => load(Some(&dir.join(name))),
        None => match profile::builtin(name) {
            Some(files) => checked(name, files),
            None => Err(Box::new(LoadError::NotBuiltIn(name.to_owned()))),
        },
    }
}

/// The profile alone: a mistake in a rule is no reason not to read a sign-off.
///
/// # Errors
/// As [`load`].
pub(super) fn load_profile(place: Option<&Path>) -> Result<Profile, Box<LoadError>> {
    let (name, files) = read(place)?;
    Profile::from_files(&name, &files)
        .map_err(|found| Box::new(LoadError::Mistakes { files, found }))
}

/// A name that is built in is never looked for as a folder: the working directory may be a checkout of
/// what is assessed. A folder that is called so is written with a slash.
fn read(place: Option<&Path>) -> Result<(String, Files), Box<LoadError>> {
    let name = match place {
        None => Some(DEFAULT_PROFILE),
        Some(place) => place.to_str().filter(|name| profile::builtin_names().contains(name)),
    };
    if let Some(name) = name {
        return Ok((name.to_owned(), profile::builtin(name).unwrap_or_default()));
    }
    match place.unwrap_or_else(|| Path::new(DEFAULT_PROFILE)) {
        name if !name.exists() && is_a_name(name) => {
            Err(Box::new(LoadError::Neither(name.display().to_string())))
        }
        dir => {
            let files = rule_files::read_dir(dir)
                .map_err(|error| Box::new(LoadError::Unreadable(error)))?;
            Ok((profile::declared_name(&files), files))
        }
    }
}

/// Whether what was given could be a profile's name as well as a folder.
fn is_a_name(place: &Path) -> bool {
    let text = place.to_string_lossy();
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

fn checked(name: &str, files: Files) -> Result<RuleSet, Box<LoadError>> {
    RuleSet::from_files(name, &files)
        .map_err(|found| Box::new(LoadError::Mistakes { files, found }))
}

/// Runs it.
pub fn run(args: Args) -> Exit {
    match args.command {
        RulesCommand::List { place, format } => with_rules(&place, |rules| match format {
            Format::Text => (format!("{}\n{}", list(rules), built_in()), Exit::Clean),
            Format::Json => (list_json(rules), Exit::Clean),
        }),
        RulesCommand::Check { place } => check(&place),
        RulesCommand::Test { place } => with_rules(&place, test),
        RulesCommand::Explain { rule, place } => explain(&rule, &place),
    }
}

fn with_rules(place: &PlaceArgs, act: impl FnOnce(&RuleSet) -> (String, Exit)) -> Exit {
    match load(place.rules.as_deref()) {
        Ok(rules) => {
            let (text, exit) = act(&rules);
            to_stdout(&text);
            exit
        }
        Err(error) => {
            to_stderr(error.render().trim_end());
            Exit::BadInput
        }
    }
}

fn check(place: &PlaceArgs) -> Exit {
    match load(place.rules.as_deref()).map_err(|error| *error) {
        Ok(rules) => {
            let not_built = rules.not_built().count();
            to_stdout(&format!(
                "{}: {} rules, no mistakes; {not_built} of them are not machine-checked yet{}\n",
                rules.profile.settings.name,
                rules.rules.len(),
                if place.rules.is_some() {
                    ""
                } else {
                    " (one of those that are built in; --rules names a folder, or another of them)"
                }
            ));
            Exit::Clean
        }
        Err(error @ LoadError::Mistakes { .. }) => {
            to_stdout(&error.render());
            Exit::Findings
        }
        Err(error) => {
            to_stderr(error.render().trim_end());
            Exit::BadInput
        }
    }
}

/// One mistake as the compiler of Rust would draw it.
fn draw(mistake: &Diagnostic, files: &Files, renderer: &Renderer) -> String {
    let mut title = mistake.message.clone();
    if let Some(name) = &mistake.suggestion {
        let _ = write!(title, "; did you mean `{name}`?");
    }
    let source = files.get(&mistake.path).map_or("", String::as_str);
    let start = offset_of(source, mistake.line, mistake.column);
    let length = source[start..]
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')))
        .unwrap_or(source.len() - start)
        .max(source[start..].chars().next().map_or(0, char::len_utf8));
    let snippet = Snippet::source(source)
        .path(mistake.path.as_str())
        .annotation(AnnotationKind::Primary.span(start..start + length));
    let mut report = vec![Level::ERROR.primary_title(title.as_str()).element(snippet)];
    if let Some(help) = &mistake.help {
        report
            .push(annotate_snippets::Group::with_title(Level::HELP.secondary_title(help.as_str())));
    }
    format!("{}\n\n", renderer.render(&report))
}

/// The byte offset of a 1-based line and column.
fn offset_of(source: &str, line: usize, column: usize) -> usize {
    let start: usize = source.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = &source[start.min(source.len())..];
    let within = rest.char_indices().nth(column - 1).map_or(rest.len(), |(at, _)| at);
    (start + within).min(source.len())
}

fn state(rule: &Rule) -> &'static str {
    match rule.attested {
        None => "checked",
        Some(Attested::ByReviewer) => "attested",
        Some(Attested::NotBuilt) => "not built",
    }
}

fn severity(rule: &Rule) -> &'static str {
    match rule.severity {
        Severity::Blocking => "blocking",
        Severity::Advisory => "advisory",
    }
}

fn list(rules: &RuleSet) -> String {
    let width = rules.rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    rules.rules.iter().fold(String::new(), |mut out, rule| {
        let _ = writeln!(
            out,
            "{:>3}  {:width$}  {}  {:9}  {}",
            rule.number,
            rule.id,
            severity(rule),
            state(rule),
            rule.title
        );
        out
    })
}

/// The profiles that can be asked for by name.
fn built_in() -> String {
    let names = profile::builtin_names();
    format!(
        "Built in: {}; {} is used where --rules names none.\n",
        in_code(&names),
        in_code(&[DEFAULT_PROFILE])
    )
}

fn list_json(rules: &RuleSet) -> String {
    let list: Vec<_> = rules
        .rules
        .iter()
        .map(|rule| {
            serde_json::json!({
                "id": rule.id,
                "number": rule.number,
                "title": rule.title,
                "severity": rule.severity,
                "state": state(rule),
                "items": rule.items,
                "needs": rule.needs,
            })
        })
        .collect();
    let document = serde_json::json!({
        "profile": rules.profile.settings.name,
        "digest": rules.digest,
        "built_in": profile::builtin_names(),
        "rules": list,
    });
    format!("{document:#}\n")
}

fn test(rules: &RuleSet) -> (String, Exit) {
    let width = rules.rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    let mut out = String::new();
    let (mut examples, mut failures) = (0, 0);
    for tested in rules.test() {
        examples += tested.examples;
        failures += tested.failures.len();
        let result = match (tested.failures.len(), tested.examples) {
            (0, 0) => "nothing to test".to_owned(),
            (0, _) => "ok".to_owned(),
            (failed, _) => format!("{failed} failed"),
        };
        let _ = writeln!(out, "{:width$}  {:3} examples  {result}", tested.rule, tested.examples);
        for failure in tested.failures {
            let _ = writeln!(out, "  {}:{}: {}", failure.path, failure.line, failure.name);
            let _ = writeln!(out, "    expected {}", failure.expected);
            let _ = writeln!(out, "    got      {}", failure.got.replace('\n', "\n             "));
        }
    }
    let _ = writeln!(out, "{examples} examples, {failures} failed");
    (out, if failures == 0 { Exit::Clean } else { Exit::Findings })
}

fn explain(name: &str, place: &PlaceArgs) -> Exit {
    let rules = match load(place.rules.as_deref()) {
        Ok(rules) => rules,
        Err(error) => {
            to_stderr(error.render().trim_end());
            return Exit::BadInput;
        }
    };
    match find(&rules, name) {
        Ok(rule) => {
            to_stdout(&page(&rules.profile.settings.name, rule));
            Exit::Clean
        }
        Err(error) => bad(&error),
    }
}

/// The rule of an id or a number.
///
/// # Errors
/// That there is none, with the id that was probably meant.
pub(super) fn find<'r>(rules: &'r RuleSet, name: &str) -> Result<&'r Rule, String> {
    let number = name.parse::<i64>().ok();
    let found = rules.rules.iter().find(|rule| rule.id == name || Some(rule.number) == number);
    found.ok_or_else(|| {
        let meant = match nearest(name, rules.rules.iter().map(|rule| rule.id.as_str())) {
            Some(id) => format!("did you mean `{id}`?"),
            None => "`countersign rules list` names them".to_owned(),
        };
        format!("no rule has the id or number `{name}`; {meant}")
    })
}
