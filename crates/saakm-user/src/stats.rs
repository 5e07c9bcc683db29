// SPDX-License-Identifier: GPL-2.0
//! What an agent has done.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Written by the agent, read by who prints them.
#[derive(Debug, Default)]
pub struct Counters {
    /// Events taken.
    pub events: AtomicU64,
    /// Decisions written.
    pub decisions: AtomicU64,
    /// How often it parked.
    pub parks: AtomicU64,
    /// How often there was no room for a decision.
    pub full: AtomicU64,
    /// Events that the kernel did not write, since the ring was full: see
    /// [`Page::lost`](crate::protocol::Page::lost).
    pub lost: AtomicU64,
    /// Page faults since it began to schedule: there should be none.
    pub faults: AtomicU64,
    faults_before: AtomicU64,
    asked: AtomicBool,
}

impl Counters {
    /// What was before does not count.
    pub(crate) fn begin(&self) {
        self.faults_before.store(page_faults(), Ordering::Relaxed);
    }

    /// Has the agent count its page faults, which takes a system call.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn answer(&self) {
        if self.asked.load(Ordering::Relaxed) {
            self.count_faults();
        }
    }

    #[cold]
    pub(crate) fn count_faults(&self) {
        self.asked.store(false, Ordering::Relaxed);
        let faults = page_faults() - self.faults_before.load(Ordering::Relaxed);
        self.faults.store(faults, Ordering::Relaxed);
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        write!(
            f,
            "events {} decisions {} parks {} full {} lost {} faults {}",
            get(&self.events),
            get(&self.decisions),
            get(&self.parks),
            get(&self.full),
            get(&self.lost),
            get(&self.faults)
        )
    }
}

/// Of the calling thread so far.
pub fn page_faults() -> u64 {
    // SAFETY: zeros are a rusage, and the kernel writes one.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    };
    (usage.ru_minflt + usage.ru_majflt) as u64
}
