//! Real HTTP/1.1 over the simulated network: hyper takes any byte stream, so neither axum nor hyper is
//! patched. What cannot come along is whatever starts its own sockets, timers or tasks.

use crate::wire::{Links, Wire};
use crate::{Life, Trapped};
use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use madsim::net::TcpListener;
use segue_core::driver::drained::{Drained, Flushes};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::Poll;

/// Bytes that hyper holds of one connection, each way. As small as the wire's window, for the same reason.
pub(crate) const BUFFER: usize = 16 * 1024;

/// What the accept loop of `segue-runtime-tokio` is on real sockets. Each connection is a task of `life`, and one that
/// panics takes no other with it.
pub async fn serve(at: SocketAddr, app: Router, links: Links, life: Life) -> io::Result<()> {
    let listener = TcpListener::bind(at).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        let flushes = Flushes::default();
        let wire = Wire::accepted(stream, &links)?.counting(flushes.clone());
        let app = TowerToHyperService::new(app.clone());
        let service = service_fn(move |request| {
            let (response, flushes) = (app.call(request), flushes.clone());
            async move { Ok::<_, Infallible>(response.await?.map(|body| Drained::new(body, flushes))) }
        });
        madsim::task::spawn(life.task(contained(async move {
            // Clients hang up; that is theirs to do.
            let _ = http1::Builder::new()
                .keep_alive(false)
                .max_buf_size(BUFFER)
                .serve_connection(TokioIo::new(wire), service)
                .await;
        })));
    }
}

/// Keeps a panic to the task it came up in, as tokio does and madsim does not: one that was ordered. Any other is a
/// mistake, and ends the simulation.
async fn contained(task: impl Future<Output = ()>) {
    let mut task = Box::pin(task);
    poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(cx)));
        match polled {
            Ok(polled) => polled,
            // What is left of it is dropped with the task.
            Err(panic) if panic.is::<Trapped>() => Poll::Ready(()),
            Err(panic) => resume_unwind(panic),
        }
    })
    .await;
}
