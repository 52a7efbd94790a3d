//! The configuration as it is in effect, written as TOML with every secret as `***`.

use super::providers::MEANINGS;
use super::{
    AuthChoice, Config, OwnProvider, Provider, ProviderMode, Providers, Reach, SourceConfig,
    SourceKey,
};
use segue_core::failover::{Midstream, StreamMode};
use segue_core::lyrics::lrc::LrcStyle;
use segue_core::provider::configured::Dialect;
use segue_core::source::subsonic::Secret;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

impl Config {
    /// TOML that can be read back, except for the secrets.
    pub fn masked(&self) -> String {
        let mut out = Lines(String::new());
        self.server_lines(&mut out);
        for source in &self.sources {
            source_lines(source, &mut out);
        }
        self.sync_and_stream_lines(&mut out);
        provider_lines(&self.providers, &mut out);
        self.lyrics_and_queue_lines(&mut out);
        out.0
    }

    fn server_lines(&self, out: &mut Lines) {
        let server = &self.server;
        out.header("[server]");
        out.text("listen", server.listen);
        out.path("data_dir", Some(&server.data_dir));
        out.text(
            "public_url",
            server
                .public_url
                .as_ref()
                .map(url::Url::to_string)
                .unwrap_or_default(),
        );
        out.texts(
            "trusted_proxies",
            server.trusted_proxies.iter().map(ToString::to_string),
        );
    }

    fn sync_and_stream_lines(&self, out: &mut Lines) {
        out.header("[sync]");
        out.duration("interval", self.sync.interval);
        out.plain("concurrency", self.sync.concurrency);
        let stream = &self.stream;
        out.header("[stream]");
        out.text(
            "mode",
            match stream.mode {
                StreamMode::Ordered => "ordered",
                StreamMode::Hedged => "hedged",
                StreamMode::Parallel => "parallel",
            },
        );
        out.duration("connect_timeout", stream.connect);
        out.duration("head_timeout", stream.head);
        out.duration("first_byte_timeout", stream.first_byte);
        out.duration("open_budget", stream.open_budget);
        out.duration("idle_timeout", stream.idle);
        out.duration("stagger", stream.stagger);
        out.plain("suspect_seconds", stream.suspect.as_secs());
        out.text(
            "midstream",
            match stream.midstream {
                Midstream::Abort => "abort",
                Midstream::Resume => "resume",
            },
        );
    }

    fn lyrics_and_queue_lines(&self, out: &mut Lines) {
        let lyrics = &self.lyrics;
        out.header("[lyrics]");
        out.texts("accepted_scripts", lyrics.accepted_scripts.iter().cloned());
        out.plain(
            "script_guard_threshold",
            format!("{:?}", lyrics.script_guard_threshold),
        );
        out.duration("duration_tolerance", lyrics.duration_tolerance);
        out.plain("on_play", lyrics.on_play);
        out.duration("upgrade_after", lyrics.upgrade_after);
        out.text(
            "sidecar_style",
            match lyrics.sidecar_style {
                LrcStyle::Line => "line",
                LrcStyle::Enhanced => "word",
            },
        );
        out.header("[queue]");
        out.plain("workers", self.queue.workers);
        out.duration("lease", self.queue.lease);
        out.text("store", "sqlite");
        let federation = &self.federation;
        out.header("[federation]");
        out.plain("enabled", federation.enabled);
        out.text("instance_id", &federation.instance_id);
        out.path("private_key_file", federation.private_key_file.as_ref());
        out.path("peers_file", federation.peers_file.as_ref());
    }
}

fn source_lines(source: &SourceConfig, out: &mut Lines) {
    out.header("[[sources]]");
    out.text("id", &source.id);
    out.text("kind", source.kind().as_str());
    match &source.key {
        SourceKey::Subsonic {
            url,
            username,
            password,
            api_key,
            auth,
        } => {
            out.text("url", url);
            out.text("username", username);
            out.secret("password", password.as_ref());
            out.secret("api_key", api_key.as_ref());
            let word = AuthChoice::WORDS.iter().find(|(_, of)| of == auth);
            out.text("auth", word.map_or("auto", |(word, _)| word));
        }
        SourceKey::Folder {
            path,
            write_sidecars,
        } => {
            out.path("path", Some(path));
            out.plain("write_sidecars", write_sidecars);
        }
    }
    out.plain("local", source.local);
    out.plain("max_streams", source.max_streams);
}

fn provider_lines(providers: &Providers, out: &mut Lines) {
    out.header("[providers]");
    out.text("primary", &providers.primary);
    out.texts("fallback_order", providers.fallback_order.iter().cloned());
    out.text(
        "mode",
        match providers.mode {
            ProviderMode::Ordered => "ordered",
            ProviderMode::Parallel => "parallel",
        },
    );
    out.plain("race_wait_seconds", providers.race_wait.as_secs());
    out.texts("disabled", providers.disabled.iter().cloned());
    one_provider(out, "[providers.lrclib]", &providers.lrclib, "app_id");
    one_provider(
        out,
        "[providers.musixmatch]",
        &providers.musixmatch,
        "app_id",
    );
    one_provider(
        out,
        "[providers.petitlyrics]",
        &providers.petitlyrics,
        "client_app_id",
    );
    for own in &providers.own {
        own_provider(out, own);
    }
    out.header("[providers.circuit]");
    out.plain("base_seconds", providers.circuit_base.as_secs());
    out.plain("cap_seconds", providers.circuit_cap.as_secs());
    out.plain("transient_threshold", providers.transient_threshold);
}

fn one_provider(out: &mut Lines, header: &str, provider: &Provider, app_id: &str) {
    out.header(header);
    if let Some(url) = &provider.base_url {
        out.text("base_url", url);
    }
    if let Some(id) = &provider.app_id {
        out.text(app_id, id);
    }
    out.secret("token", provider.token.as_ref());
    out.headers(&provider.headers);
    out.duration("timeout", provider.timeout);
    out.duration("spacing", provider.spacing);
}

fn own_provider(out: &mut Lines, own: &OwnProvider) {
    match &own.reach {
        Reach::Http(settings) => {
            out.header("[[providers.http]]");
            out.text("name", &own.name);
            out.text("url", &settings.template);
            let (dialect, pointers) = match &settings.dialect {
                Dialect::Lrclib => ("lrclib", None),
                Dialect::Lrcmux => ("lrcmux", None),
                Dialect::Json(pointers) => ("json", Some(pointers)),
                Dialect::Text => ("text", None),
            };
            out.text("dialect", dialect);
            let pointers = pointers.into_iter().flat_map(|pointers| pointers.named());
            let pointers = pointers.map(|(name, pointer)| (name.to_owned(), pointer.to_owned()));
            out.pairs("pointers", &pointers.collect());
            out.headers(&settings.headers);
            out.secret("token", settings.token.as_ref());
            let statuses = settings.statuses.iter().filter_map(|(status, meaning)| {
                let (word, _) = MEANINGS.iter().find(|(_, of)| of == meaning)?;
                Some((status.to_string(), (*word).to_owned()))
            });
            out.pairs("statuses", &statuses.collect());
        }
        Reach::Command { argv, env } => {
            out.header("[[providers.command]]");
            out.text("name", &own.name);
            out.texts("argv", argv.iter().cloned());
            out.texts("env", env.iter().cloned());
        }
    }
    out.duration("timeout", own.timeout);
    out.duration("spacing", own.spacing);
}

struct Lines(String);

impl Lines {
    fn header(&mut self, header: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0 += &format!("{header}\n");
    }

    fn plain(&mut self, key: &str, value: impl Display) {
        self.0 += &format!("{key} = {value}\n");
    }

    fn text(&mut self, key: &str, value: impl Display) {
        self.plain(key, quoted(&value.to_string()));
    }

    fn texts(&mut self, key: &str, values: impl Iterator<Item = String>) {
        let values: Vec<String> = values.map(|value| quoted(&value)).collect();
        self.plain(key, format!("[{}]", values.join(", ")));
    }

    fn pairs(&mut self, key: &str, pairs: &BTreeMap<String, String>) {
        if !pairs.is_empty() {
            let pairs = pairs
                .iter()
                .map(|(key, value)| format!("{} = {}", quoted(key), quoted(value)));
            self.plain(
                key,
                format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", ")),
            );
        }
    }

    /// A header may well be a credential.
    fn headers(&mut self, headers: &BTreeMap<String, Secret>) {
        let masked = headers
            .iter()
            .map(|(name, value)| (name.clone(), value.to_string()));
        self.pairs("headers", &masked.collect());
    }

    fn path(&mut self, key: &str, path: Option<&PathBuf>) {
        let path = path.map(PathBuf::as_path).unwrap_or(Path::new(""));
        self.text(key, path.display());
    }

    fn duration(&mut self, key: &str, duration: Duration) {
        self.text(key, short(duration));
    }

    fn secret(&mut self, key: &str, secret: Option<&Secret>) {
        if let Some(secret) = secret {
            self.text(key, secret);
        }
    }
}

/// A text as TOML writes it.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A duration in the largest unit that holds it whole, as people write it.
fn short(duration: Duration) -> String {
    let millis = duration.as_millis();
    let units = [(86_400_000, "d"), (60_000, "m"), (1000, "s")];
    match units
        .iter()
        .find(|(size, _)| millis > 0 && millis.is_multiple_of(*size))
    {
        // "1m" is rarely what one compares with: seconds up to two minutes.
        Some((60_000, _)) if millis < 120_000 => format!("{}s", millis / 1000),
        Some((size, unit)) => format!("{}{unit}", millis / size),
        None if millis == 0 => "0s".to_owned(),
        None => format!("{millis}ms"),
    }
}
