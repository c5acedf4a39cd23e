//! `patches`: what changes the engine inside of its image, and the waiver for it.

use std::collections::{BTreeMap, BTreeSet};

use super::runs::{Run, Runs, environment};
use super::world::{Side, World, bytes};
use crate::bench::layout::under;
use crate::bench::matrix::MatrixRow;
use crate::bench::patch::{Hit, PatchTable, UNREAD, scripts_named};
use crate::bench::reference::ScriptNames;
use crate::bench::script::{self, Script};
use crate::bench::waiver::{self, Patched, WaiverTable};
use crate::bench::yaml::{Note, Place};
use crate::evidence::Context;
use crate::evidence::in_order::all_in_order;
use crate::facts::{Details, Missing, Patch, Waiver};
use crate::limits::{ENVIRONMENTS, SCANNED_FILES, WAIVERS};

/// A script that runs and cannot be read here.
const ELSEWHERE: &str = "elsewhere";

/// A file that is scanned, and what runs it.
#[derive(Default)]
struct Scanned {
    configs: BTreeSet<String>,
    recipes: BTreeSet<String>,
    /// What the points that run it start it with; a way to run it that is not known is an empty one.
    environments: BTreeSet<BTreeMap<String, String>>,
    hits: Vec<Hit>,
    /// Those of them that no point gets to.
    unreached: BTreeSet<(Place, &'static str)>,
    /// Why it was not read.
    problem: Option<String>,
}

/// A waiver document.
struct Document {
    path: String,
    waiver: waiver::Waiver,
    /// Whether it is there before this pull request.
    before: bool,
}

/// Scans what affected points run and what the pull request changes.
pub(super) async fn patches(
    context: &Context<'_>,
    world: &World<'_>,
    runs: &Runs<'_>,
    details: Option<&Details>,
) -> Result<Vec<Patch>, Missing> {
    let table: PatchTable = context.table("engine-patches")?;
    let words: WaiverTable = context.table("waivers")?;
    let mut files = wanted(world, runs, &table, context);
    let mut read = BTreeSet::new();
    // A script may run others beside it.
    while let Some(next) = next_unread(&files, &read) {
        let texts = all_in_order(next.iter().map(async |path| {
            let found = bytes(context, &world.head.commit, path).await?;
            Ok::<_, Missing>((path.clone(), found))
        }))
        .await?;
        for (path, bytes) in texts {
            read.insert(path.clone());
            let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            scan(world, &table, &path, text.as_deref().unwrap_or_default(), &mut files);
        }
    }
    mounts(&table, runs, &mut files);
    elsewhere(world, runs, &mut files);
    let changed: BTreeMap<&str, &str> = world
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.previous_path.as_deref().unwrap_or(&file.path)))
        .collect();
    let with_hits = files.iter().filter(|(_, file)| !file.hits.is_empty());
    let before = all_in_order(with_hits.map(async |(path, _)| {
        let Some(old) = changed.get(path.as_str()) else { return Ok((path.clone(), None)) };
        let found = if world.base.tree.contains_key(*old) {
            bytes(context, &world.base.commit, old).await?
        } else {
            None
        };
        let text = found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok::<_, Missing>((path.clone(), Some(text.unwrap_or_default())))
    }))
    .await?;
    let before: BTreeMap<String, Option<String>> = before.into_iter().collect();
    let documents = if before.is_empty() { Vec::new() } else { documents(context, world).await? };
    let mut all = Vec::new();
    for (path, file) in &files {
        let old = before.get(path).and_then(Option::as_ref);
        let old_hits = old.map(|text| hits_of(&table, path, text));
        let named_before = |hit: &Hit| old.is_some_and(|text| text.contains(&hit.target));
        for hit in &file.hits {
            let is_old = match &old_hits {
                None => true,
                Some(_) if hit.kind == ELSEWHERE => named_before(hit),
                Some(old) => old.iter().any(|o| o.kind == hit.kind && o.text == hit.text),
            };
            let found = Found { path, file, hit, is_old, unchanged: old_hits.is_none() };
            // What a pull request adds counts, whoever gets to it.
            if !is_old || !file.unreached.contains(&(hit.at, hit.kind)) {
                all.push(patch(context, world, &words, &documents, details, &found));
            }
        }
    }
    all.sort_by(|a, b| (&a.path, a.line, &a.target).cmp(&(&b.path, b.line, &b.target)));
    Ok(all)
}

struct Found<'f> {
    path: &'f str,
    file: &'f Scanned,
    hit: &'f Hit,
    /// Whether it was there before this pull request.
    is_old: bool,
    unchanged: bool,
}

fn next_unread(files: &BTreeMap<String, Scanned>, read: &BTreeSet<String>) -> Option<Vec<String>> {
    let room = SCANNED_FILES.saturating_sub(read.len());
    let next: Vec<String> = files
        .iter()
        .filter(|(path, file)| !read.contains(*path) && file.problem.is_none())
        .map(|(path, _)| path.clone())
        .take(room)
        .collect();
    (!next.is_empty()).then_some(next)
}

/// The files to begin with: scripts and setup scripts that affected points run, and changed ones.
fn wanted(
    world: &World<'_>,
    runs: &Runs<'_>,
    table: &PatchTable,
    context: &Context<'_>,
) -> BTreeMap<String, Scanned> {
    let mut files: BTreeMap<String, Scanned> = BTreeMap::new();
    let mut put = |path: String, run: Option<&Run<'_>>, recipe: Option<&str>| {
        if !table.is_scanned(&path) {
            return;
        }
        let file = files.entry(path).or_default();
        file.configs.extend(run.map(|run| run.entry.key.clone()));
        file.recipes.extend(recipe.map(str::to_owned));
        file.environments.extend(run.map(|run| match recipe {
            Some(_) => BTreeMap::new(),
            None => handed(run.row, &world.settings.scripts),
        }));
    };
    for run in &runs.all {
        let path = run.reference.path.as_str();
        if run.reference.is_script && run.reference.in_tree {
            put(path.to_owned(), Some(run), None);
        }
        for script in run.launches.iter().filter_map(|launch| launch.setup_script.as_ref()) {
            if let Some(found) = setup_script(world, &script.text()) {
                put(found, Some(run), Some(path));
            }
        }
    }
    for file in &world.files {
        let groups = context.profile.groups.of([file.path.as_str()]);
        let of_benchmark = groups.contains(&world.settings.group);
        let scanned = table.is_patch(&file.path) || (of_benchmark && file.path.ends_with(".sh"));
        if scanned && world.head.tree.contains_key(&file.path) {
            put(file.path.clone(), None, None);
        }
    }
    files
}

/// What a workflow hands to a script for a row: a field that the row has not is an empty variable.
fn handed(row: &MatrixRow, names: &ScriptNames) -> BTreeMap<String, String> {
    let empty = names.environment.keys().map(|name| (name.clone(), String::new()));
    empty.chain(environment(row, names)).collect()
}

/// Reads one file's hits, and puts the scripts that it runs beside it.
fn scan(
    world: &World<'_>,
    table: &PatchTable,
    path: &str,
    text: &str,
    files: &mut BTreeMap<String, Scanned>,
) {
    if table.is_patch(path) {
        if let Some(file) = files.get_mut(path) {
            file.hits = hits_of(table, path, text);
        }
        return;
    }
    let script = match script::read(text, &BTreeMap::new()) {
        Ok(script) => script,
        Err(error) => {
            if let Some(file) = files.get_mut(path) {
                file.problem = Some(error.to_string());
                file.hits = vec![Hit::unread(&error.to_string())];
            }
            return;
        }
    };
    let mut hits = table.scan(&script);
    if let Some(note) = cut(&script) {
        hits.push(Hit { at: note.at, ..Hit::unread(&note.message) });
    }
    let (configs, recipes) = match files.get_mut(path) {
        Some(file) => {
            let reached = reached(table, text, &file.environments);
            let place = |hit: &Hit| (hit.at, hit.kind);
            let all = hits.iter().map(place);
            file.unreached = match reached {
                Some(reached) => {
                    all.filter(|place| place.1 != UNREAD && !reached.contains(place)).collect()
                }
                None => BTreeSet::new(),
            };
            file.hits = hits;
            (file.configs.clone(), file.recipes.clone())
        }
        None => return,
    };
    for found in beside(world, path, &script) {
        if table.is_scanned(&found) {
            let file = files.entry(found).or_default();
            file.configs.extend(configs.iter().cloned());
            file.recipes.extend(recipes.iter().cloned());
            // What a script hands on to another is not followed.
            file.environments.insert(BTreeMap::new());
        }
    }
}

/// Where a script was not walked to its end.
fn cut(script: &Script) -> Option<&Note> {
    script.problems.iter().find(|note| note.message.starts_with("more than"))
}

/// The hits that some point gets to, with what it starts the script with; `None` where that is not known.
fn reached(
    table: &PatchTable,
    text: &str,
    environments: &BTreeSet<BTreeMap<String, String>>,
) -> Option<BTreeSet<(Place, &'static str)>> {
    if environments.is_empty()
        || environments.len() > ENVIRONMENTS
        || environments.iter().any(BTreeMap::is_empty)
    {
        return None;
    }
    let mut found = BTreeSet::new();
    for environment in environments {
        let script = script::read(text, environment).ok()?;
        if cut(&script).is_some() {
            return None;
        }
        found.extend(table.scan(&script).into_iter().map(|hit| (hit.at, hit.kind)));
    }
    Some(found)
}

/// A setup script in the tree, by the name that a recipe gives it.
fn setup_script(world: &World<'_>, name: &str) -> Option<String> {
    let folders = &world.head.layout.setup_scripts;
    let mut paths = folders.iter().map(|folder| format!("{folder}{name}"));
    paths.find(|path| world.head.tree.contains_key(path))
}

/// Setup scripts that are not in the tree: they run, and nobody has read them (ruling 25).
fn elsewhere(world: &World<'_>, runs: &Runs<'_>, files: &mut BTreeMap<String, Scanned>) {
    for run in runs.all.iter().filter(|run| !run.reference.is_script) {
        for script in run.launches.iter().filter_map(|launch| launch.setup_script.as_ref()) {
            let name = script.text();
            if name.is_empty() || setup_script(world, &name).is_some() {
                continue;
            }
            let text = format!("setup_script: {name}");
            let hit = Hit { at: script.at, kind: ELSEWHERE, target: name, text };
            let file = files.entry(run.reference.path.clone()).or_default();
            file.configs.insert(run.entry.key.clone());
            file.recipes.insert(run.reference.path.clone());
            if !file.hits.contains(&hit) {
                file.hits.push(hit);
            }
        }
    }
}

/// The scripts in a script's own folder that it names.
fn beside(world: &World<'_>, path: &str, script: &Script) -> BTreeSet<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let names = script.commands.iter().flat_map(scripts_named);
    let paths = names.map(|name| format!("{folder}/{name}"));
    paths.filter(|found| found != path && world.head.tree.contains_key(found)).collect()
}

fn hits_of(table: &PatchTable, path: &str, text: &str) -> Vec<Hit> {
    if table.is_patch(path) {
        // A patch that is not there is none.
        let hit = Hit {
            at: Place { line: 1, column: 1 },
            kind: "patch file",
            target: path.to_owned(),
            text: path.to_owned(),
        };
        return if text.is_empty() { Vec::new() } else { vec![hit] };
    }
    script::read(text, &BTreeMap::new()).map(|script| table.scan(&script)).unwrap_or_default()
}

/// Mounts of recipes over an engine's files.
fn mounts(table: &PatchTable, runs: &Runs<'_>, files: &mut BTreeMap<String, Scanned>) {
    for run in runs.all.iter().filter(|run| !run.reference.is_script) {
        for launch in &run.launches {
            for leaf in launch.leaves() {
                let texts = match &leaf.value {
                    serde_json::Value::Array(items) => {
                        items.iter().filter_map(|item| item.as_str()).map(str::to_owned).collect()
                    }
                    _ => vec![leaf.text()],
                };
                for hit in texts.iter().filter_map(|text| table.mount(&leaf.name, text, leaf.at)) {
                    let file = files.entry(run.reference.path.clone()).or_default();
                    file.configs.insert(run.entry.key.clone());
                    file.recipes.insert(run.reference.path.clone());
                    if !file.hits.contains(&hit) {
                        file.hits.push(hit);
                    }
                }
            }
        }
    }
}

/// Every waiver of the assessed commit.
async fn documents(context: &Context<'_>, world: &World<'_>) -> Result<Vec<Document>, Missing> {
    let Some(folder) = &world.head.layout.waivers else { return Ok(Vec::new()) };
    let place = |side: &Side, path: &str| {
        let name = world.settings.layout.place(path);
        side.tree.keys().any(|known| world.settings.layout.place(known) == name)
    };
    let paths: Vec<&str> = under(&world.head.tree, folder)
        .filter(|path| path.ends_with(".md"))
        .take(WAIVERS)
        .collect();
    let read = all_in_order(paths.iter().map(async |path| {
        let found = bytes(context, &world.head.commit, path).await?;
        Ok::<_, Missing>(((*path).to_owned(), found.unwrap_or_default()))
    }))
    .await?;
    let document = |(path, bytes): (String, bytes::Bytes)| Document {
        waiver: waiver::read(&String::from_utf8_lossy(&bytes)),
        before: place(&world.base, &path),
        path,
    };
    Ok(read.into_iter().map(document).collect())
}

fn patch(
    context: &Context<'_>,
    world: &World<'_>,
    words: &WaiverTable,
    documents: &[Document],
    details: Option<&Details>,
    found: &Found<'_>,
) -> Patch {
    let folder = world.head.layout.waivers.clone();
    let folder =
        folder.or_else(|| world.settings.layout.waivers.last().cloned()).unwrap_or_default();
    let own = format!("{folder}{}.md", context.number);
    let configs: Vec<String> = found.file.configs.iter().cloned().collect();
    let recipes: Vec<String> = found.file.recipes.iter().cloned().collect();
    let patched = Patched { path: found.path, configs: &configs, recipes: &recipes };
    // What was there has been waived before, by a document that names it; what is new is waived under
    // this pull request's number.
    let candidates = documents.iter().filter(|document| {
        document.path == own
            || (found.is_old && document.before && document.waiver.names(found.path))
    });
    let judged = candidates.map(|document| (document.waiver.missing(&patched, words), document));
    let best = judged.min_by(|a, b| (a.0.len(), &a.1.path).cmp(&(b.0.len(), &b.1.path)));
    let linked = |path: &str| {
        let place = world.settings.layout.place(path);
        let links = |details: &Details| {
            details.links.iter().any(|link| link.url.contains(place))
                || details.text.contains(place)
        };
        details.map(links)
    };
    let waiver = best.map(|(missing, document)| Waiver {
        linked: linked(&document.path),
        proposed: document.waiver.is_proposed(words),
        origin: world.line(&world.head, &document.path, Place::default()),
        path: document.path.clone(),
        missing,
    });
    Patch {
        path: found.path.to_owned(),
        line: found.hit.at.line,
        kind: found.hit.kind.to_owned(),
        target: found.hit.target.clone(),
        text: found.hit.text.clone(),
        unchanged: found.unchanged,
        waiver,
        waiver_path: own,
        origin: world.line(&world.head, found.path, found.hit.at).quoting(&found.hit.text),
    }
}
