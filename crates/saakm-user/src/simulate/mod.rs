// SPDX-License-Identifier: GPL-2.0
//! A scheduler in a simulated machine, without a kernel: for its tests, with the feature `simulate`.
//!
//! ```no_run
//! use saakm_user::{simulate, Event, Out, Scheduler, Task, Turn};
//!
//! struct Mine;
//!
//! impl Scheduler for Mine {
//!     fn ready(&mut self, task: Task, _event: &Event, out: &mut Out) {
//!         out.dispatch(task, Turn::anywhere().slice_ns(5_000_000));
//!     }
//! }
//!
//! let run = simulate(|_place| Mine)
//!     .cpus(2)
//!     .seed(7)
//!     .workload("hackbench:groups=1,loops=20")
//!     .run()
//!     .unwrap();
//! assert_eq!(run.ejected, None);
//! assert!(run.longest_wait_ms("receivers") < 50.0);
//! ```
//!
//! The simulator is the one of `saakm sim`: the class and the policy `user`, their own C files, on a
//! model of Linux's scheduler core, in a process of its own for each run. `saakm` builds it when the
//! first run of a test asks for it, and again when its sources have changed. The scheduler is in the
//! process of the test, as the compiler has made it for that: the debugger, `println!` and
//! `assert!` work in it as anywhere. An agent of it goes round as the real one does, by the same
//! code and with the same shared memory; only what it asks the kernel for goes to the simulator,
//! which waits meanwhile. Time does not pass but in the simulator, so the same seed gives the same
//! run, unless the scheduler itself looks at something that differs: a clock, the order in a
//! `HashMap`, an address.
//!
//! A scheduler that does not return is given up after some 20 s; its thread runs until the test's
//! process ends. What an agent's rounds take of its CPU is assumed: see docs/explanation/simulator.md.

mod ask;
pub(crate) mod link;
mod outcome;

use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{mpsc, Arc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use saakm::failure::Failure;
use saakm::host::Host;

pub use outcome::{Counts, Deciding, Distribution, Ejection, Group, Run};

use crate::agent::End;
use crate::domains::{self, Domain};
use crate::member::{be_agent, Common, Place};
use crate::options::Options;
use crate::stats::Counters;
use crate::Scheduler;
use ask::Answer;
use link::Link;

type Serve = dyn Fn(&Common, Domain) -> Result<End, Failure> + Send + Sync;

/// A run to be: a scheduler, a machine, a workload, and what goes wrong meanwhile.
#[derive(Clone)]
#[must_use = "nothing runs before run() is called"]
pub struct Simulation {
    serve: Arc<Serve>,
    options: Options,
    cpus: u32,
    smt: u32,
    llc: Option<u32>,
    node: Option<u32>,
    seed: u64,
    end_ns: u64,
    workload: Work,
    round_ns: Option<u64>,
    ends_after: Option<u64>,
    words: Vec<String>,
}

#[derive(Clone)]
enum Work {
    Named(String),
    Text(String),
}

/// A simulation of the scheduler that `make` makes, once for each agent. What is not said otherwise:
/// 4 CPUs that share a cache, one agent, the workload hackbench, seed 1, at most 10 s.
pub fn simulate<S, F>(make: F) -> Simulation
where
    S: Scheduler + 'static,
    F: Fn(&Place) -> S + Send + Sync + 'static,
{
    let serve =
        move |common: &Common, domain| be_agent(common, domain, &make, &Counters::default());
    Simulation {
        serve: Arc::new(serve),
        options: Options::default(),
        cpus: 4,
        smt: 1,
        llc: None,
        node: None,
        seed: 1,
        end_ns: 10_000_000_000,
        workload: Work::Named("hackbench".to_owned()),
        round_ns: None,
        ends_after: None,
        words: Vec::new(),
    }
}

impl Simulation {
    /// The machine has so many CPUs, at most 4,096.
    pub fn cpus(mut self, cpus: u32) -> Self {
        self.cpus = cpus;
        self
    }

    /// So many of them to a core.
    pub fn cpus_per_core(mut self, cpus: u32) -> Self {
        self.smt = cpus;
        self
    }

    /// So many share a last-level cache.
    pub fn cpus_per_llc(mut self, cpus: u32) -> Self {
        self.llc = Some(cpus);
        self
    }

    /// So many are in a node.
    pub fn cpus_per_node(mut self, cpus: u32) -> Self {
        self.node = Some(cpus);
        self
    }

    /// All that is random comes from it.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The run ends after so much simulated time, unless all threads have ended before.
    pub fn at_most_ms(mut self, ms: u64) -> Self {
        self.end_ns = ms * 1_000_000;
        self
    }

    /// What runs: a name and options, or a file, as `saakm sim --workload` takes them.
    pub fn workload(mut self, workload: &str) -> Self {
        self.workload = Work::Named(workload.to_owned());
        self
    }

    /// What runs, in the text form that src/saakm/workload/program_text.py defines.
    pub fn program(mut self, text: &str) -> Self {
        self.workload = Work::Text(text.to_owned());
        self
    }

    /// How the agents are set up.
    pub fn options(mut self, options: &Options) -> Self {
        self.options = options.clone();
        self
    }

    /// A parameter of the module `user`, as `answer_ms`.
    pub fn param(mut self, name: &str, value: u64) -> Self {
        self.words.push(format!("user.{name}={value}"));
        self
    }

    /// Finds races: one in so many operations on locks lets other CPUs run first.
    pub fn interleave(mut self, one_in: u32) -> Self {
        self.words.push(format!("interleave={one_in}"));
        self
    }

    /// Something happens then: `offline:CPU`, `online:CPU`, or `eject:user`.
    pub fn at_ms(mut self, ms: u64, what: &str) -> Self {
        self.words.push(format!("at={}:{what}", ms * 1_000_000));
        self
    }

    /// A slow agent: each round takes so long, at most 1 s, beside what its events and decisions take.
    pub fn round_takes_us(mut self, us: u64) -> Self {
        self.round_ns = Some(us * 1000);
        self
    }

    /// An agent that is killed: it ends after so many rounds, its last decisions unsubmitted. As a
    /// service manager would, the simulator starts a new one after 10 ms, which ends in its turn.
    pub fn ends_after(mut self, rounds: u64) -> Self {
        self.ends_after = Some(rounds);
        self
    }

    /// Runs it to its end. What the closure given to [`simulate`] has captured is the same in the
    /// next run: what agents share should be made anew for that. A panic of the scheduler is one of the caller. A policy that is ejected is
    /// a result; it is a failure if there is none, as the simulator refuses the workload, or cannot
    /// be built, or has not come to an end.
    pub fn run(&self) -> Result<Run, Failure> {
        let answer = match &self.workload {
            Work::Named(name) => ask::ask(self.cpus, name)?,
            // A machine that is large enough will do.
            Work::Text(text) => Answer {
                program: text.clone(),
                ..ask::ask(self.cpus.max(64), "hackbench")?
            },
        };
        let only = self.options.cpus.iter().flat_map(|only| only.iter());
        if let Some(cpu) = only.into_iter().find(|cpu| *cpu >= self.cpus) {
            let why = format!("there is no CPU {cpu}; the machine has {}", self.cpus);
            return Err(Failure::new("there is nothing to simulate", why));
        }
        let costs = Costs::of(&answer, self.round_ns)?;
        let sizes = [self.cpus, self.smt, self.llc(), self.node()];
        let topology = domains::of_sizes(sizes);
        let domains = domains::of(&topology, self.options.domains, self.options.cpus.as_ref());
        let mut sockets = Vec::new();
        for _ in &domains {
            sockets.push(UnixStream::pair().map_err(|error| failed(&error))?);
        }
        let (ours, theirs): (Vec<_>, Vec<_>) = sockets.into_iter().unzip();
        let child = self
            .start(
                &answer,
                &costs,
                theirs.into_iter().map(OwnedFd::from).collect(),
            )
            .map_err(|error| failed(&error))?;
        let agents = Agents::start(self, child.id(), domains, ours);
        let output = finish(child, &answer.program).map_err(|error| failed(&error))?;
        let fault = agents.join()?;
        result(&output, fault)
    }

    fn llc(&self) -> u32 {
        self.llc.unwrap_or_else(|| self.node())
    }

    fn node(&self) -> u32 {
        self.node.unwrap_or(self.cpus)
    }

    /// The simulator, which reads the workload from its standard input.
    fn start(
        &self,
        answer: &Answer,
        costs: &Costs,
        sockets: Vec<OwnedFd>,
    ) -> std::io::Result<Child> {
        let numbers: Vec<i32> = sockets.iter().map(AsRawFd::as_raw_fd).collect();
        let list: Vec<String> = numbers.iter().map(i32::to_string).collect();
        let machine = [
            format!("cpus={}", self.cpus),
            format!("smt={}", self.smt),
            format!("llc={}", self.llc()),
            format!("node={}", self.node()),
            format!("seed={}", self.seed),
            format!("for={}", self.end_ns),
            format!("costs={}", costs.file.display()),
        ];
        let mut command = Command::new(&answer.simulator);
        command
            .arg(format!("agents={}", list.join(",")))
            .args(machine)
            .args(["check=1", "read=/sys/kernel/debug/saakm/dump"])
            .args(&self.words)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // SAFETY: fcntl() may be called between fork() and exec(), and nothing else is.
        unsafe {
            command.pre_exec(move || {
                // Only this child shall have them, so they are closed in others, as files are.
                numbers.iter().for_each(|fd| {
                    libc::fcntl(*fd, libc::F_SETFD, 0);
                });
                Ok(())
            });
        }
        command.spawn()
    }
}

fn failed(error: &std::io::Error) -> Failure {
    Failure::new("cannot run the simulator", error.to_string())
}

fn finish(mut child: Child, program: &str) -> std::io::Result<Output> {
    let mut input = child.stdin.take().expect("it is piped");
    // If it does not want it, it says why.
    let _ = input.write_all(program.as_bytes());
    drop(input);
    child.wait_with_output()
}

/// The table of costs: a file of ours, if an agent is slower than usual.
struct Costs {
    file: std::path::PathBuf,
    is_ours: bool,
}

impl Costs {
    fn of(answer: &Answer, round_ns: Option<u64>) -> Result<Self, Failure> {
        let Some(ns) = round_ns else {
            let file = answer.costs.clone();
            return Ok(Costs {
                file,
                is_ours: false,
            });
        };
        static MADE: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = MADE.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("saakm-costs-{}-{number}", std::process::id());
        let file = std::env::temp_dir().join(name);
        let what = |error: std::io::Error| Failure::new("cannot change costs", error.to_string());
        let text = std::fs::read_to_string(&answer.costs).map_err(what)?;
        let others = text
            .lines()
            .filter(|line| !line.starts_with("agent_round "));
        let lines = others
            .map(str::to_owned)
            .chain([format!("agent_round {ns}")]);
        let text: String = lines.map(|line| line + "\n").collect();
        std::fs::write(&file, text).map_err(what)?;
        Ok(Costs {
            file,
            is_ours: true,
        })
    }
}

impl Drop for Costs {
    fn drop(&mut self) {
        if self.is_ours {
            // It is a file that nobody needs; the system removes what is left there.
            let _ = std::fs::remove_file(&self.file);
        }
    }
}

/// The threads of the agents.
struct Agents {
    threads: Vec<JoinHandle<Option<Failure>>>,
    /// Closed when all have ended, however they did.
    running: mpsc::Receiver<()>,
}

impl Agents {
    fn start(run: &Simulation, child: u32, domains: Vec<Domain>, sockets: Vec<UnixStream>) -> Self {
        let common = Arc::new(Common::new(Host::from_env(), &run.options, "test"));
        let (alive, running) = mpsc::channel();
        let start = |(domain, socket): (Domain, UnixStream)| {
            let (common, serve, alive) = (common.clone(), run.serve.clone(), alive.clone());
            let ends_after = run.ends_after;
            let thread = thread::Builder::new().name(format!("agent {}", domain.number));
            let live = move || {
                let _alive = alive;
                let link = Link::begin(socket, child, ends_after);
                let mut fault = None;
                while link.is_wanted() {
                    let end = serve(&common, domain.clone());
                    // The first one is the cause.
                    fault = fault.or(end.err());
                    link.has_ended();
                }
                fault
            };
            thread.spawn(live).expect("there is room for a thread")
        };
        let threads = domains.into_iter().zip(sockets).map(start).collect();
        Agents { threads, running }
    }

    /// Why one of them ended before its time, if one did. The simulator has ended.
    fn join(self) -> Result<Option<Failure>, Failure> {
        const PATIENCE: Duration = Duration::from_secs(10);
        if self.running.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            let why = "its scheduler does not return";
            return Err(Failure::new("the simulation has no result", why));
        }
        let mut fault = None;
        for thread in self.threads {
            match thread.join() {
                Ok(one) => fault = fault.or(one),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(fault)
    }
}

fn result(output: &Output, fault: Option<Failure>) -> Result<Run, Failure> {
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8_lossy(&output.stdout);
    let line = printed.lines().last().unwrap_or_default();
    let status = output.status.code();
    if let (Some(0 | 1), true) = (status, line.starts_with('{')) {
        let read = Run::read(line, log, status == Some(1));
        return read.map_err(|error| {
            Failure::new(
                "the result of the simulator is not understood",
                error.to_string(),
            )
        });
    }
    Err(fault.unwrap_or_else(|| {
        let said: Vec<&str> = log.lines().collect();
        let last = &said[said.len().saturating_sub(20)..];
        let why = format!("{}; it said last: {}", output.status, last.join(" | "));
        Failure::new("the simulation has no result", why)
    }))
}
