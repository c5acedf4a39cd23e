//! Who asks: the App by its JWT, its installation, a person, or nobody.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value;

use super::answer::Answer;

/// The App's id.
pub const APP_ID: u64 = 914_207;
/// Its slug; it writes as `<slug>[bot]`.
pub const APP_SLUG: &str = "countersign";
/// Its one installation.
pub const INSTALLATION_ID: u64 = 58_213_344;
/// A personal token that is accepted.
pub const PERSONAL_TOKEN: &str = "ghp_standin0personal0token0000000000000";
/// Whose it is.
pub const PERSONAL_LOGIN: &str = "stand-in-operator";
/// The App that the tokens of GitHub Actions belong to; all workflows of a repository write as it.
pub const ACTIONS_SLUG: &str = "github-actions";
/// The token of a workflow's job, with the permissions that `deploy/action/README.md` asks for.
pub const JOB_TOKEN: &str = "ghs_standin0job0token000000000000000000000";
/// The token of a job on a fork's pull request: it reads only.
pub const READ_ONLY_JOB_TOKEN: &str = "ghs_standin0fork0job0token000000000000000";
/// The secret that deliveries are signed with.
pub const WEBHOOK_SECRET: &str = "stand-in-webhook-secret";

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    Nobody,
    App,
    /// An App's installation: which App, and what its token may do.
    Installation {
        app: &'static str,
        granted: BTreeMap<String, String>,
    },
    Person,
}

impl Identity {
    /// What the request log calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::App => "app",
            Self::Installation { app: APP_SLUG, .. } => "installation",
            Self::Installation { .. } => "job",
            Self::Person => "person",
        }
    }

    /// Who a comment or a status of theirs is by, and through which App.
    pub fn writes_as(&self) -> (String, Option<&'static str>) {
        match self {
            Self::Installation { app, .. } => (format!("{app}[bot]"), Some(app)),
            _ => (PERSONAL_LOGIN.to_owned(), None),
        }
    }

    /// 403 where an installation lacks a permission, 401 for nobody.
    pub fn need(&self, permission: &str, write: bool) -> Result<(), Answer> {
        match self {
            Self::Nobody => Err(Answer::message(401, "Requires authentication")),
            Self::App => Err(Answer::message(
                401,
                "This endpoint requires you to be authenticated as an installation or a user.",
            )),
            Self::Person => Ok(()),
            Self::Installation { granted, .. } => {
                let level = granted.get(permission).map(String::as_str);
                let enough =
                    matches!((level, write), (Some("write" | "admin"), _) | (Some("read"), false));
                if enough {
                    return Ok(());
                }
                let wanted = format!("{permission}={}", if write { "write" } else { "read" });
                Err(Answer::message(403, "Resource not accessible by integration")
                    .with_header("x-accepted-github-permissions", &wanted))
            }
        }
    }

    /// 401 for everybody but the App itself.
    pub fn need_app(&self) -> Result<(), Answer> {
        match self {
            Self::App => Ok(()),
            _ => Err(Answer::message(401, "A JSON web token could not be decoded")),
        }
    }
}

/// What a job's token may do: what the workflow that people copy asks for. On a fork's pull request
/// GitHub makes every `write` a `read`.
///
/// # Panics
/// Where that file is gone or asks for nothing.
pub fn job_permissions(writes: bool) -> BTreeMap<String, String> {
    let workflow = include_str!("../../deploy/action/example.yml");
    let asked = workflow.split_once("permissions:\n").expect("permissions").1;
    let asked = asked.lines().map_while(|line| line.strip_prefix("  ")?.split_once(": "));
    let granted = asked.map(|(name, level)| {
        let level = level.split_whitespace().next().unwrap_or_default();
        let level = if writes { level } else { "read" };
        (name.replace('-', "_"), level.to_owned())
    });
    granted.chain([("metadata".to_owned(), "read".to_owned())]).collect()
}

/// What the App may do where a case says nothing.
pub fn default_permissions() -> BTreeMap<String, String> {
    [
        ("actions", "read"),
        ("checks", "write"),
        ("contents", "read"),
        ("issues", "write"),
        ("members", "read"),
        ("metadata", "read"),
        ("pull_requests", "write"),
        ("statuses", "write"),
    ]
    .map(|(name, level)| (name.to_owned(), level.to_owned()))
    .into()
}

/// The permissions of a case: see `Spec::app_permissions`.
pub fn permissions(asked: Option<&BTreeMap<String, String>>) -> BTreeMap<String, String> {
    let Some(asked) = asked else { return default_permissions() };
    let takes_away = asked.values().any(|level| level == "none");
    let mut granted = if takes_away { default_permissions() } else { BTreeMap::new() };
    granted.extend(asked.clone());
    granted.retain(|_, level| level != "none");
    granted.entry("metadata".to_owned()).or_insert_with(|| "read".to_owned());
    granted
}

/// The App's key, fresh in each process.
pub struct AppKey {
    pair: KeyPair,
}

impl AppKey {
    /// The key of this process.
    ///
    /// # Panics
    /// Where the machine has no randomness.
    pub fn get() -> &'static Self {
        static KEY: OnceLock<AppKey> = OnceLock::new();
        KEY.get_or_init(|| Self {
            pair: KeyPair::generate(KeySize::Rsa2048).expect("an RSA key can be made"),
        })
    }

    /// The private key as PEM (PKCS #8).
    ///
    /// # Panics
    /// Never: a key that was made can be written.
    pub fn pem(&self) -> String {
        let der = self.pair.as_der().expect("a key that was made can be written");
        let text = STANDARD.encode(der.as_ref());
        let lines: Vec<&str> = text
            .as_bytes()
            .chunks(64)
            .map(|line| std::str::from_utf8(line).unwrap_or_default())
            .collect();
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
    }

    /// Checks an App JWT as GitHub does: RS256, our issuer, alive, and for ten minutes at most.
    pub fn check(&self, token: &str) -> Result<(), Answer> {
        let refuse = |why: &str| Answer::message(401, why);
        let undecodable = || refuse("A JSON web token could not be decoded");
        let (signed, signature) = token.rsplit_once('.').ok_or_else(undecodable)?;
        let (header, claims) = signed.split_once('.').ok_or_else(undecodable)?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
        let json = |part: &str| -> Option<Value> { serde_json::from_slice(&decode(part)?).ok() };
        let header = json(header).ok_or_else(undecodable)?;
        if header["alg"] != "RS256" {
            return Err(undecodable());
        }
        let signature = decode(signature).ok_or_else(undecodable)?;
        let public = self.pair.public_key().as_ref();
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public)
            .verify(signed.as_bytes(), &signature)
            .map_err(|_| undecodable())?;
        let claims = json(claims).ok_or_else(undecodable)?;
        let issuer = match &claims["iss"] {
            Value::String(text) => text.clone(),
            number => number.to_string(),
        };
        if issuer != APP_ID.to_string() {
            return Err(refuse("Integration not found"));
        }
        let (Some(issued), Some(expires)) = (claims["iat"].as_i64(), claims["exp"].as_i64()) else {
            return Err(refuse("'Expiration time' claim ('exp') must be a numeric value"));
        };
        let now = unix_now();
        if expires <= now {
            return Err(refuse("'Expiration time' claim ('exp') must be in the future"));
        }
        if expires > now + 600 {
            return Err(refuse("'Expiration time' claim ('exp') is too far in the future"));
        }
        if issued > now {
            return Err(refuse("'Issued at' claim ('iat') must be an Integer in the past"));
        }
        Ok(())
    }
}

impl std::fmt::Debug for AppKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AppKey")
    }
}

/// Seconds since 1970 by the machine's clock: tokens and rate limits live in real time.
pub fn unix_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
