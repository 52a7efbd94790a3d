//! `[[sources]]`: upstream servers and folders.

use super::problem::Place;
use super::read::{http_url, is_id};
use super::section::{Findings, Section};
use segue_core::catalog::model::SourceKind;
use segue_core::source::subsonic::Secret;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A source as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceConfig {
    /// `[a-z0-9-]+`.
    pub id: String,
    /// Ranks before others at equal quality.
    pub local: bool,
    /// Streams at once; 0 means no limit.
    pub max_streams: u32,
    /// What it is.
    pub key: SourceKey,
}

/// What a source is, and how it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceKey {
    /// A Subsonic server.
    Subsonic {
        /// Its base URL.
        url: url::Url,
        /// User name; empty with an API key alone.
        username: String,
        /// Password.
        password: Option<Secret>,
        /// API key.
        api_key: Option<Secret>,
        /// How to show them.
        auth: AuthChoice,
    },
    /// A folder of this machine.
    Folder {
        /// Its root.
        path: PathBuf,
        /// Whether lyrics may be written beside the music.
        write_sidecars: bool,
    },
}

impl SourceConfig {
    /// The kind of source.
    pub fn kind(&self) -> SourceKind {
        match self.key {
            SourceKey::Subsonic { .. } => SourceKind::Subsonic,
            SourceKey::Folder { .. } => SourceKind::Folder,
        }
    }
}

/// `auth`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuthChoice {
    /// Find out.
    #[default]
    Auto,
    /// Salted token.
    Token,
    /// The password itself, in hexadecimal.
    Password,
    /// API key.
    ApiKey,
}

impl AuthChoice {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, AuthChoice); 4] = [
        ("auto", AuthChoice::Auto),
        ("token", AuthChoice::Token),
        ("password", AuthChoice::Password),
        ("api-key", AuthChoice::ApiKey),
    ];
}

const KINDS: [(&str, SourceKind); 2] = [
    ("subsonic", SourceKind::Subsonic),
    ("folder", SourceKind::Folder),
];

pub(super) fn read(sections: Vec<Section<'_>>, findings: &Findings) -> Vec<SourceConfig> {
    let mut seen: BTreeMap<String, Option<Place>> = BTreeMap::new();
    let sources = sections.into_iter().filter_map(|section| {
        let place = section.place.clone();
        let source = one(section)?;
        if let Some(first) = seen.get(&source.id) {
            let first = first
                .as_ref()
                .map(|place| format!("the first is at {place}"));
            findings.problem(
                place,
                format!("source `{}` is there twice", source.id),
                first,
            );
            return None;
        }
        seen.insert(source.id.clone(), place);
        Some(source)
    });
    sources.collect()
}

fn one(mut section: Section<'_>) -> Option<SourceConfig> {
    let id_place = section.place_of("id");
    let id = section.text("id").map(|(id, _)| id).unwrap_or_default();
    if is_id(&id) {
        section.called(&format!("source `{id}`"));
    } else {
        let hint = Some("use small letters, digits and dashes, such as `living-room`".to_owned());
        match id_place {
            Some(place) => section.wrong(Some(place), "id", &format!("cannot be \"{id}\""), hint),
            None => section.lacking(
                "has a source without an id",
                "add `id`, such as `id = \"home\"`",
            ),
        }
    }
    let kind_is_set = section.has("kind");
    // A path makes a folder, anything else a server: only one of the two can be meant.
    let guess = if section.has("path") {
        SourceKind::Folder
    } else {
        SourceKind::Subsonic
    };
    let kind = section.word("kind", guess, &KINDS);
    if !kind_is_set {
        section.lacking(
            "has no kind",
            "add `kind = \"subsonic\"` or `kind = \"folder\"`",
        );
    }
    let local = section.flag("local", kind == SourceKind::Folder);
    let max_streams = section.number("max_streams", 0, 0..=1_000_000) as u32;
    let key = match kind {
        SourceKind::Subsonic => subsonic(&mut section),
        SourceKind::Folder | SourceKind::Peer => folder(&mut section),
    };
    section.finish();
    key.map(|key| SourceConfig {
        id,
        local,
        max_streams,
        key,
    })
}

const OF_SUBSONIC: [&str; 7] = [
    "url",
    "username",
    "password",
    "password_file",
    "api_key",
    "api_key_file",
    "auth",
];
const OF_FOLDER: [&str; 2] = ["path", "write_sidecars"];

/// Reports the keys of the other kind.
fn foreign(section: &mut Section<'_>, keys: &[&'static str], kind: &str) {
    for key in keys {
        if let Some(place) = section.place_of(key) {
            section.wrong(
                Some(place),
                key,
                &format!("is for sources of kind \"{kind}\""),
                None,
            );
        }
        section.skip(key);
    }
}

fn subsonic(section: &mut Section<'_>) -> Option<SourceKey> {
    foreign(section, &OF_FOLDER, "folder");
    let auth_place = section.place_of("auth");
    let url_is_set = section.has("url");
    let url = section.parsed("url", None, |text| http_url(text).map(Some));
    if !url_is_set {
        section.lacking(
            "has no url",
            "add `url`, such as `url = \"http://127.0.0.1:4533\"`",
        );
    }
    let username = section
        .text("username")
        .map(|(name, _)| name)
        .unwrap_or_default();
    let password = section.secret("password", "password_file");
    let api_key = section.secret("api_key", "api_key_file");
    let auth = section.word("auth", AuthChoice::Auto, &AuthChoice::WORDS);
    match (
        auth,
        username.is_empty(),
        password.is_some(),
        api_key.is_some(),
    ) {
        (AuthChoice::ApiKey, _, _, false) => {
            section.wrong(
                auth_place,
                "auth",
                "is \"api-key\", but there is no api_key",
                Some("add `api_key` or `api_key_file`".into()),
            );
        }
        (AuthChoice::Token | AuthChoice::Password, _, false, _) => {
            section.wrong(
                auth_place,
                "auth",
                "needs a password, but there is none",
                Some("add `password` or `password_file`".into()),
            );
        }
        (AuthChoice::Auto, true, false, false) => {
            section.lacking(
                "has no username, password or api_key",
                "add `username` and `password`, or `api_key`",
            );
        }
        (AuthChoice::Auto, false, false, false) => {
            section.lacking(
                "has a username but no password",
                "add `password` or `password_file`",
            );
        }
        (AuthChoice::Auto | AuthChoice::Token | AuthChoice::Password, true, true, _) => {
            section.lacking("has a password but no username", "add `username`");
        }
        (AuthChoice::ApiKey, _, _, true)
        | (AuthChoice::Token | AuthChoice::Password, false, true, _)
        | (AuthChoice::Auto, false, true, _)
        | (AuthChoice::Auto, _, false, true) => {}
    }
    Some(SourceKey::Subsonic {
        url: url?,
        username,
        password,
        api_key,
        auth,
    })
}

fn folder(section: &mut Section<'_>) -> Option<SourceKey> {
    foreign(section, &OF_SUBSONIC, "subsonic");
    let path = section.path("path");
    let write_sidecars = section.flag("write_sidecars", true);
    match path {
        Some((path, place)) => {
            if !path.is_dir() {
                let what = format!("is not a folder now: {}", path.display());
                section.warn(Some(place), "path", &what);
            }
            Some(SourceKey::Folder {
                path,
                write_sidecars,
            })
        }
        None => {
            section.lacking("has no path", "add `path`, such as `path = \"/srv/music\"`");
            None
        }
    }
}
