//! Workers over lanes in a toy world, in no time at all.

mod desk;
#[path = "../toy/mod.rs"]
mod toy;

use desk::{Memory, Script, Scripted};
use segue_core::Wall;
use segue_core::breaker::{Admission, Lane, Policy, Signal};
use segue_core::dispatch::Mode;
use segue_core::driver::lyrics::{Codec, Done, End, Lanes, Rulebook, Worker};
use segue_core::io::{Clock, NetError};
use segue_core::lyrics::accept::Rules;
use segue_core::lyrics::lrc::LrcStyle;
use segue_core::queue::{Ladders, LaneAnswer, Outcome, Priority};
use std::collections::BTreeMap;
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use toy::{Host, Toy};

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn worker(toy: &Toy, desk: &Memory, mode: Mode, lanes: Vec<Arc<dyn Codec>>) -> Worker<Toy, Memory> {
    let book = Rulebook {
        mode,
        rules: Rules::default(),
        ladders: Ladders::default(),
        policy: Policy::provider(),
        lease: seconds(60),
        servers: BTreeMap::new(),
        seed: 0,
    };
    let shared = Arc::new(Lanes::new(book.clone()));
    shared.take_up(lanes, book, &BTreeMap::new(), toy.now(), Wall(0));
    Worker {
        runtime: toy.clone(),
        desk: desk.clone(),
        lanes: shared,
        style: LrcStyle::Line,
    }
}

fn second(worker: &Worker<Toy, Memory>) -> Worker<Toy, Memory> {
    Worker {
        runtime: worker.runtime.clone(),
        desk: worker.desk.clone(),
        lanes: Arc::clone(&worker.lanes),
        style: LrcStyle::Line,
    }
}

/// Steps until there is nothing to do, and checks that nothing is left out.
async fn work_off(worker: &Worker<Toy, Memory>) {
    loop {
        let step = worker.step(pin!(pending::<()>())).await;
        if let Done::Idle(_) = step.expect("memory does not fail") {
            return;
        }
    }
}

async fn both(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut one_ended, mut other_ended) = (false, false);
    poll_fn(|cx| {
        one_ended = one_ended || one.as_mut().poll(cx).is_ready();
        other_ended = other_ended || other.as_mut().poll(cx).is_ready();
        match one_ended && other_ended {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}

fn slow(head: Duration) -> Host {
    Host {
        head: Some(head),
        ..Host::saying(200, "application/json", "{}")
    }
}

/// Opens a lane's breaker for a minute.
fn trip(worker: &Worker<Toy, Memory>, lane: Lane) {
    let now = worker.runtime.now();
    let mut bank = worker.lanes.bank().lock().unwrap();
    let Admission::Granted(permit) = bank.admit(lane, now) else {
        panic!("it is closed");
    };
    let signal = Signal::Throttled { retry_after: None };
    bank.settle(now, permit, signal);
}

fn nothing_is_left(worker: &Worker<Toy, Memory>) {
    let outstanding = worker.lanes.bank().lock().unwrap().outstanding();
    assert_eq!(outstanding, 0, "B2: a permit is out");
    assert_eq!(worker.runtime.open(), 0, "D5: a connection is open");
}

fn is_found((_, end): &(String, End)) -> bool {
    matches!(end, End::Complete(done) if done.outcome == Outcome::Lyrics)
}

#[test]
fn requests_of_a_lane_are_spaced_from_the_end_of_each_and_never_overlap() {
    let toy = Toy::new([("slow", slow(seconds(3)))]);
    let desk = Memory::with(&["One", "Two"]);
    let lane = Scripted::lane("slow", Script::Ask(2), seconds(4));
    let worker = worker(&toy, &desk, Mode::Ordered, vec![lane]);
    let other = second(&worker);
    toy.run(both(work_off(&worker), work_off(&other)));
    assert!(desk.ended().iter().all(is_found));
    assert_eq!(toy.peak(), 1, "one at a time, for both workers");
    // Four requests of three seconds, between them three spacings of four to five, and one of four before them.
    let spaced = seconds(4 * 3 + 4 * 4)..=seconds(4 * 3 + 3 * 5 + 4);
    assert!(spaced.contains(&toy.at()), "{:?}", toy.at());
    nothing_is_left(&worker);
}

#[test]
fn s27_a_lane_is_not_asked_before_its_spacing_is_over_since_the_start() {
    // Whoever was killed a moment ago may just have asked.
    let toy = Toy::new([("lane", slow(Duration::ZERO))]);
    let desk = Memory::with(&["One"]);
    let lane = Scripted::lane("lane", Script::Ask(1), seconds(4));
    let worker = worker(&toy, &desk, Mode::Ordered, vec![lane]);
    toy.run(work_off(&worker));
    assert_eq!(toy.at(), seconds(4));
}

#[test]
fn a_codec_that_panics_fails_alone() {
    let toy = Toy::new([("good", slow(seconds(1)))]);
    let desk = Memory::with(&["One"]);
    let lanes = vec![
        Scripted::lane("broken", Script::Panic, Duration::ZERO),
        Scripted::lane("good", Script::Ask(1), Duration::ZERO),
    ];
    let worker = worker(&toy, &desk, Mode::Ordered, lanes);
    toy.run(work_off(&worker));
    let ended = desk.ended();
    assert!(is_found(&ended[0]));
    let broken = &ended[0].1.answers()[0];
    assert_eq!(
        (broken.lane.as_str(), broken.answer),
        ("broken", LaneAnswer::Transport)
    );
    nothing_is_left(&worker);
}

/// Found by simulated stories: it took all workers of the process with it, and the song stayed taken until its lease was over.
#[test]
fn a_reply_whose_reader_panics_is_a_failure_of_its_lane_alone() {
    let broken = Host {
        fails: Some(NetError::Panicked),
        ..Host::default()
    };
    let toy = Toy::new([("broken", broken), ("good", slow(seconds(1)))]);
    let desk = Memory::with(&["One"]);
    let lanes = ["broken", "good"].map(|name| Scripted::lane(name, Script::Ask(1), Duration::ZERO));
    let worker = worker(&toy, &desk, Mode::Ordered, lanes.to_vec());
    toy.run(work_off(&worker));
    let ended = desk.ended();
    assert!(is_found(&ended[0]));
    assert_eq!(ended[0].1.answers()[0].answer, LaneAnswer::Transport);
    nothing_is_left(&worker);
}

#[test]
fn a_lookup_that_goes_in_circles_ends() {
    let toy = Toy::new([("circles", slow(Duration::ZERO))]);
    let desk = Memory::with(&["One"]);
    let lane = Scripted::lane("circles", Script::Circles, Duration::ZERO);
    let worker = worker(&toy, &desk, Mode::Ordered, vec![lane]);
    toy.run(work_off(&worker));
    assert!(matches!(desk.ended()[0].1, End::Fail { .. }));
    assert!(toy.contacted().len() < 20);
    nothing_is_left(&worker);
}

#[test]
fn d8_who_waits_in_line_does_not_call_a_lane_that_has_opened_meanwhile() {
    let host = Host {
        head: Some(seconds(5)),
        ..Host::saying(429, "text/plain", "")
    };
    let toy = Toy::new([("busy", host)]);
    let desk = Memory::with(&["One", "Two"]);
    let lane = Scripted::lane("busy", Script::Ask(1), seconds(1));
    let worker = worker(&toy, &desk, Mode::Ordered, vec![lane]);
    let other = second(&worker);
    toy.run(both(work_off(&worker), work_off(&other)));
    assert_eq!(toy.contacted().len(), 1, "only the first call was made");
    let ended = desk.ended();
    assert_eq!(ended.len(), 2);
    let back = |(_, end): &(String, End)| matches!(end, End::Release { .. });
    assert!(ended.iter().all(back), "q6: nothing is counted: {ended:?}");
    nothing_is_left(&worker);
}

#[test]
fn b1_a_song_that_wants_a_lane_whose_probe_is_out_is_looked_at_again_soon_and_asks_nobody() {
    let toy = Toy::new([("lane", slow(seconds(5)))]);
    let desk = Memory::with(&["One", "Two"]);
    let lane = Scripted::lane("lane", Script::Ask(1), seconds(1));
    let worker = worker(&toy, &desk, Mode::Ordered, vec![lane]);
    let slot = worker.lanes.setup().slots[0].lane;
    trip(&worker, slot);
    toy.run(toy.sleep_until(toy.now() + seconds(60)));
    let begun = toy.wall();
    let other = second(&worker);
    toy.run(both(work_off(&worker), work_off(&other)));
    let ended = desk.ended();
    let [(song, End::Release { retry_at, .. }), probed] = &ended[..] else {
        panic!("one waits, and one is the probe: {ended:?}");
    };
    assert_eq!((song.as_str(), *retry_at), ("Two", begun + seconds(2)));
    assert!(is_found(probed));
    assert_eq!(toy.contacted().len(), 1, "one probe");
    nothing_is_left(&worker);
}

#[test]
fn songs_of_a_library_come_back_to_a_lane_one_after_another_and_what_somebody_waits_for_as_soon_as_it_can()
 {
    let toy = Toy::new([("empty", Host::saying(404, "text/plain", ""))]);
    let desk = Memory::with(&["One", "Two", "Three", "Played"]);
    desk.prefer("Played", Priority::PLAYED);
    let lanes = vec![
        Scripted::lane("empty", Script::Ask(1), Duration::ZERO),
        Scripted::lane("away", Script::Ask(1), seconds(4)),
    ];
    let worker = worker(&toy, &desk, Mode::Ordered, lanes);
    let slot = worker.lanes.setup().slots[1].lane;
    trip(&worker, slot);
    let reopens = (toy.wall() + seconds(60)).0;
    toy.run(work_off(&worker));
    let back = |(_, end): &(String, End)| match end {
        End::Release { retry_at, .. } => retry_at.0,
        other => panic!("q6: nothing is counted: {other:?}"),
    };
    let at: Vec<i64> = desk.ended().iter().map(back).collect();
    assert_eq!(at.len(), 4);
    assert!(at[1] - at[0] >= 4_000 && at[2] - at[1] >= 4_000, "{at:?}");
    assert_eq!((at[0], at[3]), (reopens, reopens));
    nothing_is_left(&worker);
}

#[test]
fn q3_a_worker_that_has_lost_its_claim_gives_up_and_writes_nothing() {
    let toy = Toy::new([("hangs", slow(seconds(29)))]);
    let desk = Memory::with(&["One"]);
    let lane = Scripted::lane("hangs", Script::Ask(3), Duration::ZERO);
    let worker = worker(&toy, &desk, Mode::Ordered, vec![lane]);
    desk.lose();
    toy.run(work_off(&worker));
    assert_eq!(desk.ended(), []);
    assert_eq!(desk.beats(), 1, "the first heartbeat told");
    assert!(toy.at() < seconds(25), "{:?}", toy.at());
    nothing_is_left(&worker);
}

#[test]
fn q4_a_long_lookup_keeps_its_claim_alive() {
    let toy = Toy::new([("slow", slow(seconds(29)))]);
    let desk = Memory::with(&["One"]);
    let lane = Scripted::lane("slow", Script::Ask(3), Duration::ZERO);
    let worker = worker(&toy, &desk, Mode::Ordered, vec![lane]);
    toy.run(work_off(&worker));
    assert!(is_found(&desk.ended()[0]));
    assert_eq!(desk.beats(), 4, "every third of the lease");
    assert_eq!(desk.troubles(), [""; 0]);
}

#[test]
fn a_silent_lane_costs_its_timeout_and_the_next_one_answers() {
    let toy = Toy::new([("silent", Host::black_hole()), ("good", slow(seconds(1)))]);
    let desk = Memory::with(&["One"]);
    let lanes = vec![
        Scripted::lane("silent", Script::Ask(1), Duration::ZERO),
        Scripted::lane("good", Script::Ask(1), Duration::ZERO),
    ];
    let worker = worker(&toy, &desk, Mode::Ordered, lanes);
    toy.run(work_off(&worker));
    assert!(is_found(&desk.ended()[0]));
    assert_eq!(toy.at(), seconds(31));
    nothing_is_left(&worker);
}

#[test]
fn a_stop_gives_the_song_back_at_once() {
    let toy = Toy::new([("slow", slow(seconds(20)))]);
    let desk = Memory::with(&["One"]);
    let lane = Scripted::lane("slow", Script::Ask(1), Duration::ZERO);
    let worker = worker(&toy, &desk, Mode::Ordered, vec![lane]);
    let stop = toy.sleep_until(toy.now() + seconds(7));
    toy.run(worker.run(stop));
    assert_eq!(toy.at(), seconds(7));
    assert!(matches!(desk.ended()[0].1, End::Release { .. }));
    nothing_is_left(&worker);
}
