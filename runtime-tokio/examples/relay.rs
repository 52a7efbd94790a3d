//! The byte path alone, for the benchmark: our client behind our accept loop, nothing between.
//!
//! `relay LISTEN UPSTREAM` answers each request on `LISTEN` with what `http://UPSTREAM` answers, on one thread.

use bytes::Bytes;
use http::{Request, Response, header};
use hyper::body::Incoming;
use segue_core::io::{Accepted, NetError, Network};
use segue_runtime_tokio::net::{Body, TokioNetwork};
use segue_runtime_tokio::serve::{raise_descriptor_limit, serve};
use std::error::Error;
use tokio::net::TcpListener;
use tower::service_fn;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [listen, upstream]: [String; 2] = arguments
        .try_into()
        .map_err(|_| "usage: relay LISTEN UPSTREAM")?;
    raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(listen).await?;
        let network = TokioNetwork::new();
        let service = service_fn(move |request| {
            let (network, upstream) = (network.clone(), upstream.clone());
            async move { pass_on(&network, &upstream, &request).await }
        });
        serve(listener, service, std::future::pending()).await?;
        Ok(())
    })
}

async fn pass_on(
    network: &TokioNetwork,
    upstream: &str,
    request: &Request<Incoming>,
) -> Result<Response<Body>, NetError> {
    let mut onward = Request::get(format!("http://{upstream}{}", request.uri()));
    if let Some(range) = request.headers().get(header::RANGE) {
        onward = onward.header(header::RANGE, range);
    }
    let onward = onward.body(Bytes::new()).map_err(|_| NetError::BadUrl)?;
    let mut response = network.send(onward, Accepted::default()).await?;
    response.headers_mut().remove(header::CONNECTION);
    Ok(response)
}
