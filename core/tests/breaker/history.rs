//! A reference that remembers everything and derives where the breaker stands from scratch, each
//! time it is asked. It has no counters, no generations and no states.

use super::play::*;
use crate::common::Dice;
use segue_core::breaker::*;
use segue_core::time::Tick;
use std::time::Duration;

/// Something that happened.
#[derive(Clone, Copy, Debug)]
enum Fact {
    Granted,
    /// The permit granted by that fact came back.
    Told(usize, Signal),
}

/// A moment at which the breaker opened, opened again or closed.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// After this fact.
    fact: usize,
    at: Tick,
    /// `None`: it closed.
    until: Option<Tick>,
}

pub(crate) struct History {
    policy: Policy,
    facts: Vec<(Tick, Fact)>,
}

/// What the facts come to.
#[derive(Debug, Default)]
struct Findings {
    turns: Vec<Turn>,
    /// The signals that count, each with its fact.
    counted: Vec<(usize, Signal)>,
}

impl Findings {
    fn opened(&self) -> Option<(Turn, Tick)> {
        let turn = *self.turns.last()?;
        Some((turn, turn.until?))
    }

    /// Transients in a row, since the last turn.
    fn run(&self) -> u32 {
        let since = self.turns.last().map_or(0, |t| t.fact + 1);
        let here = self.counted.iter().rev().take_while(|(i, _)| *i >= since);
        here.map(|(_, s)| *s)
            .take_while(|s| !matches!(s, Signal::Success | Signal::Benign))
            .filter(|s| *s == Signal::Transient)
            .count() as u32
    }
}

fn window(policy: &Policy, trips: u32) -> Duration {
    let mut window = policy.base;
    for _ in 1..trips {
        window = window.saturating_mul(2);
    }
    window.min(policy.cap)
}

impl History {
    fn findings(&self) -> Findings {
        let mut f = Findings::default();
        for (i, (at, fact)) in self.facts.iter().enumerate() {
            let Fact::Told(granted, signal) = *fact else {
                continue;
            };
            let open = f.opened();
            if f.turns.last().is_some_and(|t| granted < t.fact) {
                continue;
            }
            let late = self.facts[granted].0 + self.policy.probe_deadline <= *at;
            if open.is_some() && late {
                continue;
            }
            f.counted.push((i, signal));
            let asked = match signal {
                Signal::Throttled { retry_after } => retry_after.unwrap_or(Duration::ZERO),
                _ => Duration::ZERO,
            };
            let trips = match signal {
                Signal::Success | Signal::Benign => {
                    if open.is_some() {
                        let (fact, at) = (i, *at);
                        f.turns.push(Turn {
                            fact,
                            at,
                            until: None,
                        });
                    }
                    continue;
                }
                Signal::Abandoned => continue,
                Signal::RenewalRequired => false,
                Signal::Throttled { .. } | Signal::AuthRejected => true,
                Signal::Transient => {
                    if open.is_none() && f.run() < self.policy.transient_threshold {
                        continue;
                    }
                    true
                }
            };
            let length = if trips {
                let n = self.trips(&f) + 1;
                window(&self.policy, n).max(asked.min(Duration::from_secs(6 * 3600)))
            } else {
                self.policy.cap
            };
            let until = (*at + length).max(open.map_or(Tick::ZERO, |(_, u)| u));
            f.turns.push(Turn {
                fact: i,
                at: *at,
                until: Some(until),
            });
        }
        f
    }

    /// Deadlines of the permits that hold a slot.
    fn slots(&self, f: &Findings, now: Tick) -> Vec<Tick> {
        let Some((turn, _)) = f.opened() else {
            return Vec::new();
        };
        let back = |i: usize| {
            let told = |(_, fact): &(Tick, Fact)| matches!(fact, Fact::Told(g, _) if *g == i);
            self.facts[i..].iter().any(told)
        };
        (turn.fact..self.facts.len())
            .filter(|&i| matches!(self.facts[i].1, Fact::Granted) && !back(i))
            .map(|i| self.facts[i].0 + self.policy.probe_deadline)
            .filter(|d| *d > now)
            .collect()
    }

    fn admits(&self, now: Tick, last_resort: Option<Duration>) -> Result<(), Tick> {
        let f = self.findings();
        let Some((turn, until)) = f.opened() else {
            return Ok(());
        };
        let slots = self.slots(&f, now);
        let first = slots.iter().min().copied();
        match (now < until, last_resort) {
            (true, None) => Err(until),
            (true, Some(age)) => {
                let earliest = (turn.at + age).max(first.unwrap_or(now)).max(now);
                if earliest == now {
                    return Ok(());
                }
                Err(earliest.min(until))
            }
            (false, _) if slots.len() < self.policy.probes as usize => Ok(()),
            (false, _) => Err(first.unwrap().min(now + self.policy.probe_recheck)),
        }
    }

    fn view(&self, now: Tick) -> View {
        let f = self.findings();
        let phase = match f.opened() {
            None => Phase::Closed,
            Some((_, until)) if now < until => Phase::Open { until },
            Some(_) => Phase::HalfOpen,
        };
        let success = |(_, s): &(usize, Signal)| *s == Signal::Success;
        View {
            phase,
            trips: self.trips(&f),
            transient_run: if phase == Phase::Closed { f.run() } else { 0 },
            ever_succeeded: f.counted.iter().any(success),
            generation: f.turns.len() as u32,
        }
    }

    /// Not counted up: the openings since the last good word, renewals aside.
    fn trips(&self, f: &Findings) -> u32 {
        let good = |(_, s): &&(usize, Signal)| matches!(s, Signal::Success | Signal::Benign);
        let since = f.counted.iter().rev().find(good).map_or(0, |(i, _)| *i);
        let openings = f
            .turns
            .iter()
            .filter(|t| t.until.is_some() && t.fact >= since);
        openings
            .filter(|t| !matches!(self.facts[t.fact].1, Fact::Told(_, Signal::RenewalRequired)))
            .count() as u32
    }
}

/// Plays against both and compares all that can be seen, at every step.
pub(crate) struct Witness {
    pub(crate) player: Player,
    history: History,
    /// The fact that granted each permit that is out.
    granted: Vec<usize>,
}

impl Witness {
    pub(crate) fn new(policy: Policy) -> Self {
        Witness {
            player: Player::new(policy),
            history: History {
                policy,
                facts: Vec::new(),
            },
            granted: Vec::new(),
        }
    }

    /// How long it has been open since it last opened; for ever when it is closed.
    pub(crate) fn since_failure(&self) -> Duration {
        let opened = self.history.findings().opened();
        opened.map_or(Duration::MAX, |(turn, _)| self.player.now.since(turn.at))
    }

    pub(crate) fn take(&mut self, step: Step) -> Result<Did, String> {
        let (player, history) = (&mut self.player, &mut self.history);
        let before = player.now;
        let expected = match step {
            Step::Admit => Some(history.admits(before, None)),
            Step::LastResort(age) => Some(history.admits(before, Some(Duration::from_nanos(age)))),
            Step::Settle(..) | Step::Wait(_) | Step::ToReopening(_) | Step::ToDeadline(_) => None,
        };
        let open = history.findings().opened().is_some();
        let did = player.take(step);
        let seen = match did {
            Did::Granted(facts) => {
                if facts.is_probe != open {
                    return Err(format!("{facts:?}, though open is {open}"));
                }
                self.granted.push(history.facts.len());
                history.facts.push((before, Fact::Granted));
                Some(Ok(()))
            }
            Did::Refused(until) => Some(Err(until)),
            Did::Settled(i, _, signal) => {
                let fact = Fact::Told(self.granted.remove(i), signal);
                history.facts.push((before, fact));
                None
            }
            Did::Nothing => None,
        };
        if seen != expected {
            return Err(format!("{seen:?}, not {expected:?}"));
        }
        let (seen, expected) = (player.view(), history.view(player.now));
        if seen != expected {
            return Err(format!("{seen:?}, not {expected:?}"));
        }
        if player.bank.outstanding() != self.granted.len() {
            return Err("B2".to_owned());
        }
        Ok(did)
    }
}

/// Plays `steps` against both.
pub(crate) fn replay(policy: Policy, steps: &[Step]) -> Result<(), String> {
    let mut witness = Witness::new(policy);
    for (n, step) in steps.iter().enumerate() {
        let did = witness.take(*step);
        did.map_err(|why| format!("step {n} {step:?}: {why}"))?;
    }
    Ok(())
}

/// A random case; says how many steps it took.
pub(crate) fn check(dice: &mut Dice) -> Result<u64, String> {
    let policy = dice.below(policies().len() as u64) as usize;
    let steps = any_steps(dice, 50);
    replay(policies()[policy], &steps).map_err(|why| as_code(policy, &steps, &why))?;
    Ok(steps.len() as u64)
}

/// A case as a test that can be pasted.
pub(crate) fn as_code(policy: usize, steps: &[Step], why: &str) -> String {
    format!(
        "{why}\n\n#[test]\nfn found() {{\n    use Say::*;\n    use Step::*;\n    \
         replay(policies()[{policy}], &{steps:?}).unwrap();\n}}\n"
    )
}
