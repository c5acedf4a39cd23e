//! The stand-in itself: what it promises to the tests that lean on it.

mod case;
mod reading;
mod trouble;
mod writing;

use std::path::Path;
use std::time::Duration;

use octocrab::models::webhook_events::WebhookEvent;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};

use crate::support::{
    APP_SLUG, Case, CommentSpec, Fault, INSTALLATION_ID, Options, PERSONAL_TOKEN, StandIn,
    WEBHOOK_SECRET, signature,
};

const GB200: &str = "gb200-sglang-agentx-refresh";
const B200: &str = "b200-image-bump";

/// A small case of its own for each test that needs one.
fn small(more: &str) -> Case {
    let text = format!(
        "repository: acme/bench\nnow: 2026-10-13T08:00:00Z\n\
         pull_request: {{ number: 7, title: Faster, author: rosa }}\n{more}"
    );
    let mut case = Case::parse(Path::new("tests/cases/none"), &text).unwrap();
    case.write("base/README.md", "one\ntwo\n");
    case.write("base/old.txt", "the same\nlines\nin\nboth\n");
    case.write("head/README.md", "one\n2\n");
    case.write("head/new.txt", "the same\nlines\nin\nboth\n");
    case.write("head/old.txt.deleted", "");
    case
}

async fn start(case: Case) -> StandIn {
    StandIn::start(case, Options::default()).await
}

fn client() -> Client {
    Client::builder().redirect(Policy::none()).build().unwrap()
}

async fn get(stand_in: &StandIn, path: &str) -> Response {
    let url = format!("{}{path}", stand_in.url);
    client().get(url).bearer_auth(PERSONAL_TOKEN).send().await.unwrap()
}

async fn json_of(stand_in: &StandIn, path: &str) -> Value {
    let reply = get(stand_in, path).await;
    assert_eq!(reply.status(), StatusCode::OK, "{path}");
    reply.json().await.unwrap()
}

/// A token of the installation, by the App's own JWT.
async fn installation_token(stand_in: &StandIn) -> String {
    let app = octocrab::Octocrab::builder()
        .base_uri(stand_in.url.as_str())
        .unwrap()
        .app_from_rsa_pem(
            octocrab::models::AppId(crate::support::APP_ID),
            std::fs::read(stand_in.key_file()).unwrap(),
        )
        .unwrap()
        .build_with_reqwest(client())
        .unwrap();
    let route = format!("/app/installations/{INSTALLATION_ID}/access_tokens");
    let reply: Value = app.post(route, None::<&()>).await.unwrap();
    reply["token"].as_str().unwrap().to_owned()
}
