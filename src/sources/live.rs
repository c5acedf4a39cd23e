//! The live API as a source: pages, retries, and replies in the one form that every source gives.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join_all};
use http::header;
use serde_json::{Value, json};

use super::cache::{self, Cache, PageKey};
use super::route::{self, Request};
use super::{ReadError, ReadKey, Reply, RepoName, Source};
use crate::facts::canonical;
use crate::github::{ApiError, App, Client, Response};
use crate::limits::{PAGE_ITEMS, PAGES, READ_TRIES};

const JSON: &str = "application/vnd.github+json";
const RAW: &str = "application/vnd.github.raw+json";
/// The pause before a second try; doubled before a third, with jitter.
const BACKOFF: Duration = Duration::from_millis(500);

const TIPS: &str = "query Tips($owner:String!,$name:String!,$number:Int!){\
    repository(owner:$owner,name:$name){databaseId isPrivate defaultBranchRef{name target{oid}}\
    pullRequest(number:$number){headRefOid baseRefName baseRef{target{oid}}}}}";
const EDITS: &str = "query Edits($ids:[ID!]!){nodes(ids:$ids){id __typename \
    ...on Comment{lastEditedAt editor{login}}}}";

/// GitHub's API, read with one identity.
#[derive(Debug)]
pub struct Live {
    client: Arc<Client>,
    app: Option<Arc<App>>,
    cache: Option<Arc<Cache>>,
    backoff: Duration,
}

impl Live {
    /// Reads with this client, keeping nothing.
    pub fn new(client: Arc<Client>) -> Self {
        Self { client, app: None, cache: None, backoff: BACKOFF }
    }

    /// The same for an installation of this App, so that [`ReadKey::Grants`] can be answered.
    #[must_use]
    pub fn with_app(mut self, app: Arc<App>) -> Self {
        self.app = Some(app);
        self
    }

    /// The same with replies kept here.
    #[must_use]
    pub fn with_cache(mut self, cache: Arc<Cache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// The same with another pause before a second try.
    #[must_use]
    pub fn with_backoff(mut self, backoff: Duration) -> Self {
        self.backoff = backoff;
        self
    }

    async fn reply(&self, key: &ReadKey) -> Result<Reply, ReadError> {
        let identity = self.client.identity();
        if let Some(cache) = &self.cache
            && let Some(reply) = cache.reply(&identity, key).await
        {
            return Ok(reply);
        }
        let reply = match route::request(key) {
            Request::Nowhere => absent(404),
            Request::Elsewhere => return Err(ReadError::Offline { what: key.to_string() }),
            Request::Bytes(route) => self.file(key, &route).await?,
            Request::Document(route) => self.document(key, &route).await?,
            Request::Comparison(route) => self.comparison(key, &route).await?,
            Request::List { route, field, cut_at } => match self.list(key, &route, field).await? {
                Err(status) => absent(status),
                Ok(items) => match cut_at {
                    Some((length, what)) if items.len() >= length => {
                        let bound = format!("{length} {what}, where GitHub stops listing");
                        return Err(ReadError::TooLarge { what: key.to_string(), bound });
                    }
                    _ => found(Value::Array(items)),
                },
            },
            Request::Tree(route) => self.tree(key, &route).await?,
            Request::Tips => self.tips(key).await?,
            Request::Edits => self.edits(key).await?,
            Request::Grants => self.grants(key).await?,
        };
        if let Some(cache) = &self.cache {
            cache.keep_reply(&identity, key, &reply).await;
        }
        Ok(reply)
    }

    /// A file's bytes. For a folder or a submodule GitHub describes it as JSON instead, which is no file.
    async fn file(&self, key: &ReadKey, route: &str) -> Result<Reply, ReadError> {
        let page = self.page(key, route, RAW).await?;
        match (page.status, page.content_type.as_deref()) {
            (200, Some(kind)) if kind.starts_with("application/json") => {
                match parse(key, &page.body)? {
                    Value::Array(_) => Ok(absent(404)),
                    Value::Object(entry) if entry.contains_key("type") => Ok(absent(404)),
                    _ => Err(no_file(key, kind)),
                }
            }
            // A page of something between us and GitHub would be taken for the file's own text.
            (200, Some(kind)) if kind.starts_with("text/html") => Err(no_file(key, kind)),
            (200, None) => Err(no_file(key, "none")),
            (200, Some(_)) => Ok(Reply { body: page.body, ..absent(200) }),
            (status, _) => Ok(absent(status)),
        }
    }

    async fn document(&self, key: &ReadKey, route: &str) -> Result<Reply, ReadError> {
        let page = self.page(key, route, JSON).await?;
        if page.status != 200 {
            return Ok(absent(page.status));
        }
        Ok(found(parse(key, &page.body)?))
    }

    /// The files of a commit. GitHub cuts the list at 100,000 entries or 7 MB, and says so.
    async fn tree(&self, key: &ReadKey, route: &str) -> Result<Reply, ReadError> {
        let page = self.page(key, route, JSON).await?;
        if page.status != 200 {
            return Ok(absent(page.status));
        }
        let mut tree = parse(key, &page.body)?;
        let Value::Array(entries) = tree["tree"].take() else {
            let reason = "/tree: expected a list".to_owned();
            return Err(ReadError::Malformed { what: key.to_string(), reason });
        };
        if tree["truncated"] != Value::Bool(false) {
            let bound = "what GitHub lists of a commit's files".to_owned();
            return Err(ReadError::TooLarge { what: key.to_string(), bound });
        }
        let files = entries.into_iter().filter(|entry| entry["type"] == "blob");
        let file = |entry: Value| json!({ "path": entry["path"], "mode": entry["mode"], "sha": entry["sha"] });
        let mut files: Vec<Value> = files.map(file).collect();
        files.sort_by(|a, b| a["path"].as_str().cmp(&b["path"].as_str()));
        Ok(found(files.into()))
    }

    /// All items of a list, or the status where there is none.
    async fn list(
        &self,
        key: &ReadKey,
        route: &str,
        field: Option<&'static str>,
    ) -> Result<Result<Vec<Value>, u16>, ReadError> {
        Ok(self
            .pages(key, route, field)
            .await?
            .map(|pages| pages.into_iter().flat_map(|page| page.items).collect()))
    }

    async fn comparison(&self, key: &ReadKey, route: &str) -> Result<Reply, ReadError> {
        let pages = match self.pages(key, route, Some("commits")).await? {
            Ok(pages) => pages,
            Err(status) => return Ok(absent(status)),
        };
        let mut comparison = Value::Null;
        let mut commits = Vec::new();
        for page in pages {
            if comparison.is_null() {
                comparison = page.rest;
            }
            commits.extend(page.items);
        }
        comparison["commits"] = commits.into();
        Ok(found(comparison))
    }

    /// All pages of a list, at least one, or the status where there is none.
    ///
    /// Only page numbers are taken from the `Link` header: its addresses are not followed, since
    /// they could lead the credentials elsewhere.
    async fn pages(
        &self,
        key: &ReadKey,
        route: &str,
        field: Option<&'static str>,
    ) -> Result<Result<Vec<ListPage>, u16>, ReadError> {
        let page = async |number: usize| {
            if number > PAGES {
                let bound = format!("{PAGES} pages of {PAGE_ITEMS}");
                return Err(ReadError::TooLarge { what: key.to_string(), bound });
            }
            let page = self.page(key, &format!("{route}&page={number}"), JSON).await?;
            if page.status == 200 { page.list(key, field).map(Ok) } else { Ok(Err(page.status)) }
        };
        let first = match page(1).await? {
            Ok(first) => first,
            Err(status) => return Ok(Err(status)),
        };
        let announced = first.announced.min(PAGES + 1);
        let mut pages = vec![first];
        for page in try_join_all((2..=announced).map(&page)).await? {
            // One that is gone: the list has shrunk since its first page was read.
            pages.extend(page.ok());
        }
        // It may have grown as well.
        let mut last = announced;
        while pages.last().is_some_and(|page| page.goes_on) {
            last += 1;
            match page(last).await? {
                Ok(page) => pages.push(page),
                Err(_) => break,
            }
        }
        Ok(Ok(pages))
    }

    async fn page(
        &self,
        key: &ReadKey,
        route: &str,
        accept: &'static str,
    ) -> Result<Page, ReadError> {
        let page_key =
            PageKey { identity: self.client.identity(), route: route.to_owned(), accept };
        let kept = match &self.cache {
            Some(cache) => cache.page(&page_key).await,
            None => None,
        };
        let etag = kept.as_ref().map(|page| page.etag.as_str());
        let response = self.tried(key, || self.get(route, accept, etag)).await?;
        let text = |name| Some(response.headers.get(name)?.to_str().ok()?.to_owned());
        let link = text(header::LINK);
        match (response.status, kept) {
            (304, Some(kept)) => Ok(Page {
                status: 200,
                link: link.or(kept.link),
                content_type: kept.content_type,
                body: kept.body,
                revalidated: true,
            }),
            (status @ (200 | 404 | 410), _) => {
                let content_type = text(header::CONTENT_TYPE);
                let body = response.body;
                if let (Some(cache), 200, Some(etag)) = (&self.cache, status, text(header::ETAG)) {
                    let (link, content_type, body) =
                        (link.clone(), content_type.clone(), body.clone());
                    cache.keep_page(page_key, cache::Page { etag, link, content_type, body }).await;
                }
                Ok(Page { status, link, content_type, body, revalidated: false })
            }
            (status, _) => Err(ReadError::Malformed {
                what: key.to_string(),
                reason: format!("status {status}"),
            }),
        }
    }

    async fn get(
        &self,
        route: &str,
        accept: &str,
        etag: Option<&str>,
    ) -> Result<Response, ApiError> {
        self.client.check_budget("core")?;
        self.client.get(route, accept, etag).await
    }

    async fn graphql(
        &self,
        key: &ReadKey,
        query: &str,
        variables: Value,
    ) -> Result<Value, ReadError> {
        self.tried(key, || async {
            self.client.check_budget("graphql")?;
            self.client.graphql(query, variables.clone()).await
        })
        .await
    }

    /// Up to [`READ_TRIES`] tries; only what may pass by itself is tried again.
    async fn tried<T, F>(&self, key: &ReadKey, read: impl FnMut() -> F) -> Result<T, ReadError>
    where
        F: Future<Output = Result<T, ApiError>>,
    {
        let pauses = ExponentialBuilder::default()
            .with_min_delay(self.backoff)
            .with_max_times(READ_TRIES - 1)
            .with_jitter();
        read.retry(pauses)
            .when(|error| matches!(error, ApiError::Unavailable(_)))
            .notify(|error, pause| {
                tracing::warn!(read = %key, %error, pause_ms = pause.as_millis(), "reading again");
            })
            .await
            .map_err(|error| read_error(key, error))
    }

    async fn tips(&self, key: &ReadKey) -> Result<Reply, ReadError> {
        let ReadKey::Tips { repo, number } = key else { return Ok(absent(404)) };
        let data = self.graphql(key, TIPS, pull_variables(repo, *number)).await?;
        let repository = &data["repository"];
        let pull = &repository["pullRequest"];
        if pull.is_null() {
            return Ok(absent(404));
        }
        Ok(found(json!({
            "repository_id": repository["databaseId"],
            "private": repository["isPrivate"],
            "default_branch": repository["defaultBranchRef"]["name"],
            "default_sha": repository["defaultBranchRef"]["target"]["oid"],
            "base_ref": pull["baseRefName"],
            "base_sha": pull["baseRef"]["target"]["oid"],
            "head_sha": pull["headRefOid"],
        })))
    }

    async fn edits(&self, key: &ReadKey) -> Result<Reply, ReadError> {
        let ReadKey::Edits { ids, .. } = key else { return Ok(absent(404)) };
        let chunks = ids.chunks(PAGE_ITEMS).map(|ids| async move {
            let mut data = self.graphql(key, EDITS, json!({ "ids": ids })).await?;
            match data["nodes"].take() {
                Value::Array(nodes) if nodes.len() == ids.len() => Ok(nodes),
                _ => Err(ReadError::Malformed {
                    what: key.to_string(),
                    reason: format!("/data/nodes: expected {} nodes", ids.len()),
                }),
            }
        });
        let nodes = try_join_all(chunks).await?.into_iter().flatten();
        let edit = |node: Value| {
            if node.is_null() {
                return node;
            }
            json!({
                "id": node["id"],
                "last_edited_at": node["lastEditedAt"],
                "editor": node["editor"]["login"],
            })
        };
        Ok(found(nodes.map(edit).collect()))
    }

    async fn grants(&self, key: &ReadKey) -> Result<Reply, ReadError> {
        let Some(app) = &self.app else { return Ok(absent(404)) };
        let repo = key.repo();
        let grants = self.tried(key, || app.grants(repo.owner(), repo.name())).await?;
        Ok(match grants {
            Some(permissions) => found(json!({ "permissions": permissions })),
            None => absent(404),
        })
    }
}

impl Source for Live {
    fn read<'a>(&'a self, key: &'a ReadKey) -> BoxFuture<'a, Result<Reply, ReadError>> {
        self.reply(key).boxed()
    }

    fn holds(&self, key: &ReadKey) -> bool {
        // Without an App there is nobody to ask about its grants.
        if self.app.is_none() && matches!(key, ReadKey::Grants { .. }) {
            return true;
        }
        self.cache.as_ref().is_some_and(|cache| cache.holds(&self.client.identity(), key))
    }
}

/// A reply to one request.
struct Page {
    status: u16,
    link: Option<String>,
    content_type: Option<String>,
    body: Bytes,
    /// Whether it was kept, and GitHub said that it did not change.
    revalidated: bool,
}

/// One page of a list.
struct ListPage {
    items: Vec<Value>,
    /// What stood around them.
    rest: Value,
    /// The number of the last page.
    announced: usize,
    /// Whether another page may follow.
    goes_on: bool,
}

impl Page {
    fn list(self, key: &ReadKey, field: Option<&'static str>) -> Result<ListPage, ReadError> {
        let mut rest = parse(key, &self.body)?;
        let list = match field {
            Some(field) => rest.get_mut(field).map(Value::take),
            None => Some(rest.take()),
        };
        let Some(Value::Array(items)) = list else {
            let place = field.map(|field| format!("/{field}: ")).unwrap_or_default();
            let reason = format!("{place}expected a list");
            return Err(ReadError::Malformed { what: key.to_string(), reason });
        };
        let number = |relation| page_number(self.link.as_deref()?, relation);
        // A page that did not change keeps its ETag, and with it the `Link` of a time when nothing
        // followed. So behind a full page that was kept, one looks.
        let goes_on = number("next").is_some() || (self.revalidated && items.len() >= PAGE_ITEMS);
        Ok(ListPage { announced: number("last").unwrap_or(1).max(1), goes_on, items, rest })
    }
}

/// `page=N` of one relation in a `Link` header (RFC 8288).
fn page_number(link: &str, relation: &str) -> Option<usize> {
    let wanted = format!("rel=\"{relation}\"");
    let entry = link.split(',').find(|entry| entry.split(';').any(|part| part.trim() == wanted))?;
    let address = entry.split_once('<')?.1.split_once('>')?.0;
    let query = address.split_once('?')?.1;
    query.split('&').find_map(|pair| pair.strip_prefix("page=")?.parse().ok())
}

fn pull_variables(repo: &RepoName, number: i64) -> Value {
    json!({ "owner": repo.owner(), "name": repo.name(), "number": number })
}

fn no_file(key: &ReadKey, kind: &str) -> ReadError {
    let reason = format!("content type {kind}; expected a file, or JSON that describes a folder");
    ReadError::Malformed { what: key.to_string(), reason }
}

fn absent(status: u16) -> Reply {
    Reply { status, headers: BTreeMap::new(), body: Bytes::new() }
}

/// A document in canonical form: the same whether it came fresh, from the cache or in pages.
fn found(mut document: Value) -> Reply {
    without_tokens(&mut document);
    Reply { body: Bytes::from(canonical(&document)), ..absent(200) }
}

/// Takes out the one field in which GitHub hands a token to whoever may push.
fn without_tokens(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("temp_clone_token");
            fields.values_mut().for_each(without_tokens);
        }
        Value::Array(items) => items.iter_mut().for_each(without_tokens),
        _ => {}
    }
}

fn parse(key: &ReadKey, body: &[u8]) -> Result<Value, ReadError> {
    serde_json::from_slice(body)
        .map_err(|error| ReadError::Malformed { what: key.to_string(), reason: error.to_string() })
}

/// What a failed request means for the key.
fn read_error(key: &ReadKey, error: ApiError) -> ReadError {
    let what = key.to_string();
    match error {
        // GitHub gives no file over 100 MB.
        ApiError::Forbidden(refusal) if refusal.message.contains("too large") => {
            ReadError::TooLarge { what, bound: "what GitHub serves as a file".to_owned() }
        }
        ApiError::Forbidden(refusal) => ReadError::Forbidden {
            what: format!("{what} ({})", refusal.message),
            permission: refusal.permission.unwrap_or_else(|| route::permission(key).to_owned()),
        },
        ApiError::RateLimited { until } => ReadError::RateLimited { what, until },
        ApiError::TooLarge(bytes) => ReadError::TooLarge { what, bound: format!("{bytes} bytes") },
        ApiError::Malformed(reason) => ReadError::Malformed { what, reason },
        ApiError::Unauthorized(_) => ReadError::Unavailable { what, reason: error.to_string() },
        ApiError::Unavailable(reason) => ReadError::Unavailable { what, reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_numbers_are_read_from_any_link_header() {
        let link = r#"<https://api.github.com/repositories/1/pulls/2/files?per_page=100&page=2>; rel="next", <https://api.github.com/x?page=30&per_page=100>; rel="last""#;
        assert_eq!(page_number(link, "next"), Some(2));
        assert_eq!(page_number(link, "last"), Some(30));
        assert_eq!(page_number(link, "first"), None);
        for broken in
            ["", "<>", r#"<x>; rel="last""#, r#"<x?page=-1>; rel="last""#, r#"rel="last""#]
        {
            assert_eq!(page_number(broken, "last"), None, "{broken}");
        }
    }

    #[test]
    fn a_clone_token_is_taken_out_at_any_depth() {
        let reply = found(json!({
            "base": { "repo": { "temp_clone_token": "canary", "full_name": "o/n" } },
            "list": [{ "temp_clone_token": "canary" }],
        }));
        assert_eq!(reply.body, r#"{"base":{"repo":{"full_name":"o/n"}},"list":[{}]}"#);
    }
}
