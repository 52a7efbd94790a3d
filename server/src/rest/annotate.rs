//! What listeners say about the music: stars, ratings, plays, and what they hear right now.

use super::call::Call;
use super::document::Doc;
use super::envelope::ApiError;
use super::shapes;
use crate::hub::{Hub, HubRuntime};
use crate::now_playing::Listening;
use crate::wanted;
use segue_core::Wall;
use segue_core::io::Clock;

/// Times before this are seconds: as milliseconds they would be in 1973 or earlier, and some clients
/// send seconds (OpenSubsonic facts, 1.8 item 3).
const EARLIEST_MILLIS: i64 = 100_000_000_000;

/// `star`. Any of the three parameters takes any kind of id, as clients mix them up. One that is unknown is
/// an error, and then none is starred.
pub(super) async fn star<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let ids = starrable(call)?;
    let (user, now) = (call.user.id, hub.clock().wall());
    let all_known = hub
        .read(move |r| {
            let mut living = Vec::with_capacity(ids.len());
            for id in &ids {
                match r.resolve(id)? {
                    Some(id) => living.push(id),
                    None => return Ok(None),
                }
            }
            Ok(Some(living))
        })
        .await?;
    let living = all_known.ok_or_else(|| ApiError::not_found("Song, album or artist"))?;
    hub.write(move |w| {
        for id in &living {
            w.star(user, id, now)?;
        }
        Ok(())
    })
    .await?;
    Ok(Doc::new())
}

/// `unstar`. What is not starred, or not there any more, is no error.
pub(super) async fn unstar<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let ids = starrable(call)?;
    let user = call.user.id;
    hub.write(move |w| {
        for id in &ids {
            w.unstar(user, id)?;
        }
        Ok(())
    })
    .await?;
    Ok(Doc::new())
}

fn starrable(call: &Call) -> Result<Vec<String>, ApiError> {
    let ids: Vec<String> = ["id", "albumId", "artistId"]
        .iter()
        .flat_map(|name| call.params.all(name))
        .map(str::to_owned)
        .collect();
    if ids.is_empty() {
        return Err(ApiError::missing("id"));
    }
    Ok(ids)
}

/// `setRating`: 1 to 5, or 0 to take the rating away.
pub(super) async fn set_rating<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let id = call.params.required("id")?.to_owned();
    let rating = match call.params.number::<u8>("rating")? {
        None => return Err(ApiError::missing("rating")),
        Some(rating @ 0..=5) => rating,
        Some(_) => return Err(ApiError::bad_value("rating", "a number from 0 to 5")),
    };
    let (user, now) = (call.user.id, hub.clock().wall());
    let is_known = hub
        .write(move |w| w.set_rating(user, &id, rating, now))
        .await?;
    if !is_known {
        return Err(ApiError::not_found("Song, album or artist"));
    }
    Ok(Doc::new())
}

/// `scrobble`: a play of each `id` at the `time` beside it, or what is heard now with `submission=false`.
/// A stream is never a play by itself.
pub(super) async fn scrobble<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let plays = plays(call, hub.clock().wall())?;
    let is_submission = call.params.flag("submission", true)?;
    let user = call.user.id;
    let ids: Vec<String> = plays.iter().map(|(id, _)| id.clone()).collect();
    let known = hub
        .read(move |r| {
            let mut known = Vec::with_capacity(ids.len());
            for id in &ids {
                known.push(r.song(user, id)?.map(|song| song.track.id));
            }
            Ok(known)
        })
        .await?;
    let known: Vec<(String, Wall)> = known
        .into_iter()
        .zip(plays)
        .filter_map(|(id, (_, at))| Some((id?, at)))
        .collect();
    let Some((last, _)) = known.last() else {
        return Err(ApiError::not_found("Song"));
    };
    for (id, _) in &known {
        wanted::note(hub, id);
    }
    if !is_submission {
        hub.now_playing().report(Listening {
            user: call.user.name.clone(),
            client: call.client.clone(),
            track_id: last.clone(),
            since: hub.clock().now(),
        });
        return Ok(Doc::new());
    }
    let client = call.client.clone();
    hub.write(move |w| {
        for (id, at) in &known {
            w.record_play(user, id, *at, &client)?;
        }
        Ok(())
    })
    .await?;
    Ok(Doc::new())
}

/// The pairs of `id` and `time`. A missing time is now, and so is one in the future.
fn plays(call: &Call, now: Wall) -> Result<Vec<(String, Wall)>, ApiError> {
    call.params.required("id")?;
    let mut times = call.params.given("time");
    let mut plays = Vec::new();
    for id in call.params.given("id") {
        let at = match times.next().map(str::trim) {
            None | Some("") => now,
            Some(text) => {
                let time: i64 = text
                    .parse()
                    .map_err(|_| ApiError::bad_value("time", "a number"))?;
                moment(time).min(now)
            }
        };
        plays.push((id.to_owned(), at));
    }
    Ok(plays)
}

fn moment(time: i64) -> Wall {
    if (0..EARLIEST_MILLIS).contains(&time) {
        Wall(time.saturating_mul(1000))
    } else {
        Wall(time)
    }
}

/// `getNowPlaying`.
pub(super) async fn get_now_playing<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
) -> Result<Doc, ApiError> {
    let now = hub.clock().now();
    let listeners = hub.now_playing().list(now);
    let user = call.user.id;
    let heard = hub
        .read(move |r| {
            let mut heard = Vec::with_capacity(listeners.len());
            for listening in listeners {
                if let Some(song) = r.song(user, &listening.track_id)? {
                    heard.push((listening, song));
                }
            }
            Ok(heard)
        })
        .await?;
    let entries = heard.iter().zip(1u32..).map(|((listening, song), player)| {
        shapes::song(song)
            .with("username", &listening.user)
            .with("minutesAgo", now.since(listening.since).as_secs() / 60)
            .with("playerId", player)
            .with("playerName", &listening.client)
    });
    Ok(Doc::new().with("nowPlaying", Doc::new().with_list("entry", entries)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_times_are_seconds() {
        assert_eq!(moment(1_700_000_000), Wall(1_700_000_000_000));
        assert_eq!(moment(1_700_000_000_000), Wall(1_700_000_000_000));
        assert_eq!(moment(99_999_999_999), Wall(99_999_999_999_000));
        assert_eq!(moment(-5), Wall(-5));
        assert_eq!(moment(i64::MAX), Wall(i64::MAX));
    }
}
