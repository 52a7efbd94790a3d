-- target_id has no reference, like that of a star.
CREATE TABLE ratings (
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    target_id TEXT NOT NULL,
    rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5),
    rated_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ratings_target ON ratings (target_id);
