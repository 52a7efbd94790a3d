//! The rows of the catalog: what a source says (`Instance*`) and what the library shows (`Unified*`).
//!
//! Text is kept as the source writes it, in NFC; folded keys are computed by [`super::normalise`].

use crate::time::Wall;
use serde::{Deserialize, Serialize};

/// A configured source's id: `[a-z0-9-]+`, chosen by the operator, also the id of its breaker's instance.
pub type InstanceId = String;

/// What kind of source a row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// A Subsonic or OpenSubsonic server.
    Subsonic,
    /// A music folder of this machine.
    Folder,
    /// A federated peer hub.
    Peer,
}

impl SourceKind {
    /// The word used in configuration, tables and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            SourceKind::Subsonic => "subsonic",
            SourceKind::Folder => "folder",
            SourceKind::Peer => "peer",
        }
    }
}

/// An artist as one source lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct InstanceArtist {
    /// The source's own id.
    pub remote_id: String,
    /// Display name.
    pub name: String,
    /// MusicBrainz artist id, lower case.
    pub musicbrainz_id: Option<String>,
    /// The source's cover art id.
    pub cover_art: Option<String>,
}

/// An album as one source lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct InstanceAlbum {
    /// The source's own id.
    pub remote_id: String,
    /// Display name.
    pub name: String,
    /// The source's id of the album artist, when it says one.
    pub artist_remote_id: Option<String>,
    /// Album artist as text; empty when unknown.
    pub artist_name: String,
    /// Year of release; `None` for absent or zero.
    pub year: Option<i32>,
    /// Genres in tag order.
    pub genres: Vec<String>,
    /// MusicBrainz release id, lower case.
    pub musicbrainz_id: Option<String>,
    /// MusicBrainz release-group id, lower case.
    pub release_group_mbid: Option<String>,
    /// The source's cover art id.
    pub cover_art: Option<String>,
    /// When the source says it got the album.
    pub created: Option<Wall>,
    /// Marked as a compilation by the source.
    pub is_compilation: bool,
}

/// A track as one source lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct InstanceTrack {
    /// The source's own id.
    pub remote_id: String,
    /// The source's id of the album the track is on.
    pub album_remote_id: String,
    /// Display title.
    pub title: String,
    /// Track artist as text; empty when unknown.
    pub artist_name: String,
    /// The source's id of the track artist, when it says one.
    pub artist_remote_id: Option<String>,
    /// Track number; `None` for absent or zero.
    pub track_number: Option<u32>,
    /// Disc number; absent counts as 1.
    pub disc_number: u32,
    /// Length in milliseconds; `None` for absent or zero.
    pub duration_ms: Option<u64>,
    /// Kilobits per second; `None` when unknown.
    pub bit_rate: Option<u32>,
    /// Lower-case format name, by codec where it is known and by file extension otherwise: `flac`, `mp3`, `opus`, `ogg`, `m4a`, `alac`, ...
    pub format: String,
    /// Lower-case file extension without the dot, as clients show it.
    pub suffix: String,
    /// Media type of the original bytes.
    pub content_type: String,
    /// Length of the original bytes.
    pub size: Option<u64>,
    /// MusicBrainz recording id, lower case.
    pub musicbrainz_id: Option<String>,
    /// First ISRC, upper case without dashes.
    pub isrc: Option<String>,
    /// Year; `None` for absent or zero.
    pub year: Option<i32>,
    /// Genres in tag order.
    pub genres: Vec<String>,
    /// The source's cover art id.
    pub cover_art: Option<String>,
    /// Samples per second.
    pub sampling_rate: Option<u32>,
    /// Bits per sample.
    pub bit_depth: Option<u32>,
    /// Number of channels.
    pub channel_count: Option<u32>,
    /// Folder sources: the path below the root. Never shown to clients.
    pub path: Option<String>,
    /// Folder sources: modification time, for incremental scans.
    pub modified: Option<Wall>,
    /// When the source says it got the track.
    pub created: Option<Wall>,
}

/// One pass over one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Artists seen.
    pub artists: Vec<InstanceArtist>,
    /// Albums seen.
    pub albums: Vec<InstanceAlbum>,
    /// Tracks seen.
    pub tracks: Vec<InstanceTrack>,
    /// Whether everything the source has was seen. Rows go only after a complete pass that did not see them.
    pub complete: bool,
    /// What was skipped or looked wrong, in one sentence each; bounded by the producer.
    pub warnings: Vec<String>,
}

/// A source's row together with the source it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Of<T> {
    /// The source.
    pub instance: InstanceId,
    /// Its row.
    pub row: T,
}

/// What the merge knows of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeInstance {
    /// Its id.
    pub id: InstanceId,
    /// Ranks before others at equal quality.
    pub local: bool,
}

/// Everything the merge reads: all sources' rows, and the library as it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeInput {
    /// All sources.
    pub instances: Vec<MergeInstance>,
    /// All sources' artists.
    pub artists: Vec<Of<InstanceArtist>>,
    /// All sources' albums.
    pub albums: Vec<Of<InstanceAlbum>>,
    /// All sources' tracks.
    pub tracks: Vec<Of<InstanceTrack>>,
    /// The library before the merge; ids are kept from it.
    pub previous: Library,
    /// Ids that once were given out and now lead elsewhere; never given out again.
    pub aliases: Vec<Alias>,
}

/// The unified library: what the merge makes and the store keeps. Every list is sorted by its key, so that two
/// libraries can be compared row by row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Library {
    /// Sorted by id.
    pub artists: Vec<UnifiedArtist>,
    /// Sorted by id.
    pub release_groups: Vec<UnifiedReleaseGroup>,
    /// Sorted by id.
    pub releases: Vec<UnifiedRelease>,
    /// Sorted by id.
    pub tracks: Vec<UnifiedTrack>,
    /// Sorted by (instance, remote id).
    pub artist_sources: Vec<ArtistSource>,
    /// Sorted by (instance, remote id).
    pub release_sources: Vec<ReleaseSource>,
    /// Sorted by (instance, remote id).
    pub track_sources: Vec<TrackSource>,
}

/// An artist of the library. Table `unified_artists`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnifiedArtist {
    /// Opaque id, stable for life, starting with `ar`.
    pub id: String,
    /// As the best-ranked source writes it, NFC.
    pub name: String,
    /// Folded name, for search and equality.
    pub name_key: String,
    /// Folded name without a leading article, for ordering and index letters.
    pub sort_key: String,
    /// MusicBrainz artist id.
    pub musicbrainz_id: Option<String>,
    /// Instance and remote cover id of its picture.
    pub cover_art: Option<CoverRef>,
    /// Whether it is an artist of some release group. Track artists that only appear on compilations are not listed by getArtists.
    pub is_album_artist: bool,
}

/// An album of the library: all editions of one release group. Table `unified_release_groups`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnifiedReleaseGroup {
    /// Opaque id, stable for life, starting with `al`.
    pub id: String,
    /// Display name, NFC.
    pub name: String,
    /// Folded name.
    pub name_key: String,
    /// Album artist.
    pub artist_id: String,
    /// Album artist's name.
    pub artist_name: String,
    /// Year.
    pub year: Option<i32>,
    /// Genres, first is the main one.
    pub genres: Vec<String>,
    /// MusicBrainz release-group id.
    pub musicbrainz_id: Option<String>,
    /// Cover.
    pub cover_art: Option<CoverRef>,
    /// Several artists on one album.
    pub is_compilation: bool,
    /// Earliest `created` any source gives.
    pub created: Option<Wall>,
    /// Number of tracks of all editions.
    pub song_count: u32,
    /// Sum of their lengths in milliseconds.
    pub duration_ms: u64,
}

/// One edition of a release group. Table `unified_releases`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnifiedRelease {
    /// Opaque id, starting with `re`.
    pub id: String,
    /// The album it is an edition of.
    pub release_group_id: String,
    /// Display name.
    pub name: String,
    /// MusicBrainz release id.
    pub musicbrainz_id: Option<String>,
    /// Number of tracks of this edition.
    pub track_count: u32,
}

/// A track of the library. Table `unified_tracks`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnifiedTrack {
    /// Opaque id, stable for life, starting with `tr`.
    pub id: String,
    /// The album it is on.
    pub release_group_id: String,
    /// Display title, NFC.
    pub title: String,
    /// Folded title.
    pub title_key: String,
    /// Track artist.
    pub artist_id: String,
    /// Track artist's name.
    pub artist_name: String,
    /// Track number.
    pub track_number: Option<u32>,
    /// Disc number.
    pub disc_number: u32,
    /// Length in milliseconds, of the preferred source.
    pub duration_ms: Option<u64>,
    /// Year.
    pub year: Option<i32>,
    /// Genres.
    pub genres: Vec<String>,
    /// MusicBrainz recording id.
    pub musicbrainz_id: Option<String>,
    /// ISRC.
    pub isrc: Option<String>,
    /// Cover, the album's when the track has none.
    pub cover_art: Option<CoverRef>,
    /// Earliest `created` any source gives.
    pub created: Option<Wall>,
}

/// Which source's picture to show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CoverRef {
    /// The source.
    pub instance: InstanceId,
    /// Its cover art id.
    pub remote_id: String,
}

/// Table `unified_artist_sources`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArtistSource {
    /// The source.
    pub instance: InstanceId,
    /// Its artist id.
    pub remote_id: String,
    /// The unified artist.
    pub artist_id: String,
}

/// Table `unified_release_sources`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReleaseSource {
    /// The source.
    pub instance: InstanceId,
    /// Its album id.
    pub remote_id: String,
    /// The unified release.
    pub release_id: String,
    /// And its release group.
    pub release_group_id: String,
}

/// A place a track can be had from. Table `track_sources`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrackSource {
    /// The source.
    pub instance: InstanceId,
    /// Its track id.
    pub remote_id: String,
    /// The unified track.
    pub track_id: String,
    /// Set by the merge for the best of a track's sources (contracts section 4).
    pub preferred: bool,
    /// See [`crate::rank::format_rank`].
    pub format_rank: u32,
    /// Kilobits per second; 0 when unknown.
    pub bit_rate: u32,
    /// Whether the instance is local.
    pub local: bool,
    /// Lower-case format name.
    pub format: String,
    /// Lower-case file extension.
    pub suffix: String,
    /// Media type.
    pub content_type: String,
    /// Length of the original bytes.
    pub size: Option<u64>,
    /// Length in milliseconds.
    pub duration_ms: Option<u64>,
    /// Samples per second.
    pub sampling_rate: Option<u32>,
    /// Bits per sample.
    pub bit_depth: Option<u32>,
    /// Number of channels.
    pub channel_count: Option<u32>,
}

/// An id that was given out and now leads to another. Table `id_aliases`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alias {
    /// The id clients may still hold.
    pub old_id: String,
    /// The living id. Chains are resolved: this is never itself an alias.
    pub new_id: String,
}

/// What a merge came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The library as it should be.
    pub library: Library,
    /// All aliases, old and new, sorted by old id, chains resolved; those that lead nowhere are dropped.
    pub aliases: Vec<Alias>,
    /// Rows that could not be merged, one sentence each.
    pub skipped: Vec<String>,
}
