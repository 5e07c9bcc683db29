// SPDX-License-Identifier: GPL-2.0
//! One agent of a process, from its CPUs to its end.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use saakm::failure::Failure;
use saakm::host::Host;

use crate::agent::{Agent, End};
use crate::area::Area;
use crate::bridge::{Bridge, Device};
use crate::cpus::Cpus;
use crate::domains::Domain;
use crate::memory;
use crate::options::Options;
use crate::signals;
use crate::state;
use crate::stats::Counters;
use crate::system;
use crate::Scheduler;

/// The policy whose threads agents schedule, and are.
pub(crate) const POLICY: &str = "user";

/// Where an agent runs: what its scheduler needs to know to work with its neighbours.
pub struct Place {
    /// Its domain.
    pub domain: Domain,
    /// The memory that it shares with the kernel.
    pub area: Arc<Area>,
    /// The id of its thread, for [`signals::nudge`].
    pub tid: i32,
}

/// What all threads have.
pub(crate) struct Common {
    pub(crate) host: Host,
    pub(crate) name: String,
    flags: u32,
    take_over: bool,
    pub(crate) stop: AtomicBool,
    pub(crate) attached: AtomicU32,
    /// What those agents that have left leave to their successors.
    left: Mutex<Vec<u8>>,
}

impl Common {
    pub(crate) fn new(host: Host, options: &Options, name: &str) -> Self {
        Common {
            host,
            name: name.to_owned(),
            flags: options.flags(),
            take_over: options.take_over,
            stop: AtomicBool::new(false),
            attached: AtomicU32::new(0),
            left: Mutex::new(Vec::new()),
        }
    }
}

pub(crate) fn be_agent<S: Scheduler>(
    common: &Common,
    domain: Domain,
    make: impl Fn(&Place) -> S,
    counters: &Counters,
) -> Result<End, Failure> {
    let cpus = &domain.cpus;
    system::settle_on(cpus)
        .map_err(|errno| Failure::new(format!("cannot run on CPUs {cpus}"), errno.desc()))?;
    system::join_policy(&common.host)?;
    let (device, area) = Device::attach(&common.host, &domain.cpus, common.flags, &common.name)?;
    tracing::debug!(cpus = %domain.cpus, sentence = device.sentence, "attached");
    let place = Place {
        domain,
        area: Arc::new(area),
        tid: signals::own_tid(),
    };
    let mut scheduler = make(&place);
    if common.take_over {
        take_state(&device, &place.domain.cpus, &mut scheduler);
    }
    common.attached.fetch_add(1, Ordering::Relaxed);
    memory::touch_stack();
    let mut agent = Agent::new(&place.area, &device, &place.domain.cpus);
    counters.begin();
    let end = agent.serve(&mut scheduler, &common.stop, counters);
    counters.count_faults();
    tracing::debug!(cpus = %place.domain.cpus, ?end, "leaves");
    if end == End::Retired {
        leave_state(common, &device, &place.domain.cpus, &scheduler);
    }
    Ok(end)
}

fn take_state<S: Scheduler>(device: &Device, cpus: &Cpus, scheduler: &mut S) {
    match device.load() {
        Ok(all) => state::about(&all, cpus).for_each(|state| scheduler.load(state)),
        Err(errno) => tracing::debug!(%errno, "there is no state to take over"),
    }
}

/// The successor waits for this agent's end, so what it shall know is there before.
fn leave_state<S: Scheduler>(common: &Common, device: &Device, cpus: &Cpus, scheduler: &S) {
    let mut all = common
        .left
        .lock()
        .unwrap_or_else(|error| error.into_inner());
    let fits = state::add(&mut all, cpus, &scheduler.save());
    let saved = device.save(&all);
    tracing::debug!(fits, ?saved, "left a state");
}
