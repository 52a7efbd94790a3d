-- What the sources say (instance_*), what the library shows (unified_*), and where each track can be had from.
-- Times are milliseconds since 1970; genres are JSON arrays; keys are folded text, computed outside.

CREATE TABLE settings (
    key TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- folder_number is the musicFolder id that clients keep: AUTOINCREMENT, so it is never given out twice.
CREATE TABLE instances (
    folder_number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('subsonic', 'folder', 'peer')),
    name TEXT NOT NULL,
    local INTEGER NOT NULL,
    online INTEGER NOT NULL DEFAULT 0,
    last_seen INTEGER,
    last_sync INTEGER,
    last_error TEXT,
    track_count INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE instance_artists (
    instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    remote_id TEXT NOT NULL,
    name TEXT NOT NULL,
    musicbrainz_id TEXT,
    cover_art TEXT,
    PRIMARY KEY (instance_id, remote_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE instance_albums (
    instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    remote_id TEXT NOT NULL,
    name TEXT NOT NULL,
    artist_remote_id TEXT,
    artist_name TEXT NOT NULL,
    year INTEGER,
    genres TEXT NOT NULL,
    musicbrainz_id TEXT,
    release_group_mbid TEXT,
    cover_art TEXT,
    created INTEGER,
    is_compilation INTEGER NOT NULL,
    PRIMARY KEY (instance_id, remote_id)
) STRICT, WITHOUT ROWID;

-- No reference to instance_albums: a source may list a track whose album it failed to list.
CREATE TABLE instance_tracks (
    instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    remote_id TEXT NOT NULL,
    album_remote_id TEXT NOT NULL,
    title TEXT NOT NULL,
    artist_name TEXT NOT NULL,
    artist_remote_id TEXT,
    track_number INTEGER,
    disc_number INTEGER NOT NULL,
    duration_ms INTEGER,
    bit_rate INTEGER,
    format TEXT NOT NULL,
    suffix TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size INTEGER,
    musicbrainz_id TEXT,
    isrc TEXT,
    year INTEGER,
    genres TEXT NOT NULL,
    cover_art TEXT,
    sampling_rate INTEGER,
    bit_depth INTEGER,
    channel_count INTEGER,
    path TEXT,
    modified INTEGER,
    created INTEGER,
    PRIMARY KEY (instance_id, remote_id)
) STRICT, WITHOUT ROWID;

-- seq gives lists a stable order to page in: new rows come last, changed rows keep their place.
CREATE TABLE unified_artists (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    sort_key TEXT NOT NULL,
    musicbrainz_id TEXT,
    cover_instance TEXT,
    cover_remote TEXT,
    is_album_artist INTEGER NOT NULL
) STRICT;
CREATE INDEX unified_artists_sort_key ON unified_artists (sort_key);
CREATE INDEX unified_artists_name_key ON unified_artists (name_key);

CREATE TABLE unified_release_groups (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    artist_id TEXT NOT NULL REFERENCES unified_artists (id),
    artist_name TEXT NOT NULL,
    year INTEGER,
    genres TEXT NOT NULL,
    musicbrainz_id TEXT,
    cover_instance TEXT,
    cover_remote TEXT,
    is_compilation INTEGER NOT NULL,
    created INTEGER,
    song_count INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX unified_release_groups_artist ON unified_release_groups (artist_id);
CREATE INDEX unified_release_groups_name_key ON unified_release_groups (name_key);
CREATE INDEX unified_release_groups_created ON unified_release_groups (created);
CREATE INDEX unified_release_groups_year ON unified_release_groups (year);

CREATE TABLE unified_releases (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    release_group_id TEXT NOT NULL REFERENCES unified_release_groups (id),
    name TEXT NOT NULL,
    musicbrainz_id TEXT,
    track_count INTEGER NOT NULL
) STRICT;
CREATE INDEX unified_releases_group ON unified_releases (release_group_id);

CREATE TABLE unified_tracks (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    release_group_id TEXT NOT NULL REFERENCES unified_release_groups (id),
    title TEXT NOT NULL,
    title_key TEXT NOT NULL,
    artist_id TEXT NOT NULL REFERENCES unified_artists (id),
    artist_name TEXT NOT NULL,
    track_number INTEGER,
    disc_number INTEGER NOT NULL,
    duration_ms INTEGER,
    year INTEGER,
    genres TEXT NOT NULL,
    musicbrainz_id TEXT,
    isrc TEXT,
    cover_instance TEXT,
    cover_remote TEXT,
    created INTEGER
) STRICT;
CREATE INDEX unified_tracks_group ON unified_tracks (release_group_id, disc_number, track_number);
CREATE INDEX unified_tracks_artist ON unified_tracks (artist_id);
CREATE INDEX unified_tracks_year ON unified_tracks (year);

-- What search looks through: title, artist, album and album artist of each track, folded, one a line. Narrow on
-- purpose: a search reads all of it.
CREATE TABLE track_keys (
    track_seq INTEGER PRIMARY KEY REFERENCES unified_tracks (seq) ON DELETE CASCADE,
    keys TEXT NOT NULL
) STRICT;

CREATE TABLE track_genres (
    genre_key TEXT NOT NULL,
    track_seq INTEGER NOT NULL REFERENCES unified_tracks (seq) ON DELETE CASCADE,
    genre TEXT NOT NULL,
    PRIMARY KEY (genre_key, track_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX track_genres_track ON track_genres (track_seq);

CREATE TABLE release_group_genres (
    genre_key TEXT NOT NULL,
    group_seq INTEGER NOT NULL REFERENCES unified_release_groups (seq) ON DELETE CASCADE,
    genre TEXT NOT NULL,
    PRIMARY KEY (genre_key, group_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX release_group_genres_group ON release_group_genres (group_seq);

CREATE TABLE unified_artist_sources (
    instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    remote_id TEXT NOT NULL,
    artist_id TEXT NOT NULL REFERENCES unified_artists (id) ON DELETE CASCADE,
    PRIMARY KEY (instance_id, remote_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX unified_artist_sources_artist ON unified_artist_sources (artist_id, instance_id);

CREATE TABLE unified_release_sources (
    instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    remote_id TEXT NOT NULL,
    release_id TEXT NOT NULL REFERENCES unified_releases (id) ON DELETE CASCADE,
    release_group_id TEXT NOT NULL REFERENCES unified_release_groups (id) ON DELETE CASCADE,
    PRIMARY KEY (instance_id, remote_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX unified_release_sources_release ON unified_release_sources (release_id);
CREATE INDEX unified_release_sources_group ON unified_release_sources (release_group_id, instance_id);

CREATE TABLE track_sources (
    instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    remote_id TEXT NOT NULL,
    track_id TEXT NOT NULL REFERENCES unified_tracks (id) ON DELETE CASCADE,
    preferred INTEGER NOT NULL,
    format_rank INTEGER NOT NULL,
    bit_rate INTEGER NOT NULL,
    local INTEGER NOT NULL,
    format TEXT NOT NULL,
    suffix TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size INTEGER,
    duration_ms INTEGER,
    sampling_rate INTEGER,
    bit_depth INTEGER,
    channel_count INTEGER,
    UNIQUE (instance_id, remote_id)
) STRICT;
CREATE INDEX track_sources_track ON track_sources (track_id, instance_id);

CREATE TABLE id_aliases (
    old_id TEXT PRIMARY KEY NOT NULL,
    new_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX id_aliases_new ON id_aliases (new_id);
