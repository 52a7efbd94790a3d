//! From a track's rows to the candidates of one request.

use crate::hub::{Hub, HubRuntime};
use crate::rest::call::Call;
use crate::sources::{Room, Source};
use http::header;
use segue_core::Wall;
use segue_core::catalog::model::TrackSource;
use segue_core::driver::open::OpenRequest;
use segue_core::failover::{self, Attempt, AttemptOutcome, ranges};
use segue_core::io::StoreError;
use segue_core::source::range::{self, ByteRange};
use segue_core::source::refusal::{Level, Refusal, RefusalClass};
use segue_core::source::transcode::{self, Resolved, StreamParams};
use std::sync::Arc;

/// The track of one request and everywhere it can be had.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) track_id: String,
    pub(super) title: String,
    pub(super) artist: String,
    /// In rank order, each with its path when it is a file of a folder.
    pub(super) sources: Vec<(TrackSource, Option<String>)>,
}

/// One place to open the track, with everything needed to ask for it.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) source: Arc<Source>,
    pub(super) track: TrackSource,
    pub(super) resolved: Resolved,
    /// What of the client's range this candidate may be asked for.
    pub(super) range: Option<ByteRange>,
    path: Option<String>,
    download: bool,
}

impl Candidate {
    pub(super) fn lane(&self) -> failover::Candidate {
        failover::Candidate {
            lane: self.source.lane(),
            source: self.source.id().to_owned(),
        }
    }

    /// Room for this stream at its source.
    pub(super) fn take_room<R: HubRuntime>(&self, hub: &Hub<R>) -> Result<Room, Refusal> {
        let id = self.source.id();
        let room = self.source.take_room(|| hub.activity().active_on(id));
        room.ok_or(Refusal::Full)
    }

    pub(super) fn request(&self, range: Option<ByteRange>) -> Result<OpenRequest, Refusal> {
        self.source.track_request(
            &self.track.remote_id,
            self.path.as_deref(),
            self.download,
            &self.resolved.query,
            range,
        )
    }
}

/// Looks the track up; `None` when there is no such track or nothing holds it any more.
pub(super) async fn subject<R: HubRuntime>(
    hub: &Hub<R>,
    id: String,
) -> Result<Option<Subject>, StoreError> {
    let playable = hub.look_up(move |reader| reader.playable(&id)).await?;
    Ok(playable.map(|playable| Subject {
        track_id: playable.track_id,
        title: playable.title,
        artist: playable.artist_name,
        sources: playable.places,
    }))
}

/// The candidates in the order in which they are to be tried; parameters resolved for each (rules 1, 4, 8).
pub(super) fn plan<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
    subject: &Subject,
    params: &StreamParams,
    download: bool,
) -> Vec<Candidate> {
    let sources = hub.sources();
    let mut candidates: Vec<Candidate> = subject
        .sources
        .iter()
        .filter_map(|(track, path)| {
            Some(Candidate {
                source: Arc::clone(sources.get(&track.instance)?),
                resolved: transcode::resolve(params, track),
                track: track.clone(),
                range: None,
                path: path.clone(),
                download,
            })
        })
        .collect();
    let text = |name| call.headers.get(name).and_then(|v| v.to_str().ok());
    let Some(range) = text(header::RANGE).and_then(range::parse) else {
        return candidates;
    };
    let tracks: Vec<TrackSource> = candidates.iter().map(|c| c.track.clone()).collect();
    let last = hub
        .served()
        .find(&call.user.name, &subject.track_id, &tracks);
    let asks = ranges::plan(
        &tracks,
        Some(&range),
        text(header::IF_RANGE),
        last,
        ranges::etag,
    );
    let mut slots: Vec<Option<Candidate>> = candidates.drain(..).map(Some).collect();
    asks.into_iter()
        .filter_map(|ask| {
            let mut candidate = slots.get_mut(ask.source)?.take()?;
            // Only original bytes have offsets.
            candidate.range = ask
                .range
                .filter(|_| candidate.resolved.raw)
                .map(|range| absolute(range, candidate.track.size));
            Some(candidate)
        })
        .collect()
}

/// A suffix range as the offsets it means: some servers read `-50` as `0-50`.
fn absolute(range: ByteRange, size: Option<u64>) -> ByteRange {
    match (range, size) {
        (ByteRange::Suffix { length }, Some(size)) if length > 0 && size > 0 => ByteRange::From {
            first: size.saturating_sub(length),
            last: None,
        },
        (range, _) => range,
    }
}

/// Logs an attempt that came to nothing, as loudly as its refusal deserves, and notes it for the operator.
pub(super) fn note(source: &Source, attempt: &Attempt, track: &str, now: Wall) {
    match attempt.outcome {
        AttemptOutcome::Served => source.note_success(now),
        AttemptOutcome::Refused(Refusal::Full) => {}
        AttemptOutcome::Refused(refusal) => {
            let source_id = source.id();
            match refusal.level() {
                Level::Info => tracing::info!(source = source_id, track, %refusal, "not opened"),
                Level::Warn => tracing::warn!(source = source_id, track, %refusal, "not opened"),
            }
            // That one track is missing is no trouble of the source's.
            if refusal.class() != RefusalClass::Miss {
                source.note_error(Some(refusal.to_string()));
            }
        }
        AttemptOutcome::Running | AttemptOutcome::GivenUp | AttemptOutcome::Suspect => {}
    }
}
