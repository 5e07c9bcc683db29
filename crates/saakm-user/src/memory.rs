// SPDX-License-Identifier: GPL-2.0
//! Memory that never faults: who would schedule the thread that handles it?

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicU32, Ordering};

use lock_api::{GuardSend, RawMutex};
use nix::errno::Errno;
use talc::source::Claim;
use talc::TalcLock;

/// A lock that sleeps. A spinning agent would keep its CPU from the thread that has the lock.
pub struct Futex(AtomicU32);

const FREE: u32 = 0;
const TAKEN: u32 = 1;
const WANTED: u32 = 2;

// SAFETY: only who has changed FREE into something else has the lock.
unsafe impl RawMutex for Futex {
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Futex(AtomicU32::new(FREE));
    type GuardMarker = GuardSend;

    #[inline]
    fn lock(&self) {
        if !self.try_lock() {
            self.wait();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        let taken = self
            .0
            .compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok()
    }

    #[inline]
    unsafe fn unlock(&self) {
        if self.0.swap(FREE, Ordering::Release) == WANTED {
            self.call(libc::FUTEX_WAKE, 1);
        }
    }
}

impl Futex {
    #[cold]
    fn wait(&self) {
        while self.0.swap(WANTED, Ordering::Acquire) != FREE {
            self.call(libc::FUTEX_WAIT, WANTED);
        }
    }

    fn call(&self, operation: i32, value: u32) {
        let (word, operation) = (self.0.as_ptr(), operation | libc::FUTEX_PRIVATE_FLAG);
        let forever = std::ptr::null::<libc::timespec>();
        // SAFETY: the word lives as long as the lock.
        unsafe { libc::syscall(libc::SYS_futex, word, operation, value, forever) };
    }
}

/// An allocator over memory of the program's own; see [`arena!`](crate::arena).
pub struct Arena(TalcLock<Futex, Claim>);

impl Arena {
    /// An allocator over these bytes.
    ///
    /// # Safety
    /// Nobody else touches them, ever.
    pub const unsafe fn new<const N: usize>(bytes: *mut [u8; N]) -> Self {
        Arena(TalcLock::new(unsafe { Claim::array(bytes) }))
    }
}

// SAFETY: talc is an allocator, and all goes to it.
unsafe impl GlobalAlloc for Arena {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { self.0.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        unsafe { self.0.realloc(block, layout, bytes) }
    }
}

/// Makes an arena of so many bytes the program's allocator: the heap has no other memory, so
/// that [`lock`] has all of it. A program whose arena is used up ends.
///
/// ```
/// saakm_user::arena!(8 << 20);
/// # fn main() { assert_eq!(vec![1; 1000].len(), 1000); }
/// ```
#[macro_export]
macro_rules! arena {
    ($bytes:expr) => {
        #[global_allocator]
        static ARENA: $crate::memory::Arena = {
            static mut HEAP: [u8; $bytes] = [0; $bytes];
            // SAFETY: nobody else can name it.
            unsafe { $crate::memory::Arena::new(&raw mut HEAP) }
        };
    };
}

/// Has all memory of the process stay where it is, also what it will get.
pub fn lock() -> Result<(), Errno> {
    // SAFETY: it takes numbers only.
    Errno::result(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) }).map(drop)
}

/// Touches the part of the calling thread's stack that it is going to use.
#[inline(never)]
pub fn touch_stack() {
    let mut bytes = [0u8; 64 << 10];
    for at in (0..bytes.len()).step_by(4096) {
        bytes[at] = 1;
    }
    std::hint::black_box(&bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arenas_lock_keeps_others_out() {
        let lock = lock_api::Mutex::<Futex, u64>::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10_000).for_each(|_| *lock.lock() += 1));
            }
        });
        assert_eq!(*lock.lock(), 40_000);
    }
}
