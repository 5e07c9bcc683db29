/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a sched_ext scheduler takes from elsewhere: the few names of the kernel
 * that ours need, whose real layouts libbpf finds in BTF.
 */
#ifndef SCX_BPF_H
#define SCX_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

/* Power of 2. */
#define MAX_CPUS		1024

#define SCX_DSQ_LOCAL		((1ull << 63) | 2)
#define SCX_SLICE_INF		(~0ull)
#define SCX_OPS_SWITCH_PARTIAL	(1ull << 3)
#define SCX_TASK_QUEUED		1u
#define SCX_ENQ_WAKEUP		1ull
#define SCX_KICK_IDLE		1ull
#define SCX_KICK_PREEMPT	2ull

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct cpumask {
	unsigned long bits[1];
};

struct sched_entity {
	u64 sum_exec_runtime;
};

struct sched_ext_entity {
	u32 flags;
	u32 weight;
	u64 slice;
	u64 dsq_vtime;
};

struct task_struct {
	int pid;
	int static_prio;
	const struct cpumask *cpus_ptr;
	struct sched_entity se;
	struct sched_ext_entity scx;
};

struct rq {
	struct task_struct *curr;
};

#pragma clang attribute pop

struct bpf_iter_scx_dsq {
	u64 opaque[6];
};

struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 flags);
	void (*enqueue)(struct task_struct *p, u64 flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*tick)(struct task_struct *p);
	void (*runnable)(struct task_struct *p, u64 flags);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, _Bool runnable);
	void (*quiescent)(struct task_struct *p, u64 flags);
	void (*enable)(struct task_struct *p);
	s32 (*init)(void);
	u64 flags;
	char name[128];
};

s32 scx_bpf_create_dsq(u64 queue, s32 node) __ksym;
s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 prev_cpu, u64 flags, _Bool *idle) __ksym;
s32 scx_bpf_pick_idle_cpu(const struct cpumask *allowed, u64 flags) __ksym;
s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym;
/* Linux 6.13 calls these otherwise. */
#ifdef SINCE_6_13
#define scx_bpf_dispatch	scx_bpf_dsq_insert
#define scx_bpf_dispatch_vtime	scx_bpf_dsq_insert_vtime
#define scx_bpf_consume		scx_bpf_dsq_move_to_local
#endif
void scx_bpf_dispatch(struct task_struct *p, u64 queue, u64 slice, u64 flags) __ksym;
void scx_bpf_dispatch_vtime(struct task_struct *p, u64 queue, u64 slice, u64 vtime,
			    u64 flags) __ksym;
_Bool scx_bpf_consume(u64 queue) __ksym;
int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 queue, u64 flags) __ksym;
struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym;
void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym;
void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
#ifdef SINCE_6_13
/* Since 6.18, and soon after that there was no other way. */
struct task_struct *scx_bpf_cpu_curr(s32 cpu) __ksym;
#else
struct rq *scx_bpf_cpu_rq(s32 cpu) __ksym;
#endif
u32 scx_bpf_nr_cpu_ids(void) __ksym;
_Bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *mask) __ksym;

/* Who runs on a CPU; @p if the kernel does not say it. */
#ifdef SINCE_6_13
#define curr_on(_cpu, _p)						\
({									\
	struct task_struct *curr = scx_bpf_cpu_curr(_cpu);		\
									\
	curr ?: (_p);							\
})
#else
#define curr_on(_cpu, _p)	(scx_bpf_cpu_rq(_cpu)->curr)
#endif

/* The bpf_for_each() of a newer libbpf. */
#define scx_dsq_for_each(_p, _queue)					\
	for (struct bpf_iter_scx_dsq it					\
	     __attribute__((cleanup(bpf_iter_scx_dsq_destroy))),	\
	     *unused __attribute__((unused)) =				\
		(bpf_iter_scx_dsq_new(&it, _queue, 0), NULL);		\
	     (_p = bpf_iter_scx_dsq_next(&it));)

#define BPF_STRUCT_OPS(_name, ...)					\
	SEC("struct_ops/" #_name) BPF_PROG(_name, ##__VA_ARGS__)
/* Debian's libbpf has no struct_ops.s: load.c makes these sleepable. */
#define BPF_STRUCT_OPS_SLEEPABLE(_name, ...)				\
	SEC("struct_ops/sleepable/" #_name) BPF_PROG(_name, ##__VA_ARGS__)

/*
 * libbpf 1.1 reads the kernel's BTF, without which it starts no scheduler, only if some
 * program refers to a field of the kernel's. This one does, and is never loaded: "?".
 */
SEC("?tracepoint") int needs_btf(struct task_struct *p)
{
	return p->pid;
}

/* For all fair threads, or (partial) those alone that chose SCHED_EXT: load.c chooses. */
#define SCX_OPS_DEFINE(...)						\
	SEC(".struct_ops") struct sched_ext_ops full = { __VA_ARGS__ };	\
	SEC(".struct_ops") struct sched_ext_ops partial = {		\
		__VA_ARGS__, .flags = SCX_OPS_SWITCH_PARTIAL,		\
	};								\
	char _license[] SEC("license") = "GPL"

#endif
