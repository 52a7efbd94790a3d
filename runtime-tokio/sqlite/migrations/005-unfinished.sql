-- Names of unfinished files that a delivery has let go of without having seen that they are gone: another turn has taken
-- over, it was given up, or its row went. Paths are below the folder's root. They are looked for until they are long gone.

CREATE TABLE unfinished (
    instance_id TEXT NOT NULL,
    path TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (instance_id, path)
) STRICT, WITHOUT ROWID;

-- Before, for afterwards it is not known any more in which folder the name is.
CREATE TRIGGER scan_results_unfinished BEFORE DELETE ON scan_results
BEGIN
    INSERT OR REPLACE INTO unfinished (instance_id, path, since)
        SELECT OLD.instance_id, d.intent_temp, d.updated_at FROM deliveries d
        WHERE d.scan_id = OLD.id AND d.intent_temp IS NOT NULL;
END;
