//! From what was read to what is settled. Where two servers disagree, nothing is.

use std::collections::BTreeMap;

use serde_json::Value;

use super::gather::Gathered;
use super::log::{Acceptance, Kind, Launch, Log, Requests, Spec};
use super::table::{Engine, Speculation};

/// What an argument is.
enum Found {
    Absent,
    None,
    Value(Value),
}

/// Follows a dotted name; a text that is JSON is looked into.
fn look(launch: &Launch, path: &str) -> Found {
    let mut parts = path.split('.');
    let Some(mut value) = parts.next().and_then(|name| launch.args.get(name)).cloned() else {
        return Found::Absent;
    };
    for part in parts {
        if let Value::String(text) = &value {
            match serde_json::from_str(text) {
                Ok(json) => value = json,
                Err(_) => return Found::Absent,
            }
        }
        match value {
            Value::Null => return Found::None,
            Value::Object(mut map) => match map.remove(part) {
                Some(inner) => value = inner,
                None => return Found::Absent,
            },
            _ => return Found::Absent,
        }
    }
    if value.is_null() { Found::None } else { Found::Value(value) }
}

fn first(launch: &Launch, paths: &[String]) -> Option<String> {
    paths.iter().find_map(|path| match look(launch, path) {
        Found::Value(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    })
}

/// Whether a server speculates: none where it does not say.
fn speculates(launch: &Launch, speculation: &Speculation) -> Option<bool> {
    let off = if speculation.off.is_empty() { &speculation.algorithm } else { &speculation.off };
    let mut none = None;
    for path in off {
        match look(launch, path) {
            Found::Value(_) => return Some(true),
            Found::None => none = Some(false),
            Found::Absent => {}
        }
    }
    none
}

fn draft_tokens(launch: &Launch, speculation: &Speculation) -> Option<i64> {
    speculation.draft_tokens.iter().find_map(|way| {
        let fits = way.kind.is_none_or(|kind| kind == launch.kind)
            && way.conditions.iter().all(
                |(path, want)| matches!(look(launch, path), Found::Value(value) if value == *want),
            )
            && way
                .where_set
                .as_ref()
                .is_none_or(|path| matches!(look(launch, path), Found::Value(_)));
        match look(launch, &way.key) {
            Found::Value(value) if fits => {
                value.as_i64()?.checked_sub(way.less).filter(|k| *k >= 0)
            }
            _ => None,
        }
    })
}

fn quantization(launch: &Launch, speculation: &Speculation) -> (Option<String>, Option<bool>) {
    let value = first(launch, &speculation.draft_quantization);
    let Some(flag) = speculation.explicit.as_ref().filter(|_| launch.kind == Kind::Resolved) else {
        let given = value.as_ref().map(|_| false);
        return (value, given);
    };
    match (look(launch, flag), value) {
        (Found::Value(Value::Bool(true)), None) => {
            let printed = speculation
                .draft_quantization
                .iter()
                .any(|path| matches!(look(launch, path), Found::None));
            (speculation.explicit_none.clone().filter(|_| printed), Some(false))
        }
        (Found::Value(Value::Bool(true)), value) => (value, Some(false)),
        (Found::Value(Value::Bool(false)), value) => {
            let inherited = value.is_some();
            (value, Some(inherited))
        }
        // Older ones do not say.
        (_, value) => (value, None),
    }
}

fn spec_of(launch: &Launch, speculation: &Speculation) -> Spec {
    if speculates(launch, speculation) != Some(true) {
        return Spec::default();
    }
    let (draft_quantization, draft_quantization_inherited) = quantization(launch, speculation);
    Spec {
        algorithm: first(launch, &speculation.algorithm)
            .map(|name| speculation.algorithms.get(&name).cloned().unwrap_or(name)),
        draft_model: first(launch, &speculation.draft_model),
        draft_tokens: draft_tokens(launch, speculation),
        draft_quantization,
        draft_quantization_inherited,
    }
}

/// The servers of a kind that count: of each process the last one that was ready, or else the last; where
/// roles differ, those of the deciding one.
fn counting<'a>(
    launches: &'a [Launch],
    kind: Kind,
    name: &str,
    engine: &Engine,
) -> Vec<&'a Launch> {
    let mut last: BTreeMap<(String, String), &Launch> = BTreeMap::new();
    let mut launches: Vec<_> =
        launches.iter().filter(|launch| launch.kind == kind && launch.engine == name).collect();
    // A server that comes again counts where it came last.
    launches.sort_by_key(|launch| launch.lines.last().copied());
    for launch in launches {
        let instance: Vec<_> = engine.instance.iter().map(|key| launch.args.get(key)).collect();
        // Commands name no process: each is a server of its own.
        let line = if kind == Kind::Requested { launch.line } else { 0 };
        let key = (launch.source.clone(), format!("{instance:?}{line}"));
        match last.get(&key) {
            Some(known) if known.ready && !launch.ready => {}
            _ => {
                last.insert(key, launch);
            }
        }
    }
    let mut counting: Vec<_> = last.into_values().collect();
    if let Some(role) = &engine.role {
        let decides = |launch: &&Launch| {
            launch.args.get(&role.key).and_then(Value::as_str) == Some(role.decides.as_str())
        };
        if counting.iter().any(decides) {
            counting.retain(decides);
        }
    }
    counting.sort_by_key(|launch| launch.line);
    counting
}

/// One value of a field, or that there are several.
fn agree<T: PartialEq>(values: impl Iterator<Item = Option<T>>) -> Result<Option<T>, ()> {
    let mut found = None;
    for value in values.flatten() {
        match &found {
            None => found = Some(value),
            Some(known) if *known == value => {}
            Some(_) => return Err(()),
        }
    }
    Ok(found)
}

fn settle_spec(gathered: &mut Gathered<'_>, name: &str) -> Spec {
    let table = gathered.table;
    let Some(engine) = table.engines.get(name) else { return Spec::default() };
    let mut spec = Spec::default();
    let mut disputed = Vec::new();
    for kind in [Kind::Resolved, Kind::Requested] {
        let launches = counting(&gathered.launches, kind, name, engine);
        let on: Vec<_> =
            launches.iter().filter_map(|launch| speculates(launch, &engine.speculation)).collect();
        if on.contains(&false) {
            if on.contains(&true) {
                gathered.unknown("spec: some servers speculate and some do not".to_owned());
            }
            // The engine's word that nothing is speculated; or no word at all.
            return spec;
        }
        let specs: Vec<_> =
            launches.iter().map(|launch| spec_of(launch, &engine.speculation)).collect();
        macro_rules! settle {
            ($($field:ident),*) => {$(
                if spec.$field.is_none() && !disputed.contains(&stringify!($field)) {
                    match agree(specs.iter().map(|spec| spec.$field.clone())) {
                        Ok(value) => spec.$field = value,
                        Err(()) => disputed.push(stringify!($field)),
                    }
                }
            )*};
        }
        settle!(
            algorithm,
            draft_model,
            draft_tokens,
            draft_quantization,
            draft_quantization_inherited
        );
    }
    let observed = &gathered.observed_drafts;
    if let (Some(first), 1) = (observed.first().copied(), observed.len()) {
        match spec.draft_tokens {
            None if !disputed.contains(&"draft_tokens") => spec.draft_tokens = Some(first),
            Some(said) if said != first => gathered.unknown(format!(
                "spec.draft_tokens: the arguments say {said} and the engine verifies {first}"
            )),
            _ => {}
        }
    }
    for field in disputed {
        gathered.unknown(format!("spec.{field}: servers of this log disagree"));
    }
    spec
}

/// The engine that the log speaks for most strongly; a plugin only where it speaks for no other.
fn engine(gathered: &Gathered<'_>) -> Option<String> {
    let plugin = |name: &str| gathered.table.engines.get(name).is_some_and(|engine| engine.plugin);
    let rank = |(name, (strength, line)): &(&String, &(u8, u64))| {
        (!plugin(name) || *strength > 2, *strength, std::cmp::Reverse(*line))
    };
    gathered.engines.iter().max_by_key(rank).map(|(name, _)| name.clone())
}

/// The log, from everything that was read.
pub(super) fn settle(mut gathered: Gathered<'_>, lines: u64) -> Log {
    let engine = engine(&gathered);
    environment_alone(&mut gathered, engine.as_deref());
    let open: Vec<_> =
        gathered.launches.iter().filter(|one| !one.complete).map(|one| one.line).collect();
    for line in open {
        gathered.unknown(format!("launch at line {line}: not all of its arguments are printed"));
    }
    let spec = engine.as_deref().map(|name| settle_spec(&mut gathered, name)).unwrap_or_default();
    let mut versions = std::mem::take(&mut gathered.versions);
    if versions.len() > 1 {
        let all: Vec<_> = versions.iter().take(5).map(String::as_str).collect();
        gathered.unknown(format!("version: several are printed: {}", all.join(", ")));
    }
    let version = if versions.len() == 1 { versions.pop_first() } else { None };
    if gathered.loads.iter().all(|load| load.quantization.is_none()) {
        checkpoint_decides(&mut gathered);
    }
    let acceptance = if gathered.totals.is_empty() {
        Acceptance { mean: gathered.intervals.value(), observations: gathered.intervals.lines }
    } else {
        let mut mean = super::gather::Mean::default();
        for (value, weight) in gathered.totals.values() {
            mean.add(*value, *weight);
        }
        Acceptance { mean: mean.value(), observations: gathered.total_lines }
    };
    let seen = gathered.access_seen;
    Log {
        engine,
        version,
        launches: gathered.launches,
        spec,
        acceptance,
        requests: Requests {
            chat: seen.then_some(gathered.chat),
            completions: seen.then_some(gathered.completions),
        },
        loads: gathered.loads,
        unknown: gathered.unknown,
        forced_acceptance: gathered.forced,
        ready_line: gathered.ready_line,
        lines,
    }
}

/// Exports before a command that was not traced are a launch whose arguments are not known.
fn environment_alone(gathered: &mut Gathered<'_>, engine: Option<&str>) {
    let variables = &gathered.table.commands.variables;
    let about = gathered.env.keys().chain(gathered.next_env.keys());
    let mut about =
        about.filter(|name| variables.iter().any(|start| name.starts_with(start.as_str())));
    if !gathered.launches.is_empty() || about.next().is_none() {
        return;
    }
    let mut env = gathered.env.clone();
    env.append(&mut gathered.next_env.clone());
    let line = gathered.env_line.unwrap_or(1);
    gathered.launch(Launch {
        args: serde_json::Map::new(),
        env,
        complete: false,
        line,
        kind: Kind::Requested,
        engine: engine.unwrap_or_default().to_owned(),
        lines: vec![line],
        ready: false,
        source: String::new(),
    });
}

fn checkpoint_decides(gathered: &mut Gathered<'_>) {
    let mut notes = Vec::new();
    for launch in &gathered.launches {
        let Some(engine) = gathered.table.engines.get(&launch.engine) else { continue };
        for key in &engine.none_is_checkpoint {
            if launch.args.get(key).is_some_and(Value::is_null) {
                notes.push(format!("{key}: printed as none, so that the checkpoint decides"));
            }
        }
    }
    for note in notes {
        gathered.unknown(note);
    }
}
