// SPDX-License-Identifier: GPL-2.0
//! The rules of the schedulers whose programs are in this crate.
//!
//! They are a crate of their own, and not programs of `saakm-user`, since they are to it what
//! anybody's scheduler is: they use what it makes public, and nothing else.

pub mod fifo;
pub mod llc;
pub mod program;
pub mod rustland;
