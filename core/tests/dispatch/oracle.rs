//! The machine and paper, side by side.

use crate::case::*;
use crate::common::hunt;
use crate::compare::*;
use crate::play::*;
use segue_core::dispatch::Quality;

#[test]
fn two_million_random_steps_are_as_worked_out_on_paper() {
    hunt(2_000_000, check);
}

#[test]
fn every_small_dispatch_is_as_worked_out_on_paper() {
    const SAYS: [Say; 5] = [
        Say::Suitable(Quality::Plain),
        Say::Suitable(Quality::Word),
        Say::Unsuitable(Quality::Instrumental),
        Say::Miss,
        Say::Transport,
    ];
    let entry = |lane: u32, n: u64| Entry {
        lane,
        known: None,
        tripped: [None, Some((1, 9))][(n % 2) as usize],
        accepts: [None, Some(1)][(n / 2 % 2) as usize],
        head: None,
        answers: [Some(0), Some(1), Some(2), None][(n / 4 % 4) as usize],
        says: SAYS[(n / 16) as usize],
        connect: 2,
        then: 2,
    };
    let hows = [
        How::Ordered,
        How::Parallel(1),
        How::HedgedUntilAnswered(1),
        How::HedgedUntilAccepted(1),
    ];
    for n in 0..80 * 80 {
        for how in hows {
            for (deadline, last_resort) in [(None, None), (Some(3), None), (None, Some(1))] {
                let case = Case {
                    how,
                    lanes: vec![entry(0, n / 80), entry(1, n % 80)],
                    deadline,
                    last_resort,
                    cancel: None,
                };
                if let Err(why) = compare(&case, Manners::Prompt, 0) {
                    panic!("{}", as_code(&case, Manners::Prompt, 0, &why));
                }
            }
        }
    }
}
