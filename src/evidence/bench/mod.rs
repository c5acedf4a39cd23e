//! The facts on what the pull request changes of the benchmark.
//!
//! They stand on the same files and on one another, so that they are gathered together: the two trees,
//! then the master configurations, changelogs and runners of both, then what the affected points run.

mod append;
mod changes;
mod configs;
mod deprecations;
mod launches;
mod patches;
mod plan;
mod point;
mod registry;
mod runs;
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::OptionFuture;

pub(super) use self::plan::{Planned, Work, covered, plan, work_at};
pub(super) use self::world::World;
use super::{Context, checklist, put};
use crate::facts::{
    AppendOnly, ArchitectureOverride, Changelog, Changes, Config, Deprecation, Details,
    EventPublication, Facts, Launch, Layout, Missing, Patch, Point, Recipe, RegistryImage,
};

/// The facts of this room.
const ALL: &[&str] = &[
    "layout",
    "changes",
    "configs",
    "registry",
    "points",
    "changelog",
    "append_only",
    "deprecations",
    "recipes",
    "launches",
    "overrides_arch",
    "event_publication",
    "patches",
];
/// Those that need what the points run, too.
const OF_RUNS: &[&str] = &[
    "points",
    "deprecations",
    "recipes",
    "launches",
    "overrides_arch",
    "event_publication",
    "patches",
];

/// What was found; what is not wanted is `None`.
#[derive(Default)]
pub(super) struct Bench {
    layout: Option<Result<Layout, Missing>>,
    changes: Option<Result<Changes, Missing>>,
    configs: Option<Result<Vec<Config>, Missing>>,
    registry: Option<Result<Vec<RegistryImage>, Missing>>,
    points: Option<Result<Vec<Point>, Missing>>,
    changelog: Option<Result<Changelog, Missing>>,
    append_only: Option<Result<AppendOnly, Missing>>,
    deprecations: Option<Result<Vec<Deprecation>, Missing>>,
    recipes: Option<Result<Vec<Recipe>, Missing>>,
    launches: Option<Result<Vec<Launch>, Missing>>,
    overrides_arch: Option<Result<Vec<ArchitectureOverride>, Missing>>,
    event_publication: Option<Result<Vec<EventPublication>, Missing>>,
    patches: Option<Result<Vec<Patch>, Missing>>,
}

impl Bench {
    /// Puts what was found in its place.
    pub(super) fn put(self, facts: &mut Facts) {
        put(&mut facts.layout, self.layout);
        put(&mut facts.changes, self.changes);
        put(&mut facts.configs, self.configs);
        put(&mut facts.registry, self.registry);
        put(&mut facts.points, self.points);
        put(&mut facts.changelog, self.changelog);
        put(&mut facts.append_only, self.append_only);
        put(&mut facts.deprecations, self.deprecations);
        put(&mut facts.recipes, self.recipes);
        put(&mut facts.launches, self.launches);
        put(&mut facts.overrides_arch, self.overrides_arch);
        put(&mut facts.event_publication, self.event_publication);
        put(&mut facts.patches, self.patches);
    }

    /// The same reason for each fact that is wanted.
    fn lacking(wanted: &BTreeSet<&str>, missing: &Missing) -> Self {
        fn each<T>(wanted: bool, missing: &Missing) -> Option<Result<T, Missing>> {
            wanted.then(|| Err(missing.clone()))
        }
        let is = |name: &str| wanted.contains(name);
        Self {
            layout: each(is("layout"), missing),
            changes: each(is("changes"), missing),
            configs: each(is("configs"), missing),
            registry: each(is("registry"), missing),
            points: each(is("points"), missing),
            changelog: each(is("changelog"), missing),
            append_only: each(is("append_only"), missing),
            deprecations: each(is("deprecations"), missing),
            recipes: each(is("recipes"), missing),
            launches: each(is("launches"), missing),
            overrides_arch: each(is("overrides_arch"), missing),
            event_publication: each(is("event_publication"), missing),
            patches: each(is("patches"), missing),
        }
    }
}

/// The benchmark's files at both revisions, read once for all facts that stand on them.
pub(super) type SharedWorld<'a> = Result<Arc<World<'a>>, Missing>;

/// Reads them.
pub(super) async fn world<'a>(context: &Context<'a>) -> SharedWorld<'a> {
    let Some(settings) = &context.profile.settings.benchmark else {
        return Err(Missing::submission("the profile names no benchmark")
            .with_fix("Give the profile a `benchmark`, or take the rule out of it."));
    };
    world::world(context, settings).await.map(Arc::new)
}

/// Gathers them.
pub(super) async fn bench(
    context: &Context<'_>,
    wanted: &BTreeSet<&str>,
    world: impl Future<Output = SharedWorld<'_>>,
) -> Bench {
    if !ALL.iter().any(|name| wanted.contains(name)) {
        return Bench::default();
    }
    let models = context.profile.settings.benchmark.as_ref().map(|of| &of.layout.models);
    // Whoever signed may have explained an entry; without a sign-off nobody has.
    let document = models.filter(|_| wanted.contains("deprecations"));
    let document = document.map(|paths| deprecations::document(context, paths));
    let (world, signoff, document) =
        futures_util::join!(world, checklist::signoff(context), OptionFuture::from(document));
    let details = signoff.ok().map(|signoff| signoff.details);
    match world {
        Ok(world) => of_world(context, &world, wanted, details.as_ref(), document).await,
        Err(missing) => Bench::lacking(wanted, &missing),
    }
}

async fn of_world(
    context: &Context<'_>,
    world: &World<'_>,
    wanted: &BTreeSet<&str>,
    details: Option<&Details>,
    document: Option<Result<deprecations::Document, Missing>>,
) -> Bench {
    let found = world.found();
    let is = |name: &str| wanted.contains(name);
    let configs = || {
        let frameworks = context.table("frameworks")?;
        Ok(configs::configs(world, &found, &frameworks, details))
    };
    let append_only = async || {
        let recipes = append::recipes(context, world).await?;
        Ok(append::append_only(world, context.profile, &found, &recipes))
    };
    let append_only = OptionFuture::from(is("append_only").then(append_only));
    let runs = OF_RUNS.iter().any(|name| is(name)).then(|| runs::runs(context, world, &found));
    let registry = is("registry").then(|| registry::registry(context, world, &found));
    let (append_only, runs, registry) =
        futures_util::join!(append_only, OptionFuture::from(runs), OptionFuture::from(registry));
    let of_runs = |name: &str| {
        let runs = runs.as_ref().filter(|_| is(name))?;
        Some(runs.as_ref().map_err(Missing::clone))
    };
    let patches = async || match of_runs("patches") {
        Some(Ok(runs)) => Some(patches::patches(context, world, runs, details).await),
        Some(Err(missing)) => Some(Err(missing)),
        None => None,
    };
    let patches = patches().await;
    Bench {
        patches,
        registry,
        layout: is("layout").then(|| Ok(configs::layout(world))),
        changes: is("changes").then(|| changes::changes(context, world, &found)),
        configs: is("configs").then(configs),
        points: of_runs("points").map(|runs| Ok(configs::points(world, &found, runs?))),
        changelog: is("changelog").then(|| Ok(changes::changelog(world))),
        append_only,
        deprecations: document.zip(of_runs("deprecations")).map(|(document, runs)| {
            // Where nothing is affected, nobody asks for the document.
            match found.iter().any(|found| found.of.head.is_some()) {
                true => Ok(deprecations::deprecations(context, world, &found, &document?, runs?)),
                false => Ok(Vec::new()),
            }
        }),
        recipes: of_runs("recipes").map(|runs| Ok(launches::recipes(world, runs?))),
        launches: of_runs("launches").map(|runs| Ok(launches::launches(world, runs?))),
        overrides_arch: of_runs("overrides_arch").map(|runs| {
            Ok(launches::overrides(world, runs?, &context.table("architecture-overrides")?))
        }),
        event_publication: of_runs("event_publication").map(|runs| {
            Ok(launches::publication(world, runs?, &context.table("event-publication")?))
        }),
    }
}
