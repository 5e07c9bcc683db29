// SPDX-License-Identifier: GPL-2.0
//! The rules of scx_rustland: virtual deadlines, one queue, one decision per CPU that is free.
//!
//! A thread's clock, its vtime, runs slower the greater its weight. Who has slept is set to at
//! most one slice behind the global clock. The deadline is the vtime plus what the thread has
//! run since it slept, so that short bursts go first. As there, the deadline is the vtime of
//! the next time, and the global clock grows by the sum of all charges.

use saakm_user::cpus::Affinity;
use saakm_user::queues::{Ordered, Ticket};
use saakm_user::threads::Threads;
use saakm_user::{Event, Out, Scheduler, Task, Turn};

/// The weight at nice 0: a thread that has it is charged what it used.
pub const NICE_0: u64 = 1024;
/// No more slices than that count as the length of a burst.
const BURST_SLICES: u64 = 100;

/// What the user may set.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How far behind the global clock a thread may be.
    pub slice_ns: u64,
    /// How long a turn is at nice 0.
    pub slice_min_ns: u64,
    /// Threads stay on the CPU where they are.
    pub percpu_local: bool,
}

/// The charge for some time on a CPU.
#[inline]
pub fn charge(used_ns: u64, weight: u32) -> u64 {
    used_ns.saturating_mul(NICE_0) / u64::from(weight.max(1))
}

/// How long a thread's turn is, which ends with the first tick after that, as scx_rustland's do.
#[inline]
pub fn slice(limits: &Limits, weight: u32) -> u64 {
    let weighted = limits.slice_min_ns.saturating_mul(weight.into()) / NICE_0;
    // Not 0, which would leave it to the kernel.
    weighted.max(1)
}

#[derive(Debug, Default)]
struct Thread {
    vtime: u64,
    weight: u32,
    affinity: Affinity,
    waits: Option<Ticket>,
}

/// A thread in the queue.
#[derive(Debug)]
struct Waiting {
    task: Task,
    cpu: u32,
}

/// The scheduler.
pub struct Rustland {
    limits: Limits,
    now: u64,
    threads: Threads<Thread>,
    queue: Ordered<Waiting>,
}

impl Rustland {
    /// Without threads.
    pub fn new(limits: Limits) -> Self {
        Rustland {
            limits,
            now: 0,
            threads: Threads::with_room(8192),
            queue: Ordered::default(),
        }
    }

    fn dispatch(&mut self, deadline: u64, waiting: Waiting, cpu: Option<u32>, out: &mut Out) {
        let Some(thread) = self.threads.get_mut(waiting.task.pid()) else {
            return;
        };
        thread.waits = None;
        thread.vtime = deadline;
        let prev = waiting.cpu;
        let turn = if self.limits.percpu_local {
            Turn::on(prev)
        } else {
            // The CPU where it was is the best if it idles, also if another one asked.
            let idle = out.take_idle(prev, thread.affinity.words());
            idle.or(cpu).map_or_else(Turn::anywhere, Turn::on)
        };
        let slice = slice(&self.limits, thread.weight);
        let turn = turn.key(deadline).slice_ns(slice).ends_with_tick();
        out.dispatch(waiting.task, turn);
    }
}

impl Scheduler for Rustland {
    fn ready(&mut self, task: Task, event: &Event, out: &mut Out) {
        if event.is_new() {
            // Another one may have had its pid.
            self.left(event);
        }
        self.threads.forget_ended(|thread| thread.waits.is_none());
        let thread = self.threads.entry(task.pid());
        // The kernel ran it when this scheduler took too long: that wait is over.
        if let Some(ticket) = thread.waits.take() {
            self.queue.remove(ticket);
        }
        thread.weight = event.weight;
        thread
            .affinity
            .update(event.nr_allowed, out.nr_cpus(), event.allowed);
        let floor = self.now.saturating_sub(self.limits.slice_ns);
        thread.vtime = match thread.vtime {
            0 => self.now,
            vtime => vtime.max(floor),
        };
        let charge = charge(event.last_turn_ns(), event.weight);
        thread.vtime = thread.vtime.saturating_add(charge);
        self.now = self.now.saturating_add(charge);
        let longest = self.limits.slice_ns.saturating_mul(BURST_SLICES);
        let burst = event.exec_ns.min(longest);
        let cpu = event.at();
        let deadline = thread.vtime.saturating_add(burst);
        let ticket = self.queue.push(deadline, Waiting { task, cpu });
        thread.waits = Some(ticket);
    }

    fn changed(&mut self, event: &Event, out: &mut Out) {
        if let Some(thread) = self.threads.get_mut(event.pid) {
            thread.weight = event.weight;
            thread
                .affinity
                .update(event.nr_allowed, out.nr_cpus(), event.allowed);
        }
    }

    fn left(&mut self, event: &Event) {
        let thread = self.threads.remove(event.pid);
        if let Some(ticket) = thread.and_then(|thread| thread.waits) {
            self.queue.remove(ticket);
        }
    }

    fn pick(&mut self, cpu: Option<u32>, out: &mut Out) {
        let threads = &self.threads;
        let local = self.limits.percpu_local;
        let fits = |waiting: &Waiting| match cpu {
            None => true,
            Some(cpu) if local => waiting.cpu == cpu,
            Some(cpu) => threads
                .get(waiting.task.pid())
                .is_some_and(|thread| thread.affinity.allows(cpu)),
        };
        if let Some((deadline, waiting)) = self.queue.pop_if(fits) {
            self.dispatch(deadline, waiting, cpu, out);
        }
    }

    fn held(&self) -> usize {
        self.queue.len()
    }

    fn save(&self) -> Vec<u8> {
        clocks::save(
            self.now,
            self.threads.iter().map(|(pid, it)| (pid, it.vtime)),
        )
    }

    fn load(&mut self, state: &[u8]) {
        for (pid, vtime) in clocks::load(state, &mut self.now) {
            self.threads.entry(pid).vtime = vtime;
        }
    }
}

/// Clocks as one scheduler leaves them to the next.
pub mod clocks {
    const MAGIC: u64 = u64::from_le_bytes(*b"vclocks1");

    /// The global clock, and each thread's.
    pub fn save(now: u64, threads: impl Iterator<Item = (u32, u64)>) -> Vec<u8> {
        let threads = threads.flat_map(|(pid, vtime)| [u64::from(pid), vtime]);
        let words = [MAGIC, now].into_iter().chain(threads);
        words.flat_map(u64::to_le_bytes).collect()
    }

    /// Sets the global clock, and returns the others. Nothing, if the state is not of these.
    pub fn load<'a>(state: &'a [u8], now: &mut u64) -> impl Iterator<Item = (u32, u64)> + 'a {
        let mut words = state
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
        let is_ours = words.next() == Some(MAGIC);
        if let Some(their_now) = words.next().filter(|_| is_ours) {
            *now = (*now).max(their_now);
        }
        std::iter::from_fn(move || Some((words.next()?, words.next()?)))
            .take_while(move |_| is_ours)
            .map(|(pid, vtime)| (pid as u32, vtime))
    }
}
