//! F4, D8, B1 and the budgets: whom the hub calls, when, and for how long.

use crate::outcome::{Call, Outcome, PROMPT};
use crate::scenario::{Midstream, Scenario};
use crate::shelf::NAMES;
use segue_core::Tick;
use segue_core::breaker::Phase;
use segue_core::failover::{LAST_RESORT_AFTER, Limits};
use std::time::Duration;

/// What a driver may be late by: madsim's timers count in milliseconds.
const LATE: Duration = Duration::from_millis(5);

pub(super) fn check(scenario: &Scenario, outcome: &Outcome, broken: &mut Vec<String>) {
    for (at, call) in outcome.calls.iter().enumerate() {
        // Breakers of sources are in memory only.
        let earlier: Vec<&Call> = (outcome.calls[..at].iter())
            .filter(|before| before.life == call.life)
            .collect();
        let earlier = earlier.as_slice();
        match call.breakers[call.source].phase {
            Phase::Closed => {}
            Phase::HalfOpen => one_at_a_time(call, earlier, broken),
            Phase::Open { until } => {
                one_at_a_time(call, earlier, broken);
                last_resort(scenario, call, until, earlier, outcome, broken);
            }
        }
        in_time(call, outcome, broken);
        unjustly_suspect(call, outcome, broken);
    }
    arrivals(outcome, broken);
}

fn name(call: &Call) -> String {
    format!(
        "call {} of {} at {:?}",
        call.salt, NAMES[call.source], call.began
    )
}

/// B1: a second probe of one generation only when the first was given up.
fn one_at_a_time(call: &Call, earlier: &[&Call], broken: &mut Vec<String>) {
    let view = call.breakers[call.source];
    let same = earlier.iter().filter(|other| {
        let then = other.breakers[call.source];
        other.source == call.source
            && then.phase != Phase::Closed
            && then.generation == view.generation
    });
    for other in same {
        if other.closed.is_none_or(|closed| closed > call.began) {
            broken.push(format!("B1: {} beside {}", name(call), name(other)));
        }
    }
}

/// F4, D8, rule 2: an open breaker is only overruled when nobody else is left, and not too soon.
fn last_resort(
    scenario: &Scenario,
    call: &Call,
    until: Tick,
    earlier: &[&Call],
    outcome: &Outcome,
    broken: &mut Vec<String>,
) {
    let limits = Limits::default();
    // No source asks for a longer wait than the window, so that is how long ago its last failure was.
    let too_soon = call.began + limits.suspect < until + LAST_RESORT_AFTER;
    if too_soon && !was_only_silent(call, until, earlier) {
        broken.push(format!("F4: {} too soon after a failure", name(call)));
    }
    if call.ranged && scenario.midstream == Midstream::Resume {
        // A stream that broke goes on from a copy or not at all, and not all copies are asked.
        return;
    }
    let holders = call.track.map_or(&[][..], |track| &outcome.ranked[track]);
    for other in holders.iter().filter(|other| **other != call.source) {
        let is_open = matches!(call.breakers[*other].phase, Phase::Open { .. });
        // It may be well again, or have said that it has not got the track; it was asked in any case.
        let was_asked = earlier.iter().any(|before| {
            before.source == *other
                && before.track == call.track
                && before.began + limits.open_budget + LATE >= call.began
        });
        // One that is due, and being tried by others, is not there for this request.
        let is_tried = earlier.iter().any(|before| {
            before.source == *other
                && before.breakers[*other].phase != Phase::Closed
                && before.closed.is_none_or(|closed| closed > call.began)
        });
        if !is_open && !was_asked && !is_tried {
            broken.push(format!(
                "F4: {} although {} was not suspect",
                name(call),
                NAMES[*other]
            ));
        }
    }
}

/// Whether a breaker is open until then since a call was not accepted by the time that another one won.
fn was_only_silent(call: &Call, until: Tick, earlier: &[&Call]) -> bool {
    let limits = Limits::default();
    let lost = |before: &&Call| {
        before.source == call.source
            && before.accepted.is_none()
            && before.closed.is_some_and(|closed| {
                closed + limits.suspect == until && closed < before.began + limits.connect
            })
    };
    earlier.iter().any(lost)
}

/// B8: what listeners do is never held against a source, nor what other sources do.
fn unjustly_suspect(call: &Call, outcome: &Outcome, broken: &mut Vec<String>) {
    for (source, view) in call.breakers.iter().enumerate() {
        if view.phase != Phase::Closed
            && outcome.was_never_in_trouble(source, call.began)
            && outcome.slowest(call.began) <= PROMPT
            // One that stood still cannot tell whether the source was late, or it itself.
            && outcome.stood_still(Tick::ZERO, call.began).is_zero()
        {
            let name = NAMES[source];
            broken.push(format!(
                "B8: {name} is suspect at {:?}, and was always well",
                call.began
            ));
        }
    }
}

/// Rule 3: each stage has its budget, and a call that has used it up is gone.
fn in_time(call: &Call, outcome: &Outcome, broken: &mut Vec<String>) {
    let limits = Limits::default();
    let stages = [
        ("accept", call.began, call.accepted, limits.connect),
        (
            "answer",
            call.accepted.unwrap_or(call.began),
            call.answered.map(|(at, _)| at),
            limits.head,
        ),
    ];
    for (stage, from, to, budget) in stages {
        let given_up = from + budget + LATE;
        let given_up = given_up + outcome.stood_still(from, given_up);
        let over = match (to, call.closed) {
            (Some(to), _) => to,
            (None, Some(closed)) => closed,
            (None, None) => Tick::from_nanos(u64::MAX),
        };
        if over > given_up {
            broken.push(format!("rule 3: {} waits too long to {stage}", name(call)));
        }
        if to.is_none() {
            return;
        }
    }
}

/// F4 from the other side: what a source is asked for, it is asked by a call that was allowed.
fn arrivals(outcome: &Outcome, broken: &mut Vec<String>) {
    for (source, salts) in outcome.arrivals.iter().enumerate() {
        for salt in salts {
            let calls = outcome.calls.iter();
            let known = calls.filter(|call| call.source == source && call.salt == *salt);
            if known.count() != 1 {
                broken.push(format!(
                    "F4: {} was asked behind our back: {salt}",
                    NAMES[source]
                ));
            }
        }
    }
}
