//! A small library with texts that hurt.

use segue_core::catalog::model::{ArtistSource, ReleaseSource};
use segue_core::catalog::model::{
    CoverRef, Library, Merged, SourceKind, TrackSource, UnifiedArtist, UnifiedRelease,
    UnifiedReleaseGroup, UnifiedTrack,
};
use segue_core::catalog::normalise::{fold, sort_key};
use segue_core::time::Wall;
use segue_sqlite::{InstanceSpec, Writer};

/// Has every character that breaks a serializer.
pub(crate) const HOSTILE: &str = "<&\"'> ]]> A\u{8}B \u{1F600}";

/// What of [`HOSTILE`] can be shown.
pub(crate) const SHOWN: &str = "<&\"'> ]]> AB \u{1F600}";

/// Ids of the library, by what they are.
pub(crate) const BJORK: &str = "ar-bjork";
pub(crate) const GUEST: &str = "ar-guest";
pub(crate) const DEBUT: &str = "al-debut";
pub(crate) const HOSTILE_ALBUM: &str = "al-hostile";
pub(crate) const TRACK: &str = "tr-human";
pub(crate) const HOSTILE_TRACK: &str = "tr-hostile";

/// When the library was merged.
pub(crate) const MERGED: Wall = Wall(1_767_000_000_000);

/// Two sources, four albums: `home` has all, `shelf` has only Debut.
pub(crate) fn fill(w: &Writer) -> segue_sqlite::Result<()> {
    for (id, kind, name) in [
        ("home", SourceKind::Subsonic, "Home & Away"),
        ("shelf", SourceKind::Folder, "Shelf"),
    ] {
        w.upsert_instance(&InstanceSpec {
            id: id.into(),
            kind,
            name: name.into(),
            local: true,
        })?;
    }
    let mut library = Library::default();
    for (id, name, is_album_artist) in [
        (BJORK, "Björk", true),
        (GUEST, "A Guest", false),
        ("ar-hostile", HOSTILE, true),
        ("ar-japan", "日本", true),
        ("ar-queen", "The Queen", true),
    ] {
        library.artists.push(an_artist(id, name, is_album_artist));
    }
    album(&mut library, DEBUT, "Debut", BJORK, 1993, &["Pop", "R&B"]);
    album(
        &mut library,
        HOSTILE_ALBUM,
        HOSTILE,
        "ar-hostile",
        2001,
        &[HOSTILE],
    );
    album(
        &mut library,
        "al-japan",
        "AC/DC 100% *",
        "ar-japan",
        2010,
        &[],
    );
    album(
        &mut library,
        "al-queen",
        "Queen II",
        "ar-queen",
        1974,
        &["Rock"],
    );
    song(&mut library, TRACK, "Human Behaviour", DEBUT, BJORK, 1);
    song(&mut library, "tr-crying", "Crying", DEBUT, GUEST, 2);
    song(
        &mut library,
        HOSTILE_TRACK,
        HOSTILE,
        HOSTILE_ALBUM,
        "ar-hostile",
        1,
    );
    song(
        &mut library,
        "tr-japan",
        "Straße Ørsted",
        "al-japan",
        "ar-japan",
        1,
    );
    song(
        &mut library,
        "tr-queen",
        "\"d'a\"",
        "al-queen",
        "ar-queen",
        1,
    );
    {
        let list = &mut library.artist_sources;
        list.sort();
    }
    library.release_sources.sort();
    library.release_groups.sort_by(|a, b| a.id.cmp(&b.id));
    library.releases.sort_by(|a, b| a.id.cmp(&b.id));
    library.tracks.sort_by(|a, b| a.id.cmp(&b.id));
    let key = |s: &TrackSource| (s.instance.clone(), s.remote_id.clone());
    library.track_sources.sort_by_key(key);
    let merged = Merged {
        library,
        ..Merged::default()
    };
    w.apply_merge(merged, MERGED)?;
    Ok(())
}

fn an_artist(id: &str, name: &str, is_album_artist: bool) -> UnifiedArtist {
    UnifiedArtist {
        id: id.into(),
        name: name.into(),
        name_key: fold(name),
        sort_key: sort_key(name),
        musicbrainz_id: Some(format!("mbid-of-{id}")),
        cover_art: None,
        is_album_artist,
    }
}

fn album(library: &mut Library, id: &str, name: &str, artist_id: &str, year: i32, genres: &[&str]) {
    let artist = library.artists.iter().find(|a| a.id == artist_id);
    let artist_name = artist.expect("an artist").name.clone();
    let release = id.replacen("al", "re", 1);
    library.release_groups.push(UnifiedReleaseGroup {
        id: id.into(),
        name: name.into(),
        name_key: fold(name),
        artist_id: artist_id.into(),
        artist_name,
        year: Some(year),
        genres: genres.iter().map(|g| (*g).to_owned()).collect(),
        musicbrainz_id: None,
        cover_art: Some(CoverRef {
            instance: "home".into(),
            remote_id: id.into(),
        }),
        is_compilation: false,
        created: Some(Wall(1_600_000_000_000 + i64::from(year))),
        song_count: if id == DEBUT { 2 } else { 1 },
        duration_ms: if id == DEBUT { 25_400 } else { 12_700 },
    });
    library.releases.push(UnifiedRelease {
        id: release.clone(),
        release_group_id: id.into(),
        name: name.into(),
        musicbrainz_id: None,
        track_count: 1,
    });
    for instance in sources_of(id) {
        library.release_sources.push(ReleaseSource {
            instance: (*instance).into(),
            remote_id: format!("remote-{id}"),
            release_id: release.clone(),
            release_group_id: id.into(),
        });
        library.artist_sources.push(ArtistSource {
            instance: (*instance).into(),
            remote_id: format!("remote-{artist_id}"),
            artist_id: artist_id.into(),
        });
    }
}

fn sources_of(album: &str) -> &'static [&'static str] {
    if album == DEBUT {
        &["home", "shelf"]
    } else {
        &["home"]
    }
}

fn song(
    library: &mut Library,
    id: &str,
    title: &str,
    album_id: &str,
    artist_id: &str,
    number: u32,
) {
    let artist = library.artists.iter().find(|a| a.id == artist_id);
    let album = library.release_groups.iter().find(|g| g.id == album_id);
    let (artist, album) = (artist.expect("an artist"), album.expect("an album"));
    library.tracks.push(UnifiedTrack {
        id: id.into(),
        release_group_id: album_id.into(),
        title: title.into(),
        title_key: fold(title),
        artist_id: artist_id.into(),
        artist_name: artist.name.clone(),
        track_number: Some(number),
        disc_number: 1,
        duration_ms: Some(12_700),
        year: album.year,
        genres: album.genres.clone(),
        musicbrainz_id: None,
        isrc: Some("GBAYE0601498".into()),
        cover_art: None,
        created: album.created,
    });
    for instance in sources_of(album_id) {
        let is_home = *instance == "home";
        let (suffix, content_type, rank, bit_rate) = if is_home {
            (
                "flac",
                "audio/flac",
                segue_core::rank::format_rank("flac"),
                900,
            )
        } else {
            (
                "mp3",
                "audio/mpeg",
                segue_core::rank::format_rank("mp3"),
                320,
            )
        };
        library.track_sources.push(TrackSource {
            instance: (*instance).into(),
            remote_id: format!("remote-{id}"),
            track_id: id.into(),
            preferred: is_home,
            format_rank: rank,
            bit_rate,
            local: true,
            format: suffix.into(),
            suffix: suffix.into(),
            content_type: content_type.into(),
            size: Some(if is_home { 1_430_000 } else { 508_000 }),
            duration_ms: Some(12_700),
            sampling_rate: Some(44_100),
            bit_depth: is_home.then_some(16),
            channel_count: Some(2),
        });
    }
}
