//! `segue lyrics fetch`, over services of our own.

use crate::{failed, folder, ok, out, segue};
use segue::providers_fake::lrclib::{Lrclib, Record};
use segue::providers_fake::{Fault, Served};
use serde_json::Value;
use std::fs;
use std::path::Path;

const TIMED: &str = "[00:01.00]Boats of paper\n[00:05.50]Down the river";

async fn lrclib(dir: &Path) -> (Lrclib, Served) {
    let lrclib = Lrclib::new();
    let served = Served::start(lrclib.router()).await.expect("a free port");
    let text = format!(
        "[providers.lrclib]\nbase_url = \"{}\"\nspacing = \"0s\"\n\
         [[providers.command]]\nname = \"mine\"\nargv = [\"/bin/sh\", \"-c\", \"cat > /dev/null; echo '{{\\\"outcome\\\": \\\"miss\\\"}}'\"]\n\
         [providers]\nprimary = \"mine\"\nfallback_order = [\"lrclib\"]\n",
        served.url()
    );
    fs::write(dir.join("segue.toml"), text).expect("written");
    (lrclib, served)
}

const BOATS: [&str; 10] = [
    "lyrics",
    "fetch",
    "--artist",
    "The Paper Boats",
    "--title",
    "Lantern Hill",
    "--album",
    "Rivers",
    "--duration",
    "201",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    BOATS.iter().chain(more).copied().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_song_is_found_and_every_lane_says_its_word() {
    let dir = folder();
    let (lrclib, _served) = lrclib(dir.path()).await;
    lrclib.publish(
        Record::new("Lantern Hill", "The Paper Boats", 201.0)
            .album("Rivers")
            .synced(TIMED),
    );
    let told = ok(&segue(dir.path(), &BOATS));
    let said: Vec<Vec<&str>> = told
        .lines()
        .take(5)
        .map(|l| l.split_whitespace().take(2).collect())
        .collect();
    assert_eq!(
        said,
        [
            ["LANE", "SAID"],
            ["local", "not"],
            ["subsonic", "not"],
            ["mine", "not"],
            ["lrclib", "found"]
        ],
        "{told}"
    );
    assert!(
        told.contains("\nlrclib has it, line by line.\n\n[00:01.00]Boats of paper\n"),
        "{told}"
    );
    assert!(!dir.path().join("segue-data").exists(), "nothing is kept");
    let json: Value =
        serde_json::from_str(&ok(&segue(dir.path(), &with(&["--json"])))).expect("JSON");
    assert_eq!(
        (json["lane"].as_str(), json["quality"].as_str()),
        (Some("lrclib"), Some("line"))
    );
    assert_eq!(json["lanes"][2]["answer"], "miss");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_written_once_and_never_over_another() {
    let dir = folder();
    let (lrclib, _served) = lrclib(dir.path()).await;
    lrclib.publish(
        Record::new("Lantern Hill", "The Paper Boats", 201.0)
            .album("Rivers")
            .synced(TIMED),
    );
    let told = ok(&segue(dir.path(), &with(&["--out", "words"])));
    assert!(
        told.ends_with("Written to words/The Paper Boats - Lantern Hill.lrc.\n"),
        "{told}"
    );
    let file = dir.path().join("words/The Paper Boats - Lantern Hill.lrc");
    assert_eq!(fs::read_to_string(&file).expect("there").trim_end(), TIMED);
    fs::write(&file, "mine").expect("written");
    let refused = failed(&segue(dir.path(), &with(&["--out", "words"])));
    assert!(
        refused.contains("it is there already, and left as it is"),
        "{refused}"
    );
    assert_eq!(fs::read_to_string(&file).expect("there"), "mine");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_has_is_code_1_with_the_reasons() {
    let dir = folder();
    let (lrclib, served) = lrclib(dir.path()).await;
    let missed = segue(dir.path(), &BOATS);
    assert!(
        failed(&missed).is_empty() && out(&missed).ends_with("\nNo lane has it.\n"),
        "{}",
        out(&missed)
    );
    lrclib.script().always(Some(Fault::status(503)));
    let failing = segue(dir.path(), &BOATS);
    failed(&failing);
    assert!(
        out(&failing)
            .lines()
            .any(|l| l.starts_with("lrclib") && !l.contains("not there")),
        "{}",
        out(&failing)
    );
    drop(served);
    let gone = segue(dir.path(), &BOATS);
    failed(&gone);
    assert!(
        out(&gone)
            .lines()
            .any(|l| l.starts_with("lrclib") && l.contains("failed")),
        "{}",
        out(&gone)
    );
    let blank = ["lyrics", "fetch", "--artist", " ", "--title", "x"];
    assert_eq!(
        failed(&segue(dir.path(), &blank)),
        "error: the track names no artist\n"
    );
}
