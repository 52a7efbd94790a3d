//! What happens in one cycle: how the provider is, who is killed, and when.

use crate::chance::Chance;
use crate::provider::Manner;
use std::time::Duration;

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Hub,
    Beside,
    Both,
}

impl Who {
    pub(super) fn is(self, seat: Seat) -> bool {
        match self {
            Who::Both => true,
            Who::Hub => seat == Seat::Hub,
            Who::Beside => seat == Seat::Beside,
        }
    }
}

/// One of the two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seat {
    Hub,
    Beside,
}

impl Seat {
    pub(super) const ALL: [Seat; 2] = [Seat::Hub, Seat::Beside];

    pub(super) fn log(self) -> &'static str {
        match self {
            Seat::Hub => "log",
            Seat::Beside => "log-beside",
        }
    }

    pub(super) fn arguments(self) -> &'static [&'static str] {
        match self {
            Seat::Hub => &["serve", "--listen", "127.0.0.1:0"],
            Seat::Beside => &["lyrics", "work"],
        }
    }
}

/// When they are killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trigger {
    /// In their start: when they hold so many descriptors.
    Start(usize),
    /// When the provider has been asked so many times.
    Asked(usize),
    /// When so many sidecars have appeared.
    Written(usize),
    /// When an unfinished sidecar lies there.
    Unfinished,
    /// When a song is taken.
    Claimed,
    /// Right after so many calls were acknowledged.
    Acknowledged(u64),
    /// Some time later.
    Rest,
}

impl Trigger {
    pub(super) fn kind(self) -> &'static str {
        match self {
            Trigger::Start(_) => "starting",
            Trigger::Asked(_) => "asking",
            Trigger::Written(_) => "written",
            Trigger::Unfinished => "writing",
            Trigger::Claimed => "claiming",
            Trigger::Acknowledged(_) => "acknowledging",
            Trigger::Rest => "resting",
        }
    }
}

/// What one cycle does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) who: Who,
    pub(super) trigger: Trigger,
    pub(super) manner: Manner,
}

impl Plan {
    pub(super) fn of(seed: u64, cycle: u64) -> Plan {
        let chance = &mut Chance::of(seed, cycle);
        let who = *chance.among(&[Who::Hub, Who::Beside, Who::Both, Who::Both]);
        let trigger = match chance.below(20) {
            0..3 => Trigger::Start(3 + chance.below(34) as usize),
            3..9 => Trigger::Asked(1 + chance.below(4) as usize),
            9..13 => Trigger::Written(1 + chance.below(3) as usize),
            13..16 => Trigger::Unfinished,
            16..18 => Trigger::Claimed,
            18 => Trigger::Acknowledged(1 + chance.below(3)),
            _ => Trigger::Rest,
        };
        let manner = Manner {
            slow: Duration::from_millis(*chance.among(&[0, 20, 80])),
            fails_one_in: *chance.among(&[0, 0, 12, 4]),
        };
        Plan {
            who,
            trigger,
            manner,
        }
    }
}
