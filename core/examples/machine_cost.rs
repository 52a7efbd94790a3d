//! What the machines cost. Build it with `--release`; figures are per operation, best of nine rounds.

use segue_core::breaker::{Admission, Bank, Breaker, Policy, Signal};
use segue_core::dispatch::*;
use segue_core::time::Tick;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn best(name: &str, mut operation: impl FnMut(u64)) {
    const N: u64 = 200_000;
    let round = |_| {
        #[expect(clippy::disallowed_methods, reason = "measures real time")]
        let begin = Instant::now();
        (0..N).for_each(&mut operation);
        begin.elapsed()
    };
    let best = (0..9).map(round).min().unwrap_or_default();
    println!("{:>6} ns  {name}", best.as_nanos() / u128::from(N));
}

fn main() {
    let mut bank = Bank::new();
    for lane in 0..8 {
        bank.register(Lane(lane), Policy::provider());
    }
    best("admit and settle a success, one of eight lanes", |n| {
        let (lane, now) = (Lane((n % 8) as u32), Tick::from_nanos(n));
        if let Admission::Granted(permit) = bank.admit(lane, black_box(now)) {
            bank.settle(now, permit, black_box(Signal::Success));
        }
    });
    let mut breaker = Breaker::new(Policy::provider());
    let mut now = Tick::ZERO;
    best("trip, half-open, probe, close", |_| {
        for signal in [Signal::AuthRejected, Signal::Success] {
            if let Admission::Granted(permit) = breaker.admit(now) {
                breaker.settle(now, permit, black_box(signal));
            }
            now += Duration::from_secs(60);
        }
    });
    let budgets = Budgets::whole(Duration::from_secs(2));
    let lanes = (0..3).map(|lane| LanePlan {
        lane: Lane(lane),
        budgets,
        known: None,
    });
    let lanes: Vec<LanePlan> = lanes.collect();
    best("a dispatch over three lanes, the first wins", |n| {
        let now = Tick::from_nanos(n);
        let (mode, deadline, last_resort) = (Mode::Ordered, None, None);
        let plan = Plan {
            lanes: lanes.clone(),
            mode,
            deadline,
            last_resort,
            accept_within: None,
        };
        let mut machine = Dispatch::start(plan, now, &mut bank);
        let verdict = Verdict::Answer {
            value: n,
            quality: Quality::Word,
            suitable: true,
        };
        let call = CallId(0);
        machine.handle(Input::Answered { call, verdict }, now, &mut bank);
        while let Some(effect) = machine.poll_effect() {
            black_box(effect);
        }
    });
    println!("{:>6} bytes a breaker", size_of::<Breaker>());
}
