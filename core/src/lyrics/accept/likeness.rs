//! Whether two names are those of one song or one artist.

use crate::catalog::normalise::{fold, sort_key, split_title};
use crate::lyrics::model::Song;
use crate::lyrics::script::share_no_script;
use std::collections::BTreeSet;
use strsim::normalized_damerau_levenshtein;

/// From how much on two titles are one, in thousandths.
const TITLE: u32 = 850;

/// From how much on two artists are one, in thousandths. Lower: titles are what tells songs apart.
const ARTIST: u32 = 820;

/// How alike two names are.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::lyrics) enum Likeness {
    /// Thousandths, above the threshold.
    Alike(u32),
    /// The same but for a part in brackets that only one has.
    Partly,
    /// In other letters: spelling cannot tell.
    OtherScript,
    /// One is not given.
    Unsaid,
    /// Different.
    None,
}

impl Likeness {
    /// The share of `most` that it earns.
    pub(in crate::lyrics) fn points(self, most: u32) -> u32 {
        match self {
            Likeness::Alike(permille) => most * permille / 1000,
            Likeness::Partly => most * 7 / 10,
            Likeness::OtherScript | Likeness::Unsaid => most / 2,
            Likeness::None => 0,
        }
    }
}

/// The head of a name that is compared: comparing takes the square of its length, and a stranger chose it.
fn bounded(name: &str) -> &str {
    let end = name
        .char_indices()
        .nth(256)
        .map_or(name.len(), |(at, _)| at);
    &name[..end]
}

/// Compares titles without their versions and guests. A number in one and not in the other tells them apart: `Part 2`.
pub(in crate::lyrics) fn title(ours: &str, theirs: &str) -> Likeness {
    let (ours, theirs) = (bounded(ours), bounded(theirs));
    let (mine, other) = (split_title(ours).base, split_title(theirs).base);
    if mine.is_empty() || other.is_empty() {
        return Likeness::Unsaid;
    }
    if mine == other {
        return Likeness::Alike(1000);
    }
    let theirs_names = names(theirs);
    if names(ours).iter().any(|name| theirs_names.contains(name)) {
        return Likeness::Alike(950);
    }
    if share_no_script(&mine, &other) {
        return Likeness::OtherScript;
    }
    if numbers(&mine) != numbers(&other) {
        return Likeness::None;
    }
    let like = likeness(&mine, &other);
    if like >= TITLE {
        return Likeness::Alike(like);
    }
    match is_partly(ours, theirs) {
        true => Likeness::Partly,
        false => Likeness::None,
    }
}

/// Whether only one of them has a part in brackets or behind a dash, and the rest is equal.
fn is_partly(ours: &str, theirs: &str) -> bool {
    let before = |title: &str| {
        let ends = ["(", "[", "（", "【", " - ", " – ", " — "];
        let end = ends.iter().filter_map(|end| title.find(end)).min();
        fold(&title[..end.unwrap_or(title.len())])
    };
    let (mine, other) = (before(ours), before(theirs));
    let has_part = |title: &str, before: &str| split_title(title).base != before;
    !mine.is_empty() && mine == other && has_part(ours, &mine) != has_part(theirs, &other)
}

/// The names that a title holds: `夜に駆ける (Into The Night)` and `Lemon / 檸檬` hold two, if they are in different letters.
fn names(title: &str) -> Vec<String> {
    let parts = title.split([
        '(', ')', '[', ']', '（', '）', '【', '】', '「', '」', '/', '／', '~', '～',
    ]);
    let parts: Vec<&str> = parts
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    match parts[..] {
        [first, second] if share_no_script(first, second) => {
            vec![split_title(first).base, split_title(second).base]
        }
        _ => vec![split_title(title).base],
    }
}

/// Numbers, also in letters as far as they cannot be words.
fn numbers(folded: &str) -> BTreeSet<String> {
    let roman = |word: &str| {
        let numerals = ["ii", "iii", "iv", "vi", "vii", "viii", "ix", "xi", "xii"];
        let values = [2, 3, 4, 6, 7, 8, 9, 11, 12];
        let at = numerals.iter().position(|numeral| *numeral == word)?;
        Some(values[at].to_string())
    };
    let number = |word: &str| {
        let is_number = word.chars().any(char::is_numeric);
        roman(word).or_else(|| is_number.then(|| word.to_owned()))
    };
    folded.split(' ').filter_map(number).collect()
}

/// In thousandths; words in another order are the same words.
fn likeness(a: &str, b: &str) -> u32 {
    let sorted = |name: &str| {
        let mut words: Vec<&str> = name.split(' ').collect();
        words.sort_unstable();
        words.join(" ")
    };
    let direct = normalized_damerau_levenshtein(a, b);
    let by_words = normalized_damerau_levenshtein(&sorted(a), &sorted(b));
    // Between 0 and 1.
    (direct.max(by_words) * 1000.0) as u32
}

/// Compares artists: whole names first, then one of several. `AC/DC` is one name on both sides.
pub(in crate::lyrics) fn artist(song: &Song, theirs: &str) -> Likeness {
    let theirs = bounded(theirs);
    let mut ours: Vec<&str> = vec![bounded(&song.artist)];
    ours.extend(song.artists.iter().map(|name| bounded(name)));
    ours.retain(|name| !fold(name).is_empty());
    let other = fold(theirs);
    if ours.is_empty() || other.is_empty() || is_anybody(&other) || is_anybody(&fold(ours[0])) {
        return Likeness::Unsaid;
    }
    if ours.iter().any(|name| fold(name) == other) {
        return Likeness::Alike(1000);
    }
    let key = sort_key(theirs);
    if ours.iter().any(|name| sort_key(name) == key) {
        return Likeness::Alike(990);
    }
    let whole = ours
        .iter()
        .map(|name| likeness(&sort_key(name), &key))
        .max();
    let ours_split: Vec<String> = ours.iter().flat_map(|name| split(name)).collect();
    let theirs_split = split(theirs);
    // One of several counts when it is the first on either side.
    let is_one_of =
        |first: Option<&String>, of: &[String]| first.is_some_and(|first| of.contains(first));
    if is_one_of(ours_split.first(), &theirs_split) || is_one_of(theirs_split.first(), &ours_split)
    {
        return Likeness::Alike(930);
    }
    if let Some(whole) = whole.filter(|whole| *whole >= ARTIST) {
        return Likeness::Alike(whole);
    }
    match ours.iter().all(|name| share_no_script(name, theirs)) {
        true => Likeness::OtherScript,
        false => Likeness::None,
    }
}

fn is_anybody(folded: &str) -> bool {
    matches!(
        folded,
        "various artists"
            | "various"
            | "va"
            | "unknown artist"
            | "unknown"
            | "verschiedene interpreten"
            | "varios artistas"
    )
}

/// The keys of the single names in a credit, in order.
fn split(credit: &str) -> Vec<String> {
    if is_one_name(credit) {
        return vec![sort_key(credit)];
    }
    singles(credit)
        .into_iter()
        .map(sort_key)
        .filter(|key| !key.is_empty())
        .collect()
}

/// Names that hold what parts names elsewhere, folded. Only for asking: comparing tries the whole first anyway.
const WHOLE: [&str; 30] = [
    "ac dc",
    "earth wind and fire",
    "crosby stills and nash",
    "crosby stills nash and young",
    "emerson lake and palmer",
    "simon and garfunkel",
    "hall and oates",
    "florence and the machine",
    "mumford and sons",
    "iron and wine",
    "angus and julia stone",
    "belle and sebastian",
    "of monsters and men",
    "kool and the gang",
    "tyler the creator",
    "peter paul and mary",
    "blood sweat and tears",
    "ike and tina turner",
    "sonny and cher",
    "salt n pepa",
    "big and rich",
    "brooks and dunn",
    "zager and evans",
    "hootie and the blowfish",
    "echo and the bunnymen",
    "nick cave and the bad seeds",
    "tom petty and the heartbreakers",
    "bob marley and the wailers",
    "siouxsie and the banshees",
    "she and him",
];

/// Whether an artist is known to be one name though it looks like several.
pub(in crate::lyrics) fn is_one_name(name: &str) -> bool {
    let folded = fold(name);
    // A short slash name without blanks (`M/A/R/R/S`) is one, too.
    let is_initials = name.contains('/')
        && name
            .split('/')
            .all(|part| (1..=2).contains(&part.trim().chars().count()));
    WHOLE.contains(&&*folded) || (is_initials && name.matches('/').count() > 1)
}

/// The single names in a credit, in order, as they are written.
pub(in crate::lyrics) fn singles(credit: &str) -> Vec<&str> {
    const BETWEEN: [&str; 22] = [
        " feat. ",
        " feat ",
        " ft. ",
        " ft ",
        " featuring ",
        " with ",
        " and ",
        " & ",
        " x ",
        " X ",
        " × ",
        " vs. ",
        " vs ",
        " / ",
        "/",
        "／",
        ", ",
        ";",
        "、",
        " + ",
        " (",
        "（",
    ];
    let mut singles = Vec::new();
    let mut rest = credit;
    loop {
        let lower = rest.to_ascii_lowercase();
        let next = BETWEEN
            .iter()
            .filter_map(|sep| Some((lower.find(&sep.to_ascii_lowercase())?, sep.len())));
        let Some((at, len)) = next.min_by_key(|(at, len)| (*at, usize::MAX - len)) else {
            break;
        };
        singles.push(&rest[..at]);
        // The word that joins may stand in brackets: "(feat. X)".
        rest = rest[at + len..].trim_start();
        for word in ["feat. ", "feat ", "ft. ", "ft ", "featuring ", "with "] {
            let is_word = rest
                .get(..word.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(word));
            rest = if is_word { &rest[word.len()..] } else { rest };
        }
    }
    singles.push(rest);
    let closing = [')', '）', ']', ' '];
    let singles = singles
        .into_iter()
        .map(|name| name.trim_end_matches(closing).trim());
    singles.filter(|name| !name.is_empty()).collect()
}
