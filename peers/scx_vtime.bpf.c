// SPDX-License-Identifier: GPL-2.0
/*
 * Weighted fair sharing of each CPU, as policies/vtime: the thread with the
 * least virtual time runs; a thread has at most one slice of credit when it
 * wakes, and preempts with more than half of one. No balancing beyond the
 * choice of an idle CPU. The virtual time of a thread that is not runnable is
 * relative to the clock of its CPU.
 *
 * Unlike in vtime, no credit grows in a thread's sleep, the weights of cgroups do not
 * count, a thread that is moved while it waits keeps the other CPU's virtual time, and
 * threads run for a slice, where vtime looks at every tick.
 *
 * At a dispatch the thread that ran is in no queue yet: it must be charged, and
 * compared with the first one that waits.
 */
#include "scx.bpf.h"

const volatile u64 slice_ns = 4000000;

/* Of each CPU: greatest virtual time at which one ran; when its thread was charged. */
static struct { u64 clock_vt, since_ns; } cpus[MAX_CPUS];

#define cpu_of(p) (&cpus[scx_bpf_task_cpu(p) & (MAX_CPUS - 1)])

static void charge(struct task_struct *p)
{
	u64 now_ns = p->se.sum_exec_runtime;

	if ((s64)(p->scx.dsq_vtime - cpu_of(p)->clock_vt) > 0)
		cpu_of(p)->clock_vt = p->scx.dsq_vtime;
	p->scx.dsq_vtime += (now_ns - cpu_of(p)->since_ns) * 100 / p->scx.weight;
	cpu_of(p)->since_ns = now_ns;
}

s32 BPF_STRUCT_OPS(vtime_select_cpu, struct task_struct *p, s32 prev_cpu, u64 flags)
{
	_Bool idle;

	return scx_bpf_select_cpu_dfl(p, prev_cpu, flags, &idle);
}

void BPF_STRUCT_OPS(vtime_runnable, struct task_struct *p, u64 flags)
{
	p->scx.dsq_vtime += cpu_of(p)->clock_vt;
}

void BPF_STRUCT_OPS(vtime_quiescent, struct task_struct *p, u64 flags)
{
	p->scx.dsq_vtime -= cpu_of(p)->clock_vt;
}

void BPF_STRUCT_OPS(vtime_enqueue, struct task_struct *p, u64 flags)
{
	s64 behind_vt = cpu_of(p)->clock_vt - p->scx.dsq_vtime;
	s32 cpu = scx_bpf_task_cpu(p);

	if (behind_vt > (s64)slice_ns)
		p->scx.dsq_vtime += behind_vt - slice_ns;
	scx_bpf_dispatch_vtime(p, cpu, slice_ns, p->scx.dsq_vtime, flags);
	if (behind_vt > (s64)(slice_ns / 2))
		scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
}

void BPF_STRUCT_OPS(vtime_dispatch, s32 cpu, struct task_struct *prev)
{
	struct task_struct *first;

	if (prev && prev->scx.flags & SCX_TASK_QUEUED) {
		charge(prev);
		scx_dsq_for_each(first, cpu) {
			if ((s64)(first->scx.dsq_vtime - prev->scx.dsq_vtime) >= 0)
				break;
			scx_bpf_consume(cpu);
			return;
		}
		prev->scx.slice = slice_ns;
		return;
	}
	scx_bpf_consume(cpu);
}

void BPF_STRUCT_OPS(vtime_running, struct task_struct *p)
{
	cpu_of(p)->since_ns = p->se.sum_exec_runtime;
}

void BPF_STRUCT_OPS(vtime_stopping, struct task_struct *p, _Bool runnable)
{
	charge(p);
}

void BPF_STRUCT_OPS(vtime_enable, struct task_struct *p)
{
	p->scx.dsq_vtime = 0;
}

s32 BPF_STRUCT_OPS_SLEEPABLE(vtime_init)
{
	u32 nr = scx_bpf_nr_cpu_ids();

	for (u32 cpu = 0; cpu < nr && cpu < MAX_CPUS; cpu++)
		if (scx_bpf_create_dsq(cpu, -1))
			return -1;
	return 0;
}

SCX_OPS_DEFINE(
	.select_cpu	= (void *)vtime_select_cpu,
	.runnable	= (void *)vtime_runnable,
	.enqueue	= (void *)vtime_enqueue,
	.dispatch	= (void *)vtime_dispatch,
	.running	= (void *)vtime_running,
	.stopping	= (void *)vtime_stopping,
	.quiescent	= (void *)vtime_quiescent,
	.enable		= (void *)vtime_enable,
	.init		= (void *)vtime_init,
	.name		= "scx_vtime");
