//! From text to [`Config`]: layers, sections, and every problem on the way.

use super::problem::{Place, Problem, Problems, did_you_mean};
use super::section::{Findings, Section, reason};
use super::tree::{self, Node, Spot, Table};
use super::{Addresses, Config, Server, Sync, federation, providers, sources};
use segue_core::failover::{Limits, Midstream, StreamMode};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(super) const MILLISECOND: Duration = Duration::from_millis(1);
pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const HOUR: Duration = Duration::from_secs(3600);
pub(super) const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Where settings come from.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The file; `None` when there is none.
    pub file: Option<PathBuf>,
    /// The process's environment, or a part of it.
    pub environment: Vec<(String, String)>,
    /// `--listen`.
    pub listen: Option<String>,
    /// `--data`.
    pub data_dir: Option<PathBuf>,
}

/// A configuration and what was noticed while reading it.
#[derive(Debug)]
pub struct Loaded {
    /// What to go by.
    pub config: Config,
    /// What is allowed but probably not meant.
    pub warnings: Vec<Problem>,
    /// The keys that are known, by section; for the test of the documentation.
    pub known: BTreeMap<String, Vec<&'static str>>,
}

impl Layers {
    /// Reads everything, the files that hold secrets included.
    pub fn load(self) -> Result<Loaded, Problems> {
        let text = match &self.file {
            None => String::new(),
            Some(path) => read_file(path).map_err(|error| {
                let what = format!("{}: cannot be read: {}", path.display(), reason(&error));
                Problems(vec![Problem {
                    place: None,
                    what,
                    hint: None,
                }])
            })?,
        };
        self.load_text(&text, &read_file)
    }

    /// As [`Layers::load`], with the file's text and a way to read the files that it names.
    pub fn load_text(
        self,
        text: &str,
        read_file: &dyn Fn(&Path) -> io::Result<String>,
    ) -> Result<Loaded, Problems> {
        let path = Arc::new(
            self.file
                .unwrap_or_else(|| PathBuf::from(super::DEFAULT_FILE)),
        );
        let mut table = tree::parse(text, &path).map_err(|problem| Problems(vec![problem]))?;
        let loose = tree::overlay(&mut table, self.environment);
        flags(&mut table, self.listen, self.data_dir);

        let findings = Findings::default();
        for problem in loose {
            findings.problem(problem.place, problem.what, problem.hint);
        }
        let base = path.parent().unwrap_or(Path::new(""));
        let config = whole(Section::root(table, &findings, base, read_file), &findings);
        let (problems, warnings, known) = findings.take();
        match problems.is_empty() {
            true => Ok(Loaded {
                config,
                warnings,
                known,
            }),
            false => Err(Problems(problems)),
        }
    }
}

fn read_file(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path)
}

fn flags(table: &mut Table, listen: Option<String>, data_dir: Option<PathBuf>) {
    let data_dir = data_dir.map(|path| path.to_string_lossy().into_owned());
    for (key, flag, value) in [
        ("listen", "--listen", listen),
        ("data_dir", "--data", data_dir),
    ] {
        let Some(value) = value else { continue };
        let server = table.entry("server".to_owned()).or_insert_with(|| Spot {
            node: Node::Table(Table::new()),
            place: Place::Flag(flag),
        });
        if let Node::Table(server) = &mut server.node {
            let spot = Spot {
                node: Node::Loose(value),
                place: Place::Flag(flag),
            };
            server.insert(key.to_owned(), spot);
        }
    }
}

fn whole(mut root: Section<'_>, findings: &Findings) -> Config {
    let config = Config {
        server: server(root.table("server")),
        sources: sources::read(root.tables("sources"), findings),
        sync: sync(root.table("sync")),
        stream: stream(root.table("stream")),
        providers: providers::read(root.table("providers")),
        lyrics: providers::lyrics(root.table("lyrics")),
        queue: providers::queue(root.table("queue")),
        federation: federation::read(root.table("federation")),
    };
    root.finish();
    config
}

fn server(mut section: Section<'_>) -> Server {
    let default = Server::default();
    let listen_is_set = section.has("listen");
    let server = Server {
        listen: section.parsed("listen", default.listen, listen),
        listen_is_set,
        data_dir: section
            .path("data_dir")
            .map_or(default.data_dir, |(path, _)| path),
        public_url: section.parsed("public_url", None, |text| match text {
            "" => Ok(None),
            text => http_url(text).map(Some),
        }),
        trusted_proxies: section
            .texts("trusted_proxies")
            .unwrap_or_default()
            .into_iter()
            .filter_map(|(text, place)| {
                let range = Addresses::parse(&text);
                if range.is_none() {
                    let hint =
                        Some("write addresses such as \"10.0.0.2\" or \"10.0.0.0/8\"".to_owned());
                    section.wrong(
                        Some(place),
                        "trusted_proxies",
                        &format!("holds \"{text}\""),
                        hint,
                    );
                }
                range
            })
            .collect(),
    };
    section.finish();
    server
}

/// A reason and a hint.
pub(super) type Refusal = (String, Option<String>);

fn listen(text: &str) -> Result<SocketAddr, Refusal> {
    let hint = match (
        text.strip_prefix(':'),
        text.strip_prefix("localhost:"),
        text.parse::<u16>(),
    ) {
        (Some(port), ..) => format!(
            "for all interfaces write \"0.0.0.0:{port}\", for this machine \"127.0.0.1:{port}\""
        ),
        (_, Some(port), _) => format!("write \"127.0.0.1:{port}\""),
        (.., Ok(port)) => format!("write \"127.0.0.1:{port}\""),
        (None, None, Err(_)) => {
            "write an address and a port, such as \"127.0.0.1:4747\" or \"[::1]:4747\"".to_owned()
        }
    };
    let wrong = |_| {
        (
            format!("is not an address to listen on: \"{text}\""),
            Some(hint),
        )
    };
    text.parse().map_err(wrong)
}

/// A URL of the web, without user and password.
pub(super) fn http_url(text: &str) -> Result<url::Url, Refusal> {
    let example = Some("write it as in \"http://127.0.0.1:4533\"".to_owned());
    let Ok(url) = url::Url::parse(text) else {
        return Err(("is not a URL".to_owned(), example));
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(("must begin with http:// or https://".to_owned(), example));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let hint = "write them as `username` and `password`".to_owned();
        return Err(("must not hold a user or a password".to_owned(), Some(hint)));
    }
    match url.query().is_some() || url.fragment().is_some() {
        true => Err(("must not hold `?` or `#`".to_owned(), example)),
        false => Ok(url),
    }
}

fn sync(mut section: Section<'_>) -> Sync {
    let default = Sync::default();
    let sync = Sync {
        interval: section.duration("interval", default.interval, Duration::ZERO..=YEAR),
        concurrency: section.number("concurrency", default.concurrency as u64, 1..=32) as usize,
    };
    section.finish();
    sync
}

fn stream(mut section: Section<'_>) -> Limits {
    let default = Limits::default();
    let modes = [
        ("ordered", StreamMode::Ordered),
        ("hedged", StreamMode::Hedged),
        ("parallel", StreamMode::Parallel),
    ];
    let midstreams = [("abort", Midstream::Abort), ("resume", Midstream::Resume)];
    let budget = MILLISECOND..=HOUR;
    let open_budget_place = section
        .place_of("open_budget")
        .or(section.place_of("connect_timeout"));
    let limits = Limits {
        mode: section.word("mode", default.mode, &modes),
        connect: section.duration("connect_timeout", default.connect, budget.clone()),
        head: section.duration("head_timeout", default.head, budget.clone()),
        first_byte: section.duration("first_byte_timeout", default.first_byte, budget.clone()),
        open_budget: section.duration("open_budget", default.open_budget, budget.clone()),
        idle: section.duration("idle_timeout", default.idle, SECOND..=HOUR),
        stagger: section.duration("stagger", default.stagger, Duration::ZERO..=HOUR),
        suspect: Duration::from_secs(section.number(
            "suspect_seconds",
            default.suspect.as_secs(),
            1..=86_400,
        )),
        midstream: section.word("midstream", default.midstream, &midstreams),
    };
    if limits.open_budget < limits.connect {
        let hint = Some("make it at least as long".to_owned());
        section.wrong(
            open_budget_place,
            "open_budget",
            "is shorter than connect_timeout, so a slow source would end every request",
            hint,
        );
    }
    section.finish();
    limits
}

/// Whether `name` may name a source or a provider.
pub(super) fn is_id(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// A hint for a name that is none of `known`.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    did_you_mean(name, known)
}
