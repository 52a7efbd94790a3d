//! One property per invariant, B1 to B11.

use crate::common::Dice;
use crate::play::*;
use proptest::collection::vec;
use proptest::prelude::*;
use segue_core::breaker::*;
use segue_core::time::{Tick, Wall};
use std::time::Duration;

/// A policy and steps, as numbers that shrink to none and to zero.
fn numbers() -> impl Strategy<Value = Vec<u32>> {
    vec(any::<u32>(), 0..160)
}

fn case(numbers: Vec<u32>) -> (Player, Vec<Step>) {
    let mut dice = Dice::loaded(numbers);
    let player = Player::new(dice.pick(&policies()));
    (player, any_steps(&mut dice, 60))
}

/// Where the steps lead.
fn anywhere() -> impl Strategy<Value = Player> {
    numbers().prop_map(|n| {
        let (mut player, steps) = case(n);
        for step in steps {
            player.take(step);
        }
        player
    })
}

impl std::fmt::Debug for Player {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at {:?}: {:?}, out {:?}", self.now, self.bank, self.out)
    }
}

fn open_until(view: View) -> Option<Tick> {
    match view.phase {
        Phase::Open { until } => Some(until),
        Phase::Closed | Phase::HalfOpen => None,
    }
}

proptest! {
    #[test]
    fn b1_at_most_the_probes_of_the_policy_are_out(n in numbers()) {
        let (mut p, steps) = case(n);
        for step in steps {
            p.take(step);
            let (generation, deadline) = (p.view().generation, p.policy.probe_deadline);
            let live = p.out.iter().filter(|(_, f)| {
                f.is_probe && f.generation == generation && p.now < f.since + deadline
            });
            prop_assert!(live.count() <= p.policy.probes as usize);
        }
    }

    #[test]
    fn b1_many_callers_at_the_reopening_make_one_probe(callers in 1usize..200) {
        let mut p = Player::new(policies()[0]);
        for step in [Step::Admit, Step::Settle(0, Say::Throttled), Step::ToReopening(0)] {
            p.take(step);
        }
        for _ in 0..callers {
            p.take(Step::Admit);
        }
        prop_assert_eq!(p.out.len(), 1);
    }

    #[test]
    fn b2_what_was_granted_is_counted_until_it_comes_back(n in numbers()) {
        let (mut p, steps) = case(n);
        for step in steps {
            p.take(step);
            prop_assert_eq!(p.bank.outstanding(), p.out.len());
        }
        while !p.out.is_empty() {
            p.take(Step::Settle(0, Say::Abandoned));
        }
        prop_assert_eq!(p.bank.outstanding(), 0);
    }

    #[test]
    fn b3_stale_signal_is_ignored(n in numbers()) {
        let (mut p, steps) = case(n);
        for step in steps {
            let before = p.view();
            if let Did::Settled(_, facts, _) = p.take(step)
                && facts.generation != before.generation
            {
                prop_assert_eq!(p.view(), before);
            }
        }
    }

    #[test]
    fn b3_neither_a_success_nor_a_failure_from_before_the_trip_counts(
        late in prop::sample::select(vec![Say::Success, Say::Benign, Say::Transient, Say::ThrottledFor(9999)]),
        reopened in any::<bool>(),
    ) {
        let mut p = Player::new(policies()[0]);
        for step in [Step::Admit, Step::Admit, Step::Settle(0, Say::Throttled)] {
            p.take(step);
        }
        if reopened {
            p.take(Step::ToReopening(0));
        }
        let before = p.view();
        p.take(Step::Settle(0, late));
        prop_assert_eq!(p.view(), before);
    }

    #[test]
    fn b4_abandoned_changes_nothing_and_frees_the_slot(mut p in anywhere(), nth in 0usize..4) {
        let before = p.view();
        let Did::Settled(_, facts, _) = p.take(Step::Settle(nth, Say::Abandoned)) else {
            return Ok(());
        };
        prop_assert_eq!(p.view(), before);
        let live = p.now < facts.since + p.policy.probe_deadline;
        if facts.is_probe && facts.generation == before.generation && live {
            prop_assert!(matches!(p.take(Step::LastResort(0)), Did::Granted(_)));
        }
    }

    #[test]
    fn b5_until_never_moves_back_while_open(n in numbers()) {
        let (mut p, steps) = case(n);
        for step in steps {
            let before = open_until(p.view());
            p.take(step);
            if let (Some(before), Some(after)) = (before, open_until(p.view())) {
                prop_assert!(before <= after);
            }
        }
    }

    #[test]
    fn b6_the_window_is_the_formula_and_saturates(
        base in 0u64..=u64::MAX,
        cap in any::<Duration>(),
        trips in prop_oneof![1u32..200, Just(u32::MAX)],
    ) {
        let base = Duration::from_nanos(base);
        let policy = Policy { base, cap, ..Policy::provider() };
        let mut expected = base;
        for _ in 1..trips.min(200) {
            expected = expected.saturating_mul(2);
        }
        prop_assert_eq!(policy.window(trips), expected.min(cap));
    }

    #[test]
    fn b6_each_trip_in_a_row_opens_for_its_window(trips in 1u32..80) {
        let mut p = Player::new(Policy::provider());
        for nth in 1..=trips {
            p.take(Step::Admit);
            p.take(Step::Settle(0, Say::AuthRejected));
            prop_assert_eq!(open_until(p.view()), Some(p.now + p.policy.window(nth)));
            p.take(Step::ToReopening(0));
        }
    }

    #[test]
    fn b7_retry_after_is_honoured_and_clamped(mut p in anywhere(), seconds in 0u64..100_000) {
        let before = p.view();
        let Did::Granted(_) = p.take(Step::Admit) else {
            return Ok(());
        };
        p.take(Step::Settle(p.out.len() - 1, Say::ThrottledFor(seconds)));
        let asked = Duration::from_secs(seconds).min(Duration::from_secs(6 * 3600));
        let window = p.policy.window(before.trips + 1);
        prop_assert_eq!(open_until(p.view()), Some(p.now + asked.max(window)));
    }

    #[test]
    fn b8_a_client_that_goes_away_is_never_counted(n in numbers(), at in 0usize..60) {
        let (mut with, steps) = case(n.clone());
        let (mut without, _) = case(n);
        for (i, step) in steps.into_iter().enumerate() {
            if i == at && let Did::Granted(_) = with.take(Step::Admit) {
                with.take(Step::Settle(with.out.len() - 1, Say::Abandoned));
            }
            with.take(step);
            without.take(step);
            prop_assert_eq!(with.view(), without.view());
        }
    }

    #[test]
    fn b9_nothing_wedges_for_ever(mut p in anywhere()) {
        // Nothing that is out ever comes back; still somebody is let through, again and again.
        for _ in 0..3 {
            let until = match p.bank.admit(LANE, p.now) {
                Admission::Granted(_) => continue,
                Admission::Refused { until } => until,
            };
            let longest = p.policy.cap.max(Duration::from_secs(6 * 3600)).max(p.policy.probe_deadline);
            prop_assert!(until > p.now && until <= p.now + longest);
            p.now = until;
            // What is still out holds the slot until its deadline at the latest.
            let free = until + p.policy.probe_deadline;
            while let Admission::Refused { until } = p.bank.admit(LANE, p.now) {
                prop_assert!(until > p.now && until <= free);
                p.now = until;
            }
        }
    }

    #[test]
    fn b9_the_verdict_of_a_probe_past_its_deadline_is_void(
        say in prop::sample::select(vec![Say::Success, Say::Benign, Say::Transient, Say::RenewalRequired]),
        reissued in any::<bool>(),
    ) {
        let mut p = Player::new(policies()[0]);
        for step in [Step::Admit, Step::Settle(0, Say::Throttled), Step::ToReopening(0), Step::Admit] {
            p.take(step);
        }
        p.take(Step::ToDeadline(-1));
        prop_assert!(matches!(p.take(Step::Admit), Did::Refused(_)));
        p.take(Step::ToDeadline(0));
        if reissued {
            prop_assert!(matches!(p.take(Step::Admit), Did::Granted(_)));
        }
        let before = p.view();
        p.take(Step::Settle(0, say));
        prop_assert_eq!(p.view(), before);
        prop_assert_eq!(matches!(p.take(Step::Admit), Did::Granted(_)), !reissued);
    }

    #[test]
    fn b10_a_restart_never_lets_more_through(p in anywhere(), down in 0u64..20_000) {
        let wall = Wall(1_700_000_000_000);
        let stored = p.bank.snapshot(LANE, p.now, wall).unwrap();
        let mut restarted = Bank::new();
        // A new process counts its ticks from anywhere.
        let (born, down) = (Tick::from_millis(5), Duration::from_millis(down));
        restarted.restore(LANE, p.policy, stored, born, wall + down);
        let (old, new) = (p.view(), restarted.view(LANE, born).unwrap());
        prop_assert_eq!((old.trips, old.transient_run, old.ever_succeeded),
            (new.trips, new.transient_run, new.ever_succeeded));
        // When it first lets somebody through, so does the one that went on.
        let first = open_until(new).unwrap_or(born);
        prop_assert!(matches!(restarted.admit(LANE, first), Admission::Granted(_)));
        let mut before = p.bank.clone();
        let then = p.now + down + first.since(born);
        prop_assert!(matches!(before.admit(LANE, then), Admission::Granted(_)), "{:?}", stored);
    }

    #[test]
    fn b10_a_restart_never_holds_longer(p in anywhere(), step in -100_000_000i64..100_000_000) {
        let wall = Wall(1_700_000_000_000);
        let stored = p.bank.snapshot(LANE, p.now, wall).unwrap();
        let restarted = Breaker::restore(p.policy, stored, Tick::ZERO, Wall(wall.0 + step));
        if let Some(until) = open_until(restarted.view(Tick::ZERO)) {
            let held = until.since(Tick::ZERO);
            prop_assert!(held <= p.policy.cap.max(stored.retry_after));
            // A wall clock that stepped back adds nothing to what was left, rounding aside.
            let deadlines = p.out.iter().map(|(_, f)| f.since + p.policy.probe_deadline);
            let left = deadlines.chain(open_until(p.view())).max().unwrap().since(p.now);
            prop_assert!(held <= left + Duration::from_millis(1));
        }
    }

    #[test]
    fn b10_what_is_stored_is_not_trusted(
        trips in any::<u32>(),
        transient_run in any::<u32>(),
        open_until in proptest::option::of(any::<i64>()),
        retry_after in any::<Duration>(),
        saved_at in any::<i64>(),
        wall in any::<i64>(),
    ) {
        let stored = Persisted {
            trips,
            transient_run,
            ever_succeeded: false,
            open_until: open_until.map(Wall),
            retry_after,
            saved_at: Wall(saved_at),
        };
        let mut b = Breaker::restore(Policy::provider(), stored, Tick::ZERO, Wall(wall));
        let longest = Tick::ZERO + Duration::from_secs(6 * 3600);
        let Admission::Granted(permit) = b.admit(longest) else {
            return Err(TestCaseError::fail("held for longer than anything may be"));
        };
        b.settle(longest, permit, Signal::Transient);
    }

    #[test]
    fn b11_reading_changes_nothing_and_shows_recovery(p in anywhere(), ahead in 0u64..30_000_000) {
        let before = p.bank.clone();
        let then = p.now + Duration::from_millis(ahead);
        let view = p.bank.view(LANE, then).unwrap();
        prop_assert_eq!(p.bank.view(LANE, then), Some(view));
        prop_assert_eq!(&p.bank, &before);
        let open = match open_until(p.view()) {
            Some(until) => then < until,
            None => false,
        };
        prop_assert_eq!(matches!(view.phase, Phase::Open { .. }), open);
        prop_assert_eq!(view.phase == Phase::Closed, p.view().phase == Phase::Closed);
    }
}
