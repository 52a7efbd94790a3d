//! What is counted of looking songs up. Every label is a lane's name, which the configuration bounds, or a word of a
//! closed set: what a provider says never becomes one (S36).

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use segue_core::driver::lock;
use segue_core::queue::{LaneAnswer, Status};
use segue_sqlite::DeliveryStatus;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

/// Bounds of the time a lookup takes, in seconds: from the folder next door to a provider's timeout.
const LOOKUP_SECONDS: [f64; 10] = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnswerLabels {
    lane: String,
    answer: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LaneLabels {
    lane: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatusLabels {
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndLabels {
    end: &'static str,
}

/// Whether a remembered answer could be used.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CacheRead {
    /// It was.
    Hit,
    /// There is none.
    Miss,
    /// It was not looked for: the lanes have changed since.
    Bypassed,
}

/// How one attempt to write a sidecar ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DeliveryResult {
    /// It lies there.
    Delivered,
    /// It must not be written.
    Refused,
    /// It held words of another song, and was taken away.
    Withdrawn,
    /// It could not be written, and is tried again.
    Again,
}

/// How a lane's breaker stands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LaneGate {
    /// It is asked.
    Closed,
    /// It is asked once, to see.
    HalfOpen,
    /// It is not asked.
    Open,
}

impl LaneGate {
    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            LaneGate::Closed => "closed",
            LaneGate::HalfOpen => "half_open",
            LaneGate::Open => "open",
        }
    }
}

/// The part of the metrics that is about lyrics.
#[derive(Debug)]
pub struct LyricsMetrics {
    answers: Family<AnswerLabels, Counter>,
    /// The same numbers, to be shown lane by lane.
    counted: Mutex<BTreeMap<String, BTreeMap<&'static str, u64>>>,
    seconds: Family<LaneLabels, Histogram, fn() -> Histogram>,
    gates: Family<LaneLabels, Gauge>,
    cache: Family<EndLabels, Counter>,
    deliveries: Family<EndLabels, Counter>,
    sidecars: Family<StatusLabels, Gauge>,
    queue: Family<StatusLabels, Gauge>,
    oldest: Gauge,
}

impl LyricsMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = LyricsMetrics {
            answers: Family::default(),
            counted: Mutex::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(LOOKUP_SECONDS)),
            gates: Family::default(),
            cache: Family::default(),
            deliveries: Family::default(),
            sidecars: Family::default(),
            queue: Family::default(),
            oldest: Gauge::default(),
        };
        registry.register(
            "lyrics_answers",
            "What lanes said of songs, or why they were not asked",
            metrics.answers.clone(),
        );
        registry.register_with_unit(
            "lyrics_lookup",
            "How long a lane took for one song",
            Unit::Seconds,
            metrics.seconds.clone(),
        );
        registry.register(
            "lyrics_lane_state",
            "A lane's breaker: 0 closed, 1 half open, 2 open",
            metrics.gates.clone(),
        );
        registry.register(
            "lyrics_cache_reads",
            "Looks for a remembered answer, by what came of them",
            metrics.cache.clone(),
        );
        registry.register(
            "lyrics_deliveries",
            "Attempts to write a sidecar, by what came of them",
            metrics.deliveries.clone(),
        );
        registry.register(
            "lyrics_sidecars",
            "Sidecars by where they stand",
            metrics.sidecars.clone(),
        );
        registry.register(
            "queue_songs",
            "Songs in the queue by where they stand",
            metrics.queue.clone(),
        );
        registry.register_with_unit(
            "queue_oldest",
            "Since when the oldest song waits that nobody has looked up",
            Unit::Seconds,
            metrics.oldest.clone(),
        );
        metrics
    }

    /// A lane answered for one song, or was not asked.
    pub fn answered(&self, lane: &str, answer: LaneAnswer) {
        let labels = AnswerLabels {
            lane: lane.to_owned(),
            answer: answer.as_str(),
        };
        self.answers.get_or_create(&labels).inc();
        let mut counted = lock(&self.counted);
        let of_lane = counted.entry(lane.to_owned()).or_default();
        *of_lane.entry(answer.as_str()).or_default() += 1;
    }

    /// A lane took so long for one song.
    pub fn timed(&self, lane: &str, took: Duration) {
        let seconds = self.seconds.get_or_create(&of(lane));
        seconds.observe(took.as_secs_f64());
    }

    /// What a lane has said since the hub began, by answer.
    pub fn answers_of(&self, lane: &str) -> BTreeMap<&'static str, u64> {
        lock(&self.counted).get(lane).cloned().unwrap_or_default()
    }

    /// A look for a remembered answer.
    pub fn cache_read(&self, read: CacheRead) {
        let end = match read {
            CacheRead::Hit => "hit",
            CacheRead::Miss => "miss",
            CacheRead::Bypassed => "bypassed",
        };
        self.cache.get_or_create(&EndLabels { end }).inc();
    }

    /// An attempt to write a sidecar is over.
    pub fn delivery(&self, result: DeliveryResult) {
        let end = match result {
            DeliveryResult::Delivered => "delivered",
            DeliveryResult::Refused => "refused",
            DeliveryResult::Withdrawn => "withdrawn",
            DeliveryResult::Again => "again",
        };
        self.deliveries.get_or_create(&EndLabels { end }).inc();
    }

    /// Sets how a lane's breaker stands.
    pub fn set_gate(&self, lane: &str, gate: LaneGate) {
        let number = match gate {
            LaneGate::Closed => 0,
            LaneGate::HalfOpen => 1,
            LaneGate::Open => 2,
        };
        self.gates.get_or_create(&of(lane)).set(number);
    }

    /// Sets how many songs stand where, and how long the oldest of those waits that nobody has looked up.
    pub fn set_queue(&self, counts: &[(Status, u64)], oldest: Option<Duration>) {
        for (status, count) in counts {
            let status = status.as_str();
            let gauge = self.queue.get_or_create(&StatusLabels { status });
            gauge.set(i64::try_from(*count).unwrap_or(i64::MAX));
        }
        let seconds = oldest.unwrap_or_default().as_secs();
        self.oldest.set(i64::try_from(seconds).unwrap_or(i64::MAX));
    }

    /// Sets how many sidecars stand where.
    pub fn set_sidecars(&self, counts: &[(DeliveryStatus, u64)]) {
        for (status, count) in counts {
            let status = status.as_str();
            let gauge = self.sidecars.get_or_create(&StatusLabels { status });
            gauge.set(i64::try_from(*count).unwrap_or(i64::MAX));
        }
    }
}

fn of(lane: &str) -> LaneLabels {
    LaneLabels {
        lane: lane.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    #[test]
    fn s36_a_lane_that_was_not_called_has_no_miss_and_no_time() {
        let metrics = Metrics::default();
        let lyrics = metrics.lyrics();
        lyrics.timed("lrclib", Duration::from_millis(30));
        lyrics.answered("lrclib", LaneAnswer::Miss);
        lyrics.answered("musixmatch", LaneAnswer::Open);
        let text = metrics.encode();
        let has = |line: &str| text.lines().any(|found| found == line);
        assert!(has(
            "segue_lyrics_answers_total{lane=\"lrclib\",answer=\"miss\"} 1"
        ));
        assert!(has(
            "segue_lyrics_answers_total{lane=\"musixmatch\",answer=\"open\"} 1"
        ));
        assert!(has(
            "segue_lyrics_lookup_seconds_bucket{le=\"0.05\",lane=\"lrclib\"} 1"
        ));
        assert!(!text.contains("lane=\"musixmatch\",answer=\"miss\""));
        assert!(!text.contains("segue_lyrics_lookup_seconds_count{lane=\"musixmatch\"}"));
        assert_eq!(lyrics.answers_of("lrclib"), [("miss", 1)].into());
    }

    #[test]
    fn s36_the_series_are_bounded_by_lanes_and_words() {
        let metrics = Metrics::default();
        for round in 0..10_000_u64 {
            let answer = LaneAnswer::ALL[(round % 9) as usize];
            let lane = ["local", "lrclib"][(round % 2) as usize];
            metrics.lyrics().answered(lane, answer);
            metrics.lyrics().timed(lane, Duration::from_micros(round));
        }
        let counts: Vec<_> = Status::ALL.map(|status| (status, 7)).into();
        metrics
            .lyrics()
            .set_queue(&counts, Some(Duration::from_secs(90)));
        let text = metrics.encode();
        let series = |name: &str| text.lines().filter(|l| l.starts_with(name)).count();
        assert_eq!(series("segue_lyrics_answers_total{"), 18);
        assert_eq!(series("segue_queue_songs{"), 7);
        assert!(text.contains("segue_queue_oldest_seconds 90\n"));
    }
}
