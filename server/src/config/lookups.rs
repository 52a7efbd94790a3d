//! What lookups make of `[providers]`, `[lyrics]` and `[queue]`.

use super::{Config, OwnProvider, Provider, ProviderMode, Reach};
use crate::lyrics::{CommandSpec, LyricsSettings};
use segue_core::breaker::Policy;
use segue_core::dispatch::Mode;
use segue_core::lyrics::accept::Rules;
use segue_core::lyrics::script::ScriptGuard;
use segue_core::provider::{Kind, Settings, musixmatch, petitlyrics};
use segue_core::queue::Ladders;
use std::time::Duration;

/// How long a lane that costs nobody anything may take.
const OWN: Duration = Duration::from_secs(30);

impl Config {
    /// What lookups go by.
    pub fn lyrics_settings(&self) -> LyricsSettings {
        let (providers, lyrics) = (&self.providers, &self.lyrics);
        // The names were checked when the file was read.
        let scripts = ScriptGuard::new(&lyrics.accepted_scripts, lyrics.script_guard_threshold);
        let tolerance = lyrics.duration_tolerance.as_millis();
        let lanes = providers.lanes();
        LyricsSettings {
            providers: lanes.iter().filter_map(|name| self.lane(name)).collect(),
            commands: (providers.own.iter())
                .filter(|own| lanes.contains(&own.name.as_str()))
                .filter_map(command)
                .collect(),
            mode: match providers.mode {
                ProviderMode::Ordered => Mode::Ordered,
                ProviderMode::Parallel => Mode::Parallel {
                    race_wait: providers.race_wait,
                },
            },
            rules: Rules {
                duration_tolerance_ms: u64::try_from(tolerance).unwrap_or(u64::MAX),
                scripts: scripts.unwrap_or_default(),
                ..Rules::default()
            },
            ladders: Ladders {
                upgrade_base: lyrics.upgrade_after,
                upgrade_cap: lyrics.upgrade_after.saturating_mul(8),
                ..Ladders::default()
            },
            policy: Policy {
                base: providers.circuit_base,
                cap: providers.circuit_cap,
                transient_threshold: providers.transient_threshold,
                ..Policy::provider()
            },
            style: lyrics.sidecar_style,
            lease: self.queue.lease,
            workers: self.queue.workers,
            seed: 0,
        }
    }

    fn lane(&self, name: &str) -> Option<Settings> {
        let providers = &self.providers;
        let of = |provider: &Provider, kind: Kind| Settings {
            name: name.to_owned(),
            spacing: provider.spacing,
            timeout: provider.timeout,
            kind,
        };
        let free = |kind: Kind| Settings {
            name: name.to_owned(),
            spacing: Duration::ZERO,
            timeout: OWN,
            kind,
        };
        match name {
            "local" => Some(free(Kind::Local)),
            "subsonic" => Some(free(Kind::Subsonic)),
            "lrclib" => {
                let base_url = providers.lrclib.base_url.clone()?;
                Some(of(&providers.lrclib, Kind::Lrclib { base_url }))
            }
            "musixmatch" => {
                let provider = &providers.musixmatch;
                let kind = Kind::Musixmatch(musixmatch::Settings {
                    base_url: provider.base_url.clone(),
                    app_id: provider.app_id.clone(),
                    token: provider.token.clone(),
                    headers: provider.headers.clone(),
                });
                Some(of(provider, kind))
            }
            "petitlyrics" => {
                let provider = &providers.petitlyrics;
                let kind = Kind::PetitLyrics(petitlyrics::Settings {
                    base_url: provider.base_url.clone(),
                    client_app_id: provider.app_id.clone(),
                });
                Some(of(provider, kind))
            }
            own => {
                let own = providers.own.iter().find(|provider| provider.name == own)?;
                Some(Settings {
                    name: own.name.clone(),
                    spacing: own.spacing,
                    timeout: own.timeout,
                    kind: match &own.reach {
                        Reach::Http(settings) => Kind::Configured((**settings).clone()),
                        Reach::Command { .. } => Kind::Command,
                    },
                })
            }
        }
    }
}

fn command(own: &OwnProvider) -> Option<CommandSpec> {
    match &own.reach {
        Reach::Http(_) => None,
        Reach::Command { argv, env } => Some(CommandSpec {
            name: own.name.clone(),
            argv: argv.clone(),
            env: env.clone(),
            timeout: own.timeout,
        }),
    }
}
