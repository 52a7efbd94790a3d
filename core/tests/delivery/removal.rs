//! Every way that a removal can go: somebody who puts a file of their own there, and a crash, between any two steps.

use segue_core::delivery::{Left, Progress, Removal, RemovalStep};
use segue_core::io::{Digest, Place, Seen};

/// What can be read, what a crash leaves of it, and what this process has seen to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct State {
    live: Seen,
    durable: Seen,
    progress: Progress,
}

impl State {
    fn found(seen: Seen) -> Self {
        State {
            live: seen,
            durable: seen,
            progress: Progress::default(),
        }
    }
}

/// Whether a removal that nothing disturbs ends within its three steps: remove, settle, and note it.
fn ends(removal: &Removal, mut state: State) -> bool {
    (0..3).any(|_| match removal.next(state.live, &state.progress) {
        RemovalStep::Remove(_) => {
            state.live = Seen::Absent;
            state.progress.changed();
            false
        }
        RemovalStep::Settle => {
            state.progress.settled();
            false
        }
        RemovalStep::Commit | RemovalStep::Undo(_) => true,
    })
}

/// Walks through all of it. How many states there are, or after how many what is broken.
pub(crate) fn every_removal() -> Result<usize, (usize, String)> {
    let (ours, theirs) = (Digest::of(b"ours"), Digest::of(b"theirs"));
    let removal = Removal {
        place: Place::new("shelf", "Band/Song.lrc"),
        only: ours,
    };
    let starts = [
        Seen::Absent,
        Seen::File(ours),
        Seen::File(theirs),
        Seen::Other,
    ];
    let mut ahead: Vec<State> = starts.map(State::found).to_vec();
    let mut seen = ahead.clone();
    while let Some(state) = ahead.pop() {
        let broken = |why: &str| Err((seen.len(), format!("{why}: {state:?}")));
        let mut next = vec![
            State::found(state.durable),
            State::found(Seen::File(theirs)),
        ];
        match removal.next(state.live, &state.progress) {
            RemovalStep::Remove(only) => {
                if state.live != Seen::File(ours) || only != ours {
                    return broken("S2: what is not ours is removed");
                }
                let mut after = state;
                after.live = Seen::Absent;
                after.progress.changed();
                next.push(after);
            }
            RemovalStep::Settle => {
                let mut after = state;
                after.durable = state.live;
                after.progress.settled();
                next.push(after);
            }
            RemovalStep::Commit => {
                if state.durable != Seen::Absent {
                    return broken("it is noted as gone, and comes back");
                }
            }
            RemovalStep::Undo(left) => {
                if left != Left::NotOurs || [Seen::Absent, Seen::File(ours)].contains(&state.live) {
                    return broken("ours is left");
                }
            }
        }
        if !ends(&removal, state) {
            return broken("S1: left alone, it never ends");
        }
        for state in next {
            if !seen.contains(&state) {
                seen.push(state);
                ahead.push(state);
            }
        }
    }
    Ok(seen.len())
}
