//! Asks a lane over the real network, as the worker does.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Limited};
use segue::providers_fake::{Fault, Script, Tune, Words};
use segue_core::Wall;
use segue_core::dispatch::Failure;
use segue_core::io::{Accepted, NetError, Network};
use segue_core::lyrics::Song;
use segue_core::provider::{Lookup, Next, Outcome, REPLY_LIMIT, Reply, Trouble, judge};
use segue_runtime_tokio::net::TokioNetwork;
use std::time::Duration;

pub(crate) fn lines() -> Vec<(u64, String)> {
    vec![
        (1500, "boats of paper".to_owned()),
        (4000, "lamps of tin & <wire>".to_owned()),
    ]
}

pub(crate) fn tune(title: &str, words: Words) -> Tune {
    Tune::new("The Paper Boats", title, 201, words)
}

pub(crate) fn song(title: &str) -> Song {
    Song {
        title: title.to_owned(),
        artist: "The Paper Boats".to_owned(),
        duration_ms: Some(201_000),
        ..Song::default()
    }
}

pub(crate) async fn ask(mut lookup: Box<dyn Lookup>) -> Outcome {
    let network = TokioNetwork::new();
    loop {
        match lookup.next() {
            Next::Done(outcome) => return outcome,
            Next::Send(request) => lookup.reply(exchange(&network, *request).await),
        }
    }
}

async fn exchange(network: &TokioNetwork, mut request: Request<Bytes>) -> Result<Reply, NetError> {
    for hops in 0.. {
        let response = network.send(request.clone(), Accepted::default()).await?;
        let (parts, body) = response.into_parts();
        if let Ok(Some(next)) = judge::redirected(&request, &parts, hops) {
            request = next;
            continue;
        }
        let body = Limited::new(body, REPLY_LIMIT).collect().await;
        let body = body.map_err(|error| match error.downcast::<NetError>() {
            Ok(error) => *error,
            Err(_) => NetError::Oversized,
        })?;
        return Ok(Reply {
            parts,
            body: body.to_bytes(),
            at: Wall(0),
        });
    }
    unreachable!("redirects end")
}

/// Whatever goes wrong on the wire is a failure of its class, and the next question is answered again (S6, S15).
pub(crate) async fn is_told_what_goes_wrong(script: &Script, lookup: impl Fn() -> Box<dyn Lookup>) {
    let wait = |seconds| Failure::Throttled {
        retry_after: Some(Duration::from_secs(seconds)),
    };
    let auth = Failure::Auth { renewal: false };
    for (fault, failure) in [
        (Fault::status(401), auth),
        (Fault::status(403), auth),
        (Fault::status(404), Failure::Transport),
        (Fault::status(429), Failure::Throttled { retry_after: None }),
        (Fault::status(429).retry_after(120), wait(120)),
        (Fault::status(503).retry_after(7), wait(7)),
        (Fault::status(502), Failure::Transport),
        (Fault::Body(String::new()), Failure::Transport),
        (
            Fault::Body("<html><body>Log in</body></html>".to_owned()),
            Failure::Transport,
        ),
        (Fault::Oversized, Failure::Transport),
        (Fault::CutShort, Failure::Transport),
        (
            Fault::Redirect("http://elsewhere.example/".to_owned()),
            Failure::Transport,
        ),
    ] {
        script.once(fault.clone());
        let outcome = ask(lookup()).await;
        let is_right = matches!(&outcome, Outcome::Failed(trouble) if trouble.failure() == failure);
        assert!(is_right, "{fault:?} gave {outcome:?}");
        assert!(
            matches!(ask(lookup()).await, Outcome::Found(_)),
            "after {fault:?}"
        );
    }
    script.once(Fault::Oversized);
    let outcome = ask(lookup()).await;
    assert_eq!(outcome, Outcome::Failed(Trouble::Net(NetError::Oversized)));
    script.once(Fault::Hang);
    let hanging = tokio::time::timeout(Duration::from_millis(100), ask(lookup())).await;
    assert!(hanging.is_err(), "answers in spite of a hanging server");
}
