//! A hub that dies again and again, as under a supervisor that starts it at once: a provider must not suffer from that.

use crate::client::Client;
use crate::program::{Home, Moment};
use crate::provider::{Asked, Manner, Provider};
use crate::songs::{album, release};
use futures_util::future::{Either, select};
use segue::providers_fake::Fault;
use segue_core::io::Clock;
use segue_runtime_tokio::clock::TokioClock;
use std::pin::pin;
use std::time::Duration;

const RESTARTS: usize = 20;

/// What takes longer hangs.
const HANGS: Duration = Duration::from_secs(30);

/// A hub over songs that only this provider has.
fn home(provider: &Provider, spacing: &str) -> Home {
    let home = Home::with(&format!(
        "[sync]\ninterval = \"0s\"\n[queue]\nlease = \"1s\"\n\
         [[sources]]\nid = \"shelf\"\nkind = \"folder\"\npath = \"music\"\nwrite_sidecars = true\n\
         [providers.lrclib]\nbase_url = \"{}\"\nspacing = \"{spacing}\"\n",
        provider.url()
    ));
    let music = home.path("music");
    for number in 0..8 {
        release(&music, provider.lrclib(), &album(number));
    }
    home
}

/// One life, until `until` ends; what has to be known of it.
async fn life<T>(home: &Home, until: impl AsyncFnOnce(&Client<'_>) -> T) -> T {
    let (victim, mut output) = home.start(Moment::Rest);
    let url = victim.greeting(&mut output).await.expect("not killed");
    let client = Client::new(&victim, url);
    let clock = TokioClock::new();
    let hangs = pin!(clock.sleep_until(clock.now() + HANGS));
    let known = match select(pin!(until(&client)), hangs).await {
        Either::Left((known, _)) => known,
        Either::Right(_) => panic!("it hangs"),
    };
    victim.bury().await;
    known
}

fn gaps(log: &[Asked]) -> impl Iterator<Item = Duration> {
    let pairs = log.iter().zip(log.iter().skip(1));
    pairs.map(|(one, next)| next.tick.since(one.tick))
}

#[tokio::test(flavor = "multi_thread")]
async fn s27_a_provider_keeps_its_pace_however_often_the_hub_is_killed_while_asking() {
    let provider = Provider::start(1).await;
    let home = home(&provider, "150ms");
    for restart in 0..RESTARTS {
        // Killed with a question under way, and between two.
        provider.behave(Manner {
            slow: Duration::from_millis(20 * (restart as u64 % 3)),
            fails_one_in: 0,
        });
        let asked = provider.count() + 1 + restart % 2;
        life(&home, async |_| provider.asked(asked).await).await;
    }
    let log = provider.log();
    let least = gaps(&log).min().expect("it was asked");
    println!("{} requests, at least {least:?} apart", log.len());
    assert!(log.len() >= RESTARTS);
    assert!(least >= Duration::from_millis(150), "{least:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn s27_an_open_breaker_stays_open_over_restarts() {
    for (fault, enough) in [
        (Fault::status(429).retry_after(300), 1),
        // The breaker's own patience with a provider that fails.
        (Fault::status(500), 5),
    ] {
        let provider = Provider::start(1).await;
        let home = home(&provider, "0s");
        provider.lrclib().script().always(Some(fault.clone()));
        let mut open = 0;
        for _ in 0..RESTARTS {
            let shut = life(&home, async |client| settled(client).await).await;
            open += usize::from(shut);
            if open > 0 {
                assert!(shut, "it was opened before");
            }
        }
        println!(
            "{fault:?}: {} requests, open at the end of {open} lives",
            provider.count()
        );
        assert!(open >= RESTARTS - enough);
        // Each life before it was open may end before it has noted what its last question came to; so may the one in which
        // it opens, for that is seen before it is stored.
        let unnoted = RESTARTS - open + 1;
        let asked = provider.count();
        assert!(asked <= enough + unnoted, "{asked} requests");
    }
}

/// Waits until the lane is open, or until a song more has been given up; whether it is open.
async fn settled(client: &Client<'_>) -> bool {
    let failed = async || {
        let queue = client.api("GET", "queue").await.expect("not killed");
        queue["counts"]["failed"].as_u64().expect("a number")
    };
    let before = failed().await;
    loop {
        let lanes = client.api("GET", "lanes").await.expect("not killed");
        let lanes = lanes["lanes"].as_array().expect("a list");
        let lrclib = lanes.iter().find(|lane| lane["name"] == "lrclib");
        if lrclib.expect("configured")["state"] == "open" {
            // Whoever wanted to ask in spite of that has the time to.
            let clock = TokioClock::new();
            clock
                .sleep_until(clock.now() + Duration::from_millis(100))
                .await;
            return true;
        }
        if failed().await > before {
            return false;
        }
    }
}
