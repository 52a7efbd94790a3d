//! The journal of sidecars over a disk that forgets: every step, every crash, every recovery.

mod disk;
mod removal;
mod walk;

use segue_core::delivery::*;
use segue_core::dispatch::Quality;
use segue_core::io::{Digest, Place, Seen};

fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

fn wanted(form: Form, quality: Quality, text: &str) -> Wanted {
    Wanted {
        form,
        quality,
        new: digest(text),
    }
}

fn nothing() -> Beside {
    Beside {
        seen: Seen::Absent,
        ours: None,
    }
}

fn users(text: &str) -> Beside {
    Beside {
        seen: Seen::File(digest(text)),
        ours: None,
    }
}

fn ours(text: &str, quality: Quality) -> Beside {
    edited(text, text, quality)
}

fn edited(text: &str, written: &str, quality: Quality) -> Beside {
    Beside {
        seen: Seen::File(digest(text)),
        ours: Some(Ours {
            digest: digest(written),
            quality,
        }),
    }
}

fn gone(written: &str, quality: Quality) -> Beside {
    Beside {
        seen: Seen::Absent,
        ..ours(written, quality)
    }
}

const TRACK: &str = "Band/Song.flac";

fn intent(wanted: &Wanted, here: Beside, other: Beside) -> Intent {
    let Plan::Write(changes) = plan(wanted, here, other) else {
        panic!("nothing would be written");
    };
    Intent::new(&Place::new("shelf", TRACK), wanted, changes, 1).expect("a short name")
}

#[test]
fn each_reason_has_a_word_that_stays_and_a_sentence_of_its_own() {
    let words = "already_there not_ours as_good nothing_to_write";
    assert_eq!(Left::ALL.map(Left::word).join(" "), words);
    for (at, left) in Left::ALL.into_iter().enumerate() {
        assert_eq!(Left::of(left.word()), Some(left));
        assert!(left.sentence().contains(' '));
        let earlier = &Left::ALL[..at];
        assert!(earlier.iter().all(|l| l.sentence() != left.sentence()));
    }
    assert_eq!(Left::of(""), None);
}

#[test]
fn s2_what_we_did_not_write_or_somebody_edited_is_left() {
    let new = wanted(Form::Synced, Quality::Line, "new");
    for here in [
        users("theirs"),
        edited("theirs", "ours", Quality::Line),
        Beside {
            seen: Seen::Other,
            ours: None,
        },
    ] {
        assert_eq!(plan(&new, here, nothing()), Plan::Leave(Left::NotOurs));
    }
    let plain = wanted(Form::Plain, Quality::Plain, "new");
    assert_eq!(
        plan(&plain, users("theirs"), nothing()),
        Plan::Leave(Left::NotOurs)
    );
}

#[test]
fn s2_somebodys_plain_file_stays_beside_the_timed_one() {
    let new = wanted(Form::Synced, Quality::Line, "new");
    for other in [users("theirs"), edited("theirs", "ours", Quality::Plain)] {
        assert_eq!(
            plan(&new, nothing(), other),
            Plan::Write(Changes::default())
        );
    }
}

#[test]
fn s3_nothing_is_replaced_by_something_worse() {
    let line = wanted(Form::Synced, Quality::Line, "new");
    let word = wanted(Form::Synced, Quality::Word, "new");
    let plain = wanted(Form::Plain, Quality::Plain, "new");
    let as_good = Plan::Leave(Left::AsGood);
    assert_eq!(plan(&line, ours("old", Quality::Word), nothing()), as_good);
    assert_eq!(plan(&plain, nothing(), ours("old", Quality::Line)), as_good);
    assert_eq!(plan(&plain, nothing(), users("theirs")), as_good);
    let old = ours("plain", Quality::Plain);
    assert_eq!(
        plan(&plain, old, ours("old", Quality::Line)),
        as_good,
        "even where a plain one is ours"
    );
    let replaced = Plan::Write(Changes {
        replaces: Some(digest("old")),
        retires: None,
    });
    assert_eq!(plan(&word, ours("old", Quality::Line), nothing()), replaced);
    assert_eq!(plan(&line, ours("old", Quality::Line), nothing()), replaced);
}

#[test]
fn a_timed_file_retires_our_own_plain_one() {
    let new = wanted(Form::Synced, Quality::Line, "new");
    let retired = Plan::Write(Changes {
        replaces: None,
        retires: Some(digest("old")),
    });
    assert_eq!(plan(&new, nothing(), ours("old", Quality::Plain)), retired);
}

#[test]
fn what_lies_there_already_is_not_written_and_what_was_deleted_is() {
    let new = wanted(Form::Synced, Quality::Line, "new");
    for here in [users("new"), ours("new", Quality::Line)] {
        assert_eq!(plan(&new, here, nothing()), Plan::Leave(Left::AlreadyThere));
    }
    let written = Plan::Write(Changes::default());
    assert_eq!(plan(&new, gone("new", Quality::Line), nothing()), written);
    let plain = wanted(Form::Plain, Quality::Plain, "words");
    assert_eq!(plan(&plain, nothing(), gone("new", Quality::Line)), written);
}

#[test]
fn only_words_become_files() {
    assert_eq!(Form::of(Quality::Word), Some(Form::Synced));
    assert_eq!(Form::of(Quality::Line), Some(Form::Synced));
    assert_eq!(Form::of(Quality::Plain), Some(Form::Plain));
    assert_eq!(Form::of(Quality::Instrumental), None);
    assert_eq!(Form::of(Quality::None), None);
}

#[test]
fn words_of_another_song_give_way_to_any_and_somebodys_do_not() {
    let plain = wanted(Form::Plain, Quality::Plain, "new");
    let doubted = ours("old", Quality::None);
    let retired = Plan::Write(Changes {
        replaces: None,
        retires: Some(digest("old")),
    });
    assert_eq!(plan(&plain, nothing(), doubted), retired);
    let replaced = Plan::Write(Changes {
        replaces: Some(digest("old")),
        retires: None,
    });
    assert_eq!(plan(&plain, doubted, nothing()), replaced);
    let edited = edited("theirs", "old", Quality::None);
    assert_eq!(
        plan(&plain, nothing(), edited),
        Plan::Leave(Left::AsGood),
        "S2"
    );
}

#[test]
fn s2_only_ours_is_taken_away_whoever_meddles_and_whenever_it_crashes() {
    let states = removal::every_removal().unwrap_or_else(|(_, why)| panic!("{why}"));
    assert!(states >= 6, "{states} states were seen");
}
