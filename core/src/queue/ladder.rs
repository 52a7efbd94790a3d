//! How long to wait before a song is tried again.

use crate::dispatch::Quality;
use crate::twin::{self, Twin};
use std::time::Duration;

/// How many workers in a row may die on a song before it is parked: something about it kills them.
pub const LOST_WORKERS: u32 = 5;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The ladders of contracts section 5, with the contract's values as default. Counts begin at 1: the first failure waits
/// for the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladders {
    /// Wait after the first failure.
    pub fail_base: Duration,
    /// Longest wait after a failure.
    pub fail_cap: Duration,
    /// The failure that parks; 0 for never.
    pub park_after: u32,
    /// Wait after the first miss.
    pub miss_base: Duration,
    /// Longest wait after a miss.
    pub miss_cap: Duration,
    /// The miss that retires; 0 for never.
    pub retire_after: u32,
    /// Wait before something better is looked for, at first.
    pub upgrade_base: Duration,
    /// Longest wait before that.
    pub upgrade_cap: Duration,
    /// How often something better is looked for; 0 for never.
    pub upgrades: u32,
}

impl Default for Ladders {
    fn default() -> Self {
        Ladders {
            fail_base: Duration::from_secs(60),
            fail_cap: Duration::from_secs(60 * 60),
            // Half a day of failures: whoever is out for longer has an open breaker, and that counts nothing.
            park_after: 16,
            miss_base: 7 * DAY,
            miss_cap: 28 * DAY,
            retire_after: 15,
            upgrade_base: 14 * DAY,
            upgrade_cap: 84 * DAY,
            upgrades: 8,
        }
    }
}

impl Ladders {
    /// The wait after this many failures, up to a quarter shorter by `seed`, so that what failed together does not come
    /// back together. `None` parks.
    #[must_use]
    pub fn backoff(&self, failures: u32, seed: u64) -> Option<Duration> {
        if self.park_after > 0 && failures >= self.park_after {
            return None;
        }
        let window = doubled(self.fail_base, self.fail_cap, failures);
        let share = (mix(seed ^ u64::from(failures)) >> 40) as u32;
        let spread = window / 4;
        Some(
            window
                - Duration::from_nanos(
                    u64::try_from((spread.as_nanos() * u128::from(share)) >> 24).unwrap_or(0),
                ),
        )
    }

    /// The wait after this many misses: 7, 14, 28, 28, ... days. `None` retires.
    #[must_use]
    pub fn miss(&self, misses: u32) -> Option<Duration> {
        if self.retire_after > 0 && misses >= self.retire_after && !twin::is(Twin::NeverRetired) {
            return None;
        }
        Some(doubled(self.miss_base, self.miss_cap, misses))
    }

    /// The wait before something better than `quality` is looked for, after so many searches in vain. `None` when
    /// nothing better can come, or it was looked for often enough. That there is nothing to sing is remembered.
    #[must_use]
    pub fn upgrade(&self, quality: Quality, searches: u32) -> Option<Duration> {
        match quality {
            Quality::Word | Quality::Instrumental => None,
            Quality::None | Quality::Plain | Quality::Line if searches >= self.upgrades => None,
            Quality::None | Quality::Plain | Quality::Line => Some(doubled(
                self.upgrade_base,
                self.upgrade_cap,
                searches.saturating_add(1),
            )),
        }
    }
}

/// `base` doubled `count - 1` times, at most `cap`.
fn doubled(base: Duration, cap: Duration, count: u32) -> Duration {
    let doublings = match twin::is(Twin::LadderNeverGrows) {
        true => 0,
        false => count.saturating_sub(1),
    };
    match 2_u32
        .checked_pow(doublings)
        .and_then(|by| base.checked_mul(by))
    {
        Some(wait) if !twin::is(Twin::LadderUncapped) => wait.min(cap),
        Some(wait) => wait,
        None => cap,
    }
}

/// Spreads a seed over all bits (SplitMix64).
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::mix;

    #[test]
    fn seeds_are_spread_as_splitmix64_does() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }
}
