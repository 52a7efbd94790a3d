//! The store as the workers see it.

use crate::hub::{Hub, HubRuntime};
use crate::metrics::{CacheRead, DeliveryResult};
use crate::sources::salt;
use segue_core::Wall;
use segue_core::delivery::{Intent, Removal};
use segue_core::driver::lyrics::{
    Desk, Due, End, Job, LaneState, Parcel, ParcelEnd, ParcelTicket, Remembered, Words, Written,
};
use segue_core::io::{Digest, Place, StoreError};
use segue_core::queue::{Claim, Identity, Ticket};
use segue_sqlite::{
    DeliveryEnd, DeliveryIntent, DeliveryRow, DeliveryTicket, Error, LaneStateRow, Reader, Writer,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// One worker's way to the store.
pub struct HubDesk<R: HubRuntime> {
    hub: Hub<R>,
    /// How its claims are named in the store.
    owner: String,
}

impl<R: HubRuntime> HubDesk<R> {
    /// For worker `number` of this hub.
    pub fn new(hub: Hub<R>, number: u32) -> Self {
        let seed = hub.settings().lyrics.seed;
        HubDesk {
            hub,
            owner: format!("{seed:016x}/{number}"),
        }
    }
}

impl<R: HubRuntime> Desk for HubDesk<R> {
    async fn take(
        &self,
        now: Wall,
        lease_until: Wall,
        providers_version: u32,
    ) -> Result<Option<Job>, StoreError> {
        let owner = self.owner.clone();
        let taken = move |w: &Writer| {
            let claim = w.claim(&owner, now, lease_until)?;
            claim
                .map(|claim| job(w.reader(), claim, providers_version))
                .transpose()
        };
        let job = self.hub.write(taken).await?;
        if let Some(job) = &job {
            let read = match (&job.cached, job.claim.may_read_cache(providers_version)) {
                (_, false) => CacheRead::Bypassed,
                (Some(_), true) => CacheRead::Hit,
                (None, true) => CacheRead::Miss,
            };
            self.hub.metrics().lyrics().cache_read(read);
        }
        Ok(job)
    }

    async fn heartbeat(&self, ticket: Ticket, lease_until: Wall) -> Result<(), StoreError> {
        self.hub
            .write(move |w| w.heartbeat(ticket, lease_until))
            .await
    }

    async fn end(
        &self,
        claim: &Claim,
        end: End,
        lanes: Vec<LaneState>,
        now: Wall,
    ) -> Result<(), StoreError> {
        tell(claim, &end);
        let answers = end.answers();
        let said: Vec<_> = answers.iter().map(|a| (a.lane.clone(), a.answer)).collect();
        let ticket = claim.ticket;
        let ended = move |w: &Writer| {
            match &end {
                End::Complete(completion) => drop(w.complete(ticket, completion, now)?),
                End::Keep {
                    upgrade_after,
                    answers,
                } => drop(w.keep(ticket, *upgrade_after, answers, now)?),
                End::Release {
                    retry_at,
                    reason,
                    answers,
                } => w.release(ticket, *retry_at, reason.as_deref(), answers, now)?,
                End::Fail {
                    retry_at,
                    reason,
                    answers,
                } => w.fail(ticket, *retry_at, reason, answers, now)?,
                End::Defer {
                    retry_at,
                    reason,
                    answers,
                } => w.defer(ticket, *retry_at, reason, answers, now)?,
            }
            put_lanes(w, &lanes, now)
        };
        self.hub.write(ended).await?;
        for (lane, answer) in said {
            self.hub.metrics().lyrics().answered(&lane, answer);
        }
        Ok(())
    }

    async fn is_decoy(&self, document: &str, identity: &Identity) -> Result<bool, StoreError> {
        let (document, identity) = (document.to_owned(), identity.clone());
        self.hub
            .look_up(move |r| r.is_of_stranger(&document, &identity))
            .await
    }

    async fn quarantine(
        &self,
        ticket: Ticket,
        lane: &str,
        document: &str,
        now: Wall,
    ) -> Result<(), StoreError> {
        let (of, document) = (lane.to_owned(), document.to_owned());
        let quarantined = move |w: &Writer| w.quarantine(ticket, &of, &document, now);
        let songs = self.hub.write(quarantined).await?;
        if songs > 0 {
            tracing::warn!(
                lane,
                songs,
                "gives the same words for anything: songs that had them are looked up again"
            );
            self.ring();
        }
        Ok(())
    }

    async fn take_parcel(
        &self,
        now: Wall,
        lease_until: Wall,
    ) -> Result<Option<Parcel>, StoreError> {
        let owner = self.owner.clone();
        let taken = move |w: &Writer| {
            let row = w.claim_delivery(&owner, now, lease_until)?;
            row.map(|row| parcel(w.reader(), row)).transpose()
        };
        self.hub.write(taken).await
    }

    async fn begin_parcel(
        &self,
        ticket: ParcelTicket,
        document: &str,
        intent: &Intent,
        now: Wall,
    ) -> Result<(), StoreError> {
        let document = document.to_owned();
        let row = DeliveryIntent {
            sidecar: intent.target.path.clone(),
            temp: intent.temp.path.clone(),
            old_hash: intent.replaces.map(Digest::to_hex),
            new_hash: intent.new.to_hex(),
        };
        self.hub
            .write(move |w| w.begin_delivery(stored(ticket), &document, &row, now))
            .await
    }

    async fn begin_removal(
        &self,
        ticket: ParcelTicket,
        removal: &Removal,
        now: Wall,
    ) -> Result<(), StoreError> {
        let (sidecar, hash) = (removal.place.path.clone(), removal.only.to_hex());
        self.hub
            .write(move |w| w.begin_removal(stored(ticket), &sidecar, &hash, now))
            .await
    }

    async fn end_parcel(
        &self,
        ticket: ParcelTicket,
        end: ParcelEnd,
        now: Wall,
    ) -> Result<(), StoreError> {
        let (result, end) = match end {
            ParcelEnd::Delivered { place, digest } => {
                tracing::info!(source = place.source, sidecar = place.path, "written");
                let end = DeliveryEnd::Delivered {
                    sidecar: place.path,
                    hash: digest.to_hex(),
                };
                (DeliveryResult::Delivered, end)
            }
            ParcelEnd::Refused(reason) => {
                tracing::debug!(%reason, "a sidecar is not written");
                (DeliveryResult::Refused, DeliveryEnd::Refused(reason))
            }
            ParcelEnd::Withdrawn => {
                tracing::info!("a sidecar with words of another song is not there any more");
                (DeliveryResult::Withdrawn, DeliveryEnd::Withdrawn)
            }
            ParcelEnd::Again {
                reason,
                retry_at,
                begun,
            } => {
                tracing::warn!(%reason, %retry_at, "a sidecar could not be written");
                (
                    DeliveryResult::Again,
                    DeliveryEnd::Again {
                        reason,
                        retry_at,
                        begun,
                    },
                )
            }
        };
        self.hub
            .write(move |w| w.end_delivery(stored(ticket), &end, now))
            .await?;
        self.hub.metrics().lyrics().delivery(result);
        Ok(())
    }

    async fn due(&self) -> Result<Due, StoreError> {
        let wakeup = self.hub.look_up(|r| r.wakeup()).await?;
        Ok(Due {
            song: wakeup.claim,
            parcel: wakeup.delivery,
        })
    }

    async fn rung(&self) {
        self.hub.wanted().rung().await;
    }

    fn ring(&self) {
        self.hub.wanted().ring();
    }

    fn salt(&self) -> String {
        salt()
    }

    fn timed(&self, lane: &str, took: Duration) {
        self.hub.metrics().lyrics().timed(lane, took);
    }

    fn trouble(&self, what: &'static str, error: &StoreError) {
        match error {
            StoreError::StaleClaim => tracing::info!(worker = self.owner, "{what}"),
            StoreError::Closed => tracing::debug!(worker = self.owner, "{what}"),
            StoreError::Database(_) | StoreError::Conflict(_) => {
                tracing::error!(worker = self.owner, %error, "{what}");
            }
        }
    }
}

fn tell(claim: &Claim, end: &End) {
    let (artist, title) = (&claim.song.artist, &claim.song.title);
    match end {
        End::Complete(done) => {
            let outcome = done.outcome.as_str();
            let lane = done.lane.as_deref().unwrap_or("memory");
            tracing::info!(artist, title, outcome, lane, "looked up");
        }
        End::Keep { .. } => tracing::debug!(artist, title, "nothing better was found"),
        End::Release { reason, .. } => {
            tracing::debug!(artist, title, reason, "given back");
        }
        End::Fail { reason, .. } => tracing::info!(artist, title, reason, "could not be looked up"),
        End::Defer { .. } => tracing::info!(artist, title, "no lane has it"),
    }
}

fn put_lanes(writer: &Writer, lanes: &[LaneState], now: Wall) -> Result<(), Error> {
    for lane in lanes {
        writer.put_lane_state(&LaneStateRow {
            lane: lane.name.clone(),
            breaker: lane.breaker,
            next_call_at: lane.next_call_at,
            note: None,
            saved_at: now,
        })?;
    }
    Ok(())
}

fn job(reader: &Reader, claim: Claim, providers_version: u32) -> Result<Job, Error> {
    let work_id = claim.ticket.work_id;
    let cached = reader.cached(&claim, providers_version)?;
    Ok(Job {
        copies: reader.copies_of_work(work_id)?,
        ledger: reader.ledger_of(work_id)?,
        cached: cached.map(|cached| Remembered {
            outcome: cached.outcome,
            body: cached.body,
            quality: cached.quality,
            lane: cached.lane,
        }),
        ours: reader
            .sidecars_of_work(work_id)?
            .into_iter()
            .collect::<BTreeSet<_>>(),
        claim,
    })
}

fn stored(ticket: ParcelTicket) -> DeliveryTicket {
    DeliveryTicket {
        delivery_id: ticket.delivery_id,
        epoch: ticket.epoch,
    }
}

fn parcel(reader: &Reader, row: DeliveryRow) -> Result<Parcel, Error> {
    let source = &row.file.instance_id;
    let place = |path: &str| Place::new(source.as_str(), path);
    let delivered = row.delivered.as_ref().and_then(|file| {
        Some(Written {
            place: place(&file.sidecar),
            digest: Digest::from_hex(&file.hash)?,
            quality: file.quality,
        })
    });
    let begun = match &row.intent {
        Some((intent, document)) => {
            let body = reader.document(document)?.unwrap_or_default();
            let target = place(&intent.sidecar);
            let retires = delivered.as_ref().filter(|file| file.place != target);
            let intent = Digest::from_hex(&intent.new_hash).map(|new| Intent {
                track: place(&row.file.path),
                temp: place(&intent.temp),
                new,
                quality: row.quality,
                replaces: intent.old_hash.as_deref().and_then(Digest::from_hex),
                retires: retires.map(|file| (file.place.clone(), file.digest)),
                target,
            });
            intent.map(|intent| (intent, body))
        }
        None => None,
    };
    let wanted = match row.document_id {
        Some(document) => Some(Words {
            body: reader.document(&document)?.unwrap_or_default(),
            document,
        }),
        None => None,
    };
    Ok(Parcel {
        ticket: ParcelTicket {
            delivery_id: row.ticket.delivery_id,
            epoch: row.ticket.epoch,
        },
        track: place(&row.file.path),
        wanted,
        begun,
        delivered,
        attempts: row.attempts,
    })
}
