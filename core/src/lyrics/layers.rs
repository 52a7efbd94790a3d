//! Two texts in one: files in which each line is followed, at the same time, by what it means in another language.
//!
//! Many collections write translations like that. They are told apart only where it cannot be a guess: nearly all lines
//! come in pairs, and the second one is in another script than the first. Latin letters below another script may be a
//! translation or a pronunciation, and two of one script may be two voices: those stay one text.

use super::intake::is_credit;
use super::model::{Body, Line, Lyrics};
use super::script::{Group, tongue};
use std::collections::BTreeMap;

/// Fewer pairs than this may be chance.
const FEWEST: usize = 4;

/// A song's own words, and what they mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// What is sung.
    pub main: Lyrics,
    /// The same in another language.
    pub translation: Lyrics,
}

/// The two texts of lyrics that are two, for certain.
#[must_use]
pub fn split(lyrics: &Lyrics) -> Option<Layers> {
    let Body::Synced(lines) = &lyrics.body else {
        return None;
    };
    let (mut main, mut translation, mut pairs, mut alone) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for same in lines.chunk_by(|a, b| a.start == b.start) {
        let is_sung = |line: &&Line| !line.text.is_empty() && !is_credit(&line.text);
        let sung: Vec<&Line> = same.iter().filter(is_sung).collect();
        match sung[..] {
            [] => main.extend(same),
            [_] => {
                main.extend(same);
                alone += 1;
            }
            [first, second] if second.words.is_empty() && first.agent == second.agent => {
                main.extend(same.iter().filter(|line| !std::ptr::eq(*line, second)));
                translation.push(second);
                pairs.push((first, second));
            }
            // A third text, or another voice.
            _ => return None,
        }
    }
    if pairs.len() < FEWEST || pairs.len() < 2 * alone || !are_translated(&pairs) {
        return None;
    }
    let of = |lines: Vec<&Line>| Body::Synced(lines.into_iter().cloned().collect());
    Some(Layers {
        main: Lyrics {
            body: of(main),
            ..lyrics.clone()
        },
        translation: Lyrics {
            body: of(translation),
            lang: None,
            ..lyrics.clone()
        },
    })
}

/// Whether nine of ten pairs are in two scripts, the second ones all in one that is not Latin.
fn are_translated(pairs: &[(&Line, &Line)]) -> bool {
    let mut differing: BTreeMap<Group, usize> = BTreeMap::new();
    for (first, second) in pairs {
        if let (Some(first), Some(second)) = (tongue(&first.text), tongue(&second.text))
            && first != second
            && !second.is_latin()
        {
            *differing.entry(second).or_default() += 1;
        }
    }
    differing
        .values()
        .any(|count| count * 10 >= pairs.len() * 9)
}
