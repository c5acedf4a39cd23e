//! Deliveries are signed: HMAC-SHA256 over the raw body, `X-Hub-Signature-256: sha256=<64 hex digits>`
//! (GitHub's documentation, "Validating webhook deliveries").

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// The secret in use, and the one before it while it is being changed.
pub struct Secrets {
    current: Hmac<Sha256>,
    previous: Option<Hmac<Sha256>>,
}

/// Which secret signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignedWith {
    Current,
    Previous,
}

impl Secrets {
    /// Both are read once; their text is not kept.
    pub fn new(current: &SecretString, previous: Option<&SecretString>) -> Self {
        Self { current: keyed(current), previous: previous.map(keyed) }
    }

    /// Checks a header in constant time. `None`: absent, misspelt or wrong; which of them is not said.
    pub(super) fn verify(&self, header: Option<&[u8]>, body: &[u8]) -> Option<SignedWith> {
        let signature = decode(header?)?;
        let fits = |key: &Hmac<Sha256>| {
            let mut mac = key.clone();
            mac.update(body);
            mac.verify_slice(&signature).is_ok()
        };
        if fits(&self.current) {
            Some(SignedWith::Current)
        } else if self.previous.as_ref().is_some_and(fits) {
            Some(SignedWith::Previous)
        } else {
            None
        }
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets(..)")
    }
}

fn keyed(secret: &SecretString) -> Hmac<Sha256> {
    Hmac::new_from_slice(secret.expose_secret().as_bytes()).expect("HMAC takes keys of any length")
}

/// GitHub writes lower-case digits; anything else was not written by GitHub.
fn decode(header: &[u8]) -> Option<[u8; 32]> {
    let digits = header.strip_prefix(b"sha256=")?;
    if digits.iter().any(u8::is_ascii_uppercase) {
        return None;
    }
    let mut signature = [0; 32];
    hex::decode_to_slice(digits, &mut signature).ok()?;
    Some(signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of GitHub's documentation.
    const SECRET: &str = "It's a Secret to Everybody";
    const BODY: &[u8] = b"Hello, World!";
    const HEADER: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    #[test]
    fn the_documented_example_holds() {
        let secrets = Secrets::new(&SECRET.into(), None);
        assert_eq!(secrets.verify(Some(HEADER.as_bytes()), BODY), Some(SignedWith::Current));
        assert_eq!(secrets.verify(Some(HEADER.as_bytes()), b"Hello, World?"), None);
    }

    #[test]
    fn the_previous_secret_counts_and_a_retired_one_does_not() {
        let secrets = Secrets::new(&"new".into(), Some(&SECRET.into()));
        assert_eq!(secrets.verify(Some(HEADER.as_bytes()), BODY), Some(SignedWith::Previous));
        let later = Secrets::new(&"newest".into(), Some(&"new".into()));
        assert_eq!(later.verify(Some(HEADER.as_bytes()), BODY), None);
    }

    #[test]
    fn a_header_of_another_form_is_no_signature() {
        let secrets = Secrets::new(&SECRET.into(), None);
        let digits = &HEADER[7..];
        assert_eq!(secrets.verify(None, BODY), None);
        for header in [
            String::new(),
            "sha256=".into(),
            digits.into(),
            format!("sha1={digits}"),
            format!("SHA256={digits}"),
            format!("abcdef={digits}"),
            format!("sha256={}", &digits[..62]),
            format!("sha256={digits}00"),
            format!("sha256={}", digits.to_uppercase()),
            format!("sha256= {digits}"),
            format!("sha256={}zz", &digits[..62]),
            format!("sha256={}", "0".repeat(64)),
        ] {
            assert_eq!(secrets.verify(Some(header.as_bytes()), BODY), None, "{header}");
        }
    }
}
