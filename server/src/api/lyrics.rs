//! `/api/v1/lyrics/{track}`: a track's lyrics, where they came from, and what each lane said.

use super::login::Visitor;
use super::{problem, shown, store_problem};
use crate::hub::{Hub, HubRuntime};
use crate::wanted;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use segue_core::io::{Clock, StoreError};
use segue_core::queue::{Priority, Status};
use segue_sqlite::{Reader, Which};
use serde_json::{Value, json};

/// What is known of a track's lyrics.
pub(super) async fn lyrics<R: HubRuntime>(
    State(hub): State<Hub<R>>,
    Path(track): Path<String>,
) -> Response {
    match hub.read(move |r| known(r, &track)).await {
        Ok(Some(known)) => axum::Json(known).into_response(),
        Ok(None) => no_track(),
        Err(error) => store_problem(&error),
    }
}

fn no_track() -> Response {
    problem(StatusCode::NOT_FOUND, "There is no such track")
}

fn known(r: &Reader, track: &str) -> segue_sqlite::Result<Option<Value>> {
    let Some(request) = r.request_for(track, &[], Priority::SCAN)? else {
        return Ok(None);
    };
    let stored = r.lyrics_of_track(track)?;
    let work = match r.work_of_track(track)? {
        Some(row) => r.queue_show(row.work_id)?,
        None => None,
    };
    let sidecars = work.iter().flat_map(|work| &work.deliveries);
    let sidecars: Vec<Value> = sidecars.map(shown::delivery).collect();
    let id = request.targets.first().map(|target| &target.track_id);
    Ok(Some(json!({
        "track": id,
        "artist": request.song.artist,
        "title": request.song.title,
        "document": stored.map(|stored| json!({
            "id": stored.document_id,
            "quality": shown::quality(stored.quality),
            "stored_at": stored.stored_at.to_string(),
            "lyrics": serde_json::from_str::<Value>(&stored.body).ok(),
        })),
        "queue": work.as_ref().map(shown::detail),
        "sidecars": sidecars,
    })))
}

/// `POST`: look the track up again now, whatever became of it before. What it has is served until something else is
/// found.
pub(super) async fn look_up<R: HubRuntime>(
    State(hub): State<Hub<R>>,
    axum::Extension(visitor): axum::Extension<Visitor>,
    Path(track): Path<String>,
) -> Response {
    if !visitor.is_admin() {
        return problem(
            StatusCode::FORBIDDEN,
            "Only an admin can have a track looked up",
        );
    }
    let (sidecars, asked) = (wanted::sidecars(&hub), track.clone());
    let request = hub.read(move |r| r.request_for(&asked, &sidecars, Priority::ASKED));
    let request = match request.await {
        Ok(Some(request)) => request,
        Ok(None) => return no_track(),
        Err(error) => return store_problem(&error),
    };
    let (version, now, asked) = (
        wanted::providers_version(&hub),
        hub.clock().wall(),
        track.clone(),
    );
    let begun = hub.write(move |w| {
        w.enqueue(&request, version, now)?;
        let Some(row) = w.reader().work_of_track(&asked)? else {
            return Ok(());
        };
        let which = Which::One(row.work_id);
        match row.status {
            Status::Pending | Status::Processing => {}
            Status::Failed | Status::Parked => {
                w.retry(&which, 1, now)?;
            }
            Status::Deferred | Status::Retired => {
                w.recheck(&which, 1, now)?;
            }
            Status::Done => w.redo(row.work_id, now)?,
        }
        Ok(())
    });
    match begun.await {
        Ok(()) => {
            hub.wanted().ring();
            lyrics(State(hub), Path(track)).await
        }
        Err(StoreError::Conflict(why)) => problem(StatusCode::CONFLICT, &why),
        Err(error) => store_problem(&error),
    }
}
