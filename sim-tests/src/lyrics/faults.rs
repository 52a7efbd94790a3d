//! How things go wrong, and how all is healed.

use super::scenario::{Fault, Knows, Scenario};
use super::songs::beside;
use super::world::World;
use bytes::Bytes;
use madsim::runtime::Handle;
use madsim::time::sleep;
use segue_core::delivery::Form;
use segue_core::io::{Place, ShelfError};
use std::time::Duration;

const MINUTE: i64 = 60_000;

impl World {
    /// Plays what goes wrong.
    pub(crate) async fn go_wrong(&self, scenario: &Scenario) {
        for (after, fault) in &scenario.faults {
            sleep(Duration::from_millis(*after)).await;
            self.ground.trace.note("world", format!("{fault:?}"));
            self.inflict(scenario, fault).await;
        }
    }

    /// Brings the power back wherever it goes; never ends.
    pub(crate) async fn see_to_the_power(&self) {
        loop {
            sleep(Duration::from_millis(20)).await;
            if self.ground.disk.is_off() {
                self.power_cut(17);
                self.start_all(500).await;
            }
        }
    }

    async fn start_all(&self, back: u64) {
        sleep(Duration::from_millis(back)).await;
        for process in &self.processes {
            process.start_again();
        }
    }

    async fn inflict(&self, scenario: &Scenario, fault: &Fault) {
        let (ground, handle) = (&self.ground, Handle::current());
        let history = &ground.history;
        match fault {
            Fault::Kill(process, when, back) => {
                history.count("kill");
                self.processes[*process].doom(*when, *back);
            }
            Fault::Stop(process, back) => {
                history.count("stop");
                self.processes[*process].stop(*back);
            }
            Fault::Freeze(process, millis) => {
                history.count("freeze");
                self.processes[*process].freeze(*millis);
            }
            Fault::PowerCut(seed, back) => {
                self.power_cut(*seed);
                self.start_all(*back).await;
            }
            Fault::PowerCutAtChange(changes) => ground.disk.cut_power_after(*changes),
            Fault::LaneDies(lane) => handle.kill(self.lanes[*lane].node.id()),
            Fault::LaneDark(lane) => ground.dark.set(self.lanes[*lane].at, true),
            Fault::LaneBack(lane) => self.lane_back(*lane),
            Fault::FolderFull(millis) => {
                history.count("folder full");
                ground.shelf.fail(Some(ShelfError::Full));
                let (shelf, millis) = (ground.shelf.clone(), *millis);
                madsim::task::spawn(async move {
                    sleep(Duration::from_millis(millis)).await;
                    shelf.fail(None);
                });
            }
            Fault::WallStep(minutes) => {
                history.count("wall step");
                history.disturb_all();
                ground.clock.set_wall_by(minutes * MINUTE);
            }
            Fault::Days(days) => {
                history.count("days went by");
                self.days_go_by(*days);
            }
            Fault::Learns(song, lane, knows) => {
                if *knows != Knows::Nothing {
                    history.count("a lane learned something");
                    history.learns(*song, *lane, *knows);
                    self.lanes[*lane].learns(*song, *knows);
                }
            }
            Fault::SidecarGone(song) => self.remove_sidecar(*song),
            Fault::SidecarEdited(song) => self.edit_sidecar(scenario, *song),
            Fault::Pass => self.read_folders(),
            Fault::Panic(lane, snag) => {
                history.count("a panic was laid");
                ground.traps.set(self.lanes[*lane].at, Some(snag.place()));
            }
        }
    }

    /// The wall clock goes on by so much, and nothing else has happened.
    pub(crate) fn days_go_by(&self, days: i64) {
        self.ground.history.disturb_all();
        self.ground.clock.set_wall_by(days * 24 * 60 * MINUTE);
    }

    /// A pass over the library ends in every process.
    pub(crate) fn read_folders(&self) {
        for hub in self.processes.iter().filter_map(|process| process.hub()) {
            hub.lookups().library_changed();
        }
    }

    fn lane_back(&self, lane: usize) {
        let (ground, handle) = (&self.ground, Handle::current());
        let lane = &self.lanes[lane];
        ground.dark.set(lane.at, false);
        handle.kill(lane.node.id());
        handle.restart(lane.node.id());
    }

    /// What lies beside the first file of a song.
    fn sidecar(&self, song: usize) -> Option<Place> {
        let forms = [Form::Synced, Form::Plain].into_iter();
        let mut places = forms.map(|form| beside(song, 0, form));
        places.find(|at| self.ground.shelf.get(at).is_some())
    }

    fn remove_sidecar(&self, song: usize) {
        if let Some(at) = self.sidecar(song) {
            self.ground.history.count("a sidecar was removed");
            self.ground.shelf.take(&at);
            self.ground.history.user_writes(&at, None);
        }
    }

    fn edit_sidecar(&self, scenario: &Scenario, song: usize) {
        if scenario.songs[song].files == 0 {
            return;
        }
        let at = match self.sidecar(song) {
            Some(at) => {
                self.ground.history.count("a sidecar was edited");
                at
            }
            None => beside(song, 0, Form::Synced),
        };
        let words = Bytes::from_static(b"edited by hand");
        self.ground.shelf.put(&at, words.clone());
        self.ground.history.user_writes(&at, Some(words));
    }

    /// Undoes everything.
    pub(crate) fn heal(&self, scenario: &Scenario) {
        let ground = &self.ground;
        if ground.disk.is_off() {
            self.power_cut(17);
        }
        ground.disk.heal();
        for lane in 0..self.lanes.len() {
            self.lanes[lane].heal();
            self.lane_back(lane);
            ground.traps.set(self.lanes[lane].at, None);
        }
        ground.shelf.fail(None);
        let steps = scenario.faults.iter().map(|(_, fault)| match fault {
            Fault::WallStep(minutes) => *minutes,
            _ => 0,
        });
        let wrong: i64 = steps.sum();
        if wrong != 0 {
            ground.clock.set_wall_by(-wrong * MINUTE);
            ground.history.disturb_all();
        }
        for process in &self.processes {
            process.heal();
            process.start_again();
        }
        ground.trace.note("world", "all is healed");
    }
}
