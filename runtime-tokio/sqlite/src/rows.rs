//! The catalog's rows: the columns of each table, and how a row of them becomes a value.
//!
//! Every `*_COLUMNS` list is read by the function beside it, in the same order.

use crate::columns::Columns;
use rusqlite::Result;
use segue_core::catalog::model::{
    Alias, ArtistSource, InstanceAlbum, InstanceArtist, InstanceTrack, ReleaseSource, TrackSource,
    UnifiedArtist, UnifiedRelease, UnifiedReleaseGroup, UnifiedTrack,
};

pub(crate) const INSTANCE_ARTIST_COLUMNS: &str = "remote_id, name, musicbrainz_id, cover_art";

pub(crate) fn instance_artist(c: &mut Columns<'_, '_>) -> Result<InstanceArtist> {
    Ok(InstanceArtist {
        remote_id: c.next()?,
        name: c.next()?,
        musicbrainz_id: c.next()?,
        cover_art: c.next()?,
    })
}

pub(crate) const INSTANCE_ALBUM_COLUMNS: &str = "remote_id, name, artist_remote_id, artist_name, \
    year, genres, musicbrainz_id, release_group_mbid, cover_art, created, is_compilation";

pub(crate) fn instance_album(c: &mut Columns<'_, '_>) -> Result<InstanceAlbum> {
    Ok(InstanceAlbum {
        remote_id: c.next()?,
        name: c.next()?,
        artist_remote_id: c.next()?,
        artist_name: c.next()?,
        year: c.next()?,
        genres: c.json()?,
        musicbrainz_id: c.next()?,
        release_group_mbid: c.next()?,
        cover_art: c.next()?,
        created: c.maybe_wall()?,
        is_compilation: c.next()?,
    })
}

pub(crate) const INSTANCE_TRACK_COLUMNS: &str = "remote_id, album_remote_id, title, artist_name, \
    artist_remote_id, track_number, disc_number, duration_ms, bit_rate, format, suffix, \
    content_type, size, musicbrainz_id, isrc, year, genres, cover_art, sampling_rate, bit_depth, \
    channel_count, path, modified, created";

pub(crate) fn instance_track(c: &mut Columns<'_, '_>) -> Result<InstanceTrack> {
    Ok(InstanceTrack {
        remote_id: c.next()?,
        album_remote_id: c.next()?,
        title: c.next()?,
        artist_name: c.next()?,
        artist_remote_id: c.next()?,
        track_number: c.next()?,
        disc_number: c.next()?,
        duration_ms: c.maybe_unsigned()?,
        bit_rate: c.next()?,
        format: c.next()?,
        suffix: c.next()?,
        content_type: c.next()?,
        size: c.maybe_unsigned()?,
        musicbrainz_id: c.next()?,
        isrc: c.next()?,
        year: c.next()?,
        genres: c.json()?,
        cover_art: c.next()?,
        sampling_rate: c.next()?,
        bit_depth: c.next()?,
        channel_count: c.next()?,
        path: c.next()?,
        modified: c.maybe_wall()?,
        created: c.maybe_wall()?,
    })
}

pub(crate) const ARTIST_COLUMNS: &str = "a.id, a.name, a.name_key, a.sort_key, a.musicbrainz_id, \
    a.cover_instance, a.cover_remote, a.is_album_artist";

pub(crate) fn artist(c: &mut Columns<'_, '_>) -> Result<UnifiedArtist> {
    Ok(UnifiedArtist {
        id: c.next()?,
        name: c.next()?,
        name_key: c.next()?,
        sort_key: c.next()?,
        musicbrainz_id: c.next()?,
        cover_art: c.cover()?,
        is_album_artist: c.next()?,
    })
}

pub(crate) const GROUP_COLUMNS: &str = "g.id, g.name, g.name_key, g.artist_id, g.artist_name, \
    g.year, g.genres, g.musicbrainz_id, g.cover_instance, g.cover_remote, g.is_compilation, \
    g.created, g.song_count, g.duration_ms";

pub(crate) fn release_group(c: &mut Columns<'_, '_>) -> Result<UnifiedReleaseGroup> {
    Ok(UnifiedReleaseGroup {
        id: c.next()?,
        name: c.next()?,
        name_key: c.next()?,
        artist_id: c.next()?,
        artist_name: c.next()?,
        year: c.next()?,
        genres: c.json()?,
        musicbrainz_id: c.next()?,
        cover_art: c.cover()?,
        is_compilation: c.next()?,
        created: c.maybe_wall()?,
        song_count: c.next()?,
        duration_ms: c.unsigned()?,
    })
}

pub(crate) const RELEASE_COLUMNS: &str =
    "r.id, r.release_group_id, r.name, r.musicbrainz_id, r.track_count";

pub(crate) fn release(c: &mut Columns<'_, '_>) -> Result<UnifiedRelease> {
    Ok(UnifiedRelease {
        id: c.next()?,
        release_group_id: c.next()?,
        name: c.next()?,
        musicbrainz_id: c.next()?,
        track_count: c.next()?,
    })
}

pub(crate) const TRACK_COLUMNS: &str = "t.id, t.release_group_id, t.title, t.title_key, \
    t.artist_id, t.artist_name, t.track_number, t.disc_number, t.duration_ms, t.year, t.genres, \
    t.musicbrainz_id, t.isrc, t.cover_instance, t.cover_remote, t.created";

pub(crate) fn track(c: &mut Columns<'_, '_>) -> Result<UnifiedTrack> {
    Ok(UnifiedTrack {
        id: c.next()?,
        release_group_id: c.next()?,
        title: c.next()?,
        title_key: c.next()?,
        artist_id: c.next()?,
        artist_name: c.next()?,
        track_number: c.next()?,
        disc_number: c.next()?,
        duration_ms: c.maybe_unsigned()?,
        year: c.next()?,
        genres: c.json()?,
        musicbrainz_id: c.next()?,
        isrc: c.next()?,
        cover_art: c.cover()?,
        created: c.maybe_wall()?,
    })
}

pub(crate) const ARTIST_SOURCE_COLUMNS: &str = "instance_id, remote_id, artist_id";

pub(crate) fn artist_source(c: &mut Columns<'_, '_>) -> Result<ArtistSource> {
    Ok(ArtistSource {
        instance: c.next()?,
        remote_id: c.next()?,
        artist_id: c.next()?,
    })
}

pub(crate) const RELEASE_SOURCE_COLUMNS: &str =
    "instance_id, remote_id, release_id, release_group_id";

pub(crate) fn release_source(c: &mut Columns<'_, '_>) -> Result<ReleaseSource> {
    Ok(ReleaseSource {
        instance: c.next()?,
        remote_id: c.next()?,
        release_id: c.next()?,
        release_group_id: c.next()?,
    })
}

pub(crate) const TRACK_SOURCE_COLUMNS: &str = "s.instance_id, s.remote_id, s.track_id, \
    s.preferred, s.format_rank, s.bit_rate, s.local, s.format, s.suffix, s.content_type, s.size, \
    s.duration_ms, s.sampling_rate, s.bit_depth, s.channel_count";

pub(crate) fn track_source(c: &mut Columns<'_, '_>) -> Result<TrackSource> {
    Ok(TrackSource {
        instance: c.next()?,
        remote_id: c.next()?,
        track_id: c.next()?,
        preferred: c.next()?,
        format_rank: c.next()?,
        bit_rate: c.next()?,
        local: c.next()?,
        format: c.next()?,
        suffix: c.next()?,
        content_type: c.next()?,
        size: c.maybe_unsigned()?,
        duration_ms: c.maybe_unsigned()?,
        sampling_rate: c.next()?,
        bit_depth: c.next()?,
        channel_count: c.next()?,
    })
}

pub(crate) fn alias(c: &mut Columns<'_, '_>) -> Result<Alias> {
    Ok(Alias {
        old_id: c.next()?,
        new_id: c.next()?,
    })
}
