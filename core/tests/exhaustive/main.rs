//! Small worlds, whole: every order of everything that can happen, over the machines themselves.
//!
//! What random steps may never come to is in here, and so is everything shorter. Each test prints how much
//! there was to walk through, and fails when there was too little.

#[allow(dead_code, reason = "random cases are for others")]
#[path = "../common/mod.rs"]
mod common;

mod alone;
mod bodies;
mod breaker;
mod dispatch;
mod explore;
mod openings;
mod relay;
#[path = "../toy/mod.rs"]
mod toy;

use dispatch::OneDispatch;
use dispatch::case::How;
use explore::{Size, World, explore};
use std::fmt::Debug;
use std::io::Write as _;

/// Prints past the test harness, which would keep it to itself.
fn say(line: &str) {
    let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
}

#[test]
fn b1_to_b11_hold_in_every_state_of_one_breaker_with_three_callers() {
    let whole = walk("breaker", &breaker::policies().map(breaker::OneBreaker));
    assert!(whole.states >= 2_000, "{whole}");
}

/// Walks through several worlds, and tells what there was.
fn walk<W: World + Debug>(name: &str, worlds: &[W]) -> Size {
    let mut whole = Size::default();
    for world in worlds {
        whole += explore(world).unwrap_or_else(|why| panic!("{name}, {world:?}: {why}"));
    }
    say(&format!("{name}: {whole}"));
    whole
}

fn walk_modes(name: &str, worlds: impl Fn(How) -> Vec<OneDispatch>) -> Size {
    let mut whole = Size::default();
    for how in dispatch::HOWS {
        whole += walk(&format!("dispatch, {name}, {how:?}"), &worlds(how));
    }
    whole
}

#[test]
fn d1_to_d10_hold_in_every_state_of_two_lanes_that_may_say_everything() {
    let whole = walk_modes("two lanes", dispatch::talkative);
    assert!(whole.states >= 20_000, "{whole}");
}

#[test]
fn d1_to_d10_hold_in_every_state_of_three_lanes_whose_breakers_stand_in_every_way() {
    let whole = walk_modes("suspects", dispatch::suspicious);
    assert!(whole.states >= 200_000, "{whole}");
}

#[test]
fn d1_to_d10_hold_in_every_state_of_three_lanes_that_make_progress() {
    let whole = walk_modes("three lanes", dispatch::various);
    assert!(whole.states >= 100_000, "{whole}");
}

#[test]
fn d4_holds_in_every_state_of_a_plan_that_names_a_lane_twice() {
    let whole = walk_modes("a lane twice", dispatch::twice);
    assert!(whole.states >= 10_000, "{whole}");
}

#[test]
fn d11_holds_in_every_state_of_one_lane_in_four_modes() {
    let whole = walk("one lane in four modes", &alone::worlds());
    assert!(whole.states >= 500, "{whole}");
}

#[test]
fn a_relay_in_every_state_ends_cleanly_only_when_it_is_whole() {
    let whole = walk("relay", &relay::worlds());
    assert!(whole.states >= 90, "{whole}");
}

#[test]
fn every_stream_of_a_few_acts_ends_as_it_should() {
    let count = bodies::all().unwrap_or_else(|why| panic!("{why}"));
    say(&format!("bodies: {count} streams"));
    assert!(count >= 3_000, "{count}");
}

#[test]
fn f1_to_f7_hold_for_every_two_sources_in_every_mode_with_a_client_who_leaves() {
    let count = openings::pairs().unwrap_or_else(|why| panic!("{why}"));
    say(&format!("openings over two sources: {count}"));
    assert!(count >= 5_000, "{count}");
}

#[test]
fn f1_to_f7_hold_for_every_three_sources_in_every_mode() {
    let count = openings::triples().unwrap_or_else(|why| panic!("{why}"));
    say(&format!("openings over three sources: {count}"));
    assert!(count >= 10_000, "{count}");
}
