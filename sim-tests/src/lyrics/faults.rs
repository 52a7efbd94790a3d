//! How things go wrong, and how all is healed.

use super::scenario::{Fault, Scenario};
use super::songs::beside;
use super::world::World;
use madsim::runtime::Handle;
use madsim::time::sleep;
use segue_core::delivery::Form;
use segue_core::io::ShelfError;
use std::time::Duration;

const MINUTE: i64 = 60_000;

impl World {
    /// Plays what goes wrong.
    pub(crate) async fn go_wrong(&self, scenario: &Scenario) {
        for (after, fault) in &scenario.faults {
            sleep(Duration::from_millis(*after)).await;
            self.ground.trace.note("world", format!("{fault:?}"));
            self.inflict(fault).await;
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

    async fn inflict(&self, fault: &Fault) {
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
                history.disturb_all();
                ground.clock.set_wall_by(days * 24 * 60 * MINUTE);
            }
            Fault::Learns(song, lane, knows) => {
                history.learns(*song, *lane, *knows);
                self.lanes[*lane].learns(*song, *knows);
            }
            Fault::SidecarGone(song) => self.lay(*song, None),
            Fault::SidecarEdited(song) => self.lay(*song, Some("edited by hand")),
            Fault::Redeliver(song) => self.redeliver(*song).await,
        }
    }

    fn lane_back(&self, lane: usize) {
        let (ground, handle) = (&self.ground, Handle::current());
        let lane = &self.lanes[lane];
        ground.dark.set(lane.at, false);
        handle.kill(lane.node.id());
        handle.restart(lane.node.id());
    }

    /// Somebody does something to what lies beside the first file of a song.
    fn lay(&self, song: usize, text: Option<&'static str>) {
        for form in [Form::Synced, Form::Plain] {
            let at = beside(song, 0, form);
            if self.ground.shelf.get(&at).is_none() {
                continue;
            }
            match text {
                Some(text) => self.ground.shelf.put(&at, text),
                None => self.ground.shelf.take(&at),
            }
            let text = text.map(|text| text.as_bytes().to_vec().into());
            self.ground.history.user_writes(&at, text);
            return;
        }
    }

    async fn redeliver(&self, song: usize) {
        let title = super::songs::TITLES[song];
        let parcels = self.ground.look(|reader| reader.deliveries(0, 1_000));
        let (Some(hub), now) = (
            self.processes.iter().find_map(|process| process.hub()),
            segue_core::io::Clock::wall(&self.ground.clock),
        ) else {
            return;
        };
        for parcel in parcels {
            if parcel.file.path.contains(title) {
                let scan_id = parcel.scan_id;
                let asked = hub.write(move |w| w.redeliver(scan_id, now)).await;
                asked.expect("a store that can be written");
                hub.wanted().ring();
            }
        }
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
