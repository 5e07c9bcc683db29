// SPDX-License-Identifier: GPL-2.0
//! Schedulers in user space.
//!
//! The kernel module `user` is a SaaKM policy that decides nothing: when one of its threads
//! wants a CPU, it asks a process, the *agent*, through memory that both share. This crate is
//! all of an agent but the decisions, which are a [`Scheduler`].
//!
//! # A first scheduler
//!
//! Threads run in the order in which they asked, each for 5 ms:
//!
//! ```no_run
//! use saakm_user::{run, Event, Options, Out, Scheduler, Task, Turn};
//!
//! // The heap is memory of the program, so that no page of it is ever missing.
//! saakm_user::arena!(4 << 20);
//!
//! #[derive(Default)]
//! struct Fifo {
//!     arrivals: u64,
//! }
//!
//! impl Scheduler for Fifo {
//!     fn ready(&mut self, task: Task, _event: &Event, out: &mut Out) {
//!         self.arrivals += 1;
//!         let turn = Turn::anywhere().key(self.arrivals).slice_ns(5_000_000);
//!         out.dispatch(task, turn);
//!     }
//! }
//!
//! fn main() {
//!     // An agent for the whole machine, until Ctrl-C.
//!     let result = run(&Options::default(), "first 1.0", |_place| Fifo::default());
//!     if let Err(failure) = result {
//!         eprintln!("{failure}");
//!         std::process::exit(1);
//!     }
//! }
//! ```
//!
//! `saakmctl load user`, start it, and `saakmctl exec user -- make -j8` runs under it.
//!
//! # What happens when
//!
//! [`run`] starts a thread for each [domain](domains::Shape), a set of CPUs. The thread joins
//! the policy, attaches to its CPUs, and goes round from then on:
//!
//! 1. It takes the events: [`Scheduler::ready`] gets a [`Task`] for each thread that wants a
//!    CPU and which the kernel has not put on an idle one by itself. The thread waits until
//!    somebody gives the task to [`Out::dispatch`], at once or later. That uses up the task:
//!    the compiler refuses to dispatch a thread twice. A decision about a wait that has ended
//!    meanwhile, since the thread died or left, or the kernel has run it, is dropped.
//! 2. For each CPU that idles while the scheduler [holds](Scheduler::held) threads it calls
//!    [`Scheduler::pick`], and once without a CPU if nothing came of that.
//! 3. It parks. The kernel carries out the decisions and runs the threads; the agent itself
//!    stands at the end of its CPU's queue, so that events gather meanwhile (`--no-burst`: it
//!    runs at once). It goes round again when there are events, or when a CPU has run dry
//!    while threads are held.
//!
//! Threads of the agent's own process never appear.
//!
//! # What it must not do
//!
//! An agent has 100 ms to answer; after that each CPU runs the threads that wait there in the
//! order of their arrival, as soon as the turn ends that is under way. From then on a CPU that
//! has nothing else to run waits for an eighth of that only, until there is a decision in time.
//! So it must not sleep, and no page of it may be missing: [`arena!`] makes a heap that is there
//! from the start, [`run`] locks all memory, and counts the page faults (`--stats`). Nothing here
//! makes a system call but to park, allocates, or reads a clock between an event and its
//! decision, unless a ring or a table is full. glibc's thread start registers rseq, which costs
//! each switch to the thread some instructions: GLIBC_TUNABLES=glibc.pthread.rseq=0 saves them.
//!
//! # When it ends
//!
//! SIGINT and SIGTERM end it; a panic does so too, and even SIGKILL leaves nobody waiting: the
//! kernel goes on by itself. With `--take-over` a new scheduler replaces a running one: the
//! old one [saves](Scheduler::save) what it knows, and ends; the new one
//! [loads](Scheduler::load) it.
//!
//! # Tests without a kernel
//!
//! With the feature `simulate` there is the function `simulate`: it runs a scheduler in a simulated
//! machine, with the class and the policy as they are. See the module of that name. With the
//! feature `fake` there is the module `fake`: the kernel's side of the protocol in memory, and a
//! model of a machine that runs threads as a scheduler decides; it is faster, and neither the class
//! nor the policy is in it.
//!
//! # In the simulator
//!
//! `saakm sim user --agent DIRECTORY` compiles a scheduler with `--cfg saakm_sim` and links the simulator
//! into its program: [`run`] then runs that. Nothing else of the scheduler changes.
//!
//! # Static programs
//!
//! `cargo guest -p saakm-schedulers` builds them for the guests of the lab.

// Under loom and shuttle only the rings exist: their atomics are no memory of a kernel's.
pub mod protocol;
pub mod ring;
pub mod sync;

#[cfg(not(any(loom, shuttle)))]
pub mod agent;
#[cfg(not(any(loom, shuttle)))]
pub mod area;
#[cfg(not(any(loom, shuttle)))]
pub mod bridge;
#[cfg(not(any(loom, shuttle)))]
pub mod cpus;
#[cfg(not(any(loom, shuttle)))]
pub mod domains;
#[cfg(all(not(any(loom, shuttle)), any(test, feature = "fake")))]
pub mod fake;
#[cfg(not(any(loom, shuttle)))]
mod member;
#[cfg(not(any(loom, shuttle)))]
pub mod memory;
#[cfg(not(any(loom, shuttle)))]
mod options;
#[cfg(not(any(loom, shuttle)))]
mod out;
#[cfg(not(any(loom, shuttle)))]
pub mod queues;
#[cfg(not(any(loom, shuttle, saakm_sim)))]
mod run;
#[cfg(not(any(loom, shuttle)))]
mod scheduler;
#[cfg(not(any(loom, shuttle, saakm_sim)))]
pub mod signals;
#[cfg(saakm_sim)]
pub mod signals {
    //! Signals of a simulated machine, which has no other than this.
    pub use crate::simulated::nudge;
    pub(crate) use crate::simulated::own_tid;
}
#[cfg(all(feature = "simulate", not(any(loom, shuttle, saakm_sim))))]
pub mod simulate;
#[cfg(saakm_sim)]
mod simulated;
#[cfg(not(any(loom, shuttle)))]
mod state;
#[cfg(not(any(loom, shuttle)))]
pub mod stats;
#[cfg(not(any(loom, shuttle, saakm_sim)))]
mod system;
#[cfg(not(any(loom, shuttle)))]
mod task;
#[cfg(not(any(loom, shuttle)))]
pub mod threads;

#[cfg(saakm_sim)]
use simulated as system;

#[cfg(not(any(loom, shuttle, saakm_sim)))]
pub use run::run;
#[cfg(all(feature = "simulate", not(any(loom, shuttle, saakm_sim))))]
pub use simulate::simulate;
#[cfg(saakm_sim)]
pub use simulated::run;

#[cfg(not(any(loom, shuttle)))]
pub use {
    member::Place,
    options::Options,
    out::{Fault, Out},
    saakm::failure::Failure,
    scheduler::Scheduler,
    task::{Event, Task, Turn},
};
