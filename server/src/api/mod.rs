//! `/api/v1`: JSON for the pages and for scripts; `/healthz`, `/readyz`, `/metrics`.
//!
//! Product section 3. Basic or Bearer; there are no cookies, so there is nothing to forge across sites.

mod login;
mod lyrics;
mod queue;
pub(crate) mod shown;
mod webhook;

use crate::hub::{Hub, HubRuntime};
use crate::sync::{self, DropGuard};
use axum::Router;
use axum::extract::{Query, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use http::{HeaderValue, StatusCode, header};
use login::{Claim, Visitor};
use segue_core::Wall;
use segue_core::breaker::Phase;
use segue_core::driver::lock;
use segue_core::io::{Clock, StoreError};
use segue_sqlite::{InstanceRow, StreamOperation};
use serde::{Deserialize, Serialize};

/// More rows than this are not given out at once.
const LIMIT: usize = 1000;

/// The routes below `/api/v1`.
pub fn router<R: HubRuntime>(hub: Hub<R>) -> Router<Hub<R>> {
    Router::new()
        .route("/activity", get(activity::<R>))
        .route("/activity/active", get(active::<R>))
        .route("/sources", get(sources::<R>))
        .route("/sync", post(start_sync::<R>))
        .route("/queue", get(queue::queue::<R>))
        .route("/queue/wake", post(queue::wake::<R>))
        .route("/queue/{id}", get(queue::row::<R>))
        .route("/queue/{id}/{action}", post(queue::act::<R>))
        .route("/lanes", get(queue::lanes::<R>))
        .route(
            "/lyrics/{track}",
            get(lyrics::lyrics::<R>).post(lyrics::look_up::<R>),
        )
        .route(
            "/webhooks/lidarr",
            post(webhook::lidarr::<R>).merge(put(webhook::lidarr::<R>)),
        )
        .fallback(|| async { problem(StatusCode::NOT_FOUND, "There is no such resource") })
        .method_not_allowed_fallback(|| async {
            problem(StatusCode::METHOD_NOT_ALLOWED, "Not with this method")
        })
        .layer(middleware::from_fn_with_state(hub, check::<R>))
}

/// The routes that watchers ask: alive, ready, counted.
pub fn watch_router<R: HubRuntime>() -> Router<Hub<R>> {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready::<R>))
        .route("/metrics", get(metrics::<R>))
}

async fn check<R: HubRuntime>(
    State(hub): State<Hub<R>>,
    mut request: Request,
    next: Next,
) -> Response {
    let claim = Claim::of(&request);
    match login::visitor(&hub, &claim).await {
        Ok(visitor) => {
            request.extensions_mut().insert(visitor);
            next.run(request).await
        }
        Err(response) => response,
    }
}

/// An error as the API tells it.
fn problem(status: StatusCode, sentence: &str) -> Response {
    let body = serde_json::json!({ "error": sentence });
    (status, axum::Json(body)).into_response()
}

fn store_problem(error: &StoreError) -> Response {
    tracing::error!(%error, "the store could not answer");
    problem(
        StatusCode::SERVICE_UNAVAILABLE,
        "The library cannot be read now",
    )
}

#[derive(Deserialize)]
struct Page {
    limit: Option<String>,
}

/// A row of `stream_operations` with its times as text.
fn show_operation(row: &StreamOperation) -> serde_json::Value {
    let mut shown = serde_json::to_value(row).unwrap_or_default();
    shown["started_at"] = row.started_at.to_string().into();
    shown["ended_at"] = row.ended_at.map(|at| at.to_string()).into();
    shown
}

/// Newest first. Everything that happened before the call is in the answer.
async fn activity<R: HubRuntime>(
    State(hub): State<Hub<R>>,
    axum::Extension(visitor): axum::Extension<Visitor>,
    Query(page): Query<Page>,
) -> Response {
    let limit = match page.limit.as_deref().map(str::parse::<usize>) {
        None => 50,
        Some(Ok(limit)) => limit.min(LIMIT),
        Some(Err(_)) => return problem(StatusCode::BAD_REQUEST, "limit is not a number"),
    };
    hub.activity().flush().await;
    match hub.read(move |r| r.activity(limit)).await {
        Ok(rows) => show_operations(&visitor.filter(rows)),
        Err(error) => store_problem(&error),
    }
}

async fn active<R: HubRuntime>(
    State(hub): State<Hub<R>>,
    axum::Extension(visitor): axum::Extension<Visitor>,
) -> Response {
    hub.activity().flush().await;
    show_operations(&visitor.filter(hub.activity().active()))
}

fn show_operations(rows: &[StreamOperation]) -> Response {
    let operations: Vec<_> = rows.iter().map(show_operation).collect();
    axum::Json(serde_json::json!({ "operations": operations })).into_response()
}

#[derive(Serialize)]
struct ShownSources {
    sources: Vec<ShownSource>,
}

#[derive(Serialize)]
struct ShownSource {
    id: String,
    kind: &'static str,
    local: bool,
    state: &'static str,
    suspect_until: Option<String>,
    last_error: Option<String>,
    last_seen: Option<String>,
    last_sync: Option<String>,
    tracks: u64,
}

/// What there is to play from, and how it is doing.
async fn sources<R: HubRuntime>(State(hub): State<Hub<R>>) -> Response {
    match hub.read(|r| r.instances()).await {
        Ok(rows) => {
            let sources = show_sources(&hub, &rows);
            axum::Json(ShownSources { sources }).into_response()
        }
        Err(error) => store_problem(&error),
    }
}

fn show_sources<R: HubRuntime>(hub: &Hub<R>, rows: &[InstanceRow]) -> Vec<ShownSource> {
    let now = hub.clock().now();
    let wall = hub.clock().wall();
    let text = |at: Option<Wall>| at.map(|at| at.to_string());
    let sources = hub.sources();
    let shown = sources.iter().map(|source| {
        let row = rows.iter().find(|row| row.id == source.id());
        let view = lock(hub.bank()).view(source.lane(), now);
        let (state, until) = match view.map(|view| view.phase) {
            None | Some(Phase::Closed) => ("ok", None),
            Some(Phase::Open { until }) => ("suspect", Some(wall + until.since(now))),
            Some(Phase::HalfOpen) => ("half_open", None),
        };
        ShownSource {
            id: source.id().to_owned(),
            kind: source.kind().as_str(),
            local: source.is_local(),
            state,
            suspect_until: text(until),
            last_error: source
                .last_error()
                .or_else(|| row.and_then(|row| row.last_error.clone())),
            last_seen: text(source.last_seen().max(row.and_then(|row| row.last_seen))),
            last_sync: text(row.and_then(|row| row.last_sync)),
            tracks: row.map_or(0, |row| row.track_count),
        }
    });
    shown.collect()
}

#[derive(Deserialize)]
struct SyncQuery {
    source: Option<String>,
    /// The operator's word for a sudden drop of more than half of a source's tracks.
    allow_drop: Option<String>,
}

/// Answers when the sync and its merge are done.
async fn start_sync<R: HubRuntime>(
    State(hub): State<Hub<R>>,
    axum::Extension(visitor): axum::Extension<Visitor>,
    Query(query): Query<SyncQuery>,
) -> Response {
    if !visitor.is_admin() {
        return problem(StatusCode::FORBIDDEN, "Only an admin can start a sync");
    }
    if let Some(id) = &query.source
        && hub.sources().get(id).is_none()
    {
        return problem(StatusCode::NOT_FOUND, "There is no source of that id");
    }
    let guard = match query.allow_drop.as_deref() {
        Some("true" | "1") => DropGuard::Allow,
        Some(_) | None => DropGuard::Refuse,
    };
    match sync::sync(hub, query.source, guard).await {
        Ok(report) => axum::Json(report).into_response(),
        Err(error) => store_problem(&error),
    }
}

async fn ready<R: HubRuntime>(State(hub): State<Hub<R>>) -> Response {
    match hub.read(|r| r.counts()).await {
        Ok(_) => "ready\n".into_response(),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            (
                StatusCode::SERVICE_UNAVAILABLE,
                "the database cannot be read\n",
            )
                .into_response()
        }
    }
}

/// For the machine itself, or with a key (product section 3).
async fn metrics<R: HubRuntime>(State(hub): State<Hub<R>>, request: Request) -> Response {
    let claim = Claim::of(&request);
    drop(request);
    if !claim.is_loopback()
        && let Err(response) = login::visitor(&hub, &claim).await
    {
        return response;
    }
    let rows = hub.read(|r| r.instances()).await.unwrap_or_default();
    for source in show_sources(&hub, &rows) {
        hub.metrics()
            .set_source(&source.id, source.state != "ok", source.tracks);
    }
    queue::measure(&hub).await;
    hub.metrics().set_active(hub.activity().active_count());
    let mut response = hub.metrics().encode().into_response();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8"),
    );
    response
}
