// SPDX-License-Identifier: GPL-2.0
//! What an agent asks of the system: its CPUs, its policy, the device. In the simulator another module has
//! the same names.

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

/// An agent runs where it schedules.
pub(crate) fn settle_on(cpus: &Cpus) -> Result<(), Errno> {
    let bytes = size_of_val(cpus.words());
    // SAFETY: the bitmap has that many bytes.
    let result = unsafe { libc::sched_setaffinity(0, bytes, cpus.words().as_ptr().cast()) };
    Errno::result(result).map(drop)
}

pub(crate) fn join_policy(host: &Host) -> Result<(), Failure> {
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
    // SAFETY: signal 0 does nothing to anybody.
    let asked = |pid| Errno::result(unsafe { libc::kill(pid, 0) });
    i32::try_from(pid).is_ok_and(|pid| asked(pid) != Err(Errno::ESRCH))
}

/// The device, opened.
pub(crate) struct File(std::fs::File);

impl File {
    /// Opens it, or says why not.
    pub(crate) fn open(host: &Host) -> Result<Self, String> {
        let path = host.path("dev").join(protocol::DEVICE);
        let opened = OpenOptions::new().read(true).write(true).open(&path);
        opened
            .map(File)
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(crate) fn ioctl(&self, request: u32, argument: *mut u8) -> Result<i32, Errno> {
        // SAFETY: each caller gives what this request takes, and it lives until the return.
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), request as _, argument) };
        Errno::result(result)
    }

    pub(crate) fn map(&self, bytes: usize) -> Result<NonNull<u8>, Errno> {
        // All pages are there from the start, so that none of them faults later.
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping touches no other.
        let base = unsafe { libc::mmap(null_mut(), bytes, rights, flags, self.0.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        NonNull::new(base.cast()).ok_or(Errno::EFAULT)
    }
}

/// # Safety
/// It is a mapping of [`File::map`], of so many bytes, and nothing of it is lent.
pub(crate) unsafe fn unmap(base: NonNull<u8>, bytes: usize) {
    // SAFETY: as the caller says.
    unsafe { libc::munmap(base.as_ptr().cast(), bytes) };
}
