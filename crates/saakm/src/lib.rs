// SPDX-License-Identifier: GPL-2.0
//! What a program that deals with SaaKM needs of a machine: the policies that are loaded,
//! the threads and cgroups that they have, and the system call that gives them threads.
//!
//! Nothing here prints. What fails is a [`failure::Failure`], which says what could not be
//! done, why, and what to do; the program says it to its user, and how it exits.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod attr;
pub mod cgroup;
pub mod ejected;
pub mod escape;
pub mod failure;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
pub mod host;
pub mod join;
mod keys;
pub mod lookup;
pub mod name;
pub mod policies;
pub mod sysfs;
pub mod threads;
pub mod topology;
