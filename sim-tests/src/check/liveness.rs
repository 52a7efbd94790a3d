//! F3 and F7: music as long as somebody has it, and no long wait when nobody has.

use crate::outcome::{Act, Ending, Heard, Outcome, QUICK};
use crate::scenario::{Mode, Scenario};
use segue_core::Tick;
use segue_core::failover::Limits;
use segue_sqlite::OperationStatus;
use std::time::Duration;

/// What the hub needs beside the opening itself: the store's waits, and its listener's latency.
const OVERHEAD: Duration = Duration::from_millis(500);

pub(super) fn check(scenario: &Scenario, outcome: &Outcome, broken: &mut Vec<String>) {
    for heard in &outcome.heard {
        match heard.act {
            Act::Trouble => while_in_trouble(heard, outcome, broken),
            Act::Convalescence => all_of_it(heard, broken),
            Act::Health | Act::Encore => {
                all_of_it(heard, broken);
                // In parallel the fastest wins.
                if scenario.mode != Mode::Parallel {
                    from_the_best(heard, outcome, broken);
                }
            }
        }
    }
    for row in &outcome.activity {
        let took = row
            .ended_at
            .map_or(0, |ended| ended.millis_since(row.started_at));
        let budget = i64::try_from(Limits::default().open_budget.as_millis()).unwrap_or(i64::MAX);
        let heard = outcome.heard.iter().find(|heard| heard.name == row.client);
        let (from, to) = heard.map_or((outcome.healed, outcome.healed), |h| (h.asked, h.over));
        let still = i64::try_from(outcome.stood_still(from, to).as_millis()).unwrap_or(0);
        if row.status == OperationStatus::Failed
            && took > budget + 10 + still
            && !outcome.wall_was_set(from, to)
        {
            broken.push(format!(
                "F7: {} was refused only after {took} ms",
                row.client
            ));
        }
    }
    if outcome.ranked != outcome.ranked_at_end {
        broken.push("M: the library has changed, though no source's has".to_owned());
    }
}

fn while_in_trouble(heard: &Heard, outcome: &Outcome, broken: &mut Vec<String>) {
    let Some((at, head)) = heard.head else {
        return;
    };
    let slowest = outcome.slowest(at);
    let took = at.since(heard.asked);
    let slack = OVERHEAD + Duration::from_millis(8 * slowest);
    let slack = slack + outcome.stood_still(heard.asked, at);
    if took > Limits::default().open_budget + slack {
        broken.push(format!(
            "F7: {} was answered only after {took:?}",
            heard.name
        ));
    }
    let holders = &outcome.ranked[heard.play.track];
    let well = holders
        .iter()
        .find(|source| outcome.was_never_in_trouble(**source, at));
    if let Some(source) = well
        && head.status == 502
        && slowest <= QUICK
        && !outcome.jittered(at)
        && outcome.stood_still(Tick::ZERO, at).is_zero()
    {
        broken.push(format!(
            "F3: {} heard 502 though source {source} has been well all the time",
            heard.name
        ));
    }
}

/// F3 in a world that is well.
fn all_of_it(heard: &Heard, broken: &mut Vec<String>) {
    let status = heard.head.map(|(_, head)| head.status);
    if status != Some(200) || heard.ending != Ending::Clean {
        broken.push(format!(
            "F3: all is well, and {} got {status:?}, {:?}",
            heard.name, heard.ending
        ));
    }
}

/// B9, B11: nothing is held against a source for ever.
fn from_the_best(heard: &Heard, outcome: &Outcome, broken: &mut Vec<String>) {
    let row = outcome.activity.iter().find(|row| row.client == heard.name);
    let best = outcome.ranked[heard.play.track].first();
    let best = best.map(|source| crate::shelf::NAMES[*source]);
    let source = row.and_then(|row| row.source_id.as_deref());
    if source != best {
        broken.push(format!(
            "B9: all is well, and {} comes from {source:?} instead of {best:?}",
            heard.name
        ));
    }
}
