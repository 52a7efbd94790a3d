//! The bytes of a file as a response body.

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use segue_core::io::NetError;
use std::fs::File;
use std::future::Future;
use std::io;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::task::{JoinHandle, spawn_blocking};

/// Bytes read at a time: one trip off the async threads for each, one held per listener.
const CHUNK: usize = 128 * 1024;

/// A part of a file, read off the async threads one chunk at a time and only when asked for more, so a slow
/// listener holds one chunk. Dropping it closes the file.
#[derive(Debug)]
pub(super) struct FileBody {
    file: Arc<File>,
    at: u64,
    left: u64,
    reading: Option<JoinHandle<io::Result<Bytes>>>,
}

impl FileBody {
    /// `length` bytes of `file` from `first` on.
    pub(super) fn new(file: File, first: u64, length: u64) -> Self {
        Self {
            file: Arc::new(file),
            at: first,
            left: length,
            reading: None,
        }
    }
}

impl http_body::Body for FileBody {
    type Data = Bytes;
    type Error = NetError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, NetError>>> {
        let this = self.get_mut();
        if this.left == 0 {
            return Poll::Ready(None);
        }
        let (at, left) = (this.at, this.left);
        let reading = this.reading.get_or_insert_with(|| {
            let file = Arc::clone(&this.file);
            spawn_blocking(move || read_chunk(&file, at, left))
        });
        let read = ready!(Pin::new(reading).poll(cx));
        this.reading = None;
        let frame = match read {
            // The file got shorter while it was read.
            Ok(Ok(chunk)) if chunk.is_empty() => Err(NetError::Truncated),
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(_)) | Err(_) => Err(NetError::Local),
        };
        match &frame {
            Ok(chunk) => {
                this.at += chunk.len() as u64;
                this.left -= chunk.len() as u64;
            }
            Err(_) => this.left = 0,
        }
        Poll::Ready(Some(frame.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Up to a chunk at `at`; empty at the end of the file.
fn read_chunk(file: &File, at: u64, left: u64) -> io::Result<Bytes> {
    let length = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
    let mut chunk = vec![0; length];
    let read = loop {
        match file.read_at(&mut chunk, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read?,
        }
    };
    chunk.truncate(read);
    Ok(chunk.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use std::io::Write;

    fn a_file(length: usize) -> (File, Vec<u8>) {
        let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        (file, bytes)
    }

    #[tokio::test]
    async fn a_part_of_a_file_is_read_in_bounded_chunks() {
        let (file, bytes) = a_file(3 * CHUNK);
        let mut body = FileBody::new(file, 10, 2 * CHUNK as u64);
        let mut got = Vec::new();
        while let Some(frame) = body.frame().await {
            let chunk = frame.unwrap().into_data().unwrap();
            assert!(chunk.len() <= CHUNK);
            got.extend(chunk);
        }
        assert!(got == bytes[10..10 + 2 * CHUNK]);
    }

    #[tokio::test]
    async fn a_file_that_got_shorter_is_no_clean_end() {
        let (file, _) = a_file(100);
        let body = FileBody::new(file, 0, 101);
        assert_eq!(body.collect().await.unwrap_err(), NetError::Truncated);
    }
}
