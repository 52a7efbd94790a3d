//! Programs of the operator's own, answered like a server would: `POST command://NAME/` runs the program with the request's
//! body on its standard input, and answers 200 with its standard output.
//!
//! A program runs without a shell, in a process group of its own, in an empty folder of its own, with a cleared
//! environment, one at a time. Whatever it starts is killed with it: when it ends, when its time is up, and when nobody
//! waits for the answer any more.

use crate::net::{LocalBody, LocalOrigin};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join4};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use segue_core::io::NetError;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, sink};
use tokio::process::{Child, ChildStdin, Command};
use tokio::runtime::Handle;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most that a program may write, in bytes: what lanes read of a reply.
pub const OUTPUT_LIMIT: usize = segue_core::provider::REPLY_LIMIT;

/// What is kept of a program's complaints.
const MAX_COMPLAINTS: u64 = 4096;

/// What of our environment every program sees. `HOME` and `TMPDIR` are its own folder.
const ENVIRONMENT: [&str; 5] = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];

/// What an operator says about a program.
#[derive(Clone, Debug)]
pub struct ProgramSettings {
    /// Its name, for the log.
    pub name: String,
    /// The program: a path, or a name that is looked for on the `PATH`.
    pub program: String,
    /// Its arguments, as they are.
    pub arguments: Vec<String>,
    /// How long one run may take.
    pub timeout: Duration,
    /// Names of variables of our environment that it sees besides the usual ones.
    pub environment: Vec<String>,
    /// Where its folders are made; `None` is where the machine keeps such things.
    pub scratch: Option<PathBuf>,
}

/// A program that answers the URIs of one name. Runs one at a time.
#[derive(Clone, Debug)]
pub struct Program {
    settings: Arc<ProgramSettings>,
    turns: Arc<Semaphore>,
}

impl Program {
    /// Nothing is started before somebody asks.
    #[must_use]
    pub fn new(settings: ProgramSettings) -> Self {
        Program {
            settings: Arc::new(settings),
            turns: Arc::new(Semaphore::new(1)),
        }
    }

    async fn run(self, query: Bytes) -> Result<Bytes, NetError> {
        let turn = self
            .turns
            .acquire_owned()
            .await
            .map_err(|_| NetError::Local)?;
        let settings = self.settings;
        let exchange = exchange(&settings, query, turn);
        let (status, output) = match tokio::time::timeout(settings.timeout, exchange).await {
            Ok(ended) => ended?,
            Err(_) => return Err(NetError::TimedOut),
        };
        match status.success() {
            true => Ok(output),
            false => {
                tracing::debug!(command = settings.name, %status, "the program failed");
                Err(NetError::Local)
            }
        }
    }
}

impl LocalOrigin for Program {
    fn answer(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'static, Result<Response<LocalBody>, NetError>> {
        let program = self.clone();
        async move {
            if request.method() != Method::POST {
                return answered(StatusCode::METHOD_NOT_ALLOWED, Bytes::new());
            }
            let output = program.run(request.into_body()).await?;
            answered(StatusCode::OK, output)
        }
        .boxed()
    }
}

fn answered(status: StatusCode, body: Bytes) -> Result<Response<LocalBody>, NetError> {
    let body = Full::new(body).map_err(|never| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}

/// One run, from start to exit. Dropped earlier, everything that was started is killed.
async fn exchange(
    settings: &ProgramSettings,
    query: Bytes,
    turn: OwnedSemaphorePermit,
) -> Result<(ExitStatus, Bytes), NetError> {
    // Before the start, so that no exit is missed.
    let children = signal(SignalKind::child()).map_err(|_| NetError::Local)?;
    let mut run = Run::start(settings, turn).map_err(|error| {
        tracing::warn!(command = settings.name, reason = %error.kind(), "the program cannot be started");
        NetError::Local
    })?;
    let (Some(stdin), Some(stdout), Some(stderr)) = (
        run.child.as_mut().and_then(|child| child.stdin.take()),
        run.child.as_mut().and_then(|child| child.stdout.take()),
        run.child.as_mut().and_then(|child| child.stderr.take()),
    ) else {
        return Err(NetError::Local);
    };
    let ((), output, (), ()) = try_join4(
        feed(stdin, query),
        read(stdout),
        log_complaints(settings, stderr),
        run.exit(children),
    )
    .await?;
    let status = run.reap().await?;
    Ok((status, output))
}

/// Writes the query. A program need not read it.
async fn feed(mut stdin: ChildStdin, query: Bytes) -> Result<(), NetError> {
    let _ = stdin.write_all(&query).await;
    Ok(())
}

async fn read(stdout: impl AsyncRead + Unpin) -> Result<Bytes, NetError> {
    let limit = OUTPUT_LIMIT as u64 + 1;
    let mut output = Vec::new();
    let read = stdout.take(limit).read_to_end(&mut output).await;
    match read {
        Ok(read) if read <= OUTPUT_LIMIT => Ok(output.into()),
        Ok(_) => Err(NetError::Oversized),
        Err(_) => Err(NetError::Local),
    }
}

async fn log_complaints(
    settings: &ProgramSettings,
    mut stderr: impl AsyncRead + Unpin,
) -> Result<(), NetError> {
    let mut text = Vec::new();
    let mut kept = (&mut stderr).take(MAX_COMPLAINTS);
    if kept.read_to_end(&mut text).await.is_ok() && !text.is_empty() {
        let complaints = String::from_utf8_lossy(&text);
        tracing::debug!(
            command = settings.name,
            complaints = complaints.trim_end(),
            "the program complains"
        );
    }
    // A program whose complaints are not read would stand still.
    let _ = tokio::io::copy(&mut stderr, &mut sink()).await;
    Ok(())
}

/// A program that runs, with what belongs to the run. Dropping it kills the group; the program is then waited for
/// and its folder removed before the next turn.
struct Run {
    child: Option<Child>,
    scratch: Option<TempDir>,
    turn: Option<OwnedSemaphorePermit>,
}

impl Run {
    fn start(settings: &ProgramSettings, turn: OwnedSemaphorePermit) -> io::Result<Self> {
        let mut folder = tempfile::Builder::new();
        folder.prefix("segue-command-");
        let scratch = match &settings.scratch {
            Some(root) => folder.tempdir_in(root)?,
            None => folder.tempdir()?,
        };
        let allowed = ENVIRONMENT
            .into_iter()
            .chain(settings.environment.iter().map(String::as_str));
        let child = Command::new(&settings.program)
            .args(&settings.arguments)
            .env_clear()
            .envs(allowed.filter_map(|name| Some((name, std::env::var_os(name)?))))
            .env("HOME", scratch.path())
            .env("TMPDIR", scratch.path())
            .current_dir(scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        Ok(Run {
            child: Some(child),
            scratch: Some(scratch),
            turn: Some(turn),
        })
    }

    /// The program's id, which is also its group's; known until it is reaped, so it is never another process's.
    fn id(&self) -> Option<Pid> {
        let id = self.child.as_ref()?.id()?;
        Pid::from_raw(i32::try_from(id).ok()?)
    }

    /// Waits until the program has ended, without reaping it, and kills what it has left behind.
    async fn exit(&self, mut children: Signals) -> Result<(), NetError> {
        let id = self.id().ok_or(NetError::Local)?;
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(id), peek)
            .map_err(|_| NetError::Local)?
            .is_none()
        {
            children.recv().await.ok_or(NetError::Local)?;
        }
        self.kill();
        Ok(())
    }

    fn kill(&self) {
        if let Some(group) = self.id() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    async fn reap(&mut self) -> Result<ExitStatus, NetError> {
        let child = self.child.as_mut().ok_or(NetError::Local)?;
        child.wait().await.map_err(|_| NetError::Local)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.kill();
        let (child, scratch, turn) = (self.child.take(), self.scratch.take(), self.turn.take());
        // Without a runtime the child is left to tokio's orphanage and the folder removed at once.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                if let Some(mut child) = child {
                    let _ = child.wait().await;
                }
                let _ = tokio::task::spawn_blocking(move || drop(scratch)).await;
                drop(turn);
            });
        }
    }
}
