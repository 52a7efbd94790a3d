//! Users, as clients ask about them to learn what they may do.

use super::call::Call;
use super::document::Doc;
use super::envelope::ApiError;
use super::scope::folder_numbers;
use crate::hub::{Hub, HubRuntime};
use segue_sqlite::{InstanceRow, UserRow};

/// `getUser`: oneself, or anyone for an administrator.
pub(super) async fn get_user<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let name = call.params.get("username").unwrap_or(&call.user.name);
    if !name.eq_ignore_ascii_case(&call.user.name) && !call.user.is_admin {
        return Err(ApiError::not_authorized());
    }
    let name = name.to_owned();
    let (found, instances) = hub
        .read(move |r| Ok((r.user(&name)?, r.instances()?)))
        .await?;
    let found = found.ok_or_else(|| ApiError::not_found("User"))?;
    Ok(Doc::new().with("user", user(&found, &instances)))
}

/// `getUsers`, for administrators.
pub(super) async fn get_users<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    if !call.user.is_admin {
        return Err(ApiError::not_authorized());
    }
    let (users, instances) = hub.read(|r| Ok((r.users()?, r.instances()?))).await?;
    let users = users.iter().map(|found| user(found, &instances));
    Ok(Doc::new().with("users", Doc::new().with_list("user", users)))
}

/// `tokenInfo`: whose API key this is.
pub(super) fn token_info(call: &Call) -> Doc {
    Doc::new().with("tokenInfo", Doc::new().with("username", &call.user.name))
}

/// Roles that name what we do not have are false: clients hide the buttons.
fn user(user: &UserRow, instances: &[InstanceRow]) -> Doc {
    Doc::new()
        .with("username", &user.name)
        .with("scrobblingEnabled", true)
        .with("adminRole", user.is_admin)
        .with("settingsRole", false)
        .with("downloadRole", true)
        .with("uploadRole", false)
        .with("playlistRole", false)
        .with("coverArtRole", false)
        .with("commentRole", false)
        .with("podcastRole", false)
        .with("streamRole", true)
        .with("jukeboxRole", false)
        .with("shareRole", false)
        .with("videoConversionRole", false)
        .with_list("folder", folder_numbers(instances))
}
