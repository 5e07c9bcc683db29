/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints. Stands for linux/tracepoint.h and trace/define_trace.h. TRACE_EVENT() makes of an
 * event trace_NAME(), which costs a test while nobody listens, and else calls sim_trace_NAME() of
 * the model with the same arguments; how it is printed there is not used. Where CREATE_TRACE_POINTS
 * is defined, the section "sim_tracepoints" lists the event.
 */
#ifndef _LINUX_TRACEPOINT_H
#define _LINUX_TRACEPOINT_H

#include <linux/init.h>
#include <linux/jump_label.h>

struct tracepoint {
	const char		*name;
	struct static_key_false	key;		/* on: the model listens */
	int			(*regfunc)(void);	/* before it is, or NULL */
	void			(*unregfunc)(void);
};

#define TP_PROTO(args...)	args
#define TP_ARGS(args...)	args
#define TRACE_DEFINE_ENUM(value)

#define DECLARE_TRACE(_name, _proto, _args)					\
	extern struct tracepoint __tracepoint_##_name;				\
	void sim_trace_##_name(_proto);						\
	static inline bool trace_##_name##_enabled(void)			\
	{									\
		return static_branch_unlikely(&__tracepoint_##_name.key);	\
	}									\
	static inline void trace_##_name(_proto)				\
	{									\
		if (trace_##_name##_enabled())					\
			sim_trace_##_name(_args);				\
	}
#define DEFINE_TRACE_FN(_name, _regfunc, _unregfunc)				\
	struct tracepoint __tracepoint_##_name = {				\
		.name = #_name, .regfunc = _regfunc, .unregfunc = _unregfunc,	\
	};									\
	__sim_list(sim_tracepoints, __tracepoint_##_name);

#endif /* _LINUX_TRACEPOINT_H */

/* By the file that includes the events: anew for each. */
#undef TRACE_EVENT_FN
#undef TRACE_EVENT
#ifdef CREATE_TRACE_POINTS
#define TRACE_EVENT_FN(_name, _proto, _args, _struct, _assign, _print, _regfunc, _unregfunc) \
	DECLARE_TRACE(_name, PARAMS(_proto), PARAMS(_args))			\
	DEFINE_TRACE_FN(_name, _regfunc, _unregfunc)
#else
#define TRACE_EVENT_FN(_name, _proto, _args, _struct, _assign, _print, _regfunc, _unregfunc) \
	DECLARE_TRACE(_name, PARAMS(_proto), PARAMS(_args))
#endif
#ifndef PARAMS
#define PARAMS(args...)		args
#endif
#define TRACE_EVENT(_name, _proto, _args, _struct, _assign, _print) \
	TRACE_EVENT_FN(_name, PARAMS(_proto), PARAMS(_args), , , , NULL, NULL)
