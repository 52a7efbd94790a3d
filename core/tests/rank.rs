//! The order of copies (contracts section 4): R2, and what the format table must not do again.

use proptest::prelude::*;
use segue_core::rank::{RankKey, compare, compare_unpreferred, format_rank, is_lossless, order_by};
use std::cmp::Ordering;

fn a_copy(format: &str, bit_rate: u32) -> RankKey<'static> {
    RankKey {
        preferred: false,
        format_rank: format_rank(format),
        bit_rate,
        local: true,
        instance: "home",
        remote_id: "1",
    }
}

fn first<'a>(a: RankKey<'a>, b: RankKey<'a>) -> RankKey<'a> {
    if compare(&a, &b).is_lt() { a } else { b }
}

#[test]
fn a_lossless_copy_comes_before_any_lossy_one() {
    for lossless in [
        "flac", "alac", "wav", "aiff", "ape", "wv", "dsf", "dff", "tta",
    ] {
        for lossy in ["mp3", "opus", "ogg", "m4a", "aac", "wma"] {
            assert_eq!(
                first(a_copy(lossless, 400), a_copy(lossy, 512)),
                a_copy(lossless, 400),
                "{lossless} and {lossy}"
            );
        }
        assert!(is_lossless(lossless));
    }
    assert!(!is_lossless("m4a") && !is_lossless("") && is_lossless("FLAC"));
}

#[test]
fn m3_among_lossy_copies_the_bit_rate_decides() {
    assert_eq!(
        first(a_copy("mp3", 64), a_copy("m4a", 256)),
        a_copy("m4a", 256)
    );
    assert_eq!(
        first(a_copy("mp3", 64), a_copy("ogg", 128)),
        a_copy("ogg", 128)
    );
    assert_eq!(
        first(a_copy("opus", 64), a_copy("mp3", 320)),
        a_copy("mp3", 320)
    );
    assert_eq!(
        first(a_copy("mp3", 320), a_copy("m4a", 912)),
        a_copy("m4a", 912),
        "ALAC whose codec nobody told"
    );
}

#[test]
fn what_nobody_knows_comes_last() {
    assert_eq!(first(a_copy("", 900), a_copy("mp3", 64)), a_copy("mp3", 64));
    assert_eq!(
        first(a_copy("x-xyz", 900), a_copy("mp3", 0)),
        a_copy("mp3", 0)
    );
}

#[test]
fn m2_equal_quality_goes_to_the_local_copy_then_to_the_smaller_id() {
    let peer = RankKey {
        local: false,
        instance: "a-peer",
        ..a_copy("flac", 900)
    };
    assert_eq!(first(peer, a_copy("flac", 900)), a_copy("flac", 900));
    let shelf = RankKey {
        instance: "shelf",
        ..a_copy("flac", 900)
    };
    assert_eq!(first(shelf, a_copy("flac", 900)).instance, "home");
    let better_peer = RankKey {
        bit_rate: 901,
        ..peer
    };
    assert_eq!(
        first(better_peer, a_copy("flac", 900)),
        better_peer,
        "quality before nearness"
    );
}

#[test]
fn the_sql_order_names_every_key_once() {
    assert_eq!(
        order_by("ts"),
        "ts.preferred DESC, ts.format_rank DESC, ts.bit_rate DESC, ts.local DESC, ts.instance_id COLLATE BINARY ASC, ts.remote_id COLLATE BINARY ASC"
    );
    assert!(order_by("").starts_with("preferred DESC, "));
}

#[test]
#[should_panic(expected = "plain word")]
fn the_sql_order_refuses_an_alias_that_is_not_a_word() {
    order_by("ts; DROP TABLE users");
}

prop_compose! {
    fn any_copy()(preferred in any::<bool>(), format_rank in 0..3u32, bit_rate in 0..3u32, local in any::<bool>(),
                  instance in 0..3usize, remote_id in 0..3usize) -> RankKey<'static> {
        RankKey { preferred, format_rank, bit_rate, local, instance: ["a", "B", "é"][instance], remote_id: ["", "1", "10"][remote_id] }
    }
}

proptest! {
    #[test]
    fn r2_the_order_is_total_and_only_a_copy_itself_ties(a in any_copy(), b in any_copy(), c in any_copy()) {
        for order in [compare, compare_unpreferred] {
            prop_assert_eq!(order(&a, &b), order(&b, &a).reverse());
            if order(&a, &b).is_le() && order(&b, &c).is_le() {
                prop_assert!(order(&a, &c).is_le());
            }
        }
        if compare(&a, &b) == Ordering::Equal {
            prop_assert_eq!(a, b);
        }
        if compare_unpreferred(&a, &b) == Ordering::Equal {
            prop_assert_eq!((a.instance, a.remote_id), (b.instance, b.remote_id));
        }
    }
}
