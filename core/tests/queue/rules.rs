//! The rules as checks of random cases, for the tests and for the broken twins.

use crate::common::Dice;
use segue_core::Tick;
use segue_core::dispatch::{Class, Known, Lane, Resolution};
use segue_core::lyrics::Song;
use segue_core::queue::*;
use segue_core::time::Wall;
use std::time::Duration;

const MOMENT: Moment = Moment {
    tick: Tick::from_millis(5_000),
    wall: Wall(1_700_000_000_000),
};

fn demand(holds: bool, story: impl FnOnce() -> String) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(story()),
    }
}

fn a_song(artist: &str, title: &str, duration_ms: Option<u64>) -> Song {
    Song {
        artist: artist.into(),
        title: title.into(),
        duration_ms,
        ..Song::default()
    }
}

/// Spellings of one name each.
const ARTISTS: [&[&str]; 5] = [
    &["Björk", "BJÖRK", "bjork", " Bjo\u{308}rk ", "Bj\u{200B}örk"],
    &["Motörhead", "Motorhead", "MOTÖRHEAD"],
    &["Σίσυφος", "ΣΊΣΥΦΟΣ", "σισυφος"],
    &["ガガガSP", "ｶﾞｶﾞｶﾞSP", "ガガガsp"],
    &["カカカSP", "ｶｶｶsp"],
];
const TITLES: [&[&str]; 4] = [
    &["Jóga", "JÓGA", "Joga", " Jo\u{301}ga"],
    &["Straße", "STRASSE", "strasse"],
    &["Overkill", "overkill "],
    &["!!!", " !!! "],
];
const BLANKS: [&str; 6] = [
    "",
    "  ",
    "\u{200B}",
    "\u{301}",
    "[Unknown Artist]",
    "<unknown>",
];

/// Identity: keys forgive spelling and nothing else, and nothing without a name is asked for.
pub(crate) fn identities(dice: &mut Dice) -> Result<u64, String> {
    let (a, b) = (dice.below(5) as usize, dice.below(5) as usize);
    let (t, u) = (dice.below(4) as usize, dice.below(4) as usize);
    let first = a_song(dice.pick(ARTISTS[a]), dice.pick(TITLES[t]), None);
    let second = a_song(dice.pick(ARTISTS[b]), dice.pick(TITLES[u]), None);
    let same = identify(&first) == identify(&second);
    demand(same == ((a, t) == (b, u)), || {
        format!("identity: {first:?} and {second:?} are the same: {same}")
    })?;
    let key = key(&first.artist);
    demand(segue_core::queue::key(&key) == key, || {
        format!("identity: the key of {key} is another")
    })?;
    let blank = dice.pick(&BLANKS);
    let nobody = a_song(blank, "A Title", None);
    demand(identify(&nobody) == Err(Blank::Artist), || {
        format!("identity: {nobody:?} is asked for")
    })?;
    let nameless = a_song("An Artist", dice.pick(&BLANKS[..4]), None);
    demand(identify(&nameless) == Err(Blank::Title), || {
        format!("identity: {nameless:?} is asked for")
    })?;
    Ok(1)
}

/// Songs with one pair of keys, put in one after the other: each joins a row of its marker and its length, or makes one.
pub(crate) fn variants(dice: &mut Dice) -> Result<u64, String> {
    let mut rows: Vec<Variant> = Vec::new();
    for _ in 0..1 + dice.below(6) {
        let album = dice.pick(&[None, Some("Live at Wembley"), Some("Songs (Acoustic)")]);
        let length = match dice.below(4) {
            0 => None,
            _ => Some(200_000 + dice.below(12) * 1_000 + dice.below(2)),
        };
        let song = Song {
            album: album.map(str::to_owned),
            ..a_song("A", "Song", length)
        };
        let identity = identify(&song).map_err(|blank| blank.to_string())?;
        let fits = |row: &&Variant| {
            row.marker == identity.marker
                && match (row.duration_ms, identity.duration_ms) {
                    (Some(a), Some(b)) => a.abs_diff(b) <= TOLERANCE_MS,
                    (None, _) | (_, None) => true,
                }
        };
        let chosen = choose(&rows, &identity);
        let story = || format!("identity: {identity:?} has {chosen:?} of {rows:?}");
        match chosen {
            Choice::New(number) => {
                demand(!rows.iter().any(|row| fits(&row)), story)?;
                demand(rows.iter().all(|row| row.number < number), story)?;
                rows.push(Variant {
                    number,
                    marker: identity.marker.clone(),
                    duration_ms: identity.duration_ms,
                });
            }
            Choice::Join(number) => {
                let row = rows.iter().find(|row| row.number == number);
                let row = row.filter(fits).ok_or_else(story)?;
                let apart = |row: &Variant| Some(row.duration_ms?.abs_diff(identity.duration_ms?));
                let nearer = rows.iter().filter(fits).filter_map(apart).min();
                demand(
                    apart(row) == nearer || identity.duration_ms.is_none(),
                    story,
                )?;
                let at = rows.iter().position(|row| row.number == number);
                if let Some(row) = at.and_then(|at| rows.get_mut(at)) {
                    row.duration_ms = row.duration_ms.or(identity.duration_ms);
                }
            }
        }
    }
    Ok(1)
}

/// Ladders: 1 min doubling to 1 h less up to a quarter, then parked; 7, 14, 28, 28 days, then retired at the 15th.
pub(crate) fn ladders(dice: &mut Dice) -> Result<u64, String> {
    const DAY: u64 = 24 * 60 * 60;
    let ladders = Ladders::default();
    let seed = dice.below(u64::from(u32::MAX)) << 16 | dice.below(1 << 16);
    let count = 1 + dice.below(20) as u32;
    let window =
        Duration::from_secs(60 * (1 << (count - 1).min(6))).min(Duration::from_secs(3_600));
    let found = ladders.backoff(count, seed);
    let story = || format!("ladder: {found:?} after {count} failures");
    demand(found.is_none() == (count >= ladders.park_after), story)?;
    demand(
        found.is_none_or(|wait| wait <= window && wait >= window * 3 / 4),
        story,
    )?;
    demand(found == ladders.backoff(count, seed), story)?;

    let expected = match count {
        1 => Some(7),
        2 => Some(14),
        3..15 => Some(28),
        _ => None,
    };
    let found = ladders.miss(count);
    let days = expected.map(|days| Duration::from_secs(days * DAY));
    demand(found == days, || {
        format!("ladder: {found:?} after {count} misses")
    })?;

    let quality = dice.pick(&[
        Quality::None,
        Quality::Instrumental,
        Quality::Plain,
        Quality::Line,
        Quality::Word,
    ]);
    let found = ladders.upgrade(quality, count);
    let final_answer = matches!(quality, Quality::Word | Quality::Instrumental);
    demand(
        found.is_none() == (final_answer || count >= ladders.upgrades),
        || format!("ladder: {quality:?} is looked for again after {found:?}"),
    )?;
    Ok(1)
}

/// What a dispatch came to, and what that is for the row (contracts section 2, the last column).
pub(crate) fn outcomes(dice: &mut Dice) -> Result<u64, String> {
    let lane = Lane(dice.below(3) as u32);
    let call = segue_core::dispatch::CallId(0);
    let value = "la";
    let standing = dice.pick(&[Quality::None, Quality::None, Quality::Plain, Quality::Line]);
    let quality = dice.pick(&[Quality::Plain, Quality::Line, Quality::Word]);
    let poor = dice.pick(&[Quality::None, Quality::Instrumental]);
    let wait = dice.below(3_600_000);
    let retry_at = (dice.below(3) > 0).then(|| MOMENT.tick + Duration::from_millis(wait));
    let known = dice.pick(&[
        None,
        Some(LaneAnswer::Instrumental),
        Some(LaneAnswer::Rejected),
    ]);
    let again = |unknown| match retry_at {
        Some(_) => MOMENT.wall + Duration::from_millis(wait),
        None => MOMENT.wall + unknown,
    };
    let class = dice.pick(&[Class::Open, Class::Transport, Class::ThrottledOrAuth]);
    let complete = |outcome, value| Step::Complete {
        outcome,
        lane,
        value,
    };
    let instrumental = |is: bool| match is {
        true => Outcome::Instrumental,
        false => Outcome::Rejected,
    };
    let has_lyrics = standing > Quality::None;
    let (resolution, expected) = match dice.below(7) {
        0 => (
            Resolution::Won {
                call,
                lane,
                value,
                quality,
            },
            match quality > standing {
                true => complete(Outcome::Lyrics, Some(value)),
                false => Step::Keep,
            },
        ),
        1 => (
            Resolution::BestAvailable {
                call,
                lane,
                value,
                quality: poor,
            },
            match has_lyrics {
                true => Step::Keep,
                false => complete(instrumental(poor == Quality::Instrumental), Some(value)),
            },
        ),
        2 => (
            Resolution::BestKnown { lane },
            match has_lyrics {
                true => Step::Keep,
                false => complete(instrumental(known == Some(LaneAnswer::Instrumental)), None),
            },
        ),
        3 => (
            Resolution::Miss,
            match has_lyrics {
                true => Step::Keep,
                false => Step::Defer,
            },
        ),
        4 => (
            Resolution::Uncertain {
                class,
                retry_at,
                provisional: None,
            },
            match class {
                Class::Transport => Step::Fail,
                Class::Miss | Class::Open | Class::ThrottledOrAuth => Step::Release {
                    retry_at: again(RETRY_UNKNOWN),
                },
            },
        ),
        5 => (
            Resolution::Unavailable { retry_at },
            Step::Release {
                retry_at: again(NO_LANES),
            },
        ),
        _ => (
            Resolution::Cancelled,
            Step::Release {
                retry_at: MOMENT.wall,
            },
        ),
    };
    let found = decide(resolution.clone(), standing, |_| known, MOMENT);
    demand(found == expected, || {
        format!("Q6: {resolution:?} with {standing:?} standing is {found:?}, not {expected:?}")
    })?;
    Ok(1)
}

/// The ledger: a certain no spares the lane until it is no longer valid, and nothing else ever does.
pub(crate) fn beliefs(dice: &mut Dice) -> Result<u64, String> {
    let answer = dice.pick(&LaneAnswer::ALL);
    let valid_until = (dice.below(4) > 0).then(|| Wall(dice.below(10) as i64));
    let now = Wall(dice.below(10) as i64);
    let entry = LaneEntry {
        lane: "lane".into(),
        answer,
        reason: None,
        at: Wall(0),
        valid_until,
        retry_at: None,
    };
    let is_valid = valid_until.is_some_and(|until| now < until);
    let expected = match answer {
        LaneAnswer::Miss if is_valid => Some(Known::Miss),
        LaneAnswer::Rejected | LaneAnswer::Instrumental if is_valid => Some(Known::Unsuitable),
        _ => None,
    };
    let found = known(&entry, now);
    demand(found == expected, || {
        format!("ledger: {found:?} of {entry:?} at {now:?}")
    })?;
    Ok(1)
}
