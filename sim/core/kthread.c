// SPDX-License-Identifier: GPL-2.0
/* Kernel threads: kernel/kthread.c. The scheduler's part of them is model_kthread_new(). */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sprintf.h>

#include "machine.h"
#include "model.h"

/* task_struct.worker_private of those that kthread_create() has made; kept as long as the run. */
struct kthread {
	int			(*fn)(void *data);
	void			*data;
	bool			should_stop, should_park, parked;
	int			result;
	struct completion	exited, has_parked;
};

static struct kthread *to_kthread(struct task_struct *p)
{
	return p->worker_private;
}

static int kthread_main(void *arg)
{
	struct kthread *self = arg;

	self->result = -EINTR;
	if (!self->should_stop) {
		if (self->should_park)
			kthread_parkme();
		self->result = self->fn(self->data);
	}
	complete_all(&self->exited);
	return self->result;
}

struct task_struct *kthread_create_on_node(int (*fn)(void *data), void *data, int node,
					   const char fmt[], ...)
{
	struct kthread *self;
	struct task_struct *p;
	char name[64];
	va_list args;

	va_start(args, fmt);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	self = sim_alloc(sizeof(*self));
	self->fn = fn;
	self->data = data;
	init_completion(&self->exited);
	init_completion(&self->has_parked);
	p = model_kthread_new(kthread_main, self, name);
	if (IS_ERR(p))
		sim_free(self);
	else
		p->worker_private = self;
	return p;
}

void kthread_bind_mask(struct task_struct *p, const struct cpumask *mask)
{
	p->flags |= PF_NO_SETAFFINITY;
	kthread_bind_mask_now(p, mask);
}

void kthread_bind(struct task_struct *p, unsigned int cpu)
{
	kthread_bind_mask(p, cpumask_of(cpu));
}

struct task_struct *kthread_create_on_cpu(int (*fn)(void *data), void *data, unsigned int cpu,
					  const char *fmt)
{
	struct task_struct *p = kthread_create_on_node(fn, data, NUMA_NO_NODE, fmt, cpu);

	if (!IS_ERR(p))
		kthread_bind(p, cpu);
	return p;
}

int kthread_stop(struct task_struct *p)
{
	struct kthread *self = to_kthread(p);

	might_sleep();
	get_task_struct(p);
	self->should_stop = true;
	kthread_unpark(p);
	wake_up_process(p);
	wait_for_completion(&self->exited);
	put_task_struct(p);
	return self->result;
}

bool kthread_should_stop(void)
{
	return to_kthread(current)->should_stop;
}

bool kthread_should_park(void)
{
	return to_kthread(current)->should_park;
}

void kthread_parkme(void)
{
	struct kthread *self = to_kthread(current);

	for (;;) {
		set_special_state(TASK_PARKED);
		if (!self->should_park)
			break;
		self->parked = true;
		complete(&self->has_parked);
		schedule();
		self->parked = false;
	}
	__set_current_state(TASK_RUNNING);
}

int kthread_park(struct task_struct *p)
{
	struct kthread *self = to_kthread(p);

	if (WARN_ON(p == current || self->should_park))
		return -EBUSY;
	self->should_park = true;
	wake_up_process(p);
	wait_for_completion(&self->has_parked);
	return 0;
}

void kthread_unpark(struct task_struct *p)
{
	struct kthread *self = to_kthread(p);

	if (!self->should_park)
		return;
	self->should_park = false;
	reinit_completion(&self->has_parked);
	wake_up_state(p, TASK_PARKED);
}

void *kthread_data(struct task_struct *p)
{
	return to_kthread(p)->data;
}
