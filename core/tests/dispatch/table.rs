//! The rows of contracts section 2.

use segue_core::breaker::{Admission, Bank, Phase, Policy, Signal, View};
use segue_core::dispatch::*;
use segue_core::time::Tick;
use std::time::Duration;

pub(crate) type Machine = Dispatch<&'static str>;

pub(crate) const RACE: Mode = Mode::Parallel {
    race_wait: Duration::from_secs(2),
};
pub(crate) const HEDGE: Mode = Mode::Hedged {
    after: Duration::from_millis(250),
    until: Milestone::Accepted,
};

pub(crate) fn at(ms: u64) -> Tick {
    Tick::from_millis(ms)
}

pub(crate) fn seconds(s: u64) -> Duration {
    Duration::from_secs(s)
}

pub(crate) fn a_plan(mode: Mode, lanes: u32) -> Plan {
    let lane = |n| LanePlan {
        lane: Lane(n),
        budgets: Budgets {
            connect: seconds(2),
            head: seconds(5),
            first_byte: seconds(5),
        },
        known: None,
    };
    Plan {
        lanes: (0..lanes).map(lane).collect(),
        mode,
        deadline: None,
        last_resort: None,
        accept_within: None,
    }
}

/// Breakers of providers, the first `open` of them open for a minute.
pub(crate) fn a_bank(open: u32) -> Bank {
    let mut bank = Bank::new();
    for lane in 0..4 {
        bank.register(Lane(lane), Policy::provider());
        if lane < open {
            trip(&mut bank, Lane(lane));
        }
    }
    bank
}

pub(crate) fn trip(bank: &mut Bank, lane: Lane) {
    if let Admission::Granted(permit) = bank.admit(lane, at(0)) {
        bank.settle(at(0), permit, Signal::AuthRejected);
    }
}

pub(crate) fn view(bank: &Bank, lane: u32, ms: u64) -> View {
    bank.view(Lane(lane), at(ms)).unwrap()
}

pub(crate) fn drain(m: &mut Machine) -> Vec<Effect<&'static str>> {
    std::iter::from_fn(|| m.poll_effect()).collect()
}

pub(crate) fn called(lanes: &[u32]) -> Vec<Effect<&'static str>> {
    let call = |&n: &u32| Effect::Call {
        call: CallId(n),
        lane: Lane(n),
    };
    lanes.iter().map(call).collect()
}

pub(crate) fn gave_up(call: u32, why: AbortReason) -> Effect<&'static str> {
    let call = CallId(call);
    Effect::Abort { call, why }
}

pub(crate) fn won(lane: u32, value: &'static str, quality: Quality) -> Effect<&'static str> {
    Effect::Settle(Resolution::Won {
        call: CallId(lane),
        lane: Lane(lane),
        value,
        quality,
    })
}

pub(crate) fn good(value: &'static str, quality: Quality) -> Verdict<&'static str> {
    Verdict::Answer {
        value,
        quality,
        suitable: true,
    }
}

pub(crate) fn poor(value: &'static str, quality: Quality) -> Verdict<&'static str> {
    Verdict::Answer {
        value,
        quality,
        suitable: false,
    }
}

/// Feeds one answer and drains.
pub(crate) fn says(
    m: &mut Machine,
    bank: &mut Bank,
    ms: u64,
    call: u32,
    verdict: Verdict<&'static str>,
) -> Vec<Effect<&'static str>> {
    let call = CallId(call);
    m.handle(Input::Answered { call, verdict }, at(ms), bank);
    drain(m)
}

pub(crate) fn wakes(m: &mut Machine, bank: &mut Bank, ms: u64) -> Vec<Effect<&'static str>> {
    m.handle_timeout(at(ms), bank);
    drain(m)
}

/// One lane that says `verdict`: what the dispatch and the breaker make of it.
pub(crate) fn alone(verdict: Verdict<&'static str>) -> (Resolution<&'static str>, View) {
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(Mode::Ordered, 1), at(0), &mut bank);
    drain(&mut m);
    match says(&mut m, &mut bank, 0, 0, verdict).pop() {
        Some(Effect::Settle(resolution)) => (resolution, view(&bank, 0, 0)),
        other => panic!("not settled: {other:?}"),
    }
}

pub(crate) fn uncertain(class: Class, retry_at: Option<Tick>) -> Resolution<&'static str> {
    Resolution::Uncertain {
        class,
        retry_at,
        provisional: None,
    }
}

#[test]
fn a_suitable_answer_wins_and_is_a_success() {
    let (resolution, breaker) = alone(good("text", Quality::Plain));
    assert!(matches!(resolution, Resolution::Won { value: "text", .. }));
    assert!(breaker.ever_succeeded);
}

#[test]
fn an_unsuitable_answer_is_the_best_available_and_a_success() {
    let (resolution, breaker) = alone(poor("marker", Quality::Instrumental));
    let expected = Resolution::BestAvailable {
        call: CallId(0),
        lane: Lane(0),
        value: "marker",
        quality: Quality::Instrumental,
    };
    assert_eq!(resolution, expected);
    assert!(breaker.ever_succeeded);
}

#[test]
fn below_plain_nothing_is_suitable() {
    let (resolution, _) = alone(good("marker", Quality::Instrumental));
    assert!(matches!(resolution, Resolution::BestAvailable { .. }));
}

#[test]
fn a_miss_is_a_miss_and_benign() {
    let (resolution, breaker) = alone(Verdict::Miss);
    assert_eq!(resolution, Resolution::Miss);
    assert!(!breaker.ever_succeeded);
    assert_eq!(breaker.transient_run, 0);
}

#[test]
fn a_transport_failure_is_uncertain_and_transient() {
    let (resolution, breaker) = alone(Verdict::Failed(Failure::Transport));
    assert_eq!(resolution, uncertain(Class::Transport, None));
    assert_eq!(breaker.transient_run, 1);
}

#[test]
fn a_throttle_is_uncertain_until_its_breaker_reopens() {
    let retry_after = Some(seconds(90));
    let (resolution, breaker) = alone(Verdict::Failed(Failure::Throttled { retry_after }));
    let until = at(90_000);
    assert_eq!(resolution, uncertain(Class::ThrottledOrAuth, Some(until)));
    assert_eq!(breaker.phase, Phase::Open { until });
}

#[test]
fn rejected_credentials_trip_and_renewal_opens_for_the_cap() {
    let (resolution, breaker) = alone(Verdict::Failed(Failure::Auth { renewal: false }));
    let until = at(60_000);
    assert_eq!(resolution, uncertain(Class::ThrottledOrAuth, Some(until)));
    assert_eq!(breaker.trips, 1);
    let (resolution, breaker) = alone(Verdict::Failed(Failure::Auth { renewal: true }));
    let until = at(1_800_000);
    assert_eq!(resolution, uncertain(Class::ThrottledOrAuth, Some(until)));
    assert_eq!(breaker.trips, 0);
}

#[test]
fn a_call_that_its_driver_gave_up_is_discarded_and_never_a_miss() {
    let (resolution, breaker) = alone(Verdict::Cancelled);
    assert_eq!(resolution, Resolution::Cancelled);
    assert_eq!(breaker, view(&a_bank(0), 0, 0));
}

#[test]
fn a_discarded_lane_beside_a_miss_is_no_miss() {
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(Mode::Ordered, 2), at(0), &mut bank);
    says(&mut m, &mut bank, 0, 0, Verdict::Cancelled);
    let over = says(&mut m, &mut bank, 0, 1, Verdict::Miss);
    assert_eq!(over, [Effect::Settle(Resolution::Cancelled)]);
}

#[test]
fn an_open_lane_is_passed_over_and_leaves_doubt() {
    let mut bank = a_bank(1);
    let mut m = Machine::start(a_plan(Mode::Ordered, 2), at(0), &mut bank);
    assert_eq!(drain(&mut m), called(&[1]));
    let over = says(&mut m, &mut bank, 0, 1, Verdict::Miss);
    let expected = uncertain(Class::Open, Some(at(60_000)));
    assert_eq!(over, [Effect::Settle(expected)]);
}

#[test]
fn the_least_certain_class_wins_whoever_said_it_first() {
    let verdicts = [
        Verdict::Failed(Failure::Auth { renewal: false }),
        Verdict::Failed(Failure::Transport),
        Verdict::Miss,
    ];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let mut bank = a_bank(0);
        let mut m = Machine::start(a_plan(RACE, 3), at(0), &mut bank);
        drain(&mut m);
        let mut over = Vec::new();
        for call in order {
            over = says(&mut m, &mut bank, 0, call, verdicts[call as usize].clone());
        }
        let expected = uncertain(Class::ThrottledOrAuth, Some(at(60_000)));
        assert_eq!(over, [Effect::Settle(expected)]);
    }
}

#[test]
fn when_all_is_certain_the_best_unsuitable_answer_is_taken() {
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(RACE, 3), at(0), &mut bank);
    drain(&mut m);
    says(
        &mut m,
        &mut bank,
        0,
        2,
        poor("marker", Quality::Instrumental),
    );
    says(&mut m, &mut bank, 0, 1, poor("refused", Quality::None));
    let over = says(&mut m, &mut bank, 0, 0, poor("also", Quality::Instrumental));
    assert!(matches!(
        over[..],
        [Effect::Settle(Resolution::BestAvailable {
            value: "also",
            ..
        })]
    ));
}

#[test]
fn in_doubt_the_best_unsuitable_answer_is_provisional() {
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(Mode::Ordered, 2), at(0), &mut bank);
    says(
        &mut m,
        &mut bank,
        0,
        0,
        poor("marker", Quality::Instrumental),
    );
    let over = says(&mut m, &mut bank, 0, 1, Verdict::Failed(Failure::Transport));
    let expected = Resolution::Uncertain {
        class: Class::Transport,
        retry_at: None,
        provisional: Some((Lane(0), "marker", Quality::Instrumental)),
    };
    assert_eq!(over, [Effect::Settle(expected)]);
}

#[test]
fn when_all_breakers_are_open_nothing_is_called() {
    let mut bank = a_bank(2);
    let mut m = Machine::start(a_plan(RACE, 2), at(0), &mut bank);
    let retry_at = Some(at(60_000));
    let expected = Resolution::Unavailable { retry_at };
    assert_eq!(drain(&mut m), [Effect::Settle(expected)]);
}

#[test]
fn without_lanes_nothing_is_known() {
    let mut m = Machine::start(a_plan(RACE, 0), at(0), &mut a_bank(0));
    let expected = Resolution::Unavailable { retry_at: None };
    assert_eq!(drain(&mut m), [Effect::Settle(expected)]);
}

#[test]
fn cancelling_discards_what_is_held() {
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(RACE, 2), at(0), &mut bank);
    drain(&mut m);
    assert_eq!(
        says(&mut m, &mut bank, 0, 0, good("text", Quality::Plain)),
        []
    );
    m.handle(Input::Cancel, at(1), &mut bank);
    let expected = [
        gave_up(1, AbortReason::Cancelled),
        Effect::Settle(Resolution::Cancelled),
    ];
    assert_eq!(drain(&mut m), expected);
}

#[test]
fn known_lanes_are_not_asked_and_count_as_certain() {
    let mut bank = a_bank(0);
    let mut plan = a_plan(RACE, 2);
    plan.lanes[0].known = Some(Known::Miss);
    let mut m = Machine::start(plan.clone(), at(0), &mut bank);
    assert_eq!(drain(&mut m), called(&[1]));
    let over = says(&mut m, &mut bank, 0, 1, Verdict::Miss);
    assert_eq!(over, [Effect::Settle(Resolution::Miss)]);

    plan.lanes[0].known = Some(Known::Unsuitable);
    let mut m = Machine::start(plan.clone(), at(0), &mut bank);
    drain(&mut m);
    let over = says(&mut m, &mut bank, 0, 1, Verdict::Miss);
    let lane = Lane(0);
    assert_eq!(over, [Effect::Settle(Resolution::BestKnown { lane })]);

    plan.lanes[1].known = Some(Known::Miss);
    let mut m = Machine::start(plan, at(0), &mut bank);
    assert_eq!(
        drain(&mut m),
        [Effect::Settle(Resolution::BestKnown { lane })]
    );
}

#[test]
fn ordered_stops_at_the_first_suitable_answer() {
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(Mode::Ordered, 3), at(0), &mut bank);
    assert_eq!(drain(&mut m), called(&[0]));
    assert_eq!(says(&mut m, &mut bank, 5, 0, Verdict::Miss), called(&[1]));
    let over = says(&mut m, &mut bank, 9, 1, good("text", Quality::Plain));
    assert_eq!(over, [won(1, "text", Quality::Plain)]);
    assert!(m.is_settled());
    let heard: Vec<Heard> = m.heard().map(|(_, h)| h).collect();
    let expected = [Heard::Miss, Heard::Suitable(Quality::Plain), Heard::Waiting];
    assert_eq!(heard, expected);
}

#[test]
fn parallel_takes_synced_text_at_once() {
    for quality in [Quality::Line, Quality::Word] {
        let mut bank = a_bank(0);
        let mut m = Machine::start(a_plan(RACE, 2), at(0), &mut bank);
        assert_eq!(drain(&mut m), called(&[0, 1]));
        let over = says(&mut m, &mut bank, 5, 1, good("text", quality));
        assert_eq!(
            over,
            [gave_up(0, AbortReason::LostRace), won(1, "text", quality)]
        );
    }
}

#[test]
fn parallel_holds_plain_text_for_the_window() {
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(RACE, 3), at(0), &mut bank);
    drain(&mut m);
    m.handle(
        Input::Reached {
            call: CallId(2),
            stage: Stage::Head,
        },
        at(4),
        &mut bank,
    );
    assert_eq!(
        says(&mut m, &mut bank, 5, 1, good("text", Quality::Plain)),
        []
    );
    // A second plain one neither replaces the first nor restarts the window.
    assert_eq!(
        says(&mut m, &mut bank, 900, 0, good("later", Quality::Plain)),
        []
    );
    assert_eq!(m.poll_timeout(), Some((at(2_005), Why::RaceWindow)));
    let over = wakes(&mut m, &mut bank, 2_005);
    let expected = [
        gave_up(2, AbortReason::LostRace),
        won(1, "text", Quality::Plain),
    ];
    assert_eq!(over, expected);
}

#[test]
fn parallel_commits_at_once_when_no_lane_is_left() {
    let mut bank = a_bank(1);
    let mut m = Machine::start(a_plan(RACE, 3), at(0), &mut bank);
    drain(&mut m);
    says(&mut m, &mut bank, 5, 1, good("text", Quality::Plain));
    let over = says(&mut m, &mut bank, 6, 2, Verdict::Miss);
    assert_eq!(over, [won(1, "text", Quality::Plain)]);
}

#[test]
fn an_answer_at_the_end_of_the_window_comes_before_its_timer() {
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(RACE, 2), at(0), &mut bank);
    drain(&mut m);
    says(&mut m, &mut bank, 0, 0, good("plain", Quality::Plain));
    let over = says(&mut m, &mut bank, 2_000, 1, good("synced", Quality::Line));
    assert_eq!(over, [won(1, "synced", Quality::Line)]);
}

#[test]
fn of_answers_ready_together_the_best_wins_then_the_better_rank() {
    let ready = [
        (CallId(2), good("second word", Quality::Word)),
        (CallId(0), good("line", Quality::Line)),
        (CallId(1), good("word", Quality::Word)),
    ];
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(RACE, 3), at(0), &mut bank);
    drain(&mut m);
    m.handle(Input::Answers(ready.to_vec()), at(5), &mut bank);
    assert_eq!(drain(&mut m), [won(1, "word", Quality::Word)]);
    // Each of them is a success for its breaker.
    assert!((0..3).all(|lane| view(&bank, lane, 5).ever_succeeded));
}

#[test]
fn hedged_goes_on_when_a_lane_does_not_accept() {
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(HEDGE, 2), at(0), &mut bank);
    assert_eq!(drain(&mut m), called(&[0]));
    assert_eq!(m.poll_timeout(), Some((at(250), Why::Hedge)));
    assert_eq!(wakes(&mut m, &mut bank, 250), called(&[1]));
    assert_eq!(
        m.poll_timeout(),
        Some((at(2_000), Why::Budget(Stage::Connect)))
    );
    let over = says(&mut m, &mut bank, 300, 0, good("bytes", Quality::Word));
    let expected = [
        gave_up(1, AbortReason::LostRace),
        won(0, "bytes", Quality::Word),
    ];
    assert_eq!(over, expected);
}

#[test]
fn hedged_waits_for_a_lane_that_has_accepted() {
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(HEDGE, 2), at(0), &mut bank);
    drain(&mut m);
    let (call, stage) = (CallId(0), Stage::Head);
    m.handle(Input::Reached { call, stage }, at(250), &mut bank);
    assert_eq!(wakes(&mut m, &mut bank, 250), []);
    assert_eq!(
        m.poll_timeout(),
        Some((at(5_250), Why::Budget(Stage::Head)))
    );
    // Until it ends.
    let next = says(
        &mut m,
        &mut bank,
        400,
        0,
        Verdict::Failed(Failure::Transport),
    );
    assert_eq!(next, called(&[1]));
}

#[test]
fn hedged_until_answered_does_not_care_about_the_connection() {
    let mut bank = a_bank(0);
    let mode = Mode::Hedged {
        after: Duration::from_millis(250),
        until: Milestone::Answered,
    };
    let mut m = Machine::start(a_plan(mode, 2), at(0), &mut bank);
    drain(&mut m);
    let (call, stage) = (CallId(0), Stage::Head);
    m.handle(Input::Reached { call, stage }, at(1), &mut bank);
    assert_eq!(wakes(&mut m, &mut bank, 250), called(&[1]));
}

#[test]
fn each_stage_has_a_fresh_budget_and_the_last_one_is_a_transport_failure() {
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(Mode::Ordered, 1), at(0), &mut bank);
    drain(&mut m);
    assert_eq!(
        m.poll_timeout(),
        Some((at(2_000), Why::Budget(Stage::Connect)))
    );
    let call = CallId(0);
    for (ms, stage) in [(1_999, Stage::Head), (6_000, Stage::FirstByte)] {
        m.handle(Input::Reached { call, stage }, at(ms), &mut bank);
        let until = at(ms) + seconds(5);
        assert_eq!(m.poll_timeout(), Some((until, Why::Budget(stage))));
    }
    // A stage does not begin twice.
    let stage = Stage::Head;
    m.handle(Input::Reached { call, stage }, at(9_000), &mut bank);
    assert_eq!(wakes(&mut m, &mut bank, 10_999), []);
    let expected = [
        gave_up(0, AbortReason::BudgetExceeded(Stage::FirstByte)),
        Effect::Settle(uncertain(Class::Transport, None)),
    ];
    assert_eq!(wakes(&mut m, &mut bank, 11_000), expected);
    assert_eq!(view(&bank, 0, 11_000).transient_run, 1);
}

#[test]
fn an_answer_comes_before_the_budget_that_ends_with_it() {
    let mut bank = a_bank(0);
    let mut m = Machine::start(a_plan(Mode::Ordered, 1), at(0), &mut bank);
    drain(&mut m);
    let over = says(&mut m, &mut bank, 2_000, 0, good("text", Quality::Plain));
    assert_eq!(over, [won(0, "text", Quality::Plain)]);
}

#[test]
fn at_the_deadline_what_is_held_is_committed() {
    let mut bank = a_bank(0);
    let mut plan = a_plan(RACE, 2);
    plan.deadline = Some(seconds(1));
    let mut m = Machine::start(plan, at(0), &mut bank);
    drain(&mut m);
    says(&mut m, &mut bank, 500, 1, good("text", Quality::Plain));
    assert_eq!(m.poll_timeout(), Some((at(1_000), Why::Deadline)));
    let expected = [
        gave_up(0, AbortReason::Deadline),
        won(1, "text", Quality::Plain),
    ];
    assert_eq!(wakes(&mut m, &mut bank, 1_000), expected);
}

#[test]
fn at_the_deadline_lanes_without_an_answer_leave_doubt_and_are_not_blamed() {
    let mut bank = a_bank(0);
    let mut plan = a_plan(Mode::Ordered, 3);
    plan.deadline = Some(seconds(1));
    let mut m = Machine::start(plan, at(0), &mut bank);
    says(&mut m, &mut bank, 999, 0, Verdict::Miss);
    let expected = [
        gave_up(1, AbortReason::Deadline),
        Effect::Settle(uncertain(Class::Transport, None)),
    ];
    assert_eq!(wakes(&mut m, &mut bank, 1_000), expected);
    assert_eq!(view(&bank, 1, 1_000), view(&a_bank(0), 1, 1_000));
}

#[test]
fn nothing_starts_at_the_deadline() {
    let mut bank = a_bank(0);
    let mut plan = a_plan(Mode::Ordered, 2);
    plan.deadline = Some(seconds(1));
    let mut m = Machine::start(plan, at(0), &mut bank);
    drain(&mut m);
    let over = says(&mut m, &mut bank, 1_000, 0, Verdict::Miss);
    assert_eq!(over, [Effect::Settle(uncertain(Class::Transport, None))]);
}

#[test]
fn d11_a_plain_answer_of_the_last_lane_at_the_deadline_wins_at_once_in_every_mode() {
    for mode in [Mode::Ordered, HEDGE, RACE] {
        let mut bank = a_bank(0);
        let mut plan = a_plan(mode, 1);
        plan.deadline = Some(seconds(1));
        let mut m = Machine::start(plan, at(0), &mut bank);
        drain(&mut m);
        let over = says(&mut m, &mut bank, 1_000, 0, good("text", Quality::Plain));
        assert_eq!(over, [won(0, "text", Quality::Plain)], "{mode:?}");
    }
}

#[test]
fn a_lane_that_was_removed_meanwhile_leaves_doubt_without_a_time() {
    let mut bank = a_bank(0);
    bank.remove(Lane(0));
    let mut m = Machine::start(a_plan(Mode::Ordered, 1), at(0), &mut bank);
    let expected = Resolution::Unavailable { retry_at: None };
    assert_eq!(drain(&mut m), [Effect::Settle(expected)]);
}

#[test]
fn endless_budgets_ask_for_no_timer() {
    let mut plan = a_plan(Mode::Ordered, 1);
    plan.lanes[0].budgets = Budgets::whole(Duration::MAX);
    let m = Machine::start(plan, at(0), &mut a_bank(0));
    assert_eq!(m.poll_timeout(), None);
}
