//! What the hub logs, in the timeline and in simulated time. An error in a log is a failure of the test.

use segue_core::Tick;
use segue_core::driver::lock;
use segue_core::io::Clock;
use segue_runtime_sim::{SimClock, SimTrace};
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

/// Collects the events of our own crates. Spans and other crates are left out: madsim numbers its nodes
/// and tasks over the whole process, so what they say differs from run to run.
pub(crate) struct Log {
    trace: SimTrace,
    clock: SimClock,
    errors: Errors,
}

/// Errors that were logged, and when.
pub(crate) type Errors = Arc<Mutex<Vec<(Tick, String)>>>;

impl Log {
    /// Notes what is logged in `trace`, and errors in `errors` as well.
    pub(crate) fn new(trace: SimTrace, clock: SimClock, errors: Errors) -> Self {
        Log {
            trace,
            clock,
            errors,
        }
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.is_event()
        && metadata.target().starts_with("segue")
        && *metadata.level() <= Level::INFO
}

impl Subscriber for Log {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        match is_ours(metadata) {
            true => Interest::always(),
            false => Interest::never(),
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_ours(metadata)
    }

    fn event(&self, event: &Event<'_>) {
        if !is_ours(event.metadata()) {
            return;
        }
        let level = event.metadata().level();
        let mut line = Line(format!("{level}"));
        event.record(&mut line);
        self.trace.note("log", line.0.clone());
        if *level == Level::ERROR {
            lock(&self.errors).push((self.clock.now(), line.0));
        }
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // A `String` cannot fail to be written to.
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}
