// SPDX-License-Identifier: GPL-2.0
//! Where decisions go.

use nix::errno::Errno;

use crate::area::Area;
use crate::bridge::Bridge;
use crate::cpus::{self, Cpus};
use crate::ring::Writer;
use crate::sync::{AtomicU64, Ordering};
use crate::task::{Task, Turn};

/// Why an agent cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The kernel refuses to talk to it.
    Refused(Errno),
    /// The shared memory holds what cannot be.
    Nonsense,
}

/// Takes decisions, and knows which CPUs idle.
pub struct Out<'a> {
    decisions: Writer<'a>,
    bridge: &'a dyn Bridge,
    idle: &'a [AtomicU64],
    domain: Vec<u64>,
    /// The idle CPUs that got a thread since the agent parked; the kernel does not know yet.
    claimed: Vec<u64>,
    nr_cpus: u32,
    pub(crate) fault: Option<Fault>,
    pub(crate) decided: u64,
    /// How often an idle CPU got a thread.
    pub(crate) claims: u64,
    pub(crate) full: u64,
}

impl<'a> Out<'a> {
    pub(crate) fn new(area: &'a Area, bridge: &'a dyn Bridge, cpus: &Cpus) -> Self {
        let idle = area.idle();
        let mut domain = cpus.words().to_vec();
        domain.resize(idle.len(), 0);
        Out {
            decisions: area.decisions().writer(),
            bridge,
            idle,
            claimed: vec![0; domain.len()],
            domain,
            nr_cpus: area.nr_cpus(),
            fault: None,
            decided: 0,
            claims: 0,
            full: 0,
        }
    }

    /// Has a thread run.
    #[inline]
    pub fn dispatch(&mut self, task: Task, turn: Turn) {
        if let Some(cpu) = turn.cpu() {
            self.claim(cpu);
        }
        self.decided += 1;
        let record = turn.decide(task).to_words();
        match self.decisions.push(&record) {
            Ok(true) => (),
            Ok(false) => self.make_room(&record),
            Err(_) => self.fault = Some(Fault::Nonsense),
        }
    }

    /// The kernel carries out what is there, which empties the ring.
    #[cold]
    fn make_room(&mut self, record: &[u64]) {
        self.full += 1;
        let submitted = match self.bridge.submit() {
            Err(Errno::EINTR) => self.bridge.submit(),
            result => result,
        };
        let fault = match submitted.map(|()| self.decisions.push(record)) {
            Ok(Ok(true)) => return,
            Ok(_) => Fault::Nonsense,
            Err(errno) => Fault::Refused(errno),
        };
        self.fault.get_or_insert(fault);
    }

    #[inline]
    fn claim(&mut self, cpu: u32) {
        let bit = 1 << (cpu % 64);
        if let Some(word) = self.claimed.get_mut(cpu as usize / 64) {
            self.claims += u64::from(*word & bit == 0);
            *word |= bit;
        }
    }

    /// CPUs of the word at `index` that idle and have not been given a thread.
    #[inline]
    fn idle_word(&self, index: usize) -> u64 {
        self.idle[index].load(Ordering::Relaxed) & self.domain[index] & !self.claimed[index]
    }

    /// An idle CPU that a thread may use (None: it may use all), best `near`. The CPU counts
    /// as taken from now on.
    #[inline]
    pub fn take_idle(&mut self, near: u32, allowed: Option<&[u64]>) -> Option<u32> {
        let count = self.idle.len();
        let first = near as usize / 64 % count.max(1);
        for step in 0..count {
            let index = (first + step) % count;
            let mut word = self.idle_word(index);
            if let Some(allowed) = allowed {
                word &= allowed.get(index).copied().unwrap_or(0);
            }
            if word == 0 {
                continue;
            }
            let bit = if step == 0 && cpus::has(&[word], near % 64) {
                near % 64
            } else {
                word.trailing_zeros()
            };
            let cpu = index as u32 * 64 + bit;
            self.claim(cpu);
            return Some(cpu);
        }
        None
    }

    /// The idle CPU of the domain with the least number not below `from`; it is not taken.
    #[inline]
    pub fn next_idle(&self, from: u32) -> Option<u32> {
        let first = from as usize / 64;
        (first..self.idle.len()).find_map(|index| {
            let above = if index == first {
                !0 << (from % 64)
            } else {
                !0
            };
            let word = self.idle_word(index) & above;
            (word != 0).then(|| index as u32 * 64 + word.trailing_zeros())
        })
    }

    /// Whether a CPU is one of the domain's.
    #[inline]
    pub fn owns(&self, cpu: u32) -> bool {
        cpus::has(&self.domain, cpu)
    }

    /// CPUs of the machine have lesser numbers.
    #[inline]
    pub fn nr_cpus(&self) -> u32 {
        self.nr_cpus
    }

    pub(crate) fn forget_claims(&mut self) {
        self.claimed.fill(0);
    }
}
