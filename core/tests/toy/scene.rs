//! Requests through the real drivers in the toy world.

use super::{Toy, ToyBody};
use bytes::Bytes;
use http_body::Body;
use segue_core::breaker::{Bank, Lane, Policy};
use segue_core::driver::body::{Closing, RelayBody, Reopen, Session};
use segue_core::driver::exchange::{Answer, Wanted};
use segue_core::driver::open::{OpenRequest, Opened, open};
use segue_core::driver::resume::{Break, resume};
use segue_core::failover::relay::Relay;
use segue_core::failover::{Candidate, Limits, Outcome};
use segue_core::source::range::ByteRange;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// All data and how it ended: `true` for a clean end.
pub(crate) async fn collect<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> (Vec<u8>, bool) {
    let mut gathered = Vec::new();
    loop {
        match poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
            None => return (gathered, true),
            Some(Err(_)) => return (gathered, false),
            Some(Ok(frame)) => gathered.extend(frame.into_data().ok().unwrap_or_default()),
        }
    }
}

pub(crate) const NAMES: [&str; 3] = ["first", "second", "third"];

pub(crate) fn music(seed: u8, len: usize) -> Vec<u8> {
    let mut bytes = b"fLaC".to_vec();
    bytes.extend((4..len).map(|n| (n as u8).wrapping_mul(31).wrapping_add(seed) ^ (n >> 8) as u8));
    bytes
}

pub(crate) fn bank() -> Mutex<Bank> {
    let mut bank = Bank::new();
    for n in 0..3 {
        bank.register(Lane(n), Policy::instance(Limits::default().suspect));
    }
    Mutex::new(bank)
}

pub(crate) fn candidates(count: usize) -> Vec<Candidate> {
    let candidate = |n: usize| Candidate {
        lane: Lane(n as u32),
        source: NAMES[n].to_owned(),
    };
    (0..count).map(candidate).collect()
}

pub(crate) fn ask(at: usize, range: Option<ByteRange>) -> OpenRequest {
    let mut request = http::Request::get(format!("http://{}/stream", NAMES[at]));
    if let Some(range) = range {
        request = request.header("range", range.to_string());
    }
    OpenRequest {
        request: request.body(Bytes::new()).unwrap(),
        range,
    }
}

pub(crate) fn open_with(
    toy: &Toy,
    bank: &Mutex<Bank>,
    limits: &Limits,
    count: usize,
) -> Opened<ToyBody> {
    toy.run(open(
        toy,
        bank,
        candidates(count),
        limits,
        Wanted::Media,
        |at| Ok(ask(at, None)),
    ))
}

pub(crate) fn open_all(toy: &Toy, bank: &Mutex<Bank>, count: usize) -> Opened<ToyBody> {
    open_with(toy, bank, &Limits::default(), count)
}

/// Who won, and what each attempt came to.
pub(crate) fn story(opened: &Opened<ToyBody>) -> (Option<usize>, Vec<(usize, &'static str)>) {
    let winner = match &opened.outcome {
        Outcome::Committed { candidate, .. } => Some(*candidate),
        Outcome::Exhausted { .. } | Outcome::Cancelled => None,
    };
    let attempts = opened.attempts.iter();
    (
        winner,
        attempts
            .map(|a| (a.candidate, a.outcome.as_str()))
            .collect(),
    )
}

pub(crate) fn assert_quiet(toy: &Toy, bank: &Mutex<Bank>) {
    assert_eq!(toy.open(), 0, "F5: an exchange is left");
    assert_eq!(
        bank.lock().unwrap().outstanding(),
        0,
        "F5: a permit is left"
    );
}

/// The body of what was opened, and what it tells when it closes.
pub(crate) fn relayed(
    toy: &Toy,
    bank: &Arc<Mutex<Bank>>,
    opened: Opened<ToyBody>,
    copies: &[usize],
) -> (RelayBody<Toy>, Arc<Mutex<Vec<Closing>>>) {
    let Outcome::Committed { candidate, opening } = opened.outcome else {
        panic!("{opened:?}")
    };
    let Answer::Media(head) = &opening.answer else {
        panic!("{opening:?}")
    };
    let total = head.content_length;
    let closings = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&closings);
    let session = Session {
        candidate,
        first: opening.first,
        body: opening.body,
        relay: Relay::new(total, Duration::from_secs(30), !copies.is_empty()),
        reopen: (!copies.is_empty()).then(|| reopener(toy, bank, total.unwrap_or(0), copies)),
        on_close: Box::new(move |closing| told.lock().unwrap().push(closing)),
        on_bytes: Box::new(|_| {}),
    };
    (RelayBody::new(toy.clone(), session), closings)
}

/// Goes on from one of `copies`.
fn reopener(toy: &Toy, bank: &Arc<Mutex<Bank>>, total: u64, copies: &[usize]) -> Reopen<ToyBody> {
    let (world, shared, copies) = (toy.clone(), Arc::clone(bank), copies.to_vec());
    Box::new(move |at, tail, spent| {
        let broken = Break { at, total, tail };
        let lanes = candidates(3);
        let left = copies.iter().filter(|n| !spent.contains(n));
        let lanes = left.map(|n| (*n, lanes[*n].clone())).collect();
        let (world, shared) = (world.clone(), Arc::clone(&shared));
        Box::pin(async move {
            let limits = Limits::default();
            let request = |n: usize, range: &ByteRange| Ok(ask(n, Some(*range)));
            resume(&world, &shared, lanes, &limits, &broken, request).await
        })
    })
}

/// Relays what was opened; gives the bytes, whether the end was clean, and the closing.
pub(crate) fn relay(
    toy: &Toy,
    bank: &Arc<Mutex<Bank>>,
    opened: Opened<ToyBody>,
    copies: &[usize],
) -> (Vec<u8>, bool, Closing) {
    let (mut body, closings) = relayed(toy, bank, opened, copies);
    let (bytes, clean) = toy.run(collect(&mut body));
    assert_eq!(toy.open(), 0, "the upstream goes with the end");
    assert_eq!(closings.lock().unwrap().len(), 1, "recorded with the end");
    drop(body);
    let mut closings = closings.lock().unwrap();
    assert_eq!(closings.len(), 1, "F6: told once");
    (bytes, clean, closings.remove(0))
}
