// SPDX-License-Identifier: GPL-2.0
//! What a scheduler is.

use crate::out::Out;
use crate::task::{Event, Task};

/// Decides about the threads of one domain. See the [crate's description](crate) for when
/// what is called.
pub trait Scheduler {
    /// A thread wants a CPU. It waits until its task is dispatched.
    fn ready(&mut self, task: Task, event: &Event, out: &mut Out);

    /// The weight or the affinity of a thread may have changed. If its task is held, it still
    /// is valid.
    fn changed(&mut self, event: &Event, out: &mut Out) {
        let _ = (event, out);
    }

    /// A thread sleeps. Told only if [`Options::tell_sleeps`](crate::Options) is set.
    fn slept(&mut self, event: &Event) {
        let _ = event;
    }

    /// A thread has died or left: the last that is told of it. A task of it that is held is
    /// to be dropped.
    ///
    /// Told to the agent of the CPU where it was last; others that know it learn nothing of it:
    /// [`Threads::forget_ended`](crate::threads::Threads::forget_ended).
    fn left(&mut self, event: &Event) {
        let _ = event;
    }

    /// This CPU has nothing to run; None: one of the domain will have. A scheduler that holds
    /// threads dispatches one that may run there.
    fn pick(&mut self, cpu: Option<u32>, out: &mut Out) {
        let _ = (cpu, out);
    }

    /// All events have been taken, and idle CPUs been cared for; the agent is about to park.
    fn settle(&mut self, out: &mut Out) {
        let _ = out;
    }

    /// How many threads wait that [`pick`](Scheduler::pick) could dispatch. While it is not 0, turns
    /// end with a tick once their slice is used, and the CPU asks again.
    fn held(&self) -> usize {
        0
    }

    /// What a scheduler that takes over shall know.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// What the scheduler has saved that this one takes over from; more than once if that had
    /// smaller domains. It may be of another version, or another scheduler.
    fn load(&mut self, state: &[u8]) {
        let _ = state;
    }
}
