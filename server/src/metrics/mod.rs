//! What `/metrics` shows: counters with bounded labels only.
//!
//! The labels are source ids, which the configuration bounds, and closed sets of words.

mod lyrics;

pub use lyrics::{CacheRead, DeliveryResult, LaneGate, LyricsMetrics};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::Mutex;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AttemptLabels {
    source: String,
    outcome: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SourceLabels {
    source: String,
}

/// The metrics of one hub.
#[derive(Debug)]
pub struct Metrics {
    registry: Mutex<Registry>,
    attempts: Family<AttemptLabels, Counter>,
    bytes: Family<SourceLabels, Counter>,
    active: Gauge,
    suspect: Family<SourceLabels, Gauge>,
    tracks: Family<SourceLabels, Gauge>,
    lyrics: LyricsMetrics,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("segue");
        let attempts = Family::default();
        let bytes = Family::default();
        let active = Gauge::default();
        let suspect = Family::default();
        let tracks = Family::default();
        registry.register(
            "stream_attempts",
            "Attempts to open a source for a stream, by what came of them",
            attempts.clone(),
        );
        registry.register(
            "stream_bytes",
            "Bytes handed to clients, by the source they came from",
            bytes.clone(),
        );
        registry.register("streams_active", "Streams under way", active.clone());
        registry.register(
            "source_suspect",
            "1 while a source's breaker is not closed",
            suspect.clone(),
        );
        registry.register("source_tracks", "Tracks a source holds", tracks.clone());
        let lyrics = LyricsMetrics::register(&mut registry);
        Metrics {
            registry: Mutex::new(registry),
            attempts,
            bytes,
            active,
            suspect,
            tracks,
            lyrics,
        }
    }
}

impl Metrics {
    /// One attempt is over.
    pub fn attempt(&self, source: &str, outcome: &str) {
        let labels = AttemptLabels {
            source: source.to_owned(),
            outcome: outcome.to_owned(),
        };
        self.attempts.get_or_create(&labels).inc();
    }

    /// Bytes of a source went to a client.
    pub fn bytes(&self, source: &str, bytes: u64) {
        self.bytes.get_or_create(&labels(source)).inc_by(bytes);
    }

    /// Sets how many streams are under way.
    pub fn set_active(&self, count: usize) {
        self.active.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Sets a source's state.
    pub fn set_source(&self, source: &str, suspect: bool, tracks: u64) {
        self.suspect
            .get_or_create(&labels(source))
            .set(i64::from(suspect));
        self.tracks
            .get_or_create(&labels(source))
            .set(i64::try_from(tracks).unwrap_or(i64::MAX));
    }

    /// What is counted of looking songs up.
    pub fn lyrics(&self) -> &LyricsMetrics {
        &self.lyrics
    }

    /// The OpenMetrics text.
    pub fn encode(&self) -> String {
        let mut text = String::new();
        let registry = segue_core::driver::lock(&self.registry);
        if let Err(error) = prometheus_client::encoding::text::encode(&mut text, &registry) {
            tracing::error!(%error, "metrics could not be written");
        }
        text
    }
}

fn labels(source: &str) -> SourceLabels {
    SourceLabels {
        source: source.to_owned(),
    }
}
