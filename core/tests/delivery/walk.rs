//! Every way that a delivery can go, with a crash of the process or of the machine after any step and again
//! during the recovery, and with somebody who meddles.

use crate::disk::Disk;
use crate::{digest, gone, intent, nothing, ours, wanted};
use segue_core::delivery::*;
use segue_core::dispatch::Quality;
use segue_core::io::{Digest, Seen};
use std::collections::BTreeSet;

/// Takes the next step, in the small ones of which it is made, each time telling `between`.
fn step(
    disk: &mut Disk,
    intent: &Intent,
    progress: &mut Progress,
    mut between: impl FnMut(&Disk),
) -> Step {
    let next = intent.next(&disk.facts(intent), progress);
    let (target, temp) = (&intent.target.path, &intent.temp.path);
    match next {
        Step::Stage => {
            if disk.seen(temp) != Seen::Absent {
                disk.remove(temp);
                between(disk);
            }
            disk.put(temp, digest("half of it"), false);
            between(disk);
            disk.put(temp, intent.new, false);
            between(disk);
            disk.put(temp, intent.new, true);
            progress.staged();
        }
        Step::Retire => {
            let (place, only) = intent.retires.as_ref().expect("one that gives way");
            assert_eq!(disk.seen(&place.path), Seen::File(*only), "S2");
            disk.remove(&place.path);
            progress.changed();
        }
        Step::Settle => {
            disk.settle();
            progress.settled();
        }
        Step::Create => {
            assert_eq!(disk.seen(target), Seen::Absent, "S2");
            disk.rename(temp, target);
            progress.changed();
        }
        Step::Replace => {
            let ours = intent.replaces.expect("one of ours");
            assert_eq!(disk.seen(target), Seen::File(ours), "S2");
            disk.rename(temp, target);
            progress.changed();
        }
        Step::Discard => {
            disk.remove(temp);
            progress.changed();
        }
        Step::Commit | Step::Undo(_) => {}
    }
    between(disk);
    next
}

/// All disks that can be found at the start after a process or a machine has died anywhere on the way from `disk`.
fn deaths(disk: &Disk, intent: &Intent) -> BTreeSet<Disk> {
    let (mut disk, mut progress) = (disk.clone(), Progress::default());
    let mut found: BTreeSet<Disk> = disk.crashes().into_iter().collect();
    for _ in 0..20 {
        let ended = step(&mut disk, intent, &mut progress, |disk| {
            found.insert(disk.clone());
            found.extend(disk.crashes());
        });
        if matches!(ended, Step::Commit | Step::Undo(_)) {
            return found;
        }
    }
    panic!("it never ends");
}

fn finished(disk: &Disk, intent: &Intent) -> (Disk, Step) {
    let (mut disk, mut progress) = (disk.clone(), Progress::default());
    for _ in 0..20 {
        let ended = step(&mut disk, intent, &mut progress, |_| {});
        if matches!(ended, Step::Commit | Step::Undo(_)) {
            return (disk, ended);
        }
    }
    panic!("it never ends");
}

struct Case {
    name: &'static str,
    lies_there: Vec<(&'static str, &'static str)>,
    intent: Intent,
}

const LRC: &str = "Band/Song.lrc";
const TXT: &str = "Band/Song.txt";

fn cases() -> Vec<Case> {
    let line = wanted(Form::Synced, Quality::Line, "new");
    let plain = wanted(Form::Plain, Quality::Plain, "new");
    vec![
        Case {
            name: "a first timed file",
            lies_there: vec![],
            intent: intent(&line, nothing(), nothing()),
        },
        Case {
            name: "a first plain file",
            lies_there: vec![],
            intent: intent(&plain, nothing(), nothing()),
        },
        Case {
            name: "a better timed file",
            lies_there: vec![(LRC, "old")],
            intent: intent(&line, ours("old", Quality::Line), nothing()),
        },
        Case {
            name: "a timed file for a plain one",
            lies_there: vec![(TXT, "old")],
            intent: intent(&line, nothing(), ours("old", Quality::Plain)),
        },
        Case {
            name: "a timed file for both of ours",
            lies_there: vec![(LRC, "old"), (TXT, "old")],
            intent: intent(
                &line,
                ours("old", Quality::Line),
                ours("old", Quality::Plain),
            ),
        },
        Case {
            name: "a file that was deleted",
            lies_there: vec![],
            intent: intent(&line, gone("new", Quality::Line), nothing()),
        },
    ]
}

/// S1: what lies beside the track.
fn assert_whole(case: &Case, disk: &Disk) {
    let (old, new) = (digest("old"), digest("new"));
    let target = disk.seen(&case.intent.target.path);
    let allowed = [Seen::Absent, Seen::File(old), Seen::File(new)];
    assert!(
        allowed.contains(&target),
        "S1: {}: {target:?} lies there",
        case.name
    );
    if case.intent.retires.is_some() && target == Seen::File(new) {
        assert_eq!(
            disk.seen(TXT),
            Seen::Absent,
            "S1: {}: both are there",
            case.name
        );
    }
    let had = case.intent.replaces.is_some();
    assert!(
        !had || target != Seen::Absent,
        "{}: neither old nor new",
        case.name
    );
    for name in disk.live.keys() {
        let known = [LRC, TXT, case.intent.temp.path.as_str()];
        assert!(known.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn s1_at_any_crash_a_sidecar_is_absent_old_or_new_and_recovery_finishes_it() {
    let mut disks = 0;
    for case in cases() {
        let start: Vec<(&str, Digest)> = (case.lies_there.iter())
            .map(|(name, text)| (*name, digest(text)))
            .collect();
        let start = Disk::with(&start);
        // Dead once, and dead again while recovering from that.
        let once = deaths(&start, &case.intent);
        let mut seen = BTreeSet::from([start]);
        for disk in &once {
            seen.extend(deaths(disk, &case.intent));
        }
        seen.extend(once);
        for disk in &seen {
            assert_whole(&case, disk);
            let (after, ended) = finished(disk, &case.intent);
            assert_eq!(ended, Step::Commit, "{}", case.name);
            assert_eq!(
                after.seen(&case.intent.target.path),
                Seen::File(digest("new"))
            );
            assert_eq!(after.live.len(), 1, "{}: nothing else is left", case.name);
            assert!(
                after.crashes().iter().all(|crash| crash.live == after.live),
                "{}: what is noted is durable",
                case.name
            );
        }
        disks += seen.len();
    }
    assert!(disks > 60, "{disks} disks were seen");
}

#[test]
fn s2_a_file_that_appears_or_is_edited_at_any_moment_stays() {
    for case in cases() {
        let start: Vec<(&str, Digest)> = (case.lies_there.iter())
            .map(|(name, text)| (*name, digest(text)))
            .collect();
        for mut disk in deaths(&Disk::with(&start), &case.intent) {
            let theirs = digest("theirs");
            let target = case.intent.target.path.as_str();
            disk.put(target, theirs, true);
            disk.settle();
            let (after, ended) = finished(&disk, &case.intent);
            assert_eq!(ended, Step::Undo(Left::NotOurs), "{}", case.name);
            assert_eq!(after.seen(target), Seen::File(theirs), "{}", case.name);
            let temp = &case.intent.temp.path;
            assert!(
                after.crashes().iter().all(|d| d.seen(temp) == Seen::Absent),
                "{}: an unfinished file comes back",
                case.name
            );
        }
    }
}

#[test]
fn s2_a_plain_file_that_is_edited_meanwhile_is_not_retired() {
    let line = wanted(Form::Synced, Quality::Line, "new");
    let intent = intent(&line, nothing(), ours("old", Quality::Plain));
    let disk = Disk::with(&[(TXT, digest("theirs"))]);
    let (after, ended) = finished(&disk, &intent);
    assert_eq!(ended, Step::Commit);
    assert_eq!(after.seen(TXT), Seen::File(digest("theirs")));
    assert_eq!(after.seen(LRC), Seen::File(digest("new")));
}
