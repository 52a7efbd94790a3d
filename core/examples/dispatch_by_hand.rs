//! Drives one dispatch by hand: two sources, the first of which never accepts the connection.

use segue_core::breaker::{Bank, Policy};
use segue_core::dispatch::*;
use segue_core::time::Tick;
use std::time::Duration;

fn main() {
    let (mut bank, mut now) = (Bank::new(), Tick::ZERO);
    let lanes = [Lane(1), Lane(2)].map(|lane| {
        bank.register(lane, Policy::instance(Duration::from_secs(60)));
        let budgets = Budgets::whole(Duration::from_secs(2));
        LanePlan {
            lane,
            budgets,
            known: None,
        }
    });
    let (after, until) = (Duration::from_millis(250), Milestone::Accepted);
    let mode = Mode::Hedged { after, until };
    let plan = Plan {
        lanes: lanes.into(),
        mode,
        deadline: None,
        last_resort: None,
        accept_within: None,
    };

    let mut machine = Dispatch::start(plan, now, &mut bank);
    loop {
        while let Some(effect) = machine.poll_effect() {
            println!("{:>3} ms  {effect:?}", now.as_nanos() / 1_000_000);
        }
        match machine.poll_timeout() {
            None => break,
            Some((at, Why::Hedge)) => {
                now = at; // nobody answered
                machine.handle_timeout(now, &mut bank);
            }
            Some(_) => {
                let verdict = Verdict::Answer {
                    value: "music",
                    quality: Quality::Word,
                    suitable: true,
                };
                machine.handle(
                    Input::Answered {
                        call: CallId(1),
                        verdict,
                    },
                    now,
                    &mut bank,
                );
            }
        }
    }
    assert_eq!(bank.outstanding(), 0);
}
