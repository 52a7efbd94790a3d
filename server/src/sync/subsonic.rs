//! One pass over a Subsonic server.

use crate::hub::{Hub, HubRuntime};
use crate::sources::{Source, salt};
use segue_core::catalog::model::Pass;
use segue_core::driver::pull;
use segue_core::io::StoreError;
use segue_core::source::refusal::{Refusal, RefusalClass};
use segue_core::source::subsonic::{Auth, Endpoint, Negotiation, Pull};

/// Everything the server has; the inner error is one sentence for the operator.
pub(super) async fn pull<R: HubRuntime>(
    hub: &Hub<R>,
    source: &Source,
    endpoint: &Endpoint,
) -> Result<Result<Pass, String>, StoreError> {
    let auth = match negotiate(hub, source, endpoint).await {
        Ok(auth) => auth,
        Err(refusal) => return Ok(Err(sentence(refusal))),
    };
    if source.auth() != Some(auth) {
        source.set_auth(auth);
        remember(hub, source, auth).await?;
    }
    let pull = Pull::new(hub.settings().sync_concurrency);
    let pass = pull::pull(
        hub.runtime(),
        pull,
        |request| {
            let params: Vec<(&str, &str)> = request
                .params
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            endpoint.request(request.method, &params, auth, &salt())
        },
        |tracks| hub.sync_state().note(source.id(), tracks as u64),
    )
    .await;
    Ok(pass.map_err(sentence))
}

/// Finds out how the server wants us to authenticate, what worked last first.
pub(crate) async fn negotiate<R: HubRuntime>(
    hub: &Hub<R>,
    source: &Source,
    endpoint: &Endpoint,
) -> Result<Auth, Refusal> {
    let negotiation = match source.fixed_auth() {
        Some(auth) => Negotiation::only(auth),
        None => Negotiation::start(endpoint.credentials(), source.auth()),
    };
    pull::negotiate(hub.runtime(), negotiation, |way| {
        endpoint.request("ping", &[], way, &salt())
    })
    .await
}

fn key(source: &str) -> String {
    format!("auth:{source}")
}

async fn remember<R: HubRuntime>(
    hub: &Hub<R>,
    source: &Source,
    auth: Auth,
) -> Result<(), StoreError> {
    let key = key(source.id());
    hub.write(move |w| w.set_setting(&key, auth.as_str())).await
}

/// Brings back what earlier runs found out, so that the first stream after a start authenticates right.
pub(super) async fn recall<R: HubRuntime>(hub: &Hub<R>) -> Result<(), StoreError> {
    for source in hub.sources().iter() {
        if source.auth().is_none() {
            let key = key(source.id());
            let word = hub.read(move |r| r.setting(&key)).await?;
            if let Some(auth) = word.as_deref().and_then(Auth::from_word) {
                source.set_auth(auth);
            }
        }
    }
    Ok(())
}

/// What failed and what to do, for the operator.
pub(crate) fn sentence(refusal: Refusal) -> String {
    let advice = match refusal.class() {
        RefusalClass::Auth => "; check its user name, password or API key",
        RefusalClass::Transport => "; is it running, and is its URL right?",
        RefusalClass::Throttled { .. } => "; it will be asked again later",
        RefusalClass::Miss => "; is this the URL of a Subsonic server?",
    };
    match refusal {
        // These are about the connection, the others about what the source did.
        Refusal::Net(_) | Refusal::TimedOut(_) => format!("{refusal}{advice}"),
        Refusal::Status(_)
        | Refusal::NotFound
        | Refusal::Auth
        | Refusal::Throttled { .. }
        | Refusal::ErrorDocument(_)
        | Refusal::WrongMediaType
        | Refusal::Empty
        | Refusal::WrongRange
        | Refusal::RedirectRefused
        | Refusal::Full => format!("the source {refusal}{advice}"),
    }
}
