// SPDX-License-Identifier: GPL-2.0
//! First come, first served.

use saakm_user::{Event, Out, Scheduler, Task, Turn};

/// Threads run in the order in which they asked, wherever a CPU is free.
pub struct Fifo {
    arrivals: u64,
    slice_ns: u64,
}

impl Fifo {
    /// With turns of this length.
    pub fn new(slice_ns: u64) -> Self {
        Fifo {
            arrivals: 0,
            slice_ns,
        }
    }
}

impl Scheduler for Fifo {
    #[inline]
    fn ready(&mut self, task: Task, _event: &Event, out: &mut Out) {
        self.arrivals += 1;
        let turn = Turn::anywhere().key(self.arrivals).slice_ns(self.slice_ns);
        out.dispatch(task, turn);
    }
}
