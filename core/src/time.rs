//! Two clocks that are never mixed: [`Tick`] for deadlines and windows, [`Wall`] for what is stored.
//!
//! Neither is read here; a runtime's `Clock` hands both in (contracts, preamble).

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign};
use std::time::Duration;

/// A moment of the monotonic, process-local clock, in nanoseconds since the process began.
///
/// Unlike `std::time::Instant` it has an origin, so it can be written in a test and hashed in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(u64);

impl Tick {
    /// The beginning of the process.
    pub const ZERO: Tick = Tick(0);

    /// The moment `nanos` nanoseconds after the beginning.
    pub const fn from_nanos(nanos: u64) -> Self {
        Tick(nanos)
    }

    /// The moment `millis` milliseconds after the beginning.
    pub const fn from_millis(millis: u64) -> Self {
        Tick(millis.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the beginning.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero when it is not after it.
    pub const fn since(self, earlier: Tick) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Tick {
    type Output = Tick;

    /// Saturates: "never" stays "never".
    fn add(self, by: Duration) -> Tick {
        let nanos = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        Tick(self.0.saturating_add(nanos))
    }
}

impl AddAssign<Duration> for Tick {
    fn add_assign(&mut self, by: Duration) {
        *self = *self + by;
    }
}

/// A moment of the wall clock, in milliseconds since 1970-01-01T00:00:00Z.
///
/// Only for what is stored or shown: activity, leases, ladders. It may step in either direction.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Wall(pub i64);

impl Wall {
    /// Milliseconds from `earlier` to this; negative when the clock stepped back between them.
    pub const fn millis_since(self, earlier: Wall) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Wall {
    type Output = Wall;

    fn add(self, by: Duration) -> Wall {
        let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        Wall(self.0.saturating_add(millis))
    }
}

impl fmt::Display for Wall {
    /// ISO 8601 in UTC with milliseconds, as OpenSubsonic timestamps are written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0.div_euclid(86_400_000);
        let ms = self.0.rem_euclid(86_400_000);
        let (year, month, day) = civil_from_days(days);
        let (h, m, s, ms) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{ms:03}Z"
        )
    }
}

/// Proleptic Gregorian date of a day number counted from 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_saturate() {
        assert_eq!(
            Tick::from_nanos(u64::MAX) + Duration::MAX,
            Tick::from_nanos(u64::MAX)
        );
        assert_eq!(Tick::ZERO.since(Tick::from_millis(5)), Duration::ZERO);
    }

    #[test]
    fn wall_prints_iso_8601() {
        assert_eq!(Wall(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            Wall(951_782_400_123).to_string(),
            "2000-02-29T00:00:00.123Z"
        );
        assert_eq!(Wall(-1).to_string(), "1969-12-31T23:59:59.999Z");
    }
}
