//! Whether an answer belongs to a song. One place for all providers, whatever they say themselves.
//!
//! In this order: is it a text of words at all ([`intake`]), is it this song (names, ids, version), is it this recording (length,
//! last stamp), is it in letters that are wanted ([`ScriptGuard`]). Words of this song that were timed for another recording are
//! accepted without their times, so a wrong time never reaches a listener.

mod identity;
mod likeness;

use identity::{identity, is_half_as_long_again};
pub(super) use likeness::{is_one_name, singles};

use super::intake::{self, NotLyrics, Sifted};
use super::model::{Body, Line, Lyrics, Matched, Song};
use super::script::{self, Foreign, ScriptGuard};
use crate::dispatch::Quality;
use thiserror::Error;

/// How far a last stamp may lie behind the end of the track, in milliseconds: files are cut, players fade.
pub const OVERRUN_GRACE_MS: u64 = 2_000;

/// Synced candidates this much worse than the best are still preferred to plain ones.
const EQUALS: u32 = 100;

/// What a romanised text loses, so that it ranks below a native one.
const ROMANISED: u32 = 150;

/// How strict to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How far the lengths of one recording may differ, in milliseconds, inclusive.
    pub duration_tolerance_ms: u64,
    /// Whether words that were timed for another recording are taken without their times, and plain words of another recording
    /// as they are.
    pub words_of_other_recordings: bool,
    /// In which letters.
    pub scripts: ScriptGuard,
}

impl Default for Rules {
    /// Three seconds, as in the identity of songs (contracts section 5), and no script guard.
    fn default() -> Self {
        Rules {
            duration_tolerance_ms: 3_000,
            words_of_other_recordings: true,
            scripts: ScriptGuard::default(),
        }
    }
}

/// What came of judging one candidate. Scores go from 0 to 1000.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// These are the words, and their times are right.
    Accepted {
        /// How well it fits.
        score: u32,
    },
    /// These are the words; the times are not for this recording. Use [`Lyrics::untimed`], as [`admit`] does.
    WordsOnly {
        /// How well the words fit.
        score: u32,
        /// What is wrong with the times.
        because: Mistimed,
    },
    /// Something else.
    Refused(RefusedBecause),
}

impl Judgement {
    /// How well it fits; `None` for a refusal.
    #[must_use]
    pub fn score(&self) -> Option<u32> {
        match self {
            Judgement::Accepted { score } | Judgement::WordsOnly { score, .. } => Some(*score),
            Judgement::Refused(_) => None,
        }
    }
}

/// Why the times of a text are not those of a recording.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum Mistimed {
    /// The lengths differ by more than the tolerance.
    #[error("it was timed for a recording of another length")]
    OtherLength,
    /// Live, remixed, acoustic or the like, and the other is not.
    #[error("it was timed for another version")]
    OtherVersion,
    /// The last line would be sung after the end.
    #[error("its last line comes after the end of the track")]
    Overrun,
}

/// Why an answer is not for a song.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum RefusedBecause {
    /// Another title.
    #[error("it is for a song of another title")]
    OtherTitle,
    /// Another artist.
    #[error("it is by another artist")]
    OtherArtist,
    /// The one has singing and the other has not, or only the words of this very version are wanted.
    #[error("it is for another version of the song")]
    OtherVersion,
    /// Half as long again, or the times are wrong and only times are wanted.
    #[error("it is for a recording of another length")]
    OtherLength,
    /// The last stamp lies at one and a half times the length of the track or more, or the times are wrong and only times are
    /// wanted.
    #[error("its times go on after the end of the track")]
    Overrun,
    /// All lines equally far apart: made by a machine, as decoys are.
    #[error("its lines are all equally far apart")]
    EvenlySpaced,
    /// Not words.
    #[error("{0}")]
    NotLyrics(NotLyrics),
    /// In letters that are not wanted.
    #[error("it is not in an accepted script")]
    Script,
}

impl From<Foreign> for RefusedBecause {
    fn from(_: Foreign) -> Self {
        RefusedBecause::Script
    }
}

/// Judges one candidate.
#[must_use]
pub fn judge(song: &Song, lyrics: &Lyrics, matched: &Matched, rules: &Rules) -> Judgement {
    match weigh(song, lyrics, matched, rules) {
        Ok((score, None)) => Judgement::Accepted { score },
        Ok((score, Some(because))) => Judgement::WordsOnly { score, because },
        Err(because) => Judgement::Refused(because),
    }
}

fn weigh(
    song: &Song,
    lyrics: &Lyrics,
    matched: &Matched,
    rules: &Rules,
) -> Result<(u32, Option<Mistimed>), RefusedBecause> {
    let has_words = intake::verdict(lyrics, song).map_err(RefusedBecause::NotLyrics)?;
    let identity = identity(song, matched, rules)?;
    let mut mistimed = identity.mistimed;
    if has_words {
        if identity.is_of_other_kind {
            return Err(RefusedBecause::OtherVersion);
        }
        if let Body::Synced(lines) = &lyrics.body {
            mistimed = mistimed.or(overrun(lines, lyrics.offset_ms, song.duration_ms)?);
            if is_evenly_spaced(lines) {
                return Err(RefusedBecause::EvenlySpaced);
            }
        }
        rules.scripts.judge(lyrics)?;
        if let Some(because) = mistimed.filter(|_| !rules.words_of_other_recordings) {
            return Err(match because {
                Mistimed::OtherLength => RefusedBecause::OtherLength,
                Mistimed::OtherVersion => RefusedBecause::OtherVersion,
                Mistimed::Overrun => RefusedBecause::Overrun,
            });
        }
    }
    let mut score = identity.score;
    if mistimed.is_some() {
        score /= 2;
    }
    if has_words && script::is_romanised(song, lyrics) {
        score = score.saturating_sub(ROMANISED);
    }
    Ok((score, mistimed.filter(|_| has_words)))
}

/// The last stamp that words begin at, against the length of the track (canticle.md 7.3: two seconds are fine, half as long again
/// is another recording). Breaks and notes do not count: they decorate the end.
fn overrun(
    lines: &[Line],
    offset_ms: i64,
    duration_ms: Option<u64>,
) -> Result<Option<Mistimed>, RefusedBecause> {
    let Some(duration) = duration_ms.filter(|duration| *duration > 0) else {
        return Ok(None);
    };
    let sung = lines
        .iter()
        .rev()
        .find(|line| !intake::is_blank(&line.text) && !intake::is_credit(&line.text));
    let last = sung.map_or(0, |line| {
        line.start.saturating_add_signed(offset_ms.saturating_neg())
    });
    if last <= duration.saturating_add(OVERRUN_GRACE_MS) {
        return Ok(None);
    }
    match is_half_as_long_again(last, duration) {
        true => Err(RefusedBecause::Overrun),
        false => Ok(Some(Mistimed::Overrun)),
    }
}

/// Whether nearly all of many lines are equally far apart, within a twentieth of a second.
fn is_evenly_spaced(lines: &[Line]) -> bool {
    const FEW: usize = 20;
    let sung = lines.iter().filter(|line| !intake::is_blank(&line.text));
    let starts: Vec<u64> = sung.map(|line| line.start).collect();
    if starts.len() < FEW {
        return false;
    }
    let mut gaps: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    let median = gaps[gaps.len() / 2];
    let even = gaps.iter().filter(|gap| gap.abs_diff(median) <= 50).count();
    even * 100 >= gaps.len() * 95
}

/// The candidate that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Its place among the candidates.
    pub index: usize,
    /// Its score.
    pub score: u32,
    /// How it was judged: never a refusal.
    pub judgement: Judgement,
}

/// The best of a provider's candidates; `None` if all are refused. Among candidates that fit about equally well timed words go
/// first; of equal ones the provider's order counts. An instrumental marker is chosen only when no words are accepted.
#[must_use]
pub fn best(song: &Song, candidates: &[(&Lyrics, &Matched)], rules: &Rules) -> Option<Pick> {
    let mut picks: Vec<(Quality, Pick)> = Vec::new();
    for (index, (lyrics, matched)) in candidates.iter().enumerate() {
        let judgement = judge(song, lyrics, matched, rules);
        let quality = match judgement {
            Judgement::Accepted { .. } => sung_quality(lyrics, song),
            Judgement::WordsOnly { .. } => Quality::Plain,
            Judgement::Refused(_) => continue,
        };
        let score = judgement.score().unwrap_or(0);
        picks.push((
            quality,
            Pick {
                index,
                score,
                judgement,
            },
        ));
    }
    let is_native = |pick: &Pick| script::is_native(candidates[pick.index].0);
    if picks.iter().any(|(_, pick)| is_native(pick)) {
        for (_, pick) in &mut picks {
            let lyrics = candidates[pick.index].0;
            // Already reduced if the song's own names told.
            if script::is_latin(lyrics) && !script::is_romanised(song, lyrics) {
                pick.score = pick.score.saturating_sub(ROMANISED);
            }
        }
    }
    let has_words = picks.iter().any(|(quality, _)| *quality >= Quality::Plain);
    picks.retain(|(quality, _)| !has_words || *quality >= Quality::Plain);
    let top = picks.iter().map(|(_, pick)| pick.score).max()?;
    picks.retain(|(_, pick)| pick.score + EQUALS >= top);
    let best = picks
        .into_iter()
        .max_by_key(|(quality, pick)| (*quality, pick.score, std::cmp::Reverse(pick.index)));
    best.map(|(_, pick)| pick)
}

/// The quality, with sentences that say "instrumental" taken by their word.
fn sung_quality(lyrics: &Lyrics, song: &Song) -> Quality {
    match intake::verdict(lyrics, song) {
        Ok(true) => lyrics.quality(),
        Ok(false) => Quality::Instrumental,
        Err(_) => Quality::None,
    }
}

/// Lyrics as they may be stored and shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Without boilerplate; without times if those were wrong; instrumental if that is what the text says.
    pub lyrics: Lyrics,
    /// How well they fit.
    pub score: u32,
    /// Why they have lost their times.
    pub mistimed: Option<Mistimed>,
}

/// Judges a candidate and makes of it what may be stored.
pub fn admit(
    song: &Song,
    lyrics: Lyrics,
    matched: &Matched,
    rules: &Rules,
) -> Result<Admitted, RefusedBecause> {
    let (score, mistimed) = weigh(song, &lyrics, matched, rules)?;
    let lyrics = match intake::sift(lyrics, song) {
        Sifted::Words(lyrics) if mistimed.is_some() => lyrics.untimed(),
        Sifted::Words(lyrics) => lyrics,
        Sifted::Instrumental => Lyrics::of(Body::Instrumental),
        Sifted::Nothing(why) => return Err(RefusedBecause::NotLyrics(why)),
    };
    Ok(Admitted {
        lyrics,
        score,
        mistimed,
    })
}
