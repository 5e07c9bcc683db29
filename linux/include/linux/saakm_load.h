/* SPDX-License-Identifier: GPL-2.0 */
/* Adding and removing policies, and their promises: a part of <linux/saakm.h>. */
#ifndef _LINUX_SAAKM_LOAD_H
#define _LINUX_SAAKM_LOAD_H

/**
 * SAAKM_EDITION - of this API: a module that was built for another one is refused
 */
#define SAAKM_EDITION	2

/* private: */
int saakm_add_policy_of(struct saakm_policy *policy, unsigned int edition);

/* public: */

/**
 * saakm_add_policy() - register a policy
 * @policy: filled in by the caller, zero elsewhere; lives until removed
 *
 * Context: [S], not from a handler. Threads may join before it returns.
 * Return: 0; -EINVAL for attributes and handlers that contradict each other, a name
 * that will not do, or memory that will not last (stack, __init), -EEXIST for a name
 * in use or a policy that is loaded already, -ENOSPC with 64 policies loaded, -EBUSY
 * when the deadline server finds no bandwidth, -E2BIG for more data per thread or
 * process than two pages or per core than 32 KiB, -EPROTO for a module of another edition,
 * -ESRCH if there is no policy to replace, -ECANCELED if it ejected itself,
 * -EDEADLK from a handler, -ENOMEM, or what @init or @migrate_from returned (for
 * a positive number -EINVAL). The sentence is in
 * /sys/kernel/saakm/last_error.
 */
#define saakm_add_policy(policy) saakm_add_policy_of(policy, SAAKM_EDITION)

/**
 * saakm_refuse_load() - an @init says why it fails
 * @policy: argument of @init
 * @error: what @init returns, -errno
 * @fmt: why, for whoever loads the module: which parameter is wrong, and what it may be
 *
 * The sentence is in /sys/kernel/saakm/last_error, and saakmctl prints it.
 *
 * Context: @init of &struct saakm_policy; elsewhere nobody reads it.
 * Return: @error.
 */
__printf(3, 4)
int saakm_refuse_load(struct saakm_policy *policy, int error, const char *fmt, ...);

/**
 * saakm_remove_policy() - move the policy's threads to fair and forget it
 * @policy: a registered policy; otherwise nothing happens
 *
 * Works under any load: a FIFO of the class elects the threads from then on, of
 * the handlers only terminate is called for each, and none of a policy that was
 * ejected. Afterwards no handler is running or will be called. A policy of
 * another module is left alone, and that is reported.
 *
 * Context: may sleep; not from a handler.
 */
void saakm_remove_policy(struct saakm_policy *policy);

/**
 * saakm_eject() - give up, with a reason
 * @policy: the calling policy; another one is left alone, and that is reported
 * @kind: SAAKM_EXIT_POLICY_ERROR, or a later one that describes it; any other counts as that
 * @p: the thread that it is about, or NULL
 * @fmt: what happened, as for printk, without a newline
 *
 * The class takes over at once: no handler is called any more but @dump and
 * @free_metadata, the threads run on and are moved to the fair class. For states
 * from which the policy knows no way back. Of several calls the first counts.
 *
 * Context: any but NMI.
 */
__printf(4, 5)
void saakm_eject(struct saakm_policy *policy, enum saakm_exit_kind kind,
		 const struct task_struct *p, const char *fmt, ...);

/**
 * saakm_set_options() - let whoever loads a policy overrule its author
 * @policy: not added yet
 * @replaces: name of the policy whose threads it takes; NULL: as it is
 * @timeout_ms: the watchdog's limit in ms; 0: no watchdog; negative: as it is
 * @on_violation: "default", "warn", "eject" or "panic"; NULL: as it is
 *
 * For modules with a module_init() of their own, before saakm_add_policy();
 * module_saakm_policy() calls it. Sets @replaces, @timeout_ms and @reaction of
 * the policy. Called later, it changes nothing.
 *
 * Context: [S].
 * Return: 0, or -EINVAL for another @on_violation; the sentence is in
 * /sys/kernel/saakm/last_error.
 */
int saakm_set_options(struct saakm_policy *policy, const char *replaces, int timeout_ms,
		      const char *on_violation);

/**
 * module_saakm_policy() - a module that does nothing but hold one policy
 * @__policy: a struct saakm_policy
 *
 * Defines module_init() and module_exit(), which add and remove the policy.
 * Whoever loads it may overrule the author by the module's parameters:
 * slice_us, which may be changed later, timeout_ms, with 0 for no watchdog, and
 * on_violation. With replaces=NAME the policy takes over all threads of NAME. At
 * file scope, once in a module; SAAKM_POLICY() calls it. A module that has more to
 * set up calls saakm_add_policy() itself.
 */
#define module_saakm_policy(__policy)					\
	module_param_named(slice_us, __policy.slice_us, uint, 0644);	\
	static char *__policy##_replaces;				\
	module_param_named(replaces, __policy##_replaces, charp, 0444);	\
	static int __policy##_timeout_ms = -1;				\
	module_param_named(timeout_ms, __policy##_timeout_ms, int, 0444); \
	static char *__policy##_on_violation;				\
	module_param_named(on_violation, __policy##_on_violation, charp, 0444); \
	static int __init __policy##_module_init(void)			\
	{								\
		int ret = saakm_set_options(&(__policy), __policy##_replaces, \
					    __policy##_timeout_ms,	\
					    __policy##_on_violation);	\
									\
		return ret ?: saakm_add_policy(&(__policy));		\
	}								\
	static void __exit __policy##_module_exit(void)			\
	{								\
		saakm_remove_policy(&(__policy));			\
	}								\
	module_init(__policy##_module_init);				\
	module_exit(__policy##_module_exit)

/**
 * DOC: Promises
 *
 * A policy may say in its module what it promises to its threads::
 *
 *	MODULE_INFO(saakm_promises, "no-starvation, fairness");
 *
 * There are ``work-conservation``, ``no-starvation``, ``fairness`` and
 * ``weights``. ``saakm check`` holds the policy to those that it names, and
 * refuses other words; ``saakm check --list`` says what each means. The kernel
 * does not read them. Default: none.
 */

#endif /* _LINUX_SAAKM_LOAD_H */
