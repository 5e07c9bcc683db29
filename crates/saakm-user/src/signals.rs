// SPDX-License-Identifier: GPL-2.0
//! Signals: two end the process, one only interrupts an agent that is parked.

use std::mem::zeroed;
use std::os::unix::thread::JoinHandleExt;
use std::ptr::null_mut;
use std::thread::JoinHandle;
use std::time::Duration;

use nix::errno::Errno;

/// Does nothing but make PARK return.
const NUDGE: i32 = libc::SIGUSR2;
const ENDS: [i32; 2] = [libc::SIGINT, libc::SIGTERM];

fn ends() -> libc::sigset_t {
    // SAFETY: zeros are a sigset_t, and both calls write only there.
    unsafe {
        let mut set = zeroed();
        libc::sigemptyset(&mut set);
        for signal in ENDS {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

extern "C" fn nothing(_: i32) {}

/// Has [`wait`] get what would end the process. Threads that start later inherit that.
pub(crate) fn prepare() -> Result<(), Errno> {
    // SAFETY: zeros are a sigaction, and the handler touches nothing.
    unsafe {
        let result = libc::pthread_sigmask(libc::SIG_BLOCK, &ends(), null_mut());
        if result != 0 {
            return Err(Errno::from_raw(result));
        }
        // Whoever started the process may have blocked it, and then no PARK would ever return.
        let mut nudge = zeroed();
        libc::sigemptyset(&mut nudge);
        libc::sigaddset(&mut nudge, NUDGE);
        let result = libc::pthread_sigmask(libc::SIG_UNBLOCK, &nudge, null_mut());
        if result != 0 {
            return Err(Errno::from_raw(result));
        }
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = nothing as extern "C" fn(i32) as usize;
        Errno::result(libc::sigaction(NUDGE, &action, null_mut())).map(drop)
    }
}

/// Waits for so long; true: the process shall end.
pub(crate) fn wait(time: Duration) -> bool {
    let time = libc::timespec {
        tv_sec: time.as_secs() as _,
        tv_nsec: time.subsec_nanos().into(),
    };
    // SAFETY: what it reads is ours.
    let signal = unsafe { libc::sigtimedwait(&ends(), null_mut(), &time) };
    ENDS.contains(&signal)
}

/// The id of the calling thread.
pub(crate) fn own_tid() -> i32 {
    #[cfg(feature = "simulate")]
    if let Some(link) = crate::simulate::link::own() {
        return link.tid();
    }
    // SAFETY: it takes nothing and touches nothing.
    unsafe { libc::gettid() }
}

/// Has the agent whose thread this is look around, if it is parked.
pub fn nudge(tid: i32) {
    #[cfg(feature = "simulate")]
    if let Some(link) = crate::simulate::link::own() {
        return link.nudge(tid);
    }
    // SAFETY: it takes numbers only; a thread that is gone is an error that does not matter.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, NUDGE) };
}

pub(crate) fn nudge_thread<T>(thread: &JoinHandle<T>) {
    // SAFETY: the thread has not been joined, so its handle is still its own.
    unsafe { libc::pthread_kill(thread.as_pthread_t(), NUDGE) };
}
