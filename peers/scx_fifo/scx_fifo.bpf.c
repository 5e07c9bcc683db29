// SPDX-License-Identifier: GPL-2.0
/*
 * A sched_ext scheduler that decides as policies/fifo does: one queue per CPU,
 * first come, first served. A thread stays on the CPU that its PID names and
 * runs until it blocks or yields. No balancing.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* The few kernel names that are needed; libbpf finds the real layouts in BTF. */
#define SCX_DSQ_LOCAL		((1ull << 63) | 2)
#define SCX_SLICE_INF		(~0ull)
#define SCX_OPS_SWITCH_PARTIAL	(1ull << 3)

struct cpumask {
	unsigned long bits[1];
} __attribute__((preserve_access_index));

struct task_struct {
	int pid;
	const struct cpumask *cpus_ptr;
} __attribute__((preserve_access_index));

struct sched_ext_ops {
	__s32 (*select_cpu)(struct task_struct *p, __s32 prev_cpu, __u64 flags);
	void (*enqueue)(struct task_struct *p, __u64 flags);
	__u64 flags;
	char name[128];
};

void scx_bpf_dispatch(struct task_struct *p, __u64 queue, __u64 slice, __u64 flags) __ksym;
__u32 scx_bpf_nr_cpu_ids(void) __ksym;
_Bool bpf_cpumask_test_cpu(__u32 cpu, const struct cpumask *mask) __ksym;

SEC("struct_ops/fifo_select_cpu")
__s32 BPF_PROG(fifo_select_cpu, struct task_struct *p, __s32 prev_cpu, __u64 flags)
{
	__u32 cpu = (__u32)p->pid % scx_bpf_nr_cpu_ids();

	return bpf_cpumask_test_cpu(cpu, p->cpus_ptr) ? (__s32)cpu : prev_cpu;
}

SEC("struct_ops/fifo_enqueue")
void BPF_PROG(fifo_enqueue, struct task_struct *p, __u64 flags)
{
	scx_bpf_dispatch(p, SCX_DSQ_LOCAL, SCX_SLICE_INF, flags);
}

/* All fair threads, or (partial) those alone that chose SCHED_EXT. */
SEC(".struct_ops")
struct sched_ext_ops fifo_full = {
	.select_cpu	= (void *)fifo_select_cpu,
	.enqueue	= (void *)fifo_enqueue,
	.name		= "scx_fifo",
};

SEC(".struct_ops")
struct sched_ext_ops fifo_partial = {
	.select_cpu	= (void *)fifo_select_cpu,
	.enqueue	= (void *)fifo_enqueue,
	.flags		= SCX_OPS_SWITCH_PARTIAL,
	.name		= "scx_fifo",
};

char _license[] SEC("license") = "GPL";
