// SPDX-License-Identifier: GPL-2.0
//! A kernel of memory: a model of a machine whose threads run as a scheduler decides.
//!
//! Time is virtual and passes only while threads run or sleep, so each run is the same. The
//! kernel's fast path is off: each wait is the scheduler's to decide about.

use std::cell::RefCell;
use std::collections::BTreeMap;

use nix::errno::Errno;

use crate::agent::Agent;
use crate::area::Area;
use crate::bridge::Bridge;
use crate::cpus::Cpus;
use crate::protocol::{kind, why, Decision, EventHead, DECISION_WORDS, EVENT_WORDS};
use crate::ring::{Reader, Writer};
use crate::sync::Ordering;
use crate::Scheduler;

/// How long a turn is when a decision does not say.
const SLICE_NS: u64 = 3_000_000;

/// A thread to be: it sleeps and runs in turn, and then ends.
#[derive(Debug, Clone)]
pub struct Thread {
    /// Its pid, which no other one has.
    pub pid: u32,
    /// 1024 at nice 0.
    pub weight: u32,
    /// The CPUs that it may use.
    pub allowed: Cpus,
    /// How long it sleeps before, and how long it runs.
    pub bursts: Vec<(u64, u64)>,
}

/// A turn that a thread had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ran {
    /// Who.
    pub pid: u32,
    /// Where.
    pub cpu: u32,
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub stop_ns: u64,
}

/// What has happened.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// All turns, in the order of their ends.
    pub turns: Vec<Ran>,
    /// Events READY.
    pub waits: u64,
    /// Decisions about threads that did not wait for one.
    pub stale: u64,
    /// Decisions that sent a thread where it may not run.
    pub bounced: u64,
    /// Threads that were left to wait when nothing else could happen: a scheduler has lost
    /// them.
    pub lost: Vec<u32>,
}

impl Report {
    /// How long a thread has run before a time.
    pub fn ran_ns(&self, pid: u32, before: u64) -> u64 {
        let turns = self.turns.iter().filter(|turn| turn.pid == pid);
        turns
            .map(|turn| turn.stop_ns.min(before).saturating_sub(turn.start_ns))
            .sum()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Asleep { until: u64 },
    Waits,
    Queued,
    Runs { since: u64, until: u64 },
    Gone,
}

struct State {
    thread: Thread,
    place: Place,
    cpu: u32,
    burst: usize,
    left_ns: u64,
    generation: u32,
    last: (u64, u64),
    used_ns: u64,
    exec_ns: u64,
    is_known: bool,
}

type Queue = BTreeMap<(u64, u64), (u32, u64)>;

struct Inner<'a> {
    area: &'a Area,
    events: Writer<'a>,
    decisions: Reader<'a>,
    now: u64,
    threads: BTreeMap<u32, State>,
    running: Vec<Option<u32>>,
    queues: Vec<Queue>,
    anywhere: Queue,
    arrivals: u64,
    report: Report,
}

/// The machine, and the kernel's side of an area.
pub struct Machine<'a> {
    inner: RefCell<Inner<'a>>,
}

impl<'a> Machine<'a> {
    /// As many CPUs as the area has.
    pub fn new(area: &'a Area, threads: impl IntoIterator<Item = Thread>) -> Self {
        let cpus = area.nr_cpus() as usize;
        let threads = threads
            .into_iter()
            .map(|thread| (thread.pid, State::new(thread)));
        Machine {
            inner: RefCell::new(Inner {
                area,
                events: area.events().writer(),
                decisions: area.decisions().reader(),
                now: 1_000_000_000,
                threads: threads.collect(),
                running: vec![None; cpus],
                queues: vec![Queue::new(); cpus],
                anywhere: Queue::new(),
                arrivals: 0,
                report: Report::default(),
            }),
        }
    }

    /// Runs all threads to their ends.
    pub fn run<S: Scheduler + ?Sized>(&self, scheduler: &mut S) -> Report {
        let area = self.inner.borrow().area;
        let cpus = Cpus::from_iter(0..area.nr_cpus());
        let mut agent = Agent::new(area, self, &cpus);
        loop {
            agent.round(scheduler).expect("a kernel that does not lie");
            if self.park().is_err() {
                return self.inner.borrow().report.clone();
            }
            agent.parked();
        }
    }
}

impl Bridge for Machine<'_> {
    /// ESRCH: all threads have ended, or none ever will.
    fn park(&self) -> Result<(), Errno> {
        let mut inner = self.inner.borrow_mut();
        let mut got = inner.carry_out();
        loop {
            inner.start();
            let held = inner.area.held().load(Ordering::Relaxed);
            // Nothing comes of asking once more who has just been asked.
            if held > 0 && got && inner.running.contains(&None) {
                return Ok(());
            }
            got = false;
            let before = inner.events.count();
            if !inner.advance() {
                return Err(Errno::ESRCH);
            }
            if inner.events.count() != before {
                inner.start();
                return Ok(());
            }
        }
    }

    fn submit(&self) -> Result<(), Errno> {
        self.inner.borrow_mut().carry_out();
        Ok(())
    }

    fn save(&self, _state: &[u8]) -> Result<(), Errno> {
        Err(Errno::ENODATA)
    }

    fn load(&self) -> Result<Vec<u8>, Errno> {
        Err(Errno::ENODATA)
    }
}

impl State {
    fn new(thread: Thread) -> Self {
        let until = 1_000_000_000 + thread.bursts.first().map_or(0, |burst| burst.0);
        let cpu = thread.allowed.iter().next();
        State {
            cpu: cpu.expect("a CPU to run on"),
            place: Place::Asleep { until },
            burst: 0,
            left_ns: thread.bursts.first().map_or(0, |burst| burst.1),
            generation: thread.pid.wrapping_mul(77),
            last: (0, 0),
            used_ns: 0,
            exec_ns: 0,
            is_known: false,
            thread,
        }
    }

    /// When something happens to it by itself.
    fn next_ns(&self) -> Option<u64> {
        match self.place {
            Place::Asleep { until } | Place::Runs { until, .. } => Some(until),
            _ => None,
        }
    }
}

impl Inner<'_> {
    /// True: there were decisions.
    fn carry_out(&mut self) -> bool {
        let mut words = [0; DECISION_WORDS];
        let mut any = false;
        while self
            .decisions
            .pop(&mut words)
            .expect("an agent that does not lie")
        {
            any = true;
            let decision = Decision::from_words(&words);
            let waits = |state: &&mut State| {
                state.place == Place::Waits && state.generation == decision.generation
            };
            let Some(state) = self.threads.get_mut(&decision.pid).filter(waits) else {
                self.report.stale += 1;
                continue;
            };
            state.place = Place::Queued;
            self.arrivals += 1;
            let slice = match decision.slice_ns {
                0 => SLICE_NS,
                slice => slice,
            };
            let queue = match u32::try_from(decision.cpu) {
                Err(_) => &mut self.anywhere,
                Ok(cpu) if state.thread.allowed.contains(cpu) => &mut self.queues[cpu as usize],
                Ok(_) => {
                    self.report.bounced += 1;
                    &mut self.queues[state.cpu as usize]
                }
            };
            queue.insert((decision.key, self.arrivals), (decision.pid, slice));
        }
        any
    }

    /// Gives CPUs to those who are queued.
    fn start(&mut self) {
        for cpu in 0..self.running.len() {
            if self.running[cpu].is_none() {
                self.start_on(cpu);
            }
        }
        for (index, word) in self.area.idle().iter().enumerate() {
            let cpus = self.running.iter().skip(index * 64).take(64).enumerate();
            let idle = cpus.filter(|(_, running)| running.is_none());
            word.store(idle.map(|(bit, _)| 1 << bit).sum(), Ordering::Relaxed);
        }
    }

    fn start_on(&mut self, cpu: usize) {
        let threads = &self.threads;
        let own = self.queues[cpu].pop_first();
        let next = own.or_else(|| {
            let may = |pid: &u32| threads[pid].thread.allowed.contains(cpu as u32);
            let first = self.anywhere.iter().find(|(_, (pid, _))| may(pid));
            let place = *first?.0;
            self.anywhere.remove_entry(&place)
        });
        let Some((_, (pid, slice))) = next else {
            return;
        };
        let state = self.threads.get_mut(&pid).expect("who was queued");
        state.cpu = cpu as u32;
        state.place = Place::Runs {
            since: self.now,
            until: self.now + slice.min(state.left_ns),
        };
        self.running[cpu] = Some(pid);
    }

    /// Time passes until something happens. False: nothing will.
    fn advance(&mut self) -> bool {
        let Some(next) = self.threads.values().filter_map(State::next_ns).min() else {
            let waiting = self
                .threads
                .values()
                .filter(|state| state.place != Place::Gone);
            self.report.lost = waiting.map(|state| state.thread.pid).collect();
            return false;
        };
        self.now = next;
        let due = |state: &&State| state.next_ns() == Some(next);
        let due: Vec<u32> = self
            .threads
            .values()
            .filter(due)
            .map(|it| it.thread.pid)
            .collect();
        for pid in due {
            let mut state = self.threads.remove(&pid).expect("who is due");
            match state.place {
                Place::Runs { since, .. } => self.stop(&mut state, since),
                _ => {
                    state.exec_ns = 0;
                    self.wants(&mut state, why::WOKEN);
                }
            }
            self.threads.insert(pid, state);
        }
        true
    }

    fn stop(&mut self, state: &mut State, since: u64) {
        let ran = self.now - since;
        self.running[state.cpu as usize] = None;
        self.report.turns.push(Ran {
            pid: state.thread.pid,
            cpu: state.cpu,
            start_ns: since,
            stop_ns: self.now,
        });
        state.last = (since, self.now);
        state.left_ns -= ran;
        state.used_ns += ran;
        state.exec_ns += ran;
        if state.left_ns > 0 {
            return self.wants(state, why::SLICE);
        }
        state.burst += 1;
        match state.thread.bursts.get(state.burst) {
            Some((sleep, run)) => {
                state.left_ns = *run;
                let until = self.now + sleep;
                state.place = Place::Asleep { until };
                self.tell(state, kind::SLEEPS, 0);
            }
            None => {
                state.place = Place::Gone;
                self.tell(state, kind::LEFT, 0);
            }
        }
    }

    fn wants(&mut self, state: &mut State, flags: u16) {
        state.place = Place::Waits;
        state.generation = state.generation.wrapping_add(1);
        self.report.waits += 1;
        let new = if state.is_known { 0 } else { why::NEW };
        state.is_known = true;
        self.tell(state, kind::READY, flags | new);
        state.used_ns = 0;
    }

    fn tell(&mut self, state: &State, kind: u16, flags: u16) {
        let head = EventHead {
            at_ns: self.now,
            start_ns: state.last.0,
            stop_ns: state.last.1,
            used_ns: state.used_ns,
            exec_ns: state.exec_ns,
            pid: state.thread.pid,
            tgid: state.thread.pid,
            generation: state.generation,
            weight: state.thread.weight,
            cpu: state.cpu as i32,
            nr_allowed: state.thread.allowed.len() as u32,
            waker: 0,
            kind,
            flags,
            comm: *b"fake\0\0\0\0\0\0\0\0\0\0\0\0",
        };
        // SAFETY: it has that many words, and no bytes between its fields.
        let words: [u64; EVENT_WORDS] = unsafe { std::mem::transmute(head) };
        let mut record = words.to_vec();
        record.extend(state.thread.allowed.words());
        record.resize(self.area.event_words(), 0);
        let room = self
            .events
            .push(&record)
            .expect("an agent that does not lie");
        assert!(
            room,
            "the model has fewer threads than the ring has records"
        );
    }
}
