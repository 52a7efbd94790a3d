//! The rows of contracts section 1.

use segue_core::breaker::*;
use segue_core::time::{Tick, Wall};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
const T0: Tick = Tick::from_millis(1_000);

fn granted(admission: Admission) -> Permit {
    match admission {
        Admission::Granted(permit) => permit,
        Admission::Refused { until } => panic!("refused until {until:?}"),
    }
}

fn tell(b: &mut Breaker, now: Tick, signal: Signal) {
    let permit = granted(b.admit(now));
    b.settle(now, permit, signal);
}

/// Open after one trip, `now` at the moment it reopens.
fn half_open(policy: Policy) -> (Breaker, Tick) {
    let mut b = Breaker::new(policy);
    tell(&mut b, T0, Signal::AuthRejected);
    (b, T0 + policy.base)
}

fn closed_after_trips(ever_succeeded: bool, generation: u32) -> View {
    View {
        phase: Phase::Closed,
        trips: 0,
        transient_run: 0,
        ever_succeeded,
        generation,
    }
}

#[test]
fn closed_success_is_remembered_and_ends_the_run() {
    let mut b = Breaker::new(Policy::provider());
    tell(&mut b, T0, Signal::Transient);
    tell(&mut b, T0, Signal::Success);
    assert_eq!(b.view(T0), closed_after_trips(true, 0));
}

#[test]
fn closed_benign_ends_the_run_and_is_no_success() {
    let mut b = Breaker::new(Policy::provider());
    tell(&mut b, T0, Signal::Transient);
    tell(&mut b, T0, Signal::Benign);
    assert_eq!(b.view(T0), closed_after_trips(false, 0));
}

#[test]
fn closed_throttled_and_rejected_trip_at_once() {
    for signal in [
        Signal::Throttled { retry_after: None },
        Signal::AuthRejected,
    ] {
        let mut b = Breaker::new(Policy::provider());
        tell(&mut b, T0, signal);
        let until = T0 + MINUTE;
        assert_eq!(b.view(T0).phase, Phase::Open { until });
        assert_eq!(b.view(T0).trips, 1);
        assert_eq!(b.admit(T0), Admission::Refused { until });
    }
}

#[test]
fn closed_renewal_opens_for_the_cap_and_is_no_trip() {
    let mut b = Breaker::new(Policy::provider());
    tell(&mut b, T0, Signal::RenewalRequired);
    let until = T0 + Duration::from_secs(1800);
    assert_eq!(b.view(T0).phase, Phase::Open { until });
    assert_eq!(b.view(T0).trips, 0);
}

#[test]
fn closed_transients_trip_at_the_threshold() {
    let mut b = Breaker::new(Policy::provider());
    for run in 1..5 {
        tell(&mut b, T0, Signal::Transient);
        assert_eq!(b.view(T0).transient_run, run);
        assert_eq!(b.view(T0).phase, Phase::Closed);
    }
    tell(&mut b, T0, Signal::Transient);
    assert_eq!(b.view(T0).phase, Phase::Open { until: T0 + MINUTE });
}

#[test]
fn closed_abandoned_is_nothing() {
    let mut b = Breaker::new(Policy::provider());
    tell(&mut b, T0, Signal::Transient);
    let before = b.view(T0);
    tell(&mut b, T0, Signal::Abandoned);
    assert_eq!(b.view(T0), before);
}

#[test]
fn half_open_success_and_benign_close() {
    for (signal, ever_succeeded) in [(Signal::Success, true), (Signal::Benign, false)] {
        let (mut b, now) = half_open(Policy::provider());
        tell(&mut b, now, signal);
        assert_eq!(b.view(now), closed_after_trips(ever_succeeded, 2));
    }
}

#[test]
fn half_open_failures_trip_again_for_twice_as_long() {
    for signal in [
        Signal::Throttled { retry_after: None },
        Signal::AuthRejected,
        Signal::Transient,
    ] {
        let (mut b, now) = half_open(Policy::provider());
        tell(&mut b, now, signal);
        let until = now + 2 * MINUTE;
        assert_eq!(b.view(now).phase, Phase::Open { until });
        assert_eq!(b.view(now).trips, 2);
    }
}

#[test]
fn half_open_renewal_opens_for_the_cap_and_is_no_trip() {
    let (mut b, now) = half_open(Policy::provider());
    tell(&mut b, now, Signal::RenewalRequired);
    let until = now + Duration::from_secs(1800);
    assert_eq!(b.view(now).phase, Phase::Open { until });
    assert_eq!(b.view(now).trips, 1);
}

#[test]
fn half_open_abandoned_frees_the_slot_and_nothing_else() {
    let (mut b, now) = half_open(Policy::provider());
    let before = b.view(now);
    for _ in 0..3 {
        tell(&mut b, now, Signal::Abandoned);
        assert_eq!(b.view(now), before);
    }
}

#[test]
fn the_moment_the_window_ends_the_next_admit_is_a_probe() {
    let (mut b, now) = half_open(Policy::instance(MINUTE));
    let just_before = Tick::from_nanos(now.as_nanos() - 1);
    assert_eq!(b.admit(just_before), Admission::Refused { until: now });
    assert!(granted(b.admit(now)).is_probe());
}

#[test]
fn an_instance_is_out_after_one_failure_and_never_longer_than_its_base() {
    let mut b = Breaker::new(Policy::instance(MINUTE));
    let mut now = T0;
    for _ in 0..9 {
        tell(&mut b, now, Signal::Transient);
        now += MINUTE;
        assert_eq!(b.view(now).phase, Phase::HalfOpen);
    }
}

#[test]
fn a_provider_is_out_for_one_two_four_minutes_up_to_half_an_hour() {
    let policy = Policy::provider();
    let minutes: Vec<u64> = (1..=8).map(|n| policy.window(n).as_secs() / 60).collect();
    assert_eq!(minutes, [1, 2, 4, 8, 16, 30, 30, 30]);
}

#[test]
fn last_resort_is_one_call_and_not_too_soon() {
    let (mut b, reopens) = half_open(Policy::instance(MINUTE));
    let age = Duration::from_secs(5);
    let early = T0 + Duration::from_secs(4);
    let refused = b.admit_last_resort(early, age);
    assert_eq!(refused, Admission::Refused { until: T0 + age });
    let late = T0 + age;
    let permit = granted(b.admit_last_resort(late, age));
    // The second waits for the deadline of the first.
    let until = late + Duration::from_secs(30);
    let refused = b.admit_last_resort(late, age);
    assert_eq!(refused, Admission::Refused { until });
    // Regular calls are refused as before.
    assert_eq!(b.admit(late), Admission::Refused { until: reopens });
    b.settle(late, permit, Signal::Abandoned);
    let permit = granted(b.admit_last_resort(late, age));
    b.settle(late, permit, Signal::Success);
    assert_eq!(b.view(late).phase, Phase::Closed);
}

#[test]
fn last_resort_that_fails_trips_again_and_waits_again() {
    let (mut b, _) = half_open(Policy::instance(MINUTE));
    let age = Duration::from_secs(5);
    let now = T0 + age;
    let permit = granted(b.admit_last_resort(now, age));
    b.settle(now, permit, Signal::Transient);
    let until = now + MINUTE;
    assert_eq!(b.view(now).phase, Phase::Open { until });
    let refused = b.admit_last_resort(now, age);
    assert_eq!(refused, Admission::Refused { until: now + age });
}

#[test]
fn a_lane_that_was_only_silent_is_a_last_resort_at_once() {
    let age = Duration::from_secs(5);
    let mut b = Breaker::new(Policy::instance(MINUTE));
    let permit = granted(b.admit(T0));
    b.settle_silent(T0, permit);
    let until = T0 + MINUTE;
    assert_eq!(b.view(T0).phase, Phase::Open { until });
    let permit = granted(b.admit_last_resort(T0, age));
    // Then it fails, and that counts.
    b.settle(T0, permit, Signal::Transient);
    let refused = b.admit_last_resort(T0, age);
    assert_eq!(refused, Admission::Refused { until: T0 + age });
    // Being silent once more makes no failure undone.
    let permit = granted(b.admit_last_resort(T0 + age, age));
    b.settle_silent(T0 + age, permit);
    let refused = b.admit_last_resort(T0, age);
    assert_eq!(refused, Admission::Refused { until: T0 + age });
}

#[test]
fn last_resort_still_out_when_the_window_ends_is_the_probe() {
    let (mut b, reopens) = half_open(Policy::instance(MINUTE));
    let late = Tick::from_nanos(reopens.as_nanos() - 1);
    let permit = granted(b.admit_last_resort(late, Duration::ZERO));
    let until = late + Duration::from_secs(30);
    assert_eq!(b.admit(reopens), Admission::Refused { until });
    b.settle(reopens, permit, Signal::Success);
    assert_eq!(b.view(reopens).phase, Phase::Closed);
}

#[test]
fn who_wants_a_provider_whose_probe_is_out_asks_again_in_two_seconds_and_not_after_its_deadline() {
    let (mut b, now) = half_open(Policy::provider());
    let probe = granted(b.admit(now));
    let soon = now + Duration::from_secs(2);
    assert_eq!(b.admit(now), Admission::Refused { until: soon });
    let late = now + Duration::from_secs(59);
    let free = now + MINUTE;
    assert_eq!(b.admit(late), Admission::Refused { until: free });
    b.settle(late, probe, Signal::Success);
    assert!(!granted(b.admit(late)).is_probe());
}

#[test]
fn a_lane_that_is_not_registered_is_refused_and_shows_nothing() {
    let mut bank = Bank::new();
    assert!(matches!(bank.admit(Lane(1), T0), Admission::Refused { .. }));
    assert_eq!(bank.view(Lane(1), T0), None);
    assert_eq!(bank.snapshot(Lane(1), T0, Wall(0)), None);
    assert_eq!(bank.outstanding(), 0);
}

#[test]
fn a_permit_of_a_lane_that_was_replaced_is_counted_but_void() {
    let mut bank = Bank::new();
    bank.register(Lane(1), Policy::instance(MINUTE));
    let old = granted(bank.admit(Lane(1), T0));
    bank.remove(Lane(1));
    bank.register(Lane(1), Policy::instance(MINUTE));
    assert_eq!(bank.outstanding(), 1);
    bank.settle(T0, old, Signal::Transient);
    assert_eq!(bank.outstanding(), 0);
    assert_eq!(bank.view(Lane(1), T0).unwrap().phase, Phase::Closed);
}

#[test]
fn a_new_policy_keeps_what_was_learnt() {
    let mut bank = Bank::new();
    bank.register(Lane(1), Policy::instance(MINUTE));
    let permit = granted(bank.admit(Lane(1), T0));
    bank.settle(T0, permit, Signal::Transient);
    let before = bank.view(Lane(1), T0);
    bank.register(Lane(1), Policy::instance(2 * MINUTE));
    assert_eq!(bank.view(Lane(1), T0), before);
}

#[test]
fn a_policy_of_zeros_does_not_wedge() {
    let zero = Policy {
        base: Duration::ZERO,
        cap: Duration::ZERO,
        transient_threshold: 0,
        probes: 0,
        probe_deadline: Duration::ZERO,
        probe_recheck: Duration::ZERO,
    };
    let mut b = Breaker::new(zero);
    tell(&mut b, T0, Signal::Transient);
    let probe = granted(b.admit(T0));
    match b.admit(T0) {
        Admission::Refused { until } => assert!(until > T0, "who waits until now never waits"),
        Admission::Granted(_) => panic!("B1: two probes are out"),
    }
    b.settle(T0, probe, Signal::Success);
    assert_eq!(b.view(T0).phase, Phase::Closed);
}

#[test]
fn lanes_do_not_share_a_breaker() {
    let mut bank = Bank::new();
    bank.register(Lane(1), Policy::instance(MINUTE));
    bank.register(Lane(2), Policy::instance(MINUTE));
    let permit = granted(bank.admit(Lane(1), T0));
    bank.settle(T0, permit, Signal::Transient);
    assert_eq!(bank.view(Lane(2), T0).unwrap().phase, Phase::Closed);
    assert_eq!(bank.lanes().collect::<Vec<_>>(), [Lane(1), Lane(2)]);
}

#[test]
#[should_panic(expected = "B2")]
fn a_permit_that_was_never_given_cannot_come_back() {
    let mut other = Bank::new();
    other.register(Lane(1), Policy::provider());
    let permit = granted(other.admit(Lane(1), T0));
    Bank::new().settle(T0, permit, Signal::Success);
}
