//! What a song is asked for by.

use crate::made::a_song;
use segue_core::lyrics::Song;
use segue_core::lyrics::query::{base_title, first, is_askable, more, primary_artist};

fn names(song: &Song) -> Vec<(String, String)> {
    let asks = more(song).into_iter();
    asks.map(|ask| (ask.title, ask.artist)).collect()
}

fn name(title: &str, artist: &str) -> (String, String) {
    (title.to_owned(), artist.to_owned())
}

#[test]
fn the_first_question_is_the_song_as_it_is_in_nfc() {
    let mut song = a_song("Cafe\u{301} (feat. X)", "Beyonce\u{301}");
    song.album = Some(" An  Album ".to_owned());
    let ask = first(&song);
    assert_eq!((&*ask.title, &*ask.artist), ("Café (feat. X)", "Beyoncé"));
    assert_eq!(ask.album.as_deref(), Some("An Album"));
}

#[test]
fn releases_are_taken_off_and_what_is_sung_otherwise_stays() {
    for (title, base) in [
        ("Hypnotize - 2014 Remastered Version", "Hypnotize"),
        ("Help! (Remastered 2009)", "Help!"),
        ("Song (feat. Someone) [Deluxe Edition]", "Song"),
        ("Song ft. Someone", "Song"),
        ("Song - Single Version", "Song"),
        ("Song (Mono)", "Song"),
        ("Song (Live at Wembley)", "Song (Live at Wembley)"),
        ("Song - Acoustic", "Song - Acoustic"),
        ("Song (Part 2)", "Song (Part 2)"),
        ("(Untitled)", "(Untitled)"),
        ("Song (Someone Remix)", "Song (Someone Remix)"),
    ] {
        assert_eq!(base_title(title), base);
    }
}

#[test]
fn further_questions_are_few_and_different() {
    let song = a_song("Song (feat. Y) - 2009 Remaster", "X feat. Y");
    assert_eq!(names(&song), [name("Song", "X"), name("Song", "X feat. Y")]);
    assert_eq!(names(&a_song("Song", "X")), []);
}

#[test]
fn the_first_artist_is_the_first_of_the_list() {
    let mut song = a_song("Song", "A & B");
    song.artists = vec!["A & B Band".to_owned(), "C".to_owned()];
    assert_eq!(primary_artist(&song), "A & B Band");
}

#[test]
fn a_title_without_letters_is_not_asked_for() {
    assert!(!is_askable(&a_song("*", "M83")));
    assert!(!is_askable(&a_song("Song", "???")));
    assert!(is_askable(&a_song("1979", "X")) && is_askable(&a_song("夜", "Y")));
}
