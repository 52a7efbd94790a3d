//! One simulation in a thread of its own.

use segue_core::driver::lock;
use segue_runtime_sim::{Entry, Timeline};
use std::cell::Cell;
use std::panic::{resume_unwind, set_hook, take_hook};
use std::sync::Once;

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Run<T> {
    /// What can be compared and checked; or why there is nothing, for instance a broken assertion.
    pub outcome: Result<T, String>,
    /// What happened, in order.
    pub timeline: Vec<Entry>,
}

/// Runs `simulate` in a thread of its own, for `HashMap` and `getrandom` are only seeded in one that has used neither yet;
/// `within` may choose something for that thread first: a broken twin.
pub(crate) fn alone<T: Send>(
    within: impl FnOnce(&mut dyn FnMut() -> T) -> T + Send,
    simulate: impl Fn(Timeline) -> T + Send,
) -> Run<T> {
    count_panics();
    let lines = Timeline::default();
    let finished = std::thread::scope(|scope| {
        let lines = Timeline::clone(&lines);
        let thread = std::thread::Builder::new()
            .name("simulation".to_owned())
            .stack_size(16 * 1024 * 1024)
            .spawn_scoped(scope, move || {
                within(&mut || simulate(Timeline::clone(&lines)))
            });
        match thread {
            Ok(thread) => thread.join(),
            Err(error) => resume_unwind(Box::new(format!("no thread: {error}"))),
        }
    });
    let outcome = finished.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("panicked: {}", text.unwrap_or("of something"))
    });
    let timeline = lock(&lines).clone();
    Run { outcome, timeline }
}

thread_local! {
    /// Panics on this thread that nobody ordered.
    static PANICS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the panics of each thread. What the hub contains would else go unseen; a trap calls no hook.
fn count_panics() {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |panic| {
            // A thread that is ending has no counter, and no story either.
            let _ = PANICS.try_with(|panics| panics.set(panics.get() + 1));
            hook(panic);
        }));
    });
}

/// Panics on this thread that nobody ordered.
pub(crate) fn panics() -> u64 {
    PANICS.get()
}
