// SPDX-License-Identifier: GPL-2.0
//! The system that agents have in the simulator, which is linked into their program: what `run` and `system`
//! are elsewhere. All is one thread of the host; each agent has a stack, and the simulator switches
//! between these when an agent computes or asks for something. See sim/engine/host.h.

use std::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void, CString};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

use nix::errno::Errno;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::topology::Topology;

use crate::agent::End;
use crate::cpus::Cpus;
use crate::domains::{self, Domain, Shape};
use crate::member::{be_agent, Common, Place, POLICY};
use crate::options::Options;
use crate::protocol;
use crate::stats::Counters;
use crate::Scheduler;

/// `struct sim_agents`.
#[repr(C)]
struct Agents {
    domains: extern "C" fn() -> c_uint,
    main: extern "C" fn(c_uint),
}

extern "C" {
    fn sim_begin(agents: &'static Agents) -> c_int;
    fn sim_agent_machine(sizes: *mut c_uint);
    fn sim_agent_settle(cpus: *const u64, bytes: c_ulong) -> c_long;
    fn sim_agent_join(policy: *const c_char) -> c_long;
    fn sim_agent_open(device: *const c_char) -> c_long;
    fn sim_agent_ioctl(command: c_uint, argument: *mut c_void) -> c_long;
    fn sim_agent_map() -> *mut u8;
    fn sim_agent_close();
    fn sim_agent_tid() -> c_int;
    fn sim_agent_exists(pid: c_uint) -> bool;
    fn sim_agent_computes(events: u64, decisions: u64) -> bool;
    fn sim_agent_nudge(tid: c_int);
}

/// What the simulator's calls find: there is one program, and it has one scheduler.
struct Program {
    divide: Box<dyn Fn() -> Vec<Domain> + Send + Sync>,
    serve: Box<dyn Fn(Domain) -> Result<End, Failure> + Send + Sync>,
    domains: OnceLock<Vec<Domain>>,
    complained: AtomicBool,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();
static AGENTS: Agents = Agents {
    domains: divide,
    main: serve,
};

/// Runs the simulator, by the words of the command line before `--`, with agents for its machine. The
/// process ends with it.
pub fn run<S, F>(options: &Options, name: &str, make: F) -> Result<(), Failure>
where
    S: Scheduler + 'static,
    F: Fn(&Place) -> S + Send + Sync + 'static,
{
    // Nobody would read the one, and a simulated machine has no other agent.
    if options.stats.is_some() || options.take_over {
        let why = "--stats and --take-over have no effect in a simulated machine";
        let hint = "leave them out; what the agents did is in the result";
        return Err(Failure::new("cannot schedule", why).hint(hint));
    }
    let common = Common::new(Host::from_env(), options, name);
    let (shape, only) = (options.domains, options.cpus.clone());
    let program = Program {
        divide: Box::new(move || domains_of(shape, only.as_ref())),
        serve: Box::new(move |domain| be_agent(&common, domain, &make, &Counters::default())),
        domains: OnceLock::new(),
        complained: AtomicBool::new(false),
    };
    if PROGRAM.set(program).is_err() {
        return Err(Failure::new("cannot schedule", "this process does already"));
    }
    // SAFETY: it calls nothing but these functions, and never returns to what they have called.
    std::process::exit(unsafe { sim_begin(&AGENTS) })
}

/// None, and a word about it, if the machine has not all of these CPUs.
fn domains_of(shape: Shape, only: Option<&Cpus>) -> Vec<Domain> {
    let topology = topology();
    let wanted = only.iter().flat_map(|only| only.iter());
    let strange: Cpus = wanted.filter(|cpu| !topology.contains_key(cpu)).collect();
    if strange.is_empty() {
        return domains::of(&topology, shape, only);
    }
    let there: Cpus = topology.keys().copied().collect();
    eprintln!("there is no CPU {strange}; the simulated machine has CPUs {there}");
    Vec::new()
}

fn program() -> &'static Program {
    PROGRAM.get().expect("the simulator begins after that")
}

extern "C" fn divide() -> c_uint {
    let program = program();
    let domains = program.domains.get_or_init(&program.divide);
    domains.len() as c_uint
}

extern "C" fn serve(number: c_uint) {
    let program = program();
    let domain = program.domains.get().expect("it has been asked how many");
    let end = (program.serve)(domain[number as usize].clone());
    let why = match end {
        Ok(End::Stopped) => return,
        Ok(other) => format!("an agent has ended: {other:?}"),
        Err(failure) => failure.to_string(),
    };
    // It begins again, perhaps as often as there is time.
    if !program.complained.swap(true, Ordering::Relaxed) {
        eprintln!("{why}");
    }
}

fn topology() -> Topology {
    let mut sizes = [0; 4];
    // SAFETY: it writes four numbers.
    unsafe { sim_agent_machine(sizes.as_mut_ptr()) };
    domains::of_sizes(sizes)
}

fn result(returned: c_long) -> Result<i32, Errno> {
    if returned < 0 {
        return Err(Errno::from_raw(-returned as i32));
    }
    Ok(returned as i32)
}

/// An agent has gone round: what it has done by now takes its time. True: the run is over.
pub(crate) fn computes(events: u64, decisions: u64) -> bool {
    // SAFETY: it takes numbers only. Who goes on meanwhile does so on a stack of his own.
    unsafe { sim_agent_computes(events, decisions) }
}

pub(crate) fn settle_on(cpus: &Cpus) -> Result<(), Errno> {
    let bytes = size_of_val(cpus.words()) as c_ulong;
    // SAFETY: the bitmap has that many bytes.
    result(unsafe { sim_agent_settle(cpus.words().as_ptr(), bytes) }).map(drop)
}

pub(crate) fn join_policy(_: &Host) -> Result<(), Failure> {
    let name = CString::new(POLICY).expect("it has no byte 0");
    // SAFETY: the name lives until the return.
    let joined = result(unsafe { sim_agent_join(name.as_ptr()) });
    joined
        .map(drop)
        .map_err(|errno| Failure::new(format!("cannot join policy '{POLICY}'"), errno.desc()))
}

pub(crate) fn exists(pid: u32) -> bool {
    // SAFETY: it takes a number only.
    unsafe { sim_agent_exists(pid) }
}

pub(crate) fn own_tid() -> i32 {
    // SAFETY: it takes nothing and touches nothing.
    unsafe { sim_agent_tid() }
}

/// Has the agent whose thread this is look around, if it is parked.
pub fn nudge(tid: i32) {
    // SAFETY: it takes a number only.
    unsafe { sim_agent_nudge(tid) };
}

/// The device, opened by the agent that has this.
pub(crate) struct File(());

impl File {
    pub(crate) fn open(_: &Host) -> Result<Self, String> {
        let name = CString::new(protocol::DEVICE).expect("it has no byte 0");
        // SAFETY: the name lives until the return.
        let opened = result(unsafe { sim_agent_open(name.as_ptr()) });
        opened
            .map(|_| File(()))
            .map_err(|errno| format!("/dev/{}: {}", protocol::DEVICE, errno.desc()))
    }

    pub(crate) fn ioctl(&self, request: u32, argument: *mut u8) -> Result<i32, Errno> {
        // SAFETY: each caller gives what this request takes, and it lives until the return.
        result(unsafe { sim_agent_ioctl(request, argument.cast()) })
    }

    pub(crate) fn map(&self, _: usize) -> Result<NonNull<u8>, Errno> {
        // SAFETY: it takes nothing. The memory is there until the file is closed.
        NonNull::new(unsafe { sim_agent_map() }).ok_or(Errno::EINVAL)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: this agent has opened it.
        unsafe { sim_agent_close() };
    }
}

/// A mapping is the kernel's own memory, which goes with the file.
///
/// # Safety
/// Anybody may call it.
pub(crate) unsafe fn unmap(_: NonNull<u8>, _: usize) {}
