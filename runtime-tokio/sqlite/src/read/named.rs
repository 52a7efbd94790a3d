//! Tracks found by what people and other programs call them: artist and title, or a path.

use super::{RANKED, Reader, limit};
use crate::Result;
use crate::columns::json_list;
use crate::queue::TrackLyrics;
use rusqlite::params;
use segue_core::catalog::normalise::fold;
use std::sync::LazyLock;

/// More tracks than this do not share artist and title in any library that is worth asking.
const SAME_NAME: usize = 32;

/// Tracks of an artist, or on an artist's albums, with a title.
const NAMED: &str = "SELECT t.id, t.seq, t.title, t.artist_name, t.release_group_id FROM unified_artists a \
    JOIN unified_tracks t ON t.artist_id = a.id WHERE a.name_key = ?1 AND t.title_key = ?2 \
    UNION SELECT t.id, t.seq, t.title, t.artist_name, t.release_group_id FROM unified_artists a \
    JOIN unified_release_groups g ON g.artist_id = a.id \
    JOIN unified_tracks t ON t.release_group_id = g.id WHERE a.name_key = ?1 AND t.title_key = ?2";

/// Paths have no index: all that are asked for are found in one walk over the sources' tracks.
static AT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT it.path, s.instance_id, s.track_id FROM instance_tracks it JOIN track_sources s \
         ON s.instance_id = it.instance_id AND s.remote_id = it.remote_id \
         WHERE it.path IN (SELECT value FROM json_each(?1)) ORDER BY {}",
        *RANKED
    )
});

/// A file of a source, and the track that it is part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedTrack {
    /// The path as the source has it.
    pub path: String,
    /// The source.
    pub instance_id: String,
    /// The unified track.
    pub track_id: String,
}

/// A track that was asked for by name, and its lyrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTrack {
    /// Its id.
    pub track_id: String,
    /// Title as the library shows it.
    pub title: String,
    /// Artist as the library shows it.
    pub artist: String,
    /// Album as the library shows it.
    pub album: String,
    /// Its lyrics, when it has any.
    pub lyrics: Option<TrackLyrics>,
}

impl Reader {
    /// The tracks that artist and title name, letter case and accents apart: those with the best lyrics first, then in
    /// the order in which they came into the library.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn tracks_named(&self, artist: &str, title: &str) -> Result<Vec<NamedTrack>> {
        let sql = format!(
            "SELECT n.id, n.title, n.artist_name, g.name, d.id, d.body, d.quality, coalesce(s.done_at, d.stored_at) FROM ({NAMED}) n \
             JOIN unified_release_groups g ON g.id = n.release_group_id \
             LEFT JOIN scan_results s ON s.track_id = n.id AND s.instance_id IS NULL \
             LEFT JOIN documents d ON d.number = s.document ORDER BY coalesce(d.quality, 0) DESC, n.seq LIMIT ?3"
        );
        self.all(
            &sql,
            params![fold(artist), fold(title), limit(SAME_NAME)],
            |c| {
                let (track_id, title) = (c.next()?, c.next()?);
                let (artist, album) = (c.next()?, c.next()?);
                let (id, body): (Option<String>, Option<String>) = (c.next()?, c.next()?);
                let (quality, stored_at) = (c.quality()?, c.maybe_wall()?);
                let lyrics = id.zip(body).zip(stored_at);
                Ok(NamedTrack {
                    track_id,
                    title,
                    artist,
                    album,
                    lyrics: lyrics.map(|((document_id, body), stored_at)| TrackLyrics {
                        document_id,
                        body,
                        quality,
                        stored_at,
                    }),
                })
            },
        )
    }

    /// What the sources hold at any of these paths, in rank order.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn tracks_at(&self, paths: &[String]) -> Result<Vec<PlacedTrack>> {
        self.all(&AT, [json_list(paths)], |c| {
            Ok(PlacedTrack {
                path: c.next()?,
                instance_id: c.next()?,
                track_id: c.next()?,
            })
        })
    }
}
