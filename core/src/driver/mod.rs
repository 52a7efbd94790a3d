//! The loops that join the machines to a runtime, the same in production and in simulation.
//!
//! Nothing is spawned: whatever is in flight lives inside the driver's own future or body, so dropping
//! that gives everything up and no task, socket or permit can outlive it (D5, F5).

pub mod body;
pub mod call;
pub mod deliver;
pub mod drained;
pub mod exchange;
pub mod lyrics;
pub mod open;
pub mod pull;
pub mod resume;

use crate::io::{Clock, NetError};
use crate::twin::{self, Twin};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

/// Locks without caring for poison: the values behind these locks are machines, whole after every call.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Polls what reads an answer. A panic in it is a failure of that answer and of nobody else who waits (contracts section 2);
/// the process has told it already. What panicked must not be polled again.
pub fn contained<T>(poll: impl FnOnce() -> Poll<T>) -> Poll<Result<T, NetError>> {
    match catch_unwind(AssertUnwindSafe(poll)) {
        Ok(polled) => polled.map(Ok),
        Err(panic) if twin::is(Twin::PanicSpreads) => resume_unwind(panic),
        Err(_) => Poll::Ready(Err(NetError::Panicked)),
    }
}

/// What comes of `future` in `patience`; `None` when that is not enough. What is ready with the timer still counts.
async fn within<C: Clock, F: Future>(
    clock: &C,
    patience: Duration,
    future: F,
) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut timer = pin!(clock.sleep_until(clock.now() + patience));
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => timer.as_mut().poll(cx).map(|()| None),
    })
    .await
}
