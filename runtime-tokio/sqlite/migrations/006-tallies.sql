-- How many rows stand where, kept by whatever moves them, in the same transaction: to count a million takes too long for a page
-- that is looked at every few seconds. Of targets only those are counted that cannot be looked up.

CREATE TABLE tallies (
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (kind, status)
) STRICT, WITHOUT ROWID;

-- All there can be, so that a trigger only has to update.
INSERT INTO tallies VALUES
    ('songs', 'pending', 0), ('songs', 'processing', 0), ('songs', 'done', 0), ('songs', 'failed', 0),
    ('songs', 'deferred', 0), ('songs', 'parked', 0), ('songs', 'retired', 0),
    ('targets', 'refused', 0),
    ('sidecars', 'wanted', 0), ('sidecars', 'intent', 0), ('sidecars', 'delivered', 0), ('sidecars', 'refused', 0);
INSERT OR REPLACE INTO tallies SELECT 'songs', status, count(*) FROM work_queue GROUP BY status;
INSERT OR REPLACE INTO tallies SELECT 'targets', 'refused', count(*) FROM scan_results WHERE status = 'refused';
INSERT OR REPLACE INTO tallies SELECT 'sidecars', status, count(*) FROM deliveries GROUP BY status;

CREATE TRIGGER work_queue_new AFTER INSERT ON work_queue
BEGIN
    UPDATE tallies SET count = count + 1 WHERE kind = 'songs' AND status = NEW.status;
END;
CREATE TRIGGER work_queue_moved AFTER UPDATE OF status ON work_queue WHEN NEW.status <> OLD.status
BEGIN
    UPDATE tallies SET count = count - 1 WHERE kind = 'songs' AND status = OLD.status;
    UPDATE tallies SET count = count + 1 WHERE kind = 'songs' AND status = NEW.status;
END;
CREATE TRIGGER work_queue_gone AFTER DELETE ON work_queue
BEGIN
    UPDATE tallies SET count = count - 1 WHERE kind = 'songs' AND status = OLD.status;
END;

CREATE TRIGGER scan_results_refused AFTER INSERT ON scan_results WHEN NEW.status = 'refused'
BEGIN
    UPDATE tallies SET count = count + 1 WHERE kind = 'targets' AND status = 'refused';
END;
CREATE TRIGGER scan_results_refused_later AFTER UPDATE OF status ON scan_results
    WHEN NEW.status = 'refused' AND OLD.status <> 'refused'
BEGIN
    UPDATE tallies SET count = count + 1 WHERE kind = 'targets' AND status = 'refused';
END;
CREATE TRIGGER scan_results_taken_up AFTER UPDATE OF status ON scan_results
    WHEN OLD.status = 'refused' AND NEW.status <> 'refused'
BEGIN
    UPDATE tallies SET count = count - 1 WHERE kind = 'targets' AND status = 'refused';
END;
CREATE TRIGGER scan_results_refused_gone AFTER DELETE ON scan_results WHEN OLD.status = 'refused'
BEGIN
    UPDATE tallies SET count = count - 1 WHERE kind = 'targets' AND status = 'refused';
END;

CREATE TRIGGER deliveries_new AFTER INSERT ON deliveries
BEGIN
    UPDATE tallies SET count = count + 1 WHERE kind = 'sidecars' AND status = NEW.status;
END;
CREATE TRIGGER deliveries_moved AFTER UPDATE OF status ON deliveries WHEN NEW.status <> OLD.status
BEGIN
    UPDATE tallies SET count = count - 1 WHERE kind = 'sidecars' AND status = OLD.status;
    UPDATE tallies SET count = count + 1 WHERE kind = 'sidecars' AND status = NEW.status;
END;
CREATE TRIGGER deliveries_gone AFTER DELETE ON deliveries
BEGIN
    UPDATE tallies SET count = count - 1 WHERE kind = 'sidecars' AND status = OLD.status;
END;
