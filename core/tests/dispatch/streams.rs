//! What streams ask of a dispatch beyond contracts section 2: last resorts, and who is to blame for silence.

use crate::table::*;
use segue_core::breaker::{Admission, Bank, Phase, Signal};
use segue_core::dispatch::*;

#[test]
fn as_a_last_resort_open_lanes_are_tried_in_rank_order() {
    let mut bank = a_bank(2);
    let mut plan = a_plan(Mode::Ordered, 2);
    plan.last_resort = Some(seconds(5));
    let mut m = Machine::start(plan.clone(), at(4_999), &mut bank);
    let retry_at = Some(at(60_000));
    let expected = Resolution::Unavailable { retry_at };
    assert_eq!(drain(&mut m), [Effect::Settle(expected)]);

    let mut m = Machine::start(plan, at(5_000), &mut bank);
    assert_eq!(drain(&mut m), called(&[0]));
    assert!(m.is_last_resort());
    let next = says(
        &mut m,
        &mut bank,
        5_001,
        0,
        Verdict::Failed(Failure::Transport),
    );
    assert_eq!(next, called(&[1]));
    let over = says(&mut m, &mut bank, 5_002, 1, good("bytes", Quality::Word));
    assert_eq!(over, [won(1, "bytes", Quality::Word)]);
    assert_eq!(view(&bank, 1, 5_002).phase, Phase::Closed);
}

#[test]
fn a_lane_that_is_due_by_now_is_tried_before_any_last_resort() {
    let mut bank = a_bank(2);
    let mut plan = a_plan(Mode::Ordered, 3);
    plan.last_resort = Some(seconds(5));
    // The first one fails again, so that it is open for longer than the second.
    let probe = bank.admit_last_resort(Lane(0), at(40_000), seconds(5));
    let Admission::Granted(probe) = probe else {
        panic!("its failure is long ago");
    };
    bank.settle(at(40_000), probe, Signal::Transient);
    let mut m = Machine::start(plan, at(59_000), &mut bank);
    assert_eq!(drain(&mut m), called(&[2]));
    let failed = || Verdict::Failed(Failure::Transport);
    assert_eq!(says(&mut m, &mut bank, 60_500, 2, failed()), called(&[1]));
    assert_eq!(says(&mut m, &mut bank, 60_600, 1, failed()), called(&[0]));
}

#[test]
fn an_open_lane_waits_until_all_others_have_been_tried() {
    let mut bank = a_bank(1);
    let mut plan = a_plan(HEDGE, 3);
    plan.last_resort = Some(seconds(5));
    let mut m = Machine::start(plan, at(5_000), &mut bank);
    assert_eq!(drain(&mut m), called(&[1]));
    assert_eq!(wakes(&mut m, &mut bank, 5_250), called(&[2]));
    // Both are slow; that alone is no reason to disturb the one that is open.
    assert_eq!(wakes(&mut m, &mut bank, 5_500), []);
    let failed = || Verdict::Failed(Failure::Transport);
    assert_eq!(says(&mut m, &mut bank, 5_600, 1, failed()), []);
    assert!(!m.is_last_resort());
    assert_eq!(says(&mut m, &mut bank, 5_700, 2, failed()), called(&[0]));
    assert!(m.is_last_resort());
    let over = says(&mut m, &mut bank, 5_800, 0, good("bytes", Quality::Word));
    assert_eq!(over, [won(0, "bytes", Quality::Word)]);
}

#[test]
fn two_copies_on_one_instance_are_tried_one_after_the_other() {
    let mut bank = a_bank(0);
    let mut plan = a_plan(RACE, 2);
    plan.lanes[1].lane = Lane(0);
    let mut m = Machine::start(plan, at(0), &mut bank);
    assert_eq!(drain(&mut m), called(&[0]));
    let next = says(&mut m, &mut bank, 5, 0, Verdict::Miss);
    let (call, lane) = (CallId(1), Lane(0));
    assert_eq!(next, [Effect::Call { call, lane }]);
}

/// Two copies, of which the first has said nothing when the second one is asked.
fn one_is_silent() -> (Machine, Bank) {
    let mut bank = a_bank(0);
    let mut plan = a_plan(HEDGE, 2);
    plan.accept_within = Some(seconds(1));
    let mut m = Machine::start(plan, at(0), &mut bank);
    assert_eq!(drain(&mut m), called(&[0]));
    assert_eq!(wakes(&mut m, &mut bank, 250), called(&[1]));
    (m, bank)
}

fn transient_run(bank: &Bank, lane: u32) -> u32 {
    view(bank, lane, 2_000).transient_run
}

#[test]
fn who_was_silent_for_too_long_when_another_one_wins_is_blamed() {
    let silence = AbortReason::BudgetExceeded(Stage::Connect);
    for (won_at, why, blamed) in [(999, AbortReason::LostRace, 0), (1_000, silence, 1)] {
        let (mut m, mut bank) = one_is_silent();
        let over = says(&mut m, &mut bank, won_at, 1, good("bytes", Quality::Word));
        let expected = [gave_up(0, why), won(1, "bytes", Quality::Word)];
        assert_eq!(over, expected, "at {won_at} ms");
        assert_eq!(transient_run(&bank, 0), blamed, "at {won_at} ms");
        let heard: Vec<_> = m.heard().collect();
        let is_failure = matches!(heard[0].1, Heard::Failed { .. });
        assert_eq!(is_failure, blamed == 1, "at {won_at} ms: {heard:?}");
    }
}

#[test]
fn who_has_accepted_is_not_blamed_for_losing() {
    let (mut m, mut bank) = one_is_silent();
    let (call, stage) = (CallId(0), Stage::Head);
    m.handle(Input::Reached { call, stage }, at(300), &mut bank);
    let over = says(&mut m, &mut bank, 1_500, 1, good("bytes", Quality::Word));
    assert_eq!(over[0], gave_up(0, AbortReason::LostRace));
    assert_eq!(transient_run(&bank, 0), 0);
}

#[test]
fn nobody_is_blamed_for_silence_when_the_listener_leaves() {
    let (mut m, mut bank) = one_is_silent();
    m.handle(Input::Cancel, at(1_500), &mut bank);
    let over = drain(&mut m);
    assert_eq!(over[0], gave_up(0, AbortReason::Cancelled));
    assert_eq!((transient_run(&bank, 0), transient_run(&bank, 1)), (0, 0));
}
