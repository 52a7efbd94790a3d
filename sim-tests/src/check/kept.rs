//! What the hub acknowledged is there afterwards, whatever it died of meanwhile: marks, activity, ids, a sound file.

use crate::keeper::{Answer, Done, Marks, Played};
use crate::outcome::Outcome;
use crate::scenario::{Deed, Scenario};
use segue_core::Tick;
use std::collections::BTreeMap;

pub(super) fn check(_: &Scenario, outcome: &Outcome, broken: &mut Vec<String>) {
    let tracks = outcome.ids.0.len();
    let mut possible = vec![Possible::default(); tracks];
    let mut played = BTreeMap::new();
    for done in &outcome.deeds {
        answered(done, outcome, broken);
        match &done.answer {
            Answer::Shown(shown) => {
                for (track, marks) in shown.marks.iter().enumerate() {
                    let Some(marks) = marks else { continue };
                    possible[track].looked_at(track, *marks, broken);
                }
                was_played(&shown.played, &mut played, done.over, broken);
            }
            Answer::Acknowledged => possible.iter_mut().enumerate().for_each(|(track, of)| {
                of.done(track, done.deed);
            }),
            Answer::Refused(_) | Answer::Silence => {
                possible.iter_mut().enumerate().for_each(|(track, of)| {
                    of.perhaps_done(track, done.deed);
                });
            }
        }
    }
    if outcome.ids.0 != outcome.ids.1 {
        broken.push(format!("the ids have changed: {:?}", outcome.ids));
    }
    for damage in &outcome.damage {
        broken.push(format!("the database is damaged: {damage}"));
    }
}

/// A hub that is there answers, and one whose disk is well does as it is told.
fn answered(done: &Done, outcome: &Outcome, broken: &mut Vec<String>) {
    let (from, to) = (done.asked, done.over);
    let excused = match &done.answer {
        Answer::Acknowledged | Answer::Shown(_) => true,
        Answer::Silence => outcome.was_away(from, to),
        Answer::Refused(_) => outcome.disk_was_ill(from, to),
    };
    if !excused {
        broken.push(format!(
            "the keeper at {from:?}: {:?}: {:?}",
            done.deed, done.answer
        ));
    }
}

/// What the marks of a track may be by what was acknowledged. What was refused, or not answered, may be there or not:
/// a change whose sync failed is whole or absent after a crash.
#[derive(Clone, Debug)]
struct Possible {
    starred: Vec<bool>,
    rating: Vec<u64>,
    plays: (u64, u64),
}

impl Default for Possible {
    fn default() -> Self {
        Possible {
            starred: vec![false],
            rating: vec![0],
            plays: (0, 0),
        }
    }
}

impl Possible {
    fn done(&mut self, track: usize, deed: Deed) {
        match deed {
            Deed::Star(of) if of == track => self.starred = vec![true],
            Deed::Unstar(of) if of == track => self.starred = vec![false],
            Deed::Rate(of, rating) if of == track => self.rating = vec![rating.into()],
            Deed::Scrobble(of) if of == track => {
                self.plays = (self.plays.0 + 1, self.plays.1 + 1);
            }
            Deed::Star(_) | Deed::Unstar(_) | Deed::Rate(..) | Deed::Scrobble(_) | Deed::Look => {}
        }
    }

    fn perhaps_done(&mut self, track: usize, deed: Deed) {
        match deed {
            Deed::Star(of) if of == track => self.starred.push(true),
            Deed::Unstar(of) if of == track => self.starred.push(false),
            Deed::Rate(of, rating) if of == track => self.rating.push(rating.into()),
            Deed::Scrobble(of) if of == track => self.plays.1 += 1,
            Deed::Star(_) | Deed::Unstar(_) | Deed::Rate(..) | Deed::Scrobble(_) | Deed::Look => {}
        }
    }

    fn looked_at(&self, track: usize, marks: Marks, broken: &mut Vec<String>) {
        let fits = self.starred.contains(&marks.starred)
            && self.rating.contains(&marks.rating)
            && (self.plays.0..=self.plays.1).contains(&marks.plays);
        if !fits {
            broken.push(format!(
                "what was acknowledged of track {track} is lost: {marks:?} is none of {self:?}"
            ));
        }
    }
}

/// An operation that was shown is there ever after, and one that was shown as over stays as it was.
fn was_played(
    shown: &[Played],
    before: &mut BTreeMap<i64, Played>,
    at: Tick,
    broken: &mut Vec<String>,
) {
    let now: BTreeMap<i64, Played> = shown.iter().map(|row| (row.id, row.clone())).collect();
    for (id, then) in &*before {
        let same = now.get(id).is_some_and(|now| {
            now.client == then.client && (then.status == "active" || now == then)
        });
        if !same {
            broken.push(format!(
                "activity that was shown is lost at {at:?}: {then:?} is {:?}",
                now.get(id)
            ));
        }
    }
    *before = now;
}
