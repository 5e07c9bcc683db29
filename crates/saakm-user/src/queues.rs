// SPDX-License-Identifier: GPL-2.0
//! Queues of threads that wait: one in the order of keys, and a set of them, one for each
//! domain, between which agents of one process steal.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use crate::area::Area;
use crate::domains::Domain;
use crate::member::Place;
use crate::signals;

/// Threads in the order of their keys; with equal keys in that of their arrival.
///
/// The first is kept apart: where at most one waits, which is usual on a CPU, there is no tree
/// to look after.
#[derive(Debug)]
pub struct Ordered<T> {
    first: Option<(Ticket, T)>,
    /// Empty if there is no first.
    others: BTreeMap<Ticket, T>,
    arrivals: u64,
}

/// A place in an [`Ordered`], by which a thread can be taken out.
pub type Ticket = (u64, u64);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Ordered {
            first: None,
            others: BTreeMap::new(),
            arrivals: 0,
        }
    }
}

impl<T> Ordered<T> {
    /// Adds a thread.
    pub fn push(&mut self, key: u64, thread: T) -> Ticket {
        self.arrivals += 1;
        let ticket = (key, self.arrivals);
        match &mut self.first {
            None => self.first = Some((ticket, thread)),
            Some(first) if ticket < first.0 => {
                let (later, other) = std::mem::replace(first, (ticket, thread));
                self.others.insert(later, other);
            }
            Some(_) => drop(self.others.insert(ticket, thread)),
        }
        ticket
    }

    /// Takes the first.
    pub fn pop(&mut self) -> Option<(u64, T)> {
        let next = self.others.pop_first();
        let ((key, _), thread) = std::mem::replace(&mut self.first, next)?;
        Some((key, thread))
    }

    /// Takes the first that `fits`. Most threads do.
    pub fn pop_if(&mut self, mut fits: impl FnMut(&T) -> bool) -> Option<(u64, T)> {
        if fits(&self.first.as_ref()?.1) {
            return self.pop();
        }
        if self.others.is_empty() {
            return None;
        }
        let found = self.others.iter().find(|(_, thread)| fits(thread));
        let ticket = *found?.0;
        let thread = self.others.remove(&ticket)?;
        Some((ticket.0, thread))
    }

    /// Takes that one, unless it is gone.
    pub fn remove(&mut self, ticket: Ticket) -> Option<T> {
        match &self.first {
            Some((first, _)) if *first == ticket => self.pop().map(|(_, thread)| thread),
            _ => self.others.remove(&ticket),
        }
    }

    /// The first and its key.
    pub fn first(&self) -> Option<(u64, &T)> {
        let ((key, _), thread) = self.first.as_ref()?;
        Some((*key, thread))
    }

    /// How many threads wait.
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    /// True if none does.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

/// A neighbour that can be seen and woken, until it ends: the kernel takes a mapping for an
/// agent that has not left.
struct Neighbour {
    area: Weak<Area>,
    tid: i32,
}

/// One domain's queue. Agents that touch different ones share no cache line.
#[repr(align(128))]
struct Slot<T> {
    queue: Mutex<Ordered<T>>,
    length: AtomicUsize,
    arrivals: AtomicUsize,
    neighbour: OnceLock<Neighbour>,
    nudged: AtomicBool,
}

/// A queue for each domain.
pub struct Queues<T> {
    slots: Vec<Slot<T>>,
}

impl<T> Queues<T> {
    /// For so many domains, or more.
    pub fn new(domains: usize) -> Self {
        let slot = |_| Slot {
            queue: Mutex::new(Ordered::default()),
            length: AtomicUsize::new(0),
            arrivals: AtomicUsize::new(0),
            neighbour: OnceLock::new(),
            nudged: AtomicBool::new(false),
        };
        Queues {
            slots: (0..domains).map(slot).collect(),
        }
    }

    /// Makes an agent known to its neighbours.
    pub fn register(&self, place: &Place) {
        let neighbour = Neighbour {
            area: Arc::downgrade(&place.area),
            tid: place.tid,
        };
        // A second agent of the same domain could only be the same again.
        let _ = self.slots[place.domain.number].neighbour.set(neighbour);
    }

    /// Adds a thread to a domain's queue.
    pub fn push(&self, domain: usize, key: u64, thread: T) -> Ticket {
        let slot = &self.slots[domain];
        let mut queue = lock(&slot.queue);
        let ticket = queue.push(key, thread);
        slot.arrivals
            .store(queue.arrivals as usize, Ordering::Relaxed);
        slot.length.store(queue.len(), Ordering::Relaxed);
        ticket
    }

    /// Takes the first of a domain's own threads that fits.
    pub fn pop_if(&self, domain: usize, fits: impl FnMut(&T) -> bool) -> Option<(u64, T)> {
        let slot = &self.slots[domain];
        if slot.length.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut queue = lock(&slot.queue);
        let first = queue.pop_if(fits);
        slot.length.store(queue.len(), Ordering::Relaxed);
        first
    }

    /// Takes a thread that fits from another domain, the nearest that has one. One whose
    /// queue is in use is passed over: it has an agent that is awake.
    pub fn steal(&self, domain: &Domain, mut fits: impl FnMut(&T) -> bool) -> Option<(u64, T)> {
        domain.others.iter().find_map(|other| {
            let slot = &self.slots[*other];
            if slot.length.load(Ordering::Relaxed) == 0 {
                return None;
            }
            let mut queue = slot.queue.try_lock().ok()?;
            let first = queue.pop_if(&mut fits);
            slot.length.store(queue.len(), Ordering::Relaxed);
            first
        })
    }

    /// Takes that thread, unless it is gone.
    pub fn remove(&self, domain: usize, ticket: Ticket) -> Option<T> {
        let slot = &self.slots[domain];
        let mut queue = lock(&slot.queue);
        let thread = queue.remove(ticket);
        slot.length.store(queue.len(), Ordering::Relaxed);
        thread
    }

    /// How many threads a domain has.
    pub fn len(&self, domain: usize) -> usize {
        self.slots[domain].length.load(Ordering::Relaxed)
    }

    /// How many there are in all domains: what an agent of any of them has to choose from.
    pub fn total(&self) -> usize {
        let lengths = self
            .slots
            .iter()
            .map(|slot| slot.length.load(Ordering::Relaxed));
        lengths.sum()
    }

    /// How many there have ever been. Who has found nothing need not look again until then.
    pub fn arrivals(&self) -> usize {
        let arrivals = self
            .slots
            .iter()
            .map(|slot| slot.arrivals.load(Ordering::Relaxed));
        arrivals.fold(0, usize::wrapping_add)
    }

    /// Wakes the nearest agent that has an idle CPU, if threads of this domain wait. It will
    /// steal them. To be called when the domain itself has no idle CPU.
    pub fn call_for_help(&self, domain: &Domain) {
        let slot = &self.slots[domain.number];
        // Who is called is awake from now on, and may be called again.
        slot.nudged.store(false, Ordering::Relaxed);
        if slot.length.load(Ordering::Relaxed) == 0 {
            return;
        }
        for other in &domain.others {
            let slot = &self.slots[*other];
            let Some(neighbour) = slot.neighbour.get() else {
                continue;
            };
            let Some(area) = neighbour.area.upgrade() else {
                continue;
            };
            let idle = area.idle().iter();
            if idle
                .map(|word| word.load(Ordering::Relaxed))
                .all(|word| word == 0)
            {
                continue;
            }
            if !slot.nudged.swap(true, Ordering::Relaxed) {
                signals::nudge(neighbour.tid);
            }
            return;
        }
    }
}

/// A panic ends the process, so nobody ever sees a queue that one has left.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpus::Cpus;

    #[test]
    fn equal_keys_keep_their_order() {
        let mut queue = Ordered::default();
        for (key, thread) in [(5, 'a'), (3, 'b'), (5, 'c'), (3, 'd')] {
            queue.push(key, thread);
        }
        let gone = queue.push(4, 'x');
        assert_eq!(queue.remove(gone), Some('x'));
        assert_eq!(queue.remove(gone), None);
        assert_eq!(queue.pop_if(|thread| *thread != 'b'), Some((3, 'd')));
        let rest: String = std::iter::from_fn(|| queue.pop())
            .map(|(_, it)| it)
            .collect();
        assert_eq!(rest, "bac");
    }

    proptest::proptest! {
        /// Whatever is done to it, it is a list that stays sorted.
        #[test]
        fn a_queue_is_a_sorted_list(doings in proptest::collection::vec((0..4u8, 0..6u64), 0..60)) {
            let (mut queue, mut list) = (Ordered::default(), Vec::new());
            for (doing, key) in doings {
                match doing {
                    0 | 1 => {
                        let ticket = queue.push(key, key);
                        list.push(ticket);
                        list.sort_unstable();
                    }
                    2 => {
                        let at = list.iter().position(|(found, _)| *found != key);
                        let expected = at.map(|at| list.remove(at).0);
                        let found = queue.pop_if(|thread| *thread != key);
                        assert_eq!(found, expected.map(|key| (key, key)));
                    }
                    _ => {
                        let at = key as usize % (list.len() + 1);
                        let ticket = if at < list.len() { list.remove(at) } else { (key, 0) };
                        assert_eq!(queue.remove(ticket).is_some(), ticket.1 > 0);
                    }
                }
                assert_eq!((queue.len(), queue.is_empty()), (list.len(), list.is_empty()));
                assert_eq!(queue.first().map(|(key, _)| key), list.first().map(|it| it.0));
            }
            let rest: Vec<u64> = std::iter::from_fn(|| queue.pop()).map(|it| it.0).collect();
            assert_eq!(rest, list.iter().map(|it| it.0).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_nearest_domain_is_robbed_first() {
        let queues = Queues::new(3);
        let domain = Domain {
            number: 0,
            cpus: Cpus::from_iter([0]),
            others: vec![2, 1],
        };
        queues.push(1, 1, "far");
        queues.push(2, 9, "near");
        queues.push(2, 8, "pinned");
        assert_eq!(queues.total(), 3);
        assert_eq!(
            queues.steal(&domain, |it| *it != "pinned"),
            Some((9, "near"))
        );
        assert_eq!(
            queues.steal(&domain, |it| *it != "pinned"),
            Some((1, "far"))
        );
        assert_eq!(queues.steal(&domain, |it| *it != "pinned"), None);
        assert_eq!(queues.pop_if(2, |_| true), Some((8, "pinned")));
        assert_eq!((queues.total(), queues.len(2)), (0, 0));
    }
}
