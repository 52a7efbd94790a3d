//! Random scenarios that shrink towards fewer faults, fewer requests, and the simplest of each.

use crate::scenario::{
    Death, Deed, Fault, Manner, Midstream, Mode, Part, Play, SOURCES, Scenario, Snag, Trouble,
    When, Work,
};
use crate::shelf::TITLES;
use proptest::collection::vec;
use proptest::prelude::*;

/// Scenarios with this `stream.midstream`.
pub fn scenario(midstream: Midstream) -> impl Strategy<Value = Scenario> {
    let mode = prop_oneof![
        6 => Just(Mode::Ordered),
        2 => Just(Mode::Hedged),
        1 => Just(Mode::Parallel),
    ];
    // A smaller seed is another world, not a simpler one.
    let seed = any::<u64>().no_shrink();
    // A few small worlds, and most of them whole.
    let sources = prop_oneof![10 => Just(SOURCES), 1 => Just(2_usize), 1 => Just(1_usize)];
    let voices = prop_oneof![1 => Just(1_usize), 9 => Just(2_usize)];
    let alone = voices.prop_flat_map(|voices| vec(vec(play(), 1..7), voices));
    // All do the same at the same time, and get in each other's way.
    let chorus = (vec(play(), 1..5), 2..4_usize).prop_map(|(plays, voices)| vec![plays; voices]);
    let listeners = prop_oneof![3 => alone, 1 => chorus];
    let deeds = vec((0..4_000_u64, deed()), 0..8);
    let faults = vec((0..5_000_u64, fault()), 0..10);
    (seed, sources, mode, listeners, deeds, faults).prop_map(
        move |(seed, sources, mode, listeners, deeds, faults)| {
            // A track that nobody has is 404, which other tests see to.
            let there = |play: &Play| sources > 1 || TITLES[play.track] != "Unravel";
            let listeners = listeners.into_iter().map(|mut plays| {
                plays.retain(there);
                plays
            });
            Scenario {
                seed,
                sources,
                mode,
                midstream,
                listeners: listeners.collect(),
                deeds,
                faults,
            }
        },
    )
}

fn play() -> impl Strategy<Value = Play> {
    // Now and then long enough for a breaker to half-open.
    let after = prop_oneof![8 => 0..3_000_u64, 1 => 20_000..70_000_u64];
    (after, 0..TITLES.len(), part(), manner()).prop_map(|(after, track, part, manner)| Play {
        after,
        track,
        part,
        manner,
    })
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        6 => Just(Part::Whole),
        2 => (0..250_000_u64).prop_map(Part::From),
        1 => (0..250_000_u64, 1..50_000_u64).prop_map(|(first, length)| Part::Some(first, length)),
        1 => (0..100_000_u64).prop_map(Part::Last),
    ]
}

fn manner() -> impl Strategy<Value = Manner> {
    prop_oneof![
        5 => Just(Manner::ToTheEnd),
        2 => (1..1_000_u64).prop_map(Manner::Slowly),
        // Some longer than an upstream may be silent.
        1 => (0..150_000_u64, 1_000..60_000_u64).prop_map(|(at, for_)| Manner::Pausing(at, for_)),
        2 => (0..150_000_u64).prop_map(Manner::UpTo),
        1 => (1..100_u64).prop_map(Manner::Impatiently),
        1 => (1..8_000_u64).prop_map(Manner::Impatiently),
    ]
}

fn deed() -> impl Strategy<Value = Deed> {
    let track = || 0..TITLES.len();
    prop_oneof![
        2 => track().prop_map(Deed::Star),
        1 => track().prop_map(Deed::Unstar),
        2 => (track(), 0..=5_u8).prop_map(|(track, rating)| Deed::Rate(track, rating)),
        2 => track().prop_map(Deed::Scrobble),
        2 => Just(Deed::Look),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![3 => fault_outside(), 1 => fault_of_the_hub()]
}

/// What goes wrong with the hub itself, its disk and its clock.
fn fault_of_the_hub() -> impl Strategy<Value = Fault> {
    let when = prop_oneof![
        1 => Just(When::Now),
        3 => (0..300_u64).prop_map(When::Await),
        2 => (0..60_u64).prop_map(When::Change),
        2 => (0..12_u64).prop_map(When::Sync),
    ];
    let death = prop_oneof![
        1 => Just(Death::Killed),
        2 => any::<u64>().no_shrink().prop_map(Death::PowerCut),
    ];
    let back = prop_oneof![4 => 0..2_000_u64, 1 => 2_000..20_000_u64];
    let work = prop_oneof![Just(Work::Write), Just(Work::Sync)];
    let snag = prop_oneof![
        1 => Just(Snag::Head),
        1 => (1..100_000_u64).prop_map(Snag::Body),
    ];
    let step = prop_oneof![Just(-24_i64), Just(24), Just(-1), Just(1)];
    prop_oneof![
        8 => (when, death, back).prop_map(|(when, death, back)| Fault::HubDies(when, death, back)),
        1 => (1..40_000_u64).prop_map(Fault::HubFreezes),
        5 => (work, 0..20_u64).prop_map(|(work, after)| Fault::DiskFails(work, after)),
        1 => (0..30_000_u64).prop_map(Fault::DiskFull),
        2 => Just(Fault::DiskMends),
        2 => step.prop_map(Fault::WallStep),
        2 => (0..SOURCES, snag).prop_map(|(n, snag)| Fault::Panic(n, snag)),
    ]
}

/// What goes wrong with the sources and the way to them.
fn fault_outside() -> impl Strategy<Value = Fault> {
    let source = || 0..SOURCES;
    prop_oneof![
        3 => source().prop_map(Fault::Kill),
        2 => source().prop_map(Fault::Restart),
        2 => source().prop_map(Fault::Isolate),
        1 => source().prop_map(Fault::Deafen),
        1 => source().prop_map(Fault::Mute),
        2 => source().prop_map(Fault::Rejoin),
        1 => source().prop_map(Fault::Freeze),
        1 => source().prop_map(Fault::Thaw),
        1 => (1..1_500_u64).prop_map(Fault::Latency),
        1 => (10..1_500_u64).prop_map(Fault::Jitter),
        7 => (source(), trouble()).prop_map(|(n, trouble)| Fault::Trouble(n, trouble)),
        1 => trouble().prop_map(Fault::TroubleEverywhere),
        2 => source().prop_map(Fault::Mend),
        1 => Just(Fault::Sync),
    ]
}

fn trouble() -> impl Strategy<Value = Trouble> {
    let status = prop_oneof![
        Just(500_u16),
        Just(503),
        Just(404),
        Just(401),
        Just(403),
        Just(400),
        Just(410),
    ];
    let code = || prop_oneof![Just(0_u32), Just(40), Just(70)];
    prop_oneof![
        2 => status.prop_map(Trouble::Status),
        1 => code().prop_map(Trouble::ErrorIn200Xml),
        1 => code().prop_map(Trouble::ErrorIn200Json),
        1 => Just(Trouble::ErrorIn200Html),
        1 => Just(Trouble::ErrorIn200HtmlAsAudio),
        1 => Just(Trouble::Empty200),
        1 => Just(Trouble::CloseBeforeHead),
        2 => Just(Trouble::HangBeforeHead),
        2 => Just(Trouble::HangAfterHead),
        1 => (0..8_000_u64).prop_map(Trouble::SlowHead),
        1 => (0..50_u32).prop_map(Trouble::Throttled),
        1 => (0..50_u32).prop_map(Trouble::Overloaded),
        1 => Just(Trouble::RedirectInCircle),
        1 => Just(Trouble::RedirectElsewhere),
        1 => (1..50_000_u64).prop_map(Trouble::TooLong),
        4 => (1..150_000_u64).prop_map(Trouble::CutAt),
        2 => (1..150_000_u64).prop_map(Trouble::StallAt),
        1 => (1_000..20_000_u64, 1..1_000_u64).prop_map(|(bytes, ms)| Trouble::SlowDrip(bytes, ms)),
        1 => Just(Trouble::WrongContentRange),
        1 => Just(Trouble::Whole200ToRange),
        1 => Just(Trouble::WrongBytesOnResume),
        1 => Just(Trouble::NoContentType),
    ]
}
