//! The configuration: what a person is told about each mistake, and that the documentation is true.

use segue::config::{AuthChoice, Config, Layers, Loaded, Problems, SourceKey};
use segue_core::failover::{Limits, StreamMode};
use segue_core::lyrics::lrc::LrcStyle;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn load(text: &str) -> Result<Loaded, Problems> {
    load_with(text, &[])
}

fn load_with(text: &str, environment: &[(&str, &str)]) -> Result<Loaded, Problems> {
    let environment = environment
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()));
    let layers = Layers {
        file: Some(PathBuf::from("segue.toml")),
        environment: environment.collect(),
        ..Layers::default()
    };
    layers.load_text(text, &secrets)
}

/// The files that the tests' configurations name.
fn secrets(path: &Path) -> io::Result<String> {
    match path.to_str() {
        Some("password.txt") => Ok("sesame\n".into()),
        Some("empty.txt") => Ok("\n".into()),
        Some("locked.txt") => Err(io::ErrorKind::PermissionDenied.into()),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

fn config(text: &str) -> Config {
    match load(text) {
        Ok(loaded) => loaded.config,
        Err(problems) => panic!("{problems}"),
    }
}

fn complaint(text: &str, environment: &[(&str, &str)]) -> String {
    match load_with(text, environment) {
        Ok(_) => "no complaint".into(),
        Err(problems) => problems.to_string(),
    }
}

#[test]
fn each_mistake_is_told_with_its_line_and_what_to_do() {
    let subsonic = "[[sources]]\nid = \"home\"\nkind = \"subsonic\"\nurl = \"http://h\"\n";
    let known = "username = \"a\"\npassword = \"b\"\n";
    for (text, expected) in [
        (
            "[server]\nlissten = \"x\"",
            "segue.toml:2: unknown key `lissten` in [server]; did you mean `listen`?",
        ),
        (
            "[sever]\n",
            "segue.toml:1: unknown section `sever`; did you mean `server`?",
        ),
        (
            "[zzz]\n",
            "segue.toml:1: unknown section `zzz`; known are `server`, `sources`, `sync`, `stream`, `providers`, `lyrics`, `queue`, `federation`",
        ),
        (
            "a = ",
            "segue.toml:1: string values must be quoted, expected literal string",
        ),
        (
            "[server]\nlisten = \":4747\"",
            "segue.toml:2: server.listen is not an address to listen on: \":4747\"; for all interfaces write \"0.0.0.0:4747\", for this machine \"127.0.0.1:4747\"",
        ),
        (
            "[server]\nlisten = \"localhost:80\"",
            "segue.toml:2: server.listen is not an address to listen on: \"localhost:80\"; write \"127.0.0.1:80\"",
        ),
        (
            "[server]\nlisten = 4747",
            "segue.toml:2: server.listen must be a text, not a whole number; put it in quotes",
        ),
        (
            "[server]\npublic_url = \"ftp://x\"",
            "segue.toml:2: server.public_url must begin with http:// or https://; write it as in \"http://127.0.0.1:4533\"",
        ),
        (
            "[server]\ntrusted_proxies = [\"10.0.0.0/33\"]",
            "segue.toml:2: server.trusted_proxies holds \"10.0.0.0/33\"; write addresses such as \"10.0.0.2\" or \"10.0.0.0/8\"",
        ),
        (
            "server = 1",
            "segue.toml:1: server must be a table, not a whole number; write `[server]` on a line of its own",
        ),
        (
            "sources = 1",
            "segue.toml:1: sources must be a list of tables, not a whole number; write `[[sources]]` for each",
        ),
        (
            "[sync]\nconcurrency = 0",
            "segue.toml:2: sync.concurrency must be a whole number from 1 to 32",
        ),
        (
            "[sync]\ninterval = 15",
            "segue.toml:2: sync.interval must be a duration, not a whole number; write a number with its unit, such as \"250ms\", \"2s\" or \"15m\"",
        ),
        (
            "[sync]\ninterval = \"15\"",
            "segue.toml:2: sync.interval is not a duration: \"15\"; write a number with its unit, such as \"250ms\", \"2s\" or \"15m\"",
        ),
        (
            "[stream]\nmode = \"orderd\"",
            "segue.toml:2: stream.mode must be \"ordered\", \"hedged\" or \"parallel\", not \"orderd\"; did you mean `ordered`?",
        ),
        (
            "[stream]\nidle_timeout = \"2h\"",
            "segue.toml:2: stream.idle_timeout must be from 1s to 1h",
        ),
        (
            "[stream]\nopen_budget = \"1s\"",
            "segue.toml:2: stream.open_budget is shorter than connect_timeout, so a slow source would end every request; make it at least as long",
        ),
        (
            "[stream]\nsuspect_seconds = -1",
            "segue.toml:2: stream.suspect_seconds must be a whole number from 1 to 86400",
        ),
        (
            "[[sources]]\nkind = \"folder\"\npath = \"/\"",
            "segue.toml:1: sources has a source without an id; add `id`, such as `id = \"home\"`",
        ),
        (
            "[[sources]]\nid = \"My Home\"\nkind = \"folder\"\npath = \"/\"",
            "segue.toml:2: sources.id cannot be \"My Home\"; use small letters, digits and dashes, such as `living-room`",
        ),
        (
            "[[sources]]\nid = \"a\"\nkind = \"folder\"",
            "segue.toml:1: source `a` has no path; add `path`, such as `path = \"/srv/music\"`",
        ),
        (
            "[[sources]]\nid = \"a\"\npath = \"/\"",
            "segue.toml:1: source `a` has no kind; add `kind = \"subsonic\"` or `kind = \"folder\"`",
        ),
        (
            "[[sources]]\nid = \"a\"\nkind = \"subsonik\"\npath = \"/\"",
            "segue.toml:3: source `a`: kind must be \"subsonic\" or \"folder\", not \"subsonik\"; did you mean `subsonic`?",
        ),
        (
            "[[sources]]\nid = \"a\"\nkind = \"folder\"\npath = \"/\"\nurl = \"http://h\"",
            "segue.toml:5: source `a`: url is for sources of kind \"subsonic\"",
        ),
        (
            "[[sources]]\nid = \"a\"\nkind = \"folder\"\npath = \"/\"\n[[sources]]\nid = \"a\"\nkind = \"folder\"\npath = \"/\"",
            "segue.toml:5: source `a` is there twice; the first is at segue.toml:1",
        ),
        (
            "[queue]\nstore = \"postgres\"",
            "segue.toml:2: queue.store cannot be \"postgres\" yet; use \"sqlite\"",
        ),
        (
            "[providers]\nprimary = \"lrclb\"",
            "segue.toml:2: providers.primary names no provider: \"lrclb\"; did you mean `lrclib`?",
        ),
        (
            "[providers.lrclib]\ntoken = \"x\"",
            "segue.toml:2: unknown key `token` in [providers.lrclib]; known are `base_url`, `timeout`, `spacing`",
        ),
        (
            "[providers]\nfallback_order = [\"musixmatch\"]",
            "segue.toml:2: providers.fallback_order names \"musixmatch\", which lacks what it needs; set your own `token` or `token_file` in [providers.musixmatch]",
        ),
        (
            "[providers]\nprimary = \"petitlyrics\"",
            "segue.toml:2: providers.primary names \"petitlyrics\", which lacks what it needs; set `client_app_id` in [providers.petitlyrics]",
        ),
        (
            "[[providers.http]]\nname = \"mine\"\nurl = \"http://h/{titel}\"",
            "segue.toml:3: providers.http.url cannot be asked: {titel} is not known; did you mean `title`?",
        ),
        (
            "[[providers.http]]\nname = \"mine\"\nurl = \"http://h/{title}\"\ndialect = \"json\"\npointers = { words = \"/a\" }",
            "segue.toml:5: providers.http.pointers cannot be used: \"words\" is not known; known are list, synced, plain, title, artist, album, duration, duration_ms, isrc, id, instrumental",
        ),
        (
            "[[providers.http]]\nname = \"mine\"\nurl = \"http://h/{title}\"\nheaders = { X-Key = \"{token}\" }",
            "segue.toml:4: providers.http.headers cannot be sent: header \"X-Key\" holds {token}, but there is no token; set `token` or `token_file`",
        ),
        (
            "[[providers.http]]\nname = \"mine\"\nurl = \"http://h/{title}\"\nstatuses = { 42 = \"gone\" }",
            "segue.toml:4: providers.http.statuses holds 42 = \"gone\"; write a status from 200 to 599 and one of \"not-found\", \"rate-limited\", \"auth\" and \"transient\"",
        ),
        (
            "[[providers.command]]\nname = \"mine\"",
            "segue.toml:1: providers.command has a provider without a program; add `argv = [\"program\", \"argument\"]`",
        ),
        (
            "[lyrics]\nscript_guard_threshold = 2",
            "segue.toml:2: lyrics.script_guard_threshold must be a number from 0 to 1",
        ),
        (
            "[lyrics]\naccepted_scripts = [\"Latinn\"]",
            "segue.toml:2: lyrics.accepted_scripts holds \"Latinn\", which is no Unicode script; did you mean \"latin\"?",
        ),
        (
            "[lyrics]\non_play = \"yes\"",
            "segue.toml:2: lyrics.on_play must be true or false, not a text",
        ),
        (
            "[federation]\nenabled = true\ninstance_id = \"x\"\npeers_file = \"p\"",
            "segue.toml:2: federation.enabled is true, but private_key_file is not set; add `private_key_file`",
        ),
    ] {
        assert_eq!(complaint(text, &[]), expected, "\n{text}");
    }
    for (lines, expected) in [
        (
            "",
            "segue.toml:1: source `home` has no username, password or api_key; add `username` and `password`, or `api_key`",
        ),
        (
            "username = \"a\"",
            "segue.toml:1: source `home` has a username but no password; add `password` or `password_file`",
        ),
        (
            "password = \"a\"",
            "segue.toml:1: source `home` has a password but no username; add `username`",
        ),
        (
            "username = \"a\"\npassword = 5",
            "segue.toml:6: source `home`: password must be a text, not a whole number; put it in quotes\nsegue.toml:1: source `home` has a username but no password; add `password` or `password_file`",
        ),
        (
            "username = \"a\"\npasword = \"s3cret\"",
            "segue.toml:1: source `home` has a username but no password; add `password` or `password_file`\nsegue.toml:6: unknown key `pasword` in [[sources]]; did you mean `password`?",
        ),
        (
            "username = \"a\"\npassword_file = \"gone.txt\"",
            "segue.toml:6: source `home`: password_file cannot be read: gone.txt: no such file",
        ),
        (
            "username = \"a\"\npassword_file = \"locked.txt\"",
            "segue.toml:6: source `home`: password_file cannot be read: locked.txt: permission denied",
        ),
        (
            "username = \"a\"\npassword = \"b\"\npassword_file = \"password.txt\"",
            "segue.toml:7: source `home`: password and password_file are both set; keep one of them",
        ),
        (
            "username = \"a\"\npassword = \"b\"\nauth = \"api-key\"",
            "segue.toml:7: source `home`: auth is \"api-key\", but there is no api_key; add `api_key` or `api_key_file`",
        ),
        (
            "api_key = \"b\"\nauth = \"token\"",
            "segue.toml:6: source `home`: auth needs a password, but there is none; add `password` or `password_file`",
        ),
        (
            "username = \"a\"\npassword = \"b\"\npath = \"/x\"",
            "segue.toml:7: source `home`: path is for sources of kind \"folder\"",
        ),
    ] {
        assert_eq!(
            complaint(&format!("{subsonic}{lines}"), &[]),
            expected,
            "\n{lines}"
        );
    }
    for (url, expected) in [
        (
            "",
            "source `home`: url is not a URL; write it as in \"http://127.0.0.1:4533\"",
        ),
        (
            "127.0.0.1:4533",
            "source `home`: url is not a URL; write it as in \"http://127.0.0.1:4533\"",
        ),
        (
            "localhost:4533",
            "source `home`: url must begin with http:// or https://; write it as in \"http://127.0.0.1:4533\"",
        ),
        (
            "http://alice:sesame@h",
            "source `home`: url must not hold a user or a password; write them as `username` and `password`",
        ),
        (
            "http://h/?x=1",
            "source `home`: url must not hold `?` or `#`; write it as in \"http://127.0.0.1:4533\"",
        ),
    ] {
        let text =
            format!("[[sources]]\nid = \"home\"\nkind = \"subsonic\"\nurl = \"{url}\"\n{known}");
        assert_eq!(complaint(&text, &[]), format!("segue.toml:4: {expected}"));
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let told = complaint(
        "[stream]\nmode = \"x\"\n[sync]\nconcurrency = 99\n[zzz]\n",
        &[],
    );
    assert_eq!(told.lines().count(), 3, "{told}");
}

#[test]
fn a_syntax_error_does_not_quote_the_line() {
    let told = complaint("[[sources]]\npassword = \"s3cret\n", &[]);
    assert!(
        told.starts_with("segue.toml:2: ") && !told.contains("s3cret"),
        "{told}"
    );
}

#[test]
fn flags_win_over_environment_over_file_over_defaults() {
    let file =
        "[server]\nlisten = \"127.0.0.1:1\"\n[stream]\nmode = \"hedged\"\nstagger = \"1s\"\n";
    let layers = |listen: Option<&str>, environment: &[(&str, &str)]| Layers {
        file: Some("segue.toml".into()),
        environment: environment
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect(),
        listen: listen.map(Into::into),
        data_dir: None,
    };
    let of = |layers: Layers| layers.load_text(file, &secrets).expect("valid").config;
    let environment = [
        ("SEGUE_SERVER__LISTEN", "127.0.0.1:2"),
        ("SEGUE_STREAM__MODE", "parallel"),
        ("PATH", "/bin"),
        ("SEGUE_LOG", "debug"),
    ];
    let from_file = of(layers(None, &[]));
    assert_eq!(
        (from_file.server.listen.port(), from_file.stream.mode),
        (1, StreamMode::Hedged)
    );
    assert_eq!(from_file.stream.head, Limits::default().head);
    let from_environment = of(layers(None, &environment));
    assert_eq!(
        (
            from_environment.server.listen.port(),
            from_environment.stream.mode
        ),
        (2, StreamMode::Parallel)
    );
    assert_eq!(from_environment.stream.stagger, Duration::from_secs(1));
    assert_eq!(
        of(layers(Some("127.0.0.1:3"), &environment))
            .server
            .listen
            .port(),
        3
    );
    let wrong = layers(Some("nowhere"), &[])
        .load_text(file, &secrets)
        .expect_err("wrong")
        .to_string();
    assert!(
        wrong.starts_with("--listen: server.listen is not an address"),
        "{wrong}"
    );
}

#[test]
fn the_environment_sets_values_of_every_kind_and_whole_sources() {
    let loaded = load_with(
        "[[sources]]\nid = \"my-home\"\nkind = \"subsonic\"\nurl = \"http://h\"\nusername = \"a\"\n",
        &[
            ("SEGUE_SOURCES__MY_HOME__PASSWORD", "sesame"),
            ("SEGUE_SOURCES__SHELF__KIND", "folder"),
            ("SEGUE_SOURCES__SHELF__PATH", "/"),
            ("SEGUE_SERVER__TRUSTED_PROXIES", "10.0.0.1, ::1"),
            ("SEGUE_SYNC__CONCURRENCY", "7"),
            ("SEGUE_LYRICS__ON_PLAY", "false"),
            ("SEGUE_PROVIDERS__LRCLIB__SPACING", "1s"),
        ],
    );
    let config = loaded.expect("valid").config;
    let ids: Vec<&str> = config
        .sources
        .iter()
        .map(|source| source.id.as_str())
        .collect();
    assert_eq!(ids, ["my-home", "shelf"]);
    assert_eq!(config.server.trusted_proxies.len(), 2);
    assert_eq!((config.sync.concurrency, config.lyrics.on_play), (7, false));
    assert_eq!(config.providers.lrclib.spacing, Duration::from_secs(1));
    for (name, expected) in [
        (
            "SEGUE_STREAM__MOOD",
            "SEGUE_STREAM__MOOD: unknown key `mood` in [stream]; did you mean `mode`?",
        ),
        (
            "SEGUE_STREEM__MODE",
            "SEGUE_STREEM__MODE: unknown section `streem`; did you mean `stream`?",
        ),
        (
            "SEGUE_SYNC__CONCURRENCY",
            "SEGUE_SYNC__CONCURRENCY: sync.concurrency must be a whole number from 1 to 32",
        ),
        (
            "SEGUE_SYNC__INTERVAL__X",
            "SEGUE_SYNC__INTERVAL__X: does not name a setting; write SEGUE_SECTION__KEY or SEGUE_SOURCES__ID__KEY",
        ),
    ] {
        assert_eq!(
            complaint("[sync]\ninterval = \"1h\"\n", &[(name, "x")]),
            expected
        );
    }
}

#[test]
fn secrets_come_from_files_and_are_never_shown() {
    let text = "[[sources]]\nid = \"home\"\nkind = \"subsonic\"\nurl = \"http://h/music\"\nusername = \"a\"\npassword_file = \"password.txt\"\n\
                [providers.musixmatch]\ntoken = \"t0ken\"\nheaders = { Cookie = \"c00kie\" }\n\
                [[providers.http]]\nname = \"mine\"\nurl = \"http://h/{title}\"\ntoken = \"k3y\"\nheaders = { X-Key = \"{token}\" }\n";
    let config = config(text);
    let SourceKey::Subsonic { password, auth, .. } = &config.sources[0].key else {
        panic!("a server");
    };
    assert_eq!(
        password.as_ref().map(|password| password.reveal()),
        Some("sesame")
    );
    assert_eq!(*auth, AuthChoice::Auto);
    for shown in [config.masked(), format!("{config:?}")] {
        for secret in ["sesame", "t0ken", "c00kie", "k3y"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
    assert!(config.masked().contains("password = \"***\"") && !config.masked().contains("c00kie"));
    assert!(load(&config.masked()).is_ok());
}

#[test]
fn providers_are_asked_when_they_have_what_they_need() {
    let order = |text: &str| config(text).providers.fallback_order;
    assert_eq!(order(""), [""; 0]);
    assert_eq!(
        order("[providers.musixmatch]\ntoken = \"x\"\n"),
        ["musixmatch"]
    );
    let both =
        "[providers.musixmatch]\ntoken = \"x\"\n[providers.petitlyrics]\nclient_app_id = \"y\"\n";
    assert_eq!(order(both), ["musixmatch", "petitlyrics"]);
    assert_eq!(
        order(&format!("[providers]\nprimary = \"musixmatch\"\n{both}")),
        ["petitlyrics"]
    );
    // What is switched off needs nothing.
    let off = "[providers]\nfallback_order = [\"musixmatch\"]\ndisabled = [\"musixmatch\"]\n";
    assert_eq!(order(off), ["musixmatch"]);
}

#[test]
fn a_provider_of_ones_own_is_shown_as_it_was_written() {
    let text = "[[providers.http]]\nname = \"a\"\nurl = \"http://h/{title}?i={isrc}\"\ndialect = \"json\"\n\
                pointers = { plain = \"/text\" }\nstatuses = { 420 = \"rate-limited\" }\n\
                [[providers.command]]\nname = \"b\"\nargv = [\"bin/x\", \"a b\"]\nenv = [\"KEY\"]\n";
    let own = config(text).providers.own;
    assert_eq!(config(&config(text).masked()).providers.own, own);
    let layers = Layers {
        file: Some(PathBuf::from("/etc/segue/segue.toml")),
        ..Layers::default()
    };
    let loaded = layers.load_text(text, &secrets).expect("valid");
    assert!(
        loaded
            .config
            .masked()
            .contains("argv = [\"/etc/segue/bin/x\", \"a b\"]")
    );
}

#[test]
fn a_folder_that_is_not_there_is_a_warning() {
    let loaded = load("[[sources]]\nid = \"a\"\nkind = \"folder\"\npath = \"/no/such/folder\"\n")
        .expect("valid");
    let told: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["segue.toml:4: source `a`: path is not a folder now: /no/such/folder"]
    );
    assert!(
        loaded.config.sources[0].local,
        "a folder is local unless told otherwise"
    );
}

#[test]
fn relative_paths_of_a_file_are_relative_to_its_folder() {
    let layers = Layers {
        file: Some("/etc/segue/segue.toml".into()),
        environment: vec![("SEGUE_FEDERATION__PEERS_FILE".into(), "peers.toml".into())],
        ..Layers::default()
    };
    let config = layers
        .load_text("[server]\ndata_dir = \"data\"\n", &secrets)
        .expect("valid")
        .config;
    assert_eq!(config.server.data_dir, Path::new("/etc/segue/data"));
    assert_eq!(
        config.federation.peers_file.as_deref(),
        Some(Path::new("peers.toml"))
    );
}

#[test]
fn a_missing_file_is_told_by_name() {
    let layers = Layers {
        file: Some("/no/such/segue.toml".into()),
        ..Layers::default()
    };
    let told = layers.load().expect_err("no file").to_string();
    assert_eq!(told, "/no/such/segue.toml: cannot be read: no such file");
}

#[test]
fn what_is_shown_can_be_read_back() {
    let shown = Config::default().masked();
    let mut back = config(&shown);
    back.server.listen_is_set = false;
    assert_eq!(back, Config::default());
    assert_eq!(back.masked(), shown);
}

#[test]
fn sidecars_have_times_for_words_when_they_are_asked_for() {
    for (lines, style) in [
        ("", LrcStyle::Line),
        ("[lyrics]\nsidecar_style = \"line\"\n", LrcStyle::Line),
        ("[lyrics]\nsidecar_style = \"word\"\n", LrcStyle::Enhanced),
    ] {
        let config = load(lines).expect("valid").config;
        assert_eq!(config.lyrics_settings().style, style, "{lines}");
    }
    let told = complaint("[lyrics]\nsidecar_style = \"karaoke\"\n", &[]);
    assert!(
        told.contains("\"line\"") && told.contains("\"word\""),
        "{told}"
    );
}

const DOCUMENTATION: &str = include_str!("../../docs/configuration.md");

/// The tables of the documentation: section, then key and default as written.
fn documented() -> BTreeMap<String, Vec<(String, Option<String>)>> {
    let mut sections: BTreeMap<String, Vec<(String, Option<String>)>> = BTreeMap::new();
    let mut section = None;
    for line in DOCUMENTATION.lines() {
        if line.starts_with('#') {
            let name = line
                .split_once("`[")
                .and_then(|(_, rest)| rest.split_once(']'));
            section = name.map(|(name, _)| name.trim_start_matches('[').to_owned());
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let (Some(section), ["", key, default, ..]) = (&section, cells.as_slice())
            && let Some(key) = key.strip_prefix('`')
        {
            let default = default
                .strip_prefix('`')
                .map(|default| default.trim_end_matches('`').to_owned());
            let key = key.trim_end_matches('`').to_owned();
            sections
                .entry(section.clone())
                .or_default()
                .push((key, default));
        }
    }
    sections
}

#[test]
fn every_key_is_documented_and_every_documented_key_exists() {
    let everything = "[[sources]]\nid = \"a\"\nkind = \"subsonic\"\nurl = \"http://h\"\nusername = \"a\"\npassword = \"b\"\n\
                      [[providers.http]]\nname = \"x\"\nurl = \"http://h/{title}\"\n[[providers.command]]\nname = \"y\"\nargv = [\"z\"]\n";
    let known = load(everything).expect("valid").known;
    let documented = documented();
    for (section, keys) in known.into_iter().filter(|(section, _)| !section.is_empty()) {
        let tables = [
            "lrclib",
            "musixmatch",
            "petitlyrics",
            "circuit",
            "http",
            "command",
        ];
        let keys = keys
            .into_iter()
            .filter(|key| section != "providers" || !tables.contains(key));
        let keys: BTreeSet<String> = keys.map(str::to_owned).collect();
        let rows = documented
            .get(&section)
            .unwrap_or_else(|| panic!("[{section}] is not documented"));
        let rows: BTreeSet<String> = rows.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(rows, keys, "[{section}]");
    }
}

#[test]
fn every_documented_default_is_the_default() {
    let mut text = String::new();
    for (section, rows) in documented() {
        if section == "sources"
            || section.starts_with("providers.http")
            || section.starts_with("providers.command")
        {
            continue;
        }
        text += &format!("[{section}]\n");
        for (key, default) in rows {
            if let Some(default) = default {
                text += &format!("{key} = {default}\n");
            }
        }
    }
    let mut stated = config(&text);
    stated.server.listen_is_set = false;
    assert_eq!(stated, Config::default(), "{text}");
    assert!(
        text.lines().count() > 50,
        "the tables were not found: {text}"
    );
}

#[test]
fn the_examples_of_the_documentation_load() {
    let blocks: Vec<&str> = DOCUMENTATION
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(blocks.len() >= 3);
    for block in blocks {
        if let Err(problems) = load(block) {
            panic!("{problems}\n{block}");
        }
    }
}
