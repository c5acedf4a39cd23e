//! `registry`: whether the images of the affected entries are there, as their registries say.
//!
//! A registry that cannot be asked says nothing, and is no reason to hold anybody up (ruling 10): that
//! stands in the fact itself.

use std::collections::BTreeMap;

use super::world::{Found, World};
use crate::bench::image::{self, Image};
use crate::evidence::Context;
use crate::evidence::in_order::all_in_order;
use crate::facts::{Missing, Origin, OriginKind, RegistryImage};
use crate::limits::IMAGES;
use crate::profile::Registry;
use crate::sources::types::Manifest;

/// What a reference without tag and digest means to every container engine.
const LATEST: &str = "latest";

pub(super) async fn registry(
    context: &Context<'_>,
    world: &World<'_>,
    found: &[Found<'_>],
) -> Result<Vec<RegistryImage>, Missing> {
    let mut images: BTreeMap<&str, (Vec<String>, Origin)> = BTreeMap::new();
    for entry in found.iter().filter_map(|found| found.of.head) {
        let image = &entry.image;
        let origin = || world.line(&world.head, &entry.path, image.at).quoting(&image.text);
        let (configs, _) = images.entry(&image.text).or_insert_with(|| (Vec::new(), origin()));
        configs.push(entry.key.clone());
    }
    let asked = images.into_iter().take(IMAGES).map(async |(written, (configs, origin))| {
        let image = image::read(written);
        let registry = world.settings.registries.iter().find(|registry| match &image.host {
            Some(host) => registry.host == *host,
            None => registry.default,
        });
        let said = match registry {
            Some(registry) => ask(context, registry, &image).await,
            None => Err("the profile names no such registry".to_owned()),
        };
        let page = registry.and_then(|registry| registry.page.as_ref());
        let page = page.map(|page| page.replace("{name}", &image.name));
        let (asked, said, why) = match said {
            Ok(said) => (true, said, None),
            Err(why) => (false, Said::default(), Some(why)),
        };
        Ok(RegistryImage {
            image: written.to_owned(),
            configs,
            asked,
            exists: said.exists,
            digest: said.digest,
            pinned_digest: image.digest,
            agrees: said.agrees,
            why,
            registry: Origin { url: page, ..Origin::new(OriginKind::Registry).quoting(written) },
            origin,
        })
    });
    all_in_order(asked).await
}

/// What a registry says of an image.
#[derive(Default)]
struct Said {
    exists: bool,
    /// What the tag names.
    digest: Option<String>,
    /// Whether that is what the reference pins, if anything.
    agrees: bool,
}

async fn ask(context: &Context<'_>, registry: &Registry, image: &Image) -> Result<Said, String> {
    let manifest = async |reference: &str, whole: bool| {
        let (repo, host) = (context.repo, registry.host.as_str());
        let asked = context.reader.manifest(repo, host, &image.name, reference, whole).await;
        asked.map_err(|error| error.reason().to_owned())
    };
    let (tag, pinned) = (image.tag.as_deref(), image.digest.as_deref());
    let reference = tag.or(pinned).unwrap_or(LATEST);
    let found: Option<Manifest> = manifest(reference, tag.is_some() && pinned.is_some()).await?;
    let agrees = |found: &Manifest| {
        pinned
            .is_none_or(|pinned| found.digest == pinned || found.parts.iter().any(|p| p == pinned))
    };
    Ok(match found {
        Some(found) => Said { exists: true, agrees: agrees(&found), digest: Some(found.digest) },
        None => Said::default(),
    })
}
