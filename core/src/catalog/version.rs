//! What a title says besides its name: `Song (Live at Wembley)`, `Song - 2009 Remaster`, `Album [Deluxe Edition]`.
//!
//! Copies of different versions are never one recording (product.md section 5), so what is split off here is compared, not thrown away.

use super::normalise::fold;
use std::collections::BTreeSet;

/// A kind of version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Before an audience.
    Live,
    /// Remastered.
    Remaster,
    /// Remixed, or one mix of several.
    Remix,
    /// Acoustic or unplugged.
    Acoustic,
    /// In mono.
    Mono,
    /// In stereo, where somebody found it worth saying.
    Stereo,
    /// Without the singing.
    Instrumental,
    /// To sing to.
    Karaoke,
    /// The singing alone.
    Acapella,
    /// Shortened.
    Edit,
    /// Lengthened.
    Extended,
    /// A draft.
    Demo,
    /// Another take.
    Alternate,
    /// From a radio or studio session, or a rehearsal.
    Session,
    /// Recorded anew.
    Rerecorded,
    /// Played faster or slower.
    Tempo,
    /// Without the swear words.
    Clean,
    /// With the swear words.
    Explicit,
    /// A packaging of an album (deluxe, anniversary): says nothing about the sound.
    Edition,
}

/// A title, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Title {
    /// The folded title without its version and its guests.
    pub base: String,
    /// What kind of version it is.
    pub versions: BTreeSet<Version>,
    /// The other words of the version, folded: `wembley`, `2009`, somebody's name.
    pub qualifier: String,
}

/// The folded title without version and guests, and the version. See [`split_title`] for the words in between.
pub fn split_version(title: &str) -> (String, BTreeSet<Version>) {
    let title = split_title(title);
    (title.base, title.versions)
}

/// Takes a title apart. A version is looked for in brackets and after spaced dashes behind the name; guests (`feat. ...`) are left out.
pub fn split_title(title: &str) -> Title {
    let mut split = Split::default();
    if title.contains(OPENING) {
        split.brackets(title);
    } else {
        split.outer(title);
    }
    split.finish(title)
}

const OPENING: [char; 6] = ['(', '[', '{', '（', '［', '【'];
const CLOSING: [char; 6] = [')', ']', '}', '）', '］', '】'];
const DASHES: [&str; 3] = [" - ", " – ", " — "];

#[derive(Default)]
struct Split {
    name: String,
    versions: BTreeSet<Version>,
    qualifier: Vec<String>,
}

impl Split {
    /// Text and bracketed groups in turn; a bracket that is never closed reaches to the end.
    fn brackets(&mut self, title: &str) {
        let mut rest = title;
        while let Some(open) = rest.find(OPENING) {
            let (before, group) = rest.split_at(open);
            self.outer(before);
            let end = matching_end(group);
            self.group(group[..end].trim_matches(|c| OPENING.contains(&c) || CLOSING.contains(&c)));
            rest = &group[end..];
        }
        self.outer(rest);
    }

    fn group(&mut self, text: &str) {
        let words = fold(text);
        let first = words.split(' ').next().unwrap_or_default();
        let named = !self.name.trim().is_empty();
        if named && matches!(first, "feat" | "ft" | "featuring") {
            return;
        }
        let marked = words.split(' ').any(|word| mark(word).is_some());
        if !named || !self.version(&words, marked) {
            self.keep(text);
        }
    }

    fn outer(&mut self, text: &str) {
        let mut rest = text;
        while let Some((at, dash)) = first_dash(rest) {
            self.part(&rest[..at]);
            rest = &rest[at + dash.len()..];
        }
        self.part(rest);
    }

    /// A piece between dashes: a version if it begins or ends with a word that says so, else part of the name.
    fn part(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if self.name.trim().is_empty() {
            self.keep(text);
            return;
        }
        let words = fold(text);
        let mut parts = words.split(' ');
        let marked = [parts.next(), parts.next_back()]
            .into_iter()
            .flatten()
            .any(|word| mark(word).is_some());
        if !self.version(&words, marked) {
            self.keep(text);
        }
    }

    fn keep(&mut self, text: &str) {
        self.name.push(' ');
        self.name.push_str(text);
    }

    fn version(&mut self, words: &str, marked: bool) -> bool {
        if marked {
            for word in words.split(' ') {
                match mark(word) {
                    Some(Mark::Version(version)) => {
                        self.versions.insert(version);
                    }
                    Some(Mark::Neutral) => {}
                    None if is_filler(word) => {}
                    None => self.qualifier.push(word.to_owned()),
                }
            }
        }
        marked
    }

    fn finish(mut self, title: &str) -> Title {
        let mut base = fold(&self.name);
        if base.is_empty() {
            return Title {
                base: fold(title),
                ..Title::default()
            };
        }
        if let Some(at) = [" feat ", " featuring "]
            .iter()
            .filter_map(|guest| base.find(guest))
            .min()
        {
            base.truncate(at);
        }
        self.trailing_remaster(&mut base);
        Title {
            base,
            versions: self.versions,
            qualifier: self.qualifier.join(" "),
        }
    }

    /// `Help! 2009 Remaster`, without any bracket. No other word is that sure to be a version: `Long Live` is a name.
    fn trailing_remaster(&mut self, base: &mut String) {
        let Some((rest, "remaster" | "remastered")) = base.rsplit_once(' ') else {
            return;
        };
        let (rest, year) = match rest.rsplit_once(' ') {
            Some((name, year)) if year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()) => {
                (name, Some(year))
            }
            Some(_) | None => (rest, None),
        };
        self.versions.insert(Version::Remaster);
        self.qualifier.extend(year.map(str::to_owned));
        *base = rest.to_owned();
    }
}

/// The end of the group that `text` begins with, past its closing bracket.
fn matching_end(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        if OPENING.contains(&c) {
            depth += 1;
        } else if CLOSING.contains(&c) {
            depth -= 1;
            if depth == 0 {
                return at + c.len_utf8();
            }
        }
    }
    text.len()
}

fn first_dash(text: &str) -> Option<(usize, &'static str)> {
    DASHES
        .iter()
        .filter_map(|dash| Some((text.find(dash)?, *dash)))
        .min()
}

enum Mark {
    Version(Version),
    /// Says that this is a version, but not a different one: `Album Version`.
    Neutral,
}

/// What a folded word says about the version.
fn mark(word: &str) -> Option<Mark> {
    let version = match word {
        "live" | "concert" | "vivo" => Version::Live,
        "remaster" | "remastered" | "remastering" | "remasterizado" | "remasterise" => {
            Version::Remaster
        }
        "remix" | "remixed" | "rmx" | "mix" | "dub" | "bootleg" | "mashup" => Version::Remix,
        "acoustic" | "akustik" | "acustico" | "acustica" | "acoustique" | "unplugged" => {
            Version::Acoustic
        }
        "mono" => Version::Mono,
        "stereo" => Version::Stereo,
        "instrumental" | "instrumentals" => Version::Instrumental,
        "karaoke" => Version::Karaoke,
        "acapella" | "acappella" | "cappella" => Version::Acapella,
        "edit" | "edited" => Version::Edit,
        "extended" => Version::Extended,
        "demo" | "demos" => Version::Demo,
        "alternate" | "alternative" | "take" | "outtake" => Version::Alternate,
        "session" | "sessions" | "rehearsal" => Version::Session,
        "rerecorded" | "rerecording" => Version::Rerecorded,
        "slowed" | "sped" | "nightcore" => Version::Tempo,
        "clean" => Version::Clean,
        "explicit" => Version::Explicit,
        "deluxe" | "edition" | "expanded" | "anniversary" | "bonus" => Version::Edition,
        "version" => return Some(Mark::Neutral),
        _ => return None,
    };
    Some(Mark::Version(version))
}

/// Words of a version that say nothing by themselves.
fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "a"
            | "at"
            | "in"
            | "from"
            | "on"
            | "of"
            | "album"
            | "original"
            | "digital"
            | "digitally"
            | "track"
            | "tracks"
    )
}
