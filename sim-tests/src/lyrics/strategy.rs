//! One number, one story.

use super::dice::Dice;
use super::scenario::{Answer, Fault, Knows, Put, Scenario, Tune, Users, When};
use crate::scenario::Snag;

/// The story of a number: it chooses everything in it.
pub fn story(seed: u64) -> Scenario {
    let mut dice = Dice::new(seed);
    let lanes = dice.index(Scenario::LANES - 1) + 2;
    let many = dice.index(4) + 1;
    let songs: Vec<Tune> = (0..many).map(|_| tune(&mut dice, lanes)).collect();
    let processes = dice.pick(&[1, 2, 2, 2, 3]);
    Scenario {
        seed,
        processes,
        workers: dice.pick(&[1, 1, 2]),
        race_wait: dice.once_in(2).then(|| dice.pick(&[500, 2_000, 4_000])),
        lease: dice.pick(&[2_000, 5_000, 20_000]),
        spacing: dice.pick(&[0, 200, 1_000]),
        on_disk: dice.once_in(3),
        lanes: (0..lanes).map(|_| answers(&mut dice)).collect(),
        puts: puts(&mut dice, songs.len()),
        faults: (0..dice.index(6))
            .map(|_| {
                let after = dice.between(0, 4_000);
                (after, fault(&mut dice, processes, lanes, many))
            })
            .collect(),
        healed_after: dice.between(0, 6_000),
        later: dice.pick(&[0, 0, 90]),
        songs,
    }
}

fn tune(dice: &mut Dice, lanes: usize) -> Tune {
    use Knows::{Instrumental, Line, Nothing, Plain};
    let knows = (0..lanes)
        .map(|_| {
            dice.pick(&[
                Nothing,
                Nothing,
                Plain,
                Plain,
                Plain,
                Line,
                Line,
                Instrumental,
            ])
        })
        .collect();
    let files = dice.pick(&[0, 1, 1, 2]);
    let users = match dice.below(6) {
        0 if files > 0 => Some(Users::Lrc),
        1 if files > 0 => Some(Users::Txt),
        _ => None,
    };
    Tune {
        knows,
        files,
        users,
    }
}

fn answers(dice: &mut Dice) -> Vec<Answer> {
    (0..dice.index(10)).map(|_| answer(dice)).collect()
}

fn answer(dice: &mut Dice) -> Answer {
    match dice.below(20) {
        0..=4 => Answer::After(dice.between(0, 300)),
        5..=7 => Answer::After(dice.between(300, 3_000)),
        8 | 9 => Answer::After(dice.between(3_000, 12_000)),
        10 | 11 => Answer::Status(dice.pick(&[500, 502, 503, 403])),
        12 | 13 => Answer::SlowDown(dice.pick(&[1, 10, 60])),
        14 => Answer::Garbage,
        15 => Answer::CutShort,
        16 => Answer::Reset,
        17 => dice.pick(&[Answer::Oversized, Answer::Elsewhere]),
        _ => Answer::Hang,
    }
}

/// Each song is put in at least once, or nothing could be asked of it at the end.
fn puts(dice: &mut Dice, songs: usize) -> Vec<(u64, Put)> {
    let again = dice.index(3);
    let songs = (0..songs)
        .chain((0..again).map(|_| dice.index(songs)))
        .collect::<Vec<_>>();
    songs
        .into_iter()
        .map(|song| {
            let times = dice.pick(&[1, 1, 2, 5]);
            (dice.pick(&[0, 0, 500, 3_000]), Put { song, times })
        })
        .collect()
}

fn fault(dice: &mut Dice, processes: usize, lanes: usize, songs: usize) -> Fault {
    let process = dice.index(processes);
    let (lane, song) = (dice.index(lanes), dice.index(songs));
    let back = dice.pick(&[0, 500, 5_000, 20_000]);
    match dice.below(30) {
        0..=5 => Fault::Kill(process, when(dice), back),
        6 => Fault::Stop(process, back),
        7..=10 => Fault::Freeze(process, dice.pick(&[500, 4_000, 8_000, 30_000, 90_000])),
        11 | 12 => Fault::PowerCut(dice.below(1_000), back),
        13 => Fault::PowerCutAtChange(dice.below(60)),
        14 => Fault::LaneDies(lane),
        15 => Fault::LaneDark(lane),
        16 => Fault::LaneBack(lane),
        17 => Fault::FolderFull(dice.pick(&[500, 5_000])),
        18 | 19 => Fault::WallStep(dice.pick(&[-90, -1, 1, 60])),
        20 | 21 => Fault::Days(dice.pick(&[8, 15, 90])),
        22 | 23 => {
            let knows = dice.pick(&[Knows::Plain, Knows::Line, Knows::Line, Knows::Instrumental]);
            Fault::Learns(song, lane, knows)
        }
        24 => Fault::SidecarGone(song),
        25 | 26 => Fault::SidecarEdited(song),
        27 => Fault::Pass,
        _ => Fault::Panic(lane, dice.pick(&[Snag::Head, Snag::Body(1)])),
    }
}

fn when(dice: &mut Dice) -> When {
    match dice.below(8) {
        0 => When::Now,
        1 | 2 => When::Await(dice.below(200)),
        3 => When::BeforeWrite(dice.below(12)),
        4 => When::AfterWrite(dice.below(12)),
        5 => When::BeforeShelf(dice.below(16)),
        _ => When::AfterShelf(dice.below(16)),
    }
}
