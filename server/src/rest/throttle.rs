//! Slows the guessing of passwords: who failed too often is answered "wrong" without a look.
//!
//! Keyed by user and peer, so that a stranger cannot lock a user out. Bounded, and on the monotonic
//! clock. Pure: time is passed in.

use segue_core::time::Tick;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// So many failures within [`WINDOW`] begin a hold.
const LIMIT: u32 = 10;

/// Counting starts anew this long after the first failure.
const WINDOW: Duration = Duration::from_secs(60);

/// How long a hold lasts.
const HOLD: Duration = Duration::from_secs(60);

/// Rows kept. Past it the oldest goes: an attacker with so many addresses is not stopped by counting.
const CAPACITY: usize = 4096;

/// Longer names are cut in the key; no user has one.
const NAME_LIMIT: usize = 128;

/// Who tries to log in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claimant {
    user: String,
    peer: Option<IpAddr>,
}

impl Claimant {
    /// The claim to be `user`, from `peer`. An IPv6 peer counts as its /64, which one machine has to itself.
    pub fn new(user: &str, peer: Option<IpAddr>) -> Self {
        let peer = peer.map(|ip| match ip.to_canonical() {
            IpAddr::V4(v4) => IpAddr::V4(v4),
            IpAddr::V6(v6) => {
                let prefix = v6.to_bits() >> 64 << 64;
                IpAddr::V6(Ipv6Addr::from_bits(prefix))
            }
        });
        Claimant {
            user: user.chars().take(NAME_LIMIT).collect(),
            peer,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Row {
    failures: u32,
    /// When the count, or the hold, is over.
    until: Tick,
}

/// Recent failures.
#[derive(Debug, Default)]
pub struct Throttle(BTreeMap<Claimant, Row>);

impl Throttle {
    /// Whether `who` is to be refused unheard.
    pub fn is_held(&self, who: &Claimant, now: Tick) -> bool {
        self.0
            .get(who)
            .is_some_and(|row| row.failures >= LIMIT && now < row.until)
    }

    /// `who` failed to log in.
    pub fn failed(&mut self, who: Claimant, now: Tick) {
        if !self.0.contains_key(&who) {
            self.make_room(now);
        }
        let fresh = Row {
            failures: 0,
            until: now + WINDOW,
        };
        let row = self.0.entry(who).or_insert(fresh);
        if now >= row.until {
            *row = fresh;
        }
        row.failures += 1;
        if row.failures == LIMIT {
            row.until = now + HOLD;
        }
    }

    /// `who` logged in.
    pub fn succeeded(&mut self, who: &Claimant) {
        self.0.remove(who);
    }

    fn make_room(&mut self, now: Tick) {
        if self.0.len() < CAPACITY {
            return;
        }
        self.0.retain(|_, row| now < row.until);
        while self.0.len() >= CAPACITY {
            let Some(oldest) = self
                .0
                .iter()
                .min_by_key(|(_, row)| row.until)
                .map(|(who, _)| who.clone())
            else {
                return;
            };
            self.0.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Tick {
        Tick::from_millis(seconds * 1000)
    }

    fn alice() -> Claimant {
        Claimant::new("alice", Some(IpAddr::from([10, 0, 0, 1])))
    }

    #[test]
    fn ten_failures_in_a_minute_hold_for_a_minute() {
        let mut throttle = Throttle::default();
        for second in 0..10 {
            assert!(!throttle.is_held(&alice(), at(second)));
            throttle.failed(alice(), at(second));
        }
        assert!(throttle.is_held(&alice(), at(9)));
        assert!(throttle.is_held(&alice(), at(68)));
        assert!(!throttle.is_held(&alice(), at(69)));
        throttle.failed(alice(), at(70));
        assert!(
            !throttle.is_held(&alice(), at(70)),
            "counted from one again"
        );
    }

    #[test]
    fn slow_failures_never_hold() {
        let mut throttle = Throttle::default();
        for minute in 0..100 {
            throttle.failed(alice(), at(minute * 7));
            assert!(!throttle.is_held(&alice(), at(minute * 7)));
        }
    }

    #[test]
    fn others_are_not_held_with_them() {
        let mut throttle = Throttle::default();
        for _ in 0..10 {
            throttle.failed(alice(), at(0));
        }
        let elsewhere = Claimant::new("alice", Some(IpAddr::from([10, 0, 0, 2])));
        let bob = Claimant::new("bob", Some(IpAddr::from([10, 0, 0, 1])));
        assert!(!throttle.is_held(&elsewhere, at(1)));
        assert!(!throttle.is_held(&bob, at(1)));
        throttle.succeeded(&alice());
        assert!(!throttle.is_held(&alice(), at(1)));
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_peer() {
        let a = Claimant::new("x", "2001:db8::1".parse().ok());
        let b = Claimant::new("x", "2001:db8::ffff:1".parse().ok());
        let c = Claimant::new("x", "2001:db8:0:1::1".parse().ok());
        assert_eq!(a, b);
        assert_ne!(a, c);
        let mapped = Claimant::new("x", "::ffff:10.0.0.1".parse().ok());
        assert_eq!(mapped, Claimant::new("x", "10.0.0.1".parse().ok()));
    }

    #[test]
    fn the_table_is_bounded() {
        let mut throttle = Throttle::default();
        for i in 0..2 * CAPACITY {
            throttle.failed(Claimant::new(&i.to_string(), None), at(0));
        }
        assert_eq!(throttle.0.len(), CAPACITY);
    }
}
