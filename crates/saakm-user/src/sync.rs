// SPDX-License-Identifier: GPL-2.0
//! The atomics that the rings are made of: the processor's, or those of a checker that tries
//! what threads may see of each other's writes.

#[cfg(not(any(loom, shuttle)))]
pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(all(shuttle, not(loom)))]
pub use shuttle::sync::atomic::{AtomicU32, AtomicU64, Ordering};
