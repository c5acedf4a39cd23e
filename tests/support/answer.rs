//! A request as the routes see it, and what they answer.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::http::HeaderMap;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::auth::Identity;

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// As sent, without the query.
    pub path: String,
    pub query: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub identity: Identity,
    /// The server's own address, for links.
    pub url: String,
}

impl Request {
    /// The path's parts, decoded.
    pub fn segments(&self) -> Vec<String> {
        self.path
            .split('/')
            .skip(1)
            .map(|part| percent_decode_str(part).decode_utf8_lossy().into_owned())
            .collect()
    }

    /// A parameter of the query; the last one where it is repeated.
    pub fn parameter(&self, name: &str) -> Option<String> {
        self.parameters().remove(name)
    }

    fn parameters(&self) -> BTreeMap<String, String> {
        url::form_urlencoded::parse(self.query.as_bytes()).into_owned().collect()
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as JSON; 400 where it is none.
    pub fn json(&self) -> Result<Value, Answer> {
        serde_json::from_slice(&self.body)
            .map_err(|_| Answer::message(400, "Problems parsing JSON"))
    }

    /// `METHOD /path` and, behind it, the query.
    pub fn line(&self) -> String {
        let mark = if self.query.is_empty() { "" } else { "?" };
        format!("{} {}{mark}{}", self.method, self.path, self.query)
    }
}

/// What a route gives: an answer, or the answer that says why not.
pub type Outcome = Result<Answer, Answer>;

/// A reply.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// JSON.
    pub fn json(status: u16, value: &Value) -> Self {
        let kind = ("content-type".to_owned(), "application/json; charset=utf-8".to_owned());
        Self { status, headers: vec![kind], body: value.to_string().into_bytes() }
    }

    /// 200 with JSON.
    pub fn ok(value: &Value) -> Outcome {
        Ok(Self::json(200, value))
    }

    /// Bytes of some type.
    pub fn bytes(kind: &str, body: Vec<u8>) -> Self {
        Self { status: 200, headers: vec![("content-type".to_owned(), kind.to_owned())], body }
    }

    /// No body.
    pub fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    /// GitHub's error body.
    pub fn message(status: u16, message: &str) -> Self {
        Self::json(
            status,
            &json!({
                "message": message,
                "documentation_url": "https://docs.github.com/rest",
                "status": status.to_string(),
            }),
        )
    }

    /// 404.
    pub fn not_found() -> Self {
        Self::message(404, "Not Found")
    }

    /// 422 with what is wrong.
    pub fn invalid(what: &str) -> Self {
        Self::json(
            422,
            &json!({
                "message": format!("Invalid request.\n\n{what}"),
                "documentation_url": "https://docs.github.com/rest",
                "status": "422",
            }),
        )
    }

    /// 302.
    pub fn redirect(location: &str) -> Self {
        Self {
            status: 302,
            headers: vec![("location".to_owned(), location.to_owned())],
            body: Vec::new(),
        }
    }

    /// The same with one more header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A page of a list, with the links to the others.
    pub fn list<T>(request: &Request, items: &[T], shape: impl FnMut(&T) -> Value) -> Outcome {
        let page = Page::of(request, items.len());
        let values: Vec<Value> = items[page.range()].iter().map(shape).collect();
        Ok(page.link(request, Self::json(200, &Value::Array(values))))
    }

    /// A page of a list that GitHub wraps in `{total_count, <name>: […]}`.
    pub fn counted<T>(
        request: &Request,
        name: &str,
        items: &[T],
        shape: impl FnMut(&T) -> Value,
    ) -> Outcome {
        let page = Page::of(request, items.len());
        let values: Vec<Value> = items[page.range()].iter().map(shape).collect();
        let mut body = Map::new();
        body.insert("total_count".to_owned(), json!(items.len()));
        body.insert(name.to_owned(), Value::Array(values));
        Ok(page.link(request, Self::json(200, &Value::Object(body))))
    }

    /// A weak tag over the body.
    pub fn etag(&self) -> String {
        format!("W/\"{}\"", hex::encode(Sha256::digest(&self.body)))
    }
}

/// A window on a list: 30 items by default, 100 at most.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    page: usize,
    size: usize,
    total: usize,
}

impl Page {
    /// The page that a request asks for.
    pub fn of(request: &Request, total: usize) -> Self {
        let number = |name| request.parameter(name).and_then(|text| text.parse::<usize>().ok());
        Self {
            page: number("page").unwrap_or(1).max(1),
            size: number("per_page").filter(|size| *size > 0).unwrap_or(30).min(100),
            total,
        }
    }

    /// The indices of its items.
    pub fn range(self) -> std::ops::Range<usize> {
        let start = self.page.saturating_sub(1).saturating_mul(self.size).min(self.total);
        start..(start + self.size).min(self.total)
    }

    /// Adds the `Link` header, as GitHub does: none where everything is on one page.
    pub fn link(self, request: &Request, answer: Answer) -> Answer {
        let last = self.total.div_ceil(self.size).max(1);
        let mut links = Vec::new();
        let mut add = |page: usize, rel: &str| {
            links.push(format!("<{}>; rel=\"{rel}\"", page_url(request, page)));
        };
        if self.page > 1 {
            add((self.page - 1).min(last), "prev");
        }
        if self.page < last {
            add(self.page + 1, "next");
            add(last, "last");
        }
        if self.page > 1 {
            add(1, "first");
        }
        if links.is_empty() { answer } else { answer.with_header("link", &links.join(", ")) }
    }
}

fn page_url(request: &Request, page: usize) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in url::form_urlencoded::parse(request.query.as_bytes()) {
        if name != "page" {
            query.append_pair(&name, &value);
        }
    }
    query.append_pair("page", &page.to_string());
    format!("{}{}?{}", request.url, request.path, query.finish())
}
