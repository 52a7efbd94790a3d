//! The browsing endpoints of the fake upstream.

use super::library::{Album, Artist, Library, Track};
use super::lyrics;
use super::shared::{LyricsMethods, Quirks, Seen};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A payload, or a failed envelope's code and message.
pub(super) type Answer = Result<Value, (u32, String)>;

/// Answers `seen` out of `library`.
pub(super) fn answer(library: &Library, quirks: &Quirks, seen: &Seen) -> Answer {
    let write = Writing { quirks };
    match seen.endpoint.as_str() {
        "ping" => Ok(json!({})),
        "getLicense" => Ok(json!({ "license": { "valid": true } })),
        "getMusicFolders" => Ok(
            json!({ "musicFolders": { "musicFolder": write.list(vec![json!({ "id": 1, "name": "Music" })]) } }),
        ),
        "getScanStatus" => {
            Ok(json!({ "scanStatus": { "scanning": false, "count": library.tracks().count() } }))
        }
        "getOpenSubsonicExtensions" => {
            Ok(json!({ "openSubsonicExtensions": lyrics::extensions(quirks) }))
        }
        "getLyrics" if quirks.lyrics >= LyricsMethods::ByName => Ok(lyrics::by_name(library, seen)),
        "getLyricsBySongId" if quirks.lyrics >= LyricsMethods::ById => {
            let id = required(seen, "id")?;
            lyrics::by_id(library, quirks, id, seen).ok_or_else(|| not_found("Song"))
        }
        "getArtists" => Ok(json!({ "artists": write.index(library) })),
        "getArtist" => write.artist_with_albums(library, required(seen, "id")?),
        "getAlbum" => write.album_with_songs(library, required(seen, "id")?),
        "getSong" => write.song_by_id(library, required(seen, "id")?),
        "getAlbumList2" => Ok(write.album_page(library, seen)),
        "search3" => Ok(write.search(library, seen)),
        "getGenres" => Ok(json!({ "genres": { "genre": write.list(genres(library)) } })),
        "getPlaylists" => Ok(json!({ "playlists": {} })),
        "scrobble" => Ok(json!({})),
        other => Err((0, format!("Unknown endpoint {other}"))),
    }
}

fn required<'a>(seen: &'a Seen, name: &str) -> Result<&'a str, (u32, String)> {
    let missing = || (10, format!("Required parameter '{name}' is missing"));
    seen.param(name).ok_or_else(missing)
}

fn number(seen: &Seen, name: &str, default: usize) -> usize {
    let given = seen.param(name).and_then(|value| value.parse().ok());
    given.unwrap_or(default)
}

fn not_found(what: &str) -> (u32, String) {
    (70, format!("{what} not found"))
}

fn genres(library: &Library) -> Vec<Value> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (_, album) in library.albums() {
        for genre in &album.genres {
            let count = counts.entry(genre).or_default();
            *count = (count.0 + album.tracks.len(), count.1 + 1);
        }
    }
    let genres = counts.into_iter();
    genres.map(|(name, (songs, albums))| json!({ "value": name, "songCount": songs, "albumCount": albums })).collect()
}

/// Writes values the way the quirks want them.
struct Writing<'a> {
    quirks: &'a Quirks,
}

impl Writing<'_> {
    fn id(&self, id: &str) -> Value {
        match id.parse::<u64>() {
            Ok(number) if self.quirks.numeric_ids => number.into(),
            Ok(_) | Err(_) => id.into(),
        }
    }

    fn list(&self, mut items: Vec<Value>) -> Value {
        match items.len() {
            1 if self.quirks.bare_single => items.remove(0),
            _ => Value::Array(items),
        }
    }

    /// An object without its absent fields, or with them as null.
    fn object(&self, fields: Value) -> Value {
        match fields {
            Value::Object(fields) if !self.quirks.null_fields => Value::Object(
                fields
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .collect::<Map<_, _>>(),
            ),
            fields => fields,
        }
    }

    fn index(&self, library: &Library) -> Value {
        let mut letters: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for artist in &library.artists {
            let name = artist.name.strip_prefix("The ").unwrap_or(&artist.name);
            let letter = name.chars().next().map(|c| c.to_uppercase().to_string());
            letters
                .entry(letter.unwrap_or_else(|| "#".to_owned()))
                .or_default()
                .push(self.artist(artist));
        }
        let index = letters
            .into_iter()
            .map(|(name, artists)| json!({ "name": name, "artist": self.list(artists) }));
        json!({ "ignoredArticles": "The", "index": self.list(index.collect()) })
    }

    fn artist(&self, artist: &Artist) -> Value {
        self.object(json!({
            "id": self.id(&artist.id),
            "name": artist.name,
            "albumCount": artist.albums.len(),
            "coverArt": self.id(&artist.id),
            "musicBrainzId": artist.musicbrainz_id,
        }))
    }

    fn artist_with_albums(&self, library: &Library, id: &str) -> Answer {
        let artist = library.artists.iter().find(|artist| artist.id == id);
        let artist = artist.ok_or_else(|| not_found("Artist"))?;
        let albums = artist
            .albums
            .iter()
            .map(|album| self.album(artist, album))
            .collect();
        let mut fields = self.artist(artist);
        fields["album"] = self.list(albums);
        Ok(json!({ "artist": fields }))
    }

    fn album(&self, artist: &Artist, album: &Album) -> Value {
        let genres: Vec<Value> = album
            .genres
            .iter()
            .map(|name| json!({ "name": name }))
            .collect();
        self.object(json!({
            "id": self.id(&album.id),
            "name": album.name,
            "artist": artist.name,
            "artistId": self.id(&artist.id),
            "coverArt": self.id(&album.id),
            "songCount": album.tracks.len(),
            "duration": album.seconds(),
            "created": album.created.as_deref().unwrap_or("2024-05-01T12:00:00.000Z"),
            "year": album.year,
            "genre": album.genres.first(),
            "genres": match self.quirks.classic { true => Value::Null, false => genres.into() },
            "musicBrainzId": album.musicbrainz_id,
            "isCompilation": album.is_compilation.then_some(true),
        }))
    }

    fn album_with_songs(&self, library: &Library, id: &str) -> Answer {
        let found = library.albums().find(|(_, album)| album.id == id);
        let (artist, album) = found.ok_or_else(|| not_found("Album"))?;
        let songs = album
            .tracks
            .iter()
            .map(|track| self.song(artist, album, track))
            .collect();
        let mut fields = self.album(artist, album);
        fields["song"] = self.list(songs);
        Ok(json!({ "album": fields }))
    }

    fn song(&self, artist: &Artist, album: &Album, track: &Track) -> Value {
        let content = track.content("");
        let bit_rate = match self.quirks.bit_rate_in_bits {
            true => track.bit_rate.saturating_mul(1000),
            false => track.bit_rate,
        };
        self.object(json!({
            "id": self.id(&track.id),
            "parent": self.id(&album.id),
            "isDir": false,
            "title": track.title,
            "album": album.name,
            "albumId": self.id(&album.id),
            "artist": track.artist.as_deref().unwrap_or(&artist.name),
            "artistId": match track.artist { Some(_) => Value::Null, None => self.id(&artist.id) },
            "track": track.number,
            "discNumber": track.disc,
            "year": album.year,
            "genre": album.genres.first(),
            "coverArt": self.id(&album.id),
            "size": content.size(),
            "contentType": track.media_type(),
            "suffix": track.suffix,
            "duration": track.seconds,
            "bitRate": bit_rate,
            "created": album.created.as_deref().unwrap_or("2024-05-01T12:00:00.000Z"),
            "type": "music",
            "isVideo": false,
            "musicBrainzId": track.musicbrainz_id,
            "isrc": track.isrc.as_ref().map(|isrc| vec![isrc]),
        }))
    }

    fn song_by_id(&self, library: &Library, id: &str) -> Answer {
        let found = library.tracks().find(|(_, _, track)| track.id == id);
        let (artist, album, track) = found.ok_or_else(|| not_found("Song"))?;
        Ok(json!({ "song": self.song(artist, album, track) }))
    }

    fn album_page(&self, library: &Library, seen: &Seen) -> Value {
        let size = number(seen, "size", 10).min(500);
        let offset = match self.quirks.ignores_offset {
            true => 0,
            false => number(seen, "offset", 0),
        };
        let page = library.albums().skip(offset).take(size);
        let page = page
            .map(|(artist, album)| self.album(artist, album))
            .collect();
        json!({ "albumList2": { "album": self.list(page) } })
    }

    fn search(&self, library: &Library, seen: &Seen) -> Value {
        let query = seen
            .param("query")
            .unwrap_or("")
            .trim_matches('"')
            .to_lowercase();
        let hit = |text: &str| match query.is_empty() {
            true => !self.quirks.no_empty_search,
            false => text.to_lowercase().contains(&query),
        };
        let page = |found: Vec<Value>, kind: &str| {
            let skip = number(seen, &format!("{kind}Offset"), 0);
            let take = number(seen, &format!("{kind}Count"), 20);
            self.list(found.into_iter().skip(skip).take(take).collect())
        };
        let artists = library.artists.iter().filter(|artist| hit(&artist.name));
        let albums = library.albums().filter(|(_, album)| hit(&album.name));
        let songs = library.tracks().filter(|(_, _, track)| hit(&track.title));
        json!({ "searchResult3": {
            "artist": page(artists.map(|artist| self.artist(artist)).collect(), "artist"),
            "album": page(albums.map(|(artist, album)| self.album(artist, album)).collect(), "album"),
            "song": page(songs.map(|(artist, album, track)| self.song(artist, album, track)).collect(), "song"),
        } })
    }
}
