//! An exchange on a connection that rested, with a new one dialled beside it in case it is dead.
//!
//! A machine that lost power, or a router that forgot the connection, leaves a socket that looks alive and
//! swallows the request. Waiting for the head of the response would hold failover up for seconds; a dial tells at once
//! whether anybody is there.

use super::socket::Stream;
use http::Response;
use hyper::body::Incoming;
use segue_core::io::NetError;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// Waits for `exchange` while `dialled` goes on beside it; what that came to by then comes along. A failed
/// dial is no news about the exchange.
pub(super) async fn outcome(
    exchange: impl Future<Output = Result<Response<Incoming>, NetError>>,
    dialled: impl Future<Output = Result<Stream, NetError>>,
) -> (Result<Response<Incoming>, NetError>, Option<Stream>) {
    let (mut exchange, mut dialled) = (pin!(exchange), pin!(dialled));
    let mut beside = None;
    poll_fn(|cx| match exchange.as_mut().poll(cx) {
        Poll::Ready(outcome) => {
            let stream = beside.take().and_then(Result::ok);
            Poll::Ready((outcome, stream))
        }
        Poll::Pending => {
            if beside.is_none()
                && let Poll::Ready(result) = dialled.as_mut().poll(cx)
            {
                beside = Some(result);
            }
            Poll::Pending
        }
    })
    .await
}
