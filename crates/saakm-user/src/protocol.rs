// SPDX-License-Identifier: GPL-2.0
//! What kernel and agent say to each other: `policies/user/protocol.h`, field by field.
//!
//! A test compiles that file and compares each size, offset and number with these.

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;
/// The device, below /dev.
pub const DEVICE: &str = "saakm_user";
/// How many records each ring has.
pub const RECORDS: u32 = 4096;
/// How long the name of a scheduler may be, with its final NUL.
pub const NAME_LEN: usize = 32;
/// As a decision's CPU: the first of the domain that runs dry.
pub const ANY: i32 = -1;
/// The state that the kernel keeps for the next agent is no longer than this.
pub const STATE_MAX: usize = 1 << 20;

/// The start of the mapping.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// CPUs have lesser numbers.
    pub nr_cpus: u32,
    /// From one event to the next.
    pub event_bytes: u32,
    /// Where the ring of events lies, in bytes from here.
    pub events_at: u32,
    /// Where the ring of decisions lies.
    pub decisions_at: u32,
    /// Where the bitmap of the domain's idle CPUs lies, of 64-bit words.
    pub idle_at: u32,
    /// The length of the whole mapping.
    pub bytes: u32,
    unused: [u32; 9],
    /// Events are there up to this count.
    pub events_written: u32,
    /// Decisions have been carried out up to this count.
    pub decisions_read: u32,
    /// Another agent takes over: save what it shall know, and leave.
    pub retire: u32,
    /// Events but [`kind::READY`] that were not written, since the ring was full.
    pub lost: u32,
    unused2: [u32; 12],
    /// The agent has read events up to this count.
    pub events_read: u32,
    /// The agent has written decisions up to this count.
    pub decisions_written: u32,
    /// How many threads the agent keeps, to decide about them when a CPU runs dry.
    pub held: u32,
    unused3: [u32; 13],
}

/// What an event says: [`EventHead::kind`].
pub mod kind {
    /// A thread waits until the agent decides about it.
    pub const READY: u16 = 1;
    /// Its weight, affinity or cgroup may have changed. It waits on, if it did.
    pub const CHANGED: u16 = 2;
    /// It sleeps; only with [`TELL_SLEEPS`](super::attach::TELL_SLEEPS).
    pub const SLEEPS: u16 = 3;
    /// It has died, or left the policy. The last event about it, which goes to the agent of
    /// the CPU where it was last.
    pub const LEFT: u16 = 4;
}

/// How an event came about: bits of [`EventHead::flags`].
pub mod why {
    /// It is the first event about the thread, to whichever agent. It may have run before.
    pub const NEW: u16 = 1 << 0;
    /// The thread slept.
    pub const WOKEN: u16 = 1 << 1;
    /// And who woke it is about to sleep.
    pub const SYNC: u16 = 1 << 2;
    /// Its slice is over.
    pub const SLICE: u16 = 1 << 3;
    /// It called sched_yield().
    pub const YIELDED: u16 = 1 << 4;
    /// It was taken from another CPU, without having slept.
    pub const MOVED: u16 = 1 << 5;
}

/// Something has happened to a thread. A bitmap of the CPUs that it may use follows.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventHead {
    /// When; as all times, by the clock of its CPU.
    pub at_ns: u64,
    /// When its last turn began; 0: it had none.
    pub start_ns: u64,
    /// When that ended.
    pub stop_ns: u64,
    /// CPU time since the last [`kind::READY`] about it.
    pub used_ns: u64,
    /// CPU time since it last slept.
    pub exec_ns: u64,
    /// Of the thread, in the first PID namespace.
    pub pid: u32,
    /// Of its process.
    pub tgid: u32,
    /// Of this wait: [`Task`](crate::Task) repeats it in the decision.
    pub generation: u32,
    /// 1024 at nice 0, as in the fair class.
    pub weight: u32,
    /// Where it is.
    pub cpu: i32,
    /// The number of CPUs that it may use.
    pub nr_allowed: u32,
    /// The pid of who woke it; 0: no thread, or nobody.
    pub waker: u32,
    /// What has happened, of [`mod@kind`].
    pub kind: u16,
    /// How, of [`mod@why`].
    pub flags: u16,
    /// Its name.
    pub comm: [u8; 16],
}

/// Words of 64 bits before an event's bitmap.
pub const EVENT_WORDS: usize = size_of::<EventHead>() / 8;

/// As [`Decision::flags`]: it takes the CPU from whoever has it there, of this policy.
pub const PREEMPT: u32 = 1 << 0;
/// A decision: the slice ends with a tick.
pub const TICKS: u32 = 1 << 1;

/// A thread that waits shall run.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decision {
    /// The least goes first on its CPU, equals in order of arrival. Keys may wrap around.
    pub key: u64,
    /// For so long, if others wait; 0: the policy's slice_us.
    pub slice_ns: u64,
    /// As in the event.
    pub pid: u32,
    /// As in the event.
    pub generation: u32,
    /// Where, or [`ANY`].
    pub cpu: i32,
    /// Of [`PREEMPT`] and [`TICKS`].
    pub flags: u32,
}

/// Words of 64 bits in a decision.
pub const DECISION_WORDS: usize = size_of::<Decision>() / 8;

impl Decision {
    /// As it lies in the ring.
    pub fn to_words(self) -> [u64; DECISION_WORDS] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        [
            self.key,
            self.slice_ns,
            pair(self.pid, self.generation),
            pair(self.cpu as u32, self.flags),
        ]
    }

    /// What lies in the ring.
    pub fn from_words(words: &[u64; DECISION_WORDS]) -> Self {
        Decision {
            key: words[0],
            slice_ns: words[1],
            pid: words[2] as u32,
            generation: (words[2] >> 32) as u32,
            cpu: words[3] as i32,
            flags: (words[3] >> 32) as u32,
        }
    }
}

/// Bits of [`Attach::flags`].
pub mod attach {
    /// From the agent that has any of these CPUs now.
    pub const TAKE_OVER: u32 = 1 << 0;
    /// There are events [`kind::SLEEPS`](super::kind::SLEEPS).
    pub const TELL_SLEEPS: u32 = 1 << 1;
    /// A thread that wakes is not put on an idle CPU by the kernel.
    pub const NO_FAST_PATH: u32 = 1 << 2;
    /// The agent runs as soon as there is an event, not at the end of a CPU's queue.
    pub const NO_BURST: u32 = 1 << 3;
}

/// The argument of [`ATTACH`].
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Attach {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Of [`mod@attach`].
    pub flags: u32,
    /// The address of a bitmap: the domain.
    pub cpus: u64,
    /// Its length, a multiple of 8.
    pub cpus_bytes: u32,
    /// 0.
    pub unused: u32,
    /// Of the scheduler, and its version, for messages.
    pub name: [u8; NAME_LEN],
    /// Written by the kernel: why it refuses, or whom this agent has replaced.
    pub sentence: [u8; 128],
}

/// The argument of [`SAVE`] and [`LOAD`].
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct State {
    /// An address.
    pub data: u64,
    /// Of the buffer, and on return from [`LOAD`] of the state, which may be longer.
    pub bytes: u64,
}

const fn ioctl(direction: u32, number: u32, bytes: usize) -> u32 {
    direction << 30 | (bytes as u32) << 16 | (b'S' as u32) << 8 | number
}

/// Become the agent of a domain.
pub const ATTACH: u32 = ioctl(3, 1, size_of::<Attach>());
/// Carry out the decisions, and wait for events.
pub const PARK: u32 = ioctl(0, 2, 0);
/// Carry out the decisions.
pub const SUBMIT: u32 = ioctl(0, 3, 0);
/// Leave a state to the next agent.
pub const SAVE: u32 = ioctl(1, 4, size_of::<State>());
/// Take the state that the last agent has left.
pub const LOAD: u32 = ioctl(3, 5, size_of::<State>());

const _: () = assert!(size_of::<Page>() == 192);
const _: () = assert!(size_of::<EventHead>() == 88);
const _: () = assert!(size_of::<Decision>() == 32);
const _: () = assert!(size_of::<Attach>() == 184);
const _: () = assert!(size_of::<State>() == 16);
const _: () = assert!(std::mem::offset_of!(Page, events_written) == 64);
const _: () = assert!(std::mem::offset_of!(Page, events_read) == 128);
const _: () = assert!(std::mem::offset_of!(EventHead, comm) == 72);
const _: () = assert!(std::mem::offset_of!(Decision, pid) == 16);
