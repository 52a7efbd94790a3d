//! What the API shows: library rows together with whose they are and how often they were played.

use segue_core::catalog::model::{
    SourceKind, TrackSource, UnifiedArtist, UnifiedReleaseGroup, UnifiedTrack,
};
use segue_core::time::Wall;
use serde::{Deserialize, Serialize};

/// A track, the place it is played from, and one user's relation to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SongView {
    /// The track.
    pub track: UnifiedTrack,
    /// Its album's name.
    pub album_name: String,
    /// The album artist's id.
    pub album_artist_id: String,
    /// The album artist's name.
    pub album_artist_name: String,
    /// The album's year.
    pub album_year: Option<i32>,
    /// First in rank order (contracts section 4): what a raw stream sends when all is well.
    pub source: TrackSource,
    /// When the user starred it.
    pub starred: Option<Wall>,
    /// What the user thinks of it, from 1 to 5.
    pub rating: Option<u8>,
    /// How often the user played it.
    pub play_count: u64,
    /// When the user last played it.
    pub played: Option<Wall>,
}

/// An album and one user's relation to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlbumView {
    /// The album.
    pub group: UnifiedReleaseGroup,
    /// When the user starred it.
    pub starred: Option<Wall>,
    /// What the user thinks of it, from 1 to 5.
    pub rating: Option<u8>,
    /// How often the user played a track of it.
    pub play_count: u64,
    /// When the user last played a track of it.
    pub played: Option<Wall>,
}

/// An artist and one user's relation to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtistView {
    /// The artist.
    pub artist: UnifiedArtist,
    /// As many as `Reader::albums_of_artist` lists.
    pub album_count: u32,
    /// When the user starred it.
    pub starred: Option<Wall>,
    /// What the user thinks of it, from 1 to 5.
    pub rating: Option<u8>,
}

/// A genre; spellings that differ only in case or accents are one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GenreView {
    /// As some source writes it.
    pub name: String,
    /// Tracks with this genre.
    pub song_count: u64,
    /// Albums with this genre.
    pub album_count: u64,
}

/// A configured source. Table `instances`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstanceRow {
    /// Its id.
    pub id: String,
    /// What it is.
    pub kind: SourceKind,
    /// Small integer for clients that want one (musicFolder id); never given out twice.
    pub folder_number: i64,
    /// Display name.
    pub name: String,
    /// Ranks before others at equal quality.
    pub local: bool,
    /// Whether the last contact succeeded.
    pub online: bool,
    /// Last successful contact.
    pub last_seen: Option<Wall>,
    /// Last complete pass.
    pub last_sync: Option<Wall>,
    /// What went wrong last, in one sentence.
    pub last_error: Option<String>,
    /// Tracks it offers.
    pub track_count: u64,
}

/// Someone who may log in. Table `users`.
#[derive(Clone, PartialEq, Eq)]
pub struct UserRow {
    /// Row id.
    pub id: i64,
    /// Name, unique without regard to ASCII case.
    pub name: String,
    /// The password as the key file's owner encrypted it.
    pub password_enc: Vec<u8>,
    /// May administer.
    pub is_admin: bool,
    /// When it was added.
    pub created: Wall,
}

impl std::fmt::Debug for UserRow {
    /// Without the password, encrypted or not.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserRow")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("is_admin", &self.is_admin)
            .field("created", &self.created)
            .finish_non_exhaustive()
    }
}

/// An API key, without the key. Table `api_keys`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApiKeyRow {
    /// Row id.
    pub id: i64,
    /// What its owner calls it.
    pub label: String,
    /// When it was made.
    pub created: Wall,
}

/// One stream or download, with every source that was tried. Table `stream_operations`, contracts 3.10.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StreamOperation {
    /// Row id; ignored by `Writer::open_operation`.
    pub id: i64,
    /// The track asked for.
    pub track_id: String,
    /// Its title then.
    pub track_title: String,
    /// Its artist then.
    pub artist_name: String,
    /// Who asked.
    pub user: String,
    /// The client's name for itself.
    pub client: String,
    /// The source whose bytes were sent; `None` when no source answered.
    pub source_id: Option<String>,
    /// What that source is.
    pub source_kind: Option<SourceKind>,
    /// Every source tried, in order.
    pub attempts: Vec<AttemptRow>,
    /// When it was asked for.
    pub started_at: Wall,
    /// When it ended.
    pub ended_at: Option<Wall>,
    /// How it stands or ended.
    pub status: OperationStatus,
    /// Body bytes the client got.
    pub bytes: u64,
    /// Format sent.
    pub format: Option<String>,
    /// Kilobits per second sent.
    pub bit_rate: Option<u32>,
    /// Whether the source was asked to transcode.
    pub transcoded: bool,
    /// First byte of the range that was asked for.
    pub range_start: Option<u64>,
    /// What went wrong, in one sentence without upstream text.
    pub error: Option<String>,
}

/// One source tried for one operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRow {
    /// The source.
    pub source_id: String,
    /// What it came to: `ok` or a short phrase.
    pub outcome: String,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// Body bytes of it that the client got.
    pub bytes: u64,
}

/// How an operation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationStatus {
    /// Bytes are flowing.
    Active,
    /// The whole answer was sent.
    Completed,
    /// The client went away first.
    ClientGone,
    /// No source answered.
    Failed,
    /// The source died after bytes were sent.
    Truncated,
    /// This process ended first; found at the next start.
    Interrupted,
}

impl OperationStatus {
    /// The word in the table and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            OperationStatus::Active => "active",
            OperationStatus::Completed => "completed",
            OperationStatus::ClientGone => "client_gone",
            OperationStatus::Failed => "failed",
            OperationStatus::Truncated => "truncated",
            OperationStatus::Interrupted => "interrupted",
        }
    }

    /// The status a word stands for.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        [
            OperationStatus::Active,
            OperationStatus::Completed,
            OperationStatus::ClientGone,
            OperationStatus::Failed,
            OperationStatus::Truncated,
            OperationStatus::Interrupted,
        ]
        .into_iter()
        .find(|status| status.as_str() == word)
    }
}
