//! Whether an answer is for a song.

use crate::made::{a_song, matched, some_words, synced};
use segue_core::lyrics::accept::{Judgement, Mistimed, RefusedBecause, Rules, judge};

#[test]
fn the_same_names_and_length_are_accepted() {
    let song = a_song("The Kettle", "Alpha Band");
    let judged = judge(
        &song,
        &some_words(),
        &matched("the kettle", "ALPHA BAND", 201_000),
        &Rules::default(),
    );
    assert!(
        matches!(judged, Judgement::Accepted { score } if score > 850),
        "{judged:?}"
    );
}

#[test]
fn s35_the_last_line_may_come_two_seconds_after_the_end() {
    let song = a_song("The Kettle", "Alpha Band");
    let known = matched("The Kettle", "Alpha Band", 200_000);
    for (last, expected) in [
        (202_000, None),
        (202_001, Some(Ok(Mistimed::Overrun))),
        (299_999, Some(Ok(Mistimed::Overrun))),
        (300_000, Some(Err(RefusedBecause::Overrun))),
    ] {
        // What decorates the end does not count.
        let words = synced(&[
            (1_000, "a"),
            (2_000, "b"),
            (last, "c"),
            (900_000, "♪"),
            (999_000, ""),
        ]);
        match (judge(&song, &words, &known, &Rules::default()), expected) {
            (Judgement::Accepted { .. }, None) => {}
            (Judgement::WordsOnly { because, .. }, Some(Ok(why))) if because == why => {}
            (Judgement::Refused(because), Some(Err(why))) if because == why => {}
            (judged, _) => panic!("{last}: {judged:?}"),
        }
    }
}
