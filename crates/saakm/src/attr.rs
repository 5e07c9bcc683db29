// SPDX-License-Identifier: GPL-2.0
//! `struct sched_attr`, and the two system calls that take it.

pub use nix::errno::Errno;

/// The kernel's default class.
pub const SCHED_OTHER: u32 = 0;
/// The class whose policies are modules.
pub const SCHED_SAAKM: u32 = 8;
/// Children start in SCHED_OTHER.
pub const SCHED_FLAG_RESET_ON_FORK: u64 = 0x01;
/// The size with the two SaaKM fields, as the kernel calls it.
pub const SCHED_ATTR_SIZE_VER2: usize = 64;

/// `struct sched_attr`, version 2: the one with the two SaaKM fields.
/// An older kernel takes it too as long as they are zero.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedAttr {
    /// How many bytes of it the caller knows: all of them, see [`SchedAttr::new`].
    pub(crate) size: u32,
    /// The class, such as [`SCHED_SAAKM`].
    pub sched_policy: u32,
    /// Such as [`SCHED_FLAG_RESET_ON_FORK`].
    pub sched_flags: u64,
    /// The nice value.
    pub sched_nice: i32,
    /// Of the real-time classes.
    pub sched_priority: u32,
    /// Of SCHED_DEADLINE; of others the length of a slice.
    pub sched_runtime: u64,
    /// Of SCHED_DEADLINE.
    pub sched_deadline: u64,
    /// Of SCHED_DEADLINE.
    pub sched_period: u64,
    /// The least utilization that the thread is taken to have.
    pub sched_util_min: u32,
    /// The greatest one.
    pub sched_util_max: u32,
    /// The id of the SaaKM policy.
    pub sched_saakm_policy: u32,
    /// The parameter whose meaning that policy defines.
    pub sched_saakm_param: u32,
}

const _: () = assert!(size_of::<SchedAttr>() == SCHED_ATTR_SIZE_VER2);

impl SchedAttr {
    /// SCHED_OTHER at nice 0.
    pub fn new() -> Self {
        SchedAttr {
            size: SCHED_ATTR_SIZE_VER2 as u32,
            sched_policy: SCHED_OTHER,
            sched_flags: 0,
            sched_nice: 0,
            sched_priority: 0,
            sched_runtime: 0,
            sched_deadline: 0,
            sched_period: 0,
            sched_util_min: 0,
            sched_util_max: 0,
            sched_saakm_policy: 0,
            sched_saakm_param: 0,
        }
    }
}

impl Default for SchedAttr {
    fn default() -> Self {
        SchedAttr::new()
    }
}

/// What thread `tid` (0: the caller) has now.
pub fn get(tid: i32) -> Result<SchedAttr, Errno> {
    let mut attr = SchedAttr::new();
    // SAFETY: the kernel writes at most the given size into `attr`.
    let result = unsafe {
        libc::syscall(
            libc::SYS_sched_getattr,
            tid,
            std::ptr::addr_of_mut!(attr),
            SCHED_ATTR_SIZE_VER2,
            0,
        )
    };
    Errno::result(result).map(|_| attr)
}

/// Has the kernel schedule thread `tid` (0: the caller) so from now on.
pub fn set(tid: i32, attr: &SchedAttr) -> Result<(), Errno> {
    // An older kernel writes the size that it knows into what it is given.
    let mut attr = *attr;
    // SAFETY: `attr` is a whole sched_attr of our own, and its field `size` says so.
    let result = unsafe {
        libc::syscall(
            libc::SYS_sched_setattr,
            tid,
            std::ptr::addr_of_mut!(attr),
            0,
        )
    };
    Errno::result(result).map(drop)
}

/// The nice value of thread `tid` (0: the caller): a real-time thread has one as well,
/// but [`get`] does not tell it.
pub fn nice(tid: i32) -> Result<i32, Errno> {
    // SAFETY: getpriority takes numbers only. The system call, unlike the C
    // function, returns 20 - nice, so that -1 is always an error.
    let result = unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, tid) };
    Ok(20 - Errno::result(result)? as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_is_the_kernels() {
        assert_eq!(std::mem::offset_of!(SchedAttr, sched_flags), 8);
        assert_eq!(std::mem::offset_of!(SchedAttr, sched_nice), 16);
        assert_eq!(std::mem::offset_of!(SchedAttr, sched_runtime), 24);
        assert_eq!(std::mem::offset_of!(SchedAttr, sched_util_max), 52);
        assert_eq!(std::mem::offset_of!(SchedAttr, sched_saakm_policy), 56);
        assert_eq!(std::mem::offset_of!(SchedAttr, sched_saakm_param), 60);
    }
}
