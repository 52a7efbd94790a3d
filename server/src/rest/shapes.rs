//! Library rows as the API shows them: `Child`, `AlbumID3`, `ArtistID3`, `Genre`.
//!
//! Fields of OpenSubsonic that we keep are always there, with an empty default when a row lacks them;
//! fields that we do not keep are not. What a song shows of its file is its preferred source: what a raw
//! stream sends (contracts, section 4).

use super::document::{Doc, Value};
use segue_core::Wall;
use segue_core::catalog::normalise;
use segue_sqlite::{AlbumView, ArtistView, GenreView, SongView};

/// Shown where a date is required and no source knows one.
const UNKNOWN_DATE: Wall = Wall(0);

/// A song as `Child`.
pub(super) fn song(view: &SongView) -> Doc {
    let track = &view.track;
    let source = &view.source;
    Doc::new()
        .with("id", &track.id)
        .with("parent", &track.release_group_id)
        .with("isDir", false)
        .with("title", &track.title)
        .with("album", &view.album_name)
        .with("artist", &track.artist_name)
        .with_known("track", track.track_number)
        .with_known("year", track.year.or(view.album_year))
        .with_known("genre", track.genres.first())
        .with("coverArt", &track.id)
        .with_known("size", source.size)
        .with("contentType", &source.content_type)
        .with("suffix", &source.suffix)
        .with_known("duration", track.duration_ms.map(whole_seconds))
        .with_known("bitRate", (source.bit_rate > 0).then_some(source.bit_rate))
        .with("path", path(view))
        .with("isVideo", false)
        .with("playCount", view.play_count)
        .with("discNumber", track.disc_number)
        .with("created", date(track.created.unwrap_or(UNKNOWN_DATE)))
        .with_known("starred", view.starred.map(date))
        .with_known("userRating", view.rating.map(u32::from))
        .with("albumId", &track.release_group_id)
        .with("artistId", &track.artist_id)
        .with("type", "music")
        .with("mediaType", "song")
        .with_known("played", view.played.map(date))
        .with("sortName", normalise::sort_key(&track.title))
        .with("musicBrainzId", text(track.musicbrainz_id.as_ref()))
        .with_list("isrc", track.isrc.iter())
        .with_list("genres", genre_names(&track.genres))
        .with_list(
            "artists",
            [artist_name(&track.artist_id, &track.artist_name)],
        )
        .with("displayArtist", &track.artist_name)
        .with_list(
            "albumArtists",
            [artist_name(&view.album_artist_id, &view.album_artist_name)],
        )
        .with("displayAlbumArtist", &view.album_artist_name)
        .with("bitDepth", source.bit_depth.unwrap_or(0))
        .with("samplingRate", source.sampling_rate.unwrap_or(0))
        .with("channelCount", source.channel_count.unwrap_or(0))
        .with("replayGain", Doc::new())
}

/// An album as `AlbumID3`.
pub(super) fn album(view: &AlbumView) -> Doc {
    let group = &view.group;
    Doc::new()
        .with("id", &group.id)
        .with("name", &group.name)
        .with("artist", &group.artist_name)
        .with("artistId", &group.artist_id)
        .with("coverArt", &group.id)
        .with("songCount", group.song_count)
        .with("duration", whole_seconds(group.duration_ms))
        .with_all(album_details(view))
        .with("isCompilation", group.is_compilation)
        .with("displayArtist", &group.artist_name)
        .with_list(
            "artists",
            [artist_name(&group.artist_id, &group.artist_name)],
        )
}

/// An album as a folder: `Child` with `isDir`.
pub(super) fn album_folder(view: &AlbumView) -> Doc {
    let group = &view.group;
    Doc::new()
        .with("id", &group.id)
        .with("parent", &group.artist_id)
        .with("isDir", true)
        .with("title", &group.name)
        .with("album", &group.name)
        .with("artist", &group.artist_name)
        .with("artistId", &group.artist_id)
        .with("coverArt", &group.id)
        .with("songCount", group.song_count)
        .with("duration", whole_seconds(group.duration_ms))
        .with("isVideo", false)
        .with("mediaType", "album")
        .with_all(album_details(view))
        .with("displayAlbumArtist", &group.artist_name)
        .with_list(
            "albumArtists",
            [artist_name(&group.artist_id, &group.artist_name)],
        )
}

/// What both shapes of an album have.
fn album_details(view: &AlbumView) -> Doc {
    let group = &view.group;
    Doc::new()
        .with("playCount", view.play_count)
        .with("created", date(group.created.unwrap_or(UNKNOWN_DATE)))
        .with_known("starred", view.starred.map(date))
        .with_known("userRating", view.rating.map(u32::from))
        .with_known("year", group.year)
        .with_known("genre", group.genres.first())
        .with_known("played", view.played.map(date))
        .with("musicBrainzId", text(group.musicbrainz_id.as_ref()))
        .with("sortName", normalise::sort_key(&group.name))
        .with_list("genres", genre_names(&group.genres))
}

/// An artist as `ArtistID3`.
pub(super) fn artist(view: &ArtistView) -> Doc {
    let artist = &view.artist;
    Doc::new()
        .with("id", &artist.id)
        .with("name", &artist.name)
        .with_known("coverArt", artist.cover_art.as_ref().map(|_| &artist.id))
        .with("albumCount", view.album_count)
        .with_known("starred", view.starred.map(date))
        .with_known("userRating", view.rating.map(u32::from))
        .with("musicBrainzId", text(artist.musicbrainz_id.as_ref()))
        .with("sortName", &artist.sort_key)
}

/// An artist as a folder: `Child` with `isDir`.
pub(super) fn artist_folder(view: &ArtistView) -> Doc {
    let artist = &view.artist;
    Doc::new()
        .with("id", &artist.id)
        .with("isDir", true)
        .with("title", &artist.name)
        .with("artist", &artist.name)
        .with_known("coverArt", artist.cover_art.as_ref().map(|_| &artist.id))
        .with_known("starred", view.starred.map(date))
        .with_known("userRating", view.rating.map(u32::from))
        .with("isVideo", false)
        .with("mediaType", "artist")
        .with("musicBrainzId", text(artist.musicbrainz_id.as_ref()))
        .with("sortName", &artist.sort_key)
}

/// A genre as `Genre`.
pub(super) fn genre(view: &GenreView) -> Doc {
    Doc::new()
        .with("songCount", view.song_count)
        .with("albumCount", view.album_count)
        .with_content("value", &view.name)
}

/// Sorted artists by index letter, in the order of the letters' first artists, `#` last.
pub(super) fn indexes(artists: &[ArtistView], shape: fn(&ArtistView) -> Doc) -> Vec<Doc> {
    let mut letters: Vec<(String, Vec<Doc>)> = Vec::new();
    for view in artists {
        let letter = normalise::index_letter(&view.artist.sort_key);
        match letters.iter_mut().find(|(known, _)| *known == letter) {
            Some((_, group)) => group.push(shape(view)),
            None => letters.push((letter, vec![shape(view)])),
        }
    }
    letters.sort_by_key(|(letter, _)| letter == "#");
    let index = |(letter, group): (String, Vec<Doc>)| {
        Doc::new().with("name", letter).with_list("artist", group)
    };
    letters.into_iter().map(index).collect()
}

/// Rounded, as the servers and tags of one song differ by less than a second anyway.
pub(super) fn whole_seconds(ms: u64) -> u64 {
    ms.saturating_add(500) / 1000
}

/// A moment as ISO 8601 with zone.
pub(super) fn date(at: Wall) -> String {
    at.to_string()
}

fn text(known: Option<&String>) -> Value {
    Value::Text(known.cloned().unwrap_or_default())
}

fn genre_names(genres: &[String]) -> impl Iterator<Item = Doc> {
    genres.iter().map(|name| Doc::new().with("name", name))
}

fn artist_name(id: &str, name: &str) -> Doc {
    Doc::new().with("id", id).with("name", name)
}

/// `Artist/Album/NN Title.ext`, made up from the tags: where a source really keeps a file is nobody's
/// business. Some clients use it as the name of a file of their own, so the parts are fit for that.
fn path(view: &SongView) -> String {
    let track = &view.track;
    let number = match (track.disc_number, track.track_number) {
        (0 | 1, Some(number)) => format!("{number:02} "),
        (disc, Some(number)) => format!("{disc}-{number:02} "),
        (_, None) => String::new(),
    };
    let title = part(&track.title, "Untitled");
    let mut path = format!(
        "{}/{}/{number}{title}",
        part(&view.album_artist_name, "Unknown Artist"),
        part(&view.album_name, "Unknown Album"),
    );
    if !view.source.suffix.is_empty() {
        path.push('.');
        path.push_str(&part(&view.source.suffix, "bin"));
    }
    path
}

/// A name as one part of a path: nothing in it separates, hides or leads upwards.
fn part(name: &str, otherwise: &str) -> String {
    let is_unfit = |c: char| {
        c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|')
    };
    let fit: String = name
        .chars()
        .map(|c| if is_unfit(c) { '_' } else { c })
        .collect();
    let fit = fit.trim_matches(|c: char| c == '.' || c.is_whitespace());
    if fit.is_empty() {
        otherwise.to_owned()
    } else {
        fit.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_core::catalog::model::{TrackSource, UnifiedArtist, UnifiedTrack};

    fn a_song() -> SongView {
        SongView {
            track: UnifiedTrack {
                id: "tr1".into(),
                release_group_id: "al1".into(),
                title: "Song".into(),
                track_number: Some(3),
                disc_number: 1,
                duration_ms: Some(12_500),
                ..UnifiedTrack::default()
            },
            album_name: "Album".into(),
            album_artist_id: "ar1".into(),
            album_artist_name: "Artist".into(),
            album_year: Some(1999),
            source: TrackSource {
                suffix: "flac".into(),
                content_type: "audio/flac".into(),
                bit_rate: 900,
                size: Some(1000),
                ..TrackSource::default()
            },
            starred: None,
            rating: None,
            play_count: 0,
            played: None,
        }
    }

    #[test]
    fn a_path_is_made_of_tags_and_never_leads_elsewhere() {
        let mut view = a_song();
        assert_eq!(path(&view), "Artist/Album/03 Song.flac");
        view.track.disc_number = 2;
        assert_eq!(path(&view), "Artist/Album/2-03 Song.flac");
        view.album_artist_name = "AC/DC".into();
        view.album_name = "..".into();
        view.track.title = "../../etc/passwd\u{0}".into();
        view.track.track_number = None;
        assert_eq!(path(&view), "AC_DC/Unknown Album/_.._etc_passwd_.flac");
    }

    #[test]
    fn the_album_lends_its_year_and_durations_are_rounded() {
        let doc = song(&a_song());
        assert_eq!(doc.get("year"), Some(&Value::Int(1999)));
        assert_eq!(doc.get("duration"), Some(&Value::Int(13)));
        assert_eq!(doc.get("isDir"), Some(&Value::Bool(false)));
    }

    #[test]
    fn artists_are_grouped_by_letter_and_the_rest_comes_last() {
        let view = |name: &str| ArtistView {
            artist: UnifiedArtist {
                name: name.into(),
                sort_key: normalise::sort_key(name),
                ..UnifiedArtist::default()
            },
            album_count: 1,
            starred: None,
            rating: None,
        };
        let artists = ["10cc", "Abba", "The Animals", "Björk", "日本"].map(view);
        let shown = indexes(&artists, artist);
        let names: Vec<_> = shown
            .iter()
            .map(|index| index.get("name").cloned())
            .collect();
        assert_eq!(names, ["A", "B", "#"].map(|l| Some(Value::from(l))));
        let Some(Value::List(last)) = shown[2].get("artist") else {
            panic!("a list");
        };
        assert_eq!(last.len(), 2);
    }
}
