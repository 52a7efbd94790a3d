//! The journal of sidecars: what the store keeps of contracts section 6.

use crate::kit::{Kit, document, file, is_stale, request, words};
use segue_core::queue::Quality;
use segue_core::time::Wall;
use segue_sqlite::{DeliveryEnd, DeliveryIntent, DeliveryRow, DeliveryStatus};

fn intent() -> DeliveryIntent {
    DeliveryIntent {
        sidecar: "A/1.lrc".into(),
        temp: "A/.1.tmp".into(),
        old_hash: None,
        new_hash: "new".into(),
    }
}

fn delivered() -> DeliveryEnd {
    DeliveryEnd::Delivered {
        sidecar: "A/1.lrc".into(),
        hash: "new".into(),
    }
}

fn wanted(row: &DeliveryRow) -> String {
    row.document_id.clone().expect("words are wanted")
}

/// A file that wants its sidecar, answered with `quality`.
fn wanting(quality: Quality) -> Kit {
    let kit = Kit::new();
    kit.enqueue(&request("A", "B", &[file("tr1", "A/1.flac")]), 0);
    let ticket = kit.claim(0).unwrap().ticket;
    kit.change(|w| w.complete(ticket, &words("one", quality), Wall(1)))
        .unwrap();
    kit
}

fn claimed(kit: &Kit, now: i64) -> Option<DeliveryRow> {
    kit.change(|w| w.claim_delivery("w", Wall(now), Wall(now + 10)))
        .unwrap()
}

#[test]
fn an_intent_is_kept_until_it_is_ended_and_found_again_after_a_crash() {
    let kit = wanting(Quality::Line);
    let row = claimed(&kit, 1).unwrap();
    assert_eq!(
        (row.file.path.as_str(), row.quality),
        ("A/1.flac", Quality::Line)
    );
    assert_eq!(claimed(&kit, 1), None, "it has its deliverer");
    kit.change(|w| w.begin_delivery(row.ticket, &wanted(&row), &intent(), Wall(2)))
        .unwrap();

    // Its deliverer is gone. At the end of the lease, or at the next start, another finishes it.
    let again = claimed(&kit, 11).unwrap();
    assert_eq!(again.status, DeliveryStatus::Intent);
    assert_eq!(again.intent, Some((intent(), wanted(&row))));
    assert!(is_stale(kit.change(|w| w.end_delivery(
        row.ticket,
        &delivered(),
        Wall(12)
    ))));
    assert!(is_stale(
        kit.change(|w| w.extend_delivery(row.ticket, Wall(99)))
    ));
    assert_eq!(kit.change(|w| w.recover_deliveries(Wall(12))).unwrap(), 1);
    assert!(is_stale(
        kit.change(|w| w.extend_delivery(again.ticket, Wall(99)))
    ));
    let last = claimed(&kit, 12).unwrap();
    kit.change(|w| w.end_delivery(last.ticket, &delivered(), Wall(13)))
        .unwrap();

    let row = kit.reader.delivery_of(last.scan_id).unwrap().unwrap();
    let ours = row.delivered.unwrap();
    assert_eq!((row.status, row.intent), (DeliveryStatus::Delivered, None));
    assert_eq!(
        (ours.hash.as_str(), ours.quality, ours.at),
        ("new", Quality::Line, Wall(13))
    );
    assert_eq!(kit.reader.wakeup().unwrap().delivery, None);
    assert!(is_stale(kit.change(|w| w.end_delivery(
        last.ticket,
        &delivered(),
        Wall(14)
    ))));
}

#[test]
fn what_is_wanted_meanwhile_is_delivered_afterwards() {
    let kit = wanting(Quality::Plain);
    let row = claimed(&kit, 1).unwrap();
    kit.change(|w| w.begin_delivery(row.ticket, &wanted(&row), &intent(), Wall(2)))
        .unwrap();
    kit.change(|w| w.redo(1, Wall(3))).unwrap();
    let ticket = kit.claim(3).unwrap().ticket;
    kit.change(|w| w.complete(ticket, &words("two", Quality::Line), Wall(4)))
        .unwrap();
    kit.change(|w| w.end_delivery(row.ticket, &delivered(), Wall(5)))
        .unwrap();
    let next = claimed(&kit, 5).unwrap();
    assert_eq!(wanted(&next), document("two", Quality::Line).id);
    assert_eq!(next.delivered.unwrap().document_id, Some(wanted(&row)));
}

#[test]
fn a_refusal_is_final_until_somebody_asks_and_a_failure_comes_again() {
    let kit = wanting(Quality::Line);
    let row = claimed(&kit, 1).unwrap();
    let full = DeliveryEnd::Again {
        reason: "no space left".into(),
        retry_at: Wall(60),
        begun: false,
    };
    kit.change(|w| w.end_delivery(row.ticket, &full, Wall(2)))
        .unwrap();
    assert_eq!(claimed(&kit, 59), None);
    let row = claimed(&kit, 60).unwrap();
    assert_eq!(
        (row.attempts, row.reason.as_deref()),
        (1, Some("no space left"))
    );
    let theirs = DeliveryEnd::Refused("the file there is not ours".into());
    kit.change(|w| w.end_delivery(row.ticket, &theirs, Wall(61)))
        .unwrap();
    assert_eq!(claimed(&kit, 9_999), None);
    assert!(kit.change(|w| w.redeliver(row.scan_id, Wall(70))).unwrap());
    assert!(claimed(&kit, 70).is_some());
}

#[test]
fn what_a_failed_disk_may_have_taken_stays_in_the_journal() {
    let kit = wanting(Quality::Line);
    let row = claimed(&kit, 1).unwrap();
    kit.change(|w| w.begin_delivery(row.ticket, &wanted(&row), &intent(), Wall(2)))
        .unwrap();
    let failed = DeliveryEnd::Again {
        reason: "the disk failed".into(),
        retry_at: Wall(60),
        begun: true,
    };
    kit.change(|w| w.end_delivery(row.ticket, &failed, Wall(3)))
        .unwrap();
    assert_eq!(claimed(&kit, 59), None);
    let row = claimed(&kit, 60).unwrap();
    assert_eq!(row.intent, Some((intent(), wanted(&row))));
    assert_eq!(row.attempts, 1);
    kit.change(|w| w.end_delivery(row.ticket, &delivered(), Wall(61)))
        .unwrap();
    assert!(
        kit.reader
            .delivery_of(row.scan_id)
            .unwrap()
            .unwrap()
            .delivered
            .is_some()
    );
}

#[test]
fn the_name_of_an_unfinished_file_is_kept_until_it_is_forgotten() {
    let kit = wanting(Quality::Line);
    let begin = |temp: &str, now: i64| {
        let row = claimed(&kit, now).unwrap();
        let intent = DeliveryIntent {
            temp: temp.into(),
            ..intent()
        };
        kit.change(|w| w.begin_delivery(row.ticket, &wanted(&row), &intent, Wall(now)))
            .unwrap();
        row.ticket
    };
    let unfinished = || kit.reader.unfinished(9).unwrap();
    let paths = || unfinished().into_iter().map(|u| u.path).collect::<Vec<_>>();
    begin("A/.1.tmp", 1);
    assert!(unfinished().is_empty(), "the journal has it");
    let second = begin("A/.2.tmp", 11);
    assert_eq!(paths(), ["A/.1.tmp"], "another turn has another name");
    let refused = DeliveryEnd::Refused("the file there is not ours".into());
    kit.change(|w| w.end_delivery(second, &refused, Wall(12)))
        .unwrap();
    assert_eq!(paths(), ["A/.1.tmp", "A/.2.tmp"]);

    kit.change(|w| w.redeliver(1, Wall(20))).unwrap();
    let third = begin("A/.1.tmp", 20);
    assert_eq!(paths(), ["A/.2.tmp"], "the journal has it again");
    kit.change(|w| w.end_delivery(third, &delivered(), Wall(21)))
        .unwrap();
    for file in unfinished() {
        kit.change(|w| w.forget_unfinished(&file)).unwrap();
    }
    assert!(unfinished().is_empty());
}
