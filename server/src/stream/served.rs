//! Which source served a user and track last, so that a seek goes on with the same bytes (rule 8).

use segue_core::catalog::model::TrackSource;
use segue_core::driver::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Beyond this many, the oldest are forgotten; a forgotten one costs a seek its cheap continuation.
const REMEMBERED: usize = 10_000;

#[derive(Debug, Default)]
struct Memory {
    last: BTreeMap<(String, String), (u64, String, String)>,
    order: BTreeMap<u64, (String, String)>,
    next: u64,
}

/// The memory of one hub.
#[derive(Debug, Default)]
pub struct LastServed(Mutex<Memory>);

impl LastServed {
    /// This source's bytes went to that user.
    pub fn remember(&self, user: &str, track_id: &str, source: &TrackSource) {
        let mut memory = lock(&self.0);
        let serial = memory.next;
        memory.next += 1;
        let key = (user.to_owned(), track_id.to_owned());
        let value = (serial, source.instance.clone(), source.remote_id.clone());
        if let Some((old, ..)) = memory.last.insert(key.clone(), value) {
            memory.order.remove(&old);
        }
        memory.order.insert(serial, key);
        if memory.last.len() > REMEMBERED
            && let Some((_, key)) = memory.order.pop_first()
        {
            memory.last.remove(&key);
        }
    }

    /// Index of the source that served last among `sources`.
    pub fn find(&self, user: &str, track_id: &str, sources: &[TrackSource]) -> Option<usize> {
        let memory = lock(&self.0);
        let (_, instance, remote_id) = memory.last.get(&(user.to_owned(), track_id.to_owned()))?;
        sources
            .iter()
            .position(|s| s.instance == *instance && s.remote_id == *remote_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(remote_id: usize) -> TrackSource {
        TrackSource {
            instance: "home".to_owned(),
            remote_id: remote_id.to_string(),
            ..TrackSource::default()
        }
    }

    #[test]
    fn the_last_source_is_remembered_per_user_and_track_and_the_oldest_forgotten() {
        let served = LastServed::default();
        for n in 0..=REMEMBERED {
            served.remember("ann", &n.to_string(), &source(n));
        }
        assert_eq!(served.find("ann", "0", &[source(0)]), None);
        assert_eq!(served.find("ann", "1", &[source(0), source(1)]), Some(1));
        assert_eq!(served.find("bob", "1", &[source(1)]), None);
        served.remember("ann", "1", &source(7));
        assert_eq!(served.find("ann", "1", &[source(1), source(7)]), Some(1));
    }
}
