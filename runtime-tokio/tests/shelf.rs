//! Sidecars on a real disk: whose they are, what they are called, and where they cannot lead.

use bytes::Bytes;
use segue_core::delivery::*;
use segue_core::dispatch::Quality;
use segue_core::driver::deliver::{Delivered, deliver, take_away};
use segue_core::io::{Digest, Place, Seen, Shelf, ShelfError};
use segue_runtime_tokio::shelf::{FolderShelf, Roots};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use tempfile::TempDir;

fn shelf(root: &TempDir) -> FolderShelf {
    FolderShelf::new(Roots::from([("shelf".to_owned(), root.path().to_owned())]))
}

fn track(path: &str) -> Place {
    Place::new("shelf", path)
}

const NEW: &[u8] = b"[00:01.00]la la\n";

async fn beside(shelf: &FolderShelf, at: &Place) -> Beside {
    Beside {
        seen: shelf.look(at).await.unwrap(),
        ours: None,
    }
}

/// Writes timed lyrics beside a track, as the first who does.
async fn write(shelf: &FolderShelf, track: &Place) -> Result<Delivered, ShelfError> {
    let wanted = Wanted {
        form: Form::Synced,
        quality: Quality::Line,
        new: Digest::of(NEW),
    };
    let here = beside(shelf, &sidecar(track, Form::Synced)?).await;
    let other = beside(shelf, &sidecar(track, Form::Plain)?).await;
    match plan(&wanted, here, other) {
        Plan::Leave(left) => Ok(Delivered::Left(left)),
        Plan::Write(changes) => {
            let intent = Intent::new(track, &wanted, changes, 1)?;
            deliver(shelf, &intent, Some(&Bytes::from_static(NEW))).await
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_sidecar_lies_beside_its_track_with_the_same_permissions() {
    let root = TempDir::new().unwrap();
    fs::create_dir(root.path().join("Band")).unwrap();
    let audio = root.path().join("Band/01. Song.flac");
    fs::write(&audio, b"sound").unwrap();
    fs::set_permissions(&audio, fs::Permissions::from_mode(0o640)).unwrap();
    let written = write(&shelf(&root), &track("Band/01. Song.flac")).await;
    assert_eq!(written, Ok(Delivered::Written));
    let sidecar = root.path().join("Band/01. Song.lrc");
    assert_eq!(fs::read(&sidecar).unwrap(), NEW);
    let (one, other) = (
        fs::metadata(&sidecar).unwrap(),
        fs::metadata(&audio).unwrap(),
    );
    assert_eq!(one.mode() & 0o777, 0o640);
    assert_eq!((one.uid(), one.gid()), (other.uid(), other.gid()));
    assert_eq!(
        names(&root.path().join("Band")),
        ["01. Song.flac", "01. Song.lrc"]
    );
}

#[tokio::test]
async fn the_mask_of_the_process_is_respected() {
    let root = TempDir::new().unwrap();
    let audio = root.path().join("Song.flac");
    fs::write(&audio, b"sound").unwrap();
    let plain = fs::metadata(&audio).unwrap().mode() & 0o777;
    fs::set_permissions(&audio, fs::Permissions::from_mode(0o666)).unwrap();
    let written = write(&shelf(&root), &track("Song.flac")).await;
    assert_eq!(written, Ok(Delivered::Written));
    let mode = fs::metadata(root.path().join("Song.lrc")).unwrap().mode();
    assert_eq!(mode & 0o777, plain, "what the mask leaves of 0666");
}

#[tokio::test]
async fn s2_a_users_file_is_neither_replaced_nor_removed() {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("Song.flac"), b"sound").unwrap();
    fs::write(root.path().join("Song.lrc"), b"by hand").unwrap();
    fs::write(root.path().join("Song.txt"), b"by hand too").unwrap();
    let shelf = shelf(&root);
    let song = track("Song.flac");
    assert_eq!(
        write(&shelf, &song).await,
        Ok(Delivered::Left(Left::NotOurs))
    );
    let (lrc, txt) = (song.beside("Song.lrc"), song.beside("Song.txt"));
    let ours = Digest::of(b"ours");
    assert_eq!(shelf.remove(&txt, ours).await, Err(ShelfError::Changed));
    let temp = temp(&lrc, Digest::of(NEW), 1);
    shelf.stage(&temp, &song, NEW.into()).await.unwrap();
    assert_eq!(shelf.create(&temp, &lrc).await, Err(ShelfError::Changed));
    assert_eq!(
        shelf.replace(&temp, &lrc, ours).await,
        Err(ShelfError::Changed)
    );
    assert_eq!(shelf.discard(&lrc).await, Err(ShelfError::Changed));
    shelf.discard(&temp).await.unwrap();
    assert_eq!(fs::read(root.path().join("Song.lrc")).unwrap(), b"by hand");
    assert_eq!(names(root.path()), ["Song.flac", "Song.lrc", "Song.txt"]);
}

#[tokio::test]
async fn a_timed_file_takes_the_place_of_our_plain_one() {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("Song.flac"), b"sound").unwrap();
    fs::write(root.path().join("Song.txt"), b"la la").unwrap();
    let wanted = Wanted {
        form: Form::Synced,
        quality: Quality::Line,
        new: Digest::of(NEW),
    };
    let changes = Changes {
        replaces: None,
        retires: Some(Digest::of(b"la la")),
    };
    let intent = Intent::new(&track("Song.flac"), &wanted, changes, 1).unwrap();
    let bytes = Bytes::from_static(NEW);
    let shelf = shelf(&root);
    let ended = deliver(&shelf, &intent, Some(&bytes)).await;
    assert_eq!(ended, Ok(Delivered::Written));
    assert_eq!(names(root.path()), ["Song.flac", "Song.lrc"]);
    let again = deliver(&shelf, &intent, None).await;
    assert_eq!(
        again,
        Ok(Delivered::Written),
        "after a crash before the note"
    );
}

#[tokio::test]
async fn names_of_any_bytes_keep_them() {
    let root = TempDir::new().unwrap();
    for (file, text, expected) in [
        (
            &b"caf\xe9 #%?\n.mp3"[..],
            "caf%E9 #%25?%0A.mp3",
            &b"caf\xe9 #%?\n.lrc"[..],
        ),
        (
            "カ\u{3099}.m4a".as_bytes(),
            "カ\u{3099}.m4a",
            "カ\u{3099}.lrc".as_bytes(),
        ),
        (b"U.S.A..flac", "U.S.A..flac", b"U.S.A..lrc"),
    ] {
        fs::write(root.path().join(OsStr::from_bytes(file)), b"sound").unwrap();
        let written = write(&shelf(&root), &track(text)).await;
        assert_eq!(written, Ok(Delivered::Written), "{text}");
        assert!(root.path().join(OsStr::from_bytes(expected)).exists());
    }
}

#[tokio::test]
async fn a_name_as_long_as_the_disk_takes_is_written_and_a_longer_one_is_told() {
    let root = TempDir::new().unwrap();
    let fits = format!("{}.mp3", "x".repeat(251));
    fs::write(root.path().join(&fits), b"sound").unwrap();
    let written = write(&shelf(&root), &track(&fits)).await;
    assert_eq!(written, Ok(Delivered::Written));
    let short_suffix = format!("{}.wv", "y".repeat(252));
    fs::write(root.path().join(&short_suffix), b"sound").unwrap();
    let told = write(&shelf(&root), &track(&short_suffix)).await;
    assert_eq!(told, Err(ShelfError::NameTooLong));
}

#[tokio::test]
async fn nothing_leads_out_of_the_root() {
    let (root, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::write(outside.path().join("Song.flac"), b"sound").unwrap();
    symlink(outside.path(), root.path().join("link")).unwrap();
    let shelf = shelf(&root);
    for path in ["link/Song.flac", "../Song.flac", "/etc/Song.flac", ""] {
        let at = Place::new("shelf", path);
        assert_eq!(shelf.look(&at).await, Err(ShelfError::Outside), "{path}");
    }
    assert_eq!(names(outside.path()), ["Song.flac"]);
    // A link in the place of a sidecar is somebody's, wherever it leads.
    fs::write(root.path().join("Song.flac"), b"sound").unwrap();
    symlink(outside.path().join("words"), root.path().join("Song.lrc")).unwrap();
    let left = write(&shelf, &track("Song.flac")).await;
    assert_eq!(left, Ok(Delivered::Left(Left::NotOurs)));
    assert!(!outside.path().join("words").exists());
}

#[tokio::test]
async fn only_sources_that_allow_it_are_written_to() {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("Song.flac"), b"sound").unwrap();
    let shelf = shelf(&root);
    let other = Place::new("other", "Song.flac");
    assert_eq!(shelf.look(&other).await, Err(ShelfError::NotWritable));
    shelf.set_roots(Roots::new());
    let told = shelf.look(&track("Song.flac")).await;
    assert_eq!(told, Err(ShelfError::NotWritable));
}

#[tokio::test]
async fn a_track_or_folder_that_is_gone_is_told() {
    let root = TempDir::new().unwrap();
    let shelf = shelf(&root);
    let told = write(&shelf, &track("Song.flac")).await;
    assert_eq!(told, Err(ShelfError::NotFound));
    let told = shelf.look(&track("Band/Song.flac")).await;
    assert_eq!(told, Err(ShelfError::NotFound));
    assert_eq!(names(root.path()), [""; 0]);
}

#[tokio::test]
async fn half_a_file_that_was_left_is_written_anew() {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("Song.flac"), b"sound").unwrap();
    let target = track("Song.lrc");
    let left = temp(&target, Digest::of(NEW), 1);
    fs::write(root.path().join(left.name()), b"[00:0").unwrap();
    let shelf = shelf(&root);
    assert_eq!(
        write(&shelf, &track("Song.flac")).await,
        Ok(Delivered::Written)
    );
    assert_eq!(names(root.path()), ["Song.flac", "Song.lrc"]);
    assert_eq!(shelf.look(&target).await, Ok(Seen::File(Digest::of(NEW))));
}

/// A folder that may not be written to, by everybody but root: a mount of its own would be needed to show that too.
#[tokio::test]
async fn a_read_only_folder_is_told() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("Song.flac"), b"sound").unwrap();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let told = write(&shelf(&root), &track("Song.flac")).await;
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(told, Err(ShelfError::ReadOnly));
    assert_eq!(names(root.path()), ["Song.flac"]);
}

#[tokio::test]
async fn s2_a_file_is_taken_away_only_as_we_wrote_it() {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("Song.flac"), b"sound").unwrap();
    let (shelf, at) = (shelf(&root), track("Song.lrc"));
    let removal = Removal {
        place: at.clone(),
        only: Digest::of(NEW),
    };
    let file = root.path().join("Song.lrc");
    for theirs in [&b"by hand"[..], b"[00:01.00]la la\n ", b""] {
        fs::write(&file, theirs).unwrap();
        let left = take_away(&shelf, &removal).await;
        assert_eq!(left, Ok(Some(Left::NotOurs)));
        assert_eq!(fs::read(&file).unwrap(), theirs);
    }
    fs::remove_file(&file).unwrap();
    let elsewhere = root.path().join("elsewhere");
    fs::write(&elsewhere, NEW).unwrap();
    symlink(&elsewhere, &file).unwrap();
    let left = take_away(&shelf, &removal).await;
    assert_eq!(
        left,
        Ok(Some(Left::NotOurs)),
        "a link is nobody's but theirs"
    );
    fs::remove_file(&file).unwrap();
    fs::write(&file, NEW).unwrap();
    for _ in 0..2 {
        assert_eq!(take_away(&shelf, &removal).await, Ok(None));
        assert_eq!(names(root.path()), ["Song.flac", "elsewhere"]);
    }
    let outside = Removal {
        place: track("../Song.lrc"),
        ..removal
    };
    assert_eq!(take_away(&shelf, &outside).await, Err(ShelfError::Outside));
}
