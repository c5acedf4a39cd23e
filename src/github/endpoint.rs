//! Where an API host answers: github.com, GitHub Enterprise (`…/api/v3`) or a stand-in.

use url::{Host, Url};

use super::error::SetupError;

/// The two addresses of one API host.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    /// Without a slash at its end.
    rest: String,
    graphql: Url,
    local: bool,
}

impl Endpoint {
    /// Reads a base URL such as `https://api.github.com` or `https://HOST/api/v3`.
    pub(super) fn parse(text: &str) -> Result<Self, SetupError> {
        let wrong =
            |reason: &str| SetupError::Url { url: text.to_owned(), reason: reason.to_owned() };
        let base = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(wrong("it is neither http nor https"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            // Not repeated: what stands there may be a secret.
            let url = base.host_str().unwrap_or_default().to_owned();
            return Err(SetupError::Url { url, reason: "credentials do not belong in it".into() });
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(wrong("it has a query or a fragment"));
        }
        let rest = base.as_str().trim_end_matches('/').to_owned();
        // GitHub Enterprise Server serves REST below /api/v3 and GraphQL at /api/graphql.
        let above = rest.strip_suffix("/v3").filter(|above| above.ends_with("/api"));
        let graphql = format!("{}/graphql", above.unwrap_or(&rest));
        let graphql = Url::parse(&graphql).map_err(|error| wrong(&error.to_string()))?;
        let local = match base.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => return Err(wrong("it names no host")),
        };
        Ok(Self { rest, graphql, local })
    }

    /// The REST base, without a slash at its end.
    pub(super) fn rest(&self) -> &str {
        &self.rest
    }

    /// The address of GraphQL.
    pub(super) fn graphql(&self) -> Url {
        self.graphql.clone()
    }

    /// The address of a route that starts with `/`; `None` where it would leave the base.
    pub(super) fn route(&self, route: &str) -> Option<Url> {
        let url = Url::parse(&format!("{}{route}", self.rest)).ok()?;
        (route.starts_with('/') && self.covers(&url)).then_some(url)
    }

    /// Whether an address lies on this host, below the base: only there may credentials go.
    pub(super) fn covers(&self, url: &Url) -> bool {
        url.as_str().strip_prefix(&self.rest).is_some_and(|behind| behind.starts_with('/'))
    }

    /// Whether it is this machine, which no proxy stands before.
    pub(super) fn is_local(&self) -> bool {
        self.local
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graphql(base: &str) -> String {
        Endpoint::parse(base).unwrap().graphql().to_string()
    }

    #[test]
    fn graphql_stands_where_github_serves_it() {
        assert_eq!(graphql("https://api.github.com"), "https://api.github.com/graphql");
        assert_eq!(graphql("https://api.github.com/"), "https://api.github.com/graphql");
        assert_eq!(graphql("https://ghe.example/api/v3"), "https://ghe.example/api/graphql");
        assert_eq!(graphql("http://127.0.0.1:8080"), "http://127.0.0.1:8080/graphql");
    }

    #[test]
    fn a_route_stays_below_the_base() {
        let endpoint = Endpoint::parse("https://ghe.example/api/v3/").unwrap();
        let url = endpoint.route("/repos/o/n").unwrap();
        assert_eq!(url.as_str(), "https://ghe.example/api/v3/repos/o/n");
        for route in ["/../admin", "repos", "/repos/../../../x", ".evil.example/x", "@evil.example"]
        {
            assert!(endpoint.route(route).is_none(), "{route}");
        }
    }

    #[test]
    fn only_the_same_host_is_covered() {
        let endpoint = Endpoint::parse("https://api.github.com").unwrap();
        for (url, covered) in [
            ("https://api.github.com/repositories/1", true),
            ("https://api.github.com.evil.example/x", false),
            ("https://api.github.com:444/x", false),
            ("http://api.github.com/x", false),
        ] {
            assert_eq!(endpoint.covers(&Url::parse(url).unwrap()), covered, "{url}");
        }
    }

    #[test]
    fn wrong_addresses_say_what_is_wrong() {
        for (text, reason) in [
            ("api.github.com", "relative URL without a base"),
            ("ftp://x/", "neither http nor https"),
            ("https://x/?a=1", "query or a fragment"),
        ] {
            let error = Endpoint::parse(text).unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains(text), "{error}");
        }
        let error = Endpoint::parse("https://user:canary@host/").unwrap_err().to_string();
        assert!(error.contains("credentials") && !error.contains("canary"), "{error}");
    }
}
