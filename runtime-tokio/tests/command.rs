//! Programs of the operator's own, run for real: what goes in and comes out, and that nothing of a run is left.

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::BodyExt;
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use segue_core::io::{Accepted, NetError, Network};
use segue_runtime_tokio::command::{OUTPUT_LIMIT, Program, ProgramSettings};
use segue_runtime_tokio::net::{Commands, LocalOrigin, TokioNetwork};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::{OpenOptions, Receiver};

/// Longer than any run here takes, unless something is wrong.
const PATIENCE: Duration = Duration::from_secs(20);

fn program(argv: &[&str]) -> ProgramSettings {
    ProgramSettings {
        name: "mine".to_owned(),
        program: argv[0].to_owned(),
        arguments: argv[1..].iter().map(|word| (*word).to_owned()).collect(),
        timeout: PATIENCE,
        environment: Vec::new(),
        scratch: None,
    }
}

fn script(text: &str) -> ProgramSettings {
    program(&["/bin/sh", "-c", text])
}

fn network(settings: ProgramSettings) -> TokioNetwork {
    let network = TokioNetwork::new();
    let program: Arc<dyn LocalOrigin> = Arc::new(Program::new(settings));
    network.set_commands(Commands::from([("mine".to_owned(), program)]));
    network
}

async fn ask(network: &TokioNetwork, query: impl Into<Bytes>) -> Result<String, NetError> {
    let mut request = Request::new(query.into());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = "command://mine/".parse().unwrap();
    let response = network.send(request, Accepted::default()).await?;
    assert_eq!(response.status(), 200);
    let body = response.into_body().collect().await?.to_bytes();
    Ok(String::from_utf8(body.to_vec()).unwrap())
}

/// A pipe with a name that a program opens to be watched: it ends when no process of a run is left.
struct Watch {
    _folder: TempDir,
    path: PathBuf,
    receiver: Receiver,
}

impl Watch {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("watch");
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        let receiver = OpenOptions::new().open_receiver(&path).unwrap();
        Watch {
            _folder: folder,
            path,
            receiver,
        }
    }

    /// The beginning of a script that holds the pipe, whatever it starts.
    fn held(&self) -> String {
        format!("exec 9>'{}'; echo $$ >&9; ", self.path.display())
    }

    /// Waits until the script runs, and says which process it is.
    async fn started(&mut self) -> Pid {
        let mut line = String::new();
        while !line.ends_with('\n') {
            line.push(char::from(self.receiver.read_u8().await.unwrap()));
        }
        Pid::from_raw(line.trim().parse().unwrap()).unwrap()
    }

    async fn all_gone(mut self) {
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, self.receiver.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "processes are left");
    }
}

fn is_reaped(id: Pid) -> bool {
    let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(id), peek), Err(Errno::CHILD))
}

#[tokio::test]
async fn the_query_goes_in_and_the_outcome_comes_out() {
    let network = network(program(&["/bin/cat"]));
    let query = "{\"title\":\"Ö\"}";
    assert_eq!(ask(&network, query).await.as_deref(), Ok(query));
    assert_eq!(ask(&network, "again").await.as_deref(), Ok("again"));
}

#[tokio::test]
async fn arguments_are_not_for_any_shell() {
    let word = "$(id); * '\" `id`";
    let network = network(program(&["/usr/bin/printf", "%s", word]));
    assert_eq!(ask(&network, "").await.as_deref(), Ok(word));
}

#[tokio::test]
async fn only_exit_code_zero_counts() {
    for text in ["echo '{}'; exit 3", "echo '{}'; kill -9 $$"] {
        assert_eq!(
            ask(&network(script(text)), "").await,
            Err(NetError::Local),
            "{text}"
        );
    }
    let missing = program(&["/no/such/program"]);
    assert_eq!(ask(&network(missing), "").await, Err(NetError::Local));
}

#[tokio::test]
async fn a_name_that_nobody_registered_is_not_there() {
    let network = TokioNetwork::new();
    assert_eq!(ask(&network, "").await, Err(NetError::Unreachable));
}

#[tokio::test]
async fn what_is_never_read_does_not_hold_a_run_up() {
    let query = vec![b'x'; 1024 * 1024];
    let network = network(script("head -c 300000 /dev/zero >&2; echo done"));
    assert_eq!(ask(&network, query).await.as_deref(), Ok("done\n"));
}

#[tokio::test]
async fn an_endless_output_ends_the_run() {
    let mut watch = Watch::new();
    let network = network(script(&format!("{} cat /dev/zero", watch.held())));
    assert_eq!(ask(&network, "").await, Err(NetError::Oversized));
    watch.started().await;
    watch.all_gone().await;
}

#[tokio::test]
async fn an_output_of_just_the_limit_is_read() {
    let text = format!("head -c {OUTPUT_LIMIT} /dev/zero | tr '\\0' x");
    let output = ask(&network(script(&text)), "").await.unwrap();
    assert_eq!(output.len(), OUTPUT_LIMIT);
}

#[tokio::test]
async fn when_time_is_up_the_whole_group_is_killed() {
    let watch = Watch::new();
    let mut settings = script(&format!("{} sleep 1000 & sleep 1000", watch.held()));
    settings.timeout = Duration::from_millis(200);
    assert_eq!(ask(&network(settings), "").await, Err(NetError::TimedOut));
    watch.all_gone().await;
}

#[tokio::test]
async fn dropping_the_question_kills_the_group_and_leaves_no_zombie_and_no_folder() {
    let mut watch = Watch::new();
    let folders = tempfile::tempdir().unwrap();
    // The first run hangs; later ones say how many folders there are.
    let text = format!(
        "if [ \"$(cat)\" = hang ]; then {} trap '' TERM; sleep 1000 & sleep 1000; fi; ls '{}' | wc -l",
        watch.held(),
        folders.path().display()
    );
    let mut settings = script(&text);
    settings.scratch = Some(folders.path().to_owned());
    let network = network(settings);
    let id = {
        let mut hanging = pin!(ask(&network, "hang"));
        let mut started = pin!(watch.started());
        std::future::poll_fn(|context| {
            assert!(hanging.as_mut().poll(context).is_pending());
            match started.as_mut().poll(context) {
                Poll::Ready(id) => Poll::Ready(id),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    };
    watch.all_gone().await;
    // The next turn comes when the last run is tidied up.
    let folders_there = ask(&network, "count").await.unwrap();
    assert_eq!(folders_there.trim(), "1", "only its own");
    assert!(is_reaped(id));
}

#[tokio::test]
async fn what_a_program_leaves_behind_is_killed_when_it_ends() {
    let mut watch = Watch::new();
    // The one left behind holds the output open, too.
    let text = format!("{} sleep 1000 & echo '{{}}'", watch.held());
    let network = network(script(&text));
    assert_eq!(ask(&network, "").await.as_deref(), Ok("{}\n"));
    let id = watch.started().await;
    watch.all_gone().await;
    assert!(is_reaped(id));
}

#[tokio::test]
async fn the_environment_is_cleared_but_for_what_is_allowed() {
    let names = |output: &str| -> Vec<String> {
        let mut names: Vec<String> = output
            .lines()
            .filter_map(|line| Some(line.split_once('=')?.0.to_owned()))
            .filter(|name| !["LANG", "LC_ALL", "LC_CTYPE", "TZ"].contains(&name.as_str()))
            .collect();
        names.sort_unstable();
        names
    };
    let mut settings = program(&["/usr/bin/env"]);
    let output = ask(&network(settings.clone()), "").await.unwrap();
    assert_eq!(names(&output), ["HOME", "PATH", "TMPDIR"]);
    // One that this process has and programs do not see.
    let usual = ["HOME", "PATH", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];
    let other = std::env::vars()
        .map(|(name, _)| name)
        .find(|name| !usual.contains(&name.as_str()))
        .expect("an environment");
    settings.environment = vec![other.clone(), "NOT_SET_ANYWHERE".to_owned()];
    let output = ask(&network(settings), "").await.unwrap();
    assert!(names(&output).contains(&other), "{output}");
}

#[tokio::test]
async fn each_run_has_an_empty_folder_of_its_own() {
    let network = network(script("ls -A; pwd; echo x > left-behind"));
    let first = ask(&network, "").await.unwrap();
    let second = ask(&network, "").await.unwrap();
    assert_ne!(first, second);
    assert_eq!(
        (first.lines().count(), second.lines().count()),
        (1, 1),
        "{first}{second}"
    );
    // The third turn comes when the second run is tidied up.
    ask(&network, "").await.unwrap();
    assert!(!Path::new(first.trim()).exists() && !Path::new(second.trim()).exists());
}

#[tokio::test]
async fn one_run_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let text = format!("echo in >> '{0}'; cat; echo out >> '{0}'", log.display());
    let network = network(script(&text));
    let asks = (0..5).map(|index| ask(&network, index.to_string()));
    for (index, answer) in futures_util::future::join_all(asks)
        .await
        .into_iter()
        .enumerate()
    {
        assert_eq!(answer, Ok(index.to_string()));
    }
    assert_eq!(std::fs::read_to_string(log).unwrap(), "in\nout\n".repeat(5));
}
