//! The machine, driven through random cases, does what was worked out on paper, to the millisecond,
//! and leaves the breakers where they should be.

use crate::case::*;
use crate::common::{Dice, hunt};
use crate::paper::work_out;
use crate::play::*;
use segue_core::dispatch::{Effect, Quality};

/// Effects of one instant in an order of their own: calls, aborts, the settlement.
fn sorted(mut effects: Vec<(u64, Effect<u32>)>) -> Vec<(u64, Effect<u32>)> {
    effects.sort_by_key(|(at, effect)| match effect {
        Effect::Call { call, .. } => (*at, 0, call.0),
        Effect::Abort { call, .. } => (*at, 1, call.0),
        Effect::Settle(_) => (*at, 2, 0),
    });
    effects
}

fn compare(case: &Case, manners: Manners, noise: u64) -> Result<u64, String> {
    let run = play(case, manners, noise);
    let paper = work_out(case);
    let (seen, expected) = (sorted(run.effects()), sorted(paper.effects));
    if seen != expected {
        return Err(format!("saw\n    {seen:?}\nnot\n    {expected:?}"));
    }
    if run.bank != paper.bank {
        return Err(format!(
            "left\n    {:?}\nnot\n    {:?}",
            run.bank, paper.bank
        ));
    }
    Ok(run.steps)
}

fn as_code(case: &Case, manners: Manners, noise: u64, why: &str) -> String {
    let case = format!("{case:?}").replace('[', "vec![");
    format!(
        "{why}\n\n#[test]\nfn found() {{\n    use How::*;\n    use Say::*;\n    \
         use segue_core::dispatch::{{Known::*, Quality::*}};\n    let case = {case};\n    \
         compare(&case, Manners::{manners:?}, {noise}).unwrap();\n}}\n"
    )
}

#[test]
fn two_million_random_steps_are_as_worked_out_on_paper() {
    hunt(2_000_000, |dice: &mut Dice| {
        let case = Case::any(dice, 5, false);
        let manners = dice.pick(&[Manners::Prompt, Manners::Noisy]);
        let noise = dice.below(1_000);
        compare(&case, manners, noise).map_err(|why| as_code(&case, manners, noise, &why))
    });
}

#[test]
fn every_small_dispatch_is_as_worked_out_on_paper() {
    const SAYS: [Say; 5] = [
        Say::Suitable(Quality::Plain),
        Say::Suitable(Quality::Word),
        Say::Unsuitable(Quality::Instrumental),
        Say::Miss,
        Say::Transport,
    ];
    let entry = |lane: u32, n: u64| Entry {
        lane,
        known: None,
        tripped: [None, Some((1, 9))][(n % 2) as usize],
        accepts: [None, Some(1)][(n / 2 % 2) as usize],
        head: None,
        answers: [Some(0), Some(1), Some(2), None][(n / 4 % 4) as usize],
        says: SAYS[(n / 16) as usize],
        connect: 2,
        then: 2,
    };
    let hows = [
        How::Ordered,
        How::Parallel(1),
        How::HedgedUntilAnswered(1),
        How::HedgedUntilAccepted(1),
    ];
    for n in 0..80 * 80 {
        for how in hows {
            for (deadline, last_resort) in [(None, None), (Some(3), None), (None, Some(1))] {
                let case = Case {
                    how,
                    lanes: vec![entry(0, n / 80), entry(1, n % 80)],
                    deadline,
                    last_resort,
                    cancel: None,
                };
                if let Err(why) = compare(&case, Manners::Prompt, 0) {
                    panic!("{}", as_code(&case, Manners::Prompt, 0, &why));
                }
            }
        }
    }
}
