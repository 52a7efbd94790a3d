//! What we ask of the kernel for each TCP socket: no Nagle, and small queues for those who prove slow.
//!
//! The kernel's buffers, not the program's, are the memory bill of a slow listener: left alone they grow
//! to megabytes each. What is bounded from the start are *unsent* bytes only; a small window would bound a
//! fast download over a long path too, so that comes when the reader has proved slow.

use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// Unsent bytes that may wait in the kernel for a client who has proved nothing.
pub const UNPROVEN_UNSENT: u32 = 128 * 1024;

/// Unsent bytes that may wait in the kernel for a fast client: enough that each of our turns moves much.
pub const FAST_UNSENT: u32 = 2 * 1024 * 1024;

/// Unsent bytes that may wait in the kernel for a slow reader.
pub const SLOW_UNSENT: u32 = 64 * 1024;

/// Send buffer of a slow reader as asked for; Linux doubles it for its bookkeeping.
pub const SLOW_SEND_BUFFER: usize = 64 * 1024;

/// Receive buffer towards a slow reader's source as asked for; Linux doubles it for its bookkeeping, so
/// about this much is announced as window.
pub const SLOW_RECEIVE_BUFFER: usize = 64 * 1024;

/// Sends small writes at once instead of waiting for the acknowledgement of earlier ones.
///
/// # Errors
/// When the socket is no longer connected.
pub fn send_at_once<S: AsFd>(socket: &S) -> io::Result<()> {
    SockRef::from(socket).set_tcp_nodelay(true)
}

/// How long a client's connection may be silent before the kernel asks whether he is still there.
const SILENT: Duration = Duration::from_secs(60);

/// For a client's socket: [`send_at_once`], a bound for what is unsent, and finding out that his machine is
/// gone without waiting for ever.
///
/// # Errors
/// When the socket is no longer connected.
pub fn prepare_for_client<S: AsFd>(socket: &S) -> io::Result<()> {
    send_at_once(socket)?;
    bound_unsent(socket, UNPROVEN_UNSENT)?;
    SockRef::from(socket).set_tcp_keepalive(&TcpKeepalive::new().with_time(SILENT))
}

/// How long what we sent may stay unacknowledged by an upstream. Its kernel acknowledges, however slow its
/// program; well below the time it has for a response head, so that a connection that a router forgot is redialled
/// within it.
const UNANSWERED: Duration = Duration::from_secs(3);

/// For an upstream's socket, once connected: break it when nobody acknowledges what we sent. Does nothing where the
/// platform has no such option.
///
/// # Errors
/// When the socket is no longer connected.
pub fn bound_unanswered<S: AsFd>(socket: &S) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    SockRef::from(socket).set_tcp_user_timeout(Some(UNANSWERED))?;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = socket;
    Ok(())
}

/// Bounds how many *unsent* bytes the kernel takes from us. Sent but unacknowledged ones are not counted,
/// so a long path is not slowed down. Does nothing where the platform has no such option.
///
/// # Errors
/// When the socket is no longer connected.
pub fn bound_unsent<S: AsFd>(socket: &S, bytes: u32) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    SockRef::from(socket).set_tcp_notsent_lowat(bytes)?;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (socket, bytes);
    Ok(())
}

/// Keeps what waits in the kernel for a slow reader small.
///
/// # Errors
/// When the socket is no longer connected.
pub fn clamp_send<S: AsFd>(socket: &S) -> io::Result<()> {
    bound_unsent(socket, SLOW_UNSENT)?;
    SockRef::from(socket).set_send_buffer_size(SLOW_SEND_BUFFER)
}

/// Keeps what waits in the kernel *for us* small, when we pass it on to a slow reader. What has already
/// arrived stays; the window just does not grow back.
///
/// # Errors
/// When the socket is no longer connected.
pub fn clamp_receive<S: AsFd>(socket: &S) -> io::Result<()> {
    SockRef::from(socket).set_recv_buffer_size(SLOW_RECEIVE_BUFFER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn clamps_are_what_the_kernel_then_reports() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let seen = SockRef::from(&socket);
        assert!(!seen.tcp_nodelay().unwrap());

        send_at_once(&socket).unwrap();
        bound_unanswered(&socket).unwrap();
        clamp_send(&socket).unwrap();
        clamp_receive(&socket).unwrap();

        assert!(seen.tcp_nodelay().unwrap());
        #[cfg(target_os = "linux")]
        {
            assert_eq!(seen.tcp_user_timeout().unwrap(), Some(UNANSWERED));
            assert_eq!(seen.tcp_notsent_lowat().unwrap(), SLOW_UNSENT);
            assert_eq!(seen.send_buffer_size().unwrap(), 2 * SLOW_SEND_BUFFER);
            assert_eq!(seen.recv_buffer_size().unwrap(), 2 * SLOW_RECEIVE_BUFFER);
        }
    }
}
