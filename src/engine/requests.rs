//! Access lines of servers and routers: which endpoints were asked, and answered.

use super::gather::{Gathered, Record};

/// `… "POST /v1/… HTTP/1.1" 200 OK`.
pub(super) fn access(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    // The literal ends with the path's slash.
    let path = &record.text[record.hit.1 - 1..];
    let Some((path, status)) = path.split_once(" HTTP/") else { return };
    let Some((_, status)) = status.split_once("\" ") else { return };
    count(gathered, path, status, record.cut);
}

/// `http_request{method=POST uri=… status=200 OK …}: … finished processing request`.
pub(super) fn routed(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let span = &record.text[..record.hit.0];
    let field = |name: &str| {
        let (_, rest) = span.rsplit_once(name)?;
        rest.split([' ', '}', ',']).next().map(|value| value.trim_matches('"'))
    };
    if let (Some("POST"), Some(uri), Some(status)) =
        (field("method="), field("uri="), field("status="))
    {
        count(gathered, uri, status, false);
    }
}

/// The same as fields of a record.
pub(super) fn fields(gathered: &mut Gathered<'_>, method: &str, uri: &str, status: &str) {
    if method == "POST" {
        count(gathered, uri, status, false);
    }
}

/// Counts a request that succeeded.
fn count(gathered: &mut Gathered<'_>, path: &str, status: &str, cut: bool) {
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let is = |paths: &[String]| paths.iter().any(|known| known == path);
    let (chat, raw) = (is(&gathered.table.requests.chat), is(&gathered.table.requests.completions));
    if !chat && !raw {
        return;
    }
    gathered.access_seen = true;
    let code = status.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    if code.len() != 3 || !code.starts_with('2') || cut && status.len() <= code.len() {
        return;
    }
    gathered.chat += u64::from(chat);
    gathered.completions += u64::from(raw);
}
