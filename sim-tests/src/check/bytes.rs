//! F1, F2 and rule 8: whose bytes a listener gets.

use crate::outcome::{Ending, Heard, Outcome};
use crate::scenario::{Part, Scenario};
use crate::shelf;
use segue_core::Tick;
use std::collections::BTreeMap;

pub(super) fn check(_: &Scenario, outcome: &Outcome, broken: &mut Vec<String>) {
    for heard in &outcome.heard {
        one_source(heard, broken);
        status(heard, outcome, broken);
    }
    same_encode(outcome, broken);
}

/// The bytes of exactly one source, from where the head says; all of them if the answer ends as it should.
fn one_source(heard: &Heard, broken: &mut Vec<String>) {
    let name = &heard.name;
    if heard.leak {
        broken.push(format!("F1: {name} hears what an upstream said"));
    }
    let Some((_, head)) = heard
        .head
        .filter(|(_, head)| matches!(head.status, 200 | 206))
    else {
        return;
    };
    if heard.owners.is_empty() {
        broken.push(format!(
            "F1, F2: the {} bytes that {name} got are no one source's: {head:?}",
            heard.length
        ));
    }
    match (heard.ending, head.announced) {
        (Ending::Clean, Some(length)) if length != heard.length => broken.push(format!(
            "F2: {name} got {} of {length} bytes and a clean end",
            heard.length
        )),
        (Ending::Clean, None) => broken.push(format!("F2: {name} was not told the length")),
        (Ending::Clean | Ending::Broken(_) | Ending::Left | Ending::Hung, _) => {}
    }
}

/// What the hub may say at all.
fn status(heard: &Heard, outcome: &Outcome, broken: &mut Vec<String>) {
    let name = &heard.name;
    match (heard.head.map(|(_, head)| head), heard.ending) {
        (_, Ending::Hung) => broken.push(format!("F5: {name} never came to an end")),
        (None, Ending::Left) => {}
        (None, Ending::Broken(_)) if outcome.was_away(heard.asked, heard.over) => {}
        // A request in which something panics takes its own connection with it.
        (None, ending) => broken.push(format!("the hub gave {name} no answer: {ending:?}")),
        (Some(head), _) => match head.status {
            200 | 502 => {}
            206 if heard.play.part != Part::Whole => {}
            416 if has_no_such_part(heard, outcome) => {}
            status => broken.push(format!("{name} was answered {status}")),
        },
    }
}

fn has_no_such_part(heard: &Heard, outcome: &Outcome) -> bool {
    let holders = outcome.ranked[heard.play.track].iter();
    let mut sizes = holders.filter_map(|source| shelf::size(*source, heard.play.track));
    sizes.any(|size| heard.play.part.is_beyond(size))
}

fn is_same_encode(before: &[usize], now: &Heard) -> bool {
    let size = |source: &usize| shelf::size(*source, now.play.track);
    before
        .iter()
        .any(|before| now.owners.iter().any(|owner| size(owner) == size(before)))
}

/// Rule 8: who seeks gets the encode that he has been hearing, as far as a catalog can tell, or the whole of another.
fn same_encode(outcome: &Outcome, broken: &mut Vec<String>) {
    let mut last: BTreeMap<(usize, usize), (&[usize], Tick)> = BTreeMap::new();
    for heard in &outcome.heard {
        let Some((_, head)) = heard
            .head
            .filter(|(_, head)| matches!(head.status, 200 | 206))
        else {
            continue;
        };
        let key = (heard.listener, heard.play.track);
        let seeks = head.part.is_some_and(|(first, _)| first > 0);
        // A hub that starts again does not know who heard what.
        if let Some((before, then)) = last.insert(key, (&heard.owners, heard.asked))
            && !outcome.was_away(then, heard.over)
            && seeks
            && !before.is_empty()
            && !is_same_encode(before, heard)
        {
            broken.push(format!(
                "F2: {} seeks in the bytes of {before:?} and gets those of {:?}",
                heard.name, heard.owners
            ));
        }
    }
}
