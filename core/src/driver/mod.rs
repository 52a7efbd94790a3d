//! The loops that join the machines to a runtime, the same in production and in simulation.
//!
//! Nothing is spawned: whatever is in flight lives inside the driver's own future or body, so dropping
//! that gives everything up and no task, socket or permit can outlive it (D5, F5).

pub mod body;
pub mod call;
pub mod exchange;
pub mod open;
pub mod pull;
pub mod resume;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks without caring for poison: the values behind these locks are machines, whole after every call.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
