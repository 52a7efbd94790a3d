//! One catalog row written: inserted when new, replaced in place otherwise, so that its `seq` stays.

use crate::columns::{json_list, maybe_millis, maybe_signed, signed};
use crate::rows::{
    ARTIST_COLUMNS, ARTIST_SOURCE_COLUMNS, GROUP_COLUMNS, INSTANCE_ALBUM_COLUMNS,
    INSTANCE_ARTIST_COLUMNS, INSTANCE_TRACK_COLUMNS, RELEASE_COLUMNS, RELEASE_SOURCE_COLUMNS,
    TRACK_COLUMNS, TRACK_SOURCE_COLUMNS,
};
use crate::{Result, Writer};
use rusqlite::params;
use segue_core::catalog::model::{
    Alias, ArtistSource, CoverRef, InstanceAlbum, InstanceArtist, InstanceTrack, ReleaseSource,
    TrackSource, UnifiedArtist, UnifiedRelease, UnifiedReleaseGroup, UnifiedTrack,
};
use segue_core::catalog::normalise::fold;
use std::sync::LazyLock;

/// `INSERT ... ON CONFLICT DO UPDATE` of all `columns`, in their order; `key` is what may conflict.
fn upsert(table: &str, columns: &str, key: &[&str]) -> String {
    let names: Vec<&str> = columns
        .split(", ")
        .map(|column| column.trim().rsplit('.').next().unwrap_or_default())
        .collect();
    let numbers: Vec<String> = (1..=names.len()).map(|n| format!("?{n}")).collect();
    let sets: Vec<String> = names
        .iter()
        .filter(|name| !key.contains(name))
        .map(|name| format!("{name} = excluded.{name}"))
        .collect();
    format!(
        "INSERT INTO {table} ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {}",
        names.join(", "),
        numbers.join(", "),
        key.join(", "),
        sets.join(", ")
    )
}

/// The same for a table whose rows belong to an instance, which comes first.
fn upsert_of_instance(table: &str, columns: &str) -> String {
    upsert(
        table,
        &format!("instance_id, {columns}"),
        &["instance_id", "remote_id"],
    )
}

static INSTANCE_ARTIST: LazyLock<String> =
    LazyLock::new(|| upsert_of_instance("instance_artists", INSTANCE_ARTIST_COLUMNS));
static INSTANCE_ALBUM: LazyLock<String> =
    LazyLock::new(|| upsert_of_instance("instance_albums", INSTANCE_ALBUM_COLUMNS));
static INSTANCE_TRACK: LazyLock<String> =
    LazyLock::new(|| upsert_of_instance("instance_tracks", INSTANCE_TRACK_COLUMNS));
static ARTIST: LazyLock<String> =
    LazyLock::new(|| upsert("unified_artists", ARTIST_COLUMNS, &["id"]));
static GROUP: LazyLock<String> =
    LazyLock::new(|| upsert("unified_release_groups", GROUP_COLUMNS, &["id"]) + " RETURNING seq");
static RELEASE: LazyLock<String> =
    LazyLock::new(|| upsert("unified_releases", RELEASE_COLUMNS, &["id"]));
static TRACK: LazyLock<String> =
    LazyLock::new(|| upsert("unified_tracks", TRACK_COLUMNS, &["id"]) + " RETURNING seq");
static ARTIST_SOURCE: LazyLock<String> = LazyLock::new(|| {
    upsert(
        "unified_artist_sources",
        ARTIST_SOURCE_COLUMNS,
        &["instance_id", "remote_id"],
    )
});
static RELEASE_SOURCE: LazyLock<String> = LazyLock::new(|| {
    upsert(
        "unified_release_sources",
        RELEASE_SOURCE_COLUMNS,
        &["instance_id", "remote_id"],
    )
});
static TRACK_SOURCE: LazyLock<String> = LazyLock::new(|| {
    upsert(
        "track_sources",
        TRACK_SOURCE_COLUMNS,
        &["instance_id", "remote_id"],
    )
});

fn instance_of(cover: Option<&CoverRef>) -> Option<&str> {
    cover.map(|cover| cover.instance.as_str())
}

fn remote_of(cover: Option<&CoverRef>) -> Option<&str> {
    cover.map(|cover| cover.remote_id.as_str())
}

impl Writer {
    pub(crate) fn put_instance_artist(&self, instance: &str, row: &InstanceArtist) -> Result<()> {
        self.run(
            &INSTANCE_ARTIST,
            params![
                instance,
                row.remote_id,
                row.name,
                row.musicbrainz_id,
                row.cover_art
            ],
        )?;
        Ok(())
    }

    pub(crate) fn put_instance_album(&self, instance: &str, row: &InstanceAlbum) -> Result<()> {
        self.run(
            &INSTANCE_ALBUM,
            params![
                instance,
                row.remote_id,
                row.name,
                row.artist_remote_id,
                row.artist_name,
                row.year,
                json_list(&row.genres),
                row.musicbrainz_id,
                row.release_group_mbid,
                row.cover_art,
                maybe_millis(row.created),
                row.is_compilation,
            ],
        )?;
        Ok(())
    }

    pub(crate) fn put_instance_track(&self, instance: &str, row: &InstanceTrack) -> Result<()> {
        self.run(
            &INSTANCE_TRACK,
            params![
                instance,
                row.remote_id,
                row.album_remote_id,
                row.title,
                row.artist_name,
                row.artist_remote_id,
                row.track_number,
                row.disc_number,
                maybe_signed(row.duration_ms),
                row.bit_rate,
                row.format,
                row.suffix,
                row.content_type,
                maybe_signed(row.size),
                row.musicbrainz_id,
                row.isrc,
                row.year,
                json_list(&row.genres),
                row.cover_art,
                row.sampling_rate,
                row.bit_depth,
                row.channel_count,
                row.path,
                maybe_millis(row.modified),
                maybe_millis(row.created),
            ],
        )?;
        Ok(())
    }

    pub(crate) fn put_artist(&self, row: &UnifiedArtist) -> Result<()> {
        let cover = row.cover_art.as_ref();
        self.run(
            &ARTIST,
            params![
                row.id,
                row.name,
                row.name_key,
                row.sort_key,
                row.musicbrainz_id,
                instance_of(cover),
                remote_of(cover),
                row.is_album_artist,
            ],
        )?;
        Ok(())
    }

    pub(crate) fn put_group(&self, row: &UnifiedReleaseGroup) -> Result<()> {
        let cover = row.cover_art.as_ref();
        let seq: i64 = self.sql().prepare_cached(&GROUP)?.query_row(
            params![
                row.id,
                row.name,
                row.name_key,
                row.artist_id,
                row.artist_name,
                row.year,
                json_list(&row.genres),
                row.musicbrainz_id,
                instance_of(cover),
                remote_of(cover),
                row.is_compilation,
                maybe_millis(row.created),
                row.song_count,
                signed(row.duration_ms),
            ],
            |found| found.get(0),
        )?;
        self.run(
            "DELETE FROM release_group_genres WHERE group_seq = ?1",
            [seq],
        )?;
        for genre in &row.genres {
            self.run(
                "INSERT OR IGNORE INTO release_group_genres (genre_key, group_seq, genre) VALUES (?1, ?2, ?3)",
                params![fold(genre), seq, genre],
            )?;
        }
        Ok(())
    }

    pub(crate) fn put_release(&self, row: &UnifiedRelease) -> Result<()> {
        self.run(
            &RELEASE,
            params![
                row.id,
                row.release_group_id,
                row.name,
                row.musicbrainz_id,
                row.track_count
            ],
        )?;
        Ok(())
    }

    pub(crate) fn put_track(&self, row: &UnifiedTrack, keys: &str) -> Result<()> {
        let cover = row.cover_art.as_ref();
        let seq: i64 = self.sql().prepare_cached(&TRACK)?.query_row(
            params![
                row.id,
                row.release_group_id,
                row.title,
                row.title_key,
                row.artist_id,
                row.artist_name,
                row.track_number,
                row.disc_number,
                maybe_signed(row.duration_ms),
                row.year,
                json_list(&row.genres),
                row.musicbrainz_id,
                row.isrc,
                instance_of(cover),
                remote_of(cover),
                maybe_millis(row.created),
            ],
            |found| found.get(0),
        )?;
        self.run(
            "INSERT OR REPLACE INTO track_keys (track_seq, keys) VALUES (?1, ?2)",
            params![seq, keys],
        )?;
        self.run("DELETE FROM track_genres WHERE track_seq = ?1", [seq])?;
        for genre in &row.genres {
            self.run(
                "INSERT OR IGNORE INTO track_genres (genre_key, track_seq, genre) VALUES (?1, ?2, ?3)",
                params![fold(genre), seq, genre],
            )?;
        }
        Ok(())
    }

    pub(crate) fn put_artist_source(&self, row: &ArtistSource) -> Result<()> {
        self.run(
            &ARTIST_SOURCE,
            params![row.instance, row.remote_id, row.artist_id],
        )?;
        Ok(())
    }

    pub(crate) fn put_release_source(&self, row: &ReleaseSource) -> Result<()> {
        self.run(
            &RELEASE_SOURCE,
            params![
                row.instance,
                row.remote_id,
                row.release_id,
                row.release_group_id
            ],
        )?;
        Ok(())
    }

    pub(crate) fn put_track_source(&self, row: &TrackSource) -> Result<()> {
        self.run(
            &TRACK_SOURCE,
            params![
                row.instance,
                row.remote_id,
                row.track_id,
                row.preferred,
                row.format_rank,
                row.bit_rate,
                row.local,
                row.format,
                row.suffix,
                row.content_type,
                maybe_signed(row.size),
                maybe_signed(row.duration_ms),
                row.sampling_rate,
                row.bit_depth,
                row.channel_count,
            ],
        )?;
        Ok(())
    }

    /// Stars, ratings and plays follow, so that what a user did to the old id is seen on the new one.
    pub(crate) fn put_alias(&self, row: &Alias) -> Result<()> {
        let both = params![row.old_id, row.new_id];
        self.run(
            "INSERT INTO id_aliases (old_id, new_id) VALUES (?1, ?2) \
             ON CONFLICT (old_id) DO UPDATE SET new_id = excluded.new_id",
            both,
        )?;
        self.run(
            "UPDATE OR IGNORE stars SET target_id = ?2 WHERE target_id = ?1",
            both,
        )?;
        self.run("DELETE FROM stars WHERE target_id = ?1", [&row.old_id])?;
        self.run(
            "UPDATE OR IGNORE ratings SET target_id = ?2 WHERE target_id = ?1",
            both,
        )?;
        self.run("DELETE FROM ratings WHERE target_id = ?1", [&row.old_id])?;
        self.run("UPDATE plays SET track_id = ?2 WHERE track_id = ?1", both)?;
        self.run(
            "UPDATE OR IGNORE scan_results SET track_id = ?2 WHERE track_id = ?1",
            both,
        )?;
        self.run(
            "DELETE FROM scan_results WHERE track_id = ?1",
            [&row.old_id],
        )?;
        Ok(())
    }
}
