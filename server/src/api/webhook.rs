//! `/api/v1/webhooks/lidarr`: what Lidarr has brought in is looked up at once, and the folders it went to are read.
//!
//! A file that the library knows is found by its path: below a folder's root, or, when Lidarr's machine calls the
//! folder something else, by the end of the path. Else a song is found by its names; one that the library does not have
//! yet is looked up by its names alone, and the file is linked to it by the next merge. One transaction an event, and
//! the same event again changes nothing.

mod paths;

use super::{problem, store_problem};
use crate::hub::{Hub, HubRuntime};
use crate::sources::LinkSpec;
use crate::wanted;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http_body_util::{BodyExt, Limited};
use paths::{Places, Root};
use segue_core::catalog::normalise::fold;
use segue_core::io::{Clock, StoreError};
use segue_core::lyrics::Song;
use segue_core::queue::{Priority, Request};
use segue_core::webhook::lidarr::{self, PAYLOAD_LIMIT};
use segue_core::webhook::{Event, Import, Named};
use segue_sqlite::{EnqueueReport, Reader};
use serde_json::json;
use std::collections::BTreeSet;

/// More songs than this are in no import; the folder's scan brings in the rest of whatever that was, and the answer says
/// how many were left to it.
const SONGS: usize = 1_000;

/// Any event is answered 200: Lidarr takes all else for a broken connection.
pub(super) async fn lidarr<R: HubRuntime>(State(hub): State<Hub<R>>, body: Body) -> Response {
    let body = match Limited::new(body, PAYLOAD_LIMIT).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => {
            return problem(
                StatusCode::PAYLOAD_TOO_LARGE,
                "The event is longer than 4 MiB, or ended too early",
            );
        }
    };
    let event = match lidarr::parse(&body) {
        Ok(event) => event,
        Err(error) => return problem(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let (word, outcome) = match event {
        Event::Ignored => ("ignored", Ok(Told::default())),
        Event::Imported(import) => {
            read_folders(&hub, &import.paths);
            ("imported", look_up(&hub, import).await)
        }
        // Tags and names are read anew by the scan, and what changed is put into the queue by the sweep behind it.
        Event::Retagged { paths } => {
            read_folders(&hub, &paths);
            ("retagged", Ok(Told::default()))
        }
        Event::Renamed { moves } => {
            let paths: Vec<String> = moves.into_iter().map(|(_, to)| to).collect();
            read_folders(&hub, &paths);
            ("renamed", Ok(Told::default()))
        }
    };
    match outcome {
        Ok(Told { songs, left_out }) => {
            tracing::info!(
                event = word,
                new = songs.new,
                left_out,
                "Lidarr told of a change"
            );
            let told = json!({ "event": word, "songs": songs, "left_out": left_out });
            axum::Json(told).into_response()
        }
        Err(error) => store_problem(&error),
    }
}

fn roots<R: HubRuntime>(hub: &Hub<R>) -> Vec<Root> {
    let sources = hub.sources();
    let folders = sources.iter().filter_map(|source| match source.link() {
        LinkSpec::Folder { root, .. } => Some(Root {
            instance: source.id().to_owned(),
            path: root.to_string_lossy().into_owned(),
        }),
        LinkSpec::Subsonic { .. } => None,
    });
    folders.collect()
}

/// Has the folders read that hold these files; all of them when Lidarr's paths are not ours.
fn read_folders<R: HubRuntime>(hub: &Hub<R>, paths: &[String]) {
    if paths.is_empty() {
        return;
    }
    let roots = roots(hub);
    let touched: BTreeSet<&str> = paths
        .iter()
        .filter_map(|path| paths::root_of(&roots, path))
        .collect();
    for root in &roots {
        if touched.is_empty() || touched.contains(root.instance.as_str()) {
            hub.sync_state().request_of(&root.instance);
        }
    }
}

/// What came of an event.
#[derive(Default)]
struct Told {
    songs: EnqueueReport,
    /// Songs beyond [`SONGS`].
    left_out: usize,
}

async fn look_up<R: HubRuntime>(hub: &Hub<R>, import: Import) -> Result<Told, StoreError> {
    let (roots, sidecars) = (roots(hub), wanted::sidecars(hub));
    let (requests, left_out) = hub
        .read(move |r| resolve(r, &import, &roots, &sidecars))
        .await?;
    if requests.is_empty() {
        return Ok(Told::default());
    }
    let (version, now) = (wanted::providers_version(hub), hub.clock().wall());
    let songs = hub
        .write(move |w| w.enqueue_many(&requests, version, now))
        .await?;
    hub.wanted().ring();
    Ok(Told { songs, left_out })
}

/// What to look up for an import, and how many songs are left out.
fn resolve(
    r: &Reader,
    import: &Import,
    roots: &[Root],
    sidecars: &[String],
) -> segue_sqlite::Result<(Vec<Request>, usize)> {
    let places = Places::of(roots, &import.paths);
    let by_path = places.tracks(&r.tracks_at(&places.candidates())?);
    let mut tracks = by_path.clone();
    let mut requests = Vec::new();
    // With a track for every song there is nothing left to find, whatever Lidarr calls them.
    let is_all_found = by_path.len() >= import.songs.len();
    let sought = match is_all_found {
        true => &[],
        false => import.songs.as_slice(),
    };
    for named in sought.iter().take(SONGS) {
        match track_of(r, named, &by_path)? {
            Some(id) => {
                tracks.insert(id);
            }
            None => requests.push(by_name(named)),
        }
    }
    for id in &tracks {
        requests.extend(r.request_for(id, sidecars, Priority::WEBHOOK)?);
    }
    Ok((requests, sought.len().saturating_sub(SONGS)))
}

/// The track of that name: one of the files that came if there is one, else one of the album.
fn track_of(
    r: &Reader,
    named: &Named,
    by_path: &BTreeSet<String>,
) -> segue_sqlite::Result<Option<String>> {
    let found = r.tracks_named(&named.artist, &named.title)?;
    if let Some(came) = found.iter().find(|track| by_path.contains(&track.track_id)) {
        return Ok(Some(came.track_id.clone()));
    }
    let is_of_album = |album: &str| match &named.album {
        Some(wanted) => fold(wanted) == fold(album),
        None => true,
    };
    let same = found.into_iter().find(|track| is_of_album(&track.album));
    Ok(same.map(|track| track.track_id))
}

/// A song that the library does not have yet.
fn by_name(named: &Named) -> Request {
    Request {
        song: Song {
            title: named.title.clone(),
            artist: named.artist.clone(),
            album: named.album.clone(),
            ..Song::default()
        },
        targets: Vec::new(),
        priority: Priority::WEBHOOK,
    }
}
