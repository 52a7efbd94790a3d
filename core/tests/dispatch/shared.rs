//! Several dispatches over one bank, fed with anything at any time.

use super::case::*;
use crate::common::Dice;
use segue_core::breaker::{Bank, Policy};
use segue_core::dispatch::*;
use std::collections::BTreeSet;
use std::time::Duration;

/// A random case; says how many steps it took.
pub(crate) fn check(dice: &mut Dice) -> Result<u64, String> {
    let (lanes, most) = (3, 4);
    let mut bank = Bank::new();
    for lane in 0..lanes {
        let suspect = Duration::from_millis(6);
        bank.register(Lane(lane), Policy::instance(suspect));
    }
    let mut now = T0;
    let mut machines: Vec<Dispatch<u32>> = Vec::new();
    let mut over = [0u32; 4];
    let mut open: BTreeSet<(usize, CallId)> = BTreeSet::new();
    let steps = 10 + dice.below(60);
    for _ in 0..steps {
        let which = dice.below(most) as usize;
        let call = CallId(dice.below(4) as u32);
        match dice.below(8) {
            0..4 => {
                let verdict = any_say(dice).verdict(0);
                if let Some(m) = machines.get_mut(which) {
                    m.handle(Input::Answered { call, verdict }, tick(now), &mut bank);
                    open.remove(&(which, call));
                }
            }
            4 => {
                let stage = dice.pick(&[Stage::Head, Stage::FirstByte]);
                if let Some(m) = machines.get_mut(which) {
                    m.handle(Input::Reached { call, stage }, tick(now), &mut bank);
                }
            }
            5 => {
                now += dice.below(7);
                for m in &mut machines {
                    m.handle_timeout(tick(now), &mut bank);
                }
            }
            6 if machines.len() < most as usize => {
                let plan = Case::any(dice, 4, true).plan();
                machines.push(Dispatch::start(plan, tick(now), &mut bank));
            }
            _ => {
                if let (0, Some(m)) = (dice.below(9), machines.get_mut(which)) {
                    m.handle(Input::Cancel, tick(now), &mut bank);
                }
            }
        }
        for (i, m) in machines.iter_mut().enumerate() {
            while let Some(effect) = m.poll_effect() {
                let ok = match effect {
                    Effect::Call { call, .. } => over[i] == 0 && open.insert((i, call)),
                    Effect::Abort { call, .. } => open.remove(&(i, call)),
                    Effect::Settle(_) => {
                        over[i] += 1;
                        over[i] == 1
                    }
                };
                if !ok {
                    return Err(format!("{effect:?} of {i} at {now}"));
                }
            }
        }
        let running: usize = machines.iter().map(Dispatch::running).sum();
        if running != open.len() || running != bank.outstanding() {
            return Err(format!(
                "{running} running, {open:?}, {}",
                bank.outstanding()
            ));
        }
    }
    for m in &mut machines {
        m.handle(Input::Cancel, tick(now), &mut bank);
    }
    match bank.outstanding() {
        0 => Ok(steps),
        n => Err(format!("{n} permits lost")),
    }
}
