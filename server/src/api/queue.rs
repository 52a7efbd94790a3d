//! `/api/v1/queue` and `/api/v1/lanes`: what waits to be looked up, why, and who is asked.

use super::login::Visitor;
use super::{LIMIT, problem, shown, store_problem};
use crate::hub::{Hub, HubRuntime};
use crate::metrics::LaneGate;
use crate::wanted;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use segue_core::Wall;
use segue_core::driver::lyrics::LaneState;
use segue_core::io::{Clock, StoreError};
use segue_core::queue::Status;
use segue_sqlite::{LaneStateRow, Which};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Items in a page when nobody says.
const PAGE: usize = 50;

#[derive(Deserialize)]
pub(super) struct QueueQuery {
    status: Option<String>,
    after: Option<String>,
    limit: Option<String>,
}

/// Which items are wanted.
enum Items {
    /// Rows, of a status or all.
    Rows(Option<Status>),
    /// Those that come next.
    Next,
    /// Tracks and files that cannot be looked up.
    Refused,
}

impl QueueQuery {
    /// The items that are asked for; none when only numbers are.
    fn items(&self) -> Result<Option<Items>, &'static str> {
        match self.status.as_deref() {
            None if self.limit.is_none() && self.after.is_none() => Ok(None),
            None | Some("all") => Ok(Some(Items::Rows(None))),
            Some("next") => Ok(Some(Items::Next)),
            Some("refused") => Ok(Some(Items::Refused)),
            Some(word) => match Status::of(word) {
                Some(status) => Ok(Some(Items::Rows(Some(status)))),
                None => Err(
                    "status is none of pending, processing, done, failed, deferred, parked, retired, refused, next, all",
                ),
            },
        }
    }

    fn page(&self) -> Result<(i64, usize), &'static str> {
        let limit = self.limit.as_deref().map(str::parse::<usize>).transpose();
        let after = self.after.as_deref().map(str::parse::<i64>).transpose();
        match (after, limit) {
            (Ok(after), Ok(limit)) => Ok((after.unwrap_or(0), limit.unwrap_or(PAGE).min(LIMIT))),
            (Err(_), _) => Err("after is not a number"),
            (_, Err(_)) => Err("limit is not a number"),
        }
    }
}

/// Numbers, and with `status`, `after` or `limit` a page of items, each with its reason. `next` is where the next page
/// begins.
pub(super) async fn queue<R: HubRuntime>(
    State(hub): State<Hub<R>>,
    Query(query): Query<QueueQuery>,
) -> Response {
    let (items, (after, limit)) = match (query.items(), query.page()) {
        (Ok(items), Ok(page)) => (items, page),
        (Err(what), _) | (_, Err(what)) => return problem(StatusCode::BAD_REQUEST, what),
    };
    let now = hub.clock().wall();
    let answer = hub
        .read(move |r| {
            let mut answer = numbers(r, now)?;
            let Some(items) = items else {
                return Ok(answer);
            };
            let (items, last): (Vec<Value>, Option<i64>) = match items {
                Items::Rows(status) => {
                    let rows = r.queue_list(status, after, limit)?;
                    let last = rows.last().map(|row| row.work_id);
                    (rows.iter().map(shown::row).collect(), last)
                }
                Items::Next => {
                    let rows = r.queue_next(limit)?;
                    (rows.iter().map(shown::row).collect(), None)
                }
                Items::Refused => {
                    let rows = r.refused_targets(after, limit)?;
                    let last = rows.last().map(|row| row.scan_id);
                    (rows.iter().map(shown::target).collect(), last)
                }
            };
            answer["next"] = json!(last.filter(|_| items.len() == limit));
            answer["items"] = items.into();
            Ok(answer)
        })
        .await;
    answered(answer)
}

fn answered(answer: Result<Value, StoreError>) -> Response {
    match answer {
        Ok(answer) => axum::Json(answer).into_response(),
        Err(error) => store_problem(&error),
    }
}

fn numbers(r: &segue_sqlite::Reader, now: Wall) -> segue_sqlite::Result<Value> {
    let counts = r.queue_counts()?;
    let counts: BTreeMap<&str, u64> = counts
        .iter()
        .map(|(status, count)| (status.as_str(), *count))
        .collect();
    let sidecars = r.delivery_counts()?;
    let sidecars: BTreeMap<&str, u64> = sidecars
        .iter()
        .map(|(status, count)| (status.as_str(), *count))
        .collect();
    let oldest = r.oldest_waiting()?;
    Ok(json!({
        "counts": counts,
        "refused": r.refused_count()?,
        "sidecars": sidecars,
        "oldest_pending": oldest.map(|at| at.to_string()),
        "oldest_pending_seconds": oldest.map(|at| age(at, now).as_secs()),
    }))
}

/// How long ago that was; nothing when the clock was put back since.
pub(super) fn age(at: Wall, now: Wall) -> Duration {
    Duration::from_millis(now.millis_since(at).max(0).unsigned_abs())
}

/// One row with its targets and what each lane said.
pub(super) async fn row<R: HubRuntime>(
    State(hub): State<Hub<R>>,
    Path(id): Path<String>,
) -> Response {
    let Ok(id) = id.parse::<i64>() else {
        return no_row();
    };
    match hub.read(move |r| r.queue_show(id)).await {
        Ok(Some(detail)) => axum::Json(shown::detail(&detail)).into_response(),
        Ok(None) => no_row(),
        Err(error) => store_problem(&error),
    }
}

fn no_row() -> Response {
    problem(StatusCode::NOT_FOUND, "There is no such row in the queue")
}

/// `POST /queue/{id}/retry`, `recheck` or `release`, as on the command line.
pub(super) async fn act<R: HubRuntime>(
    State(hub): State<Hub<R>>,
    axum::Extension(visitor): axum::Extension<Visitor>,
    Path((id, action)): Path<(String, String)>,
) -> Response {
    if !visitor.is_admin() {
        return problem(StatusCode::FORBIDDEN, "Only an admin can change the queue");
    }
    let Ok(id) = id.parse::<i64>() else {
        return no_row();
    };
    let now = hub.clock().wall();
    let moved = match action.as_str() {
        "retry" => hub.write(move |w| w.retry(&Which::One(id), 1, now)).await,
        "recheck" => hub.write(move |w| w.recheck(&Which::One(id), 1, now)).await,
        "release" => hub.write(move |w| w.take_back(id, now).map(|()| 1)).await,
        _ => {
            return problem(
                StatusCode::NOT_FOUND,
                "A row can be told to retry, recheck or release",
            );
        }
    };
    match moved {
        Ok(_) => {
            hub.wanted().ring();
            row(State(hub), Path(id.to_string())).await
        }
        Err(StoreError::Conflict(why)) => problem(StatusCode::CONFLICT, &why),
        Err(error) => store_problem(&error),
    }
}

/// `POST /queue/wake`: somebody has changed the queue from beside the hub.
pub(super) async fn wake<R: HubRuntime>(
    State(hub): State<Hub<R>>,
    axum::Extension(visitor): axum::Extension<Visitor>,
) -> Response {
    if !visitor.is_admin() {
        return problem(StatusCode::FORBIDDEN, "Only an admin can change the queue");
    }
    hub.wanted().ring();
    axum::Json(json!({})).into_response()
}

/// The lanes in the order in which they are asked, then those of before.
pub(super) async fn lanes<R: HubRuntime>(State(hub): State<Hub<R>>) -> Response {
    match hub.read(|r| r.lanes()).await {
        Ok(stored) => {
            let rows = as_they_stand(hub_lanes(&hub), stored);
            let configured = wanted::lanes(&hub);
            let lanes: Vec<Value> = all_lanes(&configured, &rows)
                .into_iter()
                .map(|(name, row)| show_lane(&hub, &configured, name, row))
                .collect();
            axum::Json(json!({ "lanes": lanes })).into_response()
        }
        Err(error) => store_problem(&error),
    }
}

/// The lanes of this hub as they stand at this moment.
fn hub_lanes<R: HubRuntime>(hub: &Hub<R>) -> Vec<LaneState> {
    let clock = hub.clock();
    hub.lookups().lanes().states(clock.now(), clock.wall())
}

/// What was stored of the lanes, and over it what is true of those that run here: they are stored only when they were
/// asked. The note stays, which is the store's own.
fn as_they_stand(live: Vec<LaneState>, mut rows: Vec<LaneStateRow>) -> Vec<LaneStateRow> {
    for lane in live {
        let row = LaneStateRow {
            lane: lane.name,
            breaker: lane.breaker,
            next_call_at: lane.next_call_at,
            note: None,
            saved_at: lane.breaker.saved_at,
        };
        match rows.iter_mut().find(|stored| stored.lane == row.lane) {
            Some(stored) => {
                let note = stored.note.take();
                *stored = LaneStateRow { note, ..row };
            }
            None => rows.push(row),
        }
    }
    rows
}

fn all_lanes<'a>(
    configured: &'a [String],
    rows: &'a [LaneStateRow],
) -> Vec<(&'a str, Option<&'a LaneStateRow>)> {
    let mut names: Vec<&str> = configured.iter().map(String::as_str).collect();
    for row in rows {
        if !names.contains(&row.lane.as_str()) {
            names.push(&row.lane);
        }
    }
    let with_row = |name| (name, rows.iter().find(|row| row.lane == name));
    names.into_iter().map(with_row).collect()
}

fn show_lane<R: HubRuntime>(
    hub: &Hub<R>,
    configured: &[String],
    name: &str,
    row: Option<&LaneStateRow>,
) -> Value {
    let now = hub.clock().wall();
    let breaker = row.map(|row| &row.breaker);
    let is_ahead = |at: &Wall| *at > now;
    let open_until = breaker.and_then(|breaker| breaker.open_until);
    json!({
        "name": name,
        "configured": configured.iter().any(|lane| lane == name),
        "state": gate(row, now).as_str(),
        "open_until": open_until.filter(is_ahead).map(|at| at.to_string()),
        "trips": breaker.map_or(0, |breaker| breaker.trips),
        "failures_in_a_row": breaker.map_or(0, |breaker| breaker.transient_run),
        "ever_answered": breaker.is_some_and(|breaker| breaker.ever_succeeded),
        "next_call_at": row.and_then(|row| row.next_call_at).filter(is_ahead).map(|at| at.to_string()),
        "note": row.and_then(|row| row.note.as_ref()),
        "answers": hub.metrics().lyrics().answers_of(name),
    })
}

/// How a lane stands.
fn gate(row: Option<&LaneStateRow>, now: Wall) -> LaneGate {
    match row.and_then(|row| row.breaker.open_until) {
        None => LaneGate::Closed,
        Some(until) if until > now => LaneGate::Open,
        Some(_) => LaneGate::HalfOpen,
    }
}

/// Brings the gauges up to date.
pub(super) async fn measure<R: HubRuntime>(hub: &Hub<R>) {
    let found = hub
        .read(|r| {
            Ok((
                r.queue_counts()?,
                r.oldest_waiting()?,
                r.delivery_counts()?,
                r.lanes()?,
            ))
        })
        .await;
    let (counts, oldest, sidecars, stored) = match found {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(%error, "the queue could not be counted");
            return;
        }
    };
    let rows = as_they_stand(hub_lanes(hub), stored);
    let now = hub.clock().wall();
    let metrics = hub.metrics().lyrics();
    metrics.set_queue(&counts, oldest.map(|at| age(at, now)));
    metrics.set_sidecars(&sidecars);
    for (name, row) in all_lanes(&wanted::lanes(hub), &rows) {
        metrics.set_gate(name, gate(row, now));
    }
}
