//! Another format on the way out: one `ffmpeg` per listener, fed with an opened file.

use bytes::{Bytes, BytesMut};
use http_body::Frame;
use rustix::process::{Pid, Signal, kill_process_group};
use segue_core::io::NetError;
use std::fs::File;
use std::future::Future;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::process::Stdio;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncReadExt, sink};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

/// Bytes taken from the encoder at a time; also what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// What is kept of the encoder's complaints.
const MAX_COMPLAINTS: u64 = 4096;

/// What ffmpeg may take the input for. Playlists and other formats that name further files are not
/// among them, whatever a file claims to be.
const DEMUXERS: &str = "aac,aiff,ape,flac,mov,mp3,mpc,mpc8,ogg,w64,wav,wv";

/// A format ffmpeg can send as it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Aac,
    Flac,
    Mp3,
    Opus,
    Vorbis,
    Wav,
}

impl Target {
    /// The target a format name means; `None` for one that is not made here.
    pub(super) fn named(format: &str) -> Option<Self> {
        match format {
            "aac" | "adts" | "m4a" | "mp4" => Some(Target::Aac),
            "flac" => Some(Target::Flac),
            "mp3" => Some(Target::Mp3),
            "opus" => Some(Target::Opus),
            "ogg" | "oga" | "vorbis" => Some(Target::Vorbis),
            "wav" => Some(Target::Wav),
            _ => None,
        }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Target::Aac => "audio/aac",
            Target::Flac => "audio/flac",
            Target::Mp3 => "audio/mpeg",
            Target::Opus | Target::Vorbis => "audio/ogg",
            Target::Wav => "audio/wav",
        }
    }

    fn encoder(self) -> &'static str {
        match self {
            Target::Aac => "aac",
            Target::Flac => "flac",
            Target::Mp3 => "libmp3lame",
            Target::Opus => "libopus",
            Target::Vorbis => "libvorbis",
            Target::Wav => "pcm_s16le",
        }
    }

    fn muxer(self) -> &'static str {
        match self {
            Target::Aac => "adts",
            Target::Flac => "flac",
            Target::Mp3 => "mp3",
            Target::Opus | Target::Vorbis => "ogg",
            Target::Wav => "wav",
        }
    }

    /// The arguments that keep to `wanted` kilobits per second, within what the encoder can do.
    fn rate(self, wanted: u32) -> Option<[String; 2]> {
        let bit_rate = |most| ["-b:a".to_owned(), format!("{}k", wanted.clamp(32, most))];
        match self {
            Target::Aac | Target::Mp3 => Some(bit_rate(320)),
            // One channel takes no more.
            Target::Opus => Some(bit_rate(256)),
            // A fixed rate does not go with every sampling rate. Each quality step has its usual rate.
            Target::Vorbis => {
                let steps = [80, 96, 112, 128, 160, 192, 224, 256, 320];
                let quality = steps.iter().filter(|rate| **rate <= wanted).count();
                Some(["-q:a".to_owned(), quality.to_string()])
            }
            Target::Flac | Target::Wav => None,
        }
    }
}

/// What to make of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) target: Target,
    /// Kilobits per second.
    pub(super) bit_rate: Option<u32>,
    /// Seconds to leave out at the start.
    pub(super) time_offset: u32,
}

/// Why there is nothing to send.
#[derive(Debug, thiserror::Error)]
pub(super) enum TranscodeError {
    /// The program could not be started.
    #[error("ffmpeg cannot be started: {0}")]
    Unstarted(#[source] io::Error),
    /// It ran and made nothing of this file.
    #[error("ffmpeg made nothing of the file")]
    Fruitless,
    /// It was killed, or its output could not be read.
    #[error("ffmpeg broke down")]
    Broken,
}

/// The `ffmpeg` program of this machine.
#[derive(Clone, Debug)]
pub struct Ffmpeg {
    program: PathBuf,
}

impl Ffmpeg {
    /// Looks for an executable `ffmpeg` on the `PATH`.
    pub fn find() -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|folder| folder.join("ffmpeg"))
            .find(|program| is_executable(program))
            .map(Self::at)
    }

    /// Uses the program at `program`.
    pub fn at(program: PathBuf) -> Self {
        Self { program }
    }

    /// Starts on `file` and waits for the first bytes.
    pub(super) async fn start(
        &self,
        file: File,
        order: Order,
    ) -> Result<Transcode, TranscodeError> {
        let mut child = Command::new(&self.program)
            .args(arguments(order))
            .stdin(Stdio::from(file))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(TranscodeError::Unstarted)?;
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(log_complaints(stderr));
        }
        let stdout = child.stdout.take().ok_or(TranscodeError::Broken)?;
        let mut transcode = Transcode {
            child,
            stdout,
            buffer: BytesMut::new(),
            first: None,
            is_read: false,
        };
        let first = std::future::poll_fn(|cx| transcode.poll_read(cx)).await;
        let first = first.map_err(|_| TranscodeError::Broken)?;
        if first.is_empty() {
            let status = transcode.child.wait().await;
            return Err(match status.ok().and_then(|status| status.code()) {
                Some(_) => TranscodeError::Fruitless,
                None => TranscodeError::Broken,
            });
        }
        transcode.first = Some(first);
        Ok(transcode)
    }
}

fn is_executable(program: &Path) -> bool {
    program
        .metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The command line. The input is the standard input opened anew, so that ffmpeg can seek in it and no
/// path is ever part of the command.
fn arguments(order: Order) -> Vec<String> {
    let mut arguments: Vec<String> = ["-v", "error", "-nostdin"].map(str::to_owned).to_vec();
    let mut add = |name: &str, value: &str| {
        arguments.extend([name.to_owned(), value.to_owned()]);
    };
    add("-protocol_whitelist", "file");
    add("-format_whitelist", DEMUXERS);
    if order.time_offset > 0 {
        add("-ss", &order.time_offset.to_string());
    }
    add("-i", "file:/dev/fd/0");
    add("-map", "0:a:0");
    add("-map_metadata", "0");
    add("-c:a", order.target.encoder());
    if let Some([option, value]) = order.bit_rate.and_then(|rate| order.target.rate(rate)) {
        add(&option, &value);
    }
    add("-f", order.target.muxer());
    arguments.push("pipe:1".to_owned());
    arguments
}

async fn log_complaints(mut stderr: ChildStderr) {
    let mut text = Vec::new();
    let mut kept = (&mut stderr).take(MAX_COMPLAINTS);
    if kept.read_to_end(&mut text).await.is_ok() && !text.is_empty() {
        tracing::debug!(complaints = %String::from_utf8_lossy(&text).trim_end(), "ffmpeg complains");
    }
    // An encoder whose complaints are not read would stand still.
    let _ = tokio::io::copy(&mut stderr, &mut sink()).await;
}

/// What the encoder sends, as a response body of unknown length. Dropping it kills the encoder.
#[derive(Debug)]
pub(super) struct Transcode {
    child: Child,
    stdout: ChildStdout,
    buffer: BytesMut,
    first: Option<Bytes>,
    is_read: bool,
}

impl Transcode {
    /// The next bytes; empty at the end.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        self.buffer.reserve(CHUNK);
        let read = ready!(pin!(self.stdout.read_buf(&mut self.buffer)).poll(cx))?;
        Poll::Ready(Ok(self.buffer.split_to(read).freeze()))
    }
}

impl http_body::Body for Transcode {
    type Data = Bytes;
    type Error = NetError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, NetError>>> {
        let this = self.get_mut();
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if !this.is_read {
            match ready!(this.poll_read(cx)) {
                Ok(chunk) if chunk.is_empty() => this.is_read = true,
                Ok(chunk) => return Poll::Ready(Some(Ok(Frame::data(chunk)))),
                Err(_) => {
                    this.is_read = true;
                    return Poll::Ready(Some(Err(NetError::Local)));
                }
            }
        }
        // Only the exit status tells a whole encode from one that broke off.
        match ready!(pin!(this.child.wait()).poll(cx)) {
            Ok(status) if status.success() => Poll::Ready(None),
            Ok(_) | Err(_) => Poll::Ready(Some(Err(NetError::Truncated))),
        }
    }
}

impl Drop for Transcode {
    fn drop(&mut self) {
        // The child's id is known only until it is reaped, so it is never another process's.
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = id.and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use std::os::fd::OwnedFd;
    use std::time::Duration;
    use tokio::net::unix::pipe::Receiver;
    use tokio::time::timeout;

    const MP3: Order = Order {
        target: Target::Mp3,
        bit_rate: Some(64),
        time_offset: 0,
    };

    /// A stand-in that behaves badly in one way.
    fn stand_in(name: &str) -> Ffmpeg {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        Ffmpeg::at(fixtures.join(name))
    }

    fn an_input() -> File {
        tempfile::tempfile().unwrap()
    }

    /// An input that only the encoder and its children hold, and the other end to see it closed.
    fn a_watched_input() -> (File, Receiver) {
        let (read, write) = io::pipe().unwrap();
        let read = Receiver::from_owned_fd(read.into()).unwrap();
        (File::from(OwnedFd::from(write)), read)
    }

    /// Ends when no process holds the input any more.
    async fn all_gone(read: Receiver) {
        let closed = timeout(Duration::from_secs(10), read.readable()).await;
        assert!(closed.is_ok(), "the encoder outlives its listener");
        assert_eq!(read.try_read(&mut [0]).unwrap(), 0);
    }

    #[tokio::test]
    async fn dropping_the_body_kills_the_encoder_and_its_children() {
        let (input, watch) = a_watched_input();
        let transcode = stand_in("ffmpeg-stuck").start(input, MP3).await.unwrap();
        drop(transcode);
        all_gone(watch).await;
    }

    #[tokio::test]
    async fn dropping_the_start_kills_the_encoder() {
        let ffmpeg = stand_in("ffmpeg-mute");
        let (input, watch) = a_watched_input();
        {
            let mut start = pin!(ffmpeg.start(input, MP3));
            let started = std::future::poll_fn(|cx| Poll::Ready(start.as_mut().poll(cx))).await;
            assert!(started.is_pending());
        }
        all_gone(watch).await;
    }

    #[tokio::test]
    async fn an_encoder_that_fails_before_its_first_byte_is_fruitless() {
        let error = stand_in("ffmpeg-fails")
            .start(an_input(), MP3)
            .await
            .unwrap_err();
        assert!(matches!(error, TranscodeError::Fruitless), "{error}");
    }

    #[tokio::test]
    async fn an_encoder_that_is_killed_before_its_first_byte_broke_down() {
        let error = stand_in("ffmpeg-dies")
            .start(an_input(), MP3)
            .await
            .unwrap_err();
        assert!(matches!(error, TranscodeError::Broken), "{error}");
    }

    #[tokio::test]
    async fn an_encoder_that_breaks_off_is_no_clean_end() {
        let transcode = stand_in("ffmpeg-breaks-off")
            .start(an_input(), MP3)
            .await
            .unwrap();
        assert_eq!(transcode.collect().await.unwrap_err(), NetError::Truncated);
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_told_apart() {
        let error = stand_in("none").start(an_input(), MP3).await.unwrap_err();
        let TranscodeError::Unstarted(error) = error else {
            panic!("{error}")
        };
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn bit_rates_stay_within_what_encoders_can_do() {
        let rate = |target: Target, wanted| target.rate(wanted).map(|words| words.join(" "));
        assert_eq!(rate(Target::Mp3, 1).as_deref(), Some("-b:a 32k"));
        assert_eq!(rate(Target::Opus, 9999).as_deref(), Some("-b:a 256k"));
        assert_eq!(rate(Target::Vorbis, 64).as_deref(), Some("-q:a 0"));
        assert_eq!(rate(Target::Vorbis, 128).as_deref(), Some("-q:a 4"));
        assert_eq!(rate(Target::Vorbis, 9999).as_deref(), Some("-q:a 9"));
        assert_eq!(rate(Target::Flac, 128), None);
    }
}
