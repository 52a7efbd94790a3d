//! Rare things that must have happened, or a green run proves nothing.

use crate::outcome::{Act, Ending, Outcome};
use segue_core::breaker::Phase;
use segue_sqlite::OperationStatus;
use std::collections::BTreeMap;

/// How often each marked thing happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks(BTreeMap<&'static str, u64>);

impl Marks {
    /// Counts what happened in one run.
    pub fn note(&mut self, outcome: &Outcome) {
        for row in &outcome.activity {
            let outcomes: Vec<&str> = row.attempts.iter().map(|a| a.outcome.as_str()).collect();
            let served = outcomes.contains(&"served");
            let refused = |o: &str| !matches!(o, "served" | "resumed" | "given_up" | "suspect");
            self.hit("failed over", served && outcomes.iter().any(|o| refused(o)));
            self.hit(
                "overtook a slow source",
                served && outcomes.contains(&"given_up"),
            );
            self.hit(
                "exhausted all sources",
                row.status == OperationStatus::Failed,
            );
            self.hit("left alone a suspect source", outcomes.contains(&"suspect"));
            self.hit("a stream was cut", row.status == OperationStatus::Truncated);
            self.hit("a listener left", row.status == OperationStatus::ClientGone);
            let resumed = outcomes.contains(&"resumed");
            self.hit(
                "a stream was resumed",
                resumed && row.status == OperationStatus::Completed,
            );
        }
        for call in &outcome.calls {
            let phase = call.breakers[call.source].phase;
            self.hit("probed", phase == Phase::HalfOpen);
            self.hit("took a last resort", matches!(phase, Phase::Open { .. }));
            let never_answered = call.answered.is_none() && call.closed.is_some();
            self.hit("gave up a silent source", never_answered);
        }
        for heard in outcome
            .heard
            .iter()
            .filter(|heard| heard.act == Act::Trouble)
        {
            let status = heard.head.map(|(_, head)| head.status);
            self.hit("a part was played", status == Some(206));
            self.hit("a part was not there", status == Some(416));
            let late = heard.ending == Ending::Left && status.is_none();
            self.hit("a listener left before the head", late);
        }
    }

    fn hit(&mut self, what: &'static str, happened: bool) {
        *self.0.entry(what).or_default() += u64::from(happened);
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
