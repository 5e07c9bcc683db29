// SPDX-License-Identifier: GPL-2.0
//! The loop of an agent: take the events, ask the scheduler, park.

use std::sync::atomic::AtomicBool;

use nix::errno::Errno;

use crate::area::Area;
use crate::bridge::Bridge;
use crate::cpus::Cpus;
use crate::out::{Fault, Out};
use crate::protocol::{kind, EventHead, EVENT_WORDS, RECORDS};
use crate::ring::Reader;
use crate::stats::Counters;
use crate::sync::Ordering;
#[cfg(any(saakm_sim, feature = "simulate"))]
use crate::system;
use crate::task::{Event, Task};
use crate::Scheduler;

/// Why the loop has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Somebody wanted it to.
    Stopped,
    /// Another agent takes over.
    Retired,
    /// It cannot go on.
    Broken(Fault),
}

/// An agent without its thread: a simulator may go round with it as well.
pub struct Agent<'a> {
    area: &'a Area,
    bridge: &'a dyn Bridge,
    events: Reader<'a>,
    out: Out<'a>,
    record: Vec<u64>,
    nr_events: u64,
    nr_parks: u64,
}

impl<'a> Agent<'a> {
    /// The agent of a set of CPUs.
    pub fn new(area: &'a Area, bridge: &'a dyn Bridge, cpus: &Cpus) -> Self {
        Agent {
            area,
            bridge,
            events: area.events().reader(),
            out: Out::new(area, bridge, cpus),
            record: vec![0; area.event_words()],
            nr_events: 0,
            nr_parks: 0,
        }
    }

    /// Takes what events there are, and has the scheduler decide.
    pub fn round<S: Scheduler + ?Sized>(&mut self, scheduler: &mut S) -> Result<(), Fault> {
        let trace = tracing::enabled!(tracing::Level::TRACE);
        // Events may come as fast as they go: look at the rest of the world now and then.
        for _ in 0..RECORDS {
            match self.events.pop(&mut self.record) {
                Ok(true) => self.handle(scheduler, trace),
                Ok(false) => break,
                Err(_) => return Err(Fault::Nonsense),
            }
        }
        self.fill(scheduler);
        self.area
            .held()
            .store(scheduler.held() as u32, Ordering::Relaxed);
        self.events.publish();
        self.out.fault.map_or(Ok(()), Err)
    }

    #[inline]
    fn handle<S: Scheduler + ?Sized>(&mut self, scheduler: &mut S, trace: bool) {
        self.nr_events += 1;
        let (head, allowed) = self.record.split_at(EVENT_WORDS);
        // SAFETY: that many words are there, a word is aligned as the event is, and an event
        // is made of numbers, so that any bits are one.
        let head = unsafe { &*head.as_ptr().cast::<EventHead>() };
        let event = Event::new(head, allowed);
        if trace {
            tracing::trace!(
                pid = head.pid,
                kind = head.kind,
                flags = head.flags,
                "event"
            );
        }
        match head.kind {
            kind::READY => scheduler.ready(Task::of(head), &event, &mut self.out),
            kind::CHANGED => scheduler.changed(&event, &mut self.out),
            kind::SLEEPS => scheduler.slept(&event),
            kind::LEFT => scheduler.left(&event),
            // A newer kernel may tell of more.
            _ => (),
        }
    }

    /// One thread for each CPU that idles, and one in any case: the CPU that the agent runs
    /// on does not idle, but it may when the agent parks.
    fn fill<S: Scheduler + ?Sized>(&mut self, scheduler: &mut S) {
        let before = self.out.decided;
        let mut from = 0;
        while let Some(cpu) = self.out.next_idle(from) {
            if scheduler.held() == 0 {
                break;
            }
            let claims = self.out.claims;
            scheduler.pick(Some(cpu), &mut self.out);
            // It may have given another idle CPU to a thread that is at home there.
            from = if self.out.claims == claims {
                cpu + 1
            } else {
                cpu
            };
        }
        if self.out.decided == before && scheduler.held() > 0 {
            scheduler.pick(None, &mut self.out);
        }
        scheduler.settle(&mut self.out);
    }

    /// Goes round until something ends it.
    pub fn serve<S: Scheduler + ?Sized>(
        &mut self,
        scheduler: &mut S,
        stop: &AtomicBool,
        counters: &Counters,
    ) -> End {
        loop {
            if let Err(fault) = self.round(scheduler) {
                return End::Broken(fault);
            }
            if self.area.retire().load(Ordering::Acquire) != 0 {
                return End::Retired;
            }
            self.tell(counters);
            #[cfg(any(saakm_sim, feature = "simulate"))]
            if system::computes(self.nr_events, self.out.decided) {
                return End::Stopped;
            }
            if stop.load(Ordering::Relaxed) {
                return End::Stopped;
            }
            self.nr_parks += 1;
            match self.bridge.park() {
                Ok(()) | Err(Errno::EINTR) => self.parked(),
                Err(errno) => return End::Broken(Fault::Refused(errno)),
            }
        }
    }

    /// To be called after each return of PARK: the kernel knows who is idle again.
    pub fn parked(&mut self) {
        self.out.forget_claims();
    }

    fn tell(&self, counters: &Counters) {
        counters.events.store(self.nr_events, Ordering::Relaxed);
        counters
            .decisions
            .store(self.out.decided, Ordering::Relaxed);
        counters.parks.store(self.nr_parks, Ordering::Relaxed);
        counters.full.store(self.out.full, Ordering::Relaxed);
        let lost = self.area.lost().load(Ordering::Relaxed);
        counters.lost.store(u64::from(lost), Ordering::Relaxed);
        counters.answer();
    }
}
