// SPDX-License-Identifier: GPL-2.0
//! Both ends of a ring that has one writer and one reader, in memory that they share.
//!
//! Records are words of 64 bits, read and written as atomics: whatever the other side does to
//! them, or to the counts, a wrong record is the worst that comes of it. Tests under loom and
//! shuttle try many orders in which the two sides can see each other's writes; and
//! tests/unit/test_user_ring.py lets these ends and the kernel's pass each other records.

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// The other side has set its count to what cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lie;

/// What both ends of a ring look at.
#[derive(Clone, Copy)]
pub struct Ring<'a> {
    slots: &'a [AtomicU64],
    stride: usize,
    records: u32,
    written: &'a AtomicU32,
    read: &'a AtomicU32,
}

impl<'a> Ring<'a> {
    /// A ring of records of `stride` words, as many as `slots` has, which is a power of two.
    ///
    /// # Panics
    /// If it is not.
    pub fn new(
        slots: &'a [AtomicU64],
        stride: usize,
        written: &'a AtomicU32,
        read: &'a AtomicU32,
    ) -> Self {
        assert!(stride > 0 && slots.len() % stride == 0, "half a record");
        let records = (slots.len() / stride) as u32;
        assert!(records.is_power_of_two(), "{records} records");
        Ring {
            slots,
            stride,
            records,
            written,
            read,
        }
    }

    #[inline]
    fn slot(&self, count: u32) -> &'a [AtomicU64] {
        let at = (count & (self.records - 1)) as usize * self.stride;
        &self.slots[at..at + self.stride]
    }

    /// The end that reads; there may be only one.
    pub fn reader(self) -> Reader<'a> {
        let next = self.read.load(Ordering::Relaxed);
        Reader {
            ring: self,
            next,
            seen: next,
        }
    }

    /// The end that writes; there may be only one.
    pub fn writer(self) -> Writer<'a> {
        let next = self.written.load(Ordering::Relaxed);
        // What has been read is unknown until somebody looks: as if nothing were free.
        Writer {
            ring: self,
            next,
            seen: next.wrapping_sub(self.records),
        }
    }
}

/// The end of a ring that reads.
pub struct Reader<'a> {
    ring: Ring<'a>,
    next: u32,
    seen: u32,
}

impl Reader<'_> {
    /// Copies the next record, as much of it as there is room; false: there is none.
    #[inline]
    pub fn pop(&mut self, record: &mut [u64]) -> Result<bool, Lie> {
        if self.next == self.seen && !self.look()? {
            return Ok(false);
        }
        for (to, from) in record.iter_mut().zip(self.ring.slot(self.next)) {
            *to = from.load(Ordering::Relaxed);
        }
        self.next = self.next.wrapping_add(1);
        Ok(true)
    }

    /// Gives back what has been read, and looks whether there is more.
    fn look(&mut self) -> Result<bool, Lie> {
        self.publish();
        let written = self.ring.written.load(Ordering::Acquire);
        if written.wrapping_sub(self.next) > self.ring.records {
            return Err(Lie);
        }
        self.seen = written;
        Ok(written != self.next)
    }

    /// Tells the writer that it may overwrite what has been read.
    #[inline]
    pub fn publish(&self) {
        self.ring.read.store(self.next, Ordering::Release);
    }
}

/// The end of a ring that writes.
pub struct Writer<'a> {
    ring: Ring<'a>,
    next: u32,
    seen: u32,
}

impl Writer<'_> {
    /// Writes a record, which the reader can see at once; false: the ring is full.
    #[inline]
    pub fn push(&mut self, record: &[u64]) -> Result<bool, Lie> {
        if self.next.wrapping_sub(self.seen) == self.ring.records && !self.look()? {
            return Ok(false);
        }
        for (from, to) in record.iter().zip(self.ring.slot(self.next)) {
            to.store(*from, Ordering::Relaxed);
        }
        self.next = self.next.wrapping_add(1);
        self.ring.written.store(self.next, Ordering::Release);
        Ok(true)
    }

    fn look(&mut self) -> Result<bool, Lie> {
        let read = self.ring.read.load(Ordering::Acquire);
        let unread = self.next.wrapping_sub(read);
        if unread > self.ring.records {
            return Err(Lie);
        }
        self.seen = read;
        Ok(unread != self.ring.records)
    }

    /// How many records have been written so far; it wraps around.
    pub fn count(&self) -> u32 {
        self.next
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn words(count: usize) -> Vec<AtomicU64> {
        (0..count).map(|_| AtomicU64::new(0)).collect()
    }

    #[test]
    fn records_come_out_in_order_also_where_counts_wrap_around() {
        let slots = words(8);
        let start = u32::MAX - 5;
        let (written, read) = (AtomicU32::new(start), AtomicU32::new(start));
        let ring = Ring::new(&slots, 2, &written, &read);
        let (mut writer, mut reader) = (ring.writer(), ring.reader());
        let mut record = [0; 2];
        for round in 0..20u64 {
            for at in 0..4 {
                assert_eq!(writer.push(&[round, at]), Ok(true));
            }
            assert_eq!(writer.push(&[9, 9]), Ok(false), "it is full");
            for at in 0..4 {
                assert_eq!(reader.pop(&mut record), Ok(true));
                assert_eq!(record, [round, at]);
            }
            assert_eq!(reader.pop(&mut record), Ok(false), "it is empty");
        }
    }

    #[test]
    fn a_count_that_cannot_be_is_found_out() {
        let slots = words(4);
        let (written, read) = (AtomicU32::new(5), AtomicU32::new(0));
        let ring = Ring::new(&slots, 1, &written, &read);
        assert_eq!(ring.reader().pop(&mut [0]), Err(Lie));
        read.store(6, Ordering::Relaxed);
        let mut writer = ring.writer();
        assert_eq!(writer.push(&[0]), Err(Lie));
    }
}

#[cfg(test)]
#[cfg(any(loom, shuttle))]
mod orders {
    use super::*;

    #[cfg(loom)]
    use loom::{sync::Arc, thread};
    #[cfg(all(shuttle, not(loom)))]
    use shuttle::{sync::Arc, thread};

    struct Shared {
        slots: Vec<AtomicU64>,
        written: AtomicU32,
        read: AtomicU32,
    }

    impl Shared {
        fn ring(&self) -> Ring<'_> {
            Ring::new(&self.slots, 2, &self.written, &self.read)
        }
    }

    /// A writer and a reader over a ring of `records`, whose counts wrap around in between.
    fn pass(records: usize, count: u64) {
        let start = u32::MAX;
        let shared = Arc::new(Shared {
            slots: (0..2 * records).map(|_| AtomicU64::new(0)).collect(),
            written: AtomicU32::new(start),
            read: AtomicU32::new(start),
        });
        let theirs = shared.clone();
        let writer = thread::spawn(move || {
            let mut writer = theirs.ring().writer();
            for number in 1..=count {
                while !writer.push(&[number, !number]).unwrap() {
                    thread::yield_now();
                }
            }
        });
        let mut reader = shared.ring().reader();
        let mut record = [0; 2];
        for number in 1..=count {
            while !reader.pop(&mut record).unwrap() {
                thread::yield_now();
            }
            assert_eq!(record, [number, !number]);
        }
        assert_eq!(reader.pop(&mut record), Ok(false));
        writer.join().unwrap();
    }

    #[cfg(loom)]
    #[test]
    fn loom_tries_all_orders_with_few_preemptions() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| pass(1, 3));
        model.preemption_bound = Some(2);
        model.check(|| pass(2, 3));
    }

    #[cfg(all(shuttle, not(loom)))]
    #[test]
    fn shuttle_tries_many_orders() {
        shuttle::check_random(|| pass(1, 5), 5_000);
        shuttle::check_random(|| pass(4, 20), 5_000);
        shuttle::check_pct(|| pass(4, 20), 5_000, 3);
    }
}
