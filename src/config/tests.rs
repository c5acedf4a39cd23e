use secrecy::ExposeSecret;

use super::*;

const PEM: &str = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n";

fn load(toml: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigErrors> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    std::fs::write(&path, toml).unwrap();
    std::fs::write(folder.path().join("secret"), "s3cret\n").unwrap();
    std::fs::write(folder.path().join("key.pem"), PEM).unwrap();
    Config::load(Some(&path), variables.iter().map(|(n, v)| ((*n).into(), (*v).into())))
}

fn errors(toml: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let errors = load(toml, variables).unwrap_err();
    errors.0.iter().map(|error| error.to_string().replace(FILE, "FILE")).collect()
}

#[test]
fn an_empty_file_has_defaults_that_run_on_one_machine() {
    let config = load("", &[]).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.workers, 4);
    assert_eq!(config.github.api_url.as_str(), "https://api.github.com/");
    assert!(config.database_url.expose_secret().starts_with("sqlite:///"));
    assert!(config.database_url.expose_secret().ends_with("/countersign.db"));
    assert_eq!(config.log, Log { filter: "info".into(), format: LogFormat::Text });
    assert!(config.repositories.is_empty());
    let missing = config.app().unwrap_err();
    assert_eq!(missing.0.len(), 3);
    assert_eq!(
        missing.0[2].to_string(),
        "`webhook.secret` is not set; it is the secret that was typed in on that page. Set it in \
         countersign.toml, or as COUNTERSIGN_WEBHOOK_SECRET"
    );
}

#[test]
fn every_setting_can_stand_in_the_file() {
    let config = load(
        "listen = '0.0.0.0:9000'
         public_url = 'https://countersign.example'
         workers = 2
         database_url = 'sqlite://state/queue.db'
         rules = 'rules'
         now = 2026-10-13T08:00:00Z
         github.api_url = 'http://127.0.0.1:1/api'
         github.app_id = 77
         github.private_key_file = 'key.pem'
         hub = { url = 'http://127.0.0.1:2', token = 'h' }
         registry.url = 'http://127.0.0.1:3'
         log = { filter = 'debug', format = 'json' }
         [webhook]
         secret_file = 'secret'
         secret_previous = 'older'
         [pages]
         url = 'http://127.0.0.1:4'
         token = 'p'
         [[repository]]
         name = 'harbour/pilots'
         profile = 'example'",
        &[],
    )
    .unwrap();
    let app = config.app().unwrap();
    assert_eq!(app.id, 77);
    assert_eq!(app.private_key.expose_secret(), PEM.trim_end());
    assert_eq!(app.webhook_secret.expose_secret(), "s3cret");
    assert_eq!(config.webhook.secret_previous.unwrap().expose_secret(), "older");
    assert_eq!(config.now.unwrap().to_rfc3339(), "2026-10-13T08:00:00+00:00");
    assert!(config.database_url.expose_secret().starts_with("sqlite:///"), "beside the file");
    assert!(config.database_url.expose_secret().ends_with("/state/queue.db"));
    assert!(config.rules.unwrap().is_absolute());
    assert_eq!(config.repositories[0].name.to_string(), "harbour/pilots");
    assert_eq!(config.repositories[0].profile, "example");
}

#[test]
fn the_environment_wins_and_an_empty_variable_is_none() {
    let config = load(
        "github.app_id = 1\nlisten = '127.0.0.1:1'\nwebhook.secret = 'file'",
        &[
            ("COUNTERSIGN_GITHUB_APP_ID", "2"),
            ("COUNTERSIGN_GITHUB_PRIVATE_KEY", "-----BEGIN KEY-----\\nMIIE"),
            ("COUNTERSIGN_WEBHOOK_SECRET", "variable"),
            ("COUNTERSIGN_WEBHOOK_SECRET_PREVIOUS", "older"),
            ("COUNTERSIGN_LISTEN", ""),
            ("COUNTERSIGN_PUBLIC_URL", "https://countersign.example"),
            ("COUNTERSIGN_HUB_TOKEN", "h"),
            ("COUNTERSIGN_NOW", "2026-10-13T08:00:00Z"),
            ("COUNTERSIGN_GITHUB_API_URL", "http://127.0.0.1:1"),
            ("COUNTERSIGN_HUB_URL", "http://127.0.0.1:2"),
            ("COUNTERSIGN_REGISTRY_URL", "http://127.0.0.1:3"),
            ("COUNTERSIGN_PAGES_URL", "http://127.0.0.1:4"),
            ("COUNTERSIGN_DATABASE_URL", "postgres://u:p@h/d"),
            ("COUNTERSIGN_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
            ("COUNTERSIGN_SERVICE_HOST", "10.0.0.1"),
            ("HOME", "/root"),
        ],
    )
    .unwrap();
    assert_eq!(config.listen.port(), 1);
    assert_eq!(config.app().unwrap().id, 2);
    assert_eq!(config.app().unwrap().webhook_secret.expose_secret(), "variable");
    assert!(config.app().unwrap().private_key.expose_secret().contains("KEY-----\nMIIE"));
    assert_eq!(config.database_url.expose_secret(), "postgres://u:p@h/d");
    assert!(!format!("{config:?}").contains("variable"), "secrets are not printed");
}

#[test]
fn a_name_that_is_none_is_an_error_with_the_nearest() {
    assert!(errors("", &[("COUNTERSIGN_WEBHOK_SECRET", "x")])[0].ends_with(
        "`COUNTERSIGN_WEBHOK_SECRET` is no setting; did you mean `COUNTERSIGN_WEBHOOK_SECRET`?"
    ));
    assert!(
        errors("githb.app_id = 1", &[])[0]
            .ends_with("FILE: `githb.app_id` is no setting; did you mean `github.app_id`?")
    );
    // Only a secret can stand in a file of its own.
    assert!(errors("listen_file = 'x'", &[])[0].contains("`listen_file` is no setting"));
    assert!(
        errors("[[repository]]\nname='a/b'\nprofil='x'", &[])
            .join("\n")
            .contains("`repository 1: profil` is no setting; did you mean `profile`?")
    );
}

#[test]
fn everything_wrong_is_said_at_once_and_no_secret_is_quoted() {
    let all = errors(
        "listen = 'here'\nworkers = 0\nlog.format = 'xml'\ngithub.private_key = 'hunter2'
         public_url = 'ftp://x'\n[[repository]]\nname = 'one'\nprofile = 'p'",
        &[("COUNTERSIGN_GITHUB_APP_ID", "seven"), ("COUNTERSIGN_WEBHOOK_SECRET", " ")],
    );
    let text = all.join("\n");
    for part in [
        "`listen` is `here`; expected an address with a port",
        "`workers` is 0; expected a number from 1 to 64",
        "`log.format` is `xml`; expected `text` or `json`",
        "`github.private_key` is no PEM",
        "`public_url` is `ftp://x`; expected an http:// or https:// address",
        "`one` is not a repository",
        "the environment variable COUNTERSIGN_GITHUB_APP_ID: `github.app_id` is `seven`",
        "`webhook.secret` is empty",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert_eq!(all.len(), 8);
    assert!(!text.contains("hunter2"));
}

#[test]
fn a_secret_given_twice_in_one_place_is_unclear() {
    let twice = errors("webhook.secret = 'a'\nwebhook.secret_file = 'secret'", &[]);
    assert!(twice[0].contains("`webhook.secret` is set by") && twice[0].contains("remove one"));
    let across = load("webhook.secret = 'a'", &[("COUNTERSIGN_WEBHOOK_SECRET_FILE", "/dev/null")]);
    assert!(across.unwrap_err().to_string().contains("is empty"), "the variable wins");
}

#[test]
fn a_file_that_is_named_must_be_there() {
    let error = Config::load(Some(Path::new("/nowhere/countersign.toml")), []).unwrap_err();
    assert!(error.to_string().starts_with("/nowhere/countersign.toml: cannot be read ("));
    let toml = errors("listen = ", &[]);
    assert!(toml[0].contains("is not TOML") && toml[0].contains("line 1"), "{toml:?}");
    let secret = errors("webhook.secret_file = 'gone'", &[]);
    assert!(secret[0].contains("gone: cannot be read") && secret[0].contains("names it"));
}
