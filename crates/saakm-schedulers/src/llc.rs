// SPDX-License-Identifier: GPL-2.0
//! rustland for larger machines: an agent with a queue for each cache, which steals from the
//! nearest others when it has nothing.
//!
//! Each domain has a clock. It is the average of its threads' clocks by weight: time used is
//! divided by the weight of all who want the domain's CPUs. rustland's clock grows by the sum,
//! so that with many threads its floor overtakes them, and weights count for little. A thread
//! that changes domains keeps its distance to the clock. And its deadline is not its next
//! vtime: an average does not run after what is added for long bursts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use saakm_user::cpus::Affinity;
use saakm_user::domains::Domain;
use saakm_user::queues::{Queues, Ticket};
use saakm_user::threads::Threads;
use saakm_user::{Event, Out, Place, Scheduler, Task, Turn};

use crate::rustland::{charge, clocks, slice, Limits};

/// Agents meet at a thread only when it changes domains, or by chance.
const SHARDS: usize = 64;
const BURST_SLICES: u64 = 100;
/// Clocks start here, so that a thread behind them has a number too.
const EPOCH: u64 = 1 << 40;

#[derive(Debug, Default)]
struct Thread {
    vtime: u64,
    /// Which clock that is by; None: the thread is new.
    domain: Option<usize>,
    weight: u32,
    /// It counts among those who want the domain's CPUs.
    is_active: bool,
    affinity: Affinity,
    waits: Option<(usize, Ticket)>,
}

#[derive(Debug)]
struct Waiting {
    task: Task,
    cpu: u32,
    weight: u32,
    affinity: Affinity,
}

/// Only a domain's own agent turns its clock; any may change the weight.
#[repr(align(128))]
#[derive(Debug)]
struct Clock {
    now: AtomicU64,
    weight: AtomicU64,
}

/// The place by one clock that is as far from it as this vtime is from another. Who is behind by
/// more than the clock has gone is at 0, not far ahead.
fn moved(vtime: u64, from: u64, to: u64) -> u64 {
    if vtime >= from {
        to.saturating_add(vtime - from)
    } else {
        to.saturating_sub(from - vtime)
    }
}

/// What the agents of a process share.
pub struct Shared {
    clocks: Vec<Clock>,
    queues: Queues<Waiting>,
    shards: Vec<Mutex<Threads<Thread>>>,
}

impl Shared {
    /// For so many domains, or more.
    pub fn new(domains: usize) -> Self {
        let clock = |_| Clock {
            now: AtomicU64::new(EPOCH),
            weight: AtomicU64::new(0),
        };
        let shard = |_| Mutex::new(Threads::with_room(256));
        Shared {
            clocks: (0..domains).map(clock).collect(),
            queues: Queues::new(domains),
            shards: (0..SHARDS).map(shard).collect(),
        }
    }

    fn shard(&self, pid: u32) -> MutexGuard<'_, Threads<Thread>> {
        let shard = self.shards[pid as usize % SHARDS].lock();
        shard.unwrap_or_else(|error| error.into_inner())
    }

    fn now(&self, domain: usize) -> u64 {
        self.clocks[domain].now.load(Ordering::Relaxed)
    }

    /// The thread no longer wants a CPU of its domain.
    fn rest(&self, thread: &mut Thread) {
        if let Some(domain) = thread.domain.filter(|_| thread.is_active) {
            let weight = &self.clocks[domain].weight;
            weight.fetch_sub(thread.weight.into(), Ordering::Relaxed);
        }
        thread.is_active = false;
    }

    /// Whether a thread that has ended unseen is to be forgotten. It no longer counts then.
    fn forgets(&self, thread: &mut Thread) -> bool {
        if thread.waits.is_none() {
            self.rest(thread);
        }
        thread.waits.is_none()
    }

    /// The thread wants a CPU of this domain, whose clock its vtime is by from now on.
    fn want(&self, thread: &mut Thread, domain: usize, weight: u32) {
        self.rest(thread);
        let now = self.now(domain);
        thread.vtime = match thread.domain {
            None => now,
            Some(old) => moved(thread.vtime, self.now(old), now),
        };
        thread.domain = Some(domain);
        thread.weight = weight;
        thread.is_active = true;
        self.clocks[domain]
            .weight
            .fetch_add(weight.into(), Ordering::Relaxed);
    }

    /// The clock of a domain goes on by what one of its threads has used.
    fn turn(&self, domain: usize, used_ns: u64) {
        let clock = &self.clocks[domain];
        let weight = clock.weight.load(Ordering::Relaxed);
        let weight = u32::try_from(weight).unwrap_or(u32::MAX);
        clock.now.store(
            self.now(domain).saturating_add(charge(used_ns, weight)),
            Ordering::Relaxed,
        );
    }
}

/// The scheduler of a domain.
pub struct Llc {
    limits: Limits,
    shared: Arc<Shared>,
    domain: Domain,
    /// After so many arrivals, what other domains had did not fit here.
    vain: Option<usize>,
}

impl Llc {
    /// The scheduler of this place, one of those that share.
    pub fn new(limits: Limits, shared: &Arc<Shared>, place: &Place) -> Self {
        shared.queues.register(place);
        Llc::of(limits, shared, place.domain.clone())
    }

    /// The scheduler of a domain whose neighbours cannot wake it.
    pub fn of(limits: Limits, shared: &Arc<Shared>, domain: Domain) -> Self {
        Llc {
            limits,
            shared: shared.clone(),
            domain,
            vain: None,
        }
    }

    /// The first of its own, or else one of the nearest others.
    fn first(&self, cpu: Option<u32>, out: &Out) -> Option<(u64, Waiting, bool)> {
        let queues = &self.shared.queues;
        let fits = |waiting: &Waiting| cpu.is_none_or(|cpu| waiting.affinity.allows(cpu));
        if let Some((deadline, waiting)) = queues.pop_if(self.domain.number, fits) {
            return Some((deadline, waiting, false));
        }
        let fits = |waiting: &Waiting| match cpu {
            Some(cpu) => waiting.affinity.allows(cpu),
            None => self
                .domain
                .cpus
                .iter()
                .any(|cpu| waiting.affinity.allows(cpu)),
        };
        let (_, waiting) = queues.steal(&self.domain, fits)?;
        debug_assert!(cpu.is_none_or(|cpu| out.owns(cpu)));
        Some((self.shared.now(self.domain.number), waiting, true))
    }
}

impl Scheduler for Llc {
    fn ready(&mut self, task: Task, event: &Event, out: &mut Out) {
        if event.is_new() {
            // Another one may have had its pid.
            self.left(event);
        }
        let (shared, number) = (&*self.shared, self.domain.number);
        let mut shard = shared.shard(task.pid());
        shard.forget_ended(|thread| shared.forgets(thread));
        let thread = shard.entry(task.pid());
        if let Some((domain, ticket)) = thread.waits.take() {
            shared.queues.remove(domain, ticket);
        }
        thread
            .affinity
            .update(event.nr_allowed, out.nr_cpus(), event.allowed);
        shared.want(thread, number, event.weight);
        let floor = shared.now(number).saturating_sub(self.limits.slice_ns);
        let charged = charge(event.used_ns, event.weight);
        thread.vtime = thread.vtime.max(floor).saturating_add(charged);
        shared.turn(number, event.used_ns);
        let longest = self.limits.slice_ns.saturating_mul(BURST_SLICES);
        let burst = event.exec_ns.min(longest);
        let deadline = thread.vtime.saturating_add(charge(burst, event.weight));
        let waiting = Waiting {
            task,
            cpu: event.at(),
            weight: event.weight,
            affinity: thread.affinity.clone(),
        };
        thread.waits = Some((number, shared.queues.push(number, deadline, waiting)));
    }

    fn changed(&mut self, event: &Event, out: &mut Out) {
        let shared = &*self.shared;
        if let Some(thread) = shared.shard(event.pid).get_mut(event.pid) {
            thread
                .affinity
                .update(event.nr_allowed, out.nr_cpus(), event.allowed);
            if let Some(domain) = thread.domain.filter(|_| thread.is_active) {
                shared.want(thread, domain, event.weight);
            }
        }
    }

    fn slept(&mut self, event: &Event) {
        if let Some(thread) = self.shared.shard(event.pid).get_mut(event.pid) {
            self.shared.rest(thread);
        }
    }

    fn left(&mut self, event: &Event) {
        let Some(mut thread) = self.shared.shard(event.pid).remove(event.pid) else {
            return;
        };
        self.shared.rest(&mut thread);
        if let Some((domain, ticket)) = thread.waits {
            self.shared.queues.remove(domain, ticket);
        }
    }

    fn pick(&mut self, cpu: Option<u32>, out: &mut Out) {
        let arrivals = self.shared.queues.arrivals();
        let Some((deadline, waiting, stolen)) = self.first(cpu, out) else {
            self.vain = Some(arrivals);
            return;
        };
        if let Some(thread) = self
            .shared
            .shard(waiting.task.pid())
            .get_mut(waiting.task.pid())
        {
            thread.waits = None;
        }
        // A thread that comes from elsewhere is at home on none of these CPUs.
        let near = if stolen {
            cpu.unwrap_or(waiting.cpu)
        } else {
            waiting.cpu
        };
        let idle = out.take_idle(near, waiting.affinity.words());
        let turn = idle.or(cpu).map_or_else(Turn::anywhere, Turn::on);
        let slice = slice(&self.limits, waiting.weight);
        let turn = turn.key(deadline).slice_ns(slice).ends_with_tick();
        out.dispatch(waiting.task, turn);
    }

    fn settle(&mut self, out: &mut Out) {
        if out.next_idle(0).is_none() {
            self.shared.queues.call_for_help(&self.domain);
        }
    }

    fn held(&self) -> usize {
        let queues = &self.shared.queues;
        match self.vain {
            Some(arrivals) if arrivals == queues.arrivals() => queues.len(self.domain.number),
            _ => queues.total(),
        }
    }

    fn save(&self) -> Vec<u8> {
        let mut all = Vec::new();
        let number = self.domain.number;
        for shard in &self.shared.shards {
            let shard = shard.lock().unwrap_or_else(|error| error.into_inner());
            let ours = shard.iter().filter(|(_, it)| it.domain == Some(number));
            all.extend(ours.map(|(pid, thread)| (pid, thread.vtime)));
        }
        clocks::save(self.shared.now(number), all.into_iter())
    }

    fn load(&mut self, state: &[u8]) {
        let number = self.domain.number;
        let mut now = EPOCH;
        let loaded: Vec<(u32, u64)> = clocks::load(state, &mut now).collect();
        let ours = self.shared.now(number);
        for (pid, vtime) in loaded {
            let mut shard = self.shared.shard(pid);
            let thread = shard.entry(pid);
            // Another agent of this process may have met it meanwhile, and its weight counts there.
            if thread.domain.is_none() {
                thread.domain = Some(number);
                thread.vtime = moved(vtime, now, ours);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rustland::clocks;

    #[test]
    fn who_slept_longer_than_the_other_clock_went_is_not_ahead_of_it() {
        let shared = Shared::new(2);
        let mut thread = Thread::default();
        shared.want(&mut thread, 0, 1024);
        shared.rest(&mut thread);
        shared.clocks[0].now.store(3 * EPOCH, Ordering::Relaxed);
        shared.want(&mut thread, 1, 1024);
        assert_eq!(thread.vtime, 0);
        assert_eq!(moved(7, 5, 100), 102);
        assert_eq!(moved(5, 7, 100), 98);
    }

    #[test]
    fn who_ended_unseen_has_no_weight() {
        let shared = Shared::new(1);
        let mut threads: Threads<Thread> = Threads::with_room(1);
        shared.want(threads.entry(1 << 30), 0, 1024); // beyond the greatest pid
        threads.forget_ended(|thread| shared.forgets(thread));
        let weight = shared.clocks[0].weight.load(Ordering::Relaxed);
        assert_eq!((threads.len(), weight), (0, 0));
    }

    #[test]
    fn a_state_leaves_alone_who_is_known() {
        let shared = Arc::new(Shared::new(2));
        let domain = Domain {
            number: 1,
            cpus: [1].into_iter().collect(),
            others: vec![0],
        };
        let limits = Limits {
            slice_ns: 1,
            slice_min_ns: 1,
            percpu_local: false,
        };
        let mut llc = Llc::of(limits, &shared, domain);
        shared.want(shared.shard(7).entry(7), 0, 1024);
        llc.load(&clocks::save(EPOCH, [(7, EPOCH), (8, EPOCH)].into_iter()));
        for pid in [7, 8] {
            shared.rest(shared.shard(pid).entry(pid));
        }
        let weight = |domain: usize| shared.clocks[domain].weight.load(Ordering::Relaxed);
        assert_eq!((weight(0), weight(1)), (0, 0));
        assert_eq!(shared.shard(8).entry(8).domain, Some(1));
    }
}
