// SPDX-License-Identifier: GPL-2.0
//! What a scheduler remembers of each thread, found by pid.

use rustc_hash::FxHashMap;

use crate::system::exists;

/// A value for each thread. Room for many is there from the start; beyond it the table grows
/// inside the arena, which takes long once but faults no page.
#[derive(Debug, Default)]
pub struct Threads<T> {
    values: FxHashMap<u32, T>,
    room: usize,
}

impl<T: Default> Threads<T> {
    /// An empty table with room for so many threads.
    pub fn with_room(threads: usize) -> Self {
        Threads {
            values: FxHashMap::with_capacity_and_hasher(threads, Default::default()),
            room: threads,
        }
    }

    /// To be called when a thread comes: if the table is full, forgets those that have ended
    /// unseen. For the kernel tells only the agent of its last CPU that a thread has left, and
    /// nobody if the ring is full. `forget`: whether one that has ended is to be forgotten.
    ///
    /// That takes a system call for each thread of the table, but no more than two for each
    /// that has come.
    #[inline]
    pub fn forget_ended(&mut self, forget: impl FnMut(&mut T) -> bool) {
        if self.values.len() >= self.room {
            self.sweep(forget);
        }
    }

    #[cold]
    fn sweep(&mut self, mut forget: impl FnMut(&mut T) -> bool) {
        self.values
            .retain(|pid, value| exists(*pid) || !forget(value));
        self.room = self.room.max(2 * self.values.len());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals;

    #[test]
    fn who_has_ended_is_forgotten_when_there_is_no_room() {
        const NEVER: u32 = 1 << 30; // beyond the greatest pid
        let own = std::thread::spawn(|| {
            let mut threads: Threads<bool> = Threads::with_room(8);
            let own = signals::own_tid() as u32;
            *threads.entry(own) = true;
            *threads.entry(NEVER) = true;
            for pid in NEVER + 1..NEVER + 1000 {
                threads.forget_ended(|is_kept| !*is_kept);
                threads.entry(pid);
                assert!(threads.len() <= 8);
            }
            assert!(threads.get(NEVER).is_some(), "it was not to be forgotten");
            threads.get(own).is_some()
        });
        assert!(own.join().unwrap(), "a thread beside the first lives");
    }

    #[test]
    fn the_table_grows_with_those_who_live() {
        let mut threads: Threads<bool> = Threads::with_room(2);
        for pid in 1..100 {
            threads.forget_ended(|_| false);
            threads.entry(pid);
        }
        assert!(threads.len() == 99 && threads.room < 200);
    }
}
