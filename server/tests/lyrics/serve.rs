//! `segue serve` itself, from an empty data directory to the words beside the music.

use crate::lanes::TIMED;
use crate::world::{Fake, Home, Says, wav};
use segue_core::io::Clock;
use segue_runtime_tokio::clock::TokioClock;
use std::fs;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// Longer than any start takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_folder_has_its_words_beside_it_after_a_start() {
    let home = Home::with(&["Lantern Hill", "Nobody Knows"]);
    home.put("untagged.wav", &wav("", ""));
    home.put("夜の歌.wav", &wav("紙の舟", "夜の歌"));
    let lrclib = Fake::start().await;
    lrclib.says("Lantern Hill", Says::Synced(TIMED));
    lrclib.says(
        "夜の歌",
        Says::Synced("[00:01.00]夜が来る\n[00:05.00]紙の舟が行く"),
    );
    fs::create_dir(home.data()).expect("made");
    let config = home.data().join("segue.toml");
    let text = format!(
        "[[sources]]\nid = \"shelf\"\nkind = \"folder\"\npath = {:?}\nwrite_sidecars = true\n\
         [providers.lrclib]\nbase_url = \"{}\"\nspacing = \"0s\"\n",
        home.music(),
        lrclib.url()
    );
    fs::write(&config, text).expect("written");
    let mut child = Command::new(env!("CARGO_BIN_EXE_segue"))
        .args(["serve", "--listen", "127.0.0.1:0", "--config"])
        .arg(&config)
        .arg("--data")
        .arg(home.data())
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the program starts");
    let clock = TokioClock::new();
    let late = clock.now() + PATIENCE;
    let wanted = ["Lantern Hill.lrc", "夜の歌.lrc"];
    while home.sidecars() != wanted {
        assert!(
            clock.now() < late,
            "{:?}; {:?}",
            home.sidecars(),
            lrclib.log()
        );
        clock
            .sleep_until(clock.now() + Duration::from_millis(20))
            .await;
    }
    assert_eq!(
        home.text("Lantern Hill.lrc").expect("there").trim_end(),
        TIMED
    );
    let blank = lrclib
        .log()
        .into_iter()
        .filter(|asked| asked.trim_end().ends_with(' '));
    assert_eq!(
        blank.count(),
        0,
        "nobody is asked for a song without a name"
    );
    child.start_kill().expect("it runs");
}
