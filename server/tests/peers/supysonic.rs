//! A real Subsonic server of somebody else's: supysonic under waitress, over a library made by ffmpeg.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A track to make.
pub(crate) struct Tags {
    pub(crate) artist: &'static str,
    pub(crate) album: &'static str,
    pub(crate) title: &'static str,
    pub(crate) number: u32,
}

/// Makes a track of noise, as noise does not compress: `seconds` of it in the format of `suffix`.
pub(crate) fn make_track(folder: &Path, suffix: &str, seconds: u32, tags: &Tags) -> PathBuf {
    let path = folder.join(format!("{:02} {}.{suffix}", tags.number, tags.title));
    let noise = format!("anoisesrc=d={seconds}:c=pink:r=44100:seed={}", tags.number);
    let metadata = [
        format!("artist={}", tags.artist),
        format!("album={}", tags.album),
        format!("title={}", tags.title),
        format!("track={}", tags.number),
        "genre=Electronic".to_owned(),
    ];
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args([
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", &noise, "-ac", "2",
    ]);
    for pair in &metadata {
        ffmpeg.args(["-metadata", pair]);
    }
    let status = ffmpeg.arg(&path).status().expect("ffmpeg runs");
    assert!(status.success(), "ffmpeg made {}", path.display());
    path
}

/// A running supysonic; killed when dropped.
pub(crate) struct Supysonic {
    child: Child,
    port: u16,
    _dir: TempDir,
}

const CONFIG: &str = "[base]
database_uri = sqlite:///supysonic.db
[webapp]
mount_webui = off
cache_dir = cache
[daemon]
socket = supysonic.sock
";

impl Supysonic {
    /// Serves the library at `music` as user `alice`, password `sesame`.
    pub(crate) fn start(venv: &Path, music: &Path) -> Supysonic {
        let dir = TempDir::new().expect("a folder");
        fs::write(dir.path().join("supysonic.conf"), CONFIG).expect("written");
        let cli = |args: &[&str]| {
            let status = Command::new(venv.join("bin/supysonic-cli"))
                .args(args)
                .current_dir(dir.path())
                .stdout(Stdio::null())
                .status()
                .expect("supysonic-cli runs");
            assert!(status.success(), "supysonic-cli {args:?}");
        };
        cli(&["user", "add", "alice", "-p", "sesame"]);
        cli(&["folder", "add", "music", music.to_str().expect("UTF-8")]);
        cli(&["folder", "scan", "-f"]);
        // Port 0, and the server says which it got.
        let mut child = Command::new(venv.join("bin/python"))
            .args(["-u", "-c", SERVE])
            .current_dir(dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("supysonic starts");
        let stdout = child.stdout.take().expect("its output");
        let line = BufReader::new(stdout).lines().next().expect("a line");
        let port = line.expect("readable").parse().expect("its port");
        Supysonic {
            child,
            port,
            _dir: dir,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// SIGKILL: no goodbye.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
    }
}

impl Drop for Supysonic {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const SERVE: &str = "
from supysonic.web import create_application
from waitress.server import create_server
server = create_server(create_application(), host='127.0.0.1', port=0)
print(server.effective_port)
server.run()
";
