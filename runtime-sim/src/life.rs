//! The life of a node that may stop at any await: every turn that one of its tasks takes is counted, and at a chosen one
//! none of them moves any more.

use segue_core::driver::lock;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::sync::Notify;

#[derive(Debug, Default)]
struct State {
    turns: u64,
    /// Turns that are left.
    left: Option<u64>,
    stopped: bool,
}

/// Counts the turns of a node's tasks, and stops them. Clones share it.
///
/// A node that has stopped is dead, though nobody has buried it: kill it, and [`Life::begin`] before it starts again.
#[derive(Clone, Debug, Default)]
pub struct Life {
    state: Arc<Mutex<State>>,
    over: Arc<Notify>,
}

impl Life {
    /// The same future, one of the node's tasks.
    pub fn task<F: Future>(&self, task: F) -> impl Future<Output = F::Output> + use<F> {
        let life = self.clone();
        // Boxed: what hyper serves is large, and so it stays where it is.
        let mut task = Box::pin(task);
        poll_fn(move |cx| life.turn(task.as_mut(), cx))
    }

    fn turn<F: Future>(&self, task: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match self.takes_turn() {
            true => task.poll(cx),
            false => Poll::Pending,
        }
    }

    fn takes_turn(&self) -> bool {
        let mut state = lock(&self.state);
        match state.left {
            _ if state.stopped => return false,
            Some(0) => {
                drop(state);
                self.stop();
                return false;
            }
            Some(left) => state.left = Some(left - 1),
            None => {}
        }
        state.turns += 1;
        true
    }

    /// Turns so far.
    pub fn turns(&self) -> u64 {
        lock(&self.state).turns
    }

    /// Lets the node stop when its tasks have taken so many turns from now on; `None` takes that back.
    pub fn stop_after(&self, turns: Option<u64>) {
        lock(&self.state).left = turns;
    }

    /// Stops the node now.
    pub fn stop(&self) {
        let mut state = lock(&self.state);
        state.stopped = true;
        state.left = None;
        self.over.notify_one();
    }

    /// Whether it has stopped.
    pub fn is_over(&self) -> bool {
        lock(&self.state).stopped
    }

    /// Ends when the node has stopped.
    pub async fn over(&self) {
        while !self.is_over() {
            self.over.notified().await;
        }
    }

    /// The next life.
    pub fn begin(&self) {
        *lock(&self.state) = State::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Waker;

    #[test]
    fn a_life_ends_at_the_chosen_turn_and_not_before() {
        let life = Life::default();
        life.stop_after(Some(2));
        let mut polls = 0;
        {
            let mut task = pin!(life.task(poll_fn(|_| {
                polls += 1;
                Poll::<()>::Pending
            })));
            let cx = &mut Context::from_waker(Waker::noop());
            for _ in 0..4 {
                assert!(task.as_mut().poll(cx).is_pending());
            }
        }
        assert_eq!(polls, 2);
        assert!(life.is_over());
        life.begin();
        assert!(!life.is_over());
    }
}
