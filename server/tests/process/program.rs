//! The real program in a process of its own, which dies by SIGKILL when the test says so.

use segue::upstream::Upstream;
use std::cell::RefCell;
use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// A start that takes longer has hung. A tenth of a second is usual, but the machine may be busy.
const START: Duration = Duration::from_secs(30);

/// The only user, an administrator.
pub(crate) const AUTH: &str = "u=ann&p=sesame&v=1.16.1&c=test";

/// Where a hub lives: its configuration, its data, its log. Kept for a look when the test fails.
pub(crate) struct Home(Option<TempDir>);

/// Where the hub logs.
const LOG: &str = "log";

impl Home {
    /// For a hub that plays from these sources.
    pub(crate) fn new(sources: &[(&str, &Upstream)]) -> Self {
        // Synchronises at its start, and then when it is asked to.
        let mut text = "[sync]\ninterval = \"0s\"\n".to_owned();
        for (id, upstream) in sources {
            let url = upstream.url();
            text += &format!(
                "[[sources]]\nid = \"{id}\"\nkind = \"subsonic\"\nurl = \"{url}\"\n\
                 username = \"alice\"\npassword = \"sesame\"\n"
            );
        }
        Home::with(&text)
    }

    /// With this configuration.
    pub(crate) fn with(config: &str) -> Self {
        let dir = TempDir::new().expect("a folder");
        std::fs::write(dir.path().join("segue.toml"), config).expect("written");
        Home(Some(dir))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.as_ref().expect("not dropped").path().join(name)
    }

    /// The database file.
    pub(crate) fn database(&self) -> PathBuf {
        self.path("segue-data/segue.db")
    }

    /// Bytes in the write-ahead log.
    pub(crate) fn written(&self) -> u64 {
        let log = std::fs::metadata(self.path("segue-data/segue.db-wal"));
        log.map_or(0, |log| log.len())
    }

    /// What the last process has logged.
    pub(crate) fn log(&self) -> String {
        self.log_of(LOG)
    }

    /// What the last process has logged that logs under this name.
    pub(crate) fn log_of(&self, name: &str) -> String {
        let log = std::fs::read(self.path(name)).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Starts the hub; it will be killed at `moment`.
    pub(crate) fn start(&self, moment: Moment) -> (Victim, Output) {
        self.run(&["serve", "--listen", "127.0.0.1:0"], LOG, moment)
    }

    /// Starts the program, which logs under this name; it will be killed at `moment`.
    pub(crate) fn run(&self, arguments: &[&str], log: &str, moment: Moment) -> (Victim, Output) {
        let log = File::create(self.path(log)).expect("a log");
        let mut child = Command::new(env!("CARGO_BIN_EXE_segue"))
            .args(arguments)
            .current_dir(self.path(""))
            // Variables of whoever runs the tests are not theirs.
            .env_clear()
            .env("SEGUE_ADMIN_USER", "ann")
            .env("SEGUE_ADMIN_PASSWORD", "sesame")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let out = child.stdout.take().expect("piped");
        let victim = Victim {
            moment,
            child: RefCell::new(child),
            tally: RefCell::default(),
        };
        (victim, BufReader::new(out).lines())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(dir) = self.0.take()
        {
            eprintln!("the last log:\n{}", {
                let log = std::fs::read(dir.path().join("log")).unwrap_or_default();
                String::from_utf8_lossy(&log).into_owned()
            });
            eprintln!("the data directory is kept: {}", dir.keep().display());
        }
    }
}

/// What the program prints.
pub(crate) type Output = Lines<BufReader<ChildStdout>>;

/// When a hub is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// In its start: when it holds so many descriptors, at its greeting at the latest.
    Descriptors(usize),
    /// When it greets.
    Greeting,
    /// In its first sync: when the first source was asked so many times.
    Requests(u64),
    /// In its first sync: when the write-ahead log has so many bytes.
    Written(u64),
    /// When so many streams have begun.
    Opened(u64),
    /// When the listeners have so many bytes.
    Bytes(u64),
    /// Right after so many changes were acknowledged.
    Acknowledged(u64),
    /// Right after so many listeners left in the middle.
    Left(u64),
    /// When everybody has been served.
    Rest,
}

/// What happened to a client.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Happening {
    /// A stream began.
    Opened,
    /// So many bytes arrived.
    Bytes(u64),
    /// A change was acknowledged.
    Acknowledged,
    /// A listener left in the middle.
    Left,
}

#[derive(Default)]
struct Tally {
    killed: bool,
    opened: u64,
    bytes: u64,
    acknowledged: u64,
    left: u64,
}

/// A hub that will be killed.
pub(crate) struct Victim {
    moment: Moment,
    child: RefCell<Child>,
    tally: RefCell<Tally>,
}

impl Victim {
    /// When it will be killed.
    pub(crate) fn moment(&self) -> Moment {
        self.moment
    }

    /// Whether it has been killed; from then on its clients may be cut off.
    pub(crate) fn is_killed(&self) -> bool {
        self.tally.borrow().killed
    }

    /// Counts, and kills at the moment.
    pub(crate) fn note(&self, happening: Happening) {
        let is_time = {
            let mut tally = self.tally.borrow_mut();
            match happening {
                Happening::Opened => tally.opened += 1,
                Happening::Bytes(bytes) => tally.bytes += bytes,
                Happening::Acknowledged => tally.acknowledged += 1,
                Happening::Left => tally.left += 1,
            }
            match self.moment {
                Moment::Opened(opened) => tally.opened >= opened,
                Moment::Bytes(bytes) => tally.bytes >= bytes,
                Moment::Acknowledged(acknowledged) => tally.acknowledged >= acknowledged,
                Moment::Left(left) => tally.left >= left,
                Moment::Descriptors(_)
                | Moment::Greeting
                | Moment::Requests(_)
                | Moment::Written(_)
                | Moment::Rest => false,
            }
        };
        if is_time {
            self.kill();
        }
    }

    /// Kills, unless that is done.
    ///
    /// # Panics
    /// When the process ended by itself before.
    pub(crate) fn kill(&self) {
        if std::mem::replace(&mut self.tally.borrow_mut().killed, true) {
            return;
        }
        let mut child = self.child.borrow_mut();
        let ended = child.try_wait().expect("a child of ours");
        assert_eq!(ended, None, "the hub ended by itself");
        child.start_kill().expect("killed");
    }

    /// Kills, and waits until nothing of it is left.
    pub(crate) async fn bury(self) {
        self.kill();
        let mut child = self.child.into_inner();
        let ended = child.wait().await.expect("a child of ours");
        assert_eq!(ended.code(), None, "ended by a signal, not by itself");
    }

    /// Waits for the greeting; where the hub answers, or `None` when it was killed in its start.
    pub(crate) async fn greeting(&self, output: &mut Output) -> Option<String> {
        let line = self.first_line(output).await?;
        let url = line
            .split_once(" listens on ")
            .map(|(_, url)| url.to_owned());
        Some(url.unwrap_or_else(|| panic!("no greeting: {line:?}")))
    }

    /// Waits for the first line that it prints; `None` when it was killed in its start.
    pub(crate) async fn first_line(&self, output: &mut Output) -> Option<String> {
        let greeting = async { output.next_line().await.expect("text") };
        let greeting = tokio::time::timeout(START, greeting);
        let mut greeting = std::pin::pin!(greeting);
        let at_moment = std::pin::pin!(self.kill_in_start());
        let greeted = match futures_util::future::select(greeting.as_mut(), at_moment).await {
            futures_util::future::Either::Left((greeted, _)) => greeted,
            futures_util::future::Either::Right(_) => greeting.await,
        };
        let line = greeted.expect("the start hangs");
        match self.moment {
            Moment::Descriptors(_) | Moment::Greeting => {
                self.kill();
                None
            }
            Moment::Requests(_)
            | Moment::Written(_)
            | Moment::Opened(_)
            | Moment::Bytes(_)
            | Moment::Acknowledged(_)
            | Moment::Left(_)
            | Moment::Rest => Some(line.expect("the program ended in its start")),
        }
    }

    /// Ends when it has been killed for its number of descriptors; never for another reason.
    async fn kill_in_start(&self) {
        let Moment::Descriptors(number) = self.moment else {
            return std::future::pending().await;
        };
        let id = self.child.borrow().id().expect("not waited for yet");
        let descriptors = PathBuf::from(format!("/proc/{id}/fd"));
        // Where there is no such folder the greeting comes first.
        while std::fs::read_dir(&descriptors).map_or(0, Iterator::count) < number {
            tokio::task::yield_now().await;
        }
        self.kill();
    }
}
