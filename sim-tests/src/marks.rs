//! Rare things that must have happened, or a green run proves nothing.

use crate::keeper::Answer;
use crate::outcome::{Act, Call, Ending, Outcome};
use crate::scenario::{Fault, Trouble};
use segue_core::Tick;
use segue_core::breaker::Phase;
use segue_sqlite::OperationStatus;
use std::collections::BTreeMap;

/// How often each marked thing happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks(BTreeMap<&'static str, u64>);

impl Marks {
    /// Counts what happened in one run.
    pub fn note(&mut self, outcome: &Outcome) {
        self.activity(outcome);
        self.calls(outcome);
        self.listeners(outcome);
        self.keeper(outcome);
        self.faults(outcome);
        self.hub(outcome);
    }

    fn activity(&mut self, outcome: &Outcome) {
        for row in &outcome.activity {
            let outcomes: Vec<&str> = row.attempts.iter().map(|a| a.outcome.as_str()).collect();
            let served = outcomes.contains(&"served");
            let refused = |o: &str| !matches!(o, "served" | "resumed" | "given_up" | "suspect");
            let resumed = outcomes.contains(&"resumed");
            let status = |status| row.status == status;
            self.hit("failed over", served && outcomes.iter().any(|o| refused(o)));
            self.hit(
                "overtook a slow source",
                served && outcomes.contains(&"given_up"),
            );
            self.hit("exhausted all sources", status(OperationStatus::Failed));
            self.hit("left alone a suspect source", outcomes.contains(&"suspect"));
            self.hit("a stream was cut", status(OperationStatus::Truncated));
            self.hit("a listener left", status(OperationStatus::ClientGone));
            self.hit(
                "a stream was resumed",
                resumed && status(OperationStatus::Completed),
            );
            self.hit(
                "an operation was interrupted",
                status(OperationStatus::Interrupted),
            );
            self.hit(
                "an opening panicked and another was served",
                served && outcomes.contains(&"panicked"),
            );
        }
    }

    fn calls(&mut self, outcome: &Outcome) {
        for call in &outcome.calls {
            let phase = call.breakers[call.source].phase;
            self.hit("probed", phase == Phase::HalfOpen);
            self.hit("took a last resort", matches!(phase, Phase::Open { .. }));
            let never_answered = call.answered.is_none() && call.closed.is_some();
            self.hit("gave up a silent source", never_answered);
            let met = trouble_of(call, &outcome.faults, outcome.healed);
            for trouble in TROUBLES {
                self.hit(trouble, met == Some(trouble));
            }
        }
    }

    fn listeners(&mut self, outcome: &Outcome) {
        let heard = outcome.heard.iter();
        for heard in heard.filter(|heard| heard.act == Act::Trouble) {
            let status = heard.head.map(|(_, head)| head.status);
            self.hit("a part was played", status == Some(206));
            self.hit("a part was not there", status == Some(416));
            let late = heard.ending == Ending::Left && status.is_none();
            self.hit("a listener left before the head", late);
            let lost = heard.head.is_some() && outcome.was_away(heard.asked, heard.over);
            self.hit(
                "a hub died under a stream",
                lost && matches!(heard.ending, Ending::Broken(_)),
            );
        }
    }

    fn keeper(&mut self, outcome: &Outcome) {
        for done in &outcome.deeds {
            self.hit("a mark was kept", done.answer == Answer::Acknowledged);
            self.hit("the keeper got no answer", done.answer == Answer::Silence);
            let refused = matches!(done.answer, Answer::Refused(_));
            self.hit("the keeper was refused", refused);
        }
    }

    fn faults(&mut self, outcome: &Outcome) {
        for fault in FAULTS {
            let made = outcome.faults.iter();
            let made = made.filter(|(_, made)| kind(made) == Some(fault)).count();
            self.add(fault, made as u64);
        }
    }

    fn hub(&mut self, outcome: &Outcome) {
        let fate = outcome.fate;
        for (what, times) in [
            ("the hub was killed", fate.killed),
            ("the power was cut", fate.powerless),
            ("the hub died in a change of its disk", fate.in_a_change),
            ("the hub died at a chosen await", fate.at_an_await),
            ("a hub could not start", fate.false_starts),
            ("a write failed", fate.failed_writes),
            ("a sync failed", fate.failed_syncs),
            ("the disk was full", fate.full),
        ] {
            self.add(what, times);
        }
    }

    /// What was marked, and how often it happened.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(what, hits)| (*what, *hits))
    }

    /// Adds what happened in others.
    pub fn join(&mut self, others: &Marks) {
        for (what, times) in &others.0 {
            self.add(what, *times);
        }
    }

    /// It happened so many times; none says that it ought to happen.
    pub(crate) fn add(&mut self, what: &'static str, times: u64) {
        *self.0.entry(what).or_default() += times;
    }

    fn hit(&mut self, what: &'static str, happened: bool) {
        self.add(what, u64::from(happened));
    }

    /// The things that never happened.
    pub fn missing(&self) -> Vec<&'static str> {
        let marks = self.0.iter();
        marks
            .filter(|(_, hits)| **hits == 0)
            .map(|(what, _)| *what)
            .collect()
    }
}

/// How the source of a call answered then, when not rightly.
fn trouble_of(call: &Call, faults: &[(Tick, Fault)], healed: Tick) -> Option<&'static str> {
    let mut now = None;
    for (at, fault) in faults {
        if *at > call.began {
            break;
        }
        match fault {
            Fault::Trouble(source, trouble) if *source == call.source => now = Some(*trouble),
            Fault::TroubleEverywhere(trouble) => now = Some(*trouble),
            Fault::Mend(source) if *source == call.source => now = None,
            _ => {}
        }
    }
    let arrived = call.answered.is_some() || call.accepted.is_some();
    now.filter(|_| call.began < healed && arrived).map(met)
}

/// What [`met`] can say.
const TROUBLES: [&str; 22] = [
    "met a wrong status",
    "met an error in a 200",
    "met an error page said to be audio",
    "met an empty 200",
    "met a connection that closed before the head",
    "met silence before the head",
    "met silence behind the head",
    "met a slow head",
    "met a 429",
    "met a 503 with Retry-After",
    "met a redirect in a circle",
    "met a redirect elsewhere",
    "met a body shorter than announced",
    "met a body that was cut",
    "met a body that stalled",
    "met a slow drip",
    "met a wrong Content-Range",
    "met the whole for a part",
    "met wrong bytes behind the first",
    "met no Content-Type",
    "met a 401",
    "met an error page in a 200",
];

fn met(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::Status(401) => "met a 401",
        Trouble::Status(_) => "met a wrong status",
        Trouble::ErrorIn200Xml(_) | Trouble::ErrorIn200Json(_) => "met an error in a 200",
        Trouble::ErrorIn200Html => "met an error page in a 200",
        Trouble::ErrorIn200HtmlAsAudio => "met an error page said to be audio",
        Trouble::Empty200 => "met an empty 200",
        Trouble::CloseBeforeHead => "met a connection that closed before the head",
        Trouble::HangBeforeHead => "met silence before the head",
        Trouble::HangAfterHead => "met silence behind the head",
        Trouble::SlowHead(_) => "met a slow head",
        Trouble::Throttled(_) => "met a 429",
        Trouble::Overloaded(_) => "met a 503 with Retry-After",
        Trouble::RedirectInCircle => "met a redirect in a circle",
        Trouble::RedirectElsewhere => "met a redirect elsewhere",
        Trouble::TooLong(_) => "met a body shorter than announced",
        Trouble::CutAt(_) => "met a body that was cut",
        Trouble::StallAt(_) => "met a body that stalled",
        Trouble::SlowDrip(..) => "met a slow drip",
        Trouble::WrongContentRange => "met a wrong Content-Range",
        Trouble::Whole200ToRange => "met the whole for a part",
        Trouble::WrongBytesOnResume => "met wrong bytes behind the first",
        Trouble::NoContentType => "met no Content-Type",
    }
}

/// What [`kind`] can say.
const FAULTS: [&str; 11] = [
    "a source was killed",
    "a source was cut off both ways",
    "a source heard nothing",
    "a source was not heard",
    "a source froze",
    "messages were slow",
    "messages jittered",
    "a panic was laid in an answer",
    "the hub froze",
    "the wall clock was set forward",
    "the wall clock was set back",
];

/// What goes by another name than the trouble that somebody met.
fn kind(fault: &Fault) -> Option<&'static str> {
    Some(match fault {
        Fault::Kill(_) => "a source was killed",
        Fault::Isolate(_) => "a source was cut off both ways",
        Fault::Deafen(_) => "a source heard nothing",
        Fault::Mute(_) => "a source was not heard",
        Fault::Freeze(_) => "a source froze",
        Fault::Latency(_) => "messages were slow",
        Fault::Jitter(_) => "messages jittered",
        Fault::Panic(..) => "a panic was laid in an answer",
        Fault::HubFreezes(_) => "the hub froze",
        Fault::WallStep(hours) if *hours > 0 => "the wall clock was set forward",
        Fault::WallStep(_) => "the wall clock was set back",
        Fault::Restart(_)
        | Fault::Rejoin(_)
        | Fault::Thaw(_)
        | Fault::Trouble(..)
        | Fault::TroubleEverywhere(_)
        | Fault::Mend(_)
        | Fault::Sync
        | Fault::HubDies(..)
        | Fault::DiskFails(..)
        | Fault::DiskFull(_)
        | Fault::DiskMends => return None,
    })
}
