//! The ways an upstream fails, switched while it runs.

use super::shared::Shared;
use std::collections::VecDeque;
use std::time::Duration;

/// What a fault applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// `stream` and `download`.
    Media,
    /// `getCoverArt`.
    Art,
    /// Everything else.
    Api,
}

impl Group {
    /// All groups.
    pub const ALL: [Group; 3] = [Group::Media, Group::Art, Group::Api];
}

/// Whether connections are accepted at all. Only for an upstream that listens itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Door {
    /// Accepting.
    #[default]
    Open,
    /// The listener is closed: a connection is refused. Connections that stand go on.
    Refuse,
    /// The listener's queue is full and nobody accepts: Linux drops the handshake without an answer, just as a
    /// dead machine behind a firewall would. Connections that stand go on.
    BlackHole,
}

/// One way to answer wrongly. Byte counts are of the body, from the first byte of this response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Fault {
    /// Takes the request and says nothing until [`Faults::release`].
    HangBeforeHead,
    /// A right head, then no body byte until [`Faults::release`].
    HangAfterHead,
    /// The right answer, this much later.
    SlowHead(Duration),
    /// The connection ends without a head.
    CloseBeforeHead,
    /// Status 200 with an error envelope in XML, whatever was asked for.
    ErrorIn200Xml { code: u32 },
    /// Status 200 with an error envelope in JSON, whatever was asked for.
    ErrorIn200Json { code: u32 },
    /// Status 200 with a login page.
    ErrorIn200Html,
    /// The login page again, but said to be `audio/mpeg`.
    ErrorIn200HtmlAsAudio,
    /// Status 200, `audio/mpeg`, no byte.
    Empty200,
    /// This status with a text that must never reach a client ([`Fault::LEAK`]).
    Status(u16),
    /// 429, with the seconds of Retry-After.
    Status429 { retry_after: Option<u32> },
    /// 503, with the seconds of Retry-After.
    Status503 { retry_after: Option<u32> },
    /// 302 to this URL.
    RedirectTo(String),
    /// The right head, so many body bytes, and the connection ends.
    CutAt(u64),
    /// A head that announces so many bytes more than the body has; behind it the connection ends.
    TooLong(u64),
    /// The right head, so many body bytes, and silence until [`Faults::release`].
    StallAt(u64),
    /// 206 whose Content-Range starts elsewhere than asked, with the bytes from there.
    WrongContentRange,
    /// The whole track with 200, whatever range was asked for.
    Whole200ToRange,
    /// The right answer, so many bytes at a time.
    SlowDrip { bytes: u64, every: Duration },
    /// Right for a request from the start; to one that starts later, other bytes of the right length.
    WrongBytesOnResume,
    /// The right answer without a Content-Type.
    NoContentType,
}

impl Fault {
    /// The text in every wrong body. A test looks for it where it must not be.
    pub const LEAK: &'static str = "upstream-private-text";
}

/// The handle on an upstream's faults. Cheap to clone.
#[derive(Clone)]
pub struct Faults(pub(super) Shared);

impl Faults {
    /// From now on requests of `group` fail this way.
    pub fn set(&self, group: Group, fault: Fault) {
        self.0
            .switches(|switches| switches.by_group.retain(|(of, _)| *of != group));
        self.0
            .switches(|switches| switches.by_group.push((group, fault)));
    }

    /// From now on every request fails this way.
    pub fn set_all(&self, fault: &Fault) {
        for group in Group::ALL {
            self.set(group, fault.clone());
        }
    }

    /// From now on requests of `group` for this id fail this way, whatever is set for the group.
    pub fn set_for(&self, group: Group, id: &str, fault: Fault) {
        let id = id.to_owned();
        self.0
            .switches(|switches| switches.by_id.push((group, id, fault)));
    }

    /// The next request of `group` fails this way, before anything else that is set; `None` makes it succeed. Calls queue up.
    pub fn next(&self, group: Group, fault: Option<Fault>) {
        self.0
            .switches(|switches| switches.queued.push_back((group, fault)));
    }

    /// Requests to come are answered rightly. Those that hang go on hanging.
    pub fn clear(&self) {
        self.0.switches(|switches| *switches = Switches::default());
    }

    /// Lets everything that hangs or stalls now go on as if nothing had been wrong.
    pub fn release(&self) {
        self.0.release();
    }

    /// Opens or closes the listener; returns when it is done.
    ///
    /// # Panics
    /// When the upstream does not listen itself.
    pub async fn door(&self, door: Door) {
        self.0.move_door(door).await;
    }

    /// Ends every connection that stands, in mid-byte where it must.
    pub fn cut_connections(&self) {
        self.0.cut_connections();
    }

    /// Like a killed process: refuses, and every connection ends.
    pub async fn die(&self) {
        self.door(Door::Refuse).await;
        self.cut_connections();
    }

    /// Listens again, on the same port, with no fault left.
    pub async fn revive(&self) {
        self.clear();
        self.door(Door::Open).await;
    }
}

/// What is set at the moment.
#[derive(Debug, Default)]
pub(super) struct Switches {
    by_group: Vec<(Group, Fault)>,
    by_id: Vec<(Group, String, Fault)>,
    queued: VecDeque<(Group, Option<Fault>)>,
}

impl Switches {
    /// The fault for one request.
    pub(super) fn take(&mut self, group: Group, id: Option<&str>) -> Option<Fault> {
        if let Some(at) = self.queued.iter().position(|(of, _)| *of == group) {
            return self.queued.remove(at).and_then(|(_, fault)| fault);
        }
        let by_id = self.by_id.iter().rev();
        let by_id = by_id.filter(|(of, for_id, _)| *of == group && Some(for_id.as_str()) == id);
        let by_group = self.by_group.iter().filter(|(of, _)| *of == group);
        by_id
            .map(|(_, _, fault)| fault)
            .chain(by_group.map(|(_, fault)| fault))
            .next()
            .cloned()
    }
}
