//! What of the configuration lookups go by.

use segue_core::breaker::Policy;
use segue_core::dispatch::Mode;
use segue_core::driver::lyrics::Rulebook;
use segue_core::lyrics::accept::Rules;
use segue_core::lyrics::lrc::LrcStyle;
use segue_core::provider;
use segue_core::provider::Server;
use segue_core::queue::Ladders;
use std::collections::BTreeMap;
use std::time::Duration;

/// `[providers]`, `[lyrics]` and `[queue]`, as lookups go by them.
#[derive(Clone, Debug)]
pub struct LyricsSettings {
    /// The lanes, best rank first.
    pub providers: Vec<provider::Settings>,
    /// The programs among them.
    pub commands: Vec<CommandSpec>,
    /// How lanes are asked.
    pub mode: Mode,
    /// What is accepted.
    pub rules: Rules,
    /// When to try again.
    pub ladders: Ladders,
    /// How soon a lane's breaker opens.
    pub policy: Policy,
    /// How timed words are written beside the music.
    pub style: LrcStyle,
    /// How long a claim holds without a sign of life.
    pub lease: Duration,
    /// Songs looked up at once.
    pub workers: u32,
    /// Differs from hub to hub.
    pub seed: u64,
}

/// A provider that is a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSpec {
    /// The lane's name.
    pub name: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Names of variables of our environment that it sees besides the usual ones.
    pub env: Vec<String>,
    /// How long one run may take.
    pub timeout: Duration,
}

impl Default for LyricsSettings {
    /// No lanes, and so nothing that is looked up.
    fn default() -> Self {
        LyricsSettings {
            providers: Vec::new(),
            commands: Vec::new(),
            mode: Mode::Ordered,
            rules: Rules::default(),
            ladders: Ladders::default(),
            policy: Policy::provider(),
            style: LrcStyle::default(),
            lease: Duration::from_secs(60),
            workers: 2,
            seed: 0,
        }
    }
}

impl LyricsSettings {
    pub(crate) fn book(&self, servers: BTreeMap<String, Server>) -> Rulebook {
        Rulebook {
            mode: self.mode,
            rules: self.rules.clone(),
            ladders: self.ladders.clone(),
            policy: self.policy,
            lease: self.lease,
            servers,
            seed: self.seed,
        }
    }
}
