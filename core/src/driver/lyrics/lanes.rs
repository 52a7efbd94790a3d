//! The lanes of a process: who can be asked, how, and how each of them fares.

use super::turn::Turn;
use crate::breaker::{Bank, Lane, Persisted, Policy};
use crate::dispatch::Mode;
use crate::driver::lock;
use crate::lyrics::accept::Rules;
use crate::provider::{Cost, Descriptor, Lookup, Provider, Question, Server};
use crate::queue::{Ladders, providers_version};
use crate::time::{Tick, Wall};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a lane asks with: a provider, or what a test puts in its place.
pub trait Codec: Send + Sync {
    /// What is known of it without asking.
    fn descriptor(&self) -> &Descriptor;

    /// A lookup that has not begun.
    fn lookup(&self, question: &Question<'_>) -> Box<dyn Lookup>;
}

impl Codec for Provider {
    fn descriptor(&self) -> &Descriptor {
        Provider::descriptor(self)
    }

    fn lookup(&self, question: &Question<'_>) -> Box<dyn Lookup> {
        Provider::lookup(self, question)
    }
}

/// One lane in use.
#[derive(Clone)]
pub struct Slot {
    /// Its breaker.
    pub lane: Lane,
    /// What it asks with.
    pub codec: Arc<dyn Codec>,
    /// Its turn and pace, which outlive a change of its settings.
    pub turn: Arc<Turn>,
}

impl Slot {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.codec.descriptor().name
    }

    /// Whether its answers come from strangers.
    pub(super) fn is_remote(&self) -> bool {
        match self.codec.descriptor().cost {
            Cost::Remote => true,
            Cost::Local | Cost::OwnSource => false,
        }
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?})", self.name(), self.lane)
    }
}

/// What workers go by, as it is configured now.
#[derive(Clone, Debug)]
pub struct Rulebook {
    /// How lanes are asked.
    pub mode: Mode,
    /// What is accepted.
    pub rules: Rules,
    /// When to try again.
    pub ladders: Ladders,
    /// How soon a lane's breaker opens.
    pub policy: Policy,
    /// How long a claim holds without a sign of life.
    pub lease: Duration,
    /// The Subsonic sources that may be asked, by instance id.
    pub servers: BTreeMap<String, Server>,
    /// Differs from hub to hub, so that not all of them ask a provider at the same moment.
    pub seed: u64,
}

/// Lanes in order of rank, with what workers go by.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Best rank first.
    pub slots: Vec<Slot>,
    /// The rest.
    pub book: Rulebook,
    /// The set of lanes as one number (contracts section 5).
    pub providers_version: u32,
}

impl Setup {
    /// The slot of a lane.
    pub fn slot(&self, lane: Lane) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.lane == lane)
    }

    /// The spacing of a lane, longer by up to a quarter: hubs that were started together drift apart.
    pub(super) fn spacing(&self, slot: &Slot) -> Duration {
        let spacing = slot.codec.descriptor().spacing;
        let mixed = (self.book.seed ^ u64::from(slot.lane.0)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        spacing + spacing.mul_f64((mixed >> 40) as f64 / f64::from(1_u32 << 24) / 4.0)
    }
}

/// How a lane stands, to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneState {
    /// Its name.
    pub name: String,
    /// Its breaker.
    pub breaker: Persisted,
    /// When it may be asked again, by its spacing.
    pub next_call_at: Option<Wall>,
}

/// All lanes of a process with their breakers: what its workers share.
#[derive(Debug)]
pub struct Lanes {
    bank: Mutex<Bank>,
    setup: Mutex<Arc<Setup>>,
    /// Lanes are never used twice: a late verdict must not meet another lane's breaker.
    next: Mutex<u32>,
}

impl Lanes {
    /// No lanes yet.
    pub fn new(book: Rulebook) -> Self {
        Lanes {
            bank: Mutex::default(),
            setup: Mutex::new(Arc::new(Setup {
                slots: Vec::new(),
                book,
                providers_version: 0,
            })),
            next: Mutex::new(0),
        }
    }

    /// What workers go by now.
    pub fn setup(&self) -> Arc<Setup> {
        Arc::clone(&lock(&self.setup))
    }

    /// The breakers.
    pub fn bank(&self) -> &Mutex<Bank> {
        &self.bank
    }

    /// Takes up a configuration: lookups under way go on as they began. A lane of a known name keeps its breaker and its
    /// pace; a new one begins with what is `stored` of it, if that is anything.
    pub fn take_up(
        &self,
        codecs: Vec<Arc<dyn Codec>>,
        book: Rulebook,
        stored: &BTreeMap<String, LaneState>,
        now: Tick,
        wall: Wall,
    ) {
        let before = self.setup();
        let mut bank = lock(&self.bank);
        let mut next = lock(&self.next);
        let slots: Vec<Slot> = (codecs.into_iter())
            .map(|codec| {
                let name = &codec.descriptor().name;
                if let Some(known) = before.slots.iter().find(|slot| slot.name() == name) {
                    bank.register(known.lane, book.policy);
                    return Slot {
                        codec,
                        ..known.clone()
                    };
                }
                let lane = Lane(*next);
                *next += 1;
                let descriptor = codec.descriptor();
                // A process that was killed could not say when it last asked: it may have been a moment ago.
                let mut wait = match descriptor.cost {
                    Cost::Remote => descriptor.spacing,
                    Cost::Local | Cost::OwnSource => Duration::ZERO,
                };
                match stored.get(name) {
                    Some(state) => {
                        bank.restore(lane, book.policy, state.breaker, now, wall);
                        if let Some(at) = state.next_call_at {
                            let stored = u64::try_from(at.millis_since(wall)).unwrap_or(0);
                            let most = descriptor.spacing.mul_f64(1.25);
                            wait = wait.max(Duration::from_millis(stored).min(most));
                        }
                    }
                    None => bank.register(lane, book.policy),
                }
                Slot {
                    lane,
                    codec,
                    turn: Arc::new(Turn::not_before(now + wait)),
                }
            })
            .collect();
        for gone in &before.slots {
            if slots.iter().all(|slot| slot.lane != gone.lane) {
                bank.remove(gone.lane);
            }
        }
        let names: Vec<&str> = slots.iter().map(Slot::name).collect();
        let version = providers_version(&names);
        *lock(&self.setup) = Arc::new(Setup {
            slots,
            book,
            providers_version: version,
        });
    }

    /// Takes up what was found out about the Subsonic sources.
    pub fn set_servers(&self, servers: BTreeMap<String, Server>) {
        let mut setup = lock(&self.setup);
        if setup.book.servers != servers {
            let mut changed = Setup::clone(&setup);
            changed.book.servers = servers;
            *setup = Arc::new(changed);
        }
    }

    /// How all lanes stand, to be stored.
    pub fn states(&self, now: Tick, wall: Wall) -> Vec<LaneState> {
        let setup = self.setup();
        let bank = lock(&self.bank);
        let states = setup.slots.iter().filter_map(|slot| {
            let free_at = slot.turn.free_at();
            Some(LaneState {
                name: slot.name().to_owned(),
                breaker: bank.snapshot(slot.lane, now, wall)?,
                next_call_at: (free_at > now).then(|| wall + free_at.since(now)),
            })
        });
        states.collect()
    }
}
