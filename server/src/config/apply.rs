//! What the rest of the program makes of the configuration.

use super::{AuthChoice, Config, SourceConfig, SourceKey};
use crate::hub::Settings;
use crate::sources::{LinkSpec, SourceSpec};
use segue_core::source::subsonic::{Auth, BadEndpoint, Credentials, Endpoint};

impl Config {
    /// What requests go by. `transcodes` tells whether this machine can.
    pub fn settings(&self, transcodes: bool) -> Settings {
        Settings {
            limits: self.stream.clone(),
            sync_interval: self.sync.interval,
            sync_concurrency: self.sync.concurrency,
            transcodes,
            trusted_proxies: self.server.trusted_proxies.clone(),
            on_play: self.lyrics.on_play,
            lyrics: self.lyrics_settings(),
        }
    }

    /// The sources as the hub takes them.
    pub fn source_specs(&self) -> Result<Vec<SourceSpec>, BadEndpoint> {
        self.sources.iter().map(SourceConfig::spec).collect()
    }
}

impl SourceConfig {
    /// The source as the hub takes it.
    pub fn spec(&self) -> Result<SourceSpec, BadEndpoint> {
        let link = match &self.key {
            SourceKey::Folder {
                path,
                write_sidecars,
            } => LinkSpec::Folder {
                root: path.clone(),
                write_sidecars: *write_sidecars,
            },
            SourceKey::Subsonic {
                url,
                username,
                password,
                api_key,
                auth,
            } => {
                let mut credentials =
                    Credentials::password(username.clone(), password.clone().unwrap_or_default());
                credentials.api_key.clone_from(api_key);
                LinkSpec::Subsonic {
                    endpoint: Endpoint::new(url, credentials)?,
                    auth: match auth {
                        AuthChoice::Auto => None,
                        AuthChoice::Token => Some(Auth::Token),
                        AuthChoice::Password => Some(Auth::PasswordHex),
                        AuthChoice::ApiKey => Some(Auth::ApiKey),
                    },
                }
            }
        };
        Ok(SourceSpec {
            id: self.id.clone(),
            local: self.local,
            max_streams: self.max_streams,
            link,
        })
    }
}
