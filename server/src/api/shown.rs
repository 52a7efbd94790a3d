//! The queue's rows as JSON, the same on the wire and on the command line.

use segue_core::dispatch::Quality;
use segue_core::queue::LaneEntry;
use segue_core::time::Wall;
use segue_sqlite::{DeliveryRow, QueueDetail, QueueRow, TargetRow, TargetStatus};
use serde_json::{Value, json};

fn time(at: Option<Wall>) -> Option<String> {
    at.map(|at| at.to_string())
}

/// How good lyrics are, in a word.
pub(crate) const fn quality(quality: Quality) -> &'static str {
    match quality {
        Quality::None => "none",
        Quality::Instrumental => "instrumental",
        Quality::Plain => "plain",
        Quality::Line => "line",
        Quality::Word => "word",
    }
}

/// A row.
pub(crate) fn row(row: &QueueRow) -> Value {
    json!({
        "id": row.work_id,
        "artist": row.song.artist,
        "title": row.song.title,
        "album": row.song.album,
        "duration_ms": row.song.duration_ms,
        "version": row.marker,
        "status": row.status.as_str(),
        "reason": row.reason,
        "priority": row.priority.get(),
        "attempts": row.attempts,
        "misses": row.miss_count,
        "upgrades": row.upgrades,
        "outcome": row.outcome.map(|outcome| outcome.as_str()),
        "quality": quality(row.quality),
        "lane": row.lane,
        "owner": row.owner,
        "lease_until": time(row.lease_until),
        "next_attempt_at": time(row.next_attempt_at),
        "upgrade_after": time(row.upgrade_after),
        "created_at": row.created_at.to_string(),
        "updated_at": row.updated_at.to_string(),
        "completed_at": time(row.completed_at),
    })
}

/// A row with all that hangs on it.
pub(crate) fn detail(detail: &QueueDetail) -> Value {
    let mut shown = row(&detail.row);
    shown["document"] = json!(detail.document_id);
    let targets = detail.targets.iter().map(|row| {
        let mut shown = target(row);
        let sidecar = detail.deliveries.iter().find(|d| d.scan_id == row.scan_id);
        shown["sidecar"] = json!(sidecar.map(delivery));
        shown
    });
    shown["targets"] = targets.collect();
    shown["lanes"] = detail.answers.iter().map(answer).collect();
    shown
}

/// Who wants an answer.
pub(crate) fn target(row: &TargetRow) -> Value {
    json!({
        "id": row.scan_id,
        "track": row.track_id,
        "artist": row.artist,
        "title": row.title,
        "source": row.file.as_ref().map(|file| &file.instance_id),
        "path": row.file.as_ref().map(|file| &file.path),
        "status": match row.status {
            TargetStatus::Pending => "pending",
            TargetStatus::Done => "done",
            TargetStatus::Refused => "refused",
        },
        "reason": row.reason,
        "quality": quality(row.quality),
    })
}

/// What a lane said.
pub(crate) fn answer(entry: &LaneEntry) -> Value {
    json!({
        "lane": entry.lane,
        "answer": entry.answer.as_str(),
        "reason": entry.reason,
        "at": entry.at.to_string(),
        "valid_until": time(entry.valid_until),
        "retry_at": time(entry.retry_at),
    })
}

/// A sidecar.
pub(crate) fn delivery(row: &DeliveryRow) -> Value {
    json!({
        "source": row.file.instance_id,
        "file": row.file.path,
        "status": row.status.as_str(),
        "reason": row.reason,
        "attempts": row.attempts,
        "next_attempt_at": time(row.next_attempt_at),
        "sidecar": row.delivered.as_ref().map(|file| &file.sidecar),
        "quality": row.delivered.as_ref().map(|file| quality(file.quality)),
        "delivered_at": row.delivered.as_ref().map(|file| file.at.to_string()),
    })
}
