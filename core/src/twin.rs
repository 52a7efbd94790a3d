//! Broken twins: for each rule a deliberate bug that removes it, to see that the tests notice.
//!
//! A bug is chosen for one thread, for as long as a function runs, and only in builds with the feature
//! `twins`, which no build of the `segue` binary asks for. Without it [`is`] is the constant `false`, and
//! nothing of a twin is left in the program.
//!
//! `core/tests/twins/` and `sim-tests/tests/twins.rs` run the checks against each of them.

/// A rule of the contracts, removed.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Twin {
    /// A breaker lets any number of probes out at once.
    ProbeFlood,
    /// A verdict from before a trip or a close counts.
    StaleSignalAccepted,
    /// A call that we gave up counts as a failure.
    AbandonedCounts,
    /// A last-resort call that fails shortens the wait.
    ReopeningMovesBack,
    /// Every window is as long as the first.
    WindowNeverGrows,
    /// A source that asks us to wait is not waited for.
    RetryAfterIgnored,
    /// A source may ask us to wait for as long as it likes.
    RetryAfterUnclamped,
    /// The slot of a probe that hangs is never free again.
    ProbeNeverExpires,
    /// The verdict of a probe counts after its slot was taken from it.
    LateVerdictCounts,
    /// A stored wait grows when the wall clock steps back.
    StoredWaitGrows,
    /// An open breaker is seen to be due only once somebody calls.
    RecoveryUnseen,
    /// A clean "not here" proves that the credentials were once good.
    MissProvesCredentials,
    /// A suspect source is tried again the moment after it failed.
    LastResortAtOnce,

    /// The permits of a dispatch that is cancelled are not handed back.
    PermitLeakedOnCancel,
    /// The permits of a driver that is dropped are not handed back.
    PermitLeakedOnDrop,
    /// A client that goes away is held against the sources.
    ClientGoneCounted,
    /// A dispatch that has won may win again.
    SecondCommit,
    /// A dispatch goes on to the next lane after it is over.
    CallAfterSettle,
    /// The losers of a race are not told to stop.
    LoserNotAborted,
    /// The driver does not stop a call that it is told to stop.
    AbortIgnored,
    /// Ordered lanes are all called at once.
    OrderedOverlaps,
    /// One lane is called twice at the same time.
    TwoCallsOfOneLane,
    /// The answer that came last wins.
    WorseAnswerWins,
    /// Each held answer begins the race window again.
    WindowRestarted,
    /// A lane whose breaker is open is called.
    OpenLaneCalled,
    /// Of answers at one instant, the one that is named first wins.
    BatchInGivenOrder,
    /// A miss is recorded though a lane failed.
    MissDespiteDoubt,
    /// An answer at the deadline is held although nothing better can come.
    HeldAtTheDeadline,
    /// The timer is heard before an answer that is ready.
    TimerBeforeAnswer,
    /// A call has one budget for all its stages.
    StageBudgetKept,
    /// The time that one lane has used up is taken from the others.
    BudgetShared,
    /// A candidate that has accepted no longer holds up the next one.
    AcceptanceIgnored,
    /// A source that swallowed a connection while another one played is waited for the next time.
    SilentLoserForgiven,
    /// A candidate that is due by now waits behind those that are a last resort.
    DuePassedOver,
    /// An opening has no budget as a whole.
    OpeningUnbounded,

    /// The first bytes are passed on before they can be judged.
    BytesBeforeValidation,
    /// An error document that says it is audio is audio.
    DocumentAccepted,
    /// What says that it is no media is taken for media.
    MediaTypeIgnored,
    /// A body of no bytes is a track.
    EmptyAccepted,
    /// A part is taken that was not asked for.
    WrongRangeAccepted,
    /// A redirect is followed to any host.
    RedirectAnywhere,
    /// A track that is not there is held against its instance.
    MissingTrackBlamed,
    /// A source that was as fast as the winner stays "running" in the record.
    FastLoserRunning,

    /// A paused client makes its source time out.
    IdleWhilePaused,
    /// A body that ends short of its length ends cleanly.
    ShortBodyEndsCleanly,
    /// A body that breaks ends cleanly.
    BreakEndsCleanly,
    /// A body that runs past its length is passed on.
    OverlongDelivered,
    /// A copy goes on although its bytes are not those before it.
    ResumeUnproved,
    /// A copy of another length goes on.
    ResumeOfAnyLength,
    /// A range is answered from another encode.
    RangeSpliced,
    /// A client that holds bytes of another version gets a part of this one.
    IfRangeIgnored,
    /// The upstream of a stream that is over stays open.
    UpstreamKept,
    /// A client that leaves is not recorded.
    EndingUntold,
    /// The bytes of a copy are recorded as those of the source before it.
    BytesMisattributed,
    /// The bytes that pass are not recorded.
    BytesUncounted,

    /// The database sorts by bit rate before format, and the program does not.
    RankKeysSwapped,
    /// Two copies of one instance tie.
    RankTies,

    /// Every wait of a ladder is as long as the first.
    LadderNeverGrows,
    /// A wait doubles for ever.
    LadderUncapped,
    /// A song that nobody has is asked for until the end of days.
    NeverRetired,
    /// Accents make another song.
    AccentsKept,
    /// A song without a name is asked for.
    BlankAsked,
    /// A live recording is the one of the studio.
    MarkerIgnored,
    /// Recordings of any length are one.
    LengthIgnored,
    /// A song whose lanes asked us to wait is recorded as a miss.
    ThrottledMissed,
    /// A song that was given up counts a failure.
    CancelCounted,
    /// A lane's no is believed for ever.
    LedgerNeverExpires,
    /// A write counts whoever has the row by now.
    EpochIgnored,
    /// A write counts whatever became of the row.
    StatusIgnored,
    /// A claim leaves the epoch as it was.
    EpochKept,
    /// The files that want an answer are told of it by nobody.
    TargetsForgotten,
    /// A song that is put in again is stamped again.
    StampRenewed,
    /// A row may stay with a worker that is gone.
    LeaseIgnored,
    /// A heartbeat extends nothing.
    HeartbeatLost,
    /// Giving a song back counts a failure.
    ReleaseCounted,
    /// Plain lyrics replace timed ones.
    QualityFalls,
    /// A sidecar is written before anything says so.
    JournalSkipped,
    /// A file that is to go goes, whoever has edited it.
    RemovalUnchecked,
    /// A sidecar replaces what lies in its place, whoever wrote it.
    EditedReplaced,
    /// Plain words are written beside timed ones.
    PlainBesideTimed,

    /// Activity begins before it is known who serves.
    ActivityBeforeWinner,
    /// Activity never ends.
    ActivityNeverClosed,
    /// A request that nobody could answer leaves no row.
    FailureUnrecorded,
    /// A copy that goes on is not among the attempts.
    ResumedUnlisted,
    /// It is forgotten whose bytes a client holds.
    LastServedForgotten,
    /// What the disk refused to store of an operation is forgotten.
    RefusedForgotten,
    /// A hub that starts leaves the operations of the last one open.
    OrphansLeftOpen,
    /// A panic in reading one answer goes on to whoever waits for others.
    PanicSpreads,
    /// A change is acknowledged before it is on the disk.
    AcknowledgedEarly,
}

impl Twin {
    /// The bugs in this crate, which its own checks must find.
    pub const CORE: [Twin; 68] = [
        Twin::ProbeFlood,
        Twin::StaleSignalAccepted,
        Twin::AbandonedCounts,
        Twin::ReopeningMovesBack,
        Twin::WindowNeverGrows,
        Twin::RetryAfterIgnored,
        Twin::RetryAfterUnclamped,
        Twin::ProbeNeverExpires,
        Twin::LateVerdictCounts,
        Twin::StoredWaitGrows,
        Twin::RecoveryUnseen,
        Twin::MissProvesCredentials,
        Twin::LastResortAtOnce,
        Twin::PermitLeakedOnCancel,
        Twin::PermitLeakedOnDrop,
        Twin::ClientGoneCounted,
        Twin::SecondCommit,
        Twin::CallAfterSettle,
        Twin::LoserNotAborted,
        Twin::AbortIgnored,
        Twin::OrderedOverlaps,
        Twin::TwoCallsOfOneLane,
        Twin::WorseAnswerWins,
        Twin::WindowRestarted,
        Twin::OpenLaneCalled,
        Twin::BatchInGivenOrder,
        Twin::MissDespiteDoubt,
        Twin::HeldAtTheDeadline,
        Twin::TimerBeforeAnswer,
        Twin::StageBudgetKept,
        Twin::BudgetShared,
        Twin::AcceptanceIgnored,
        Twin::SilentLoserForgiven,
        Twin::DuePassedOver,
        Twin::OpeningUnbounded,
        Twin::BytesBeforeValidation,
        Twin::DocumentAccepted,
        Twin::MediaTypeIgnored,
        Twin::EmptyAccepted,
        Twin::WrongRangeAccepted,
        Twin::RedirectAnywhere,
        Twin::MissingTrackBlamed,
        Twin::FastLoserRunning,
        Twin::IdleWhilePaused,
        Twin::ShortBodyEndsCleanly,
        Twin::BreakEndsCleanly,
        Twin::OverlongDelivered,
        Twin::ResumeUnproved,
        Twin::ResumeOfAnyLength,
        Twin::RangeSpliced,
        Twin::IfRangeIgnored,
        Twin::UpstreamKept,
        Twin::EndingUntold,
        Twin::BytesMisattributed,
        Twin::BytesUncounted,
        Twin::RankKeysSwapped,
        Twin::RankTies,
        Twin::LadderNeverGrows,
        Twin::LadderUncapped,
        Twin::NeverRetired,
        Twin::AccentsKept,
        Twin::BlankAsked,
        Twin::MarkerIgnored,
        Twin::LengthIgnored,
        Twin::ThrottledMissed,
        Twin::CancelCounted,
        Twin::LedgerNeverExpires,
        Twin::RemovalUnchecked,
    ];

    /// The bugs in the SQL of the queue, which only a database can show.
    pub const STORE: [Twin; 9] = [
        Twin::EpochIgnored,
        Twin::StatusIgnored,
        Twin::EpochKept,
        Twin::TargetsForgotten,
        Twin::StampRenewed,
        Twin::LeaseIgnored,
        Twin::HeartbeatLost,
        Twin::ReleaseCounted,
        Twin::QualityFalls,
    ];

    /// The bugs in how workers deliver, which stories about lookups must show.
    pub const DELIVERY: [Twin; 3] = [
        Twin::JournalSkipped,
        Twin::EditedReplaced,
        Twin::PlainBesideTimed,
    ];

    /// The bugs in the server, which only a whole product can show.
    pub const SERVER: [Twin; 9] = [
        Twin::ActivityBeforeWinner,
        Twin::ActivityNeverClosed,
        Twin::FailureUnrecorded,
        Twin::ResumedUnlisted,
        Twin::LastServedForgotten,
        Twin::RefusedForgotten,
        Twin::OrphansLeftOpen,
        Twin::PanicSpreads,
        Twin::AcknowledgedEarly,
    ];

    /// The rule that it removes: a number of the contracts, or a section with its rule or row.
    pub const fn rule(self) -> &'static str {
        match self {
            Twin::ProbeFlood => "B1",
            Twin::StaleSignalAccepted => "B3",
            Twin::AbandonedCounts => "B4",
            Twin::ReopeningMovesBack => "B5",
            Twin::WindowNeverGrows => "B6",
            Twin::RetryAfterIgnored | Twin::RetryAfterUnclamped => "B7",
            Twin::ProbeNeverExpires | Twin::LateVerdictCounts => "B9",
            Twin::StoredWaitGrows => "B10",
            Twin::RecoveryUnseen => "B11",
            Twin::MissProvesCredentials => "1, signals",
            Twin::LastResortAtOnce | Twin::DuePassedOver => "3.2",
            Twin::PermitLeakedOnCancel | Twin::PermitLeakedOnDrop => "B2",
            Twin::ClientGoneCounted => "B8",
            Twin::SecondCommit => "D1",
            Twin::CallAfterSettle => "D2",
            Twin::LoserNotAborted => "D3",
            Twin::AbortIgnored => "D5",
            Twin::OrderedOverlaps | Twin::TwoCallsOfOneLane => "D4",
            Twin::WorseAnswerWins => "D6",
            Twin::WindowRestarted => "D7",
            Twin::OpenLaneCalled => "D8, F4",
            Twin::BatchInGivenOrder => "D9",
            Twin::MissDespiteDoubt => "D10",
            Twin::HeldAtTheDeadline => "D11",
            Twin::TimerBeforeAnswer => "2, one instant",
            Twin::StageBudgetKept
            | Twin::BudgetShared
            | Twin::AcceptanceIgnored
            | Twin::SilentLoserForgiven => "3.3",
            Twin::OpeningUnbounded => "F7",
            Twin::BytesBeforeValidation | Twin::DocumentAccepted => "F1",
            Twin::MediaTypeIgnored
            | Twin::EmptyAccepted
            | Twin::WrongRangeAccepted
            | Twin::RedirectAnywhere
            | Twin::MissingTrackBlamed => "3.5",
            Twin::IdleWhilePaused => "3.3",
            Twin::ShortBodyEndsCleanly | Twin::BreakEndsCleanly | Twin::OverlongDelivered => "3.7",
            Twin::ResumeUnproved | Twin::ResumeOfAnyLength => "F2",
            Twin::RangeSpliced | Twin::IfRangeIgnored => "3.8",
            Twin::UpstreamKept => "F5",
            Twin::FastLoserRunning | Twin::EndingUntold | Twin::BytesMisattributed => "F6",
            Twin::BytesUncounted => "3.10",
            Twin::RankKeysSwapped => "R1",
            Twin::RankTies => "R2",
            Twin::LadderNeverGrows | Twin::LadderUncapped | Twin::NeverRetired => "5, ladders",
            Twin::AccentsKept | Twin::BlankAsked | Twin::MarkerIgnored | Twin::LengthIgnored => {
                "5, identity"
            }
            Twin::ThrottledMissed | Twin::CancelCounted | Twin::ReleaseCounted => "Q6",
            Twin::LedgerNeverExpires => "2, ledger",
            Twin::EpochIgnored | Twin::EpochKept => "Q3",
            Twin::StatusIgnored => "Q1",
            Twin::TargetsForgotten => "Q2",
            Twin::StampRenewed => "Q7",
            Twin::LeaseIgnored | Twin::HeartbeatLost => "Q4",
            Twin::EditedReplaced => "S2",
            Twin::QualityFalls | Twin::PlainBesideTimed => "S3",
            Twin::JournalSkipped => "6, journal",
            Twin::RemovalUnchecked => "S2",
            Twin::ActivityBeforeWinner => "3.10",
            Twin::ActivityNeverClosed | Twin::ResumedUnlisted => "F6",
            Twin::FailureUnrecorded => "3.10",
            Twin::LastServedForgotten => "3.8",
            Twin::RefusedForgotten => "F6",
            Twin::OrphansLeftOpen => "F5",
            Twin::PanicSpreads => "F3",
            Twin::AcknowledgedEarly => "decision 3",
        }
    }
}

/// Whether this bug is chosen. Never, without the feature `twins`.
#[cfg(not(feature = "twins"))]
#[inline(always)]
pub const fn is(_twin: Twin) -> bool {
    false
}

#[cfg(feature = "twins")]
pub use chosen::{is, with};

#[cfg(feature = "twins")]
mod chosen {
    use super::Twin;
    use std::cell::Cell;

    thread_local! {
        static CHOSEN: Cell<Option<Twin>> = const { Cell::new(None) };
    }

    /// Whether this bug is chosen on this thread.
    #[inline]
    pub fn is(twin: Twin) -> bool {
        CHOSEN.get() == Some(twin)
    }

    /// Runs with this bug, or with none, on this thread. What was chosen before is chosen again afterwards,
    /// also when it panics.
    pub fn with<T>(twin: Option<Twin>, run: impl FnOnce() -> T) -> T {
        let _restore = Restore(CHOSEN.replace(twin));
        run()
    }

    struct Restore(Option<Twin>);

    impl Drop for Restore {
        fn drop(&mut self) {
            CHOSEN.set(self.0);
        }
    }
}
