//! Plays simulated stories for a developer: `cargo sim --help`.

use segue_sim_tests::alone::Run;
use segue_sim_tests::replay::{Either, from_text};
use segue_sim_tests::soak::{Soaked, soak};
use segue_sim_tests::tale::{Kind, Tale};
use segue_sim_tests::{lyrics, scenario};
use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const HELP: &str = "\
Plays a hub in a simulated world, or processes that look songs up in one.

  cargo sim SEED                 the story of a number: its timeline and what is broken in it
  cargo sim --lyrics SEED        the same, about lookups
  cargo sim FILE|'{...}'         a story of either kind that was written down
  cargo sim soak [OPTIONS]       one story after another on all cores, until one is wrong

Options of soak:
  --streams      about hubs only, and
  --lyrics       about lookups only (both by turns)
  --minutes N    for so long (1)
  --stories N    so many instead
  --from SEED    from this number on (by the clock)
  --threads N    so many at a time (as many as there are cores)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        [] | ["help" | "--help" | "-h"] => {
            say(HELP);
            Ok(true)
        }
        ["soak", ref options @ ..] => Plan::read(options).map(|plan| go_on(&plan)),
        ["--lyrics", seed] => match seed.parse() {
            Ok(seed) => Ok(replay(&lyrics::scenario::Scenario::of(seed))),
            Err(_) => Err(format!("--lyrics wants a number\n\n{HELP}")),
        },
        [which] => read(which).map(|story| match story {
            Either::Streams(scenario) => replay(&scenario),
            Either::Lyrics(scenario) => replay(&scenario),
        }),
        _ => Err(HELP.to_owned()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

/// Whoever reads may have had enough, and that is no failure.
fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn read(which: &str) -> Result<Either, String> {
    if let Ok(seed) = which.parse() {
        return Ok(Either::Streams(scenario::Scenario::of(seed)));
    }
    if which.trim_start().starts_with('{') {
        return from_text(which);
    }
    let text = std::fs::read_to_string(which).map_err(|error| format!("{which}: {error}"))?;
    from_text(&text).map_err(|error| format!("{which}: {error}"))
}

/// Prints what happens in a story; whether all is well in it.
fn replay<T: Tale>(scenario: &T) -> bool {
    let Run { outcome, timeline } = scenario.run();
    say(&format!("{scenario:#?}"));
    for entry in &timeline {
        say(&entry.to_string());
    }
    let broken = match outcome {
        Ok(outcome) => {
            let (lines, hash) = T::fingerprint(&outcome);
            say(&format!("{lines} lines, fingerprint {hash:016x}"));
            scenario.broken(&outcome)
        }
        Err(panic) => vec![panic],
    };
    for sentence in &broken {
        say(&format!("- {sentence}"));
    }
    if broken.is_empty() {
        say("all is well");
    }
    broken.is_empty()
}

/// What to play, for how long, and from where.
struct Plan {
    kinds: Vec<Kind>,
    minutes: u64,
    stories: Option<u64>,
    from: u64,
    threads: usize,
}

impl Plan {
    fn read(options: &[&str]) -> Result<Plan, String> {
        let mut plan = Plan {
            kinds: vec![Kind::Streams, Kind::Lyrics],
            minutes: 1,
            stories: None,
            from: random_start(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let only = match *option {
                "--streams" => Some(Kind::Streams),
                "--lyrics" => Some(Kind::Lyrics),
                _ => None,
            };
            if let Some(kind) = only {
                plan.kinds = vec![kind];
                continue;
            }
            let value = options.next().map(|text| text.parse::<u64>());
            let Some(Ok(value)) = value else {
                return Err(format!("{option} wants a number\n\n{HELP}"));
            };
            match *option {
                "--minutes" => plan.minutes = value,
                "--stories" => plan.stories = Some(value),
                "--from" => plan.from = value,
                "--threads" => plan.threads = usize::try_from(value).unwrap_or(1),
                _ => return Err(format!("there is no option {option}\n\n{HELP}")),
            }
        }
        Ok(plan)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "each soak plays other stories, and prints where it began"
)]
fn random_start() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap_or_default().as_secs() * 1_000_000
}

#[expect(clippy::disallowed_methods, reason = "a soak is measured in real time")]
fn now() -> Instant {
    Instant::now()
}

/// Plays and reports; whether all is well.
fn go_on(plan: &Plan) -> bool {
    say(&format!(
        "from {} on, {} at a time",
        plan.from, plan.threads
    ));
    let begun = now();
    let deadline = begun + Duration::from_secs(60 * plan.minutes);
    let soaked = soak(&plan.kinds, plan.from, plan.threads, |n| {
        match plan.stories {
            Some(stories) => n >= stories,
            None => now() >= deadline,
        }
    });
    tell(&soaked, begun.elapsed());
    let Some(failure) = soaked.failure else {
        return true;
    };
    let found = failure.kind.line(failure.seed);
    say(&format!("{found} is wrong; making it simpler"));
    say(&failure.simplest());
    false
}

fn tell(soaked: &Soaked, took: Duration) {
    for (what, hits) in soaked.marks.iter() {
        say(&format!("{hits:>9} {what}"));
    }
    let seconds = took.as_secs_f64();
    let simulated = soaked.simulated.as_secs_f64();
    say(&format!(
        "{} stories in {seconds:.1} s: {:.0} a minute, {:.0} times as fast as the time in them",
        soaked.stories,
        soaked.stories as f64 * 60.0 / seconds,
        simulated / seconds,
    ));
    if let Some(cpu) = processor_time().filter(|cpu| !cpu.is_zero()) {
        let cpu = cpu.as_secs_f64();
        say(&format!(
            "{cpu:.1} s of processor time: {:.0} a minute on two cores, {:.0} times",
            soaked.stories as f64 * 120.0 / cpu,
            2.0 * simulated / cpu,
        ));
    }
}

/// What this process has used of all cores together; only Linux tells it in a file.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may hold anything; user and system time are the 12th and 13th field behind it, in
    // hundredths of a second.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis((user + system) * 10))
}
