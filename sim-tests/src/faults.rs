//! How faults are made, and undone.

use crate::scenario::Fault;
use crate::world::World;
use madsim::net::NetSim;
use madsim::runtime::Handle;
use madsim::task::NodeId;
use segue::upstream::Group;
use std::ops::Range;
use std::time::Duration;

/// What one message takes when nothing is wrong.
const LATENCY: Range<Duration> = Duration::from_millis(1)..Duration::from_millis(10);

/// In milliseconds.
const HOUR: i64 = 3_600_000;

impl World {
    /// Makes a fault. One that is already there, or of a source that is not, is none.
    pub(crate) fn inflict(&self, fault: &Fault) {
        let handle = Handle::current();
        let network = NetSim::current();
        match fault {
            Fault::Kill(n) => self.with(*n, |source| handle.kill(source.node.id())),
            Fault::Restart(n) => self.with(*n, |source| reboot(&handle, source.node.id())),
            Fault::Isolate(n) => self.with(*n, |source| {
                self.dark.set(source.at, true);
                network.clog_node(source.node.id());
            }),
            // Either way nobody can connect: one half of the handshake is lost.
            Fault::Deafen(n) => self.with(*n, |source| {
                self.dark.set(source.at, true);
                network.clog_node_in(source.node.id());
            }),
            Fault::Mute(n) => self.with(*n, |source| {
                self.dark.set(source.at, true);
                network.clog_node_out(source.node.id());
            }),
            Fault::Rejoin(n) => self.with(*n, |source| {
                self.dark.set(source.at, false);
                network.unclog_node(source.node.id());
            }),
            Fault::Freeze(n) => self.with(*n, |source| handle.pause(source.node.id())),
            Fault::Thaw(n) => self.with(*n, |source| handle.resume(source.node.id())),
            Fault::Latency(millis) => {
                let least = Duration::from_millis((*millis).max(1));
                network.update_config(|config| config.send_latency = least..least * 2);
            }
            Fault::Jitter(millis) => {
                let most = Duration::from_millis((*millis).max(1) + 1);
                network.update_config(|config| config.send_latency = LATENCY.start..most);
            }
            Fault::Trouble(n, trouble) => self.with(*n, |source| {
                let faults = source.shared.faults();
                faults.set(Group::Media, (*trouble).into());
            }),
            Fault::TroubleEverywhere(trouble) => {
                for n in 0..self.sources.len() {
                    self.inflict(&Fault::Trouble(n, *trouble));
                }
            }
            Fault::Mend(n) => self.with(*n, |source| source.shared.faults().clear()),
            Fault::Sync => {
                if let Some(hub) = self.station.serving() {
                    hub.sync_state().request();
                }
            }
            Fault::Panic(n, snag) => self.with(*n, |source| {
                self.traps.set(source.at, Some(snag.place()));
            }),
            Fault::HubDies(when, death, back) => self.station.doom(*when, *death, *back),
            Fault::HubFreezes(millis) => self.station.freeze(Duration::from_millis(*millis)),
            Fault::DiskFails(work, after) => self.station.fail(*work, *after),
            Fault::DiskFull(room) => self.station.fill_up(*room),
            Fault::DiskMends => self.station.mend_disk(),
            Fault::WallStep(hours) => self.clock.set_wall_by(hours * HOUR),
        }
    }

    /// Undoes every fault, so that what is still wrong afterwards is our doing.
    pub(crate) fn heal(&self) {
        let handle = Handle::current();
        for (n, source) in self.sources.iter().enumerate() {
            self.inflict(&Fault::Rejoin(n));
            self.inflict(&Fault::Thaw(n));
            self.inflict(&Fault::Mend(n));
            source.shared.faults().release();
            self.traps.set(source.at, None);
            if handle.is_exit(source.node.id()) {
                self.inflict(&Fault::Restart(n));
            }
        }
        NetSim::current().update_config(|config| config.send_latency = LATENCY);
        self.station.heal();
    }

    fn with(&self, number: usize, change: impl FnOnce(&crate::world::Source)) {
        if let Some(source) = self.sources.get(number) {
            change(source);
        }
    }
}

/// `restart` alone leaves the node's old sockets bound and, if it was paused, its clock stopped.
fn reboot(handle: &Handle, node: NodeId) {
    handle.kill(node);
    handle.resume(node);
    handle.restart(node);
}
