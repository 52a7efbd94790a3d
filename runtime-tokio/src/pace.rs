//! How fast the reader at the end of a stream is, judged from one socket.
//!
//! Large reads and deep queues make a fast download cheap and a slow listener expensive: what the program
//! and the kernel hold for him is paid as long as he listens. So every reader starts modestly, gets more
//! once he has proved fast, and is clamped once he has proved slow. Numbers: `docs/benchmarks/streaming.md`.

use std::time::Duration;

/// Bytes without a pause that prove a fast reader. More than what a slow one takes at first, to fill his own buffers.
const PROOF: u64 = 2 * 1024 * 1024;

/// A wait this long is a pause. Far longer than a busy machine leaves a ready socket alone.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// A wait this long is a slow reader's.
pub(crate) const SLOW: Duration = Duration::from_secs(1);

/// What a reader has proved to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Nothing yet.
    #[default]
    Unproven,
    /// He takes what he can get.
    Fast,
    /// He let us wait for a second. This stays: a bound that comes and goes is none.
    Slow,
}

/// The judge of one stream.
#[derive(Debug, Default)]
pub(crate) struct Pacer {
    pace: Pace,
    since_pause: u64,
}

impl Pacer {
    /// The judgement so far.
    pub(crate) fn pace(&self) -> Pace {
        self.pace
    }

    /// The reader let us wait for `wait`. Says when that changes the judgement.
    pub(crate) fn waited(&mut self, wait: Duration) -> Option<Pace> {
        if wait < PAUSE {
            return None;
        }
        self.since_pause = 0;
        self.change_to(match self.pace {
            _ if wait >= SLOW => Pace::Slow,
            Pace::Slow => Pace::Slow,
            Pace::Unproven | Pace::Fast => Pace::Unproven,
        })
    }

    /// The reader took `bytes`. Says when that changes the judgement.
    pub(crate) fn moved(&mut self, bytes: usize) -> Option<Pace> {
        self.since_pause = self.since_pause.saturating_add(bytes as u64);
        self.change_to(match self.pace {
            Pace::Unproven if self.since_pause >= PROOF => Pace::Fast,
            unchanged => unchanged,
        })
    }

    fn change_to(&mut self, pace: Pace) -> Option<Pace> {
        let changed = pace != self.pace;
        self.pace = pace;
        changed.then_some(pace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_proves_fast_by_bytes_without_a_pause() {
        let mut reader = Pacer::default();
        assert_eq!(reader.moved(PROOF as usize - 1), None);
        assert_eq!(reader.waited(PAUSE), None);
        assert_eq!(reader.moved(PROOF as usize - 1), None);
        assert_eq!(reader.waited(PAUSE / 2), None);
        assert_eq!(reader.moved(1), Some(Pace::Fast));
        assert_eq!(reader.waited(PAUSE), Some(Pace::Unproven));
    }

    #[test]
    fn a_reader_who_proved_slow_stays_slow() {
        let mut reader = Pacer::default();
        assert_eq!(reader.moved(PROOF as usize), Some(Pace::Fast));
        assert_eq!(reader.waited(SLOW), Some(Pace::Slow));
        assert_eq!(reader.moved(PROOF as usize), None);
        assert_eq!(reader.waited(PAUSE), None);
        assert_eq!(reader.pace(), Pace::Slow);
    }
}
