//! What a user starred.

use super::Reader;
use crate::{AlbumView, ArtistView, Result, SongView};
use rusqlite::params;

/// Everything one user starred that is in the library, latest star first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Starred {
    /// Artists.
    pub artists: Vec<ArtistView>,
    /// Albums.
    pub albums: Vec<AlbumView>,
    /// Songs.
    pub songs: Vec<SongView>,
}

impl Reader {
    /// Everything the user starred; with `folder`, what that instance has of it.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn starred(&self, user_id: i64, folder: Option<&str>) -> Result<Starred> {
        let artists = self.starred_rows(
            "SELECT x.seq FROM stars st JOIN unified_artists x ON x.id = st.target_id \
             WHERE st.user_id = ?1 AND (?2 IS NULL OR EXISTS (\
               SELECT 1 FROM unified_artist_sources o WHERE o.artist_id = x.id AND o.instance_id = ?2)) \
             ORDER BY st.starred_at DESC, x.seq",
            user_id,
            folder,
        )?;
        let albums = self.starred_rows(
            "SELECT x.seq FROM stars st JOIN unified_release_groups x ON x.id = st.target_id \
             WHERE st.user_id = ?1 AND (?2 IS NULL OR EXISTS (\
               SELECT 1 FROM unified_release_sources o WHERE o.release_group_id = x.id AND o.instance_id = ?2)) \
             ORDER BY st.starred_at DESC, x.seq",
            user_id,
            folder,
        )?;
        let songs = self.starred_rows(
            "SELECT x.seq FROM stars st JOIN unified_tracks x ON x.id = st.target_id \
             WHERE st.user_id = ?1 AND (?2 IS NULL OR EXISTS (\
               SELECT 1 FROM track_sources o WHERE o.track_id = x.id AND o.instance_id = ?2)) \
             ORDER BY st.starred_at DESC, x.seq",
            user_id,
            folder,
        )?;
        Ok(Starred {
            artists: self.artists_by_seq(user_id, &artists)?,
            albums: self.albums_by_seq(user_id, &albums)?,
            songs: self.songs_by_seq(user_id, &songs)?,
        })
    }

    fn starred_rows(&self, sql: &str, user_id: i64, folder: Option<&str>) -> Result<Vec<i64>> {
        self.all(sql, params![user_id, folder], |c| c.next())
    }
}
