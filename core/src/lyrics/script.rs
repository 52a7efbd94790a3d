//! The script guard: whether words are in letters that the listener wants.
//!
//! Letters count by Unicode's Script property, so accented Latin is Latin. Credits and labels of sections are left out first.

use super::intake;
use super::model::{Lyrics, Song};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use thiserror::Error;
use unicode_script::{Script, UnicodeScript};

/// Foreign letters that are let pass unless told otherwise: a fifth.
pub const DEFAULT_THRESHOLD: f64 = 0.20;

/// A script as people name it. Hiragana and Katakana are one: Kana.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group(&'static str);

impl Group {
    /// The group of a letter; `None` for what is no letter or belongs to every script.
    fn of(c: char) -> Option<Group> {
        if !c.is_alphabetic() {
            return None;
        }
        if c.is_ascii() {
            return Some(Group("latin"));
        }
        match c.script() {
            Script::Common | Script::Inherited | Script::Unknown => None,
            Script::Hiragana | Script::Katakana => Some(Group("kana")),
            script => Some(Group::named(script)),
        }
    }

    /// Whether it is Latin, which everything can be rewritten in.
    pub(super) fn is_latin(self) -> bool {
        self == Group("latin")
    }

    fn named(script: Script) -> Group {
        let known = GROUPS.iter().find(|(_, other)| *other == script);
        Group(known.map_or(script.full_name(), |(name, _)| name))
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The scripts in use today under the names that settings use. All others go by their name in Unicode.
const GROUPS: [(&str, Script); 30] = [
    ("latin", Script::Latin),
    ("cyrillic", Script::Cyrillic),
    ("greek", Script::Greek),
    ("han", Script::Han),
    ("kana", Script::Hiragana),
    ("bopomofo", Script::Bopomofo),
    ("hangul", Script::Hangul),
    ("arabic", Script::Arabic),
    ("hebrew", Script::Hebrew),
    ("thai", Script::Thai),
    ("lao", Script::Lao),
    ("khmer", Script::Khmer),
    ("myanmar", Script::Myanmar),
    ("tibetan", Script::Tibetan),
    ("mongolian", Script::Mongolian),
    ("devanagari", Script::Devanagari),
    ("bengali", Script::Bengali),
    ("gurmukhi", Script::Gurmukhi),
    ("gujarati", Script::Gujarati),
    ("oriya", Script::Oriya),
    ("tamil", Script::Tamil),
    ("telugu", Script::Telugu),
    ("kannada", Script::Kannada),
    ("malayalam", Script::Malayalam),
    ("sinhala", Script::Sinhala),
    ("armenian", Script::Armenian),
    ("georgian", Script::Georgian),
    ("ethiopic", Script::Ethiopic),
    ("cherokee", Script::Cherokee),
    ("thaana", Script::Thaana),
];

/// Languages that stand for the scripts they are written in; the Latin of a hook belongs to all of them.
const LANGUAGES: [(&str, &[&str]); 35] = [
    ("ja", &["han", "kana", "latin"]),
    ("ko", &["hangul", "han", "latin"]),
    ("zh", &["han", "bopomofo", "latin"]),
    ("ru", &["cyrillic", "latin"]),
    ("uk", &["cyrillic", "latin"]),
    ("be", &["cyrillic", "latin"]),
    ("bg", &["cyrillic", "latin"]),
    ("mk", &["cyrillic", "latin"]),
    ("sr", &["cyrillic", "latin"]),
    ("el", &["greek", "latin"]),
    ("ar", &["arabic", "latin"]),
    ("fa", &["arabic", "latin"]),
    ("ur", &["arabic", "latin"]),
    ("he", &["hebrew", "latin"]),
    ("th", &["thai", "latin"]),
    ("hi", &["devanagari", "latin"]),
    ("bn", &["bengali", "latin"]),
    ("ta", &["tamil", "latin"]),
    ("te", &["telugu", "latin"]),
    ("hy", &["armenian", "latin"]),
    ("ka", &["georgian", "latin"]),
    ("en", &["latin"]),
    ("de", &["latin"]),
    ("fr", &["latin"]),
    ("es", &["latin"]),
    ("pt", &["latin"]),
    ("it", &["latin"]),
    ("nl", &["latin"]),
    ("pl", &["latin"]),
    ("cs", &["latin"]),
    ("sv", &["latin"]),
    ("fi", &["latin"]),
    ("tr", &["latin"]),
    ("vi", &["latin"]),
    ("id", &["latin"]),
];

/// A name in the settings that is no script.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown script \"{name}\"; did you mean \"{nearest}\"?")]
pub struct UnknownScript {
    /// As it was given.
    pub name: String,
    /// The name that is most like it.
    pub nearest: String,
}

/// Words are mostly in letters that are not wanted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("{share_percent} % of the letters are not in an accepted script, most of them {group}")]
pub struct Foreign {
    /// The script that most of the unwanted letters are in.
    pub group: Group,
    /// Share of all unwanted letters, in percent, rounded down.
    pub share_percent: u32,
}

/// The allow-list and how much besides it is let pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptGuard {
    /// Empty: everything passes.
    accepted: BTreeSet<Group>,
    threshold_permille: u64,
}

impl ScriptGuard {
    /// A guard that accepts the named scripts or languages, and of all others a share (0 to 1) of the letters. An empty list
    /// turns it off.
    pub fn new(names: &[String], threshold: f64) -> Result<Self, UnknownScript> {
        let mut accepted = BTreeSet::new();
        for name in names {
            accepted.extend(groups_of(name)?);
        }
        Ok(ScriptGuard {
            accepted,
            // `as` saturates, and not-a-number is nought: the strictest.
            threshold_permille: (threshold.clamp(0.0, 1.0) * 1000.0).round() as u64,
        })
    }

    /// Whether there is anything to judge.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.accepted.is_empty()
    }

    /// Refuses words of which more than the threshold is in other scripts. No letters, no refusal.
    pub fn judge(&self, lyrics: &Lyrics) -> Result<(), Foreign> {
        if self.is_off() {
            return Ok(());
        }
        let letters = letters(intake::sung(lyrics));
        let all: u64 = letters.values().sum();
        let foreign = letters
            .iter()
            .filter(|(group, _)| !self.accepted.contains(group));
        let unwanted: u64 = foreign.clone().map(|(_, count)| count).sum();
        match foreign.max_by_key(|(_, count)| **count) {
            Some((group, _)) if unwanted * 1000 > all * self.threshold_permille => Err(Foreign {
                group: *group,
                share_percent: u32::try_from(unwanted * 100 / all).unwrap_or(100),
            }),
            Some(_) | None => Ok(()),
        }
    }
}

/// How many letters of each group.
pub(super) fn letters<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeMap<Group, u64> {
    let mut letters = BTreeMap::new();
    for group in lines.flat_map(str::chars).filter_map(Group::of) {
        *letters.entry(group).or_insert(0) += 1;
    }
    letters
}

/// The script that shows which language a line is in: Kana and Hangul wherever they are, else that of most letters.
pub(super) fn tongue(line: &str) -> Option<Group> {
    let letters = letters([line].into_iter());
    let telling = [Group("kana"), Group("hangul")];
    let tells = telling
        .into_iter()
        .find(|group| letters.contains_key(group));
    tells.or_else(|| {
        letters
            .into_iter()
            .max_by_key(|(_, count)| *count)
            .map(|(group, _)| group)
    })
}

/// Whether no letter of one text is in a script of the other: spelling cannot compare them.
pub(super) fn share_no_script(a: &str, b: &str) -> bool {
    let (a, b) = (letters([a].into_iter()), letters([b].into_iter()));
    !a.is_empty() && !b.is_empty() && a.keys().all(|group| !b.contains_key(group))
}

/// The share of letters outside Latin, in percent.
fn native_percent<'a>(lines: impl Iterator<Item = &'a str>) -> Option<u64> {
    let letters = letters(lines);
    let all: u64 = letters.values().sum();
    let latin = letters.get(&Group("latin")).copied().unwrap_or(0);
    (all > 0).then(|| (all - latin) * 100 / all)
}

/// Whether words are a romanisation or a translation of what the song's own names are written in: the names are in another
/// script than Latin, the words are not (M23).
#[must_use]
pub fn is_romanised(song: &Song, lyrics: &Lyrics) -> bool {
    let names = native_percent([song.title.as_str()].into_iter());
    names.is_some_and(|percent| percent >= 20) && is_latin(lyrics)
}

/// Whether words are, but for a word or two, in Latin letters.
pub(super) fn is_latin(lyrics: &Lyrics) -> bool {
    native_percent(intake::sung(lyrics)).is_some_and(|percent| percent < 5)
}

/// Whether a fifth of the words or more is in another script than Latin.
pub(super) fn is_native(lyrics: &Lyrics) -> bool {
    native_percent(intake::sung(lyrics)).is_some_and(|percent| percent >= 20)
}

fn groups_of(name: &str) -> Result<Vec<Group>, UnknownScript> {
    let wanted = name.trim().to_lowercase();
    if let Some((_, scripts)) = LANGUAGES.iter().find(|(code, _)| *code == wanted) {
        return Ok(scripts.iter().copied().map(Group).collect());
    }
    if let Some((group, _)) = GROUPS.iter().find(|(group, _)| *group == wanted) {
        return Ok(vec![Group(group)]);
    }
    // Unicode writes `Tai_Le` and `Latn`.
    let mut is_first = true;
    let capital: String = wanted
        .chars()
        .map(
            |c| match std::mem::replace(&mut is_first, matches!(c, '_' | ' ' | '-')) {
                true => c.to_ascii_uppercase(),
                false if matches!(c, ' ' | '-') => '_',
                false => c,
            },
        )
        .collect();
    let script = Script::from_full_name(&capital).or_else(|| Script::from_short_name(&capital));
    match script {
        Some(Script::Hiragana | Script::Katakana) => Ok(vec![Group("kana")]),
        Some(Script::Common | Script::Inherited | Script::Unknown) | None => Err(UnknownScript {
            name: name.to_owned(),
            nearest: nearest(&wanted).to_owned(),
        }),
        Some(script) => Ok(vec![Group::named(script)]),
    }
}

fn nearest(wanted: &str) -> &'static str {
    let names = GROUPS
        .iter()
        .map(|(name, _)| *name)
        .chain(LANGUAGES.iter().map(|(code, _)| *code));
    let nearest = names.min_by_key(|name| strsim::osa_distance(wanted, name));
    nearest.unwrap_or("latin")
}
