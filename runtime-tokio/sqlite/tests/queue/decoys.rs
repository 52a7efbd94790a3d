//! Words that a lane gives for anything.

use crate::kit::{Kit, document, file, is_stale, request, track, words};
use segue_core::queue::{Claim, LaneAnswer, Quality, Request, Status, Target};
use segue_core::time::Wall;
use segue_sqlite::{DeliveryEnd, DeliveryRow, DeliveryStatus, TargetStatus};

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
    assert_eq!(sidecar.status, DeliveryStatus::Wanted);
    assert_eq!(sidecar.document_id, None, "its file is to go");
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
        Some(document("tra la", Quality::Line).id)
    );
}

/// The sidecar of the first of two songs, whose words were taken away, as somebody took it up to remove it.
fn to_be_removed(kit: &Kit, second: &Claim) -> DeliveryRow {
    let decoy = document("la", Quality::Line).id;
    kit.change(|w| w.quarantine(second.ticket, "lrclib", &decoy, Wall(3)))
        .unwrap();
    let row = kit.change(|w| w.claim_delivery("w", Wall(3), Wall(9)));
    let row = row.unwrap().expect("due at once");
    assert_eq!(row.document_id, None);
    kit.change(|w| w.begin_removal(row.ticket, "one.lrc", &"b".repeat(64), Wall(4)))
        .unwrap();
    row
}

#[test]
fn a_file_with_a_strangers_words_is_taken_away_and_forgotten() {
    let (kit, _, second) = two_songs(200);
    let row = to_be_removed(&kit, &second);
    // Whoever began it is gone; another goes on.
    let again = kit.change(|w| w.claim_delivery("v", Wall(9), Wall(19)));
    let again = again.unwrap().expect("its lease is over");
    assert_eq!(again.status, DeliveryStatus::Intent);
    assert_eq!((again.document_id, again.intent), (None, None));
    let end = DeliveryEnd::Withdrawn;
    assert!(is_stale(kit.change(|w| w.end_delivery(
        row.ticket,
        &end,
        Wall(9)
    ))));
    kit.change(|w| w.end_delivery(again.ticket, &end, Wall(9)))
        .unwrap();
    let row = kit.reader.delivery_of(row.scan_id).unwrap().unwrap();
    assert_eq!((row.status, row.delivered), (DeliveryStatus::Refused, None));
    assert!(row.reason.unwrap().contains("another song"));
    assert!(kit.reader.wakeup().unwrap().delivery.is_none());
}

#[test]
fn words_that_are_found_while_a_file_is_taken_away_are_written_afterwards() {
    let (kit, first, second) = two_songs(200);
    let row = to_be_removed(&kit, &second);
    let again = kit.claim(4).unwrap();
    assert_eq!(again.ticket.work_id, first.ticket.work_id);
    let better = words("tra la", Quality::Plain);
    kit.change(|w| w.complete(again.ticket, &better, Wall(5)))
        .unwrap();
    kit.change(|w| w.end_delivery(row.ticket, &DeliveryEnd::Withdrawn, Wall(6)))
        .unwrap();
    let next = kit.change(|w| w.claim_delivery("w", Wall(6), Wall(9)));
    let next = next.unwrap().expect("due at once");
    assert_eq!(
        next.document_id,
        Some(document("tra la", Quality::Plain).id)
    );
    assert_eq!(next.delivered, None);
}

#[test]
fn an_older_file_that_nobody_doubts_stays() {
    let kit = Kit::new();
    let targets = [file("tr1", "one.flac")];
    let first = in_work(&kit, ("Ada Quill", "Blot", 100), &targets);
    kit.complete(first.ticket, 2).unwrap();
    let right = kit.change(|w| w.claim_delivery("w", Wall(2), Wall(9)));
    let end = DeliveryEnd::Delivered {
        sidecar: "one.lrc".into(),
        hash: "b".repeat(64),
    };
    let ticket = right.unwrap().unwrap().ticket;
    kit.change(|w| w.end_delivery(ticket, &end, Wall(2)))
        .unwrap();
    // Better words come, which could not be written yet, and turn out to be anybody's.
    kit.change(|w| w.redo(first.ticket.work_id, Wall(2)))
        .unwrap();
    let again = kit.claim(2).unwrap();
    kit.change(|w| w.complete(again.ticket, &words("tra la", Quality::Word), Wall(2)))
        .unwrap();
    let second = in_work(&kit, ("Björk", "Jóga", 200), &[track("tr2")]);
    let decoy = document("tra la", Quality::Word).id;
    let taken = kit.change(|w| w.quarantine(second.ticket, "lrclib", &decoy, Wall(3)));
    assert_eq!(taken.unwrap(), 1);
    let row = kit.change(|w| w.claim_delivery("w", Wall(3), Wall(9)));
    let row = row.unwrap().expect("due at once");
    assert_eq!(row.delivered.unwrap().quality, Quality::Line);
    kit.change(|w| w.end_delivery(row.ticket, &DeliveryEnd::Withdrawn, Wall(4)))
        .unwrap();
    let row = kit.reader.delivery_of(row.scan_id).unwrap().unwrap();
    assert!(row.delivered.is_some(), "it is ours as before");
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
