//! Which tracks of one release group are one recording (product.md section 5).
//!
//! Same disc and track number, equal title, equal version, length within three seconds, and never two tracks of one source album. A recording id stands in for
//! the title (languages), two different ones keep apart. What is unknown joins only where there is one choice.

use super::facts::{BLANK, TrackFacts, close, differ};
use super::sets::{MOST_COMPARED, Sets, index};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// More tracks of one place and title than this are no album, and comparing each with each would take too long: they stay apart.
const MOST_ALIKE: usize = 1_024;

/// Tracks that are one recording.
pub(super) type Cluster = Vec<u32>;

/// Joins the tracks of one release group.
pub(super) fn recordings(tracks: &[TrackFacts<'_>], mut group: Vec<u32>) -> Vec<Cluster> {
    group.sort_unstable_by_key(|at| {
        let track = &tracks[*at as usize];
        // Tracks without a number come after all that have one.
        (track.number.is_none(), track.disc, track.number, *at)
    });
    let place = |at: &u32| (tracks[*at as usize].disc, tracks[*at as usize].number);
    let mut clusters = Vec::with_capacity(group.len());
    let numbered = group.partition_point(|at| tracks[*at as usize].number.is_some());
    for run in group[..numbered].chunk_by(|a, b| place(a) == place(b)) {
        join_place(tracks, run, &mut clusters);
    }
    let unplaced = place_unnumbered(tracks, &group[numbered..], &mut clusters);
    for run in unplaced.chunk_by(|a, b| place(a) == place(b)) {
        join_place(tracks, run, &mut clusters);
    }
    clusters
}

/// Joins the tracks at one place of the album.
fn join_place(tracks: &[TrackFacts<'_>], run: &[u32], clusters: &mut Vec<Cluster>) {
    if let [only] = run {
        clusters.push(vec![*only]);
        return;
    }
    let titles = titles(tracks, run);
    let mut sorted: Vec<(u32, u32, u32)> = run
        .iter()
        .zip(titles)
        .map(|(at, title)| (title, tracks[*at as usize].version, *at))
        .collect();
    sorted.sort_unstable();
    for same in sorted.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        join_same_title(
            tracks,
            same.iter().map(|(_, _, at)| *at).collect(),
            clusters,
        );
    }
}

/// A number for the title of each track of a run; titles that one recording id links are one, blank ones are each their own.
fn titles(tracks: &[TrackFacts<'_>], run: &[u32]) -> Vec<u32> {
    let mut sets = Sets::new(run.len());
    let mut by_title: BTreeMap<u32, u32> = BTreeMap::new();
    let mut by_recording: BTreeMap<&str, u32> = BTreeMap::new();
    for (at, track) in (0..).zip(run.iter().map(|at| &tracks[*at as usize])) {
        if track.title != BLANK {
            sets.join(*by_title.entry(track.title).or_insert(at), at);
        }
        if let Some(id) = track.recording {
            sets.join(*by_recording.entry(id).or_insert(at), at);
        }
    }
    (0..index(run.len())).map(|at| sets.root(at)).collect()
}

/// Joins tracks of equal place, title and version: known lengths first, from the shortest, so that the outcome does not depend on the order.
fn join_same_title(tracks: &[TrackFacts<'_>], mut same: Vec<u32>, clusters: &mut Vec<Cluster>) {
    if same.len() > MOST_ALIKE {
        clusters.extend(same.into_iter().map(|at| vec![at]));
        return;
    }
    let fact = |at: u32| &tracks[at as usize];
    same.sort_unstable_by_key(|at| (fact(*at).duration.is_none(), fact(*at).duration, *at));
    let first = clusters.len();
    for at in same {
        let track = fact(at);
        let fits = |cluster: &Cluster| {
            cluster
                .iter()
                .all(|other| one_recording(track, fact(*other)))
        };
        let candidates = (first..clusters.len()).filter(|cluster| fits(&clusters[*cluster]));
        let chosen = match track.duration {
            Some(length) => candidates.min_by_key(|cluster| {
                let nearest = fact(clusters[*cluster][0]);
                let same_id = track.recording.is_some() && nearest.recording == track.recording;
                (
                    Reverse(same_id),
                    nearest.duration.map(|other| other.abs_diff(length)),
                    *cluster,
                )
            }),
            None => only(candidates),
        };
        match chosen {
            Some(cluster) => clusters[cluster].push(at),
            None => clusters.push(vec![at]),
        }
    }
}

/// Gives tracks without a number to the one numbered recording of their title and length; returns those that have none, or several.
fn place_unnumbered(
    tracks: &[TrackFacts<'_>],
    unnumbered: &[u32],
    clusters: &mut [Cluster],
) -> Vec<u32> {
    if unnumbered.is_empty() {
        return Vec::new();
    }
    let name = |track: &TrackFacts<'_>| (track.disc, track.title, track.version);
    let mut by_name: BTreeMap<(u32, u32, u32), Vec<usize>> = BTreeMap::new();
    for (at, cluster) in clusters.iter().enumerate() {
        by_name
            .entry(name(&tracks[cluster[0] as usize]))
            .or_default()
            .push(at);
    }
    let mut left = Vec::new();
    for at in unnumbered {
        let track = &tracks[*at as usize];
        let fits = |cluster: &&usize| {
            clusters[**cluster].iter().all(|other| {
                let other = &tracks[*other as usize];
                track.duration.is_some() && other.duration.is_some() && one_recording(track, other)
            })
        };
        let few = |clusters: &&Vec<usize>| track.title != BLANK && clusters.len() <= MOST_COMPARED;
        let candidates = by_name.get(&name(track)).filter(few);
        match only(candidates.into_iter().flatten().filter(fits)) {
            Some(cluster) => clusters[*cluster].push(*at),
            None => left.push(*at),
        }
    }
    left
}

/// Whether nothing keeps two tracks of equal place, title and version apart.
fn one_recording(a: &TrackFacts<'_>, b: &TrackFacts<'_>) -> bool {
    a.album != b.album && !differ(a.recording, b.recording) && close(a.duration, b.duration)
}

fn only<T>(mut of: impl Iterator<Item = T>) -> Option<T> {
    let first = of.next()?;
    of.next().is_none().then_some(first)
}
