//! One table of the configuration while it is read: what is asked for is what is known, the rest is an error.

use super::problem::{Place, Problem, did_you_mean};
use super::tree::{Node, Spot, Table};
use segue_core::source::subsonic::Secret;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What reading came upon.
#[derive(Default)]
pub(super) struct Findings {
    problems: RefCell<Vec<Problem>>,
    warnings: RefCell<Vec<Problem>>,
    known: RefCell<BTreeMap<String, Vec<&'static str>>>,
}

impl Findings {
    pub(super) fn problem(
        &self,
        place: Option<Place>,
        what: impl Into<String>,
        hint: Option<String>,
    ) {
        let what = what.into();
        self.problems
            .borrow_mut()
            .push(Problem { place, what, hint });
    }

    pub(super) fn warning(
        &self,
        place: Option<Place>,
        what: impl Into<String>,
        hint: Option<String>,
    ) {
        let what = what.into();
        self.warnings
            .borrow_mut()
            .push(Problem { place, what, hint });
    }

    pub(super) fn take(
        self,
    ) -> (
        Vec<Problem>,
        Vec<Problem>,
        BTreeMap<String, Vec<&'static str>>,
    ) {
        (
            self.problems.into_inner(),
            self.warnings.into_inner(),
            self.known.into_inner(),
        )
    }
}

/// Reads a small file.
pub(super) type ReadFile<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

/// A table being read.
pub(super) struct Section<'a> {
    /// As in the file: `stream`, `providers.lrclib`, `sources`.
    name: String,
    /// For a table that is one of several: which.
    of: Option<String>,
    /// Where it begins.
    pub(super) place: Option<Place>,
    entries: Table,
    asked: RefCell<Vec<&'static str>>,
    findings: &'a Findings,
    /// Relative paths of the file are relative to this.
    base: &'a Path,
    read_file: ReadFile<'a>,
}

impl<'a> Section<'a> {
    pub(super) fn root(
        entries: Table,
        findings: &'a Findings,
        base: &'a Path,
        read_file: ReadFile<'a>,
    ) -> Self {
        Section {
            name: String::new(),
            of: None,
            place: None,
            entries,
            asked: RefCell::default(),
            findings,
            base,
            read_file,
        }
    }

    /// Says which of several tables of the same name this is.
    pub(super) fn called(&mut self, of: &str) {
        self.of = Some(of.to_owned());
    }

    fn key(&self, key: &str) -> String {
        match (&self.of, self.name.as_str()) {
            (Some(of), _) => format!("{of}: {key}"),
            (None, "") => key.to_owned(),
            (None, name) => format!("{name}.{key}"),
        }
    }

    fn take(&mut self, key: &'static str) -> Option<Spot> {
        self.asked.borrow_mut().push(key);
        self.entries.remove(key)
    }

    /// Knows `key` without reading it.
    pub(super) fn skip(&mut self, key: &'static str) {
        self.take(key);
    }

    /// Where `key` is written, while it has not been read.
    pub(super) fn place_of(&self, key: &str) -> Option<Place> {
        self.entries.get(key).map(|spot| spot.place.clone())
    }

    /// Whether `key` is written, while it has not been read.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Reports `what` about `key` at `place`.
    pub(super) fn wrong(&self, place: Option<Place>, key: &str, what: &str, hint: Option<String>) {
        self.findings
            .problem(place, format!("{} {what}", self.key(key)), hint);
    }

    /// Warns of `what` about `key` at `place`.
    pub(super) fn warn(&self, place: Option<Place>, key: &str, what: &str) {
        self.findings
            .warning(place, format!("{} {what}", self.key(key)), None);
    }

    /// Reports something about the table as a whole.
    pub(super) fn lacking(&self, what: &str, hint: &str) {
        let of = self.of.as_deref().unwrap_or(&self.name);
        self.findings.problem(
            self.place.clone(),
            format!("{of} {what}"),
            Some(hint.to_owned()),
        );
    }

    /// An inner table; empty when it is not written.
    pub(super) fn table(&mut self, key: &'static str) -> Section<'a> {
        let spot = self.take(key);
        let (entries, place) = match spot {
            Some(Spot {
                node: Node::Table(entries),
                place,
            }) => (entries, Some(place)),
            Some(Spot { node, place }) => {
                let what = format!("must be a table, not {}", node.kind());
                self.wrong(
                    Some(place),
                    key,
                    &what,
                    Some(format!(
                        "write `[{}]` on a line of its own",
                        self.inner(key)
                    )),
                );
                (Table::new(), None)
            }
            None => (Table::new(), None),
        };
        self.section(key, entries, place)
    }

    /// The tables of a list of tables.
    pub(super) fn tables(&mut self, key: &'static str) -> Vec<Section<'a>> {
        let hint = Some(format!("write `[[{}]]` for each", self.inner(key)));
        let items = match self.take(key) {
            None => Vec::new(),
            Some(Spot {
                node: Node::List(items),
                ..
            }) => items,
            Some(Spot { node, place }) => {
                let what = format!("must be a list of tables, not {}", node.kind());
                self.wrong(Some(place), key, &what, hint.clone());
                Vec::new()
            }
        };
        let sections = items.into_iter().filter_map(|item| match item {
            Spot {
                node: Node::Table(entries),
                place,
            } => Some(self.section(key, entries, Some(place))),
            Spot { node, place } => {
                let what = format!("must be a list of tables, but holds {}", node.kind());
                self.wrong(Some(place), key, &what, hint.clone());
                None
            }
        });
        sections.collect()
    }

    fn inner(&self, key: &str) -> String {
        match self.name.as_str() {
            "" => key.to_owned(),
            name => format!("{name}.{key}"),
        }
    }

    fn section(&self, key: &str, entries: Table, place: Option<Place>) -> Section<'a> {
        Section {
            name: self.inner(key),
            of: None,
            place,
            entries,
            asked: RefCell::default(),
            findings: self.findings,
            base: self.base,
            read_file: self.read_file,
        }
    }

    /// A text, or `None` when it is not written or no text.
    pub(super) fn text(&mut self, key: &'static str) -> Option<(String, Place)> {
        let spot = self.take(key)?;
        match spot.node {
            Node::Text(text) | Node::Loose(text) => Some((text, spot.place)),
            node => {
                let hint = matches!(node, Node::Integer(_) | Node::Float(_) | Node::Bool(_));
                let hint = hint.then(|| "put it in quotes".to_owned());
                self.wrong(
                    Some(spot.place),
                    key,
                    &format!("must be a text, not {}", node.kind()),
                    hint,
                );
                None
            }
        }
    }

    /// A text that `read` understands; what it does not is reported with its reason and hint.
    pub(super) fn parsed<T>(
        &mut self,
        key: &'static str,
        default: T,
        read: impl FnOnce(&str) -> Result<T, (String, Option<String>)>,
    ) -> T {
        let Some((text, place)) = self.text(key) else {
            return default;
        };
        match read(&text) {
            Ok(value) => value,
            Err((what, hint)) => {
                self.wrong(Some(place), key, &what, hint);
                default
            }
        }
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        default: T,
        words: &[(&'static str, T)],
    ) -> T {
        self.parsed(key, default, |text| {
            let found = words.iter().find(|(word, _)| *word == text);
            found.map(|(_, value)| *value).ok_or_else(|| {
                let all: Vec<String> = words
                    .iter()
                    .map(|(word, _)| format!("\"{word}\""))
                    .collect();
                let hint = did_you_mean(text, words.iter().map(|(word, _)| *word));
                (format!("must be {}, not \"{text}\"", or(&all)), hint)
            })
        })
    }

    /// True or false.
    pub(super) fn flag(&mut self, key: &'static str, default: bool) -> bool {
        let Some(spot) = self.take(key) else {
            return default;
        };
        match &spot.node {
            Node::Bool(value) => *value,
            Node::Loose(text) if text == "true" => true,
            Node::Loose(text) if text == "false" => false,
            node => {
                let what = format!("must be true or false, not {}", node.kind());
                self.wrong(Some(spot.place), key, &what, None);
                default
            }
        }
    }

    /// A whole number within bounds.
    pub(super) fn number(
        &mut self,
        key: &'static str,
        default: u64,
        bounds: std::ops::RangeInclusive<u64>,
    ) -> u64 {
        let Some(spot) = self.take(key) else {
            return default;
        };
        let number = match &spot.node {
            Node::Integer(number) => u64::try_from(*number).ok(),
            Node::Loose(text) => text.parse().ok(),
            _ => None,
        };
        match number.filter(|number| bounds.contains(number)) {
            Some(number) => number,
            None => {
                let what = format!(
                    "must be a whole number from {} to {}",
                    bounds.start(),
                    bounds.end()
                );
                self.wrong(Some(spot.place), key, &what, None);
                default
            }
        }
    }

    /// A fraction from 0 to 1.
    pub(super) fn fraction(&mut self, key: &'static str, default: f64) -> f64 {
        let Some(spot) = self.take(key) else {
            return default;
        };
        let number = match &spot.node {
            Node::Float(number) => Some(*number),
            Node::Integer(number) => Some(*number as f64),
            Node::Loose(text) => text.parse().ok(),
            _ => None,
        };
        match number.filter(|number| (0.0..=1.0).contains(number)) {
            Some(number) => number,
            None => {
                self.wrong(Some(spot.place), key, "must be a number from 0 to 1", None);
                default
            }
        }
    }

    /// A duration within bounds, written with its unit.
    pub(super) fn duration(
        &mut self,
        key: &'static str,
        default: Duration,
        bounds: std::ops::RangeInclusive<Duration>,
    ) -> Duration {
        let example =
            Some("write a number with its unit, such as \"250ms\", \"2s\" or \"15m\"".to_owned());
        let Some(spot) = self.take(key) else {
            return default;
        };
        let text = match &spot.node {
            Node::Text(text) | Node::Loose(text) => text.as_str(),
            node => {
                let what = format!("must be a duration, not {}", node.kind());
                self.wrong(Some(spot.place), key, &what, example);
                return default;
            }
        };
        match humantime::parse_duration(text) {
            Ok(duration) if bounds.contains(&duration) => duration,
            Ok(_) => {
                let (least, most) = (bounds.start(), bounds.end());
                let (least, most) = (
                    humantime::format_duration(*least),
                    humantime::format_duration(*most),
                );
                self.wrong(
                    Some(spot.place),
                    key,
                    &format!("must be from {least} to {most}"),
                    None,
                );
                default
            }
            Err(_) => {
                self.wrong(
                    Some(spot.place),
                    key,
                    &format!("is not a duration: \"{text}\""),
                    example,
                );
                default
            }
        }
    }

    /// A list of texts; from the environment, separated by commas.
    pub(super) fn texts(&mut self, key: &'static str) -> Option<Vec<(String, Place)>> {
        let Spot { node, place } = self.take(key)?;
        let items = match node {
            Node::List(items) => items,
            Node::Loose(text) => {
                let items = text
                    .split(',')
                    .map(str::trim)
                    .filter(|item| !item.is_empty());
                return Some(items.map(|item| (item.to_owned(), place.clone())).collect());
            }
            node => {
                self.wrong(
                    Some(place),
                    key,
                    &format!("must be a list of texts, not {}", node.kind()),
                    None,
                );
                return None;
            }
        };
        let texts = items.into_iter().filter_map(|item| match item.node {
            Node::Text(text) => Some((text, item.place)),
            node => {
                let what = format!("must be a list of texts, but holds {}", node.kind());
                self.wrong(Some(item.place), key, &what, None);
                None
            }
        });
        Some(texts.collect())
    }

    /// A table of texts.
    pub(super) fn pairs(&mut self, key: &'static str) -> BTreeMap<String, String> {
        let inner = self.table(key);
        let (name, entries) = (inner.name, inner.entries);
        let pairs = entries
            .into_iter()
            .filter_map(|(key, spot)| match spot.node {
                Node::Text(text) | Node::Loose(text) => Some((key, text)),
                node => {
                    let what = format!("{name}.{key} must be a text, not {}", node.kind());
                    self.findings.problem(Some(spot.place), what, None);
                    None
                }
            });
        pairs.collect()
    }

    /// A path; relative ones of the file are relative to its folder, others to the current one. Empty is `None`.
    pub(super) fn path(&mut self, key: &'static str) -> Option<(PathBuf, Place)> {
        let (text, place) = self.text(key)?;
        if text.is_empty() {
            return None;
        }
        let path = match place {
            Place::File { .. } => self.base.join(text),
            Place::Environment(_) | Place::Flag(_) => PathBuf::from(text),
        };
        Some((path, place))
    }

    /// A path of the file, which is relative to its folder, as text.
    pub(super) fn beside(&self, path: &str) -> String {
        self.base.join(path).to_string_lossy().into_owned()
    }

    /// A secret: `key` itself or the content of the file that `file_key` names, without its last line ending.
    pub(super) fn secret(&mut self, key: &'static str, file_key: &'static str) -> Option<Secret> {
        let beside = self.place_of(key).zip(self.place_of(file_key));
        let secret = self.text(key).map(|(text, _)| Secret::new(text));
        let file = self.path(file_key);
        if let Some((_, place)) = beside {
            let what = format!("and {file_key} are both set");
            self.wrong(Some(place), key, &what, Some("keep one of them".to_owned()));
            return secret;
        }
        let Some((path, place)) = file else {
            return secret.filter(|secret| !secret.is_empty());
        };
        match (self.read_file)(&path) {
            Ok(text) => {
                let text = text.strip_suffix('\n').unwrap_or(&text);
                let text = text.strip_suffix('\r').unwrap_or(text);
                if text.is_empty() {
                    self.wrong(
                        Some(place),
                        file_key,
                        &format!("names an empty file: {}", path.display()),
                        None,
                    );
                }
                Some(Secret::new(text)).filter(|secret| !secret.is_empty())
            }
            Err(error) => {
                let what = format!("cannot be read: {}: {}", path.display(), reason(&error));
                self.wrong(Some(place), file_key, &what, None);
                // Something stands in for it, so that "no password" is not reported as well.
                Some(Secret::new("unreadable"))
            }
        }
    }

    /// Reports what nobody asked for.
    pub(super) fn finish(self) {
        let asked = self.asked.take();
        for (key, spot) in &self.entries {
            let within = match self.name.as_str() {
                "" => format!("unknown section `{key}`"),
                "sources" => format!("unknown key `{key}` in [[sources]]"),
                name => format!("unknown key `{key}` in [{name}]"),
            };
            let hint =
                did_you_mean(key, asked.iter().copied()).unwrap_or_else(|| known_are(&asked));
            self.findings
                .problem(Some(spot.place.clone()), within, Some(hint));
        }
        let mut known = self.findings.known.borrow_mut();
        let known = known.entry(self.name).or_default();
        known.extend(asked);
        known.sort_unstable();
        known.dedup();
    }
}

fn known_are(keys: &[&str]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    format!("known are {}", keys.join(", "))
}

/// An operating system's reason without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::InvalidData => "not UTF-8 text".to_owned(),
        _ => error.to_string(),
    }
}

fn or(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
