//! What a scan makes of what it knew: changed files, covers, lost disks, progress and giving up.

use crate::kit::{Folder, fixture_bytes, plain_wav, track, try_scan};
use segue_core::catalog::model::Pass;
use segue_runtime_tokio::folder::{Progress, ScanError, Watch, scan, scan_in_background};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn only_changed_files_are_read_again() {
    let folder = Folder::new();
    folder.tone("tone.flac", "A/1.flac");
    folder.tone("tone.mp3", "A/2.mp3");
    folder.write("B/C/3.wav", &plain_wav());
    folder.write("B/C/4.wav", &plain_wav());
    let first = folder.scan();
    assert_eq!((first.read, first.kept), (4, 0));

    let unchanged = folder.scan_after(&first.pass);
    assert_eq!((unchanged.read, unchanged.kept), (0, 4));
    assert_eq!(unchanged.pass, first.pass);

    let mut longer = fixture_bytes("tone.mp3");
    longer.extend([0; 7]);
    folder.write("A/2.mp3", &longer);
    fs::remove_file(folder.root().join("B/C/4.wav")).unwrap();
    folder.tone("tone.ogg", "A/5.ogg");
    let changed = folder.scan_after(&first.pass);
    assert_eq!((changed.read, changed.kept), (2, 2));
    let mut fresh = folder.scan().pass;
    // The age of a file that was known before is kept.
    for (row, old) in fresh.tracks.iter_mut().zip(&changed.pass.tracks) {
        row.created = old.created;
    }
    assert_eq!(changed.pass.tracks, fresh.tracks);
    assert_eq!(changed.pass.artists, fresh.artists);
}

#[test]
fn a_touched_file_is_read_again_and_keeps_its_age() {
    let folder = Folder::new();
    let path = folder.tone("tone.flac", "1.flac");
    let first = folder.scan();
    let earlier = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(earlier)
        .unwrap();
    let second = folder.scan_after(&first.pass);
    assert_eq!((second.read, second.kept), (1, 0));
    let (old, new) = (&first.pass.tracks[0], &second.pass.tracks[0]);
    assert_eq!(new.modified.unwrap().0, 1_000_000_000_000);
    assert_eq!((new.created, &new.remote_id), (old.created, &old.remote_id));
}

#[test]
fn a_track_whose_album_row_is_lost_is_read_again() {
    let folder = Folder::new();
    folder.tone("tone.flac", "1.flac");
    let mut first = folder.scan().pass;
    first.albums.clear();
    let second = folder.scan_after(&first);
    assert_eq!((second.read, second.pass.albums.len()), (1, 1));
}

#[test]
fn covers_beside_stand_before_covers_inside() {
    let folder = Folder::new();
    folder.tone("tone.flac", "A/in.flac");
    folder.tone("tone-alac.m4a", "A/none.m4a");
    let first = folder.scan().pass;
    assert_eq!(
        track(&first, "A/in.flac").cover_art.as_deref(),
        Some("A/in.flac")
    );
    assert_eq!(track(&first, "A/none.m4a").cover_art, None);
    assert_eq!(first.albums[0].cover_art.as_deref(), Some("A/in.flac"));

    folder.write("A/Folder.JPG", b"\xff\xd8\xff");
    folder.write("A/front.png", b"\x89PNG");
    folder.write("A/Booklet.png", b"\x89PNG");
    let beside = folder.scan_after(&first);
    assert_eq!(beside.read, 0);
    for row in &beside.pass.tracks {
        assert_eq!(row.cover_art.as_deref(), Some("A/Folder.JPG"));
    }

    fs::remove_file(folder.root().join("A/Folder.JPG")).unwrap();
    fs::remove_file(folder.root().join("A/front.png")).unwrap();
    let gone = folder.scan_after(&beside.pass);
    assert_eq!(
        gone.read, 2,
        "whether there is one inside must be looked up"
    );
    assert_eq!(gone.pass, first);
}

#[test]
fn a_cover_in_the_album_folder_stands_for_its_discs() {
    let folder = Folder::new();
    folder.write("Artist/Album/CD1/01 - A.wav", &plain_wav());
    folder.write("Artist/Album/cover.webp", b"RIFF");
    let pass = folder.scan().pass;
    assert_eq!(
        pass.tracks[0].cover_art.as_deref(),
        Some("Artist/Album/cover.webp")
    );
}

#[test]
fn a_missing_root_is_an_error_not_an_empty_library() {
    let folder = Folder::new();
    let error = try_scan(&folder.root(), &Pass::default()).unwrap_err();
    assert!(matches!(error, ScanError::Root(_)), "{error}");

    let file = folder.beside().join("file");
    fs::write(&file, b"").unwrap();
    assert!(matches!(
        try_scan(&file, &Pass::default()),
        Err(ScanError::Root(_))
    ));
}

#[test]
fn an_emptied_root_is_an_error_when_it_held_music() {
    let folder = Folder::new();
    let path = folder.tone("tone.flac", "1.flac");
    let first = folder.scan().pass;
    fs::remove_file(path).unwrap();
    let error = try_scan(&folder.root(), &first).unwrap_err();
    assert!(
        matches!(error, ScanError::Emptied { tracks: 1, .. }),
        "{error}"
    );
    assert_eq!(
        folder.scan().pass,
        Pass {
            complete: true,
            ..Pass::default()
        }
    );
}

#[test]
fn what_cannot_be_looked_at_keeps_its_rows() {
    let folder = Folder::new();
    folder.tone("tone.flac", "Locked/1.flac");
    folder.tone("tone.mp3", "Open/2.mp3");
    let first = folder.scan().pass;
    let locked = folder.root().join("Locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read everything.
    let enforced = fs::read_dir(&locked).is_err();
    let second = folder.scan_after(&first).pass;
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(second.tracks, first.tracks);
    assert_eq!(second.warnings.len(), usize::from(enforced));
}

#[test]
fn progress_is_told_and_a_cancelled_scan_gives_no_pass() {
    let folder = Folder::new();
    for number in 0..5 {
        folder.tone("tone.opus", format!("{number}.opus"));
    }
    let told = RefCell::new(Vec::new());
    let cancelled = AtomicBool::new(false);
    let watch = Watch {
        cancelled: &cancelled,
        progress: &|progress| told.borrow_mut().push(progress),
    };
    scan(&folder.root(), &Pass::default(), watch).unwrap();
    let expected: Vec<_> = (0..=5)
        .map(|read| Progress {
            found: 5,
            to_read: 5,
            read,
        })
        .collect();
    assert_eq!(told.into_inner(), expected);

    let watch = Watch {
        cancelled: &cancelled,
        progress: &|progress| {
            cancelled.fetch_or(progress.read == 2, Ordering::Relaxed);
        },
    };
    let error = scan(&folder.root(), &Pass::default(), watch).unwrap_err();
    assert!(matches!(error, ScanError::Cancelled));
}

#[tokio::test]
async fn dropping_a_scan_in_the_background_cancels_it() {
    let folder = Folder::new();
    for number in 0..50 {
        folder.tone("tone.opus", format!("{number}.opus"));
    }
    let whole = scan_in_background(folder.root(), Pass::default(), |_| {}).await;
    assert_eq!(whole.unwrap().read, 50);

    // The scan waits for the test at its first file, and the test for the scan's end.
    let (reached, mut at_first) = tokio::sync::mpsc::unbounded_channel();
    let (go_on, waiting) = std::sync::mpsc::channel::<()>();
    let scanning = scan_in_background(folder.root(), Pass::default(), move |progress| {
        reached.send(progress.read).unwrap();
        if progress.read == 1 {
            waiting.recv().unwrap();
        }
    });
    let task = tokio::spawn(scanning);
    while at_first.recv().await != Some(1) {}
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    go_on.send(()).unwrap();
    let mut last = 1;
    while let Some(read) = at_first.recv().await {
        last = read;
    }
    assert!(last < 50, "read on to the end");
}
