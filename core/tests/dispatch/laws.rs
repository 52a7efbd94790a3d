//! One property per invariant, D1 to D11. What must hold at every step (D2 to D5, D8) is asserted
//! by the player itself; here it is played in every manner, also a bad one.

use crate::case::*;
use crate::common::{Dice, hunt};
use crate::play::*;
use crate::shared;
use proptest::collection::vec;
use proptest::prelude::*;
use segue_core::dispatch::*;
use std::collections::BTreeSet;

/// Cases as numbers, which shrink to the simplest case. Half of them have lanes that stand in the
/// plan twice.
fn cases() -> impl Strategy<Value = Case> {
    (vec(any::<u32>(), 0..80), any::<bool>())
        .prop_map(|(n, twins)| Case::any(&mut Dice::loaded(n), 5, twins))
}

/// Cases in which nothing but the lanes themselves decides.
fn patient_cases() -> impl Strategy<Value = Case> {
    cases().prop_map(|mut case| {
        (case.deadline, case.cancel, case.last_resort) = (None, None, None);
        for (i, entry) in case.lanes.iter_mut().enumerate() {
            entry.lane = i as u32;
            entry.tripped = None;
            entry.answers = entry.answers.or(Some(1));
            (entry.connect, entry.then) = (1_000, 1_000);
        }
        case
    })
}

fn manners() -> impl Strategy<Value = Manners> {
    prop::sample::select(vec![Manners::Prompt, Manners::Noisy, Manners::Late])
}

fn hows() -> [How; 4] {
    [
        How::Ordered,
        How::Parallel(1_000_000),
        How::HedgedUntilAnswered(2),
        How::HedgedUntilAccepted(3),
    ]
}

/// A resolution without who and when.
fn class_of(resolution: &Resolution<u32>) -> &'static str {
    match resolution {
        Resolution::Won { .. } => "won",
        Resolution::BestAvailable { .. } => "best available",
        Resolution::BestKnown { .. } => "best known",
        Resolution::Miss => "miss",
        Resolution::Uncertain { class, .. } => match class {
            Class::Miss => "uncertain: miss",
            Class::Open => "uncertain: open",
            Class::Transport => "uncertain: transport",
            Class::ThrottledOrAuth => "uncertain: throttled or auth",
        },
        Resolution::Unavailable { .. } => "unavailable",
        Resolution::Cancelled => "cancelled",
    }
}

/// When each suitable answer was fed, with its quality.
fn suitable(run: &Run) -> Vec<(u64, Quality)> {
    let fed = run.trace.iter().filter_map(|(at, seen)| match seen {
        Seen::Fed(
            _,
            Verdict::Answer {
                quality,
                suitable: true,
                ..
            },
        ) if *quality >= Quality::Plain => Some((*at, *quality)),
        Seen::Fed(..) | Seen::Effect(_) | Seen::Timer(_) => None,
    });
    fed.collect()
}

proptest! {
    #[test]
    fn d1_there_is_one_settlement_and_it_is_the_last_effect(
        case in cases(), manners in manners(), noise in 0u64..99,
    ) {
        let effects = play(&case, manners, noise).effects();
        let settles = |e: &(u64, Effect<u32>)| matches!(e.1, Effect::Settle(_));
        prop_assert_eq!(effects.iter().position(settles), Some(effects.len() - 1));
    }

    #[test]
    fn d2_after_it_settles_no_call_is_started(case in cases(), manners in manners()) {
        // The player goes on feeding and waking a settled machine.
        let effects = play(&case, manners, 0).effects();
        let settlement = |e: &(u64, Effect<u32>)| matches!(e.1, Effect::Settle(_));
        let after = effects.iter().skip_while(|e| !settlement(e));
        let calls = after.filter(|e| matches!(e.1, Effect::Call { .. })).count();
        prop_assert_eq!(calls, 0);
    }

    #[test]
    fn d2_a_call_that_was_not_taken_up_when_it_settles_is_never_made(case in cases()) {
        let mut bank = case.bank();
        let mut machine: Dispatch<u32> = Dispatch::start(case.plan(), tick(T0), &mut bank);
        machine.handle(Input::Cancel, tick(T0), &mut bank);
        prop_assert_eq!(bank.outstanding(), 0);
        let first = machine.poll_effect();
        prop_assert!(matches!(first, Some(Effect::Settle(_))), "{:?}", first);
        prop_assert_eq!(machine.poll_effect(), None);
    }

    #[test]
    fn d3_each_call_is_answered_or_aborted_once(
        case in cases(), manners in manners(), noise in 0u64..99,
    ) {
        let mut open = BTreeSet::new();
        for (_, seen) in play(&case, manners, noise).trace {
            match seen {
                Seen::Effect(Effect::Call { call, .. }) => prop_assert!(open.insert(call)),
                Seen::Effect(Effect::Abort { call, .. }) => prop_assert!(open.remove(&call)),
                Seen::Fed(call, _) => prop_assert!(open.remove(&call)),
                Seen::Effect(Effect::Settle(_)) | Seen::Timer(_) => {}
            }
        }
        prop_assert!(open.is_empty());
    }

    #[test]
    fn d4_ordered_has_one_call_in_flight(mut case in cases(), manners in manners()) {
        // And no mode two of one lane: the player looks at every step.
        case.how = How::Ordered;
        prop_assert!(play(&case, manners, 0).widest <= 1);
    }

    #[test]
    fn d5_cancelling_at_any_moment_leaves_nothing(mut case in cases(), at in 1u64..30) {
        case.cancel = Some(at);
        let run = play(&case, Manners::Noisy, at);
        prop_assert_eq!(run.bank.outstanding(), 0);
        prop_assert!(run.settled().0 <= T0 + at);
    }

    #[test]
    fn d6_nothing_better_had_arrived(case in cases(), manners in manners(), noise in 0u64..99) {
        let run = play(&case, manners, noise);
        let best = suitable(&run).iter().map(|(_, q)| *q).max();
        match run.settled().1 {
            Resolution::Won { quality, .. } => prop_assert_eq!(Some(quality), best),
            Resolution::Cancelled => {}
            other => prop_assert_eq!(best, None, "{:?}", other),
        }
    }

    #[test]
    fn d7_parallel_commits_within_the_race_window(mut case in cases(), wait in 0u64..9) {
        case.how = How::Parallel(wait);
        let run = play(&case, Manners::Noisy, wait);
        let (over, _) = run.settled();
        for (at, quality) in suitable(&run) {
            let wait = if quality >= Quality::Line { 0 } else { wait };
            prop_assert!(over <= at + wait);
        }
    }

    #[test]
    fn d8_an_open_lane_is_not_called(mut case in cases(), manners in manners()) {
        case.last_resort = None;
        for entry in &mut case.lanes {
            entry.tripped = Some((1, 1_000));
        }
        let run = play(&case, manners, 0);
        let effects = run.effects();
        let calls = effects.iter().filter(|e| matches!(e.1, Effect::Call { .. }));
        prop_assert_eq!(calls.count(), 0);
    }

    #[test]
    fn d9_the_same_inputs_give_the_same_outputs(
        case in cases(), manners in manners(), noise in 0u64..99,
    ) {
        let (one, two) = (play(&case, manners, noise), play(&case, manners, noise));
        prop_assert_eq!(one.trace, two.trace);
        prop_assert_eq!(one.bank, two.bank);
    }

    #[test]
    fn d9_the_order_within_a_batch_changes_nothing(
        mut case in patient_cases(), mut answers in vec((0u32..5, any::<u32>()), 1..6),
    ) {
        case.how = How::Parallel(3);
        let outcome = |answers: &[(u32, u32)]| {
            let mut bank = case.bank();
            let mut machine = Dispatch::start(case.plan(), tick(T0), &mut bank);
            let batch = answers.iter().map(|(call, n)| {
                let says = any_say(&mut Dice::loaded(vec![*n, *n]));
                (CallId(*call), says.verdict(*call))
            });
            let batch = batch.collect();
            machine.handle(Input::Answers(batch), tick(T0 + 1), &mut bank);
            let effects: Vec<_> = std::iter::from_fn(|| machine.poll_effect()).collect();
            (effects, bank, machine.poll_timeout())
        };
        answers.sort();
        answers.dedup_by_key(|a| a.0);
        let sorted = outcome(&answers);
        answers.reverse();
        prop_assert_eq!(outcome(&answers), sorted.clone());
        answers.rotate_left(1);
        prop_assert_eq!(outcome(&answers), sorted);
    }

    #[test]
    fn d10_the_class_does_not_depend_on_the_order_of_the_answers(
        mut case in patient_cases(), delays in vec(0u64..9, 5),
    ) {
        let mut classes = BTreeSet::new();
        for how in hows() {
            case.how = how;
            classes.insert(class_of(&play(&case, Manners::Prompt, 0).settled().1));
            let mut other = case.clone();
            for (entry, delay) in other.lanes.iter_mut().zip(&delays) {
                entry.answers = Some(*delay);
            }
            classes.insert(class_of(&play(&other, Manners::Prompt, 0).settled().1));
        }
        prop_assert_eq!(classes.len(), 1, "{:?}", classes);
    }

    #[test]
    fn d11_with_one_lane_all_modes_behave_the_same(mut case in cases(), other in 0u64..9) {
        case.lanes.truncate(1);
        case.how = How::Ordered;
        let ordered = play(&case, Manners::Prompt, 0);
        let others = [
            How::Parallel(other),
            How::HedgedUntilAnswered(other),
            How::HedgedUntilAccepted(other),
        ];
        for how in others {
            case.how = how;
            let run = play(&case, Manners::Prompt, 0);
            prop_assert_eq!(&run.trace, &ordered.trace);
            prop_assert_eq!(&run.bank, &ordered.bank);
        }
    }

    #[test]
    fn b8_a_dispatch_that_is_cancelled_moves_no_breaker(mut case in cases(), at in 1u64..9) {
        for entry in &mut case.lanes {
            (entry.answers, entry.connect, entry.then) = (None, 1_000, 1_000);
            (entry.accepts, entry.head) = (entry.accepts.or(Some(1)), None);
        }
        (case.cancel, case.deadline) = (Some(at), None);
        let (run, before) = (play(&case, Manners::Prompt, 0), case.bank());
        for entry in &case.lanes {
            let lane = Lane(entry.lane);
            let later = tick(T0 + at);
            prop_assert_eq!(run.bank.view(lane, later), before.view(lane, later));
        }
    }
}

#[test]
fn d3_d5_whatever_is_fed_to_dispatches_that_share_breakers_no_permit_is_lost() {
    hunt(500_000, shared::check);
}
