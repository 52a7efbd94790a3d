-- Songs to look up, who wants the answer, what the lanes said, and the lyrics themselves.
-- Times are milliseconds since 1970. A document is referred to by its number, without a REFERENCES: retention finds
-- those that nobody refers to.

CREATE TABLE documents (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (length(id) = 64),
    quality INTEGER NOT NULL CHECK (quality BETWEEN 1 AND 4),
    body TEXT NOT NULL,
    stored_at INTEGER NOT NULL
) STRICT;

-- One row a song. Which variant of a song a row is, is decided outside: the number only tells them apart.
-- next_attempt_at is there exactly in the statuses that may be claimed, lease_until exactly in processing.
CREATE TABLE work_queue (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    artist_key TEXT NOT NULL CHECK (artist_key <> ''),
    title_key TEXT NOT NULL CHECK (title_key <> ''),
    variant INTEGER NOT NULL,
    marker TEXT NOT NULL,
    duration_ms INTEGER,
    song TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'done', 'failed', 'deferred', 'parked', 'retired')),
    priority INTEGER NOT NULL CHECK (priority BETWEEN -100 AND 100),
    attempts INTEGER NOT NULL DEFAULT 0,
    miss_count INTEGER NOT NULL DEFAULT 0,
    upgrades INTEGER NOT NULL DEFAULT 0,
    lost_workers INTEGER NOT NULL DEFAULT 0,
    providers_version INTEGER NOT NULL CHECK (providers_version BETWEEN 0 AND 2147483647),
    claim_epoch INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    lease_until INTEGER,
    next_attempt_at INTEGER,
    upgrade_after INTEGER,
    outcome TEXT CHECK (outcome IN ('lyrics', 'instrumental', 'rejected')),
    document INTEGER,
    quality INTEGER NOT NULL DEFAULT 0 CHECK (quality BETWEEN 0 AND 4),
    lane TEXT,
    reason TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    completed_at INTEGER,
    UNIQUE (artist_key, title_key, variant),
    CHECK ((next_attempt_at IS NOT NULL) = (status IN ('pending', 'failed', 'deferred'))),
    CHECK ((lease_until IS NOT NULL) = (status = 'processing')),
    CHECK (upgrade_after IS NULL OR status = 'done'),
    CHECK (status <> 'done' OR outcome IS NOT NULL)
) STRICT;
-- A claim looks at the first row of each priority, highest first, so it costs the same however many rows wait.
CREATE INDEX work_queue_due ON work_queue (priority, next_attempt_at, id) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX work_queue_leases ON work_queue (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX work_queue_upgrades ON work_queue (upgrade_after) WHERE upgrade_after IS NOT NULL;
CREATE INDEX work_queue_status ON work_queue (status);
CREATE INDEX work_queue_documents ON work_queue (document) WHERE document IS NOT NULL;

-- Who wants the answer: a track (without instance) or one file of it. track_id has no reference, like that of a star: it
-- outlives a track that is gone for a while, and follows its aliases. Artist and title are those it was put in with.
CREATE TABLE scan_results (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    track_id TEXT NOT NULL,
    instance_id TEXT,
    remote_id TEXT,
    path TEXT,
    artist TEXT NOT NULL,
    title TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'done', 'refused')),
    reason TEXT,
    document INTEGER,
    quality INTEGER NOT NULL DEFAULT 0 CHECK (quality BETWEEN 0 AND 4),
    created_at INTEGER NOT NULL,
    done_at INTEGER,
    CHECK ((instance_id IS NULL) = (remote_id IS NULL) AND (instance_id IS NULL) = (path IS NULL)),
    UNIQUE (instance_id, remote_id)
) STRICT;
CREATE UNIQUE INDEX scan_results_track ON scan_results (track_id) WHERE instance_id IS NULL;
CREATE INDEX scan_results_files ON scan_results (track_id) WHERE instance_id IS NOT NULL;

CREATE TABLE work_queue_scan_results (
    work_id INTEGER NOT NULL REFERENCES work_queue (id) ON DELETE CASCADE,
    scan_id INTEGER NOT NULL REFERENCES scan_results (id) ON DELETE CASCADE,
    PRIMARY KEY (work_id, scan_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX work_queue_scan_results_scan ON work_queue_scan_results (scan_id);

-- The ledger: what each lane said of a song when it was last asked. valid_until is set for a no that is believed.
CREATE TABLE lane_answers (
    work_id INTEGER NOT NULL REFERENCES work_queue (id) ON DELETE CASCADE,
    lane TEXT NOT NULL,
    answer TEXT NOT NULL,
    reason TEXT,
    answered_at INTEGER NOT NULL,
    valid_until INTEGER,
    retry_at INTEGER,
    PRIMARY KEY (work_id, lane)
) STRICT, WITHOUT ROWID;

-- The journal of sidecars: one row a file. What is wanted, what is being written, and what of ours lies there.
-- next_attempt_at is there exactly while something is left to do; a claim moves it to the end of its lease.
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scan_id INTEGER NOT NULL UNIQUE REFERENCES scan_results (id) ON DELETE CASCADE,
    status TEXT NOT NULL CHECK (status IN ('wanted', 'intent', 'delivered', 'refused')),
    epoch INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER,
    reason TEXT,
    wanted_document INTEGER NOT NULL,
    intent_document INTEGER,
    intent_sidecar TEXT,
    intent_temp TEXT,
    intent_old_hash TEXT,
    intent_new_hash TEXT,
    delivered_document INTEGER,
    delivered_quality INTEGER,
    delivered_sidecar TEXT,
    delivered_hash TEXT,
    delivered_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CHECK ((next_attempt_at IS NOT NULL) = (status IN ('wanted', 'intent'))),
    CHECK ((intent_document IS NOT NULL) = (status = 'intent'))
) STRICT;
CREATE INDEX deliveries_due ON deliveries (next_attempt_at, id) WHERE next_attempt_at IS NOT NULL;

-- Words that a lane gave for songs that have nothing to do with one another: never believed again.
CREATE TABLE decoys (
    document_id TEXT PRIMARY KEY NOT NULL,
    lane TEXT NOT NULL,
    found_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A lane's breaker, as JSON, and its pace: a restart loop does not hammer a provider.
CREATE TABLE lane_state (
    lane TEXT PRIMARY KEY NOT NULL,
    breaker TEXT NOT NULL,
    next_call_at INTEGER,
    note TEXT,
    saved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a song was answered with, for a song that is put in anew. Lengths are 0 when unknown.
CREATE TABLE lyrics_cache (
    artist_key TEXT NOT NULL,
    title_key TEXT NOT NULL,
    marker TEXT NOT NULL,
    duration_ms INTEGER NOT NULL,
    document INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('lyrics', 'instrumental')),
    lane TEXT,
    stored_at INTEGER NOT NULL,
    PRIMARY KEY (artist_key, title_key, marker, duration_ms)
) STRICT, WITHOUT ROWID;
