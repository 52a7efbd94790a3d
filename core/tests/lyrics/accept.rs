//! Whether an answer is for a song.

use crate::made::{a_song, matched, parsed, plain, some_words, synced};
use segue_core::lyrics::accept::{Judgement, Mistimed, RefusedBecause, Rules, admit, best, judge};
use segue_core::lyrics::intake::NotLyrics;
use segue_core::lyrics::script::ScriptGuard;
use segue_core::lyrics::{Body, Lyrics, Matched, Song};

/// `None`: accepted. `Ok`: the words only. `Err`: refused.
fn outcome(judged: &Judgement) -> Option<Result<Mistimed, RefusedBecause>> {
    match judged {
        Judgement::Accepted { .. } => None,
        Judgement::WordsOnly { because, .. } => Some(Ok(*because)),
        Judgement::Refused(because) => Some(Err(*because)),
    }
}

fn judged(song: &Song, matched: &Matched) -> Option<Result<Mistimed, RefusedBecause>> {
    outcome(&judge(song, &some_words(), matched, &Rules::default()))
}

#[test]
fn the_same_names_and_length_are_accepted() {
    let song = a_song("The Kettle", "Alpha Band");
    let known = matched("the kettle", "ALPHA BAND", 201_000);
    let judged = judge(&song, &some_words(), &known, &Rules::default());
    assert!(
        matches!(judged, Judgement::Accepted { score } if score > 850),
        "{judged:?}"
    );
}

#[test]
fn spellings_of_one_title_are_one() {
    for (ours, theirs) in [
        ("Beyoncé’s Song", "Beyonce's song"),
        ("Song (feat. Y)", "Song"),
        ("Song - 2009 Remaster", "Song (Remastered)"),
        ("Where Are You Now", "Where Are Ü Now"),
        ("Colour of Night", "Color of Night"),
        ("夜に駆ける", "夜に駆ける (Into The Night)"),
        ("Lemon", "檸檬 / Lemon"),
        ("AT&T", "AT and T"),
    ] {
        let song = a_song(ours, "Alpha Band");
        assert_eq!(
            judged(&song, &matched(theirs, "Alpha Band", 200_000)),
            None,
            "{ours}, {theirs}"
        );
    }
}

#[test]
fn another_title_is_refused() {
    for (ours, theirs) in [
        ("The Kettle", "NOKIA"),
        ("Hell", "Help"),
        ("Symphony No. 5", "Symphony No. 9"),
        ("Shine On (Part 1)", "Shine On (Part 2)"),
        ("Interlude II", "Interlude III"),
        ("Song (Part 2)", "Song"),
        ("Love", "Love Me Do"),
        ("夜に駆ける", "夜明け"),
    ] {
        let song = a_song(ours, "Alpha Band");
        let judged = judged(&song, &matched(theirs, "Alpha Band", 200_000));
        assert_eq!(
            judged,
            Some(Err(RefusedBecause::OtherTitle)),
            "{ours}, {theirs}"
        );
    }
}

#[test]
fn artists_match_whole_or_by_their_first() {
    for (ours, theirs) in [
        ("Beatles, The", "The Beatles"),
        ("Alpha Band feat. Y", "Alpha Band"),
        ("Alpha Band", "Alpha Band & Y"),
        ("Utada Hikaru", "Hikaru Utada"),
        ("AC/DC", "AC-DC"),
        ("Sigur Rós", "Sigur Ros"),
        ("Various Artists", "Anyone At All"),
    ] {
        let song = a_song("The Kettle", ours);
        assert_eq!(
            judged(&song, &matched("The Kettle", theirs, 200_000)),
            None,
            "{ours}, {theirs}"
        );
    }
    for (ours, theirs) in [
        ("Alpha Band", "Drake"),
        ("AC/DC", "AC"),
        ("Queen", "Queensrÿche"),
    ] {
        let judged = judged(
            &a_song("The Kettle", ours),
            &matched("The Kettle", theirs, 200_000),
        );
        assert_eq!(
            judged,
            Some(Err(RefusedBecause::OtherArtist)),
            "{ours}, {theirs}"
        );
    }
}

#[test]
fn names_in_other_letters_need_the_length() {
    let song = a_song("First Love", "宇多田ヒカル");
    assert_eq!(
        judged(&song, &matched("First Love", "Hikaru Utada", 201_000)),
        None
    );
    let unknown = Matched {
        duration_ms: None,
        ..matched("First Love", "Hikaru Utada", 0)
    };
    assert_eq!(
        judged(&song, &unknown),
        Some(Err(RefusedBecause::OtherArtist))
    );
    // Both names in other letters: nothing to hold on to but chance.
    let both = judged(
        &a_song("光", "宇多田ヒカル"),
        &matched("Hikari", "Utada", 200_000),
    );
    assert_eq!(both, Some(Err(RefusedBecause::OtherTitle)));
}

#[test]
fn lengths_decide_in_three_steps() {
    let song = a_song("The Kettle", "Alpha Band");
    for (theirs, expected) in [
        (203_000, None),
        (197_000, None),
        (203_001, Some(Ok(Mistimed::OtherLength))),
        (299_999, Some(Ok(Mistimed::OtherLength))),
        (300_000, Some(Err(RefusedBecause::OtherLength))),
        (133_333, Some(Err(RefusedBecause::OtherLength))),
        (0, None),
    ] {
        assert_eq!(
            judged(&song, &matched("The Kettle", "Alpha Band", theirs)),
            expected,
            "{theirs}"
        );
    }
}

#[test]
fn ids_prove_a_recording_whatever_it_is_called() {
    let mut song = a_song("The Kettle", "Alpha Band");
    song.isrcs = vec!["GBAYE0601498".to_owned()];
    song.recording_mbid = Some("b1a9c0e9-d987-4042-ae91-78d6a3267d69".to_owned());
    let by_isrc = Matched {
        isrc: Some("gb-aye-06-01498".to_owned()),
        ..matched("やかん", "アルファ", 200_000)
    };
    let by_mbid = Matched {
        recording_mbid: song.recording_mbid.clone(),
        isrc: None,
        ..by_isrc.clone()
    };
    assert_eq!(judged(&song, &by_isrc), None);
    assert_eq!(judged(&song, &by_mbid), None);
    let other = Matched {
        isrc: Some("USUM71703861".to_owned()),
        ..by_isrc
    };
    assert!(matches!(judged(&song, &other), Some(Err(_))));
}

#[test]
fn versions_that_are_sung_otherwise_lose_their_times() {
    for (ours, theirs) in [
        ("Song (Live)", "Song"),
        ("Song", "Song (Acoustic)"),
        ("Song", "Song (X Remix)"),
        ("Song (Demo)", "Song"),
    ] {
        let judged = judged(&a_song(ours, "A"), &matched(theirs, "A", 200_000));
        assert_eq!(judged, Some(Ok(Mistimed::OtherVersion)), "{ours}, {theirs}");
    }
    for (ours, theirs) in [
        ("Song (Mono)", "Song"),
        ("Song", "Song (Deluxe Edition)"),
        ("Song (Radio Edit)", "Song"),
    ] {
        assert_eq!(
            judged(&a_song(ours, "A"), &matched(theirs, "A", 200_000)),
            None,
            "{ours}, {theirs}"
        );
    }
    let mut live = a_song("Song", "A");
    live.album = Some("Live at Wembley".to_owned());
    let answer = Matched {
        album: live.album.clone(),
        ..matched("Song (Live)", "A", 200_000)
    };
    assert_eq!(judged(&live, &answer), None);
}

#[test]
fn words_for_an_instrumental_version_are_refused() {
    let song = a_song("Song (Instrumental)", "A");
    let known = matched("Song", "A", 200_000);
    assert_eq!(
        judged(&song, &known),
        Some(Err(RefusedBecause::OtherVersion))
    );
    let instrumental = Lyrics::of(Body::Instrumental);
    let judged = judge(&song, &instrumental, &known, &Rules::default());
    assert_eq!(outcome(&judged), None);
}

#[test]
fn words_of_other_recordings_are_an_option() {
    let song = a_song("The Kettle", "Alpha Band");
    let known = matched("The Kettle", "Alpha Band", 250_000);
    let strict = Rules {
        words_of_other_recordings: false,
        ..Rules::default()
    };
    for lyrics in [some_words(), plain(&["the kettle sings"])] {
        let judged = judge(&song, &lyrics, &known, &strict);
        assert_eq!(outcome(&judged), Some(Err(RefusedBecause::OtherLength)));
    }
    let admitted = admit(&song, some_words(), &known, &Rules::default()).expect("the words");
    assert_eq!(admitted.lyrics, some_words().untimed());
    assert_eq!(admitted.mistimed, Some(Mistimed::OtherLength));
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
        (u64::MAX, Some(Err(RefusedBecause::Overrun))),
    ] {
        // What decorates the end does not count.
        let words = synced(&[
            (1_000, "a"),
            (2_000, "b"),
            (last, "c"),
            (u64::MAX, "♪"),
            (u64::MAX, ""),
        ]);
        let judged = judge(&song, &words, &known, &Rules::default());
        assert_eq!(outcome(&judged), expected, "{last}");
    }
    let unknown = Song {
        duration_ms: None,
        ..song
    };
    let words = synced(&[(1_000, "a"), (5_000_000, "b")]);
    assert_eq!(
        outcome(&judge(&unknown, &words, &known, &Rules::default())),
        None
    );
}

#[test]
fn s35_a_stamp_that_is_no_number_is_no_time() {
    let lyrics = parsed("[00:01.00]a\n[NaN:00.00]b\n[00:02.00]c").lyrics;
    let known = matched("The Kettle", "Alpha Band", 200_000);
    let judged = judge(
        &a_song("The Kettle", "Alpha Band"),
        &lyrics,
        &known,
        &Rules::default(),
    );
    assert_eq!(outcome(&judged), None);
}

#[test]
fn s26_evenly_spaced_decoys_are_refused() {
    let decoy: Vec<(u64, &str)> = (0..206)
        .map(|at| (at * 900 + at % 2 * 20, "nonsense"))
        .collect();
    let song = a_song("The Kettle", "Alpha Band");
    let known = matched("The Kettle", "Alpha Band", 200_000);
    let judged = judge(&song, &synced(&decoy), &known, &Rules::default());
    assert_eq!(outcome(&judged), Some(Err(RefusedBecause::EvenlySpaced)));
    // As the poisoned service answers: under another name.
    let nokia = Matched {
        duration_ms: None,
        ..matched("NOKIA", "Drake", 0)
    };
    let judged = judge(&song, &synced(&decoy), &nokia, &Rules::default());
    assert_eq!(outcome(&judged), Some(Err(RefusedBecause::OtherTitle)));
}

#[test]
fn an_answer_that_says_nothing_of_itself_was_asked_for_by_its_id() {
    let song = a_song("The Kettle", "Alpha Band");
    assert_eq!(judged(&song, &Matched::default()), None);
    let credits = plain(&["Composer: X"]);
    let judged = judge(&song, &credits, &Matched::default(), &Rules::default());
    let credits = RefusedBecause::NotLyrics(NotLyrics::CreditsOnly);
    assert_eq!(outcome(&judged), Some(Err(credits)));
}

#[test]
fn the_guard_refuses_foreign_words_and_never_a_marker() {
    let scripts = ScriptGuard::new(&["cyrillic".to_owned()], 0.2).expect("a script");
    let rules = Rules {
        scripts,
        ..Rules::default()
    };
    let song = a_song("The Kettle", "Alpha Band");
    let known = matched("The Kettle", "Alpha Band", 200_000);
    let judged = judge(&song, &some_words(), &known, &rules);
    assert_eq!(outcome(&judged), Some(Err(RefusedBecause::Script)));
    let marker = Lyrics::of(Body::Instrumental);
    assert_eq!(outcome(&judge(&song, &marker, &known, &rules)), None);
}

fn pick(song: &Song, candidates: &[(Lyrics, Matched)]) -> Option<usize> {
    let candidates: Vec<_> = candidates.iter().map(|(l, m)| (l, m)).collect();
    best(song, &candidates, &Rules::default()).map(|pick| pick.index)
}

#[test]
fn the_best_is_the_timed_one_among_those_that_fit_alike() {
    let song = a_song("The Kettle", "Alpha Band");
    let exact = matched("The Kettle", "Alpha Band", 200_000);
    let near = matched("The Kettle", "Alpha Band", 202_000);
    let words = plain(&["the kettle sings"]);
    assert_eq!(
        pick(
            &song,
            &[(words.clone(), exact.clone()), (some_words(), near)]
        ),
        Some(1)
    );
    // Timed for another length is no better than plain of the right one.
    let far = matched("The Kettle", "Alpha Band", 240_000);
    assert_eq!(
        pick(
            &song,
            &[(some_words(), far), (words.clone(), exact.clone())]
        ),
        Some(1)
    );
    assert_eq!(
        pick(
            &song,
            &[(words.clone(), exact.clone()), (words, exact.clone())]
        ),
        Some(0)
    );
    assert_eq!(
        pick(&song, &[(some_words(), matched("NOKIA", "Drake", 200_000))]),
        None
    );
    assert_eq!(pick(&song, &[]), None);
}

#[test]
fn a_marker_is_chosen_only_when_there_are_no_words() {
    let song = a_song("The Kettle", "Alpha Band");
    let exact = matched("The Kettle", "Alpha Band", 200_000);
    let marker = Lyrics::of(Body::Instrumental);
    let sentence = plain(&["纯音乐，请欣赏"]);
    assert_eq!(
        pick(
            &song,
            &[
                (marker.clone(), exact.clone()),
                (some_words(), exact.clone())
            ]
        ),
        Some(1)
    );
    assert_eq!(
        pick(
            &song,
            &[
                (sentence.clone(), exact.clone()),
                (some_words(), exact.clone())
            ]
        ),
        Some(1)
    );
    assert_eq!(pick(&song, &[(marker, exact.clone())]), Some(0));
    let admitted = admit(&song, sentence, &exact, &Rules::default()).expect("a marker");
    assert_eq!(admitted.lyrics.body, Body::Instrumental);
}
