//! `getCoverArt`: kept, scaled, and failing over between the sources that have a picture.

use super::respond;
use crate::hub::{Hub, HubRuntime};
use crate::rest::call::Call;
use crate::rest::envelope::ApiError;
use crate::sources::Source;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use segue_core::catalog::model::CoverRef;
use segue_core::driver::exchange::{Wanted, read_all_within};
use segue_core::driver::open::open;
use segue_core::failover::{Candidate, Outcome};
use std::sync::Arc;
use std::time::Duration;

/// A larger picture is not one that a player should be sent.
const PICTURE_LIMIT: usize = 20 * 1024 * 1024;

/// Larger sizes are answered with the original.
const SIZE_LIMIT: u32 = 4096;

/// Pictures of an id change rarely; clients ask for them on every list.
const CACHE: &str = "private, max-age=86400";

struct Picture {
    bytes: Bytes,
    content_type: String,
    etag: String,
}

/// The picture of a track, an album, an artist or a source's own cover id.
pub async fn cover_art<R: HubRuntime>(hub: Hub<R>, call: Call) -> Response {
    let (id, size) = match (call.params.required("id"), call.params.number("size")) {
        (Ok(id), Ok(size)) => (id.to_owned(), size),
        (Err(error), _) | (_, Err(error)) => return error.response(&call.format),
    };
    let size: Option<u32> = size.filter(|size| (1..=SIZE_LIMIT).contains(size));
    let covers = hub
        .read(move |reader| match reader.resolve(&id)? {
            Some(id) => reader.covers(&id),
            None => Ok(Vec::new()),
        })
        .await;
    let covers = match covers {
        Ok(covers) => covers,
        Err(error) => {
            tracing::error!(%error, "covers could not be looked up");
            return respond::unavailable("The library cannot be read", None);
        }
    };
    if covers.is_empty() {
        return ApiError::not_found("Cover art").response(&call.format);
    }
    match find(&hub, covers, size).await {
        Ok(picture) => answer(&call, picture),
        Err(wait) => respond::unavailable("No reachable source for cover art", wait),
    }
}

/// The best picture that can be had. An error is how long to wait, when that is known.
async fn find<R: HubRuntime>(
    hub: &Hub<R>,
    covers: Vec<CoverRef>,
    size: Option<u32>,
) -> Result<Picture, Option<Duration>> {
    for cover in &covers {
        if let Some(picture) = kept(hub, cover, size).await {
            return Ok(picture);
        }
    }
    let sources = hub.sources();
    let mut candidates: Vec<(CoverRef, Arc<Source>)> = covers
        .into_iter()
        .filter_map(|cover| {
            let source = Arc::clone(sources.get(&cover.instance)?);
            Some((cover, source))
        })
        .collect();
    while !candidates.is_empty() {
        let lanes = candidates
            .iter()
            .map(|(_, source)| Candidate {
                lane: source.lane(),
                source: source.id().to_owned(),
            })
            .collect();
        let opened = open(
            hub.runtime(),
            hub.bank(),
            lanes,
            &hub.settings().limits,
            Wanted::Picture,
            |at| candidates[at].1.cover_request(&candidates[at].0.remote_id),
        )
        .await;
        let (at, opening) = match opened.outcome {
            Outcome::Committed { candidate, opening } => (candidate, opening),
            Outcome::Exhausted { retry_after } => return Err(retry_after),
            Outcome::Cancelled => return Err(None),
        };
        let mut body = opening.body;
        // The rest may keep us waiting as the first byte may: nothing has been sent yet, and another source may
        // have the picture too.
        let patience = hub.settings().limits.first_byte;
        let rest = read_all_within(hub.runtime(), &mut body, PICTURE_LIMIT, patience);
        if let Ok(rest) = rest.await {
            let bytes = Bytes::from([opening.first, rest].concat());
            if let Some(picture) = keep(hub, &candidates[at].0, bytes, size).await {
                return Ok(picture);
            }
        }
        // Cut short, or no picture after all: the next one.
        candidates.drain(..=at);
    }
    Err(None)
}

fn key(cover: &CoverRef, size: Option<u32>) -> String {
    let size = size.map_or_else(|| "full".to_owned(), |size| size.to_string());
    format!("{}:{size}:{}", cover.instance, cover.remote_id)
}

async fn kept<R: HubRuntime>(hub: &Hub<R>, cover: &CoverRef, size: Option<u32>) -> Option<Picture> {
    let pictures = hub.pictures();
    let key = key(cover, size);
    hub.runtime()
        .compute(move || {
            let (bytes, content_type) = pictures.kept(&key)?;
            Some(picture(bytes, content_type))
        })
        .await
}

async fn keep<R: HubRuntime>(
    hub: &Hub<R>,
    cover: &CoverRef,
    bytes: Bytes,
    size: Option<u32>,
) -> Option<Picture> {
    let pictures = hub.pictures();
    let key = key(cover, size);
    hub.runtime()
        .compute(move || {
            let content_type = pictures.media_type(&bytes)?;
            let (bytes, content_type) = match size {
                Some(size) => pictures.scale(&bytes, size)?,
                None => (bytes, content_type),
            };
            pictures.keep(&key, &bytes);
            Some(picture(bytes, content_type))
        })
        .await
}

fn picture(bytes: Bytes, content_type: String) -> Picture {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(&bytes);
    Picture {
        etag: format!("\"{}\"", hex::encode(&digest[..12])),
        bytes,
        content_type,
    }
}

fn answer(call: &Call, picture: Picture) -> Response {
    let known = call.headers.get(header::IF_NONE_MATCH);
    let known = known.and_then(|v| v.to_str().ok()).unwrap_or_default();
    let is_known = known
        .split(',')
        .any(|tag| tag.trim().trim_start_matches("W/") == picture.etag);
    let mut response = Response::new(Body::empty());
    super::media_headers(&mut response, &picture.content_type);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHE));
    if let Ok(etag) = HeaderValue::from_str(&picture.etag) {
        headers.insert(header::ETAG, etag);
    }
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        let length = HeaderValue::from(picture.bytes.len());
        headers.insert(header::CONTENT_LENGTH, length);
        *response.body_mut() = Body::from(picture.bytes);
    }
    response
}
