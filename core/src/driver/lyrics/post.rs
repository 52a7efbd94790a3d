//! Sidecars: from a stored document to a file beside a track, and what an earlier process left half done.

use super::desk::{Desk, Parcel, ParcelEnd, Words, Written};
use crate::delivery::{
    Beside, Form, Intent, Left, Ours, Plan, Removal, Wanted, plan, sidecar, temp,
};
use crate::dispatch::Quality;
use crate::driver::deliver::{Delivered, deliver, gone, take_away};
use crate::io::{Clock, Digest, Runtime, Shelf, ShelfError, StoreError};
use crate::lyrics::document::Document;
use crate::lyrics::lrc::{LrcStyle, WriteOptions};
use crate::lyrics::{Lyrics, lrc, plain};
use crate::twin::{self, Twin};
use bytes::Bytes;
use std::time::Duration;

/// The first wait after a disk has failed; it doubles up to [`LONGEST`].
const FIRST: Duration = Duration::from_secs(60);

/// The longest wait.
const LONGEST: Duration = Duration::from_secs(6 * 3600);

/// After so many attempts, a track that is not where the library has it is given up: the next sync knows better.
const MOST_SEARCHES: u32 = 8;

/// What is said of a file that was to go, where nothing may be removed.
const STAYS: &str = "its words were given for another song too: delete it unless they are right";

/// Lyrics as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// As which.
    pub form: Form,
    /// How good it is.
    pub quality: Quality,
    /// Its bytes.
    pub bytes: Bytes,
}

/// The file that a stored document becomes; `None` when there is nothing to sing or the document is damaged.
#[must_use]
pub fn render(body: &str, style: LrcStyle) -> Option<Rendered> {
    let lyrics: Lyrics = Document::read(body).ok()?;
    let quality = lyrics.quality();
    let form = Form::of(quality)?;
    let text = match form {
        Form::Plain => plain::write(&lyrics),
        Form::Synced => lrc::write(
            &lyrics,
            &WriteOptions {
                style,
                ..WriteOptions::default()
            },
        ),
    };
    Some(Rendered {
        form,
        quality,
        bytes: text.into(),
    })
}

/// Writes one sidecar or takes it away, or goes on with one that was begun.
pub(super) async fn post<R: Runtime, D: Desk>(
    runtime: &R,
    desk: &D,
    style: LrcStyle,
    seed: u64,
    parcel: &Parcel,
) -> Result<(), StoreError> {
    let clock = runtime.clock();
    // Nobody else's unfinished file has the name of ours, not even that of an earlier turn.
    let seed = seed ^ parcel.ticket.epoch.unsigned_abs();
    let mut begun = parcel.begun.is_some();
    let written = match (&parcel.begun, &parcel.wanted) {
        (Some((intent, body)), _) => {
            let rendered = render(body, style).map(|rendered| rendered.bytes);
            // Another version of the program may write it otherwise: then it is planned anew.
            let bytes = rendered.filter(|bytes| Digest::of(bytes) == intent.new);
            match (bytes, document_id(body)) {
                (Some(bytes), Some(document)) => match taken_over(runtime, intent, seed).await {
                    Ok(intent) => {
                        let now = clock.wall();
                        desk.begin_parcel(parcel.ticket, &document, &intent, now)
                            .await?;
                        finish(runtime, &intent, Some(&bytes)).await
                    }
                    Err(error) => Err(error),
                },
                (Some(_), None) | (None, _) => finish(runtime, intent, None).await,
            }
        }
        (None, None) => match &parcel.delivered {
            Some(file) if file.quality == Quality::None => {
                let removal = removal(file);
                let now = clock.wall();
                desk.begin_removal(parcel.ticket, &removal, now).await?;
                withdrawn(runtime, &removal).await
            }
            Some(_) | None => Ok(Some(ParcelEnd::Withdrawn)),
        },
        (None, Some(words)) => match planned(runtime, style, seed, parcel, words).await {
            Ok(Planned::Write(intent, bytes)) => {
                let now = clock.wall();
                if !twin::is(Twin::JournalSkipped) {
                    desk.begin_parcel(parcel.ticket, &words.document, &intent, now)
                        .await?;
                    begun = true;
                }
                finish(runtime, &intent, Some(&bytes)).await
            }
            Ok(Planned::End(end)) => Ok(end),
            Err(error) => Err(error),
        },
    };
    let now = clock.wall();
    let end = match written {
        Ok(Some(end)) => end,
        Ok(None) => ParcelEnd::Again {
            reason: "is planned anew".to_owned(),
            retry_at: now,
            begun: false,
        },
        Err(error) => match waits_for(error, parcel.attempts) {
            Some(wait) => ParcelEnd::Again {
                reason: error.to_string(),
                retry_at: now + wait,
                // A disk that failed may have taken the file all the same: then it is ours.
                begun,
            },
            None if parcel.wanted.is_none() => ParcelEnd::Refused(format!("{error}; {STAYS}")),
            None => ParcelEnd::Refused(error.to_string()),
        },
    };
    desk.end_parcel(parcel.ticket, end, now).await
}

/// What an earlier turn began, under a name of our own for the unfinished file. Whoever had that turn may only be slow: a
/// file that two write to would be published half written (S1), so theirs is removed and never gone on with.
async fn taken_over<R: Runtime>(
    runtime: &R,
    begun: &Intent,
    seed: u64,
) -> Result<Intent, ShelfError> {
    gone(runtime.shelf(), &begun.temp).await?;
    Ok(Intent {
        temp: temp(&begun.target, begun.new, seed),
        ..begun.clone()
    })
}

fn removal(file: &Written) -> Removal {
    Removal {
        place: file.place.clone(),
        only: file.digest,
    }
}

/// How a removal ended.
async fn withdrawn<R: Runtime>(
    runtime: &R,
    removal: &Removal,
) -> Result<Option<ParcelEnd>, ShelfError> {
    let left = take_away(runtime.shelf(), removal).await?;
    Ok(Some(match left {
        None => ParcelEnd::Withdrawn,
        Some(left) => ParcelEnd::Refused(left.word().to_owned()),
    }))
}

fn document_id(body: &str) -> Option<String> {
    let lyrics = Document::read(body).ok()?;
    Some(Document::of(&lyrics).id.to_string())
}

enum Planned {
    Write(Box<Intent>, Bytes),
    End(Option<ParcelEnd>),
}

async fn planned<R: Runtime>(
    runtime: &R,
    style: LrcStyle,
    seed: u64,
    parcel: &Parcel,
    words: &Words,
) -> Result<Planned, ShelfError> {
    let refused = |left: Left| Planned::End(Some(ParcelEnd::Refused(left.word().to_owned())));
    let Some(rendered) = render(&words.body, style) else {
        return Ok(refused(Left::NothingToWrite));
    };
    let wanted = Wanted {
        form: rendered.form,
        quality: rendered.quality,
        new: Digest::of(&rendered.bytes),
    };
    let here = beside(runtime, parcel, wanted.form).await?;
    let other = beside(runtime, parcel, wanted.form.other()).await?;
    match plan(&wanted, here, other) {
        Plan::Write(changes) => {
            let intent = Intent::new(&parcel.track, &wanted, changes, seed)?;
            Ok(Planned::Write(Box::new(intent), rendered.bytes))
        }
        Plan::Leave(Left::AlreadyThere) if here.ours.is_some_and(|o| o.digest == wanted.new) => {
            Ok(Planned::End(Some(ParcelEnd::Delivered {
                place: sidecar(&parcel.track, wanted.form)?,
                digest: wanted.new,
            })))
        }
        Plan::Leave(left) => Ok(refused(left)),
    }
}

async fn beside<R: Runtime>(
    runtime: &R,
    parcel: &Parcel,
    form: Form,
) -> Result<Beside, ShelfError> {
    let place = match sidecar(&parcel.track, form) {
        Ok(place) => place,
        // What is longer than any name cannot lie there.
        Err(ShelfError::NameTooLong) => {
            return Ok(Beside {
                seen: crate::io::Seen::Absent,
                ours: None,
            });
        }
        Err(error) => return Err(error),
    };
    let written = parcel.delivered.as_ref().filter(|w| w.place == place);
    Ok(Beside {
        seen: runtime.shelf().look(&place).await?,
        ours: written.map(|written| Ours {
            digest: written.digest,
            quality: written.quality,
        }),
    })
}

/// How an intent ended; `None` when it has to be planned anew.
async fn finish<R: Runtime>(
    runtime: &R,
    intent: &Intent,
    bytes: Option<&Bytes>,
) -> Result<Option<ParcelEnd>, ShelfError> {
    Ok(match deliver(runtime.shelf(), intent, bytes).await? {
        Delivered::Written => Some(ParcelEnd::Delivered {
            place: intent.target.clone(),
            digest: intent.new,
        }),
        Delivered::Left(left) => Some(ParcelEnd::Refused(left.word().to_owned())),
        Delivered::Stale => None,
    })
}

/// How long to wait before it is tried again; `None` when that is pointless.
fn waits_for(error: ShelfError, attempts: u32) -> Option<Duration> {
    let wait = FIRST.saturating_mul(1 << attempts.min(10)).min(LONGEST);
    match error {
        ShelfError::NotWritable | ShelfError::Outside | ShelfError::NameTooLong => None,
        ShelfError::NotFound => (attempts < MOST_SEARCHES).then_some(wait),
        ShelfError::Changed | ShelfError::ReadOnly | ShelfError::Full | ShelfError::Failed => {
            Some(wait)
        }
    }
}
