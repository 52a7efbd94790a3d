//! `[providers]`, `[lyrics]` and `[queue]`: where lyrics come from and how they are looked up.

use super::problem::Place;
use super::read::{HOUR, MILLISECOND, SECOND, YEAR, http_url, is_id, nearest};
use super::section::Section;
use segue_core::lyrics::lrc::LrcStyle;
use segue_core::lyrics::script::ScriptGuard;
use segue_core::provider::configured::{
    self, BadTemplate, Dialect, Pointers, StatusMeaning, Template, VARIABLES,
};
use segue_core::source::subsonic::Secret;
use std::collections::BTreeMap;
use std::time::Duration;

/// `[providers]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Providers {
    /// Asked first.
    pub primary: String,
    /// Then these, in this order.
    pub fallback_order: Vec<String>,
    /// One after another, or all at once.
    pub mode: ProviderMode,
    /// In parallel: how long a plain answer waits for a better one.
    pub race_wait: Duration,
    /// Never asked.
    pub disabled: Vec<String>,
    /// `[providers.lrclib]`.
    pub lrclib: Provider,
    /// `[providers.musixmatch]`.
    pub musixmatch: Provider,
    /// `[providers.petitlyrics]`.
    pub petitlyrics: Provider,
    /// `[[providers.http]]` and `[[providers.command]]`.
    pub own: Vec<OwnProvider>,
    /// `[providers.circuit]`: first window of a lane's breaker.
    pub circuit_base: Duration,
    /// Longest window.
    pub circuit_cap: Duration,
    /// Failures in a row that open it.
    pub transient_threshold: u32,
}

/// `providers.mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderMode {
    /// One after another.
    Ordered,
    /// All at once.
    Parallel,
}

/// What every provider has, and what some need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provider {
    /// Where it is; `None` is its usual place.
    pub base_url: Option<url::Url>,
    /// How long one request may take. A lookup of several has four times that.
    pub timeout: Duration,
    /// Between requests of this lane, measured from completion.
    pub spacing: Duration,
    /// Musixmatch: `app_id`. Petit Lyrics: `client_app_id`.
    pub app_id: Option<String>,
    /// Musixmatch: `token`.
    pub token: Option<Secret>,
    /// Musixmatch: `headers`. They may be credentials.
    pub headers: BTreeMap<String, Secret>,
}

/// A provider of the operator's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnProvider {
    /// Its name, as in `primary` and `fallback_order`.
    pub name: String,
    /// How it is asked.
    pub reach: Reach,
    /// How long one request, or one run of a program, may take. A lookup has four times that.
    pub timeout: Duration,
    /// Between requests of this lane, measured from completion.
    pub spacing: Duration,
}

/// How a provider of the operator's own is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Over HTTP.
    Http(Box<configured::Settings>),
    /// A program: query on its standard input, outcome on its standard output.
    Command {
        /// Program and arguments; never empty.
        argv: Vec<String>,
        /// Names of variables of our environment that it sees besides the usual ones.
        env: Vec<String>,
    },
}

/// The words of `dialect` in `[[providers.http]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DialectWord {
    Lrclib,
    Lrcmux,
    Json,
    Text,
}

/// The words of `statuses` in `[[providers.http]]`.
pub(super) const MEANINGS: [(&str, StatusMeaning); 4] = [
    ("not-found", StatusMeaning::NotFound),
    ("rate-limited", StatusMeaning::RateLimited),
    ("auth", StatusMeaning::Auth),
    ("transient", StatusMeaning::Transient),
];

/// The words of `sidecar_style`.
pub(super) const STYLES: [(&str, LrcStyle); 2] =
    [("line", LrcStyle::Line), ("word", LrcStyle::Enhanced)];

/// `[lyrics]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Lyrics {
    /// Unicode scripts; empty takes any.
    pub accepted_scripts: Vec<String>,
    /// The share of letters of other scripts that is too much.
    pub script_guard_threshold: f64,
    /// How far an answer's duration may be off.
    pub duration_tolerance: Duration,
    /// Whether a played track without lyrics is looked up first.
    pub on_play: bool,
    /// When to look for something better.
    pub upgrade_after: Duration,
    /// How timed words are written beside the music.
    pub sidecar_style: LrcStyle,
}

impl Default for Lyrics {
    fn default() -> Self {
        Lyrics {
            accepted_scripts: Vec::new(),
            script_guard_threshold: 0.20,
            duration_tolerance: Duration::from_secs(2),
            on_play: true,
            upgrade_after: Duration::from_secs(30 * 24 * 3600),
            sidecar_style: LrcStyle::Line,
        }
    }
}

/// `[queue]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Songs looked up at once.
    pub workers: u32,
    /// How long a claim holds without a sign of life.
    pub lease: Duration,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            workers: 2,
            lease: Duration::from_secs(60),
        }
    }
}

const BUILT_IN: [&str; 5] = ["local", "subsonic", "lrclib", "musixmatch", "petitlyrics"];
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);
pub(super) const SPACING: Duration = Duration::from_millis(500);
/// Musixmatch asks for a captcha after some dozens of requests in a row.
const MUSIXMATCH_SPACING: Duration = Duration::from_secs(2);
/// The least that PetitLyrics' other clients keep.
const PETITLYRICS_SPACING: Duration = Duration::from_secs(10);

impl Default for Providers {
    fn default() -> Self {
        let provider = Provider {
            timeout: TIMEOUT,
            spacing: SPACING,
            ..Provider::default()
        };
        Providers {
            primary: "lrclib".to_owned(),
            fallback_order: Vec::new(),
            mode: ProviderMode::Ordered,
            race_wait: Duration::from_secs(2),
            disabled: Vec::new(),
            lrclib: Provider {
                base_url: url::Url::parse("https://lrclib.net").ok(),
                ..provider.clone()
            },
            musixmatch: Provider {
                spacing: MUSIXMATCH_SPACING,
                ..provider.clone()
            },
            petitlyrics: Provider {
                spacing: PETITLYRICS_SPACING,
                ..provider
            },
            own: Vec::new(),
            circuit_base: Duration::from_secs(60),
            circuit_cap: Duration::from_secs(1800),
            transient_threshold: 5,
        }
    }
}

impl Providers {
    /// The lanes that a song is looked up over, in order. What is there already comes first and costs nobody anything: files
    /// beside the music, and the sources' own lyrics. One without its token or id cannot be asked.
    pub fn lanes(&self) -> Vec<&str> {
        let mut lanes = vec!["local", "subsonic"];
        let configured = [&self.primary].into_iter().chain(&self.fallback_order);
        for name in configured.map(String::as_str) {
            if !lanes.contains(&name) {
                lanes.push(name);
            }
        }
        lanes.retain(|lane| !self.disabled.iter().any(|name| name == lane));
        lanes.retain(|lane| match *lane {
            "musixmatch" => self.musixmatch.token.is_some(),
            "petitlyrics" => self.petitlyrics.app_id.is_some(),
            _ => true,
        });
        lanes
    }
}

pub(super) fn read(mut section: Section<'_>) -> Providers {
    let default = Providers::default();
    let modes = [
        ("ordered", ProviderMode::Ordered),
        ("parallel", ProviderMode::Parallel),
    ];
    let mut own: Vec<OwnProvider> = section
        .tables("http")
        .into_iter()
        .filter_map(http)
        .collect();
    own.extend(section.tables("command").into_iter().filter_map(command));
    let names: Vec<&str> = BUILT_IN
        .into_iter()
        .chain(own.iter().map(|own| own.name.as_str()))
        .collect();
    let known = |name: &str| match names.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err((
            format!("names no provider: \"{name}\""),
            nearest(name, names.iter().copied()),
        )),
    };
    let primary_at = section.place_of("primary");
    let primary = section.parsed("primary", default.primary, known);
    let fallbacks = list_of(&mut section, "fallback_order", known);
    let disabled = list_of(&mut section, "disabled", known).unwrap_or_default();
    let disabled: Vec<String> = disabled.into_iter().map(|(name, _)| name).collect();
    let mode = section.word("mode", default.mode, &modes);
    let race_wait = section.number("race_wait_seconds", default.race_wait.as_secs(), 0..=600);
    let lrclib = provider(section.table("lrclib"), default.lrclib, Needs::Nothing);
    let musixmatch = provider(
        section.table("musixmatch"),
        default.musixmatch,
        Needs::Token,
    );
    let petitlyrics = provider(
        section.table("petitlyrics"),
        default.petitlyrics,
        Needs::ClientAppId,
    );
    let lacks = |name: &str| match name {
        "musixmatch" if musixmatch.token.is_none() => {
            Some("set your own `token` or `token_file` in [providers.musixmatch]")
        }
        "petitlyrics" if petitlyrics.app_id.is_none() => {
            Some("set `client_app_id` in [providers.petitlyrics]")
        }
        _ => None,
    };
    let named = fallbacks.iter().flatten();
    let named = named.map(|(name, place)| ("fallback_order", name, Some(place.clone())));
    for (key, name, place) in named.chain([("primary", &primary, primary_at)]) {
        if let Some(hint) = lacks(name).filter(|_| !disabled.contains(name)) {
            let what = format!("names \"{name}\", which lacks what it needs");
            section.wrong(place, key, &what, Some(hint.to_owned()));
        }
    }
    // Unless an order is written, whoever has what they need is asked.
    let fallback_order = match fallbacks {
        Some(written) => written.into_iter().map(|(name, _)| name).collect(),
        None => ["musixmatch", "petitlyrics"]
            .into_iter()
            .filter(|name| *name != primary && lacks(name).is_none())
            .map(str::to_owned)
            .collect(),
    };
    let mut circuit = section.table("circuit");
    let circuit_base = circuit.number("base_seconds", default.circuit_base.as_secs(), 1..=86_400);
    let circuit_cap = circuit.number("cap_seconds", default.circuit_cap.as_secs(), 1..=604_800);
    let transient_threshold = circuit.number(
        "transient_threshold",
        default.transient_threshold.into(),
        1..=1000,
    );
    circuit.finish();
    section.finish();
    Providers {
        primary,
        fallback_order,
        mode,
        race_wait: Duration::from_secs(race_wait),
        disabled,
        lrclib,
        musixmatch,
        petitlyrics,
        own,
        circuit_base: Duration::from_secs(circuit_base),
        circuit_cap: Duration::from_secs(circuit_cap),
        transient_threshold: transient_threshold as u32,
    }
}

fn list_of(
    section: &mut Section<'_>,
    key: &'static str,
    known: impl Fn(&str) -> Result<String, (String, Option<String>)>,
) -> Option<Vec<(String, Place)>> {
    let texts = section.texts(key)?;
    let names = texts
        .into_iter()
        .filter_map(|(text, place)| match known(&text) {
            Ok(name) => Some((name, place)),
            Err((what, hint)) => {
                section.wrong(Some(place), key, &what, hint);
                None
            }
        });
    Some(names.collect())
}

enum Needs {
    Nothing,
    Token,
    ClientAppId,
}

fn provider(mut section: Section<'_>, default: Provider, needs: Needs) -> Provider {
    let base_url = section.parsed("base_url", default.base_url, |text| {
        http_url(text).map(Some)
    });
    let timeout = section.duration("timeout", default.timeout, MILLISECOND..=HOUR);
    let spacing = section.duration("spacing", default.spacing, Duration::ZERO..=HOUR);
    let (app_id, token, headers) = match needs {
        Needs::Nothing => (None, None, BTreeMap::new()),
        Needs::Token => (
            section.text("app_id"),
            section.secret("token", "token_file"),
            headers(&mut section),
        ),
        Needs::ClientAppId => (section.text("client_app_id"), None, BTreeMap::new()),
    };
    section.finish();
    Provider {
        base_url,
        timeout,
        spacing,
        app_id: app_id.map(|(id, _)| id),
        token,
        headers,
    }
}

fn headers(section: &mut Section<'_>) -> BTreeMap<String, Secret> {
    let pairs = section.pairs("headers").into_iter();
    pairs
        .map(|(name, value)| (name, Secret::new(value)))
        .collect()
}

fn named(section: &mut Section<'_>) -> Option<String> {
    let Some((name, place)) = section.text("name") else {
        section.lacking("has a provider without a name", "add `name`");
        return None;
    };
    let hint = Some("use small letters, digits and dashes".to_owned());
    match is_id(&name) && !BUILT_IN.contains(&name.as_str()) {
        true => Some(name),
        false => {
            section.wrong(Some(place), "name", &format!("cannot be \"{name}\""), hint);
            None
        }
    }
}

fn pace(section: &mut Section<'_>) -> (Duration, Duration) {
    let timeout = section.duration("timeout", TIMEOUT, MILLISECOND..=HOUR);
    (
        timeout,
        section.duration("spacing", SPACING, Duration::ZERO..=HOUR),
    )
}

fn http(mut section: Section<'_>) -> Option<OwnProvider> {
    let name = named(&mut section);
    let (timeout, spacing) = pace(&mut section);
    let dialects = [
        ("lrclib", DialectWord::Lrclib),
        ("lrcmux", DialectWord::Lrcmux),
        ("json", DialectWord::Json),
        ("text", DialectWord::Text),
    ];
    if !section.has("url") {
        section.lacking("has a provider without a url", "add `url`");
    }
    let template = section.parsed("url", None, |text| template(text).map(Some));
    let dialect = section.word("dialect", DialectWord::Lrclib, &dialects);
    let pointers_at = section.place_of("pointers");
    let pointers = section.pairs("pointers");
    let dialect = match dialect {
        DialectWord::Lrclib => Some(Dialect::Lrclib),
        DialectWord::Lrcmux => Some(Dialect::Lrcmux),
        DialectWord::Text => Some(Dialect::Text),
        DialectWord::Json => match Pointers::new(&pointers) {
            Ok(pointers) => Some(Dialect::Json(pointers)),
            Err(error) => {
                let place = pointers_at.or(section.place.clone());
                section.wrong(place, "pointers", &format!("cannot be used: {error}"), None);
                None
            }
        },
    };
    let headers_at = section.place_of("headers").or(section.place.clone());
    let headers = headers(&mut section);
    let token = section.secret("token", "token_file");
    let statuses = statuses(&mut section);
    let settings = template
        .zip(dialect)
        .map(|(template, dialect)| configured::Settings {
            template,
            dialect,
            headers,
            token,
            statuses,
        });
    if let Some(Err(error)) = settings.clone().map(configured::Configured::new) {
        section.wrong(
            headers_at,
            "headers",
            &format!("cannot be sent: {error}"),
            None,
        );
    }
    section.finish();
    Some(OwnProvider {
        name: name?,
        reach: Reach::Http(Box::new(settings?)),
        timeout,
        spacing,
    })
}

fn template(text: &str) -> Result<Template, (String, Option<String>)> {
    Template::parse(text).map_err(|error| {
        let hint = match &error {
            BadTemplate::UnknownVariable(name) => nearest(name, VARIABLES)
                .or_else(|| Some(format!("known are {{{}}}", VARIABLES.join("}, {")))),
            BadTemplate::NotHttp => {
                Some("write it as in \"http://127.0.0.1:8080/{artist}/{title}\"".to_owned())
            }
            BadTemplate::UnpairedBrace
            | BadTemplate::NamesNothing
            | BadTemplate::InHost
            | BadTemplate::Credentials => None,
        };
        (format!("cannot be asked: {error}"), hint)
    })
}

fn statuses(section: &mut Section<'_>) -> BTreeMap<u16, StatusMeaning> {
    let place = section.place_of("statuses");
    let pairs = section.pairs("statuses");
    let mut statuses = BTreeMap::new();
    for (status, meaning) in pairs {
        let code = status
            .parse()
            .ok()
            .filter(|code| (200..=599).contains(code));
        let known = MEANINGS.iter().find(|(word, _)| *word == meaning);
        match (code, known) {
            (Some(code), Some((_, meaning))) => {
                statuses.insert(code, *meaning);
            }
            (None, _) | (_, None) => {
                let what = format!("holds {status} = \"{meaning}\"");
                let hint = "write a status from 200 to 599 and one of \"not-found\", \"rate-limited\", \"auth\" and \"transient\"";
                section.wrong(place.clone(), "statuses", &what, Some(hint.to_owned()));
            }
        }
    }
    statuses
}

fn command(mut section: Section<'_>) -> Option<OwnProvider> {
    let name = named(&mut section);
    let (timeout, spacing) = pace(&mut section);
    let argv = section.texts("argv").unwrap_or_default();
    let mut argv: Vec<String> = argv.into_iter().map(|(word, _)| word).collect();
    match argv.first_mut() {
        // A program of the configuration's folder, wherever we run; a bare name is looked for on the PATH.
        Some(program) if program.contains('/') => *program = section.beside(program),
        Some(_) => {}
        None => section.lacking(
            "has a provider without a program",
            "add `argv = [\"program\", \"argument\"]`",
        ),
    }
    let env = section.texts("env").unwrap_or_default();
    let env = env.into_iter().map(|(variable, _)| variable).collect();
    section.finish();
    Some(OwnProvider {
        name: name?,
        reach: Reach::Command { argv, env },
        timeout,
        spacing,
    })
}

pub(super) fn lyrics(mut section: Section<'_>) -> Lyrics {
    let default = Lyrics::default();
    let scripts = section.texts("accepted_scripts").unwrap_or_default();
    let scripts = scripts.into_iter().filter_map(|(script, place)| {
        let named = ScriptGuard::new(std::slice::from_ref(&script), 0.0);
        if let Err(unknown) = &named {
            let hint = format!("did you mean \"{}\"?", unknown.nearest);
            section.wrong(
                Some(place),
                "accepted_scripts",
                &format!("holds \"{script}\", which is no Unicode script"),
                Some(hint),
            );
        }
        named.is_ok().then_some(script)
    });
    let accepted_scripts = scripts.collect();
    let lyrics = Lyrics {
        accepted_scripts,
        script_guard_threshold: section
            .fraction("script_guard_threshold", default.script_guard_threshold),
        duration_tolerance: section.duration(
            "duration_tolerance",
            default.duration_tolerance,
            Duration::ZERO..=HOUR,
        ),
        on_play: section.flag("on_play", default.on_play),
        upgrade_after: section.duration("upgrade_after", default.upgrade_after, HOUR..=10 * YEAR),
        sidecar_style: section.word("sidecar_style", default.sidecar_style, &STYLES),
    };
    section.finish();
    lyrics
}

pub(super) fn queue(mut section: Section<'_>) -> Queue {
    let default = Queue::default();
    let queue = Queue {
        workers: section.number("workers", default.workers.into(), 1..=64) as u32,
        lease: section.duration("lease", default.lease, SECOND..=HOUR),
    };
    section.parsed("store", (), |store| match store {
        "sqlite" => Ok(()),
        "postgres" => Err((
            "cannot be \"postgres\" yet".to_owned(),
            Some("use \"sqlite\"".to_owned()),
        )),
        other => Err((format!("must be \"sqlite\", not \"{other}\""), None)),
    });
    section.finish();
    queue
}
