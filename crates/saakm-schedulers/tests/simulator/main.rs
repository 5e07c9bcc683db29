// SPDX-License-Identifier: GPL-2.0
//! In a module of their own, so that `--skip simulated::` leaves out what builds a simulator.

mod simulated;
