//! Q1 and Q5 over one file, with threads and with processes that are killed.

use crate::kit::{request, track, words};
use segue_core::queue::{Quality, Status, Ticket};
use segue_core::time::Wall;
use segue_sqlite::{Db, Enqueued, Writer};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SONGS: i64 = 120;

/// What tells a copy of this program to be a worker, and where.
const PLACE: &str = "SEGUE_QUEUE_WORKER";

fn fill(writer: &Writer) {
    for number in 0..SONGS {
        let id = format!("tr{number}");
        let request = request("A", &format!("Song {number}"), &[track(&id)]);
        writer.alone(|w| w.enqueue(&request, 1, Wall(0))).unwrap();
    }
}

/// Takes a song and answers it; which claim that was.
fn work(writer: &Writer, now: i64) -> Option<Ticket> {
    let claim = writer.alone(|w| w.claim("w", Wall(now), Wall(now + 100)));
    let ticket = claim.unwrap()?.ticket;
    let answer = words("la", Quality::Line);
    writer
        .alone(|w| w.complete(ticket, &answer, Wall(now)))
        .unwrap();
    Some(ticket)
}

#[test]
fn q1_q5_many_writers_of_one_file_make_one_row_and_one_answer_a_song() {
    let dir = tempfile::tempdir().unwrap();
    let db = Db::open(&dir.path().join("segue.db")).unwrap();
    let made = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                let writer = db.writer().unwrap();
                scope.spawn(move || {
                    let mut made = 0;
                    for number in 0..20 {
                        let request = request("A", &format!("Song {number}"), &[]);
                        let told = writer.alone(|w| w.enqueue(&request, 1, Wall(0)));
                        made += usize::from(matches!(told.unwrap(), Enqueued::New { .. }));
                    }
                    let done: Vec<Ticket> = std::iter::from_fn(|| work(&writer, 1)).collect();
                    (made, done)
                })
            })
            .collect();
        let told = writers.into_iter().map(|writer| writer.join().unwrap());
        told.collect::<Vec<_>>()
    });
    assert_eq!(made.iter().map(|(made, _)| made).sum::<usize>(), 20);
    let done: Vec<Ticket> = made.into_iter().flat_map(|(_, done)| done).collect();
    let songs: BTreeSet<i64> = done.iter().map(|ticket| ticket.work_id).collect();
    assert_eq!((done.len(), songs.len()), (20, 20), "{done:?}");
}

fn a_worker(place: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "contention::a_worker_of_another_process",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(PLACE, place)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The claims that a worker said it has answered, up to its end.
fn told_by(worker: &mut Child, kill_after: Option<usize>) -> Vec<Ticket> {
    let out = BufReader::new(worker.stdout.take().unwrap());
    let mut told = Vec::new();
    for line in out.lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["answered", work_id, epoch] = words.as_slice() {
            told.push(Ticket {
                work_id: work_id.parse().unwrap(),
                epoch: epoch.parse().unwrap(),
            });
        }
        if kill_after.is_some_and(|after| told.len() == after) {
            worker.kill().unwrap();
        }
    }
    worker.wait().unwrap();
    told
}

/// No test by itself: what [`a_worker`] starts.
#[test]
fn a_worker_of_another_process() {
    let Some(place) = std::env::var_os(PLACE) else {
        return;
    };
    let writer = Db::open(Path::new(&place)).unwrap().writer().unwrap();
    while let Some(ticket) = work(&writer, 1) {
        let line = format!("answered {} {}\n", ticket.work_id, ticket.epoch);
        std::io::stdout().write_all(line.as_bytes()).unwrap();
    }
}

#[test]
fn q1_q4_processes_that_are_killed_leave_every_song_one_answer() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("segue.db");
    let db = Db::open(&place).unwrap();
    let (writer, reader) = (db.writer().unwrap(), db.reader().unwrap());
    fill(&writer);
    let told = std::thread::scope(|scope| {
        let workers = [Some(5), Some(17), None].map(|kill_after| {
            let mut worker = a_worker(&place);
            scope.spawn(move || told_by(&mut worker, kill_after))
        });
        workers.map(|worker| worker.join().unwrap()).concat()
    });
    let songs: BTreeSet<i64> = told.iter().map(|ticket| ticket.work_id).collect();
    assert_eq!(songs.len(), told.len(), "Q1: {told:?}");
    assert!(told.len() > 5, "somebody worked: {told:?}");

    // What the dead left in work comes back when their leases are over; the rest is done.
    writer.alone(|w| w.reclaim(Wall(1_000))).unwrap();
    let rest: Vec<Ticket> = std::iter::from_fn(|| work(&writer, 1_000)).collect();
    assert!(rest.iter().all(|ticket| !songs.contains(&ticket.work_id)));
    let counts = reader.queue_counts().unwrap();
    let done = counts.iter().find(|(status, _)| *status == Status::Done);
    assert_eq!(done, Some(&(Status::Done, SONGS as u64)));
    assert_eq!(reader.damage().unwrap(), Vec::<String>::new());
}
