//! References to container images.
//!
//! Source: the reference grammar of the OCI distribution specification, as container engines read it;
//! `docker://` and `#` for the first `/` are the forms that the benchmark's launchers accept.

/// A reference by its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The registry's host; `None` where the reference names none, which is the engine's own registry.
    pub host: Option<String>,
    /// The repository below the host.
    pub name: String,
    /// The tag.
    pub tag: Option<String>,
    /// The digest, e.g. `sha256:…`.
    pub digest: Option<String>,
}

impl Image {
    /// Host and name, e.g. `registry/org/name`.
    pub fn repository(&self) -> String {
        match &self.host {
            Some(host) => format!("{host}/{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Takes a reference apart: the tag is what follows the last `:` after the last `/`, the host a first part
/// with a `.` or a `:` in it, or `localhost`.
pub fn read(image: &str) -> Image {
    let image = image.trim().trim_start_matches("docker://").replace('#', "/");
    let (image, digest) = match image.split_once('@') {
        Some((image, digest)) => (image, Some(digest.to_owned())),
        None => (image.as_str(), None),
    };
    let last = image.rfind('/').map_or(0, |slash| slash + 1);
    let (image, tag) = match image[last..].find(':') {
        Some(colon) => (&image[..last + colon], Some(image[last + colon + 1..].to_owned())),
        None => (image, None),
    };
    let is_host = |part: &str| part.contains(['.', ':']) || part == "localhost";
    let (host, name) = match image.split_once('/') {
        Some((first, rest)) if is_host(first) => (Some(first.to_owned()), rest),
        _ => (None, image),
    };
    Image { host, name: name.to_owned(), tag, digest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_by_their_parts() {
        for (image, host, name, tag, digest) in [
            ("org/name:tag", None, "org/name", Some("tag"), None),
            ("docker://host.x#org/name:tag", Some("host.x"), "org/name", Some("tag"), None),
            ("host:5000/org/name", Some("host:5000"), "org/name", None, None),
            ("org/name:t@sha256:abc", None, "org/name", Some("t"), Some("sha256:abc")),
            ("org/name@sha256:abc", None, "org/name", None, Some("sha256:abc")),
            ("localhost/name", Some("localhost"), "name", None, None),
            ("name", None, "name", None, None),
            ("", None, "", None, None),
        ] {
            let found = read(image);
            let parts = (found.host.as_deref(), &*found.name, found.tag.as_deref());
            assert_eq!(parts, (host, name, tag), "{image}");
            assert_eq!(found.digest.as_deref(), digest, "{image}");
        }
        assert_eq!(read("docker://host.x#org/name:tag").repository(), "host.x/org/name");
        assert_eq!(read("org/name:tag").repository(), "org/name");
    }
}
