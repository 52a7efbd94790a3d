//! Carries a delivery out, step by step, on a runtime's shelf.

use crate::delivery::{Facts, Intent, Left, Progress, Removal, RemovalStep, Step};
use crate::io::{Place, Seen, Shelf, ShelfError};
use bytes::Bytes;

/// More steps than any delivery has; one that needs more has somebody writing against it.
const MOST_STEPS: usize = 32;

/// How a delivery ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// The file is there, durable.
    Written,
    /// It is not, and nothing is left of it.
    Left(Left),
    /// It has to be written again and its bytes are not known any more: plan anew.
    Stale,
}

/// Goes on with `intent`, from wherever it is, until it has ended. `bytes` are those of the file, if they are still
/// known: after a crash the rest may not need them.
///
/// # Errors
/// What the shelf says. The intent is as good as before: go on with it later.
pub async fn deliver<S: Shelf>(
    shelf: &S,
    intent: &Intent,
    bytes: Option<&Bytes>,
) -> Result<Delivered, ShelfError> {
    let mut progress = Progress::default();
    for _ in 0..MOST_STEPS {
        let facts = look(shelf, intent).await?;
        match intent.next(&facts, &progress) {
            Step::Stage => {
                let Some(bytes) = bytes else {
                    gone(shelf, &intent.temp).await?;
                    return Ok(Delivered::Stale);
                };
                let staged = shelf
                    .stage(&intent.temp, &intent.track, bytes.clone())
                    .await;
                if let Err(error) = staged {
                    // Half a file is of no use; a disk that is full may still remove it.
                    let _ = shelf.discard(&intent.temp).await;
                    return Err(error);
                }
                progress.staged();
            }
            Step::Retire => {
                if let Some((place, digest)) = &intent.retires {
                    unless_changed(shelf.remove(place, *digest).await)?;
                }
                progress.changed();
            }
            Step::Settle => {
                shelf.settle(&intent.target).await?;
                progress.settled();
            }
            Step::Create => {
                unless_changed(shelf.create(&intent.temp, &intent.target).await)?;
                progress.changed();
            }
            Step::Replace => {
                if let Some(old) = intent.replaces {
                    let replaced = shelf.replace(&intent.temp, &intent.target, old).await;
                    unless_changed(replaced)?;
                }
                progress.changed();
            }
            Step::Discard => {
                shelf.discard(&intent.temp).await?;
                progress.changed();
            }
            Step::Commit => return Ok(Delivered::Written),
            Step::Undo(left) => return Ok(Delivered::Left(left)),
        }
    }
    shelf.discard(&intent.temp).await?;
    Err(ShelfError::Changed)
}

/// Goes on with `removal`, from wherever it is, until the file is gone for good; why it stays, if it does.
///
/// # Errors
/// What the shelf says. The removal is as good as before: go on with it later.
pub async fn take_away<S: Shelf>(shelf: &S, removal: &Removal) -> Result<Option<Left>, ShelfError> {
    let mut progress = Progress::default();
    for _ in 0..MOST_STEPS {
        match removal.next(shelf.look(&removal.place).await?, &progress) {
            RemovalStep::Remove(only) => {
                unless_changed(shelf.remove(&removal.place, only).await)?;
                progress.changed();
            }
            RemovalStep::Settle => {
                shelf.settle(&removal.place).await?;
                progress.settled();
            }
            RemovalStep::Commit => return Ok(None),
            RemovalStep::Undo(left) => return Ok(Some(left)),
        }
    }
    Err(ShelfError::Changed)
}

/// Removes an unfinished file, for good.
///
/// # Errors
/// What the shelf says.
pub async fn gone<S: Shelf>(shelf: &S, temp: &Place) -> Result<(), ShelfError> {
    shelf.discard(temp).await?;
    shelf.settle(temp).await
}

/// Somebody was faster: the next look tells what to make of it.
fn unless_changed(step: Result<(), ShelfError>) -> Result<(), ShelfError> {
    match step {
        Ok(()) | Err(ShelfError::Changed) => Ok(()),
        Err(error) => Err(error),
    }
}

async fn look<S: Shelf>(shelf: &S, intent: &Intent) -> Result<Facts, ShelfError> {
    let retiring = intent.retires.as_ref().map(|(place, _)| place);
    Ok(Facts {
        target: shelf.look(&intent.target).await?,
        temp: shelf.look(&intent.temp).await?,
        retiring: look_if(shelf, retiring).await?,
    })
}

async fn look_if<S: Shelf>(shelf: &S, place: Option<&Place>) -> Result<Seen, ShelfError> {
    match place {
        Some(place) => shelf.look(place).await,
        None => Ok(Seen::Absent),
    }
}
