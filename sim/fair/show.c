// SPDX-License-Identifier: GPL-2.0
/* Where the two differ: what fair had, and what the policy has. */
#include <linux/seq_buf.h>
#include "fair.h"

struct sum {
	int cpu;
	u64 curr;
	s64 zero, key, load;
	s64 average, offset;	/* of ours to fair's */
};

static s64 weight_of(const struct fair_object *o)
{
	return max(2UL, (unsigned long)fair_there(o, "weight") >> 10);
}

static bool is_queued(const struct fair_object *o, int cpu)
{
	return fair_there(o, "queued") && fair_there(o, "cpu") == cpu &&
	       replay_class(fair_there(o, "class")) == &fair_sched_class;
}

static void add(struct fair_object *o, void *data)
{
	struct sum *sum = data;

	if (!is_queued(o, sum->cpu))
		return;
	sum->key += ((s64)fair_there(o, "vruntime") - sum->zero) * weight_of(o);
	sum->load += weight_of(o);
}

/*
 * The policy's key and bound are the deadline and the vruntime, if it is such a one. Its virtual time
 * may have begun elsewhere: what most threads differ by is left out.
 */
static s64 apart(const struct fair_object *o)
{
	return fair_policy_here->own->key(o->here) - fair_there(o, "deadline");
}

static bool has_key(const struct fair_object *o)
{
	const struct task_struct *p = o->here;

	return p && p->saakm.policy == fair_policy_here && fair_policy_here->own->key;
}

struct vote {
	int cpu;
	s64 apart, best;
	unsigned int count, most;
};

static void count_same(struct fair_object *o, void *data)
{
	struct vote *vote = data;

	if (is_queued(o, vote->cpu) && has_key(o))
		vote->count += apart(o) == vote->apart;
}

static void vote_for(struct fair_object *o, void *data)
{
	struct vote *vote = data;

	if (!is_queued(o, vote->cpu) || !has_key(o))
		return;
	vote->apart = apart(o);
	vote->count = 0;
	fair_for_each_thread(count_same, vote);
	if (vote->count <= vote->most)
		return;
	vote->most = vote->count;
	vote->best = vote->apart;
}

static void show_here(const struct fair_object *o, const struct sum *sum, char *text, size_t size)
{
	const struct saakm_own *own = fair_policy_here->own;
	struct task_struct *p = o->here;
	size_t n;

	if (!p || p->saakm.policy != fair_policy_here) {
		snprintf(text, size, "no member");
		return;
	}
	n = snprintf(text, size, "%s%s%s", saakm_state_names[p->saakm.state],
		     p->saakm.on_rq ? "" : ", not queued",
		     p->se.sched_delayed ? ", delayed" : "");
	if (own->bound)
		n += snprintf(text + n, size - n, " %lld",
			      (s64)own->bound(p) - sum->average - sum->offset);
	if (own->key)
		snprintf(text + n, size - n, " %lld", (s64)own->key(p) - sum->average - sum->offset);
}

/* Times are relative to the average, which is fair's zero of virtual time. */
static void show_thread(struct fair_object *o, void *data)
{
	s64 key = (s64)fair_there(o, "vruntime") - ((struct sum *)data)->zero;
	const struct sum *sum = data;
	char text[96];

	if (!is_queued(o, sum->cpu))
		return;
	show_here(o, sum, text, sizeof(text));
	pr_err("  %6llu %-8.8s %10lld %10lld %9llu %7lld %s%s%s  %s\n", fair_there(o, "pid"),
	       o->here ? ((struct task_struct *)o->here)->comm : "?",
	       (s64)fair_there(o, "vruntime") - sum->average,
	       (s64)fair_there(o, "deadline") - sum->average, fair_there(o, "slice"), weight_of(o),
	       sum->key >= key * sum->load ? "E" : "-", fair_there(o, "delayed") ? "D" : "-",
	       o->address == sum->curr && fair_there(o, "vlag") == fair_there(o, "deadline") ?
	       "P" : "-", text);
}

static void show_fair(struct rq *rq)
{
	struct fair_object *o = fair_rq_object(rq->cpu);
	struct sum sum = {
		.cpu = rq->cpu, .curr = fair_there(o, "curr"), .zero = fair_there(o, "zero_vruntime"),
	};

	struct vote vote = { .cpu = rq->cpu };

	pr_err("CPU %d, fair: %llu queued, current is thread %d, buddy %s, zero_vruntime %lld,\n",
	       rq->cpu, fair_there(o, "fair_queued"), rq->curr->pid,
	       fair_there(o, "buddy") ? "set" : "none", (s64)fair_there(o, "zero_vruntime"));
	pr_err("  avg_vruntime %lld, avg_load %llu. Virtual times are relative to the average.\n",
	       (s64)fair_there(o, "avg_vruntime"), fair_there(o, "avg_load"));
	pr_err("  E: eligible, D: delayed, P: its turn is protected; then what is here\n");
	fair_for_each_thread(add, &sum);
	if (!sum.load)
		return;
	sum.average = sum.zero + div_s64(sum.key - (sum.key < 0 ? sum.load - 1 : 0), sum.load);
	fair_for_each_thread(vote_for, &vote);
	sum.offset = vote.best;
	pr_err("  %6s %-8s %10s %10s %9s %7s %s  %s\n", "thread", "name", "vruntime", "deadline",
	       "slice", "weight", "   ", "state vruntime deadline");
	fair_for_each_thread(show_thread, &sum);
}

/* What the policy itself says. */
static void show_policy(struct fair_call *call)
{
	static char text[16384];
	struct seq_buf buffer;
	char *line, *rest = text;

	if (!fair_policy_here->ops->dump)
		return;
	seq_buf_init(&buffer, text, sizeof(text));
	fair_policy_here->ops->dump(fair_policy_here, &buffer);
	pr_err("here, policy %s:\n", fair_policy_here->own->name);
	text[min(buffer.len, sizeof(text) - 1)] = 0;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			pr_err("  %s\n", line);
}

void fair_show(struct fair_call *call, const char *what)
{
	pr_err("call %llu, %s on CPU %llu, at %llu ns: %s\n", call->begin.frame, call->function->name,
	       call->begin.cpu, call->rq->clock, what);
	if (call->p)
		pr_err("  about thread %d (%s), flags %#llx\n", call->p->pid, call->p->comm,
		       call->begin.arguments[2] & 0xffff);
	show_fair(call->rq);
	fair_on_cpu(call, show_policy);
}
