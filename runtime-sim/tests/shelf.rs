//! Sidecars on simulated shelves, with power cuts at any moment of a delivery and of every recovery from one.

use bytes::Bytes;
use madsim::Config;
use madsim::rand::{Rng, thread_rng};
use madsim::runtime::Runtime;
use segue_core::delivery::*;
use segue_core::dispatch::Quality;
use segue_core::driver::deliver::{Delivered, deliver, take_away};
use segue_core::io::{Clock, Digest, Place, Shelf, ShelfError};
use segue_runtime_sim::{SimClock, SimShelf};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

const OLD: &[u8] = b"la la";
const NEW: &[u8] = b"[00:01.00]la la";

fn track() -> Place {
    Place::new("shelf", "Band/Song.flac")
}

fn lrc() -> Place {
    track().beside("Song.lrc")
}

fn txt() -> Place {
    track().beside("Song.txt")
}

/// Timed words for a plain file of ours.
fn intent() -> Intent {
    let wanted = Wanted {
        form: Form::Synced,
        quality: Quality::Line,
        new: Digest::of(NEW),
    };
    let changes = Changes {
        replaces: None,
        retires: Some(Digest::of(OLD)),
    };
    Intent::new(&track(), &wanted, changes, 1).expect("a short name")
}

fn shelf(clock: &SimClock) -> SimShelf {
    let shelf = SimShelf::new(clock.clone());
    shelf.allow("shelf");
    shelf.put(&track(), &b"sound"[..]);
    shelf.put(&txt(), OLD);
    shelf
}

/// What comes of `future` in `patience`; it is dropped wherever it is then.
async fn cut_short<T>(
    clock: &SimClock,
    patience: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    let mut timer = pin!(clock.sleep_until(clock.now() + patience));
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => timer.as_mut().poll(cx).map(|()| None),
    })
    .await
}

fn world(seed: u64, story: impl Future<Output = u32> + Send + 'static) -> u32 {
    let run = move || Runtime::with_seed_and_config(seed, Config::default()).block_on(story);
    let thread = std::thread::Builder::new().name(format!("seed {seed}"));
    thread
        .spawn(run)
        .expect("a thread")
        .join()
        .expect("no panic")
}

async fn cut_again_and_again(seed: u64) -> u32 {
    let clock = SimClock::current();
    let (shelf, intent, bytes) = (shelf(&clock), intent(), Bytes::from_static(NEW));
    let mut cuts = 0;
    loop {
        let patience = Duration::from_micros(thread_rng().gen_range(0..60_000));
        let delivery = deliver(&shelf, &intent, Some(&bytes));
        if let Some(ended) = cut_short(&clock, patience, delivery).await {
            assert_eq!(ended, Ok(Delivered::Written));
            break;
        }
        cuts += 1;
        // Now the power goes; at other times only the process.
        if thread_rng().gen_bool(0.7) {
            shelf.crash(seed + u64::from(cuts));
        }
        match (shelf.get(&lrc()), shelf.get(&txt())) {
            (None, plain) => assert!(plain.is_none_or(|bytes| bytes == OLD), "S1"),
            (Some(timed), plain) => assert!(timed == NEW && plain.is_none(), "S1: {plain:?}"),
        }
    }
    shelf.crash(seed);
    let left: Vec<Place> = shelf.files().into_iter().map(|(place, _)| place).collect();
    assert_eq!(left, [track(), lrc()], "what was said to be written is");
    cuts
}

#[test]
fn s1_a_power_cut_at_any_moment_shows_old_or_new_or_nothing() {
    let cuts: u32 = (0..100)
        .map(|seed| world(seed, cut_again_and_again(seed)))
        .sum();
    assert!(cuts > 50, "{cuts} cuts");
}

#[test]
fn a_full_disk_leaves_what_there_was_and_with_room_it_is_written() {
    world(1, async {
        let clock = SimClock::current();
        let (shelf, intent, bytes) = (shelf(&clock), intent(), Bytes::from_static(NEW));
        shelf.fail(Some(ShelfError::Full));
        let told = deliver(&shelf, &intent, Some(&bytes)).await;
        assert_eq!(told, Err(ShelfError::Full));
        assert_eq!(shelf.get(&txt()).as_deref(), Some(OLD));
        assert_eq!(shelf.get(&lrc()), None);
        shelf.fail(None);
        let ended = deliver(&shelf, &intent, Some(&bytes)).await;
        assert_eq!(ended, Ok(Delivered::Written));
        assert_eq!(shelf.writes(), 1);
        0
    });
}

#[test]
fn only_what_is_allowed_is_there() {
    world(1, async {
        let shelf = SimShelf::new(SimClock::current());
        assert_eq!(shelf.look(&lrc()).await, Err(ShelfError::NotWritable));
        0
    });
}

async fn taken_away_again_and_again(seed: u64) -> u32 {
    let clock = SimClock::current();
    let shelf = shelf(&clock);
    let removal = Removal {
        place: txt(),
        only: Digest::of(OLD),
    };
    let mut cuts = 0;
    loop {
        let patience = Duration::from_micros(thread_rng().gen_range(0..12_000));
        if let Some(ended) = cut_short(&clock, patience, take_away(&shelf, &removal)).await {
            assert_eq!(ended, Ok(None));
            break;
        }
        cuts += 1;
        if thread_rng().gen_bool(0.7) {
            shelf.crash(seed + u64::from(cuts));
        }
        let there = shelf.get(&txt());
        assert!(there.is_none_or(|bytes| bytes == OLD), "S1");
    }
    shelf.crash(seed);
    assert_eq!(shelf.get(&txt()), None, "what was said to be gone is");
    shelf.put(&txt(), &b"by hand"[..]);
    let left = take_away(&shelf, &removal).await;
    assert_eq!(left, Ok(Some(Left::NotOurs)), "S2");
    assert_eq!(shelf.get(&txt()).as_deref(), Some(&b"by hand"[..]), "S2");
    cuts
}

#[test]
fn a_power_cut_at_any_moment_of_a_removal_leaves_the_file_or_none() {
    let cuts: u32 = (0..100)
        .map(|seed| world(seed, taken_away_again_and_again(seed)))
        .sum();
    assert!(cuts > 50, "{cuts} cuts");
}
