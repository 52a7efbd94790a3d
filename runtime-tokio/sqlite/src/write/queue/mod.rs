//! The queue's changes (contracts section 5). Which status a call may leave is read from `segue_core::queue::TABLE`.

mod claim;
mod decoy;
mod deliver;
mod enqueue;
mod hand;
#[cfg(test)]
mod plans;
mod retain;
mod settle;
mod shelf;

pub(crate) use claim::LEVELS;
pub use hand::Which;

use segue_core::queue::Call;
use segue_core::twin::{self, Twin};

/// `status IN (...)`: where the call may begin.
fn may_leave(call: Call) -> String {
    let from = call.transition().from.iter();
    let words: Vec<String> = from.map(|s| format!("'{}'", s.as_str())).collect();
    format!("status IN ({})", words.join(", "))
}

/// What every write of a worker must match, its ticket in `?1` and `?2` (Q1, Q3).
fn held() -> &'static str {
    if twin::is(Twin::EpochIgnored) {
        return "id = ?1 AND ?2 = ?2 AND status = 'processing'";
    }
    if twin::is(Twin::StatusIgnored) {
        return "id = ?1 AND claim_epoch = ?2";
    }
    "id = ?1 AND claim_epoch = ?2 AND status = 'processing'"
}
