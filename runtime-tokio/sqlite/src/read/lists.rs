//! Lists of albums and songs in the orders that clients ask for.
//!
//! Each finds row numbers first and reads the views after, so that a page costs what it shows.

use super::{Reader, limit};
use crate::{AlbumView, Result, SongView};
use rusqlite::params;
use segue_core::catalog::normalise::fold;

/// The orders of `getAlbumList2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlbumOrder {
    /// Latest arrival first.
    Newest,
    /// Shuffled by the seed: the same seed pages through the same order.
    Random {
        /// Any number.
        seed: u64,
    },
    /// By album name.
    AlphabeticalByName,
    /// By album artist, then album name.
    AlphabeticalByArtist,
    /// Albums of these years, both included; downwards when `from` is the later.
    ByYear {
        /// First year shown.
        from: i32,
        /// Last year shown.
        to: i32,
    },
    /// Albums with this genre, by name.
    ByGenre(String),
    /// What the user starred, latest star first.
    Starred,
    /// What the user played, latest play first.
    Recent,
    /// What the user played, most played first.
    Frequent,
    /// What the user rated, best first.
    Highest,
}

/// Which songs to draw from, and how many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RandomFilter {
    /// Only with this genre.
    pub genre: Option<String>,
    /// Not older.
    pub from_year: Option<i32>,
    /// Not newer.
    pub to_year: Option<i32>,
    /// Only those this instance has.
    pub folder: Option<String>,
    /// At most this many.
    pub size: usize,
    /// Any number; the same one draws the same songs.
    pub seed: u64,
}

/// Plays of each album by the user `?1`.
const PLAYED_ALBUMS: &str = "SELECT g.seq AS seq, count(*) AS plays, max(p.played_at) AS played \
     FROM plays p JOIN unified_tracks t ON t.id = p.track_id \
     JOIN unified_release_groups g ON g.id = t.release_group_id \
     WHERE p.user_id = ?1 AND (?2 IS NULL OR EXISTS (SELECT 1 FROM unified_release_sources rs \
       WHERE rs.release_group_id = g.id AND rs.instance_id = ?2)) GROUP BY g.seq";

impl AlbumOrder {
    /// Everything after `SELECT g.seq`. Parameters: 1 user, 2 folder, 3 and 4 years, 5 genre key.
    fn rows(&self) -> String {
        let offered = "(?2 IS NULL OR EXISTS (SELECT 1 FROM unified_release_sources rs \
             WHERE rs.release_group_id = g.id AND rs.instance_id = ?2))";
        let groups = format!("FROM unified_release_groups g WHERE {offered}");
        match self {
            AlbumOrder::Newest => format!("{groups} ORDER BY g.created DESC, g.seq DESC"),
            AlbumOrder::Random { .. } => groups,
            AlbumOrder::AlphabeticalByName => format!("{groups} ORDER BY g.name_key, g.seq"),
            AlbumOrder::AlphabeticalByArtist => format!(
                "FROM unified_artists a JOIN unified_release_groups g ON g.artist_id = a.id WHERE {offered} \
                 ORDER BY a.sort_key, a.id, g.name_key, g.seq"
            ),
            AlbumOrder::ByYear { from, to } => {
                let way = if from > to { "DESC" } else { "ASC" };
                format!(
                    "{groups} AND g.year BETWEEN min(?3, ?4) AND max(?3, ?4) \
                     ORDER BY g.year {way}, g.name_key, g.seq"
                )
            }
            AlbumOrder::ByGenre(_) => format!(
                "FROM release_group_genres k JOIN unified_release_groups g ON g.seq = k.group_seq \
                 WHERE k.genre_key = ?5 AND {offered} ORDER BY g.name_key, g.seq"
            ),
            AlbumOrder::Starred => format!(
                "FROM stars st JOIN unified_release_groups g ON g.id = st.target_id \
                 WHERE st.user_id = ?1 AND {offered} ORDER BY st.starred_at DESC, g.seq"
            ),
            AlbumOrder::Recent => {
                format!("FROM ({PLAYED_ALBUMS}) g ORDER BY g.played DESC, g.seq")
            }
            AlbumOrder::Frequent => {
                format!("FROM ({PLAYED_ALBUMS}) g ORDER BY g.plays DESC, g.played DESC, g.seq")
            }
            AlbumOrder::Highest => format!(
                "FROM ratings ra JOIN unified_release_groups g ON g.id = ra.target_id \
                 WHERE ra.user_id = ?1 AND {offered} ORDER BY ra.rating DESC, ra.rated_at DESC, g.seq"
            ),
        }
    }
}

impl Reader {
    /// One page of albums; with `folder`, of those that instance has.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn album_list(
        &self,
        user_id: i64,
        order: &AlbumOrder,
        size: usize,
        offset: usize,
        folder: Option<&str>,
    ) -> Result<Vec<AlbumView>> {
        let rows = order.rows();
        let (mut from, mut to, mut genre) = (0, 0, None);
        let mut page = (limit(size), limit(offset));
        let mut shuffle = None;
        match order {
            AlbumOrder::ByYear {
                from: first,
                to: last,
            } => (from, to) = (*first, *last),
            AlbumOrder::ByGenre(name) => genre = Some(fold(name)),
            AlbumOrder::Random { seed } => {
                shuffle = Some(*seed);
                page = (EVERY, 0);
            }
            AlbumOrder::Newest
            | AlbumOrder::AlphabeticalByName
            | AlbumOrder::AlphabeticalByArtist
            | AlbumOrder::Starred
            | AlbumOrder::Recent
            | AlbumOrder::Frequent
            | AlbumOrder::Highest => {}
        }
        // The page has the highest numbers, so a statement may leave any of the others out.
        let mut seqs: Vec<i64> = self.all(
            &format!("SELECT g.seq {rows} LIMIT ?6 OFFSET ?7"),
            params![user_id, folder, from, to, genre, page.0, page.1],
            |c| c.next(),
        )?;
        if let Some(seed) = shuffle {
            seqs = shuffled(seqs, seed, size, offset);
        }
        self.albums_by_seq(user_id, &seqs)
    }

    /// Songs drawn at random, the same ones for the same seed and library.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn random_songs(&self, user_id: i64, filter: &RandomFilter) -> Result<Vec<SongView>> {
        let all = self.all(
            "SELECT t.seq FROM unified_tracks t \
             WHERE (?1 IS NULL OR t.seq IN (SELECT k.track_seq FROM track_genres k WHERE k.genre_key = ?1)) \
             AND (?2 IS NULL OR t.year >= ?2) AND (?3 IS NULL OR t.year <= ?3) \
             AND (?4 IS NULL OR EXISTS (SELECT 1 FROM track_sources s WHERE s.track_id = t.id AND s.instance_id = ?4))",
            params![
                filter.genre.as_deref().map(fold),
                filter.from_year,
                filter.to_year,
                filter.folder,
            ],
            |c| c.next(),
        )?;
        self.songs_by_seq(user_id, &shuffled(all, filter.seed, filter.size, 0))
    }

    /// One page of the songs with a genre, in the order they came into the library.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn songs_by_genre(
        &self,
        user_id: i64,
        genre: &str,
        count: usize,
        offset: usize,
        folder: Option<&str>,
    ) -> Result<Vec<SongView>> {
        let seqs = self.all(
            "SELECT k.track_seq FROM track_genres k WHERE k.genre_key = ?1 AND (?2 IS NULL OR EXISTS (\
               SELECT 1 FROM unified_tracks t JOIN track_sources s ON s.track_id = t.id \
               WHERE t.seq = k.track_seq AND s.instance_id = ?2)) \
             ORDER BY k.track_seq LIMIT ?3 OFFSET ?4",
            params![fold(genre), folder, limit(count), limit(offset)],
            |c| c.next(),
        )?;
        self.songs_by_seq(user_id, &seqs)
    }
}

/// SQLite's "no limit".
const EVERY: i64 = -1;

/// One page of `seqs` in the order of a hash of seed and row number. A row that comes or goes moves no other.
fn shuffled(mut seqs: Vec<i64>, seed: u64, size: usize, offset: usize) -> Vec<i64> {
    seqs.sort_by_cached_key(|&seq| (mix(seed, seq), seq));
    seqs.into_iter().skip(offset).take(size).collect()
}

/// The SplitMix64 finaliser: every bit of the input moves every bit of the output.
fn mix(seed: u64, seq: i64) -> u64 {
    let mut z = seed ^ seq.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
