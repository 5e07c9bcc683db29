// SPDX-License-Identifier: GPL-2.0
//! The memory that kernel and agent share.

use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::mem::offset_of;
use std::ptr::NonNull;

use crate::protocol::{Page, DECISION_WORDS, EVENT_WORDS, PROTOCOL, RECORDS};
use crate::ring::Ring;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::system;

const PAGE: usize = 4096;

enum Owner {
    Mapped,
    Heap,
}

/// The shared memory: what lies where has been checked once, and is ours since.
pub struct Area {
    base: NonNull<u8>,
    bytes: usize,
    owner: Owner,
    head: Head,
}

/// The fields of [`Page`] that say where things are.
#[derive(Debug, Clone, Copy)]
struct Head {
    nr_cpus: u32,
    event_words: usize,
    events_at: usize,
    decisions_at: usize,
    idle_at: usize,
}

// SAFETY: all accesses are atomic, and nothing moves or frees the memory before the drop.
unsafe impl Send for Area {}
// SAFETY: likewise.
unsafe impl Sync for Area {}

impl Area {
    /// Takes over a mapping of the kernel's, or says what is wrong with it.
    ///
    /// # Safety
    /// `base` is the start of a mapping of `bytes` bytes, which nobody else unmaps.
    pub unsafe fn from_mapping(base: NonNull<u8>, bytes: usize) -> Result<Self, String> {
        let mut area = Area {
            base,
            bytes,
            owner: Owner::Mapped,
            head: Head::NONE,
        };
        area.head = area.check()?;
        Ok(area)
    }

    /// Memory of our own, laid out as the kernel does: for a kernel of the tests.
    pub fn on_heap(nr_cpus: u32) -> Self {
        let words = nr_cpus.div_ceil(64) as usize;
        let event_words = EVENT_WORDS + words;
        let events_at = PAGE;
        let decisions_at = events_at + event_words * 8 * RECORDS as usize;
        let idle_at = decisions_at + DECISION_WORDS * 8 * RECORDS as usize;
        let bytes = (idle_at + words * 8).next_multiple_of(PAGE);
        // SAFETY: the length is not 0.
        let base = unsafe { alloc_zeroed(heap_layout(bytes)) };
        let Some(base) = NonNull::new(base) else {
            handle_alloc_error(heap_layout(bytes));
        };
        let head = Head {
            nr_cpus,
            event_words,
            events_at,
            decisions_at,
            idle_at,
        };
        let area = Area {
            base,
            bytes,
            owner: Owner::Heap,
            head,
        };
        let fields = [
            (offset_of!(Page, protocol), PROTOCOL as usize),
            (offset_of!(Page, nr_cpus), nr_cpus as usize),
            (offset_of!(Page, event_bytes), event_words * 8),
            (offset_of!(Page, events_at), events_at),
            (offset_of!(Page, decisions_at), decisions_at),
            (offset_of!(Page, idle_at), idle_at),
            (offset_of!(Page, bytes), bytes),
        ];
        for (at, value) in fields {
            area.field(at).store(value as u32, Ordering::Relaxed);
        }
        area
    }

    fn check(&self) -> Result<Head, String> {
        if self.bytes < PAGE {
            return Err(format!("it has only {} bytes", self.bytes));
        }
        let get = |at| self.field(at).load(Ordering::Relaxed) as usize;
        let protocol = get(offset_of!(Page, protocol));
        if protocol != PROTOCOL as usize {
            return Err(format!("it is of protocol {protocol}, not {PROTOCOL}"));
        }
        let nr_cpus = get(offset_of!(Page, nr_cpus));
        let words = nr_cpus.div_ceil(64);
        let event_bytes = get(offset_of!(Page, event_bytes));
        if event_bytes % 8 != 0 || event_bytes / 8 < EVENT_WORDS + words {
            return Err(format!(
                "{event_bytes} bytes are no event for {nr_cpus} CPUs"
            ));
        }
        let head = Head {
            nr_cpus: nr_cpus as u32,
            event_words: event_bytes / 8,
            events_at: get(offset_of!(Page, events_at)),
            decisions_at: get(offset_of!(Page, decisions_at)),
            idle_at: get(offset_of!(Page, idle_at)),
        };
        let parts = [
            ("events", head.events_at, event_bytes * RECORDS as usize),
            (
                "decisions",
                head.decisions_at,
                DECISION_WORDS * 8 * RECORDS as usize,
            ),
            ("idle CPUs", head.idle_at, words * 8),
        ];
        for (what, at, bytes) in parts {
            if at % 8 != 0 || at < size_of::<Page>() || at + bytes > self.bytes {
                return Err(format!("its {what} would lie at {at}"));
            }
        }
        Ok(head)
    }

    #[inline]
    fn field(&self, at: usize) -> &AtomicU32 {
        debug_assert!(at % 4 == 0 && at + 4 <= self.bytes);
        // SAFETY: it lies in the memory, is aligned, and is accessed so only.
        unsafe { self.base.add(at).cast().as_ref() }
    }

    fn words(&self, at: usize, count: usize) -> &[AtomicU64] {
        assert!(at % 8 == 0 && at + count * 8 <= self.bytes);
        // SAFETY: they lie in the memory, are aligned, and are accessed so only.
        unsafe { std::slice::from_raw_parts(self.base.add(at).cast().as_ptr(), count) }
    }

    /// CPUs have lesser numbers.
    pub fn nr_cpus(&self) -> u32 {
        self.head.nr_cpus
    }

    /// From one event to the next, in words of 64 bits.
    pub fn event_words(&self) -> usize {
        self.head.event_words
    }

    /// The ring that the kernel writes.
    pub fn events(&self) -> Ring<'_> {
        Ring::new(
            self.words(
                self.head.events_at,
                self.head.event_words * RECORDS as usize,
            ),
            self.head.event_words,
            self.field(offset_of!(Page, events_written)),
            self.field(offset_of!(Page, events_read)),
        )
    }

    /// The ring that the agent writes.
    pub fn decisions(&self) -> Ring<'_> {
        Ring::new(
            self.words(self.head.decisions_at, DECISION_WORDS * RECORDS as usize),
            DECISION_WORDS,
            self.field(offset_of!(Page, decisions_written)),
            self.field(offset_of!(Page, decisions_read)),
        )
    }

    /// Which CPUs of the domain idle, as the kernel sees it.
    pub fn idle(&self) -> &[AtomicU64] {
        self.words(self.head.idle_at, self.head.nr_cpus.div_ceil(64) as usize)
    }

    /// Whether another agent takes over.
    #[inline]
    pub fn retire(&self) -> &AtomicU32 {
        self.field(offset_of!(Page, retire))
    }

    /// How many events were not written, since the ring was full: [`Page::lost`].
    #[inline]
    pub fn lost(&self) -> &AtomicU32 {
        self.field(offset_of!(Page, lost))
    }

    /// How many threads the agent keeps.
    #[inline]
    pub fn held(&self) -> &AtomicU32 {
        self.field(offset_of!(Page, held))
    }
}

impl Head {
    const NONE: Head = Head {
        nr_cpus: 0,
        event_words: 0,
        events_at: 0,
        decisions_at: 0,
        idle_at: 0,
    };
}

fn heap_layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, PAGE).expect("a small length")
}

impl Drop for Area {
    fn drop(&mut self) {
        match self.owner {
            // SAFETY: it is the mapping that was taken over, and nothing of it is lent.
            Owner::Mapped => unsafe { system::unmap(self.base, self.bytes) },
            // SAFETY: it was allocated so.
            Owner::Heap => unsafe { dealloc(self.base.as_ptr(), heap_layout(self.bytes)) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_lies_is_refused() {
        let area = Area::on_heap(70);
        assert_eq!(area.check().unwrap().event_words, EVENT_WORDS + 2);
        let lies = [
            (offset_of!(Page, protocol), 2, "it is of protocol 2, not 1"),
            (
                offset_of!(Page, event_bytes),
                96,
                "96 bytes are no event for 70 CPUs",
            ),
            (
                offset_of!(Page, events_at),
                1 << 30,
                "its events would lie at 1073741824",
            ),
            (
                offset_of!(Page, decisions_at),
                4097,
                "its decisions would lie at 4097",
            ),
            (offset_of!(Page, idle_at), 0, "its idle CPUs would lie at 0"),
        ];
        for (at, lie, sentence) in lies {
            let truth = area.field(at).swap(lie, Ordering::Relaxed);
            assert_eq!(area.check().unwrap_err(), sentence);
            area.field(at).store(truth, Ordering::Relaxed);
        }
        assert!(area.check().is_ok());
    }
}
