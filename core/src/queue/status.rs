//! The statuses of a queue row and every way from one to another, as data (Q8).

/// Where a song stands.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Waits for a worker.
    Pending,
    /// A worker has it, under a lease.
    Processing,
    /// Answered.
    Done,
    /// Some lane failed; tried again after a backoff.
    Failed,
    /// No lane has it; asked again after a ladder of days.
    Deferred,
    /// Failed too often, or too many workers died on it; waits for somebody to retry it.
    Parked,
    /// Missed too often; waits for somebody to recheck it.
    Retired,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 7] = [
        Status::Pending,
        Status::Processing,
        Status::Done,
        Status::Failed,
        Status::Deferred,
        Status::Parked,
        Status::Retired,
    ];

    /// The word in tables, JSON and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Processing => "processing",
            Status::Done => "done",
            Status::Failed => "failed",
            Status::Deferred => "deferred",
            Status::Parked => "parked",
            Status::Retired => "retired",
        }
    }

    /// The status of that word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether a row of this status has a time at which it may be claimed.
    #[must_use]
    pub fn is_claimable(self) -> bool {
        Call::Claim.may_leave(self)
    }
}

/// What moves a row.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// A worker takes it.
    Claim,
    /// The worker still has it.
    Heartbeat,
    /// The answer is there.
    Complete,
    /// Nothing better was found than what is there already.
    Keep,
    /// The worker gives it back; nothing is counted.
    Release,
    /// Some lane failed.
    Fail,
    /// Every lane said no.
    Defer,
    /// Its lease is over.
    Reclaim,
    /// Somebody takes it from its worker.
    TakeBack,
    /// Somebody wants it tried at once.
    Retry,
    /// Somebody, or a sweep, wants it asked again.
    Recheck,
    /// It is time to look for something better.
    Upgrade,
    /// Somebody wants another answer.
    Redo,
}

impl Call {
    /// All of them.
    pub const ALL: [Call; 13] = [
        Call::Claim,
        Call::Heartbeat,
        Call::Complete,
        Call::Keep,
        Call::Release,
        Call::Fail,
        Call::Defer,
        Call::Reclaim,
        Call::TakeBack,
        Call::Retry,
        Call::Recheck,
        Call::Upgrade,
        Call::Redo,
    ];

    /// Its row of the [`TABLE`].
    #[must_use]
    pub const fn transition(self) -> &'static Transition {
        &TABLE[self as usize]
    }

    /// Whether it may move a row of this status.
    #[must_use]
    pub fn may_leave(self, from: Status) -> bool {
        self.transition().from.contains(&from)
    }

    /// Where a row of this status may go; nowhere, when the call does not apply.
    #[must_use]
    pub fn leads(self, from: Status) -> &'static [Status] {
        match self.may_leave(from) {
            true => self.transition().to,
            false => &[],
        }
    }
}

/// What must hold for a call besides the status.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Guard {
    /// `next_attempt_at <= now`.
    Due,
    /// The caller's `claim_epoch` is the row's.
    SameEpoch,
    /// `lease_until < now`.
    LeaseOver,
    /// `upgrade_after <= now`.
    UpgradeDue,
    /// Somebody, or a sweep, names the row.
    Named,
}

/// One row of the table.
#[derive(Debug)]
pub struct Transition {
    /// What moves the row.
    pub call: Call,
    /// From any of these.
    pub from: &'static [Status],
    /// To one of these.
    pub to: &'static [Status],
    /// If this holds.
    pub guard: Guard,
}

const fn row(
    call: Call,
    from: &'static [Status],
    to: &'static [Status],
    guard: Guard,
) -> Transition {
    Transition {
        call,
        from,
        to,
        guard,
    }
}

use Status::{Deferred, Done, Failed, Parked, Pending, Processing, Retired};

/// Every transition there is (contracts section 5), in the order of [`Call::ALL`]. `Keep`, `TakeBack`, `Upgrade` and
/// `Redo` are ours: the ladder from plain to word-timed lyrics, and an operator's hand.
pub const TABLE: [Transition; 13] = [
    row(
        Call::Claim,
        &[Pending, Failed, Deferred],
        &[Processing],
        Guard::Due,
    ),
    row(
        Call::Heartbeat,
        &[Processing],
        &[Processing],
        Guard::SameEpoch,
    ),
    row(Call::Complete, &[Processing], &[Done], Guard::SameEpoch),
    row(Call::Keep, &[Processing], &[Done], Guard::SameEpoch),
    row(Call::Release, &[Processing], &[Pending], Guard::SameEpoch),
    row(
        Call::Fail,
        &[Processing],
        &[Failed, Parked],
        Guard::SameEpoch,
    ),
    row(
        Call::Defer,
        &[Processing],
        &[Deferred, Retired],
        Guard::SameEpoch,
    ),
    row(
        Call::Reclaim,
        &[Processing],
        &[Pending, Parked],
        Guard::LeaseOver,
    ),
    row(Call::TakeBack, &[Processing], &[Pending], Guard::Named),
    row(Call::Retry, &[Failed, Parked], &[Pending], Guard::Named),
    row(
        Call::Recheck,
        &[Deferred, Retired],
        &[Pending],
        Guard::Named,
    ),
    row(Call::Upgrade, &[Done], &[Pending], Guard::UpgradeDue),
    row(Call::Redo, &[Done], &[Pending], Guard::Named),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_calls() {
        for (call, row) in Call::ALL.into_iter().zip(&TABLE) {
            assert_eq!(row.call, call);
            assert!(!row.from.is_empty() && !row.to.is_empty());
        }
    }

    #[test]
    fn q8_only_a_worker_with_the_claim_or_a_hand_moves_what_is_in_work() {
        for row in TABLE.iter().filter(|row| row.from.contains(&Processing)) {
            assert!(matches!(
                row.guard,
                Guard::SameEpoch | Guard::LeaseOver | Guard::Named
            ));
            assert_eq!(row.from, [Processing]);
        }
        let to_work = TABLE.iter().filter(|row| row.to.contains(&Processing));
        let calls: Vec<Call> = to_work.map(|row| row.call).collect();
        assert_eq!(calls, [Call::Claim, Call::Heartbeat]);
    }

    #[test]
    fn a_call_leads_only_from_where_it_may_be_made() {
        let claimable = Status::ALL
            .into_iter()
            .filter(|status| status.is_claimable());
        assert_eq!(claimable.collect::<Vec<_>>(), [Pending, Failed, Deferred]);
        assert!(Call::Fail.may_leave(Processing) && !Call::Fail.may_leave(Done));
        assert_eq!(Call::Fail.leads(Processing), [Failed, Parked]);
        assert_eq!(Call::Fail.leads(Done), []);
    }

    #[test]
    fn words_name_their_statuses() {
        for status in Status::ALL {
            assert_eq!(Status::of(status.as_str()), Some(status));
        }
        assert_eq!(Status::of("DONE"), None);
    }
}
