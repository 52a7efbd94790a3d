//! Everything that is checked against each twin: what the tests of this crate check, as functions.

use crate::breaker::OneBreaker;
use crate::breaker::play::{LANE, Player, any_steps, policies};
use crate::common::Dice;
use crate::dispatch::{HOWS, compare, shared};
use crate::explore::{Broken, World, explore, quietly};
use crate::toy::scene::*;
use crate::toy::{Host, Toy};
use crate::{alone, bodies, breaker, dispatch, openings, relay, removal, rules};
use segue_core::breaker::{Breaker, Phase};
use segue_core::catalog::model::TrackSource;
use segue_core::failover::ranges;
use segue_core::rank::{RankKey, compare as order, order_by};
use segue_core::source::range;
use segue_core::{Tick, Wall};
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

/// One way to look for a fault.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    how: How,
}

enum How {
    /// So many random cases, each from a seed.
    Random(u64, fn(&mut Dice) -> Result<u64, String>),
    /// All there is.
    Whole(fn() -> Result<usize, Broken>),
}

impl Check {
    pub(crate) fn run(&self) -> Result<(), Broken> {
        match self.how {
            How::Random(seeds, check) => {
                for seed in 1..=seeds {
                    let checked = quietly(|| check(&mut Dice::seeded(seed)));
                    checked.map_err(|why| Broken {
                        after: seed as usize,
                        story: format!("seed {seed}: {why}"),
                    })?;
                }
                Ok(())
            }
            How::Whole(check) => check().map(|_| ()),
        }
    }
}

const fn random(
    name: &'static str,
    seeds: u64,
    check: fn(&mut Dice) -> Result<u64, String>,
) -> Check {
    let how = How::Random(seeds, check);
    Check { name, how }
}

const fn whole(name: &'static str, check: fn() -> Result<usize, Broken>) -> Check {
    let how = How::Whole(check);
    Check { name, how }
}

/// What takes no time, so that every twin meets all of it.
pub(crate) const QUICK: [Check; 15] = [
    whole("every order of copies", every_order),
    random("identities", 2_000, rules::identities),
    random("variants", 2_000, rules::variants),
    random("ladders", 2_000, rules::ladders),
    random("outcomes and the queue", 2_000, rules::outcomes),
    random("beliefs", 2_000, rules::beliefs),
    whole("every plan of ranges", every_plan),
    whole("every removal of a sidecar", every_removal),
    random("restarts", 2_000, restart),
    random("breaker and its history", 2_000, breaker::history::check),
    random("dispatch and paper", 5_000, compare::check),
    random("shared breakers", 1_000, shared::check),
    random("resumed streams", 50, resumed),
    whole("every state of a relay", || walk(&relay::worlds())),
    whole("every stream of three acts", bodies::all),
];

/// What a twin meets that is not known yet, one after the other.
pub(crate) const THOROUGH: [Check; 6] = [
    whole("every opening of two sources", openings::pairs),
    whole("every state of one lane", || walk(&alone::worlds())),
    whole("every state of a lane twice", || {
        walk(&HOWS.map(dispatch::twice).concat())
    }),
    whole("every state of a breaker", || {
        walk(&breaker::policies().map(OneBreaker))
    }),
    whole("every state of two lanes", || {
        walk(&HOWS.map(dispatch::talkative).concat())
    }),
    whole("every state of suspects", || {
        walk(&HOWS.map(dispatch::suspicious).concat())
    }),
];

fn every_removal() -> Result<usize, Broken> {
    removal::every_removal().map_err(|(after, story)| Broken { after, story })
}

/// Walks through worlds; says how many steps that took.
fn walk(worlds: &[impl World]) -> Result<usize, Broken> {
    let mut before = 0;
    for world in worlds {
        let size = explore(world).map_err(|broken| Broken {
            after: before + broken.after,
            ..broken
        })?;
        before += size.transitions;
    }
    Ok(before)
}

/// B10: a breaker that was stored somewhere on its way holds no longer than it had to.
fn restart(dice: &mut Dice) -> Result<u64, String> {
    let mut player = Player::new(dice.pick(&policies()));
    for step in any_steps(dice, 30) {
        player.take(step);
    }
    let wall = Wall(1_700_000_000_000);
    let stored = player.bank.snapshot(LANE, player.now, wall);
    let stored = stored.expect("it is registered");
    let stepped = Wall(wall.0 + dice.below(200_000_000) as i64 - 100_000_000);
    let restarted = Breaker::restore(player.policy, stored, Tick::ZERO, stepped);
    let Phase::Open { until } = restarted.view(Tick::ZERO).phase else {
        return Ok(1);
    };
    let held = until.since(Tick::ZERO);
    let open = match player.view().phase {
        Phase::Open { until } => Some(until),
        Phase::Closed | Phase::HalfOpen => None,
    };
    let slots = player.out.iter();
    let slots = slots.map(|(_, facts)| facts.since + player.policy.probe_deadline);
    let left = slots
        .chain(open)
        .max()
        .unwrap_or(player.now)
        .since(player.now);
    match held <= left + Duration::from_millis(1) {
        true => Ok(1),
        false => Err(format!(
            "B10: it holds for {held:?}, and had to for {left:?}"
        )),
    }
}

/// F2: whatever breaks where, a client gets the bytes of the track or a break.
fn resumed(dice: &mut Dice) -> Result<u64, String> {
    let len = 1_000 + dice.below(39_000) as usize;
    let content = music(3, len);
    let toy = Toy::default();
    for name in NAMES {
        // Some copies are not copies.
        let copy = match dice.below(5) {
            0 if name != NAMES[0] => music(4, len),
            1 if name != NAMES[0] => music(3, len + 100),
            _ => content.clone(),
        };
        let cut = (dice.below(2) == 0).then(|| 1 + dice.below(40_000) as usize);
        let host = Host::serving(&copy);
        toy.set(name, Host { cut, ..host });
    }
    let bank = Arc::new(bank());
    let opened = open_all(&toy, &bank, 3);
    let (bytes, clean, closing) = relay(&toy, &bank, opened, &[1, 2, 0]);
    let counted: u64 = closing.served.iter().map(|(_, bytes)| bytes).sum();
    let quiet = toy.open() == 0 && bank.lock().unwrap().outstanding() == 0;
    if !content.starts_with(&bytes) || clean != (bytes.len() == len) {
        return Err(format!("F2: {} of {len} bytes, clean {clean}", bytes.len()));
    }
    match counted == bytes.len() as u64 && quiet {
        true => Ok(1),
        false => Err(format!("F5, F6: {closing:?}")),
    }
}

/// R1, R2: the order of SQL, worked out from its text, is that of the program, and it is total.
fn every_order() -> Result<usize, Broken> {
    let mut copies = Vec::new();
    for n in 0..2_u32.pow(6) {
        let bit = |k: u32| n >> k & 1;
        copies.push(RankKey {
            preferred: bit(0) == 1,
            format_rank: bit(1),
            bit_rate: bit(2),
            local: bit(3) == 1,
            instance: ["a", "B"][bit(4) as usize],
            remote_id: ["1", "10"][bit(5) as usize],
        });
    }
    let sql = order_by("");
    let mut after = 0;
    for a in &copies {
        for b in &copies {
            after += 1;
            let (seen, expected) = (order(a, b), by_text(&sql, a, b));
            if seen != expected || (seen == Ordering::Equal) != (a == b) {
                let story = format!("R1, R2: {seen:?}, not {expected:?}: {a:?}, {b:?}");
                return Err(Broken { after, story });
            }
        }
    }
    Ok(after)
}

/// What SQLite makes of the words after `ORDER BY`.
fn by_text(sql: &str, a: &RankKey<'_>, b: &RankKey<'_>) -> Ordering {
    for key in sql.split(", ") {
        let (column, direction) = key.split_once(' ').expect("a column and its direction");
        let order = match column {
            "preferred" => a.preferred.cmp(&b.preferred),
            "format_rank" => a.format_rank.cmp(&b.format_rank),
            "bit_rate" => a.bit_rate.cmp(&b.bit_rate),
            "local" => a.local.cmp(&b.local),
            "instance_id" => a.instance.as_bytes().cmp(b.instance.as_bytes()),
            "remote_id" => a.remote_id.as_bytes().cmp(b.remote_id.as_bytes()),
            other => panic!("there is no column {other}"),
        };
        let order = match direction.ends_with("DESC") {
            true => order.reverse(),
            false => order,
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// Contracts 3.8: whoever is asked for a part holds the bytes that the client holds.
fn every_plan() -> Result<usize, Broken> {
    let encodes = [
        ("flac", Some(10), 900),
        ("flac", Some(10), 800),
        ("mp3", None, 320),
    ];
    let mut after = 0;
    for n in 0..27 {
        let sources: Vec<TrackSource> = [n % 3, n / 3 % 3, n / 9]
            .iter()
            .enumerate()
            .map(|(at, kind)| {
                let (format, size, bit_rate) = encodes[*kind];
                TrackSource {
                    instance: NAMES[at].to_owned(),
                    remote_id: "1".to_owned(),
                    format: format.to_owned(),
                    size,
                    bit_rate,
                    ..TrackSource::default()
                }
            })
            .collect();
        let tags = sources.iter().map(|s| Some(ranges::etag(s)));
        let tags: Vec<Option<String>> = tags.chain([None, Some("\"old\"".to_owned())]).collect();
        for wanted in ["bytes=0-", "bytes=5-", "bytes=5-7"] {
            for tag in &tags {
                for last in [None, Some(0), Some(1), Some(2)] {
                    after += 1;
                    let checked = quietly(|| one_plan(&sources, wanted, tag.as_deref(), last));
                    checked.map_err(|why| Broken { after, story: why })?;
                }
            }
        }
    }
    Ok(after)
}

fn one_plan(
    sources: &[TrackSource],
    wanted: &str,
    tag: Option<&str>,
    last: Option<usize>,
) -> Result<(), String> {
    let wanted = range::parse(wanted).expect("a range");
    let asks = ranges::plan(sources, Some(&wanted), tag, last, ranges::etag);
    let mut all: Vec<usize> = asks.iter().map(|ask| ask.source).collect();
    all.sort_unstable();
    let encode = |at: usize| {
        let s = &sources[at];
        (s.format.as_str(), s.size, s.bit_rate)
    };
    let held = last.unwrap_or(0);
    for ask in asks.iter().filter(|ask| ask.range.is_some()) {
        let at = ask.source;
        let same = match tag {
            Some(tag) => ranges::etag(&sources[at]) == tag,
            None if wanted.starts_at_zero() => true,
            None => at == held || (sources[held].size.is_some() && encode(at) == encode(held)),
        };
        if !same {
            return Err(format!(
                "3.8: {wanted} of {at}, {tag:?}, {last:?}: {sources:?}"
            ));
        }
    }
    match all == [0, 1, 2] {
        true => Ok(()),
        false => Err(format!("3.1: {all:?}")),
    }
}
