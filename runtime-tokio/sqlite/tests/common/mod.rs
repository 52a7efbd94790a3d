//! A small library, and short ways to write it.
#![allow(dead_code, reason = "each test file uses its part")]

use segue_core::catalog::model::{
    ArtistSource, CoverRef, InstanceAlbum, InstanceArtist, InstanceTrack, Library, Merged, Pass,
    ReleaseSource, SourceKind, TrackSource, UnifiedArtist, UnifiedRelease, UnifiedReleaseGroup,
    UnifiedTrack,
};
use segue_core::catalog::normalise::{fold, sort_key};
use segue_core::io::StoreError;
use segue_core::rank::format_rank;
use segue_core::time::Wall;
use segue_sqlite::{Db, InstanceSpec, Reader, Writer};

/// A database on disk that goes with the test.
pub(crate) struct Shelf {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) db: Db,
    pub(crate) writer: Writer,
    pub(crate) reader: Reader,
}

pub(crate) fn a_database() -> Shelf {
    let dir = tempfile::tempdir().unwrap();
    let db = Db::open(&dir.path().join("segue.db")).unwrap();
    let (writer, reader) = (db.writer().unwrap(), db.reader().unwrap());
    Shelf {
        dir,
        db,
        writer,
        reader,
    }
}

impl Shelf {
    /// One committed change.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&Writer) -> segue_sqlite::Result<T>) -> T {
        self.writer
            .alone(|w| change(w).map_err(StoreError::from))
            .unwrap()
    }

    /// Sources of these names; the first is local.
    pub(crate) fn with_sources(self, ids: &[&str]) -> Self {
        for (at, id) in ids.iter().enumerate() {
            self.change(|w| w.upsert_instance(&a_source(id, at == 0)));
        }
        self
    }

    /// A user, by row id.
    pub(crate) fn user(&self, name: &str) -> i64 {
        let user = segue_sqlite::NewUser {
            name: name.into(),
            password_enc: vec![1, 2, 3],
            is_admin: false,
        };
        self.change(|w| w.add_user(&user, Wall(1)))
    }

    /// Every row of `track_sources`, as SQLite prints it.
    pub(crate) fn track_sources_dump(&self) -> String {
        let raw = rusqlite::Connection::open(self.dir.path().join("segue.db")).unwrap();
        let mut statement = raw
            .prepare("SELECT rowid, * FROM track_sources ORDER BY rowid")
            .unwrap();
        let width = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let mut dump = String::new();
        while let Some(row) = rows.next().unwrap() {
            for at in 0..width {
                dump.push_str(&format!("{:?}|", row.get_ref(at).unwrap()));
            }
            dump.push('\n');
        }
        dump
    }
}

pub(crate) fn a_source(id: &str, local: bool) -> InstanceSpec {
    InstanceSpec {
        id: id.into(),
        kind: SourceKind::Subsonic,
        name: id.to_uppercase(),
        local,
    }
}

/// One track as a merge would place it. Ids come from the names.
pub(crate) struct Song<'a> {
    pub(crate) title: &'a str,
    pub(crate) artist: &'a str,
    pub(crate) album: &'a str,
    pub(crate) genre: &'a str,
    pub(crate) year: i32,
    /// (instance, format, bit rate), best first: the first is preferred.
    pub(crate) sources: &'a [(&'a str, &'a str, u32)],
}

pub(crate) fn a_song<'a>(title: &'a str, artist: &'a str, album: &'a str) -> Song<'a> {
    Song {
        title,
        artist,
        album,
        genre: "Rock",
        year: 2000,
        sources: &[("home", "flac", 900)],
    }
}

fn slug(text: &str) -> String {
    fold(text)
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect()
}

pub(crate) fn artist_id(name: &str) -> String {
    format!("ar{}", slug(name))
}

pub(crate) fn album_id(name: &str) -> String {
    format!("al{}", slug(name))
}

pub(crate) fn track_id(title: &str, album: &str) -> String {
    format!("tr{}-{}", slug(title), slug(album))
}

/// What a merge would make of these songs.
pub(crate) fn merged(songs: &[Song<'_>]) -> Merged {
    let mut library = Library::default();
    for (number, song) in songs.iter().enumerate() {
        add(&mut library, song, u32::try_from(number).unwrap() + 1);
    }
    Merged {
        library,
        ..Merged::default()
    }
}

fn add(library: &mut Library, song: &Song<'_>, number: u32) {
    let (artist_id, group_id) = (artist_id(song.artist), album_id(song.album));
    let release_id = format!("re{}", slug(song.album));
    if !library.artists.iter().any(|row| row.id == artist_id) {
        library.artists.push(UnifiedArtist {
            id: artist_id.clone(),
            name: song.artist.into(),
            name_key: fold(song.artist),
            sort_key: sort_key(song.artist),
            is_album_artist: true,
            ..UnifiedArtist::default()
        });
        library.artist_sources.push(ArtistSource {
            instance: song.sources[0].0.into(),
            remote_id: artist_id.clone(),
            artist_id: artist_id.clone(),
        });
    }
    let at = library
        .release_groups
        .iter()
        .position(|row| row.id == group_id)
        .unwrap_or_else(|| {
            library.release_groups.push(UnifiedReleaseGroup {
                id: group_id.clone(),
                name: song.album.into(),
                name_key: fold(song.album),
                artist_id: artist_id.clone(),
                artist_name: song.artist.into(),
                year: Some(song.year),
                genres: vec![song.genre.into()],
                created: Some(Wall(i64::from(number) * 1000)),
                ..UnifiedReleaseGroup::default()
            });
            library.releases.push(UnifiedRelease {
                id: release_id.clone(),
                release_group_id: group_id.clone(),
                name: song.album.into(),
                ..UnifiedRelease::default()
            });
            library.release_sources.push(ReleaseSource {
                instance: song.sources[0].0.into(),
                remote_id: group_id.clone(),
                release_id: release_id.clone(),
                release_group_id: group_id.clone(),
            });
            library.release_groups.len() - 1
        });
    library.release_groups[at].song_count += 1;
    let id = track_id(song.title, song.album);
    library.tracks.push(UnifiedTrack {
        id: id.clone(),
        release_group_id: group_id,
        title: song.title.into(),
        title_key: fold(song.title),
        artist_id,
        artist_name: song.artist.into(),
        track_number: Some(number),
        disc_number: 1,
        duration_ms: Some(180_000),
        year: Some(song.year),
        genres: vec![song.genre.into()],
        cover_art: Some(CoverRef {
            instance: song.sources[0].0.into(),
            remote_id: format!("co-{id}"),
        }),
        ..UnifiedTrack::default()
    });
    for (place, (instance, format, bit_rate)) in song.sources.iter().enumerate() {
        library.track_sources.push(TrackSource {
            instance: (*instance).into(),
            remote_id: format!("r-{id}"),
            track_id: id.clone(),
            preferred: place == 0,
            format_rank: format_rank(format),
            bit_rate: *bit_rate,
            local: *instance == "home",
            format: (*format).into(),
            suffix: (*format).into(),
            content_type: format!("audio/{format}"),
            size: Some(1_000_000),
            duration_ms: Some(180_000),
            ..TrackSource::default()
        });
    }
}

/// A complete pass over a source with tracks numbered in `range`, ten on an album.
pub(crate) fn a_pass(range: std::ops::Range<u32>) -> Pass {
    let mut pass = Pass {
        complete: true,
        artists: vec![InstanceArtist {
            remote_id: "a1".into(),
            name: "Someone".into(),
            ..InstanceArtist::default()
        }],
        ..Pass::default()
    };
    for n in range {
        let album = format!("b{}", n / 10);
        if pass
            .albums
            .last()
            .is_none_or(|last| last.remote_id != album)
        {
            pass.albums.push(InstanceAlbum {
                remote_id: album.clone(),
                name: format!("Album {}", n / 10),
                artist_name: "Someone".into(),
                genres: vec!["Rock".into(), "Pop".into()],
                year: Some(1999),
                created: Some(Wall(77)),
                ..InstanceAlbum::default()
            });
        }
        pass.tracks.push(InstanceTrack {
            remote_id: format!("t{n:05}"),
            album_remote_id: album,
            title: format!("Track {n}"),
            artist_name: "Someone".into(),
            track_number: Some(n % 10 + 1),
            disc_number: 1,
            duration_ms: Some(200_000),
            bit_rate: Some(320),
            format: "mp3".into(),
            suffix: "mp3".into(),
            content_type: "audio/mpeg".into(),
            size: Some(8_000_000),
            genres: vec!["Rock".into()],
            path: Some(format!("Someone/{n}.mp3")),
            modified: Some(Wall(1234)),
            ..InstanceTrack::default()
        });
    }
    pass
}
