//! The breaker and the reference that remembers everything, side by side.

use crate::common::hunt;
use crate::history::*;
use crate::play::*;

#[test]
fn two_million_random_steps_agree_with_the_history() {
    hunt(2_000_000, check);
}

#[test]
fn every_short_sequence_agrees_with_the_history() {
    const ALPHABET: [Step; 10] = [
        Step::Admit,
        Step::LastResort(5 * SECOND),
        Step::Settle(0, Say::Success),
        Step::Settle(0, Say::Transient),
        Step::Settle(1, Say::Benign),
        Step::Settle(0, Say::ThrottledFor(75)),
        Step::Settle(1, Say::Abandoned),
        Step::Settle(0, Say::RenewalRequired),
        Step::ToReopening(0),
        Step::ToDeadline(0),
    ];
    const LENGTH: u32 = 5;
    for policy in 0..2 {
        for n in 0..ALPHABET.len().pow(LENGTH) {
            let digit = |k: u32| n / ALPHABET.len().pow(k) % ALPHABET.len();
            let steps: Vec<Step> = (0..LENGTH).map(|k| ALPHABET[digit(k)]).collect();
            if let Err(why) = replay(policies()[policy], &steps) {
                panic!("{}", as_code(policy, &steps, &why));
            }
        }
    }
}
