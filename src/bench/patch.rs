//! Changes of an engine inside of its image: patches, edits, monkey patches, package swaps.
//!
//! What counts is a table; here is how a command is read. A package is often installed through a helper
//! and on a continuation line, so that the command is looked at and not the line.
//!
//! Source: `checks.md`, check 10; rulings 30, 35 and 36.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::layout::glob;
use super::script::{self, Command, Script, Word};
use super::yaml::Place;
use crate::limits::SHELL_DEPTH;

/// What counts as a change of the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatchTable {
    /// Globs of files whose commands act on something else, the launcher mostly.
    pub not_the_engine: Vec<String>,
    /// Globs of files that are patches themselves.
    pub patch_files: Vec<String>,
    /// Commands that apply patches, by their first words.
    pub patch_commands: Vec<String>,
    /// Commands that run their arguments as a script, by their first words.
    pub shells: Vec<String>,
    /// Commands that install packages, by their first words; helpers of the benchmark's library as well.
    pub installers: Vec<String>,
    /// Packages of an engine or of what it serves with: names, in which `*` stands for anything.
    pub packages: Vec<String>,
    /// Parts of an install target that name an engine's source: `git+https` and its like.
    pub sources: Vec<String>,
    /// Packages that are the harness's own, whatever their target is.
    pub harness: Vec<String>,
    /// Parts of a path that lie inside of an installed engine.
    pub engine_paths: Vec<String>,
    /// Modules of engines: a path that a command derived from one lies inside of it.
    pub modules: Vec<String>,
    /// Commands that edit in place, by their first words.
    pub editors: Vec<String>,
    /// Commands that put files somewhere; their last word is where.
    pub writers: Vec<String>,
    /// What a text that is fed to an interpreter does where it writes.
    pub writing: Vec<String>,
    /// Files by which Python is patched at its start.
    pub monkey: Vec<String>,
    /// Options and keys that mount a path over another.
    pub mounts: Vec<String>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// Where.
    pub at: Place,
    /// `patch file`, `patch command`, `in-place edit`, `file in the engine`, `engine source rewritten`,
    /// `monkey patch`, `mount over the engine`, `package`, or [`UNREAD`].
    pub kind: &'static str,
    /// What is changed.
    pub target: String,
    /// The command, cut.
    pub text: String,
}

/// The kind of a hit that says that something was not read.
pub const UNREAD: &str = "unread";

impl Hit {
    /// What was not read to its end is nothing without a change.
    pub fn unread(why: &str) -> Self {
        Self {
            at: Place::default(),
            kind: UNREAD,
            target: "a script that cannot be read".to_owned(),
            text: why.to_owned(),
        }
    }
}

impl PatchTable {
    /// Whether a file's commands act on the engine at all.
    pub fn is_scanned(&self, path: &str) -> bool {
        !matches_any(&self.not_the_engine, path)
    }

    /// Whether a file is a patch itself.
    pub fn is_patch(&self, path: &str) -> bool {
        matches_any(&self.patch_files, path)
    }

    /// The changes that a script makes, by place.
    pub fn scan(&self, script: &Script) -> Vec<Hit> {
        self.scan_at(script, 0)
    }

    fn scan_at(&self, script: &Script, depth: usize) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        for command in &script.commands {
            hits.extend(self.command(command));
            if begins(&self.shells, &command.words) {
                hits.extend(self.inner(command, depth));
            }
        }
        for (name, value) in &script.exports {
            hits.extend(self.monkey_path(name, value));
        }
        hits.sort();
        hits.dedup();
        hits
    }

    /// The changes that a script in a command's words makes; they stand where the command does. One that
    /// is not read to its end is no script without a change.
    fn inner(&self, command: &Command, depth: usize) -> Vec<Hit> {
        let words = command.words.iter().skip(1).map(|word| word.text.as_str());
        let text: Vec<&str> = words.filter(|text| !text.starts_with('-')).collect();
        let read = match depth < SHELL_DEPTH {
            true => script::read(&text.join(" "), &BTreeMap::new()).map_err(|error| error.message),
            false => Err(format!("scripts in commands nest deeper than {SHELL_DEPTH}")),
        };
        match read {
            Ok(script) => {
                let hits = self.scan_at(&script, depth + 1).into_iter();
                hits.map(|hit| Hit { at: command.at, ..hit }).collect()
            }
            Err(why) => vec![Hit { at: command.at, ..Hit::unread(&why) }],
        }
    }

    fn command(&self, command: &Command) -> Vec<Hit> {
        let hit = |kind, target: String| Hit {
            at: command.at,
            kind,
            target,
            text: short(&command.line()),
        };
        let line = command.line();
        let mut hits = Vec::new();
        if begins(&self.patch_commands, &command.words) {
            hits.push(hit("patch command", last_path(&command.words)));
        }
        if begins(&self.installers, &command.words) {
            hits.extend(
                self.installed(&command.words).into_iter().map(|target| hit("package", target)),
            );
        }
        if begins(&self.editors, &command.words) {
            let target = command.words.iter().skip(1).find(|word| self.in_engine(&word.text));
            hits.extend(target.map(|word| hit("in-place edit", word.text.clone())));
        }
        if begins(&self.writers, &command.words) {
            let target = command.words.last().filter(|word| self.in_engine(&word.text));
            hits.extend(target.map(|word| hit("file in the engine", word.text.clone())));
        }
        for target in command.writes.iter().filter(|word| self.in_engine(&word.text)) {
            hits.push(hit("file in the engine", target.text.clone()));
        }
        if let Some(name) = self.monkey.iter().find(|name| line.contains(name.as_str())) {
            hits.push(hit("monkey patch", name.clone()));
        } else if let Some(target) = command.writes.iter().find(|word| self.is_monkey(&word.text)) {
            hits.push(hit("monkey patch", target.text.clone()));
        }
        if let Some(heredoc) = &command.heredoc {
            hits.extend(self.program(&heredoc.text, heredoc.at));
        }
        // `python3 -c "…"` and its like.
        for word in
            command.words.iter().filter(|word| word.text.contains('\n') || word.text.contains(';'))
        {
            hits.extend(self.program(&word.text, word.at));
        }
        for pair in command.words.windows(2) {
            let [option, value] = pair else { continue };
            let joined = option.text.split_once('=');
            let (name, value) = joined.unwrap_or((&option.text, &value.text));
            if self.mounts.iter().any(|mount| mount == name) {
                let over = value.split(',').filter_map(|mount| mount.split(':').nth(1));
                let over = over.filter(|target| self.in_engine(target));
                hits.extend(over.map(|target| hit("mount over the engine", target.to_owned())));
            }
        }
        hits
    }

    /// Of an install command, what belongs to the serving stack.
    fn installed(&self, words: &[Word]) -> Vec<String> {
        let mut found = Vec::new();
        let mut takes_value = false;
        for word in words.iter().skip(1) {
            let text = word.text.trim_matches(['"', '\'']);
            if std::mem::take(&mut takes_value) {
                continue;
            }
            if let Some(option) = text.strip_prefix('-') {
                let option = option.trim_start_matches('-');
                takes_value = matches!(
                    option,
                    "r" | "c"
                        | "i"
                        | "f"
                        | "t"
                        | "index-url"
                        | "extra-index-url"
                        | "find-links"
                        | "target"
                        | "constraint"
                        | "requirement"
                        | "index"
                        | "python"
                        | "prefix"
                        | "root"
                        | "timeout"
                );
                continue;
            }
            let name = package_name(text);
            if self.harness.iter().any(|known| wild(known, &name)) {
                continue;
            }
            let is_source = self.sources.iter().any(|part| text.contains(part.as_str()));
            if self.packages.iter().any(|known| wild(known, &name))
                || (is_source && self.names_engine(text))
            {
                found.push(text.to_owned());
            }
        }
        found
    }

    /// Whether a source is one of an engine or its stack: a part of its path is one of the packages.
    fn names_engine(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let parts = lower.split(['/', '@', '#', ':', '=', '+']);
        let parts = parts.map(|part| part.trim_end_matches(".git"));
        parts.filter(|part| !part.is_empty()).any(|part| {
            let name = package_name(part);
            self.packages.iter().any(|known| wild(known, &name))
        })
    }

    fn in_engine(&self, path: &str) -> bool {
        let derived =
            path.contains("__file__") || path.contains("find_spec") || path.contains("__path__");
        let by_module = derived
            && self.modules.iter().any(|module| {
                path.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .any(|word| word == module)
            });
        by_module || self.engine_paths.iter().any(|part| path.contains(part.as_str()))
    }

    fn is_monkey(&self, path: &str) -> bool {
        self.monkey.iter().any(|name| path.rsplit('/').next() == Some(name.as_str()))
    }

    /// A program inside of a script that writes into an engine.
    fn program(&self, text: &str, at: Place) -> Option<Hit> {
        let writes = self.writing.iter().find(|part| text.contains(part.as_str()))?;
        let line = text.lines().position(|line| self.in_engine(line));
        let import = || {
            let names_module = |line: &str| {
                self.modules.iter().any(|module| {
                    let words: Vec<&str> =
                        line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
                    words.contains(&module.as_str())
                })
            };
            let inspects = text.contains("__file__")
                || text.contains("find_spec")
                || text.contains("getsourcefile");
            inspects.then(|| text.lines().position(names_module)).flatten()
        };
        let line = line.or_else(import)?;
        let shown = text.lines().nth(line).unwrap_or_default().trim();
        let offset = i64::try_from(line).unwrap_or(0);
        Some(Hit {
            at: Place { line: at.line + offset, column: 1 },
            kind: "engine source rewritten",
            target: short(shown),
            text: short(&format!("{shown} … {writes}")),
        })
    }

    /// A folder of an engine's name that is put before the engine; the image's own is none.
    fn monkey_path(&self, name: &str, value: &Word) -> Option<Hit> {
        let is_engine = |path: &&str| {
            let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            self.modules.iter().any(|module| module == last) && !self.in_engine(&format!("{path}/"))
        };
        let path = value.text.split(':').find(is_engine).filter(|_| name == "PYTHONPATH")?;
        Some(Hit {
            at: value.at,
            kind: "monkey patch",
            target: path.to_owned(),
            text: short(&format!("{name}={}", value.text)),
        })
    }

    /// Mounts of a recipe over an engine's files: keys and values of a mapping, or `SOURCE:TARGET` texts.
    pub fn mount(&self, name: &str, value: &str, at: Place) -> Option<Hit> {
        let last = name.rsplit('.').next().unwrap_or_default();
        let named = self.mounts.iter().any(|mount| name.split('.').any(|part| part == mount));
        let target = value.split(':').nth(1).unwrap_or(value);
        let over = [target, last].into_iter().find(|path| self.in_engine(path))?;
        named.then(|| Hit {
            at,
            kind: "mount over the engine",
            target: over.to_owned(),
            text: short(&format!("{name}: {value}")),
        })
    }
}

/// The scripts of a tree that a command names by their file names.
pub fn scripts_named(command: &Command) -> impl Iterator<Item = &str> {
    command
        .words
        .iter()
        .map(|word| word.text.rsplit('/').next().unwrap_or_default().trim_matches(['"', '\'']))
        .filter(|name| name.ends_with(".sh") && name.len() > 3)
}

fn matches_any(globs: &[String], path: &str) -> bool {
    globs.iter().filter_map(|pattern| glob(pattern)).any(|glob| glob.is_match(path))
}

/// Whether a command begins with one of some word sequences; a path before the first word does not count,
/// nor do `sudo` and `env` forms that the table spells out itself. Options between the words are passed.
fn begins(known: &[String], words: &[Word]) -> bool {
    let mut texts = words.iter().map(|word| word.text.as_str());
    let first = texts.next().unwrap_or_default();
    let first = first.rsplit('/').next().unwrap_or_default();
    let rest: Vec<&str> = texts.collect();
    known.iter().any(|sequence| {
        let mut wanted = sequence.split_whitespace();
        wanted.next() == Some(first) && {
            let mut from = rest.iter();
            wanted.all(|word| {
                if word.starts_with('-') {
                    // An option may be anywhere, also with others in one word.
                    return rest.iter().any(|text| is_option(text, word));
                }
                let next = from.by_ref().find(|text| !text.starts_with('-'));
                next.is_some_and(|text| word == "*" || *text == word)
            })
        }
    })
}

/// Whether a word is an option: `-i`, `-i.bak`, `-Ei`, `--in-place`.
fn is_option(text: &str, option: &str) -> bool {
    if option.starts_with("--") {
        return text == option || text.starts_with(&format!("{option}="));
    }
    let letter = option.trim_start_matches('-');
    let cluster = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    cluster.is_some_and(|rest| {
        rest.split('.').next().is_some_and(|rest| rest.contains(letter) && rest.len() < 5)
    })
}

/// The name of a package in an install target: without path, version, extras and wheel parts.
fn package_name(target: &str) -> String {
    let file = target.rsplit('/').next().unwrap_or(target);
    let end = file.find(['=', '<', '>', '!', '~', '[', '@', ';', ' ']).unwrap_or(file.len());
    let name = &file[..end];
    let name = if name.ends_with(".whl") { name.split('-').next().unwrap_or(name) } else { name };
    name.trim_end_matches(".git").replace('_', "-").to_lowercase()
}

/// Whether a name fits a pattern in which `*` stands for anything.
fn wild(pattern: &str, name: &str) -> bool {
    super::changelog::selects(&pattern.to_lowercase(), name)
}

fn last_path(words: &[Word]) -> String {
    let path = words.iter().rev().find(|word| word.text.contains(['/', '.']));
    path.map_or(String::new(), |word| word.text.clone())
}

fn short(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = one_line.chars().take(crate::limits::QUOTE_CHARS).collect();
    if cut.len() < one_line.len() { format!("{cut}…") } else { cut }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::PatchTable;
    use crate::bench::script;

    fn table() -> PatchTable {
        let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        PatchTable {
            not_the_engine: list(&["runners/**"]),
            patch_files: list(&["**/*.patch", "**/*.diff"]),
            patch_commands: list(&["git apply", "git am", "patch"]),
            shells: Vec::new(),
            installers: list(&["pip install", "python3 -m pip install", "helper_install"]),
            packages: list(&["engine", "engine-*", "transfer*"]),
            sources: list(&["git+", ".whl", "http"]),
            harness: list(&["engine-bench"]),
            engine_paths: list(&["site-packages", "/opt/engine"]),
            modules: list(&["engine"]),
            editors: list(&["sed -i", "perl -i"]),
            writers: list(&["cp", "mv", "ln", "tee"]),
            writing: list(&["write_text", ".write(", "writelines"]),
            monkey: list(&["sitecustomize.py"]),
            mounts: list(&["--mount", "container_mounts", "-v"]),
        }
    }

    fn hits(text: &str) -> Vec<String> {
        let script = script::read(text, &BTreeMap::new()).unwrap();
        let found = table().scan(&script);
        found.iter().map(|hit| format!("{}: {}: {}", hit.at.line, hit.kind, hit.target)).collect()
    }

    #[test]
    fn packages_of_the_stack_are_found_wherever_they_are_installed() {
        for (text, expected) in [
            ("pip install engine==1.2\n", "1: package: engine==1.2"),
            (
                "pip3 install x\npython3 -m pip install -q --upgrade \\\n  engine-kernels\n",
                "2: package: engine-kernels",
            ),
            (
                "helper_install \\\n  --no-deps \\\n  'transfer_cuda>=2'\n",
                "1: package: transfer_cuda>=2",
            ),
            (
                "pip install git+https://github.com/me/engine.git@abc\n",
                "1: package: git+https://github.com/me/engine.git@abc",
            ),
            (
                "pip install https://x/y/engine-1.0-cp312.whl\n",
                "1: package: https://x/y/engine-1.0-cp312.whl",
            ),
            ("if [ \"$A\" ]; then pip install -r req.txt engine; fi\n", "1: package: engine"),
        ] {
            assert_eq!(hits(text), [expected], "{text}");
        }
        for text in [
            "pip install datasets engine-bench tabulate\n",
            "pip install -r engine/requirements.txt\n",
            "pip install git+https://github.com/me/harness.git\n",
            "echo pip install engine\n",
            "# pip install engine\n",
        ] {
            assert_eq!(hits(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn edits_inside_of_an_installed_engine_are_found() {
        for (text, expected) in [
            (
                "sed -i 's/a/b/' /usr/lib/python3/site-packages/engine/x.py\n",
                "1: in-place edit: /usr/lib/python3/site-packages/engine/x.py",
            ),
            ("sed -Ei.bak s/a/b/ /opt/engine/x.py\n", "1: in-place edit: /opt/engine/x.py"),
            (
                "D=$(python3 -c 'import engine; print(engine.__file__)')\nsed -i s/a/b/ \"$D\"\n",
                "2: in-place edit: $(python3 -c 'import engine; print(engine.__file__)')",
            ),
            ("cp fix.py /opt/engine/\n", "1: file in the engine: /opt/engine/"),
            ("cat > /opt/engine/a.py <<EOF\nx\nEOF\n", "1: file in the engine: /opt/engine/a.py"),
            ("git apply fix.patch\n", "1: patch command: fix.patch"),
            ("cd /opt/engine && patch -p1 < ../x\n", "1: patch command: "),
            ("echo x > /tmp/sitecustomize.py\n", "1: monkey patch: /tmp/sitecustomize.py"),
            (
                "docker run -v $PWD/a.py:/opt/engine/a.py image\n",
                "1: mount over the engine: /opt/engine/a.py",
            ),
            (
                "python3 - <<'PY'\nimport pathlib\np = pathlib.Path('/opt/engine/a.py')\np.write_text('x')\nPY\n",
                "4: engine source rewritten: p = pathlib.Path('/opt/engine/a.py')",
            ),
            (
                "python3 - <<'PY'\nimport engine.core as c, pathlib\nf = pathlib.Path(c.__file__)\nf.write_text('x')\nPY\n",
                "2: engine source rewritten: import engine.core as c, pathlib",
            ),
        ] {
            let found = hits(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            // The heredoc's own lines count.
            let line = if text.starts_with("python3 - <<'PY'\nimport pathlib") {
                "3"
            } else {
                &expected[..1]
            };
            assert_eq!(found[0], format!("{line}{}", &expected[1..]), "{text}");
        }
        for text in [
            "sed -i s/a/b/ config.yaml\n",
            "sed s/a/b/ /opt/engine/x.py\n",
            "cp /opt/engine/x.py /tmp/\n",
            "export PYTHONPATH=/opt/engine:$PYTHONPATH\n",
            "python3 - <<'PY'\nopen('/tmp/x','w').write('y')\nPY\n",
            "python3 -c 'import engine; print(engine.__file__)'\n",
        ] {
            assert_eq!(hits(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn files_by_their_names() {
        assert!(table().is_patch("a/b.patch") && !table().is_patch("a/b.py"));
        assert!(table().is_scanned("bench/x.sh") && !table().is_scanned("runners/launch.sh"));
        let at = crate::bench::yaml::Place { line: 3, column: 1 };
        assert!(table().mount("container_mounts./host/x.py", "/opt/engine/x.py", at).is_some());
        assert!(table().mount("container_mounts./host/x", "/models", at).is_none());
        assert!(table().mount("env.X", "/opt/engine/x.py", at).is_none());
    }

    #[test]
    fn scripts_in_commands_are_read_and_never_passed_over() {
        let table = PatchTable { shells: vec!["bash -c".to_owned(), "eval".to_owned()], ..table() };
        let kinds = |text: &str| -> Vec<&str> {
            let script = script::read(text, &BTreeMap::new()).unwrap();
            table.scan(&script).into_iter().map(|hit| hit.kind).collect()
        };
        assert_eq!(kinds("bash -c 'pip install engine==1'"), ["package"]);
        assert_eq!(kinds("eval eval eval pip install engine"), ["package"]);
        assert_eq!(kinds("eval eval eval eval pip install engine"), [super::UNREAD]);
        assert!(kinds("bash -c 'echo pip install engine'").is_empty());
    }
}
