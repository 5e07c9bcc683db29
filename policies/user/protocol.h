/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What the policy `user` and a scheduler in user space, its agent, say to each other.
 *
 * An agent opens /dev/saakm_user once for each of its domains, sets of CPUs, from a thread
 * of this policy, which decides for that domain from then on: USER_ATTACH. It maps the file:
 * a page of counts, a ring of events that the kernel writes, and one of decisions that the
 * agent writes. It reads events, writes decisions, and says USER_PARK when it has nothing
 * more to do; that returns when there is something.
 *
 * Counts of both rings run freely and wrap around; a record lies at count % ring size. Who
 * writes a ring publishes its count with release semantics after the record, and who reads it
 * likewise after it has read.
 */
#ifndef _SAAKM_USER_PROTOCOL_H
#define _SAAKM_USER_PROTOCOL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define USER_PROTOCOL	1
#define USER_DEVICE	"saakm_user"
#define USER_RECORDS	4096	/* in each ring */
#define USER_NAME_LEN	32
#define USER_ANY	(-1)	/* as a CPU: the first of the domain that runs dry */

/**
 * struct user_page - what lies at the start of the mapping
 * @protocol: USER_PROTOCOL
 * @nr_cpus: CPUs have lesser numbers
 * @event_bytes: from one event to the next
 * @events_at: where the ring of events lies, bytes from here
 * @decisions_at: where the ring of decisions lies
 * @idle_at: where a bitmap of CPUs lies, of 64-bit words: which of the domain idle
 * @bytes: of the whole mapping
 * @events_written: count; events are there up to it
 * @decisions_read: count; decisions have been carried out up to it
 * @retire: another agent takes over: save what it shall know, and leave
 * @lost: count; events that were not written, since the ring was full: affinities and weights,
 *	and who sleeps or has left, may be others than the agent was told. USER_READY is not
 *	among them: the kernel places the thread as if there were no agent
 * @events_read: count; the agent's
 * @decisions_written: count; the agent's
 * @held: how many threads the agent keeps, to decide about them when a CPU runs dry. While there
 *	are any, and it does not sleep in USER_PARK, turns end with a tick once their slice is used
 *
 * The kernel reads the last three; of what it has written @retire, to wake the agent, and which
 * CPUs idle, as a hint for USER_ANY.
 */
struct user_page {
	__u32	protocol;
	__u32	nr_cpus;
	__u32	event_bytes;
	__u32	events_at;
	__u32	decisions_at;
	__u32	idle_at;
	__u32	bytes;
	__u32	unused[9];

	__u32	events_written;		/* a cache line of the kernel's */
	__u32	decisions_read;
	__u32	retire;
	__u32	lost;
	__u32	unused2[12];

	__u32	events_read;		/* a cache line of the agent's */
	__u32	decisions_written;
	__u32	held;
	__u32	unused3[13];
};

/**
 * enum user_kind - what an event says
 * @USER_READY: a thread waits until the agent decides about it
 * @USER_CHANGED: its weight, affinity or cgroup may have changed. It waits on, if it did
 * @USER_SLEEPS: it sleeps; only with USER_TELL_SLEEPS
 * @USER_LEFT: it has died, or left the policy. The last event about it. It goes to the agent of
 *	the CPU where the thread was last: another one that was told of it must find out by itself,
 *	as by kill(pid, 0)
 */
enum user_kind {
	USER_READY	= 1,
	USER_CHANGED	= 2,
	USER_SLEEPS	= 3,
	USER_LEFT	= 4,
};

/**
 * enum user_event_flags - how that came about
 * @USER_NEW: the first event about the thread, to whichever agent. It may have run before
 * @USER_WOKEN: it slept
 * @USER_SYNC: and who woke it is about to sleep
 * @USER_SLICE: its slice is over, or its turn, which the kernel gave by itself
 * @USER_YIELDED: it called sched_yield()
 * @USER_MOVED: it was taken from another CPU, without having slept
 */
enum user_event_flags {
	USER_NEW	= 1 << 0,
	USER_WOKEN	= 1 << 1,
	USER_SYNC	= 1 << 2,
	USER_SLICE	= 1 << 3,
	USER_YIELDED	= 1 << 4,
	USER_MOVED	= 1 << 5,
};

/**
 * struct user_event - something has happened to a thread
 * @at_ns: when; as all times, by the clock of its CPU
 * @start_ns: when its last turn began; 0: it had none
 * @stop_ns: when that ended
 * @used_ns: CPU time since the last USER_READY about it
 * @exec_ns: CPU time since it last slept
 * @pid: of the thread, in the first PID namespace
 * @tgid: of its process
 * @generation: of this wait: to be repeated in the decision
 * @weight: 1024 at nice 0, as in the fair class
 * @cpu: where it is
 * @nr_allowed: number of CPUs that it may use
 * @waker: pid of who woke it; 0: no thread, or nobody
 * @kind: enum user_kind
 * @flags: enum user_event_flags
 * @comm: its name
 * @allowed: the CPUs that it may use, as many bits as there are CPUs
 */
struct user_event {
	__u64	at_ns;
	__u64	start_ns;
	__u64	stop_ns;
	__u64	used_ns;
	__u64	exec_ns;
	__u32	pid;
	__u32	tgid;
	__u32	generation;
	__u32	weight;
	__s32	cpu;
	__u32	nr_allowed;
	__u32	waker;
	__u16	kind;
	__u16	flags;
	char	comm[16];
	__u64	allowed[];
};

/**
 * enum user_decision_flags - how the thread gets the CPU; others are for later protocols
 * @USER_PREEMPT: it takes the CPU from whoever has it there, of this policy
 * @USER_TICKS: its slice ends with a tick, as in sched_ext, the first one at which it has used it:
 *	cheaper than a timer, and short bursts are not cut into pieces
 */
enum user_decision_flags {
	USER_PREEMPT	= 1 << 0,
	USER_TICKS	= 1 << 1,
};

/**
 * struct user_decision - a thread that waits shall run
 * @key: the least goes first on its CPU, equals in order of arrival. Keys may wrap around
 * @slice_ns: for so long, if others wait; 0: the policy's slice_us
 * @pid: as in the event
 * @generation: as in the event. Another one: the decision is stale, and dropped
 * @cpu: where, or USER_ANY. If it may not run there, the decision is bounced: it runs where
 *	it waits
 * @flags: enum user_decision_flags. With any other the decision is bounced likewise
 */
struct user_decision {
	__u64	key;
	__u64	slice_ns;
	__u32	pid;
	__u32	generation;
	__s32	cpu;
	__u32	flags;
};

/**
 * enum user_attach_flags
 * @USER_TAKE_OVER: from the agent that has any of these CPUs now
 * @USER_TELL_SLEEPS: there are events USER_SLEEPS
 * @USER_NO_FAST_PATH: a thread that wakes is not put on an idle CPU by the kernel
 * @USER_NO_BURST: the agent runs as soon as there is an event, not at the end of a CPU's queue
 */
enum user_attach_flags {
	USER_TAKE_OVER		= 1 << 0,
	USER_TELL_SLEEPS	= 1 << 1,
	USER_NO_FAST_PATH	= 1 << 2,
	USER_NO_BURST		= 1 << 3,
};

/**
 * struct user_attach - argument of USER_ATTACH
 * @protocol: USER_PROTOCOL
 * @flags: enum user_attach_flags
 * @cpus: address of a bitmap: the domain
 * @cpus_bytes: its length, a multiple of 8
 * @unused: 0
 * @name: of the scheduler, and its version, for messages
 * @sentence: written by the kernel: why it refuses, or whom this agent has replaced
 */
struct user_attach {
	__u32	protocol;
	__u32	flags;
	__u64	cpus;
	__u32	cpus_bytes;
	__u32	unused;
	char	name[USER_NAME_LEN];
	char	sentence[128];
};

/**
 * struct user_state - argument of USER_SAVE and USER_LOAD
 * @data: address
 * @bytes: length; USER_LOAD: of the buffer, and the state's on return, which may be more
 *
 * One state is kept, of 1 MiB at most, until the next one or until the module goes.
 */
struct user_state {
	__u64	data;
	__u64	bytes;
};

/*
 * The file: open() takes CAP_SYS_NICE, else -EPERM. mmap() is possible after USER_ATTACH, before
 *	-ENODEV, and with MAP_SHARED, else, or beyond @bytes, -EINVAL.
 * USER_ATTACH: 0; -EPROTO for another protocol, -EBUSY if somebody else has a CPU of the domain, or
 *	this file or thread a domain, -EPERM if the thread is not of the policy, -EINVAL for
 *	flags or a set of CPUs that are not. The sentence says which. Without one: -EFAULT for an
 *	address, -ENOMEM, and -EINTR if the thread is killed while it waits for another agent to
 *	leave.
 * USER_PARK: carries out the decisions, and returns 0 when there are events, or the agent is to
 *	retire; also at once if there were decisions and @held is not 0: whoever keeps threads may
 *	have one for a CPU that has nothing now. -EINTR at a signal while it sleeps: the decisions
 *	have been carried out. -ESTALE: this agent has been replaced, or the policy ejected.
 *	-EPERM for another thread than that which has attached, or before.
 * USER_SUBMIT: carries out the decisions, and returns at once: 0, -EPERM as above, or -ESTALE if
 *	this agent has been replaced.
 * USER_SAVE: 0; -EFBIG for more than 1 MiB, -EFAULT, -ENOMEM.
 * USER_LOAD: 0; -ENODATA if nothing has been saved, -EFAULT, -ENOMEM.
 */
#define USER_ATTACH	_IOWR('S', 1, struct user_attach)
#define USER_PARK	_IO('S', 2)
#define USER_SUBMIT	_IO('S', 3)
#define USER_SAVE	_IOW('S', 4, struct user_state)
#define USER_LOAD	_IOWR('S', 5, struct user_state)

#endif /* _SAAKM_USER_PROTOCOL_H */
