// SPDX-License-Identifier: GPL-2.0
//! The agent's end of both rings against the kernel's: kernel.c, with policies/user/bridge.c.
//!
//! Two threads pass each other as many records as the first argument says, and look at each
//! field of each. tests/unit/test_user_ring.py builds this with ThreadSanitizer and runs it.
//! The modules are the crate's own files: they need nothing else of it.

#[allow(dead_code)]
#[path = "../../../crates/saakm-user/src/area.rs"]
mod area;
#[allow(dead_code)]
#[path = "../../../crates/saakm-user/src/protocol.rs"]
mod protocol;
#[allow(dead_code)]
#[path = "../../../crates/saakm-user/src/ring.rs"]
mod ring;
#[path = "../../../crates/saakm-user/src/sync.rs"]
mod sync;

/// All that area.rs wants of it: never called, for the memory is the kernel's end's.
mod system {
    pub unsafe fn unmap(_: std::ptr::NonNull<u8>, _: usize) {}
}

use std::ffi::{c_char, CStr};
use std::mem::ManuallyDrop;
use std::process::exit;
use std::ptr::NonNull;
use std::thread;

use area::Area;
use protocol::{Decision, EventHead, ANY, EVENT_WORDS, PREEMPT};
use ring::{Reader, Writer};
use sync::{AtomicU64, Ordering};

extern "C" {
    fn ring_memory(bytes: &mut u32) -> *mut u8;
    fn ring_kernel(number: u64) -> u32;

    static ring_events_full: AtomicU64;
    static ring_events_empty: AtomicU64;
    static ring_decisions_full: AtomicU64;
    static ring_decisions_empty: AtomicU64;
}

const NR_CPUS: u32 = 100;
const PERIOD: u64 = 40_000;

fn wrong(what: &str, number: u64) -> ! {
    eprintln!("record {number}: {what}");
    exit(1);
}

#[no_mangle]
extern "C" fn ring_wrong(what: *const c_char, number: u64) -> ! {
    // SAFETY: kernel.c gives a literal.
    wrong(&unsafe { CStr::from_ptr(what) }.to_string_lossy(), number)
}

/// Of each field of each record, another one. kernel.c has the same.
fn content(number: u64, field: u64) -> u64 {
    (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (field + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

fn pid_of(number: u64, field: u64) -> u32 {
    content(number, field) as u32 & i32::MAX as u32
}

fn small(number: u64, field: u64, limit: u64) -> u64 {
    (content(number, field) >> 32) % limit
}

fn event(number: u64) -> EventHead {
    let flags = small(number, 13, 64) as u16;
    let is_wakeup = flags & (protocol::why::NEW | protocol::why::WOKEN) != 0;
    let mut comm = [0; 16];
    comm[..8].copy_from_slice(&content(number, 14).to_ne_bytes());
    comm[8..].copy_from_slice(&content(number, 15).to_ne_bytes());
    EventHead {
        at_ns: content(number, 0),
        start_ns: content(number, 1),
        stop_ns: content(number, 2),
        used_ns: content(number, 3),
        exec_ns: content(number, 4),
        pid: pid_of(number, 6),
        tgid: pid_of(number, 7),
        generation: content(number, 8) as u32,
        weight: content(number, 9) as u32,
        cpu: small(number, 10, NR_CPUS.into()) as i32,
        nr_allowed: pid_of(number, 11),
        waker: if is_wakeup { pid_of(number, 12) } else { 0 },
        kind: (1 + number % 4) as u16,
        flags,
        comm,
    }
}

fn decision(number: u64) -> Decision {
    let cpu = small(number, 24, NR_CPUS.into()) as i32;
    Decision {
        key: content(number, 20),
        slice_ns: content(number, 21),
        pid: pid_of(number, 22),
        generation: content(number, 23) as u32,
        cpu: if number % 8 == 7 { ANY } else { cpu },
        flags: (content(number, 25) >> 63) as u32 * PREEMPT,
    }
}

/// Goes on when the other thread has seen it once more.
fn wait_for(seen: &AtomicU64) {
    let before = seen.load(Ordering::Relaxed);
    while seen.load(Ordering::Relaxed) == before {
        thread::yield_now();
    }
}

fn count(seen: &AtomicU64) {
    seen.store(seen.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

fn take(events: &mut Reader, record: &mut [u64], number: u64) {
    loop {
        match events.pop(record) {
            Ok(true) => break,
            // SAFETY: kernel.c has it, and it is accessed as an atomic only.
            Ok(false) => count(unsafe { &ring_events_empty }),
            Err(_) => wrong("the count of events is a lie", number),
        }
        thread::yield_now();
    }
    // SAFETY: as in agent.rs of the crate: so many words are there, and any bits are an event.
    let head = unsafe { &*record[..EVENT_WORDS].as_ptr().cast::<EventHead>() };
    let expected = event(number);
    if *head != expected {
        eprintln!("{head:?}\nbut not\n{expected:?}");
        wrong("an event", number);
    }
    let allowed = [content(number, 16), content(number, 17)];
    if record[EVENT_WORDS..EVENT_WORDS + 2] != allowed {
        wrong("the CPUs of an event", number);
    }
}

fn give(decisions: &mut Writer, number: u64) {
    let words = decision(number).to_words();
    loop {
        match decisions.push(&words) {
            Ok(true) => return,
            // SAFETY: as above.
            Ok(false) => count(unsafe { &ring_decisions_full }),
            Err(_) => wrong("the count of decisions is a lie", number),
        }
        thread::yield_now();
    }
}

/// A decision for each event. Of each PERIOD, see kernel.c, it stops twice: until there is no
/// room for events, and until there are no decisions.
fn serve(area: &Area, number: u64) {
    let mut events = area.events().reader();
    let mut decisions = area.decisions().writer();
    let mut record = vec![0; area.event_words()];
    for at in 0..number {
        take(&mut events, &mut record, at);
        match at % PERIOD {
            // SAFETY: as above.
            0 if at > 0 => wait_for(unsafe { &ring_decisions_empty }),
            20_000 => {
                events.publish();
                // SAFETY: as above.
                wait_for(unsafe { &ring_events_full });
            }
            _ => (),
        }
        area.held().store(at as u32 & 1, Ordering::Relaxed);
        give(&mut decisions, at);
    }
    events.publish();
    if events.pop(&mut record) != Ok(false) {
        wrong("there is one event more", number);
    }
}

fn main() {
    let argument = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let number: u64 = argument.expect("a number of records");
    assert!(number > 0 && number % PERIOD == 0, "not whole periods");
    let mut bytes = 0;
    // SAFETY: no thread of kernel.c's runs yet.
    let base = NonNull::new(unsafe { ring_memory(&mut bytes) }).expect("memory");
    // SAFETY: it stays, and is never unmapped.
    let area = unsafe { Area::from_mapping(base, bytes as usize) };
    let area = ManuallyDrop::new(area.unwrap_or_else(|why| wrong(&why, 0)));
    // SAFETY: it is called once.
    let kernel = thread::spawn(move || unsafe { ring_kernel(number) });
    serve(&area, number);
    let lost = kernel.join().expect("no panic");
    if area.lost().load(Ordering::Relaxed) != lost {
        wrong("how many are lost", lost.into());
    }
    // SAFETY: as above.
    let seen = unsafe {
        [
            &ring_events_full,
            &ring_events_empty,
            &ring_decisions_full,
            &ring_decisions_empty,
        ]
    };
    let seen = seen.map(|seen| seen.load(Ordering::Relaxed).to_string());
    println!("{}", seen.join(" "));
}
