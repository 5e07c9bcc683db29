/* SPDX-License-Identifier: GPL-2.0 */
/* user: threads, cores and agents, and what its three files call of each other. */
#ifndef _SAAKM_USER_H
#define _SAAKM_USER_H

#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/saakm.h>
#include <linux/sched/signal.h>

#include "protocol.h"

/* Threads that nobody decides about go so far behind who runs: keys may wrap around. */
#define USER_FAR	BIT_ULL(62)

/* Of a thread; under the lock of its runqueue */
struct user_task {
	u64		key;
	u64		slice_ns;	/* that it was given; 0: the policy's */
	u64		set_ns;		/* what the class has been told of that */
	u64		start_ns, stop_ns;
	u64		ran_at_ns;	/* its CPU time when its turn began */
	u64		told_at_ns;	/* when the agent was last asked */
	u64		slept_at_ns;	/* when it last slept */
	unsigned long	asked;		/* jiffies, of its event */
	u32		generation;
	u32		tgid;
	bool		known;		/* to some agent: there was an event */
	bool		undecided;	/* it waits for the agent */
	bool		decided;	/* its turn is the agent's doing */
	bool		any;		/* where it waits nobody has chosen */
	bool		last;		/* USER_FAR is in its key, or was */
	bool		preempts;
	bool		ticks;		/* its slice ends with a tick */
};

/* Decisions, by what became of them. Of one CPU, under its lock, or of one agent. */
struct user_counts {
	unsigned long	fast;		/* placed without an event: on an idle CPU, */
	unsigned long	own;		/* of the agent's process, or a CPU's kthread, */
	unsigned long	alone;		/* without an agent, */
	unsigned long	full;		/* because the ring was full */
	unsigned long	rescued;	/* elected because the agent did not answer */
};

struct user_core {
	struct saakm_rq			waiting;	/* for the agent's decision */
	struct saakm_rq			urgent;		/* to preempt who runs */
	struct saakm_rq			parked;		/* the agent */
	struct user_agent __rcu		*agent;
	u64				key;		/* of who runs */
	unsigned long			dry;		/* jiffies, since nobody is decided; or 0 */
	bool				over;		/* who runs waits for the agent to park */
	struct user_counts		counts;
};

/* One open file, and the CPUs that it decides for */
struct user_agent {
	struct saakm_policy	*policy;
	struct cpumask		cpus;
	struct task_struct	*thread;	/* that decides */
	pid_t			tgid;
	u32			flags;
	char			name[USER_NAME_LEN];
	struct mutex		mutex;		/* of attaching */
	bool			ready;		/* it has its CPUs */

	struct user_page	*page;		/* of vmalloc_user(), mapped by the agent */
	u32			page_events, page_decisions;	/* offsets in there */
	u32			event_bytes;
	unsigned long		*idle;		/* in there */
	raw_spinlock_t		lock;		/* of those who write events */
	u32			written;	/* events */
	u32			done;		/* decisions */
	unsigned long		*asked;		/* jiffies, of each event */
	bool			asleep;
	bool			failing;	/* nobody waits for it until it decides again */
	bool			over;		/* of some core */
	int			kicked;		/* the last core that was told so */
	unsigned long		decided_at;	/* jiffies, of what was carried out last */
	struct saakm_notifier	calls;
	struct hrtimer		timer;		/* while threads wait */
	bool			timed;

	unsigned long		decided, stale, gone, bounced, bad;
	unsigned long		sleeps;
	u32			lost;		/* events but READY, by lock */
	struct list_head	node;		/* while it is ready */
};

DECLARE_PER_CPU(struct user_core, user_cores);

static inline struct user_core *user_core(int cpu)
{
	return per_cpu_ptr(&user_cores, cpu);
}

/* In handlers, which run with preemption off */
static inline struct user_agent *user_agent_of(const struct user_core *own)
{
	return rcu_dereference_check(own->agent, !preemptible());
}

static inline bool user_decides(const struct user_agent *agent, const struct task_struct *task)
{
	return agent && agent->thread == task;
}

/* Is the thread one that will answer? */
static inline bool user_alive(const struct user_agent *agent)
{
	return !(READ_ONCE(agent->thread->flags) & PF_EXITING) &&
	       !__fatal_signal_pending(agent->thread);
}

/* Events; more than the ring holds if the agent has written nonsense. */
static inline u32 user_unread(const struct user_agent *agent)
{
	/* Before what is written: it may read an event that is written meanwhile. */
	u32 read = smp_load_acquire(&agent->page->events_read);

	return READ_ONCE(agent->written) - read;
}

/* When the oldest of them came */
static inline unsigned long user_oldest(const struct user_agent *agent, u32 unread)
{
	return READ_ONCE(agent->asked[(READ_ONCE(agent->written) - unread) % USER_RECORDS]);
}

/* Does anybody wait for a CPU about whom the agent has decided? */
static inline bool user_others_wait(const struct user_agent *agent, int cpu)
{
	return READ_ONCE(saakm_core_of(agent->policy, cpu)->rq.nr_tasks) ||
	       READ_ONCE(user_core(cpu)->urgent.nr_tasks);
}

/* bridge.c */
extern unsigned int user_answer_ms;

bool user_answers(const struct user_agent *agent, struct user_core *own);
bool user_wanted(const struct user_agent *agent, const struct user_core *own);
bool user_tell(struct user_agent *agent, struct process_event *event, struct core_event *core,
	       enum user_kind kind, u16 flags);
void user_watch(struct user_agent *agent);
void user_carry_out(struct user_agent *agent);
enum hrtimer_restart user_timer(struct hrtimer *timer);
void user_release_waiting(struct saakm_policy *policy, const struct cpumask *cpus);
void user_put_in_front(struct saakm_policy *policy, const struct cpumask *cpus);
void user_kick_waiting(const struct user_agent *agent);

/* device.c */
extern unsigned int user_attached;	/* domains that have an agent */
void user_start_looking(struct saakm_policy *policy);
void user_stop_looking(void);
int user_make_device(void);
void user_remove_device(void);
void user_dump_agents(struct seq_buf *text);

/* main.c */
extern atomic_t user_threads;

#endif /* _SAAKM_USER_H */
