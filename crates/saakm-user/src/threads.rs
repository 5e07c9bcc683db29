// SPDX-License-Identifier: GPL-2.0
//! What a scheduler remembers of each thread, found by pid.

use rustc_hash::FxHashMap;

/// A value for each thread. Room for many is there from the start; beyond it the table grows
/// inside the arena, which takes long once but faults no page.
#[derive(Debug, Default)]
pub struct Threads<T> {
    values: FxHashMap<u32, T>,
}

impl<T: Default> Threads<T> {
    /// An empty table with room for so many threads.
    pub fn with_room(threads: usize) -> Self {
        Threads {
            values: FxHashMap::with_capacity_and_hasher(threads, Default::default()),
        }
    }

    /// What is known of a thread; nothing: the default.
    #[inline]
    pub fn entry(&mut self, pid: u32) -> &mut T {
        self.values.entry(pid).or_default()
    }

    /// What is known of a thread.
    #[inline]
    pub fn get(&self, pid: u32) -> Option<&T> {
        self.values.get(&pid)
    }

    /// What is known of a thread, to be changed.
    #[inline]
    pub fn get_mut(&mut self, pid: u32) -> Option<&mut T> {
        self.values.get_mut(&pid)
    }

    /// Forgets a thread.
    pub fn remove(&mut self, pid: u32) -> Option<T> {
        self.values.remove(&pid)
    }

    /// All threads.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.values.iter().map(|(pid, value)| (*pid, value))
    }

    /// How many threads are known.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True if none is.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
