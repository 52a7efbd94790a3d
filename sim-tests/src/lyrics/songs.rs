//! The songs of the stories, and the words that each lane has of them: made to be told apart.

use super::scenario::{Knows, Put, Scenario, Users};
use bytes::Bytes;
use segue_core::delivery::{Form, sidecar};
use segue_core::io::Place;
use segue_core::lyrics::Song;
use segue_core::queue::{File, Priority, Request, Target};

/// How the songs are called: as many as a story has at most.
pub(crate) const TITLES: [&str; 20] = [
    "Lantern Hill",
    "Harbour Light",
    "Winter Mill",
    "Silver Road",
    "Quiet Orchard",
    "Copper Bells",
    "Amber Window",
    "Thirteen Ferries",
    "Paper Crown",
    "Salt and Cedar",
    "Ninety Stairs",
    "Violet Engine",
    "Borrowed Umbrella",
    "Marble Kitchen",
    "Northern Post",
    "Gentle Giants",
    "Willow Telegraph",
    "Empty Carousel",
    "Faraway Pharmacy",
    "Open Drawer",
];

/// Who sings them.
pub(crate) const ARTIST: &str = "The Paper Boats";

/// How long each is.
pub(crate) const SECONDS: u32 = 180;

/// The music folder.
pub(crate) const FOLDER: &str = "shelf";

/// Stamps in milliseconds; unevenly apart, as people sing.
const STAMPS: [u64; 4] = [10_000, 17_500, 23_200, 41_000];

/// The lines that `lane` has of a song.
pub(crate) fn lines(song: usize, lane: usize) -> Vec<(u64, String)> {
    let title = TITLES[song];
    let said = ["first", "second", "third"][lane];
    let texts = [
        format!("{title} begins and nobody sleeps"),
        format!("the {said} of the boats brings a letter tonight"),
        "we carry the river over the wall".to_owned(),
        format!("and {title} is over before it is light"),
    ];
    STAMPS.into_iter().zip(texts).collect()
}

/// Those lines without times.
pub(crate) fn plain(song: usize, lane: usize) -> String {
    let lines: Vec<String> = lines(song, lane)
        .into_iter()
        .map(|(_, line)| line)
        .collect();
    lines.join("\n")
}

/// Those lines as LRC.
pub(crate) fn synced(song: usize, lane: usize) -> String {
    let stamped = lines(song, lane).into_iter().map(|(at, line)| {
        let (minutes, seconds, hundredths) = (at / 60_000, at / 1_000 % 60, at / 10 % 100);
        format!("[{minutes:02}:{seconds:02}.{hundredths:02}] {line}")
    });
    stamped.collect::<Vec<_>>().join("\n")
}

/// The song of a title.
pub(crate) fn number_of(title: &str) -> Option<usize> {
    TITLES.iter().position(|known| *known == title)
}

/// A file of a song.
pub(crate) fn track(song: usize, file: usize) -> Place {
    Place::new(FOLDER, format!("Boats/{} {file}.flac", TITLES[song]))
}

/// What may lie beside that.
pub(crate) fn beside(song: usize, file: usize, form: Form) -> Place {
    sidecar(&track(song, file), form).expect("a short name")
}

/// Where somebody has laid a file of his own.
pub(crate) fn users_place(song: usize, users: Users) -> Place {
    let form = match users {
        Users::Lrc => Form::Synced,
        Users::Txt => Form::Plain,
    };
    beside(song, 0, form)
}

/// What he has written.
pub(crate) fn users_words(song: usize) -> Bytes {
    Bytes::from(format!("my own words of {}", TITLES[song]))
}

/// What is put in by the `n`-th of several who do so: the track, and one of its files, if it has any.
pub(crate) fn request(scenario: &Scenario, put: Put, n: usize) -> Request {
    let (song, files) = (put.song, scenario.songs[put.song].files);
    let track_id = format!("tr-{song}");
    let file = (files > 0).then(|| {
        let number = n % files;
        Target {
            track_id: track_id.clone(),
            file: Some(File {
                instance_id: FOLDER.to_owned(),
                remote_id: format!("{song}-{number}"),
                path: track(song, number).path,
            }),
        }
    });
    let whole = Target {
        track_id,
        file: None,
    };
    Request {
        song: Song {
            title: TITLES[song].to_owned(),
            artist: ARTIST.to_owned(),
            duration_ms: Some(u64::from(SECONDS) * 1_000),
            ..Song::default()
        },
        targets: std::iter::once(whole).chain(file).collect(),
        priority: Priority::SCAN,
    }
}

/// Whether it has words.
pub(crate) fn has_words(knows: Knows) -> bool {
    match knows {
        Knows::Plain | Knows::Line => true,
        Knows::Nothing | Knows::Instrumental => false,
    }
}
