//! Drives one dispatch by hand: two sources, the first of which does not accept in time.

use segue_core::breaker::{Bank, Policy};
use segue_core::dispatch::*;
use segue_core::time::Tick;
use std::time::Duration;

fn main() {
    let mut bank = Bank::new();
    let mut lanes = Vec::new();
    for lane in [Lane(1), Lane(2)] {
        bank.register(lane, Policy::instance(Duration::from_secs(60)));
        lanes.push(LanePlan {
            lane,
            budgets: Budgets::whole(Duration::from_secs(2)),
            known: None,
        });
    }
    let plan = Plan {
        lanes,
        mode: Mode::Hedged {
            after: Duration::from_millis(250),
            until: Milestone::Accepted,
        },
        deadline: Some(Duration::from_secs(15)),
        last_resort: Some(Duration::from_secs(5)),
    };
    let mut machine: Dispatch<&str> = Dispatch::start(plan, Tick::ZERO, &mut bank);
    let mut now = Tick::ZERO;
    while !machine.is_settled() {
        while let Some(effect) = machine.poll_effect() {
            println!("{:>4} ms  {effect:?}", now.as_nanos() / 1_000_000);
        }
        if machine.running() < 2 {
            let (at, why) = machine.poll_timeout().expect("a call has a budget");
            println!("         silence until {why:?}");
            now = at;
            machine.handle_timeout(now, &mut bank);
        } else {
            let verdict = Verdict::Answer {
                value: "bytes",
                quality: Quality::Word,
                suitable: true,
            };
            let call = CallId(1);
            machine.handle(Input::Answered { call, verdict }, now, &mut bank);
        }
    }
    while let Some(effect) = machine.poll_effect() {
        println!("{:>4} ms  {effect:?}", now.as_nanos() / 1_000_000);
    }
    assert_eq!(bank.outstanding(), 0);
}
