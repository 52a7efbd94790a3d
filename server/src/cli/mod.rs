//! The command line.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage. Passwords come from a prompt, a file or standard input, never from
//! arguments, where others could see them.

mod config;
mod data;
mod failure;
mod fetch;
mod lyrics;
mod probe;
mod prompt;
mod queue;
mod running;
mod serve;
mod show;
mod source;
mod sync;
mod user;
mod work;

pub(crate) use data::{Claim, People};
pub(crate) use failure::Failure;
pub(crate) use serve::{listen, shutdown, url_of};

use crate::config::{DEFAULT_FILE, Layers, Loaded};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// Many music servers and folders as one library that keeps playing when one of them dies.
///
/// Segue speaks the OpenSubsonic API, so any Subsonic client plays from it. Start with `segue demo` to hear it fail
/// over, or add your servers with `segue source add` and run `segue serve`.
#[derive(Debug, Parser)]
#[command(
    name = "segue",
    version,
    about,
    long_about,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the command line can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the hub.
    ///
    /// With no configuration it starts empty on 127.0.0.1:4747, makes an administrator and prints the password once.
    /// SEGUE_ADMIN_USER and SEGUE_ADMIN_PASSWORD make the first administrator without a prompt.
    Serve(ServeArgs),
    /// Hear failover with nothing to configure: three built-in sources, one of them failing on a schedule.
    Demo(DemoArgs),
    /// Manage the servers and folders that are played from.
    #[command(subcommand)]
    Source(SourceCommand),
    /// Pull what the sources have and merge it, now.
    ///
    /// Asks the running hub, or does it itself when none runs.
    Sync(SyncArgs),
    /// Look for lyrics.
    #[command(subcommand)]
    Lyrics(LyricsCommand),
    /// See and move the songs that are looked up.
    #[command(subcommand)]
    Queue(QueueCommand),
    /// Manage who may listen.
    #[command(subcommand)]
    User(UserCommand),
    /// Check or show the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print the completion script of a shell.
    Completions {
        /// For which shell.
        shell: clap_complete::Shell,
    },
}

/// Where the configuration and the data are.
#[derive(Args, Clone, Debug, Default)]
pub struct Common {
    /// The configuration file; segue.toml in the current folder when there is one.
    #[arg(long, value_name = "FILE", env = "SEGUE_CONFIG")]
    pub config: Option<PathBuf>,
    /// The data directory: database, keys and pictures.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// `segue serve`.
#[derive(Args, Debug)]
pub struct ServeArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened")]
    pub common: Common,
    /// Where to listen.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
}

/// `segue demo`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Where to listen; 127.0.0.1:4747, or a free port when that is taken.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<std::net::SocketAddr>,
    /// Keep the demo's data here instead of in a temporary folder.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// `segue sync`.
#[derive(Args, Debug)]
pub struct SyncArgs {
    /// Only this source.
    pub source: Option<String>,
    /// Accept that a source has lost more than half of its tracks.
    #[arg(long)]
    pub allow_drop: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened")]
    pub common: Common,
}

/// `segue source`.
#[derive(Debug, Subcommand)]
pub enum SourceCommand {
    /// Add a server or a folder to the configuration file.
    ///
    /// A server: segue source add home --url http://127.0.0.1:4533 --username alice
    ///
    /// A folder: segue source add shelf --path /srv/music
    #[command(verbatim_doc_comment)]
    Add(AddSource),
    /// List the sources and how they are doing.
    List {
        /// Print them as JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
    /// Try a source: what works, what does not, and what to do.
    Test {
        /// Which; all of them when none is named.
        id: Option<String>,
        /// Print the findings as JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
    /// Take a source out of the configuration file and forget its tracks.
    Remove {
        /// Which.
        id: String,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
}

/// `segue source add`.
#[derive(Args, Debug)]
pub struct AddSource {
    /// Its name: small letters, digits and dashes.
    pub id: String,
    /// A Subsonic server's URL, without /rest.
    #[arg(long, required_unless_present = "path", conflicts_with = "path")]
    pub url: Option<String>,
    /// A music folder.
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
    /// The user to log in to the server as; its password is asked for.
    #[arg(long, value_name = "NAME", conflicts_with = "path")]
    pub username: Option<String>,
    /// A file that holds the password; it is read at each start.
    #[arg(long, value_name = "FILE", requires = "username")]
    pub password_file: Option<PathBuf>,
    /// A file that holds an API key, instead of user and password.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["username", "path"])]
    pub api_key_file: Option<PathBuf>,
    /// How to log in: auto finds out.
    #[arg(long, value_parser = ["auto", "token", "password", "api-key"], conflicts_with = "path")]
    pub auth: Option<String>,
    /// Whether it ranks before others at equal quality.
    #[arg(long, value_name = "BOOL")]
    pub local: Option<bool>,
    /// The configuration file; segue.toml in the current folder unless named.
    #[arg(long, value_name = "FILE", env = "SEGUE_CONFIG", default_value = DEFAULT_FILE)]
    pub config: PathBuf,
}

/// `segue lyrics`.
#[derive(Debug, Subcommand)]
pub enum LyricsCommand {
    /// Put into the queue what lacks lyrics.
    ///
    /// A running hub does so by itself after each sync; this is for those who cannot wait, or for a part of the library.
    Scan(ScanArgs),
    /// Look for the lyrics of one song now, without the library, and say what each provider answered.
    Fetch(FetchArgs),
    /// Look songs up in this process, until it is told to end.
    ///
    /// A hub has workers of its own (`queue.workers`); this adds more, beside it or without it, on the same machine. Each
    /// process keeps a provider's pace by itself, so that two of them ask twice as often.
    Work(WorkArgs),
}

/// `segue lyrics fetch`.
#[derive(Args, Debug)]
pub struct FetchArgs {
    /// Who sings it.
    #[arg(long)]
    pub artist: String,
    /// What it is called.
    #[arg(long)]
    pub title: String,
    /// What it is on.
    #[arg(long)]
    pub album: Option<String>,
    /// How long it is, in seconds.
    #[arg(long, value_name = "SECONDS")]
    pub duration: Option<u64>,
    /// Write it into this folder instead of printing it.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened")]
    pub common: Common,
}

/// `segue lyrics work`.
#[derive(Args, Debug)]
pub struct WorkArgs {
    /// Songs looked up at once; `queue.workers` when not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub workers: Option<u32>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened")]
    pub common: Common,
}

/// `segue lyrics scan`.
#[derive(Args, Debug)]
pub struct ScanArgs {
    /// Only this source, or what lies below this path of a music folder.
    #[arg(value_name = "PATH or SOURCE")]
    pub scope: Option<String>,
    /// Look again for songs whose lyrics are not timed word by word.
    #[arg(long)]
    pub upgrade: bool,
    /// Only say what would be done.
    #[arg(long)]
    pub dry_run: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened")]
    pub common: Common,
}

/// Rows of the queue.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub struct Rows {
    /// These rows; `segue queue list` shows their ids.
    #[arg(value_name = "ID")]
    pub ids: Vec<i64>,
    /// All rows that this can be done with.
    #[arg(long)]
    pub all: bool,
}

/// What `segue queue list` can show.
const STATUSES: [&str; 10] = [
    "all",
    "next",
    "pending",
    "processing",
    "done",
    "failed",
    "deferred",
    "parked",
    "retired",
    "refused",
];

/// `segue queue`.
#[derive(Debug, Subcommand)]
pub enum QueueCommand {
    /// List songs, and why each stands where it stands.
    ///
    /// `next` shows what comes next, in order; `refused` shows tracks that cannot be looked up.
    List {
        /// Which.
        #[arg(long, default_value = "next", value_parser = STATUSES)]
        status: String,
        /// So many at most.
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Behind this id.
        #[arg(long, value_name = "ID", default_value_t = 0)]
        after: i64,
        /// Print them as JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
    /// Show a song with what each lane said of it, and who waits for it.
    Show {
        /// Its id.
        id: i64,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
    /// Try songs that failed, or were given up, at once.
    Retry {
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        rows: Rows,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
    /// Ask again for songs that no lane had.
    Recheck {
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        rows: Rows,
        /// All that this lane was never asked for, because it is new.
        #[arg(long, group = "Rows", value_name = "NAME")]
        lane: Option<String>,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
    /// Take songs back from a worker that hangs. What it still finds is discarded.
    Release {
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        rows: Rows,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
    /// Remove songs from the queue. Lyrics that are there stay; what still lacks them comes back with the next scan.
    Clear {
        /// Those that stand so.
        #[arg(long, value_parser = ["pending", "done", "failed", "deferred", "parked", "retired"])]
        status: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
}

/// `segue user`.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Add a user. The password is asked for, or read from standard input.
    Add {
        /// The name to log in with.
        name: String,
        /// May see everybody's activity and start a sync.
        #[arg(long)]
        admin: bool,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
    /// List the users.
    List {
        /// Print them as JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
    /// Set a user's password. It is asked for, or read from standard input.
    Passwd {
        /// Whose.
        name: String,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
    /// Make an API key for a user and print it, this once.
    Key {
        /// Whose.
        name: String,
        /// What the key is for.
        #[arg(long, default_value = "made on the command line")]
        label: String,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
    /// Remove a user with all stars, plays and keys.
    Remove {
        /// Who.
        name: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
}

/// `segue config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Say what is wrong with the configuration, with file, line and a hint.
    Check {
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
    /// Print the configuration in effect, with every secret as ***.
    Show {
        #[command(flatten)]
        #[expect(missing_docs, reason = "flattened")]
        common: Common,
    },
}

/// Reads the process's arguments, does what they say, and tells how it went.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    log(match cli.command {
        // The demo tells its story itself.
        Command::Demo(_) => "error",
        Command::Serve(_) => "warn,segue=info",
        Command::Source(_)
        | Command::Sync(_)
        | Command::Lyrics(_)
        | Command::Queue(_)
        | Command::User(_)
        | Command::Config(_)
        | Command::Completions { .. } => "error",
    });
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return Failure::new(format!("no threads can be started: {error}")).tell(),
    };
    match runtime.block_on(run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.tell(),
    }
}

async fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Serve(args) => serve::serve(args).await,
        Command::Demo(args) => crate::demo::demo(args.listen, args.data).await,
        Command::Source(SourceCommand::Add(args)) => source::add(args),
        Command::Source(SourceCommand::List { json, common }) => source::list(json, common).await,
        Command::Source(SourceCommand::Test { id, json, common }) => {
            probe::test(id, json, common).await
        }
        Command::Source(SourceCommand::Remove { id, common }) => source::remove(id, common).await,
        Command::Sync(args) => sync::sync(args).await,
        Command::Lyrics(LyricsCommand::Scan(args)) => lyrics::scan(args).await,
        Command::Lyrics(LyricsCommand::Fetch(args)) => fetch::fetch(args).await,
        Command::Lyrics(LyricsCommand::Work(args)) => work::work(args).await,
        Command::Queue(command) => queue::run(command).await,
        Command::User(command) => user::run(command).await,
        Command::Config(ConfigCommand::Check { common }) => config::check(common),
        Command::Config(ConfigCommand::Show { common }) => config::show(common),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "segue", &mut std::io::stdout());
            Ok(())
        }
    }
}

/// Logs to standard error; `SEGUE_LOG` says what instead of the `default`, such as `debug` or `segue=debug,warn`.
fn log(default: &str) {
    let filter = EnvFilter::try_from_env("SEGUE_LOG");
    let filter = filter.unwrap_or_else(|_| EnvFilter::new(default));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false);
    // A second subscriber in one process is a test's: it keeps the first.
    let _ = subscriber.try_init();
}

impl Common {
    /// The file to read, if there is one.
    fn file(&self) -> Option<PathBuf> {
        let default = || Some(PathBuf::from(DEFAULT_FILE)).filter(|path| path.exists());
        self.config.clone().or_else(default)
    }

    /// The configuration in effect. What is allowed but probably not meant is told.
    fn load(&self, listen: Option<String>) -> Result<Loaded, Failure> {
        let layers = Layers {
            file: self.file(),
            environment: std::env::vars_os().filter_map(text).collect(),
            listen,
            data_dir: self.data.clone(),
        };
        let loaded = layers.load()?;
        for warning in &loaded.warnings {
            eprintln!("warning: {warning}");
        }
        Ok(loaded)
    }
}

/// Variables that are no text are not ours.
fn text((name, value): (std::ffi::OsString, std::ffi::OsString)) -> Option<(String, String)> {
    name.into_string().ok().zip(value.into_string().ok())
}
