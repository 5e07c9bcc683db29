// SPDX-License-Identifier: GPL-2.0
//! A process of agents: a thread for each domain, and one that waits for signals.

use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::{policies, topology};

use crate::agent::End;
use crate::cpus::Cpus;
use crate::domains::{self, Domain};
use crate::member::{be_agent, Common, Place, POLICY};
use crate::memory;
use crate::options::Options;
use crate::out::Fault;
use crate::signals;
use crate::stats::Counters;
use crate::Scheduler;

struct Running {
    cpus: Cpus,
    counters: Arc<Counters>,
    thread: JoinHandle<Result<End, Failure>>,
}

/// Schedules until a signal comes or another scheduler takes over. `make` is called by each
/// agent's own thread, which alone ever uses the scheduler that it makes.
pub fn run<S, F>(options: &Options, name: &str, make: F) -> Result<(), Failure>
where
    S: Scheduler + 'static,
    F: Fn(&Place) -> S + Send + Sync + 'static,
{
    let host = Host::from_env();
    let mut topology = topology::read(&host)?;
    // It lists none that shares nothing, as an only CPU.
    for cpu in domains::machine(&host, options.domains).iter() {
        topology.entry(cpu).or_default();
    }
    let domains = domains::of(&topology, options.domains, options.cpus.as_ref());
    if domains.is_empty() {
        let (why, online) = ("none of these CPUs is online", domains::online(&host));
        return Err(Failure::new("cannot schedule", why).hint(format!("choose of CPUs {online}")));
    }
    end_at_panic();
    signals::prepare().map_err(|errno| Failure::new("cannot wait for signals", errno.desc()))?;
    if let Err(errno) = memory::lock() {
        eprintln!("{name}: memory is not locked, so threads may wait for its disk: {errno}");
    }
    let common = Arc::new(Common::new(host, options, name));
    let make = Arc::new(make);
    let mut running = Vec::new();
    for domain in domains {
        running.push(start(&common, domain, &make)?);
    }
    watch(&common, &running, options.stats);
    finish(&common, running)
}

fn start<S, F>(common: &Arc<Common>, domain: Domain, make: &Arc<F>) -> Result<Running, Failure>
where
    S: Scheduler + 'static,
    F: Fn(&Place) -> S + Send + Sync + 'static,
{
    const STACK: usize = 512 << 10;
    let cpus = domain.cpus.clone();
    let counters = Arc::new(Counters::default());
    let (common, make, theirs) = (common.clone(), make.clone(), counters.clone());
    let thread = thread::Builder::new()
        .name(format!("agent {}", domain.number))
        .stack_size(STACK)
        .spawn(move || {
            let end = be_agent(&common, domain, &*make, &theirs);
            if !matches!(end, Ok(End::Retired)) {
                // Half a scheduler is none.
                common.stop.store(true, Ordering::Relaxed);
            }
            end
        })
        .map_err(|error| Failure::new("cannot start an agent", error.to_string()))?;
    Ok(Running {
        cpus,
        counters,
        thread,
    })
}

/// The kernel takes over from a process that ends, and that is best after a panic.
fn end_at_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        eprintln!("the scheduler has ended; the kernel goes on without it");
        // SAFETY: it ends the process, without what else should happen at an end.
        unsafe { libc::_exit(101) };
    }));
}

fn watch(common: &Common, running: &[Running], stats: Option<u32>) {
    const SOON: Duration = Duration::from_millis(20);
    const LATER: Duration = Duration::from_millis(200);
    let period = stats.map(|seconds| Duration::from_secs(seconds.max(1).into()));
    let (mut told, mut announced) = (Instant::now(), false);
    while !running.iter().all(|agent| agent.thread.is_finished()) {
        let stopping = common.stop.load(Ordering::Relaxed);
        if stopping {
            // Those who have not seen it may have been about to park: wake them again.
            running
                .iter()
                .for_each(|agent| signals::nudge_thread(&agent.thread));
        } else if !announced && common.attached.load(Ordering::Relaxed) as usize == running.len() {
            announced = true;
            let domains: Vec<String> = running.iter().map(|it| it.cpus.to_string()).collect();
            eprintln!("{}: schedules CPUs {}", common.name, domains.join(" | "));
        }
        let wait = if stopping || !announced { SOON } else { LATER };
        if signals::wait(wait) {
            common.stop.store(true, Ordering::Relaxed);
        }
        if period.is_some_and(|period| told.elapsed() + LATER > period) {
            running.iter().for_each(|agent| agent.counters.ask());
        }
        if period.is_some_and(|period| told.elapsed() >= period) {
            told = Instant::now();
            tell(common, running);
        }
    }
    if stats.is_some() {
        tell(common, running);
    }
}

fn tell(common: &Common, running: &[Running]) {
    for agent in running {
        eprintln!("{}: CPUs {}: {}", common.name, agent.cpus, agent.counters);
    }
}

fn finish(common: &Common, running: Vec<Running>) -> Result<(), Failure> {
    let mut result = Ok(());
    for agent in running {
        let failure = match agent.thread.join() {
            Ok(Ok(End::Stopped)) => continue,
            Ok(Ok(End::Retired)) => {
                let (name, cpus) = (&common.name, &agent.cpus);
                eprintln!("{name}: another scheduler has CPUs {cpus} now");
                continue;
            }
            Ok(Ok(End::Broken(fault))) => explain(common, &agent.cpus, fault),
            Ok(Err(failure)) => failure,
            Err(_) => Failure::new("cannot go on", "an agent panicked"),
        };
        // The first one is the cause; the others ended since it did.
        result = result.and(Err(failure));
    }
    result
}

fn explain(common: &Common, cpus: &Cpus, fault: Fault) -> Failure {
    let what = format!("no longer schedules CPUs {cpus}");
    match fault {
        Fault::Nonsense => Failure::new(what, "the kernel's counts in the shared memory are wrong"),
        Fault::Refused(Errno::ESTALE) => {
            let policies = policies::read(&common.host).unwrap_or_default();
            let ejected = policies
                .iter()
                .find(|policy| policy.name == POLICY && policy.is_ejected());
            match ejected {
                Some(policy) => {
                    Failure::new(what, format!("policy '{POLICY}': {}", policy.why_ejected()))
                        .hint("its threads are back in SCHED_OTHER; load the policy anew")
                }
                None => Failure::new(what, "another scheduler has replaced it (ESTALE)"),
            }
        }
        Fault::Refused(errno) => Failure::new(what, format!("{errno:?}: {}", errno.desc())),
    }
}
