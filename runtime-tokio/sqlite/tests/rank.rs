//! R1 on the real table: what [`Reader::candidates`](segue_sqlite::Reader::candidates) returns is in the comparator's order.

mod common;

use common::{a_database, a_song, merged, track_id};
use proptest::prelude::*;
use segue_core::catalog::model::TrackSource;
use segue_core::rank::{RankKey, compare};
use segue_core::time::Wall;

fn key(row: &TrackSource) -> RankKey<'_> {
    RankKey {
        preferred: row.preferred,
        format_rank: row.format_rank,
        bit_rate: row.bit_rate,
        local: row.local,
        instance: &row.instance,
        remote_id: &row.remote_id,
    }
}

fn rows() -> impl Strategy<Value = Vec<TrackSource>> {
    let number = prop_oneof![0..3u32, any::<u32>()];
    let row = (
        any::<bool>(),
        number.clone(),
        number,
        any::<bool>(),
        prop::sample::select(vec!["home", "away", "a-2", "a1"]),
        prop_oneof!["[a-bA-B0-1é]{0,3}", any::<String>()],
    );
    let row = row.prop_map(
        |(preferred, format_rank, bit_rate, local, instance, remote_id)| TrackSource {
            instance: instance.to_owned(),
            remote_id,
            track_id: track_id("One", "First"),
            preferred,
            format_rank,
            bit_rate,
            local,
            ..TrackSource::default()
        },
    );
    prop::collection::vec(row, 1..24)
}

#[test]
fn r1_candidates_come_in_the_comparators_order() {
    let shelf = a_database().with_sources(&["home", "away", "a-2", "a1"]);
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) }, |(rows in rows())| {
        let mut library = merged(&[a_song("One", "Ada", "First")]);
        let mut expected = rows;
        expected.sort_by(|a, b| (&a.instance, &a.remote_id).cmp(&(&b.instance, &b.remote_id)));
        expected.dedup_by(|a, b| (&a.instance, &a.remote_id) == (&b.instance, &b.remote_id));
        library.library.track_sources = expected.clone();
        shelf.change(|w| w.apply_merge(library, Wall(5)));

        expected.sort_by(|a, b| compare(&key(a), &key(b)));
        let song = shelf.reader.song(0, &track_id("One", "First")).unwrap().unwrap();
        prop_assert_eq!(&song.source, &expected[0], "what getSong shows is what is tried first");
        let playable = shelf.reader.playable(&track_id("One", "First")).unwrap().unwrap();
        let places: Vec<_> = playable.places.into_iter().map(|(source, _)| source).collect();
        prop_assert_eq!(&places, &expected, "a stream tries them in the same order");
        prop_assert_eq!(shelf.reader.candidates(&track_id("One", "First")).unwrap(), expected);
    });
}
