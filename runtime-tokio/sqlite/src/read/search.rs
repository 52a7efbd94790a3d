//! Search: every word of the query must occur in what a row is called.

use super::{Reader, limit};
use crate::{AlbumView, ArtistView, Result, SongView};
use rusqlite::types::Value;
use segue_core::catalog::normalise::fold;

/// What to look for, and which page of each kind to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// As typed. Empty, `""` or `*` finds everything.
    pub text: String,
    /// At most this many artists.
    pub artist_count: usize,
    /// Artists skipped.
    pub artist_offset: usize,
    /// At most this many albums.
    pub album_count: usize,
    /// Albums skipped.
    pub album_offset: usize,
    /// At most this many songs.
    pub song_count: usize,
    /// Songs skipped.
    pub song_offset: usize,
    /// Only what this instance has.
    pub folder: Option<String>,
}

/// What was found. Rows named exactly so come first, then those that begin so, then the rest, each by name. Without
/// words everything is found, in the order it came into the library, so that paging through it misses nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Artists, mere track artists included.
    pub artists: Vec<ArtistView>,
    /// Albums.
    pub albums: Vec<AlbumView>,
    /// Songs.
    pub songs: Vec<SongView>,
}

/// A longer query is cut: a hundred words cannot all be meant.
const MOST_WORDS: usize = 16;

/// One kind of row to look through.
struct Place {
    /// `FROM ... WHERE ...`; `?1` is an instance or null.
    rows: &'static str,
    seq: &'static str,
    /// The row's own folded name.
    name: &'static str,
    /// Everything the words may occur in.
    keys: &'static str,
}

const ARTISTS: Place = Place {
    rows: "FROM unified_artists a WHERE (?1 IS NULL OR EXISTS (\
           SELECT 1 FROM unified_artist_sources x WHERE x.artist_id = a.id AND x.instance_id = ?1))",
    seq: "a.seq",
    name: "a.name_key",
    keys: "a.name_key",
};

const ALBUMS: Place = Place {
    rows: "FROM unified_release_groups g JOIN unified_artists a ON a.id = g.artist_id \
           WHERE (?1 IS NULL OR EXISTS (SELECT 1 FROM unified_release_sources x \
           WHERE x.release_group_id = g.id AND x.instance_id = ?1))",
    seq: "g.seq",
    name: "g.name_key",
    keys: "g.name_key || char(10) || a.name_key",
};

/// `track_keys` begins with the title, up to the first line break.
const SONGS: Place = Place {
    rows: "FROM track_keys k WHERE (?1 IS NULL OR EXISTS (\
           SELECT 1 FROM unified_tracks t JOIN track_sources x ON x.track_id = t.id \
           WHERE t.seq = k.track_seq AND x.instance_id = ?1))",
    seq: "k.track_seq",
    name: "substr(k.keys, 1, instr(k.keys, char(10)) - 1)",
    keys: "k.keys",
};

impl Reader {
    /// Looks in artists, albums and songs. An id that this hub gave out finds that very row as well.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn search(&self, user_id: i64, query: &SearchQuery) -> Result<Found> {
        let wanted = Wanted::of(&query.text);
        let folder = query.folder.as_deref();
        let id = match query.text.trim() {
            "" => None,
            text => self.resolve(text)?,
        };
        let named = |sql: &str| -> Result<Option<i64>> {
            match &id {
                Some(id) => self.one(sql, [id], |c| c.next()),
                None => Ok(None),
            }
        };
        let artists = self.matches(
            &ARTISTS,
            &wanted,
            folder,
            named("SELECT seq FROM unified_artists WHERE id = ?1")?,
            (query.artist_count, query.artist_offset),
        )?;
        let albums = self.matches(
            &ALBUMS,
            &wanted,
            folder,
            named("SELECT seq FROM unified_release_groups WHERE id = ?1")?,
            (query.album_count, query.album_offset),
        )?;
        let songs = self.matches(
            &SONGS,
            &wanted,
            folder,
            named("SELECT seq FROM unified_tracks WHERE id = ?1")?,
            (query.song_count, query.song_offset),
        )?;
        Ok(Found {
            artists: self.artists_by_seq(user_id, &artists)?,
            albums: self.albums_by_seq(user_id, &albums)?,
            songs: self.songs_by_seq(user_id, &songs)?,
        })
    }

    fn matches(
        &self,
        place: &Place,
        wanted: &Wanted,
        folder: Option<&str>,
        named: Option<i64>,
        (count, offset): (usize, usize),
    ) -> Result<Vec<i64>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let Place {
            rows,
            seq,
            name,
            keys,
        } = place;
        let mut values = vec![
            Value::from(folder.map(str::to_owned)),
            Value::from(limit(count)),
            Value::from(limit(offset)),
        ];
        let mut sql = format!("SELECT {seq} {rows}");
        if wanted.words.is_empty() {
            sql.push_str(&format!(" ORDER BY {seq} LIMIT ?2 OFFSET ?3"));
        } else {
            // `instr` takes every character as it is: there is no pattern to escape.
            let each: Vec<String> = (6..6 + wanted.words.len())
                .map(|n| format!("instr({keys}, ?{n}) > 0"))
                .collect();
            sql.push_str(&format!(
                " AND ({each} OR {seq} = ?4) \
                 ORDER BY {seq} IS ?4 DESC, {name} = ?5 DESC, instr({name}, ?5) = 1 DESC, {name}, {seq} \
                 LIMIT ?2 OFFSET ?3",
                each = each.join(" AND ")
            ));
            values.push(Value::from(named));
            values.push(Value::from(wanted.whole.clone()));
            values.extend(wanted.words.iter().cloned().map(Value::from));
        }
        self.all(&sql, rusqlite::params_from_iter(values), |c| c.next())
    }
}

/// A query as it is compared: folded, in words.
struct Wanted {
    whole: String,
    words: Vec<String>,
}

impl Wanted {
    /// Clients send `""` or `*` for everything, out of habit with other servers. Any other punctuation is what
    /// [`fold`] makes of it, in the query as in the rows.
    fn of(text: &str) -> Self {
        let bare = text.trim().trim_matches('"');
        let words: Vec<String> = if bare.chars().all(|c| c == '*') {
            Vec::new()
        } else {
            let folded = fold(bare);
            folded
                .split_whitespace()
                .take(MOST_WORDS)
                .map(str::to_owned)
                .collect()
        };
        Wanted {
            whole: words.join(" "),
            words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Wanted;

    #[test]
    fn quotes_around_and_stars_alone_are_habits() {
        for everything in ["", "\"\"", " * ", "\"*\""] {
            assert!(Wanted::of(everything).words.is_empty(), "{everything}");
        }
        assert_eq!(Wanted::of("\"Two Words\"").words, ["two", "words"]);
        assert_eq!(Wanted::of("beat*").words, ["beat"]);
        assert_eq!(Wanted::of("!!!").words, ["!!!"]);
    }
}
