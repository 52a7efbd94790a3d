//! Replies of a server as rows of the catalog.
//!
//! Lenient about everything that servers are known to do (see `fields`), strict about what a row cannot do
//! without: a row without an id is skipped with a warning, and the others are kept.

use super::document;
use super::fields::{
    genres, id, is_true, is_zero, isrc, list, mbid, moment, object, positive, seconds, small, text,
    texts,
};
use crate::catalog::model::{InstanceAlbum, InstanceArtist, InstanceTrack};
use crate::source::{EnvelopeCode, Refusal, media};
use serde_json::Value;

pub use super::document::BODY_LIMIT;

/// The most warnings of one pass that are kept.
pub const WARNING_LIMIT: usize = 1_000;

/// Bit rates above this are in bits per second (seen: 192000); none of music is so high in kilobits.
const KILOBITS_LIMIT: u32 = 10_000;

/// The longest track believed, in milliseconds: ten days.
const DURATION_LIMIT: u64 = 10 * 86_400_000;

/// What was skipped or looked wrong, one sentence each, bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    kept: Vec<String>,
    more: u64,
}

impl Warnings {
    /// Adds one.
    pub fn push(&mut self, warning: String) {
        if self.kept.len() < WARNING_LIMIT - 1 {
            self.kept.push(warning);
        } else {
            self.more += 1;
        }
    }

    /// All of them; the last one counts those that were too many.
    pub fn into_vec(mut self) -> Vec<String> {
        if self.more > 0 {
            self.kept.push(format!("{} more warnings", self.more));
        }
        self.kept
    }
}

/// What a server says of itself in every reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// API version.
    pub version: Option<String>,
    /// Product name.
    pub kind: Option<String>,
    /// Product version.
    pub server_version: Option<String>,
    /// Whether it claims to be an OpenSubsonic server.
    pub open_subsonic: bool,
}

/// Whether a reply is a good one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Good,
    /// It is an error.
    Failed {
        /// The code, [`EnvelopeCode::Generic`] when none is readable.
        code: EnvelopeCode,
        /// Upstream text: to judge by, never to show or store.
        message: String,
    },
}

/// A reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// Who answered.
    pub server: Server,
    /// Whether it went well.
    pub standing: Standing,
    content: Value,
}

/// Reads any reply, good or failed. Anything but an envelope is a refusal.
pub fn envelope(body: &[u8]) -> Result<Envelope, Refusal> {
    let mut document = document::read(body)?;
    let content = match document.get_mut("subsonic-response") {
        Some(Value::Array(list)) if list.len() == 1 => list.remove(0),
        Some(content) => content.take(),
        None => return Err(Refusal::ErrorDocument(None)),
    };
    let standing = match (
        object(&content, "error"),
        text(&content, "status").as_deref(),
    ) {
        (Some(error), _) => Standing::Failed {
            code: EnvelopeCode::from_number(small(error, "code").unwrap_or(0)),
            message: text(error, "message").unwrap_or_default(),
        },
        (None, Some("ok")) => Standing::Good,
        (None, Some(_)) => Standing::Failed {
            code: EnvelopeCode::Generic,
            message: String::new(),
        },
        (None, None) => return Err(Refusal::ErrorDocument(None)),
    };
    let server = Server {
        version: text(&content, "version"),
        kind: text(&content, "type"),
        server_version: text(&content, "serverVersion"),
        open_subsonic: is_true(&content, "openSubsonic"),
    };
    Ok(Envelope {
        server,
        standing,
        content,
    })
}

/// Reads a reply that should be a good one.
pub fn reply(body: &[u8]) -> Result<Envelope, Refusal> {
    let envelope = envelope(body)?;
    match &envelope.standing {
        Standing::Good => Ok(envelope),
        Standing::Failed { code, message } => Err(code.refusal(message)),
    }
}

/// An artist of `getArtists`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedArtist {
    /// The row.
    pub row: InstanceArtist,
    /// Whether the server says that it is no album artist (`albumCount` 0).
    pub has_no_albums: bool,
}

impl Envelope {
    /// What it holds, for the readers beside this file.
    pub(super) fn content(&self) -> &Value {
        &self.content
    }

    /// The number of music folders (`getMusicFolders`).
    pub fn music_folders(&self) -> usize {
        object(&self.content, "musicFolders")
            .map_or(0, |folders| list(folders, "musicFolder").count())
    }

    /// The artists of `getArtists`. `None` when the reply holds no such thing.
    pub fn artists(&self, warnings: &mut Warnings) -> Option<Vec<ListedArtist>> {
        let root = object(&self.content, "artists")?;
        let entries = list(root, "index").flat_map(|index| list(index, "artist"));
        // Some flatten the index away.
        let entries = entries.chain(list(root, "artist"));
        let rows = entries.filter_map(|entry| {
            let listed = artist(entry).map(|row| ListedArtist {
                row,
                has_no_albums: is_zero(entry, "albumCount"),
            });
            or_warn(listed, warnings, "an artist without an id")
        });
        Some(rows.collect())
    }

    /// The artist of `getArtist` with its albums.
    pub fn artist(&self, warnings: &mut Warnings) -> Option<(InstanceArtist, Vec<InstanceAlbum>)> {
        let root = object(&self.content, "artist")?;
        let artist = artist(root)?;
        let entries = list(root, "album").map(album);
        let albums = entries.filter_map(|album| or_warn(album, warnings, "an album without an id"));
        Some((artist, albums.collect()))
    }

    /// The album of `getAlbum` with its tracks.
    pub fn album(&self, warnings: &mut Warnings) -> Option<(InstanceAlbum, Vec<InstanceTrack>)> {
        let root = object(&self.content, "album")?;
        let album = album(root)?;
        let mut tracks = Vec::new();
        for entry in list(root, "song") {
            // Folders and videos are not broken tracks, they are no tracks.
            let other = is_true(entry, "isDir") || is_true(entry, "isVideo");
            if other {
                continue;
            }
            match track(entry, &album) {
                Ok(track) => tracks.push(track),
                Err(missing) => {
                    warnings.push(format!(
                        "Album {}: skipped a track without {missing}.",
                        album.remote_id
                    ));
                }
            }
        }
        Some((album, tracks))
    }

    /// One page of `getAlbumList2`. An absent list is an empty one: past the end, some servers leave it out.
    pub fn album_list(&self, warnings: &mut Warnings) -> AlbumPage {
        let root = object(&self.content, "albumList2");
        let entries = root.into_iter().flat_map(|root| list(root, "album"));
        let mut page = AlbumPage::default();
        for entry in entries {
            page.length += 1;
            page.albums
                .extend(or_warn(album(entry), warnings, "an album without an id"));
        }
        page
    }
}

/// One page of `getAlbumList2`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlbumPage {
    /// The readable rows.
    pub albums: Vec<InstanceAlbum>,
    /// How many rows there were, readable or not.
    pub length: usize,
}

fn or_warn<T>(row: Option<T>, warnings: &mut Warnings, what: &str) -> Option<T> {
    if row.is_none() {
        warnings.push(format!("Skipped {what}."));
    }
    row
}

fn artist(entry: &Value) -> Option<InstanceArtist> {
    Some(InstanceArtist {
        remote_id: id(entry, "id")?,
        name: text(entry, "name").unwrap_or_else(|| "[Unknown Artist]".to_owned()),
        musicbrainz_id: mbid(entry, "musicBrainzId"),
        cover_art: id(entry, "coverArt"),
    })
}

fn album(entry: &Value) -> Option<InstanceAlbum> {
    let named = ["name", "title", "album"]
        .iter()
        .find_map(|field| text(entry, field));
    let (artist_remote_id, artist_name) = credited(entry, "artists");
    let types = texts(entry, "releaseTypes");
    Some(InstanceAlbum {
        remote_id: id(entry, "id")?,
        name: named.unwrap_or_else(|| "[Unknown Album]".to_owned()),
        artist_remote_id,
        artist_name,
        year: year(entry),
        genres: genres(entry),
        musicbrainz_id: mbid(entry, "musicBrainzId"),
        release_group_mbid: None,
        cover_art: id(entry, "coverArt"),
        created: moment(entry, "created"),
        is_compilation: is_true(entry, "isCompilation")
            || types
                .iter()
                .any(|kind| kind.eq_ignore_ascii_case("compilation")),
    })
}

/// Id and name of the artist: the plain fields, else the first of the list.
fn credited(entry: &Value, field: &str) -> (Option<String>, String) {
    let first = list(entry, field).next();
    let remote_id = id(entry, "artistId").or_else(|| first.and_then(|first| id(first, "id")));
    let name = text(entry, "artist").or_else(|| first.and_then(|first| text(first, "name")));
    (remote_id, name.unwrap_or_default())
}

fn year(entry: &Value) -> Option<i32> {
    let year = small(entry, "year").filter(|year| *year < 10_000)?;
    i32::try_from(year).ok()
}

/// A track of `album`; the error says what it lacks.
fn track(entry: &Value, album: &InstanceAlbum) -> Result<InstanceTrack, &'static str> {
    let remote_id = id(entry, "id").ok_or("an id")?;
    let path = relative_path(entry);
    let stem = || text(entry, "path").as_deref().and_then(file_stem);
    let title = ["title", "name"]
        .iter()
        .find_map(|field| text(entry, field));
    let title = title.or_else(stem).ok_or("a title")?;
    let (artist_remote_id, artist_name) = credited(entry, "artists");
    let duration_ms = seconds(entry, "duration").filter(|ms| *ms < DURATION_LIMIT);
    let size = positive(entry, "size");
    let (suffix, content_type) = kind(entry);
    Ok(InstanceTrack {
        remote_id,
        album_remote_id: album.remote_id.clone(),
        title,
        artist_name,
        artist_remote_id,
        track_number: small(entry, "track"),
        disc_number: small(entry, "discNumber").unwrap_or(1),
        duration_ms,
        bit_rate: bit_rate(entry, size, duration_ms),
        format: format(&suffix, &content_type),
        suffix,
        content_type,
        size,
        musicbrainz_id: mbid(entry, "musicBrainzId"),
        isrc: isrc(entry),
        year: year(entry),
        genres: genres(entry),
        cover_art: id(entry, "coverArt"),
        sampling_rate: small(entry, "samplingRate"),
        bit_depth: small(entry, "bitDepth"),
        channel_count: small(entry, "channelCount"),
        path,
        modified: None,
        created: moment(entry, "created"),
    })
}

/// Kilobits per second; worked out from size and length when the server does not say.
fn bit_rate(entry: &Value, size: Option<u64>, duration_ms: Option<u64>) -> Option<u32> {
    match small(entry, "bitRate") {
        Some(bits) if bits > KILOBITS_LIMIT => Some(bits / 1000),
        Some(kilobits) => Some(kilobits),
        None => {
            let kilobits = size?.saturating_mul(8) / duration_ms?.max(1);
            u32::try_from(kilobits).ok().filter(|rate| *rate > 0)
        }
    }
}

/// Extension and media type; each is worked out from the other when it is missing.
fn kind(entry: &Value) -> (String, String) {
    let claimed = text(entry, "contentType").map(|kind| kind.to_ascii_lowercase());
    let claimed = claimed.filter(|kind| media::is_media_type(kind));
    let suffix =
        text(entry, "suffix").or_else(|| text(entry, "path").as_deref().and_then(extension));
    let suffix = suffix.map(|suffix| suffix.trim_start_matches('.').to_ascii_lowercase());
    let suffix = suffix.filter(|suffix| is_extension(suffix));
    let suffix = suffix.or_else(|| {
        claimed
            .as_deref()
            .and_then(media::suffix_of)
            .map(str::to_owned)
    });
    let suffix = suffix.unwrap_or_default();
    let content_type = claimed.unwrap_or_else(|| media::content_type_of(&suffix).to_owned());
    (suffix, content_type)
}

fn is_extension(suffix: &str) -> bool {
    (1..=8).contains(&suffix.len()) && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The format, by the media type where that tells the codec, else by the extension.
fn format(suffix: &str, content_type: &str) -> String {
    let by_type = match content_type {
        "audio/opus" => Some("opus"),
        "audio/flac" | "audio/x-flac" => Some("flac"),
        "audio/alac" | "audio/x-alac" => Some("alac"),
        _ => None,
    };
    let format = by_type.unwrap_or(match suffix {
        "oga" | "vorbis" => "ogg",
        "aif" | "aifc" => "aiff",
        "mp4" | "m4b" => "m4a",
        other => other,
    });
    format.to_owned()
}

/// The path below the server's music folder. Absolute ones (seen) and ones that lead out are dropped.
fn relative_path(entry: &Value) -> Option<String> {
    let path = text(entry, "path")?;
    let drive = path.as_bytes().get(1) == Some(&b':');
    let steps_down = |part: &str| !matches!(part, "" | "." | "..");
    (!drive && path.split(['/', '\\']).all(steps_down)).then_some(path)
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn file_stem(path: &str) -> Option<String> {
    let name = file_name(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    (!stem.is_empty()).then(|| stem.to_owned())
}

fn extension(path: &str) -> Option<String> {
    let (_, extension) = file_name(path).rsplit_once('.')?;
    Some(extension.to_owned())
}
