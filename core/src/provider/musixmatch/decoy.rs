//! What the service hands out to clients that it does not like: a placeholder for a token, a made-up song for an answer.

use crate::catalog::normalise::fold;
use crate::lyrics::{Line, Matched, Song};

/// Fewer gaps between lines than this prove nothing about their evenness.
const MIN_GAPS: usize = 20;

/// How far a gap may be off the usual one, in milliseconds, and still be even.
const EVEN_MS: u64 = 300;

/// How far lines may run past a song's end, in milliseconds.
const OVERRUN_MS: u64 = 30_000;

/// Whether a token is one that is given to everybody who gets none: one character over and over, or the words of
/// an upgrade notice.
pub(super) fn is_placeholder(token: &str) -> bool {
    let token = token.trim();
    let mut characters = token.chars();
    let first = characters.next();
    let one_only = first.is_some_and(|first| characters.all(|other| other == first));
    one_only || token.to_ascii_lowercase().contains("upgradeonly")
}

/// Whether timed lines are a decoy: evenly spaced all along, and of a song that was not asked for, that has no length, or
/// that is over long before they are.
pub(super) fn is_decoy(lines: &[Line], matched: &Matched, song: &Song) -> bool {
    if !evenly_spaced(lines) {
        return false;
    }
    let last = lines.last().map_or(0, |line| line.start);
    let length = song.duration_ms.or(matched.duration_ms);
    let overruns = length.is_some_and(|length| last > length.saturating_add(OVERRUN_MS));
    matched.duration_ms.is_none() || overruns || is_another_song(matched, song)
}

fn evenly_spaced(lines: &[Line]) -> bool {
    let gaps = || {
        let pairs = lines.windows(2);
        pairs.map(|pair| pair[1].start.saturating_sub(pair[0].start))
    };
    if lines.len() <= MIN_GAPS {
        return false;
    }
    let mut sorted: Vec<u64> = gaps().collect();
    sorted.sort_unstable();
    let usual = sorted[sorted.len() / 2];
    let even = gaps().filter(|gap| gap.abs_diff(usual) <= EVEN_MS).count();
    usual > 0 && even * 20 >= sorted.len() * 19
}

/// Whether neither title nor artist has a word in common with what was asked for.
fn is_another_song(matched: &Matched, song: &Song) -> bool {
    let differs = |ours: &str, theirs: Option<&str>| {
        let theirs = theirs.map(fold).unwrap_or_default();
        let ours = fold(ours);
        !ours
            .split(' ')
            .any(|word| theirs.split(' ').any(|other| word == other))
    };
    differs(&song.title, matched.title.as_deref())
        && differs(&song.artist, matched.artist.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_told_from_tokens() {
        assert!(is_placeholder(&"0".repeat(56)));
        assert!(is_placeholder(
            "UpgradeOnlyUpgradeOnlyUpgradeOnlyUpgradeOnly"
        ));
        assert!(!is_placeholder("2109021ab3c"));
        assert!(!is_placeholder(""));
    }

    fn lines_every(gap: u64, count: u64) -> Vec<Line> {
        let line = |index| Line {
            start: index * gap,
            text: format!("word {index}"),
            ..Line::default()
        };
        (0..count).map(line).collect()
    }

    fn a_song() -> Song {
        Song {
            title: "Lantern Hill".to_owned(),
            artist: "The Paper Boats".to_owned(),
            duration_ms: Some(200_000),
            ..Song::default()
        }
    }

    #[test]
    fn an_evenly_spaced_answer_to_another_question_is_a_decoy() {
        let lines = lines_every(4000, 206);
        let other = Matched {
            title: Some("NOKIA".to_owned()),
            artist: Some("Somebody".to_owned()),
            duration_ms: Some(900_000),
            ..Matched::default()
        };
        assert!(is_decoy(&lines, &other, &a_song()));
        let right = Matched {
            title: Some("Lantern Hill".to_owned()),
            artist: Some("Paper Boats".to_owned()),
            duration_ms: Some(200_000),
            ..Matched::default()
        };
        assert!(is_decoy(&lines, &right, &a_song()), "runs past the song");
        assert!(
            !is_decoy(&lines_every(4000, 45), &right, &a_song()),
            "a steady song"
        );
        assert!(
            !is_decoy(&lines_every(4000, 12), &other, &a_song()),
            "too few to tell"
        );
    }
}
