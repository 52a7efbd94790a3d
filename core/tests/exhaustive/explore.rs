//! Walks every state of a small world, breadth first, so that a failure comes with its shortest story.
//!
//! Machines cannot be copied (a permit is one of a kind), so a state is reached by its events from the
//! beginning; that also makes every step a check that the same inputs lead to the same state (D9).

use std::any::Any;
use std::collections::{BTreeSet, VecDeque};
use std::fmt::{Debug, Display, Formatter};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::AddAssign;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Something small enough to be walked through.
pub(crate) trait World {
    type State;
    type Event: Copy + Debug;

    /// The beginning.
    fn start(&self) -> Result<Self::State, String>;

    /// All that can happen next; nothing when it is over.
    fn events(&self, state: &Self::State) -> Vec<Self::Event>;

    /// Lets it happen, and says which rule that broke.
    fn take(&self, state: &mut Self::State, event: Self::Event) -> Result<(), String>;

    /// Says which rule is broken where it stands now.
    fn look(&self, state: &mut Self::State) -> Result<(), String>;

    /// The same for two states from which the same follows.
    fn canon(&self, state: &Self::State) -> u64;

    /// Another event that must lead to the same state.
    fn mirror(&self, _event: Self::Event) -> Option<Self::Event> {
        None
    }
}

/// How much there was to walk through.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Size {
    pub(crate) states: usize,
    pub(crate) transitions: usize,
    /// States in which it is over.
    pub(crate) endings: usize,
    /// Events on the longest of the shortest ways.
    pub(crate) depth: usize,
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        self.states += other.states;
        self.transitions += other.transitions;
        self.endings += other.endings;
        self.depth = self.depth.max(other.depth);
    }
}

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Size {
            states,
            transitions,
            endings,
            depth,
        } = self;
        write!(
            f,
            "{states} states, {transitions} transitions, {endings} endings, at most {depth} steps deep"
        )
    }
}

/// A world with more states than this never ends: something in it does not.
const MOST_STATES: usize = 1_000_000;

/// A rule that does not hold.
pub(crate) struct Broken {
    /// In so many steps or cases, this one included.
    pub(crate) after: usize,
    /// Which, and how to come there.
    pub(crate) story: String,
}

impl Display for Broken {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "step or case {}: {}", self.after, self.story)
    }
}

/// The hash of a state.
pub(crate) fn digest(state: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}

/// Walks through all of it.
///
/// # Errors
/// The shortest story that breaks a rule.
pub(crate) fn explore<W: World>(world: &W) -> Result<Size, Broken> {
    let mut size = Size::default();
    walk(world, &mut size).map_err(|story| Broken {
        after: size.transitions,
        story,
    })?;
    Ok(size)
}

fn walk<W: World>(world: &W, size: &mut Size) -> Result<(), String> {
    let first = reach(world, &[])?;
    size.states = 1;
    let mut seen = BTreeSet::from([world.canon(&first)]);
    let mut ahead = VecDeque::from([(Vec::new(), world.events(&first))]);
    while let Some((path, events)) = ahead.pop_front() {
        size.depth = path.len();
        size.endings += usize::from(events.is_empty());
        for event in events {
            size.transitions += 1;
            let mut path = path.clone();
            path.push(event);
            let state = reach(world, &path)?;
            let canon = world.canon(&state);
            if let Some(other) = world.mirror(event) {
                let mut mirrored = path.clone();
                *mirrored.last_mut().expect("an event") = other;
                let mirrored = reach(world, &mirrored)?;
                if world.canon(&mirrored) != canon {
                    return Err(story(&path, &format!("D9: another state by {other:?}")));
                }
            }
            if seen.insert(canon) {
                size.states += 1;
                ahead.push_back((path, world.events(&state)));
            }
        }
        if size.states > MOST_STATES {
            return Err(story(&path, "there is no end of states"));
        }
    }
    Ok(())
}

/// The state at the end of `path`.
fn reach<W: World>(world: &W, path: &[W::Event]) -> Result<W::State, String> {
    let walked = quietly(|| {
        let mut state = world.start()?;
        for event in path {
            world.take(&mut state, *event)?;
        }
        world.look(&mut state)?;
        Ok(state)
    });
    walked.map_err(|why| story(path, &why))
}

fn story(path: &[impl Debug], why: &str) -> String {
    let steps: Vec<String> = path.iter().map(|event| format!("{event:?}")).collect();
    format!("{why}\n    after {}", steps.join(", "))
}

/// What is checked, with an assertion of the machine's own as one more finding.
pub(crate) fn quietly<T>(check: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| Err(words(&*panic)))
}

/// What a panic says.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without words".to_owned())
}
