//! All routes of a hub, generic over the world it runs in.

use crate::client_address::see_through_proxies;
use crate::hub::{Hub, HubRuntime};
use crate::{api, pages, rest};
use axum::Router;
use axum::middleware;

/// The hub's whole HTTP surface (product section 3).
pub fn router<R: HubRuntime>(hub: Hub<R>) -> Router {
    Router::new()
        .nest("/rest", rest::router())
        .nest("/api/v1", api::router(hub.clone()))
        .merge(api::watch_router())
        .merge(pages::router())
        .layer(middleware::from_fn_with_state(
            hub.clone(),
            see_through_proxies::<R>,
        ))
        .with_state(hub)
}
