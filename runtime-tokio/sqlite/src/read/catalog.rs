//! Artists, albums and songs, one at a time or as parts of each other.

use super::{RANKED, Reader};
use crate::columns::Columns;
use crate::rows::{self, ARTIST_COLUMNS, GROUP_COLUMNS, TRACK_COLUMNS, TRACK_SOURCE_COLUMNS};
use crate::{AlbumView, ArtistView, GenreView, Result, SongView};
use rusqlite::params;
use segue_core::catalog::model::{CoverRef, TrackSource};
use segue_core::rank;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Counts the albums an artist is shown with: their own; for a mere track artist, those they appear on.
/// `?2` is an instance or null.
static ARTIST: LazyLock<String> = LazyLock::new(|| {
    let offered = "(?2 IS NULL OR EXISTS (SELECT 1 FROM unified_release_sources rs \
         WHERE rs.release_group_id = x.release_group_id AND rs.instance_id = ?2))";
    format!(
        "SELECT {ARTIST_COLUMNS}, CASE WHEN a.is_album_artist \
         THEN (SELECT count(*) FROM (SELECT g.id AS release_group_id FROM unified_release_groups g \
           WHERE g.artist_id = a.id) x WHERE {offered}) \
         ELSE (SELECT count(DISTINCT x.release_group_id) FROM unified_tracks x \
           WHERE x.artist_id = a.id AND {offered}) END, st.starred_at, ra.rating \
         FROM unified_artists a LEFT JOIN stars st ON st.user_id = ?1 AND st.target_id = a.id \
         LEFT JOIN ratings ra ON ra.user_id = ?1 AND ra.target_id = a.id"
    )
});

static ALBUM: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {GROUP_COLUMNS}, st.starred_at, ra.rating, \
         (SELECT count(*) FROM unified_tracks t JOIN plays p ON p.user_id = ?1 AND p.track_id = t.id \
          WHERE t.release_group_id = g.id), \
         (SELECT max(p.played_at) FROM unified_tracks t JOIN plays p ON p.user_id = ?1 AND p.track_id = t.id \
          WHERE t.release_group_id = g.id) \
         FROM unified_release_groups g LEFT JOIN stars st ON st.user_id = ?1 AND st.target_id = g.id \
         LEFT JOIN ratings ra ON ra.user_id = ?1 AND ra.target_id = g.id"
    )
});

static SONG: LazyLock<String> = LazyLock::new(|| {
    let ranked = rank::order_by("x");
    format!(
        "SELECT {TRACK_COLUMNS}, g.name, g.artist_id, g.artist_name, g.year, {TRACK_SOURCE_COLUMNS}, st.starred_at, ra.rating, \
         (SELECT count(*) FROM plays p WHERE p.user_id = ?1 AND p.track_id = t.id), \
         (SELECT max(p.played_at) FROM plays p WHERE p.user_id = ?1 AND p.track_id = t.id) \
         FROM unified_tracks t \
         JOIN unified_release_groups g ON g.id = t.release_group_id \
         JOIN track_sources s ON s.rowid = (\
           SELECT x.rowid FROM track_sources x WHERE x.track_id = t.id ORDER BY {ranked} LIMIT 1) \
         LEFT JOIN stars st ON st.user_id = ?1 AND st.target_id = t.id \
         LEFT JOIN ratings ra ON ra.user_id = ?1 AND ra.target_id = t.id"
    )
});

fn artist_view(c: &mut Columns<'_, '_>) -> rusqlite::Result<ArtistView> {
    Ok(ArtistView {
        artist: rows::artist(c)?,
        album_count: c.next()?,
        starred: c.maybe_wall()?,
        rating: c.next()?,
    })
}

fn album_view(c: &mut Columns<'_, '_>) -> rusqlite::Result<AlbumView> {
    Ok(AlbumView {
        group: rows::release_group(c)?,
        starred: c.maybe_wall()?,
        rating: c.next()?,
        play_count: c.unsigned()?,
        played: c.maybe_wall()?,
    })
}

fn song_view(c: &mut Columns<'_, '_>) -> rusqlite::Result<SongView> {
    Ok(SongView {
        track: rows::track(c)?,
        album_name: c.next()?,
        album_artist_id: c.next()?,
        album_artist_name: c.next()?,
        album_year: c.next()?,
        source: rows::track_source(c)?,
        starred: c.maybe_wall()?,
        rating: c.next()?,
        play_count: c.unsigned()?,
        played: c.maybe_wall()?,
    })
}

/// Which table an id that this hub gave out is of.
#[derive(Clone, Copy)]
enum Kind {
    Artist,
    Album,
    Release,
    Track,
}

impl Kind {
    fn of(id: &str) -> Option<Self> {
        match id.get(..2)? {
            "ar" => Some(Kind::Artist),
            "al" => Some(Kind::Album),
            "re" => Some(Kind::Release),
            "tr" => Some(Kind::Track),
            _ => None,
        }
    }

    fn exists(self) -> &'static str {
        match self {
            Kind::Artist => "SELECT id FROM unified_artists WHERE id = ?1",
            Kind::Album => "SELECT id FROM unified_release_groups WHERE id = ?1",
            Kind::Release => "SELECT id FROM unified_releases WHERE id = ?1",
            Kind::Track => "SELECT id FROM unified_tracks WHERE id = ?1",
        }
    }
}

/// Everywhere a track can be had from, with the path where that is a file of a folder.
static PLACES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {TRACK_SOURCE_COLUMNS}, i.path FROM track_sources s LEFT JOIN instance_tracks i \
         ON i.instance_id = s.instance_id AND i.remote_id = s.remote_id \
         WHERE s.track_id = ?1 ORDER BY {}",
        *RANKED
    )
});

/// A track as a stream needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Playable {
    /// The living id.
    pub track_id: String,
    /// Its title.
    pub title: String,
    /// Its artist's name.
    pub artist_name: String,
    /// Where it can be had, best first; each with the path below the root when it is a file of a folder.
    pub places: Vec<(TrackSource, Option<String>)>,
}

impl Reader {
    /// The living id that `id` stands for: itself, or where its alias leads. `None` for an id nobody gave out.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn resolve(&self, id: &str) -> Result<Option<String>> {
        let Some(kind) = Kind::of(id) else {
            return Ok(None);
        };
        if let Some(living) = self.one(kind.exists(), [id], |c| c.next())? {
            return Ok(Some(living));
        }
        let alias: Option<String> = self.one(
            "SELECT new_id FROM id_aliases WHERE old_id = ?1",
            [id],
            |c| c.next(),
        )?;
        match alias.as_deref().and_then(|id| Some((Kind::of(id)?, id))) {
            Some((kind, id)) => self.one(kind.exists(), [id], |c| c.next()),
            None => Ok(None),
        }
    }

    /// Album artists in the order of their sort keys; with `folder`, those with an album on that instance.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn artists(&self, user_id: i64, folder: Option<&str>) -> Result<Vec<ArtistView>> {
        let mut found = self.all(
            &format!(
                "{} WHERE a.is_album_artist ORDER BY a.sort_key, a.id",
                *ARTIST
            ),
            params![user_id, folder],
            artist_view,
        )?;
        if folder.is_some() {
            found.retain(|view| view.album_count > 0);
        }
        Ok(found)
    }

    /// One artist, by living id or alias.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn artist(&self, user_id: i64, id: &str) -> Result<Option<ArtistView>> {
        let Some(id) = self.resolve(id)? else {
            return Ok(None);
        };
        self.one(
            &format!("{} WHERE a.id = ?3", *ARTIST),
            params![user_id, None::<&str>, id],
            artist_view,
        )
    }

    /// An artist's albums by year and name; of an artist without own albums, those they appear on.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn albums_of_artist(&self, user_id: i64, id: &str) -> Result<Vec<AlbumView>> {
        let Some(id) = self.resolve(id)? else {
            return Ok(Vec::new());
        };
        let own: Option<bool> = self.one(
            "SELECT is_album_artist FROM unified_artists WHERE id = ?1",
            [&id],
            |c| c.next(),
        )?;
        let which = match own {
            Some(true) => "g.artist_id = ?2",
            Some(false) => {
                "g.id IN (SELECT t.release_group_id FROM unified_tracks t WHERE t.artist_id = ?2)"
            }
            None => return Ok(Vec::new()),
        };
        self.all(
            &format!(
                "{} WHERE {which} ORDER BY g.year IS NULL, g.year, g.name_key, g.id",
                *ALBUM
            ),
            params![user_id, id],
            album_view,
        )
    }

    /// One album, by living id or alias.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn album(&self, user_id: i64, id: &str) -> Result<Option<AlbumView>> {
        let Some(id) = self.resolve(id)? else {
            return Ok(None);
        };
        self.one(
            &format!("{} WHERE g.id = ?2", *ALBUM),
            params![user_id, id],
            album_view,
        )
    }

    /// An album's songs by disc, track number and title.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn songs_of_album(&self, user_id: i64, id: &str) -> Result<Vec<SongView>> {
        let Some(id) = self.resolve(id)? else {
            return Ok(Vec::new());
        };
        self.all(
            &format!(
                "{} WHERE t.release_group_id = ?2 \
                 ORDER BY t.disc_number, t.track_number IS NULL, t.track_number, t.title_key, t.id",
                *SONG
            ),
            params![user_id, id],
            song_view,
        )
    }

    /// One song, by living id or alias.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn song(&self, user_id: i64, id: &str) -> Result<Option<SongView>> {
        let Some(id) = self.resolve(id)? else {
            return Ok(None);
        };
        self.one(
            &format!("{} WHERE t.id = ?2", *SONG),
            params![user_id, id],
            song_view,
        )
    }

    /// All songs by an artist, album by album.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn songs_of_artist(&self, user_id: i64, id: &str) -> Result<Vec<SongView>> {
        let Some(id) = self.resolve(id)? else {
            return Ok(Vec::new());
        };
        self.all(
            &format!(
                "{} WHERE t.artist_id = ?2 ORDER BY g.year IS NULL, g.year, g.name_key, g.id, \
                 t.disc_number, t.track_number IS NULL, t.track_number, t.title_key, t.id",
                *SONG
            ),
            params![user_id, id],
            song_view,
        )
    }

    /// All genres by name.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn genres(&self) -> Result<Vec<GenreView>> {
        let mut genres: BTreeMap<String, GenreView> = BTreeMap::new();
        let albums =
            "SELECT genre_key, min(genre), count(*) FROM release_group_genres GROUP BY genre_key";
        let songs = "SELECT genre_key, min(genre), count(*) FROM track_genres GROUP BY genre_key";
        let read = |c: &mut Columns<'_, '_>| Ok((c.next()?, c.next()?, c.unsigned()?));
        for (key, name, album_count) in self.all(albums, [], read)? {
            genres.insert(
                key,
                GenreView {
                    name,
                    song_count: 0,
                    album_count,
                },
            );
        }
        for (key, name, song_count) in self.all(songs, [], read)? {
            let genre = genres.entry(key).or_insert_with(|| GenreView {
                name: String::new(),
                song_count: 0,
                album_count: 0,
            });
            genre.name = name;
            genre.song_count = song_count;
        }
        Ok(genres.into_values().collect())
    }

    /// Everywhere a track can be had from, in the shared rank order (contracts 3.1 and section 4).
    ///
    /// # Errors
    /// SQLite's own.
    pub fn candidates(&self, track_id: &str) -> Result<Vec<TrackSource>> {
        let Some(id) = self.resolve(track_id)? else {
            return Ok(Vec::new());
        };
        self.all(
            &format!(
                "SELECT {TRACK_SOURCE_COLUMNS} FROM track_sources s WHERE s.track_id = ?1 ORDER BY {}",
                *RANKED
            ),
            [id],
            rows::track_source,
        )
    }

    /// What a stream needs of a track: its names and everywhere it can be had from, in rank order. Two statements by
    /// key, for this is asked with every part of every track. `None` when no source holds such a track.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn playable(&self, id: &str) -> Result<Option<Playable>> {
        let named = |id: &str| {
            self.one(
                "SELECT id, title, artist_name FROM unified_tracks WHERE id = ?1",
                [id],
                |c| {
                    Ok(Playable {
                        track_id: c.next()?,
                        title: c.next()?,
                        artist_name: c.next()?,
                        places: Vec::new(),
                    })
                },
            )
        };
        let found = match named(id)? {
            Some(found) => Some(found),
            None => match self.resolve(id)? {
                Some(living) => named(&living)?,
                None => None,
            },
        };
        let Some(mut playable) = found else {
            return Ok(None);
        };
        playable.places = self.all(&PLACES, [&playable.track_id], |c| {
            Ok((rows::track_source(c)?, c.next()?))
        })?;
        Ok((!playable.places.is_empty()).then_some(playable))
    }

    /// Every picture that shows a track, album or artist, best first, so that art can fail over. A track's own come
    /// before its album's; an album without any shows its tracks'.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn covers(&self, id: &str) -> Result<Vec<CoverRef>> {
        let Some(id) = self.resolve(id)? else {
            return Ok(Vec::new());
        };
        let mut found = match Kind::of(&id) {
            Some(Kind::Track) => {
                let mut found = self.chosen_cover(
                    "SELECT cover_instance, cover_remote FROM unified_tracks WHERE id = ?1",
                    &id,
                )?;
                found.extend(self.track_covers("s.track_id = ?1", &id)?);
                let album: Option<String> = self.one(
                    "SELECT release_group_id FROM unified_tracks WHERE id = ?1",
                    [&id],
                    |c| c.next(),
                )?;
                if let Some(album) = album {
                    found.extend(self.album_covers(&album)?);
                }
                found
            }
            Some(Kind::Album) => {
                let found = self.album_covers(&id)?;
                if found.is_empty() {
                    self.track_covers(
                        "s.track_id IN (SELECT t.id FROM unified_tracks t WHERE t.release_group_id = ?1)",
                        &id,
                    )?
                } else {
                    found
                }
            }
            Some(Kind::Artist) => {
                let mut found = self.chosen_cover(
                    "SELECT cover_instance, cover_remote FROM unified_artists WHERE id = ?1",
                    &id,
                )?;
                found.extend(self.all(
                    "SELECT i.instance_id, i.cover_art FROM unified_artist_sources x \
                     JOIN instance_artists i USING (instance_id, remote_id) JOIN instances n ON n.id = i.instance_id \
                     WHERE x.artist_id = ?1 AND i.cover_art IS NOT NULL ORDER BY n.local DESC, i.instance_id, i.remote_id",
                    [&id],
                    |c| c.cover(),
                )?.into_iter().flatten());
                found
            }
            Some(Kind::Release) | None => Vec::new(),
        };
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|cover| seen.insert(cover.clone()));
        Ok(found)
    }

    fn chosen_cover(&self, sql: &str, id: &str) -> Result<Vec<CoverRef>> {
        Ok(self
            .one(sql, [id], |c| c.cover())?
            .flatten()
            .into_iter()
            .collect())
    }

    fn track_covers(&self, which: &str, id: &str) -> Result<Vec<CoverRef>> {
        let covers = self.all(
            &format!(
                "SELECT i.instance_id, i.cover_art FROM track_sources s \
                 JOIN instance_tracks i ON i.instance_id = s.instance_id AND i.remote_id = s.remote_id \
                 WHERE {which} AND i.cover_art IS NOT NULL ORDER BY {} LIMIT {MOST_COVERS}",
                *RANKED
            ),
            [id],
            |c| c.cover(),
        )?;
        Ok(covers.into_iter().flatten().collect())
    }

    fn album_covers(&self, id: &str) -> Result<Vec<CoverRef>> {
        let mut found = self.chosen_cover(
            "SELECT cover_instance, cover_remote FROM unified_release_groups WHERE id = ?1",
            id,
        )?;
        found.extend(self.all(
            "SELECT i.instance_id, i.cover_art FROM unified_release_sources x \
             JOIN instance_albums i USING (instance_id, remote_id) JOIN instances n ON n.id = i.instance_id \
             WHERE x.release_group_id = ?1 AND i.cover_art IS NOT NULL ORDER BY n.local DESC, i.instance_id, i.remote_id",
            [id],
            |c| c.cover(),
        )?.into_iter().flatten());
        Ok(found)
    }

    /// The albums with these row numbers, in that order.
    pub(crate) fn albums_by_seq(&self, user_id: i64, seqs: &[i64]) -> Result<Vec<AlbumView>> {
        let sql = format!("{} WHERE g.seq = ?2", *ALBUM);
        self.by_seq(&sql, seqs, |seq| params_of(user_id, seq), album_view)
    }

    /// The songs with these row numbers, in that order.
    pub(crate) fn songs_by_seq(&self, user_id: i64, seqs: &[i64]) -> Result<Vec<SongView>> {
        let sql = format!("{} WHERE t.seq = ?2", *SONG);
        self.by_seq(&sql, seqs, |seq| params_of(user_id, seq), song_view)
    }

    /// The artists with these row numbers, in that order.
    pub(crate) fn artists_by_seq(&self, user_id: i64, seqs: &[i64]) -> Result<Vec<ArtistView>> {
        let sql = format!("{} WHERE a.seq = ?3", *ARTIST);
        self.by_seq(&sql, seqs, |seq| (user_id, None::<&str>, seq), artist_view)
    }

    fn by_seq<T, P: rusqlite::Params>(
        &self,
        sql: &str,
        seqs: &[i64],
        params: impl Fn(i64) -> P,
        read: impl Fn(&mut Columns<'_, '_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::with_capacity(seqs.len());
        for &seq in seqs {
            found.extend(self.one(sql, params(seq), &read)?);
        }
        Ok(found)
    }
}

/// Enough to fail over; an album of a thousand tracks has no need of a thousand pictures.
const MOST_COVERS: usize = 32;

fn params_of(user_id: i64, seq: i64) -> (i64, i64) {
    (user_id, seq)
}
