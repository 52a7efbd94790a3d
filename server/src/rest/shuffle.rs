//! Keeps the order of a user's random album list while they page through it.

use super::call::Call;
use segue_core::driver::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The seed of each user's random list; there are as many as users.
#[derive(Debug, Default)]
pub(super) struct Shuffle(Mutex<BTreeMap<i64, u64>>);

impl Shuffle {
    /// The seed for a call: a page past the first is of the same shuffle as the one before it, and the first
    /// page is of a new one.
    pub(super) fn of(&self, call: &Call, fresh: u64) -> u64 {
        let is_later_page = matches!(call.params.count("offset", 0, u32::MAX), Ok(1..));
        let mut seeds = lock(&self.0);
        match seeds.get(&call.user.id) {
            Some(seed) if is_later_page => *seed,
            Some(_) | None => {
                seeds.insert(call.user.id, fresh);
                fresh
            }
        }
    }
}
