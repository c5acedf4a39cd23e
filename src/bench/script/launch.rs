//! Server launches among a script's commands, in the form in which recipes have them.

use serde_json::Value as Json;

use super::{Command, Script, Word};
use crate::bench::recipe::{Launch, Role, Setting};
use crate::bench::yaml::{Node, Place, Value};

/// The role of a server that is started by a script.
const ROLE: &str = "agg";

/// The launches of servers. `names` are the first words of such commands.
pub fn launches(path: &str, script: &Script, names: &[String]) -> Vec<Launch> {
    let started =
        script.commands.iter().filter_map(|command| Some((command, begins(command, names)?)));
    let env: Vec<Setting> = exports(script);
    started
        .map(|(command, after)| {
            let role = Role {
                name: ROLE.to_owned(),
                at: command.at,
                args: arguments(&command.words[after..]),
                env: env.clone(),
                ..Role::default()
            };
            Launch {
                path: path.to_owned(),
                selector: String::new(),
                at: command.at,
                schema: 0,
                engine: None,
                image: None,
                model: None,
                precision: None,
                setup_script: None,
                roles: vec![role],
                frontend: Role::default(),
                benchmark: Vec::new(),
                benchmark_env: Vec::new(),
                root: Node { value: Value::Null, at: Place::default() },
            }
        })
        .collect()
}

/// How many words of a command are the name of a server.
fn begins(command: &Command, names: &[String]) -> Option<usize> {
    names.iter().find_map(|name| {
        let wanted: Vec<&str> = name.split_whitespace().collect();
        // `numactl … vllm serve`: wrappers stand before it.
        let at = command.words.windows(wanted.len().max(1)).position(|window| {
            window.iter().zip(&wanted).all(|(word, wanted)| {
                word.text == *wanted || word.text.rsplit('/').next() == Some(*wanted)
            })
        })?;
        (at <= 6).then_some(at + wanted.len())
    })
}

/// `--name value`, `--name=value`, `--name`.
fn arguments(words: &[Word]) -> Vec<Setting> {
    let mut args: Vec<Setting> = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let Some(name) = word.text.strip_prefix("--").filter(|name| !name.is_empty()) else {
            continue;
        };
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, Json::String(value.to_owned())),
            None => match rest.next_if(|next| !next.text.starts_with("--")) {
                Some(value) => (name, Json::String(value.text.clone())),
                None => (name, Json::Bool(true)),
            },
        };
        args.push(Setting { name: name.to_owned(), value, at: word.at });
    }
    args
}

/// What is exported; of a name that is exported twice, the last.
fn exports(script: &Script) -> Vec<Setting> {
    let mut env: Vec<Setting> = Vec::new();
    for (name, value) in &script.exports {
        env.retain(|known| known.name != *name);
        let value_json = Json::String(value.text.clone());
        env.push(Setting { name: name.clone(), value: value_json, at: value.at });
    }
    env
}
