//! Text that is not lyrics (lyrics.md 3.9), each with its case.

use crate::made::{a_song, plain, some_words, synced};
use segue_core::lyrics::intake::{NotLyrics, Sifted, is_credit, is_label, sift};

fn sifted(lines: &[&str]) -> Sifted {
    sift(plain(lines), &a_song("The Kettle", "Alpha Band"))
}

#[test]
fn credits_alone_are_nothing() {
    let credits: &[&[&str]] = &[
        &[
            "作词 : 张三",
            "作曲 : 李四",
            "编曲：王五",
            "制作人 : 赵六",
            "混音：X",
        ],
        &["Lyrics by: Someone", "Composer: Someone Else"],
        &["Written by Someone", "Produced by Someone"],
        &["作词/作曲：张三"],
    ];
    for lines in credits {
        assert_eq!(
            sifted(lines),
            Sifted::Nothing(NotLyrics::CreditsOnly),
            "{lines:?}"
        );
    }
    let timed = synced(&[(0, "作词 : 张三"), (0, "作曲 : 李四")]);
    let sifted = sift(timed, &a_song("a", "b"));
    assert_eq!(sifted, Sifted::Nothing(NotLyrics::CreditsOnly));
}

#[test]
fn a_role_that_is_none_is_a_line() {
    for line in [
        "Me: hello",
        "She said: go",
        "12:30",
        "Remember this: never",
        "God: yes",
    ] {
        assert!(!is_credit(line), "{line}");
    }
    for label in ["[Chorus]", "(Verse 2)", "Bridge:", "[Pre-Chorus: X]"] {
        assert!(is_label(label), "{label}");
    }
    for line in [
        "[Whistling]",
        "Chorus of angels",
        "(oh)",
        "Bridge over troubled water",
    ] {
        assert!(!is_label(line), "{line}");
    }
}

#[test]
fn sentences_that_say_instrumental_are_taken_by_their_word() {
    for line in [
        "纯音乐，请欣赏",
        "此歌曲为没有填词的纯音乐，请您欣赏",
        "[Instrumental]",
        "♪ Instrumental ♪",
        "This song is an instrumental.",
        "インストゥルメンタル",
    ] {
        assert_eq!(sifted(&[line]), Sifted::Instrumental, "{line}");
    }
    let late = synced(&[(0, "作曲 : 李四"), (5_940_000, "纯音乐，请欣赏")]);
    assert_eq!(sift(late, &a_song("a", "b")), Sifted::Instrumental);
}

#[test]
fn placeholders_are_nothing_and_only_when_they_stand_alone() {
    for line in [
        "As letras não estão sincronizadas com a música",
        "Lyrics for this song have yet to be released. Please check back once the song has been released.",
        "Lyrics not found",
        "404 Not Found",
        "暂无歌词",
    ] {
        assert_eq!(
            sifted(&[line]),
            Sifted::Nothing(NotLyrics::Placeholder),
            "{line}"
        );
    }
    let sung = [
        "my page not found",
        "I look around",
        "you wear a crown",
        "in this town",
    ];
    assert!(matches!(sifted(&sung), Sifted::Words(_)));
}

#[test]
fn notices_and_excerpts_are_nothing() {
    let restricted = "Unfortunately we're not authorized to show these lyrics.";
    assert_eq!(
        sifted(&[restricted]),
        Sifted::Nothing(NotLyrics::Restricted)
    );
    let tail = "******* This Lyrics is NOT for Commercial use *******";
    let excerpt = [
        "the kettle sings",
        "the windows weep",
        "...",
        tail,
        "(1409617)",
    ];
    assert_eq!(sifted(&excerpt), Sifted::Nothing(NotLyrics::Excerpt));
}

#[test]
fn the_title_alone_is_nothing() {
    for line in [
        "The Kettle - Alpha Band",
        "Alpha Band – The Kettle",
        "The Kettle by Alpha Band",
    ] {
        assert_eq!(
            sifted(&[line]),
            Sifted::Nothing(NotLyrics::TitleOnly),
            "{line}"
        );
    }
    // A song may sing its title and no more.
    assert!(matches!(
        sifted(&["The kettle, the kettle"]),
        Sifted::Words(_)
    ));
}

#[test]
fn stamps_notes_and_blanks_are_nothing() {
    for lines in [&["", " "][..], &["♪"], &["♪ ♪", ""], &[]] {
        assert_eq!(
            sifted(lines),
            Sifted::Nothing(NotLyrics::Empty),
            "{lines:?}"
        );
    }
}

#[test]
fn books_are_nothing() {
    let line = "a".repeat(100);
    let lines: Vec<&str> = vec![&line; 81];
    // 200 s at 40 characters, one second of grace.
    assert_eq!(sifted(&lines), Sifted::Nothing(NotLyrics::TooMuch));
    assert!(matches!(sifted(&lines[..80]), Sifted::Words(_)));
    let mut song = a_song("The Kettle", "Alpha Band");
    song.duration_ms = None;
    let long: Vec<&str> = vec![&line; 301];
    assert_eq!(
        sift(plain(&long), &song),
        Sifted::Nothing(NotLyrics::TooMuch)
    );
}

#[test]
fn a_sites_lines_are_taken_off() {
    let lines = [
        "the kettle sings",
        "You might also like",
        "the windows weep",
        "Lyrics powered by www.musixmatch.com",
    ];
    let words = Sifted::Words(plain(&["the kettle sings", "the windows weep"]));
    assert_eq!(sifted(&lines), words);
    let sung = ["you might also like to know", "the kettle sings"];
    assert_eq!(sifted(&sung), Sifted::Words(plain(&sung)));
    let whole = sift(some_words(), &a_song("The Kettle", "Alpha Band"));
    assert_eq!(whole, Sifted::Words(some_words()));
}
