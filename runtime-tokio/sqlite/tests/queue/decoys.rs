//! Words that a lane gives for anything.

use crate::kit::{Kit, document, file, is_stale, request, track, words};
use segue_core::queue::{Claim, LaneAnswer, Quality, Request, Status, Target};
use segue_core::time::Wall;
use segue_sqlite::{DeliveryEnd, DeliveryStatus, TargetStatus};

/// A song of this length in seconds, in work.
fn in_work(kit: &Kit, (artist, title, seconds): (&str, &str, u64), targets: &[Target]) -> Claim {
    let plain = request(artist, title, targets);
    let mut song = plain.song;
    song.duration_ms = Some(seconds * 1_000);
    kit.enqueue(&Request { song, ..plain }, 1);
    kit.claim(1).unwrap()
}

/// A song with its words beside it, and another one in work that is given the same.
fn two_songs(seconds: u64) -> (Kit, Claim, Claim) {
    let kit = Kit::new();
    let targets = [track("tr1"), file("tr1", "one.flac")];
    let first = in_work(&kit, ("Ada Quill", "Blot", 100), &targets);
    kit.complete(first.ticket, 2).unwrap();
    let parcel = kit.change(|w| w.claim_delivery("w", Wall(2), Wall(9)));
    let end = DeliveryEnd::Delivered {
        sidecar: "one.lrc".into(),
        hash: "b".repeat(64),
    };
    let ticket = parcel.unwrap().unwrap().ticket;
    kit.change(|w| w.end_delivery(ticket, &end, Wall(2)))
        .unwrap();
    let second = in_work(&kit, ("Björk", "Jóga", seconds), &[track("tr2")]);
    (kit, first, second)
}

#[test]
fn words_for_anything_are_taken_from_the_song_that_had_them_first() {
    let (kit, first, second) = two_songs(200);
    let decoy = document("la", Quality::Line).id;
    let quarantine =
        |lane: &str| kit.change(|w| w.quarantine(second.ticket, lane, &decoy, Wall(3)));
    assert_eq!(quarantine("another").unwrap(), 0, "it did not give them");
    assert_eq!(quarantine("lrclib").unwrap(), 1);
    assert_eq!(quarantine("lrclib").unwrap(), 0);

    let detail = kit
        .reader
        .queue_show(first.ticket.work_id)
        .unwrap()
        .unwrap();
    let row = &detail.row;
    assert_eq!(
        (row.status, row.quality, row.outcome, detail.document_id),
        (Status::Pending, Quality::None, None, None)
    );
    assert!(
        detail
            .targets
            .iter()
            .all(|t| t.status == TargetStatus::Pending)
    );
    let said: Vec<_> = detail
        .answers
        .iter()
        .map(|a| (a.lane.as_str(), a.answer))
        .collect();
    assert_eq!(said, [("lrclib", LaneAnswer::Rejected)]);
    let sidecar = &detail.deliveries[0];
    assert_eq!(sidecar.status, DeliveryStatus::Refused);
    assert!(sidecar.reason.as_deref().unwrap().contains("delete it"));
    assert_eq!(sidecar.delivered.as_ref().unwrap().quality, Quality::None);
    assert!(kit.reader.lyrics_of_track("tr1").unwrap().is_none());

    // Nobody is given them again: not from memory, and not by a lane.
    let again = kit.claim(4).unwrap();
    assert_eq!(again.ticket.work_id, first.ticket.work_id);
    assert!(kit.reader.cached(&again, 7).unwrap().is_none());
    let is_decoy = |claim: &Claim| kit.reader.is_of_stranger(&decoy, &claim.identity);
    assert!(is_decoy(&again).unwrap() && is_decoy(&second).unwrap());

    // Other words of the same form take the file's place.
    let better = words("tra la", Quality::Line);
    kit.change(|w| w.complete(again.ticket, &better, Wall(5)))
        .unwrap();
    let parcel = kit.change(|w| w.claim_delivery("w", Wall(5), Wall(9)));
    assert_eq!(
        parcel.unwrap().unwrap().document_id,
        document("tra la", Quality::Line).id
    );
}

#[test]
fn one_recording_under_two_names_keeps_its_words() {
    let (kit, first, second) = two_songs(102);
    let decoy = document("la", Quality::Line).id;
    let taken = kit.change(|w| w.quarantine(second.ticket, "lrclib", &decoy, Wall(3)));
    assert_eq!(taken.unwrap(), 0);
    assert_eq!(kit.status(first.ticket.work_id), "done");
}

#[test]
fn q3_a_late_worker_takes_nobodys_words() {
    let (kit, first, second) = two_songs(200);
    kit.change(|w| w.take_back(second.ticket.work_id, Wall(3)))
        .unwrap();
    let decoy = document("la", Quality::Line).id;
    assert!(is_stale(kit.change(|w| w.quarantine(
        second.ticket,
        "lrclib",
        &decoy,
        Wall(3)
    ))));
    assert_eq!(kit.status(first.ticket.work_id), "done");
}
