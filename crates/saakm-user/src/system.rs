// SPDX-License-Identifier: GPL-2.0
//! What an agent asks of the system: its CPUs, its policy, the device. In the simulator another module has
//! the same names. With the feature `simulate` a thread may have a simulator for a kernel.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::ptr::{null_mut, NonNull};

use nix::errno::Errno;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::join::{self, Request};
use saakm::lookup;

use crate::cpus::Cpus;
use crate::member::POLICY;
use crate::protocol;
#[cfg(feature = "simulate")]
use crate::simulate::link;

/// An agent runs where it schedules.
pub(crate) fn settle_on(cpus: &Cpus) -> Result<(), Errno> {
    #[cfg(feature = "simulate")]
    if let Some(link) = link::own() {
        return link.settle_on(cpus.words());
    }
    let bytes = size_of_val(cpus.words());
    // SAFETY: the bitmap has that many bytes.
    let result = unsafe { libc::sched_setaffinity(0, bytes, cpus.words().as_ptr().cast()) };
    Errno::result(result).map(drop)
}

pub(crate) fn join_policy(host: &Host) -> Result<(), Failure> {
    #[cfg(feature = "simulate")]
    if let Some(link) = link::own() {
        let joined = link.join_policy(POLICY);
        return joined
            .map_err(|errno| Failure::new(format!("cannot join policy '{POLICY}'"), errno.desc()));
    }
    let request = Request {
        choice: lookup::choose(host, POLICY)?,
        wanted: POLICY.to_owned(),
        nice: None,
        param: None,
        reset_on_fork: false,
    };
    join::apply(host, 0, &request)
}

/// Whether there is a thread of this number, of whatever policy.
pub(crate) fn exists(pid: u32) -> bool {
    #[cfg(feature = "simulate")]
    if let Some(link) = link::own() {
        return link.exists(pid);
    }
    // SAFETY: signal 0 does nothing to anybody.
    let asked = |pid| Errno::result(unsafe { libc::kill(pid, 0) });
    i32::try_from(pid).is_ok_and(|pid| asked(pid) != Err(Errno::ESRCH))
}

/// An agent has gone round. True: the run is over.
#[cfg(feature = "simulate")]
pub(crate) fn computes(events: u64, decisions: u64) -> bool {
    link::own().is_some_and(|link| link.computes(events, decisions))
}

/// The device, opened.
pub(crate) enum File {
    Kernel(std::fs::File),
    #[cfg(feature = "simulate")]
    Simulated(std::rc::Rc<link::Link>),
}

impl File {
    /// Opens it, or says why not.
    pub(crate) fn open(host: &Host) -> Result<Self, String> {
        #[cfg(feature = "simulate")]
        if let Some(link) = link::own() {
            let opened = link.open();
            opened.map_err(|errno| format!("/dev/{}: {}", protocol::DEVICE, errno.desc()))?;
            return Ok(File::Simulated(link));
        }
        let path = host.path("dev").join(protocol::DEVICE);
        let opened = OpenOptions::new().read(true).write(true).open(&path);
        opened
            .map(File::Kernel)
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(crate) fn ioctl(&self, request: u32, argument: *mut u8) -> Result<i32, Errno> {
        match self {
            File::Kernel(file) => {
                // SAFETY: each caller gives what this request takes, and it lives until the return.
                let result = unsafe { libc::ioctl(file.as_raw_fd(), request as _, argument) };
                Errno::result(result)
            }
            // SAFETY: likewise.
            #[cfg(feature = "simulate")]
            File::Simulated(link) => unsafe { link.ioctl(request, argument) },
        }
    }

    pub(crate) fn map(&self, bytes: usize) -> Result<NonNull<u8>, Errno> {
        match self {
            File::Kernel(file) => map(file, bytes),
            #[cfg(feature = "simulate")]
            File::Simulated(link) => map(&link.memory()?, bytes),
        }
    }
}

#[cfg(feature = "simulate")]
impl Drop for File {
    fn drop(&mut self) {
        if let File::Simulated(link) = self {
            link.close();
        }
    }
}

fn map(file: &std::fs::File, bytes: usize) -> Result<NonNull<u8>, Errno> {
    // All pages are there from the start, so that none of them faults later.
    let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping touches no other.
    let base = unsafe { libc::mmap(null_mut(), bytes, rights, flags, file.as_raw_fd(), 0) };
    if base == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    NonNull::new(base.cast()).ok_or(Errno::EFAULT)
}

/// # Safety
/// It is a mapping of [`File::map`], of so many bytes, and nothing of it is lent.
pub(crate) unsafe fn unmap(base: NonNull<u8>, bytes: usize) {
    // SAFETY: as the caller says.
    unsafe { libc::munmap(base.as_ptr().cast(), bytes) };
}
