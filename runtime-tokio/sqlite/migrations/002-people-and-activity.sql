-- Who listens, to what, and from where it really came.

CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL COLLATE NOCASE UNIQUE,
    password_enc BLOB NOT NULL,
    is_admin INTEGER NOT NULL,
    created INTEGER NOT NULL
) STRICT;

-- Only the SHA-256 of a key is kept.
CREATE TABLE api_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key_hash BLOB NOT NULL UNIQUE CHECK (length(key_hash) = 32),
    label TEXT NOT NULL,
    created INTEGER NOT NULL
) STRICT;
CREATE INDEX api_keys_user ON api_keys (user_id);

-- target_id has no reference: a star outlives a track that is gone for a while, and follows its aliases.
CREATE TABLE stars (
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    target_id TEXT NOT NULL,
    starred_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX stars_target ON stars (target_id);

CREATE TABLE plays (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    track_id TEXT NOT NULL,
    played_at INTEGER NOT NULL,
    client TEXT NOT NULL
) STRICT;
CREATE INDEX plays_user_track ON plays (user_id, track_id, played_at);
CREATE INDEX plays_track ON plays (track_id);

CREATE TABLE stream_operations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    track_id TEXT NOT NULL,
    track_title TEXT NOT NULL,
    artist_name TEXT NOT NULL,
    user TEXT NOT NULL,
    client TEXT NOT NULL,
    source_id TEXT,
    source_kind TEXT,
    attempts TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    status TEXT NOT NULL CHECK (status IN ('active', 'completed', 'client_gone', 'failed', 'truncated', 'interrupted')),
    bytes INTEGER NOT NULL,
    format TEXT,
    bit_rate INTEGER,
    transcoded INTEGER NOT NULL,
    range_start INTEGER,
    error TEXT
) STRICT;
CREATE INDEX stream_operations_started_at ON stream_operations (started_at);
CREATE INDEX stream_operations_active ON stream_operations (started_at) WHERE status = 'active';
