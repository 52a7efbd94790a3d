//! A lane's turn: one lookup at a time, first come, first served, and requests apart by the lane's spacing.

use crate::driver::lock;
use crate::io::Clock;
use crate::time::Tick;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// How far apart songs come back to a lane whose requests need not be: twenty a second are no burden for a store.
const APART: Duration = Duration::from_millis(50);

/// Who is asking a lane, who waits for that, and when the lane may hear from us again.
#[derive(Debug, Default)]
pub struct Turn(Mutex<Line>);

#[derive(Debug, Default)]
struct Line {
    taken: bool,
    waiting: BTreeMap<u64, Waker>,
    next: u64,
    free_at: Tick,
    /// When the last of those is to come back that could not ask.
    last_back: Option<Tick>,
}

impl Line {
    fn call_next(&self) {
        if let (false, Some(waker)) = (self.taken, self.waiting.values().next()) {
            waker.wake_by_ref();
        }
    }
}

impl Turn {
    /// A turn whose lane may not be asked before `free_at`: what was stored before a restart still counts.
    pub fn not_before(free_at: Tick) -> Self {
        Turn(Mutex::new(Line {
            free_at,
            ..Line::default()
        }))
    }

    /// Waits in line. Dropping what comes of it gives the turn back; so does dropping this.
    pub fn take(&self) -> Taking<'_> {
        Taking {
            turn: self,
            place: None,
        }
    }

    /// When the lane may be asked again, by its spacing.
    pub fn free_at(&self) -> Tick {
        lock(&self.0).free_at
    }

    /// When a song is to come back that may not ask the lane before `earliest`. Those of a library come back one after
    /// another, as far apart as the lane's requests: all at once they would be claimed and given back in vain, over and
    /// over, for as long as the lane is away.
    pub(super) fn come_back(&self, earliest: Tick, spacing: Duration) -> Tick {
        let mut line = lock(&self.0);
        let behind = line.last_back.map(|last| last + spacing.max(APART));
        let at = behind.map_or(earliest, |behind| behind.max(earliest));
        line.last_back = Some(at);
        at
    }

    /// How many wait, whoever has the turn not among them.
    pub fn waiting(&self) -> usize {
        lock(&self.0).waiting.len()
    }
}

/// See [`Turn::take`].
#[derive(Debug)]
pub struct Taking<'a> {
    turn: &'a Turn,
    place: Option<u64>,
}

impl<'a> Future for Taking<'a> {
    type Output = Held<'a>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Held<'a>> {
        let turn = self.turn;
        let mut line = lock(&turn.0);
        let first = line.waiting.keys().next().copied();
        let mine = self.place.is_none_or(|place| Some(place) == first);
        let is_next = first.is_none() || (self.place.is_some() && mine);
        if !line.taken && is_next {
            if let Some(place) = self.place.take() {
                line.waiting.remove(&place);
            }
            line.taken = true;
            return Poll::Ready(Held(turn));
        }
        let place = match self.place {
            Some(place) => place,
            None => {
                line.next += 1;
                line.next
            }
        };
        line.waiting.insert(place, cx.waker().clone());
        self.place = Some(place);
        Poll::Pending
    }
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            let mut line = lock(&self.turn.0);
            line.waiting.remove(&place);
            line.call_next();
        }
    }
}

/// The turn, for as long as this lives.
#[derive(Debug)]
pub struct Held<'a>(&'a Turn);

impl Held<'_> {
    /// Waits until the lane may be asked. The next request is `spacing` after what this returns has ended, however that
    /// comes about: an exchange that we gave up was one all the same.
    pub(super) async fn request<C: Clock>(&self, clock: &C, spacing: Duration) -> Paced<'_, C> {
        let free_at = self.0.free_at();
        if clock.now() < free_at {
            clock.sleep_until(free_at).await;
        }
        Paced {
            turn: self.0,
            clock: clock.clone(),
            spacing,
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut line = lock(&self.0.0);
        line.taken = false;
        line.call_next();
    }
}

/// One request under way.
pub(super) struct Paced<'a, C: Clock> {
    turn: &'a Turn,
    clock: C,
    spacing: Duration,
}

impl<C: Clock> Drop for Paced<'_, C> {
    fn drop(&mut self) {
        let free_at = self.clock.now() + self.spacing;
        let mut line = lock(&self.turn.0);
        line.free_at = line.free_at.max(free_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    fn poll<'a>(taking: Pin<&mut Taking<'a>>) -> Option<Held<'a>> {
        let mut cx = Context::from_waker(Waker::noop());
        match taking.poll(&mut cx) {
            Poll::Ready(held) => Some(held),
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_turn_goes_to_one_at_a_time_and_to_who_waited_longest() {
        let turn = Turn::default();
        let (mut one, mut two, mut three) =
            (pin!(turn.take()), pin!(turn.take()), pin!(turn.take()));
        let held = poll(one.as_mut()).expect("nobody has it");
        assert!(poll(two.as_mut()).is_none());
        assert!(poll(three.as_mut()).is_none());
        drop(held);
        assert!(poll(three.as_mut()).is_none(), "two was first");
        let mut late = pin!(turn.take());
        assert!(
            poll(late.as_mut()).is_none(),
            "who comes late does not jump the line"
        );
        let held = poll(two.as_mut()).expect("its turn");
        drop(held);
        assert!(poll(three.as_mut()).is_some());
    }

    #[test]
    fn who_cannot_ask_comes_back_behind_those_who_could_not_before() {
        let turn = Turn::default();
        let second = Duration::from_secs(1);
        let at = |seconds: u32| Tick::default() + seconds * second;
        assert_eq!(turn.come_back(at(60), second), at(60));
        assert_eq!(turn.come_back(at(60), second), at(61));
        assert_eq!(
            turn.come_back(at(30), second),
            at(62),
            "the line goes on where it ended"
        );
        assert_eq!(
            turn.come_back(at(90), second),
            at(90),
            "or begins anew, worked off"
        );
        assert_eq!(turn.come_back(at(60), Duration::ZERO), at(90) + APART);
    }

    #[test]
    fn who_goes_away_is_not_waited_for() {
        let turn = Turn::default();
        let mut one = pin!(turn.take());
        let held = poll(one.as_mut()).expect("nobody has it");
        let mut last = pin!(turn.take());
        {
            let mut gone = pin!(turn.take());
            assert!(poll(gone.as_mut()).is_none());
            assert!(poll(last.as_mut()).is_none());
            assert_eq!(turn.waiting(), 2);
        }
        drop(held);
        assert!(poll(last.as_mut()).is_some());
        assert_eq!(turn.waiting(), 0);
    }
}
