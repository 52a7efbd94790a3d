//! The command line as a person meets it: the real program, its words and its exit codes.

mod fetch;
mod queue;

use clap::{CommandFactory, Parser};
use segue::cli::{Cli, Command, SourceCommand};
use segue::upstream::{Library, Setup, Upstream};
use serde_json::Value;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{self, Child, ChildStderr, ChildStdout, Output, Stdio};
use tempfile::TempDir;

fn program(dir: &Path, arguments: &[&str]) -> process::Command {
    let mut command = process::Command::new(env!("CARGO_BIN_EXE_segue"));
    // Variables of whoever runs the tests are not theirs.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SEGUE_") {
            command.env_remove(name);
        }
    }
    command.current_dir(dir).args(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the program in `dir` with `input` on its standard input.
fn segue_with(dir: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = program(dir, arguments).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    // A program that does not read is no error.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the program ends")
}

fn segue(dir: &Path, arguments: &[&str]) -> Output {
    segue_with(dir, arguments, "")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}{}", out(output), err(output));
    out(output)
}

fn failed(output: &Output) -> String {
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}{}",
        out(output),
        err(output)
    );
    err(output)
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn the_command_line_is_well_formed() {
    Cli::command().debug_assert();
}

#[test]
fn a_source_is_a_server_or_a_folder() {
    let parse = |line: &str| Cli::try_parse_from(line.split(' '));
    let add = parse("segue source add home --url http://h --username alice --local true");
    let Ok(Cli {
        command: Command::Source(SourceCommand::Add(add)),
    }) = add
    else {
        panic!("{add:?}");
    };
    assert_eq!(
        (add.url.as_deref(), add.local),
        (Some("http://h"), Some(true))
    );
    for wrong in [
        "segue source add home",
        "segue source add home --url http://h --path /m",
        "segue source add home --path /m --username a",
        "segue source add home --url http://h --auth magic",
        "segue source add home --url http://h --password sesame",
        "segue user add ann --password sesame",
        "segue demo --listen nowhere",
    ] {
        assert_eq!(
            parse(wrong).map_err(|error| error.exit_code()).err(),
            Some(2),
            "{wrong}"
        );
    }
}

#[test]
fn usage_is_code_2_and_help_is_code_0() {
    let dir = folder();
    assert_eq!(segue(dir.path(), &["frobnicate"]).status.code(), Some(2));
    assert!(ok(&segue(dir.path(), &["--help"])).contains("segue demo"));
    assert!(ok(&segue(dir.path(), &["completions", "bash"])).contains("_segue"));
}

#[test]
fn every_command_has_help_that_is_a_sentence() {
    fn check(command: &clap::Command) {
        for inner in command
            .get_subcommands()
            .filter(|inner| inner.get_name() != "help")
        {
            let about = inner
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                about.starts_with(|c: char| c.is_uppercase()),
                "{}: {about:?}",
                inner.get_name()
            );
            for argument in inner.get_arguments() {
                assert!(
                    argument.get_help().is_some(),
                    "{} {}",
                    inner.get_name(),
                    argument.get_id()
                );
            }
            check(inner);
        }
    }
    check(&Cli::command());
}

#[test]
fn a_configuration_is_checked_and_shown_without_secrets() {
    let dir = folder();
    let checked = ok(&segue(dir.path(), &["config", "check"]));
    assert_eq!(
        checked,
        "There is no configuration file; the defaults and the environment are fine: 0 sources.\n"
    );
    let file = "[[sources]]\nid = \"home\"\nkind = \"subsonic\"\nurl = \"http://h\"\nusername = \"a\"\npassword = \"s3cret\"\n";
    std::fs::write(dir.path().join("segue.toml"), file).expect("written");
    assert_eq!(
        ok(&segue(dir.path(), &["config", "check"])),
        "segue.toml is fine: 1 source.\n"
    );
    let shown = ok(&segue(dir.path(), &["config", "show"]));
    assert!(
        shown.contains("password = \"***\"") && !shown.contains("s3cret"),
        "{shown}"
    );
    std::fs::write(dir.path().join("segue.toml"), "[stream]\nmoode = 1\n").expect("written");
    let told = failed(&segue(dir.path(), &["config", "check"]));
    assert_eq!(
        told,
        "error: segue.toml:2: unknown key `moode` in [stream]; did you mean `mode`?\n"
    );
    let told = failed(&segue(
        dir.path(),
        &["config", "check", "--config", "gone.toml"],
    ));
    assert_eq!(told, "error: gone.toml: cannot be read: no such file\n");
}

#[test]
fn sources_are_added_listed_and_removed_by_command() {
    let dir = folder();
    std::fs::create_dir(dir.path().join("music")).expect("a folder");
    let before = "# mine\n[sync]\ninterval = \"1h\"\n";
    std::fs::write(dir.path().join("segue.toml"), before).expect("written");
    let file = || std::fs::read_to_string(dir.path().join("segue.toml")).expect("read");

    let add = [
        "source",
        "add",
        "home",
        "--url",
        "http://127.0.0.1:1",
        "--username",
        "alice",
    ];
    let told = ok(&segue_with(dir.path(), &add, "se\"same\n"));
    assert!(told.starts_with("Added `home` to segue.toml."), "{told}");
    assert!(
        file().starts_with(before) && file().contains("'se\"same'"),
        "{}",
        file()
    );
    ok(&segue(
        dir.path(),
        &["source", "add", "shelf", "--path", "music"],
    ));
    assert_eq!(
        failed(&segue_with(dir.path(), &add, "x\n")),
        "error: source `home` is there already\n"
    );
    let wrong = ["source", "add", "Bad Id", "--path", "music"];
    assert!(
        failed(&segue(dir.path(), &wrong)).contains("use small letters"),
        "{}",
        file()
    );

    let listed: Value =
        serde_json::from_str(&ok(&segue(dir.path(), &["source", "list", "--json"]))).expect("JSON");
    let ids: Vec<&str> = listed
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|source| source["id"].as_str())
        .collect();
    assert_eq!(ids, ["home", "shelf"]);
    assert!(
        !dir.path().join("segue-data").exists(),
        "a listing makes nothing"
    );

    ok(&segue(dir.path(), &["source", "remove", "shelf"]));
    ok(&segue(dir.path(), &["source", "remove", "home"]));
    assert_eq!(file(), before);
    let told = failed(&segue(dir.path(), &["source", "remove", "home"]));
    assert_eq!(
        told,
        "error: there is no source `home`; `segue source list` shows what there is\n"
    );
}

#[test]
fn users_come_and_go_with_passwords_from_standard_input() {
    let dir = folder();
    let none = ok(&segue(dir.path(), &["user", "list"]));
    assert_eq!(
        none,
        "There are no users yet. `segue user add NAME --admin` makes the first.\n"
    );
    let added = ok(&segue_with(
        dir.path(),
        &["user", "add", "ann", "--admin"],
        "sesame\n",
    ));
    assert_eq!(added, "Added administrator `ann`.\n");
    let again = failed(&segue_with(dir.path(), &["user", "add", "Ann"], "x\n"));
    assert_eq!(again, "error: there is already a user `Ann`\n");
    assert_eq!(
        failed(&segue_with(dir.path(), &["user", "add", "bob"], "")),
        "error: the password is empty\n"
    );
    assert!(failed(&segue_with(dir.path(), &["user", "add", "a:b"], "x\n")).contains("colon"));
    ok(&segue_with(
        dir.path(),
        &["user", "passwd", "ann"],
        "open\n",
    ));
    let key = ok(&segue(dir.path(), &["user", "key", "ann"]));
    assert_eq!(key.trim_end().len(), 43, "{key}");
    let listed: Value =
        serde_json::from_str(&ok(&segue(dir.path(), &["user", "list", "--json"]))).expect("JSON");
    assert_eq!(
        (
            &listed[0]["name"],
            &listed[0]["admin"],
            &listed[0]["api_keys"]
        ),
        (&"ann".into(), &true.into(), &1.into())
    );
    let asked = failed(&segue(dir.path(), &["user", "remove", "ann"]));
    assert_eq!(
        asked,
        "error: Remove `ann` with all stars, plays and keys? Say so with --yes\n"
    );
    ok(&segue(dir.path(), &["user", "remove", "ann", "--yes"]));
    assert!(
        failed(&segue(dir.path(), &["user", "passwd", "ann"]))
            .starts_with("error: there is no user `ann`")
    );
}

/// A hub in a process of its own; killed when the test is over.
struct Serving {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    log: Lines<BufReader<ChildStderr>>,
}

impl Serving {
    fn start(dir: &Path) -> Self {
        Serving::of(program(dir, &["serve", "--listen", "127.0.0.1:0"]))
    }

    fn of(mut command: process::Command) -> Self {
        let mut child = command.spawn().expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let log = BufReader::new(child.stderr.take().expect("piped")).lines();
        Serving { child, lines, log }
    }

    /// Reads the log until a line says `what`.
    fn wait_for(&mut self, what: &str) {
        let found = self
            .log
            .by_ref()
            .map_while(Result::ok)
            .any(|line| line.contains(what));
        assert!(found, "the log ended without {what:?}");
    }

    fn line(&mut self) -> String {
        self.lines.next().expect("a line").expect("text")
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = process::Command::new("kill").args([name, &pid]).status();
        assert!(sent.is_ok_and(|status| status.success()));
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_serves_is_asked_to_sync_and_ends_when_told() {
    let (dir, upstream) = (folder(), home().await);
    configure(dir.path(), &upstream);
    let mut serving = Serving::start(dir.path());
    let url = serving.line();
    assert!(
        url.starts_with("Segue 0.1.0 listens on http://127.0.0.1:"),
        "{url}"
    );
    let admin = serving.line();
    let password = admin.strip_prefix("Log in as `admin` with the password ");
    assert_eq!(password.map(str::len), Some(20), "{admin}");

    let second = failed(&segue(dir.path(), &["serve", "--listen", "127.0.0.1:0"]));
    assert!(
        second.ends_with(" runs a hub on segue-data already\n"),
        "{second}"
    );
    let synced = ok(&segue(dir.path(), &["sync", "home"]));
    assert!(synced.ends_with("The library has 2 tracks.\n"), "{synced}");
    let users = ok(&segue(dir.path(), &["user", "list", "--json"]));
    assert!(
        users.contains("\"api_keys\": 0"),
        "the key of the sync is gone: {users}"
    );
    let removed = ok(&segue(dir.path(), &["source", "remove", "home"]));
    assert!(removed.contains("`kill -HUP "), "{removed}");

    serving.signal("-HUP");
    serving.wait_for("not played from any more");
    serving.signal("-TERM");
    assert_eq!(serving.child.wait().expect("it ends").code(), Some(0));
    let mut again = Serving::start(dir.path());
    again.line();
    assert_eq!(
        again.line(),
        "There are no sources yet. Add one and start again:"
    );
}

#[test]
fn the_demo_says_where_it_is_and_leaves_nothing_behind() {
    let dir = folder();
    let mut command = program(dir.path(), &["demo", "--listen", "127.0.0.1:0"]);
    command.env("TMPDIR", dir.path());
    let mut serving = Serving::of(command);
    let told: Vec<String> = (0..7).map(|_| serving.line()).collect();
    let told = told.join("\n");
    assert!(
        told.contains("Segue's demo listens on http://127.0.0.1:"),
        "{told}"
    );
    assert!(
        told.contains("/rest/stream?u=demo&p=demo&v=1.16.1&c=curl&id=tr"),
        "{told}"
    );
    serving.signal("-INT");
    assert_eq!(serving.child.wait().expect("it ends").code(), Some(0));
    assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 0);
}

fn configure(dir: &Path, upstream: &Upstream) {
    let add = [
        "source",
        "add",
        "home",
        "--url",
        &upstream.url(),
        "--username",
        "alice",
    ];
    ok(&segue_with(dir, &add, "sesame\n"));
}

async fn home() -> Upstream {
    let library = Library::of_one_album("Björk", "Homogenic", &["Hunter", "Jóga"]);
    Upstream::start(Setup::new("home", library))
        .await
        .expect("a free port")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sync_without_a_running_hub_fills_the_library() {
    let (dir, upstream) = (folder(), home().await);
    configure(dir.path(), &upstream);
    let told = ok(&segue(dir.path(), &["source", "test"]));
    assert!(
        told.contains("plays `Hunter`") && !told.contains("FAIL"),
        "{told}"
    );
    let told = ok(&segue(dir.path(), &["sync"]));
    assert!(
        told.starts_with("home: 1 artist, 1 album, 2 tracks; "),
        "{told}"
    );
    assert!(told.ends_with("The library has 2 tracks.\n"), "{told}");
    assert!(ok(&segue(dir.path(), &["source", "list"])).contains("synchronised"));
    assert!(
        failed(&segue(dir.path(), &["sync", "away"]))
            .starts_with("error: there is no source `away`")
    );

    upstream.faults().die().await;
    let gone = segue(dir.path(), &["sync", "--json"]);
    failed(&gone);
    let report: Value = serde_json::from_str(&out(&gone)).expect("JSON");
    assert_eq!(
        (&report["sources"][0]["complete"], &report["tracks"]),
        (&false.into(), &2.into())
    );
    let told = segue(dir.path(), &["source", "test", "home"]);
    assert!(
        failed(&told).is_empty() && out(&told).contains("FAIL  connection refused; is it running"),
        "{}",
        out(&told)
    );
    let forgotten = ok(&segue(dir.path(), &["source", "remove", "home"]));
    assert!(
        forgotten.ends_with("Forgot `home` and 2 tracks.\n"),
        "{forgotten}"
    );
}
