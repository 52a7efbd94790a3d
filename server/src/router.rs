//! All routes of a hub, generic over the world it runs in.

use crate::hub::{Hub, HubRuntime};
use crate::{api, pages, rest};
use axum::Router;

/// The hub's whole HTTP surface (product section 3).
pub fn router<R: HubRuntime>(hub: Hub<R>) -> Router {
    Router::new()
        .nest("/rest", rest::router())
        .nest("/api/v1", api::router(hub.clone()))
        .merge(api::watch_router())
        .merge(pages::router())
        .with_state(hub)
}
