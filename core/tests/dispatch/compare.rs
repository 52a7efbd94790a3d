//! The machine, driven through a case, does what was worked out on paper, to the millisecond, and
//! leaves the breakers where they should be.

use super::case::*;
use super::paper::work_out;
use super::play::*;
use crate::common::Dice;
use segue_core::dispatch::Effect;

/// Effects of one instant in an order of their own: calls, aborts, the settlement.
fn sorted(mut effects: Vec<(u64, Effect<u32>)>) -> Vec<(u64, Effect<u32>)> {
    effects.sort_by_key(|(at, effect)| match effect {
        Effect::Call { call, .. } => (*at, 0, call.0),
        Effect::Abort { call, .. } => (*at, 1, call.0),
        Effect::Settle(_) => (*at, 2, 0),
    });
    effects
}

/// Plays a case and compares it with paper; says how many steps it took.
pub(crate) fn compare(case: &Case, manners: Manners, noise: u64) -> Result<u64, String> {
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

/// A case as a test that can be pasted.
pub(crate) fn as_code(case: &Case, manners: Manners, noise: u64, why: &str) -> String {
    let case = format!("{case:?}").replace('[', "vec![");
    format!(
        "{why}\n\n#[test]\nfn found() {{\n    use How::*;\n    use Say::*;\n    \
         use segue_core::dispatch::{{Known::*, Quality::*}};\n    let case = {case};\n    \
         compare(&case, Manners::{manners:?}, {noise}).unwrap();\n}}\n"
    )
}

/// A random case.
pub(crate) fn check(dice: &mut Dice) -> Result<u64, String> {
    let case = Case::any(dice, 5, false);
    let manners = dice.pick(&[Manners::Prompt, Manners::Noisy]);
    let noise = dice.below(1_000);
    compare(&case, manners, noise).map_err(|why| as_code(&case, manners, noise, &why))
}
