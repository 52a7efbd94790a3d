//! The life of a database as a list of acts that follow from a seed, and what it looks like after each.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use segue_core::catalog::model::{InstanceAlbum, InstanceArtist, InstanceTrack, Pass, SourceKind};
use segue_core::io::StoreError;
use segue_core::time::Wall;
use segue_runtime_sim::disk::{Counts, Dice, Disk, Geometry, VFS};
use segue_sqlite::{
    AttemptRow, Db, DropGuard, InstanceSpec, NewUser, OperationStatus, Reader, StreamOperation,
    Writer,
};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// Something that a hub does to its database.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Streams that open (`None`) and close (by row id), committed together.
    Streams(Vec<Option<i64>>),
    /// A pass that found the tracks of this range. It may add, change and remove hundreds of rows.
    Pass(std::ops::Range<u32>),
    /// A change beside one that fails.
    Beside(u64),
    /// Old operations are forgotten.
    Prune,
    /// The log is moved into the database.
    Checkpoint,
    /// All connections are closed, and opened again.
    Reopen,
}

/// A life of `length` acts.
pub(crate) fn a_life(seed: u64, length: usize) -> Vec<Act> {
    let mut dice = Dice::new(seed);
    (0..length).map(|n| an_act(n as u64, &mut dice)).collect()
}

fn an_act(n: u64, dice: &mut Dice) -> Act {
    match dice.below(20) {
        0..=8 => Act::Streams(
            (0..=dice.below(4))
                .map(|_| dice.coin().then(|| dice.below(n + 1).cast_signed() + 1))
                .collect(),
        ),
        9..=13 => {
            let start = u32::try_from(dice.below(20)).unwrap();
            Act::Pass(start..start + 5 + u32::try_from(dice.below(60)).unwrap())
        }
        14 | 15 => Act::Beside(n),
        16 => Act::Prune,
        17 | 18 => Act::Checkpoint,
        _ => Act::Reopen,
    }
}

/// A disk with a database that is up to date and knows one source. Made once: migrating takes a while.
pub(crate) fn a_disk(geometry: Geometry) -> Disk {
    static MADE: LazyLock<[Disk; 2]> = LazyLock::new(|| {
        [Geometry::COMMON, Geometry::HARSH].map(|geometry| {
            let disk = Disk::new(geometry);
            let source = InstanceSpec {
                id: "home".into(),
                kind: SourceKind::Subsonic,
                name: "Home".into(),
                local: true,
            };
            let db = disk.database().unwrap();
            let writer = db.writer().unwrap();
            writer.alone(|w| w.upsert_instance(&source)).unwrap();
            drop((writer, db));
            disk
        })
    });
    MADE[usize::from(geometry == Geometry::HARSH)].copy()
}

/// A hub's connections.
pub(crate) struct Hub {
    disk: Disk,
    early: bool,
    open: Option<(Db, Writer, Reader)>,
}

impl Hub {
    pub(crate) fn new(disk: &Disk) -> Self {
        Hub {
            disk: disk.clone(),
            early: false,
            open: None,
        }
    }

    /// Its commits return before they are durable.
    pub(crate) fn acknowledging_early(disk: &Disk) -> Self {
        Hub {
            early: true,
            ..Hub::new(disk)
        }
    }

    fn open(&mut self) -> segue_sqlite::Result<&(Db, Writer, Reader)> {
        match &mut self.open {
            Some(open) => Ok(open),
            closed => {
                let mut db = self.disk.database()?;
                if self.early {
                    db = db.acknowledging_early();
                }
                let (reader, writer) = (db.reader()?, db.writer()?);
                Ok(closed.insert((db, writer, reader)))
            }
        }
    }

    /// A question over the connection that it has.
    pub(crate) fn users(&self) -> usize {
        let (_, _, reader) = self.open.as_ref().unwrap();
        reader.snapshot(|r| r.users()).unwrap().len()
    }

    /// Does one thing. `Ok` is what a caller would be told.
    pub(crate) fn act(&mut self, act: &Act) -> Result<(), StoreError> {
        if let Act::Reopen = act {
            self.open = None;
        }
        let (_, writer, reader) = self.open()?;
        match act {
            Act::Streams(streams) => {
                let outcomes = writer.group(|group| {
                    let all = streams
                        .iter()
                        .map(|stream| group.member(|w| one(w, *stream)));
                    all.collect::<Vec<_>>()
                })?;
                outcomes.into_iter().collect()
            }
            Act::Pass(range) => {
                let pass = a_pass(range.clone());
                Ok(writer.alone(|w| {
                    w.apply_pass("home", pass, Wall(5), DropGuard::Allow)
                        .map(|_| ())
                })?)
            }
            Act::Beside(n) => {
                let (kept, undone) = writer.group(|group| {
                    let kept = group.member(|w| w.add_user(&a_user(*n), Wall(1)).map(|_| ()));
                    let undone = group.member(|w| {
                        w.apply_pass("home", a_pass(0..3), Wall(6), DropGuard::Allow)?;
                        Err::<(), _>(StoreError::Conflict("second thoughts".into()))
                    });
                    (kept, undone)
                })?;
                assert!(undone.is_err());
                kept
            }
            Act::Prune => Ok(writer.alone(|w| w.prune_operations(3).map(|_| ()))?),
            // It changes nothing that can be seen, so nothing is promised either.
            Act::Checkpoint => Ok(writer.checkpoint()?),
            Act::Reopen => Ok(reader.snapshot(|r| r.users().map(|_| ()))?),
        }
    }
}

fn one(w: &Writer, stream: Option<i64>) -> segue_sqlite::Result<()> {
    match stream {
        None => w.open_operation(&an_operation()).map(|_| ()),
        Some(id) => {
            let attempts = [AttemptRow {
                source_id: "home".into(),
                outcome: "ok".into(),
                ms: 12,
                bytes: 5_000,
            }];
            w.close_operation(
                id,
                Wall(20),
                OperationStatus::Completed,
                5_000,
                &attempts,
                None,
            )
            .map(|_| ())
        }
    }
}

pub(crate) fn an_operation() -> StreamOperation {
    StreamOperation {
        id: 0,
        track_id: "tr1".into(),
        track_title: "One".into(),
        artist_name: "Ada".into(),
        user: "alice".into(),
        client: "test".into(),
        source_id: Some("home".into()),
        source_kind: Some(SourceKind::Subsonic),
        attempts: Vec::new(),
        started_at: Wall(10),
        ended_at: None,
        status: OperationStatus::Active,
        bytes: 0,
        format: Some("flac".into()),
        bit_rate: Some(900),
        transcoded: false,
        range_start: None,
        error: None,
    }
}

pub(crate) fn a_user(n: u64) -> NewUser {
    NewUser {
        name: format!("user {n}"),
        password_enc: vec![7; 40],
        is_admin: false,
    }
}

/// Tracks numbered in `range`, ten on an album, named after the range's length so that passes differ.
fn a_pass(range: std::ops::Range<u32>) -> Pass {
    let edition = range.len();
    let artist = InstanceArtist {
        remote_id: "a1".into(),
        name: "Someone".into(),
        ..InstanceArtist::default()
    };
    let album = |n: u32| InstanceAlbum {
        remote_id: format!("b{n}"),
        name: format!("Album {n}"),
        artist_name: "Someone".into(),
        genres: vec!["Rock".into()],
        ..InstanceAlbum::default()
    };
    let track = |n: u32| InstanceTrack {
        remote_id: format!("t{n:05}"),
        album_remote_id: format!("b{}", n / 10),
        title: format!(
            "Track {n} of {}",
            if n.is_multiple_of(3) { edition } else { 0 }
        ),
        artist_name: "Someone".into(),
        disc_number: 1,
        format: "mp3".into(),
        suffix: "mp3".into(),
        content_type: "audio/mpeg".into(),
        path: Some(format!("Someone/Album {}/{n}.mp3", n / 10)),
        ..InstanceTrack::default()
    };
    Pass {
        complete: true,
        artists: vec![artist],
        albums: (range.start / 10..range.end.div_ceil(10))
            .map(album)
            .collect(),
        tracks: range.map(track).collect(),
        ..Pass::default()
    }
}

/// A connection that knows nothing of `segue-sqlite`.
pub(crate) fn plain(disk: &Disk) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    Connection::open_with_flags_and_vfs(disk.path("segue.db"), flags, VFS).unwrap()
}

/// A number for all that is in the database, after looking whether it is sound.
pub(crate) fn contents(disk: &Disk) -> u64 {
    let connection = plain(disk);
    let sound: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
    let mut tables = connection
        .prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name",
        )
        .unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let mut sum = DefaultHasher::new();
    for table in tables {
        let table = table.unwrap();
        let mut rows = connection
            .prepare(&format!("SELECT * FROM \"{table}\""))
            .unwrap();
        let width = rows.column_count();
        let mut rows = rows.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..width {
                add(&mut sum, row.get_ref(column).unwrap());
            }
        }
        table.hash(&mut sum);
    }
    sum.finish()
}

fn add(sum: &mut DefaultHasher, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => sum.write_u8(0),
        ValueRef::Integer(number) => sum.write_i64(number),
        ValueRef::Real(number) => sum.write_u64(number.to_bits()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.hash(sum),
    }
}

/// A life on a disk that never fails: what the others are measured by.
pub(crate) struct Oracle {
    /// What is in the database before the first act, and after each.
    pub(crate) contents: Vec<u64>,
    /// What the life asked of its disk.
    pub(crate) counts: Counts,
}

pub(crate) fn oracle(geometry: Geometry, life: &[Act]) -> Oracle {
    let disk = a_disk(geometry);
    let mut hub = Hub::new(&disk);
    let mut seen = vec![contents(&disk)];
    for act in life {
        hub.act(act).unwrap();
        seen.push(contents(&disk));
    }
    drop(hub);
    // The looking closed and opened files as well, so the changes are counted once more without it.
    let disk = a_disk(geometry);
    let mut hub = Hub::new(&disk);
    for act in life {
        hub.act(act).unwrap();
    }
    drop(hub);
    Oracle {
        contents: seen,
        counts: disk.counts(),
    }
}
