/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the class calls a handler of a policy, and where that has returned, it says so in
 * saakm_context.handler. There the counts of sim_context are noted, and compared: a handler leaves
 * preemption, interrupts and RCU as they were. The function by which a queue orders threads is
 * called within others, and is looked at together with them: who says a variable's value while
 * there is a handler goes back to that one.
 */
#ifndef _SIM_HANDLER_H
#define _SIM_HANDLER_H

#include <linux/percpu.h>

/* It has left other counts, or has delayed itself, perhaps for long: report, and mend them. */
__cold void sim_handler_left(void);

static __always_inline void sim_handler_begins(unsigned long handler)
{
	sim_context.handler = handler;
	sim_context.counts = sim_counts();
	sim_context.began = sim_now;
}

static __always_inline void sim_handler_ends(void)
{
	if (unlikely((sim_counts() ^ sim_context.counts) | sim_context.delays))
		sim_handler_left();
}

#define __sim_is(text, other)	(!__builtin_strcmp(text, other))

#undef __this_cpu_write
#define __this_cpu_write(variable, value) ({					\
	__sim_if_sanitized();							\
	if (__sim_is(#variable, "saakm_context.handler")) {			\
		if (__sim_is(#value, "SAAKM_H_none"))				\
			sim_handler_ends();					\
		else if (__builtin_constant_p(value) ? !__sim_is(#value, "SAAKM_H_key") : \
			 !raw_cpu_read(variable))				\
			sim_handler_begins((unsigned long)(value));		\
	}									\
	raw_cpu_write(variable, value);						\
})

#endif /* _SIM_HANDLER_H */
