//! The other host: where the links of artifact and log downloads lead.
//!
//! It knows nothing of GitHub's tokens and refuses a request that carries one.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use super::answer::{Answer, Outcome, Request};
use super::auth::WEBHOOK_SECRET;
use super::world::World;

/// A signed link to something on the other host.
pub fn link(world: &World, path: &str) -> String {
    let escaped: Vec<String> = path
        .split('/')
        .map(|part| {
            percent_encoding::utf8_percent_encode(part, percent_encoding::NON_ALPHANUMERIC)
                .to_string()
        })
        .collect();
    format!("{}/{}?sig={}", world.storage_url, escaped.join("/"), signature(path))
}

fn signature(path: &str) -> String {
    let key = format!("storage {WEBHOOK_SECRET}");
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("HMAC takes any key");
    mac.update(path.as_bytes());
    hex::encode(mac.finalize().into_bytes())
}

/// Answers a request of the other host.
pub fn answer(world: &World, request: &Request) -> Outcome {
    if request.header("authorization").is_some() {
        return Err(Answer::message(
            400,
            "InvalidAuthenticationInfo: the token is not meant for this host",
        ));
    }
    let path = request.segments().join("/");
    if request.parameter("sig").as_deref() != Some(&signature(&path)) {
        return Err(Answer::message(403, "AuthenticationFailed: the link is not signed"));
    }
    let parts: Vec<&str> = path.splitn(3, '/').collect();
    let broken = |error: anyhow::Error| Answer::message(500, &format!("{error:#}"));
    match parts.as_slice() {
        ["artifacts", file] => {
            let id = file.strip_suffix(".zip").and_then(|id| id.parse().ok());
            let id: u64 = id.ok_or_else(Answer::not_found)?;
            let artifact = world.artifacts.get(&id).ok_or_else(Answer::not_found)?;
            let bytes = artifact.zip(&world.case, &world.history).map_err(broken)?;
            Ok(super::elsewhere::ranged(request, "application/zip", bytes.to_vec()))
        }
        ["logs", _, file] => {
            let bytes = world.case.file(file).map_err(broken)?.ok_or_else(Answer::not_found)?;
            let bytes = world.history.fill_bytes(bytes).map_err(broken)?;
            Ok(super::elsewhere::ranged(request, "text/plain; charset=utf-8", bytes))
        }
        _ => Err(Answer::not_found()),
    }
}

/// SHA-256 as 64 hex digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
