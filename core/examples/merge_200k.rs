//! Merges a made-up library of 200,000 track rows from four sources, twice, and says how long that took.
//!
//! `cargo run --release -p segue-core --example merge_200k [ROWS]`

use segue_core::catalog::merge::merge;
use segue_core::catalog::model::{
    InstanceAlbum, InstanceArtist, InstanceTrack, MergeInput, MergeInstance, Merged, Of,
};

const SOURCES: [&str; 4] = ["home", "office", "peer-a", "peer-b"];
const TRACKS_PER_ALBUM: usize = 12;
const ALBUMS_PER_ARTIST: usize = 5;

fn main() {
    let rows = std::env::args()
        .nth(1)
        .and_then(|rows| rows.parse().ok())
        .unwrap_or(200_000);
    let input = library(rows);
    println!(
        "{} sources, {} artist rows, {} album rows, {} track rows",
        input.instances.len(),
        input.artists.len(),
        input.albums.len(),
        input.tracks.len()
    );
    let first = timed("first merge", || merge(input.clone()));
    describe(&first);
    let again = MergeInput {
        previous: first.library.clone(),
        aliases: first.aliases.clone(),
        ..input
    };
    let second = timed("unchanged merge", || merge(again));
    assert!(second == first, "R3: an unchanged library changes no row");
}

#[expect(
    clippy::disallowed_methods,
    reason = "a measuring example, outside the core proper"
)]
fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = std::time::Instant::now();
    let result = work();
    println!("{what}: {:.2} s", start.elapsed().as_secs_f64());
    result
}

fn describe(merged: &Merged) {
    let library = &merged.library;
    println!(
        "{} artists, {} release groups, {} releases, {} tracks from {} sources of tracks, {} skipped",
        library.artists.len(),
        library.release_groups.len(),
        library.releases.len(),
        library.tracks.len(),
        library.track_sources.len(),
        merged.skipped.len()
    );
}

/// Four sources of equally many tracks. Every second album is on two sources, spelt differently; the rest is on one.
fn library(rows: usize) -> MergeInput {
    let mut input = MergeInput::default();
    for (number, id) in SOURCES.iter().enumerate() {
        input.instances.push(MergeInstance {
            id: (*id).to_owned(),
            local: number < 2,
        });
        let albums = rows / SOURCES.len() / TRACKS_PER_ALBUM;
        for album in 0..albums {
            let shared = album % 2 == 0;
            // Sources 0 and 1 share albums, and so do 2 and 3.
            let owner = if shared { number / 2 } else { number };
            add_album(&mut input, number, owner, album);
        }
    }
    input
}

fn add_album(input: &mut MergeInput, source: usize, owner: usize, album: usize) {
    let instance = SOURCES[source];
    let accented = source.is_multiple_of(2);
    let spell = |text: String| {
        if accented {
            text
        } else {
            text.replace('é', "e").to_lowercase()
        }
    };
    let artist = album / ALBUMS_PER_ARTIST;
    let scope = if album.is_multiple_of(2) {
        "Common"
    } else {
        "Own"
    };
    let artist_name = spell(format!("The Élan & Café {scope} {owner} Band {artist}"));
    let (artist_id, album_id) = (format!("ar{scope}{artist}"), format!("al{album}"));
    if album % ALBUMS_PER_ARTIST < 2 {
        let row = InstanceArtist {
            remote_id: artist_id.clone(),
            name: artist_name.clone(),
            ..Default::default()
        };
        input.artists.push(Of {
            instance: instance.to_owned(),
            row,
        });
    }
    let row = InstanceAlbum {
        remote_id: album_id.clone(),
        name: spell(format!("Récord Number {album}")),
        artist_remote_id: Some(artist_id.clone()),
        artist_name: artist_name.clone(),
        year: Some(1970 + i32::try_from(album % 50).unwrap_or(0)),
        ..Default::default()
    };
    input.albums.push(Of {
        instance: instance.to_owned(),
        row,
    });
    for track in 0..TRACKS_PER_ALBUM {
        let row = InstanceTrack {
            remote_id: format!("tr{album}-{track}"),
            album_remote_id: album_id.clone(),
            title: spell(format!(
                "Sóng {track} of Récord {album}{}",
                if track == 3 { " (Live)" } else { "" }
            )),
            artist_name: artist_name.clone(),
            artist_remote_id: Some(artist_id.clone()),
            track_number: u32::try_from(track + 1).ok(),
            disc_number: 1,
            duration_ms: Some(180_000 + 1_000 * ((album * 7 + track * 13 + source) % 120) as u64),
            bit_rate: Some(if accented { 900 } else { 320 }),
            format: if accented { "flac" } else { "mp3" }.to_owned(),
            suffix: if accented { "flac" } else { "mp3" }.to_owned(),
            content_type: "audio/flac".to_owned(),
            genres: vec!["Rock".to_owned()],
            ..Default::default()
        };
        input.tracks.push(Of {
            instance: instance.to_owned(),
            row,
        });
    }
}
