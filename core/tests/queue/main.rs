//! What the queue decides: identities, ladders, and what a dispatch's outcome does to a row (contracts section 5).

#[path = "../common/mod.rs"]
mod common;

mod rules;
mod table;

use common::hunt;

/// Random songs in each run of the tests.
const SONGS: u64 = 20_000;

#[test]
fn spelling_makes_no_other_song_and_version_or_length_does() {
    hunt(SONGS, rules::identities);
}

#[test]
fn q5_a_song_joins_the_row_it_belongs_to_in_whatever_order_they_come() {
    hunt(SONGS, rules::variants);
}

#[test]
fn ladders_rise_to_their_caps_and_end() {
    hunt(SONGS, rules::ladders);
}

#[test]
fn q6_only_certain_misses_are_misses_and_what_was_given_up_counts_nothing() {
    hunt(SONGS, rules::outcomes);
}

#[test]
fn a_lane_is_believed_for_as_long_as_its_answer_is_valid() {
    hunt(SONGS, rules::beliefs);
}
