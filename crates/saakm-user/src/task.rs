// SPDX-License-Identifier: GPL-2.0
//! What a scheduler is told of, and what it answers.

use std::ops::Deref;

use crate::protocol::{why, Decision, EventHead, ANY, PREEMPT, TICKS};

/// A thread that waits for a decision. Whoever dispatches it gives this away, so nobody can
/// dispatch it twice. Dropped, it waits until the kernel has had enough: 100 ms after its CPU had
/// nobody else. A CPU that has others runs it when the agent has decided about nobody for so
/// long: one that goes on deciding may keep it waiting until the policy is ejected for that.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the thread waits until it is dispatched"]
pub struct Task {
    pid: u32,
    generation: u32,
}

impl Task {
    #[inline]
    pub(crate) fn of(head: &EventHead) -> Self {
        Task {
            pid: head.pid,
            generation: head.generation,
        }
    }

    /// Its thread.
    #[inline]
    pub fn pid(&self) -> u32 {
        self.pid
    }
}

/// Where, when and for how long a thread shall run.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    key: u64,
    slice_ns: u64,
    cpu: i32,
    flags: u32,
}

impl Turn {
    /// On the first CPU of the domain that runs dry, of those that the thread may use.
    #[inline]
    pub fn anywhere() -> Self {
        Turn {
            key: 0,
            slice_ns: 0,
            cpu: ANY,
            flags: 0,
        }
    }

    /// On this CPU.
    #[inline]
    pub fn on(cpu: u32) -> Self {
        Turn {
            cpu: cpu as i32,
            ..Turn::anywhere()
        }
    }

    /// Its place in the queue: the least goes first, equals in order of arrival.
    #[inline]
    pub fn key(self, key: u64) -> Self {
        Turn { key, ..self }
    }

    /// For how long, if others wait; 0, as if not called: the kernel's slice.
    #[inline]
    pub fn slice_ns(self, slice_ns: u64) -> Self {
        Turn { slice_ns, ..self }
    }

    /// It takes the CPU from whoever has it there.
    #[inline]
    pub fn preempt(self) -> Self {
        Turn {
            flags: self.flags | PREEMPT,
            ..self
        }
    }

    /// Its slice ends with the first tick at which it is used, as under sched_ext. Without, one that
    /// is shorter than a tick ends exactly, which takes a timer.
    #[inline]
    pub fn ends_with_tick(self) -> Self {
        Turn {
            flags: self.flags | TICKS,
            ..self
        }
    }

    #[inline]
    pub(crate) fn cpu(&self) -> Option<u32> {
        u32::try_from(self.cpu).ok()
    }

    #[inline]
    pub(crate) fn decide(self, task: Task) -> Decision {
        Decision {
            key: self.key,
            slice_ns: self.slice_ns,
            pid: task.pid,
            generation: task.generation,
            cpu: self.cpu,
            flags: self.flags,
        }
    }
}

/// What has happened to a thread: all fields of [`EventHead`], and its affinity.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    head: &'a EventHead,
    /// The CPUs that the thread may use, as a bitmap.
    pub allowed: &'a [u64],
}

impl<'a> Event<'a> {
    #[inline]
    pub(crate) fn new(head: &'a EventHead, allowed: &'a [u64]) -> Self {
        Event { head, allowed }
    }

    /// Whether the kernel tells of the thread for the first time: what is known by its pid is
    /// about another one, which has left unseen.
    #[inline]
    pub fn is_new(&self) -> bool {
        self.head.flags & why::NEW != 0
    }

    /// Whether it slept.
    #[inline]
    pub fn is_woken(&self) -> bool {
        self.head.flags & why::WOKEN != 0
    }

    /// The CPU where it is.
    #[inline]
    pub fn at(&self) -> u32 {
        self.head.cpu.max(0) as u32
    }

    /// The length of its last turn.
    #[inline]
    pub fn last_turn_ns(&self) -> u64 {
        self.head.stop_ns.saturating_sub(self.head.start_ns)
    }
}

impl Deref for Event<'_> {
    type Target = EventHead;

    #[inline]
    fn deref(&self) -> &EventHead {
        self.head
    }
}
