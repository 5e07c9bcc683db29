/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What can be set of eevdf, as parameters of the module, at any time: features as in
 * kernel/sched/features.h of Linux 6.12, in lower case, with its defaults.
 */
#ifndef _EEVDF_FEATURES_H
#define _EEVDF_FEATURES_H

#define FEATURE(name, value, what)					\
	static bool name = value;					\
	module_param(name, bool, 0644);					\
	MODULE_PARM_DESC(name, what)

FEATURE(place_lag, true, "who comes has the lag that it left with");
FEATURE(place_deadline_initial, true, "a new thread's first slice is half a slice");
FEATURE(place_rel_deadline, true, "who is moved, or changed, keeps its deadline");
FEATURE(run_to_parity, true, "a turn goes on until the deadline, or the lag is used up");
FEATURE(preempt_short, true, "a shorter slice ends the turn of a longer one");
FEATURE(pick_buddy, true, "an eligible buddy goes first");
FEATURE(delay_dequeue, true, "who sleeps in debt stays queued until it would be picked");
FEATURE(delay_zero, true, "who stayed queued gains no credit by that");
FEATURE(wakeup_preemption, true, "wakeups preempt");
FEATURE(force_preempt, false,
	"next_buddy=new: a wakeup preempts whoever is not eligible (reverted in the kernel)");

/* NEXT_BUDDY: as in 6.12, or as in e837456fdca8 of 6.19 without what was reverted later. */
enum { NO_BUDDY, OLD_BUDDY, NEW_BUDDY };

static const char * const buddy_names[] = { "0", "old", "new" };
static int next_buddy;

static int set_next_buddy(const char *value, const struct kernel_param *param)
{
	int buddy = sysfs_match_string(buddy_names, value);

	if (buddy < 0) {
		pr_err("eevdf: next_buddy=%s: it is 0, old (Linux 6.12) or new (6.19)\n", value);
		return buddy;
	}
	WRITE_ONCE(next_buddy, buddy);
	return 0;
}

static int get_next_buddy(char *buffer, const struct kernel_param *param)
{
	return sprintf(buffer, "%s\n", buddy_names[next_buddy]);
}

static const struct kernel_param_ops next_buddy_ops = {
	.set = set_next_buddy, .get = get_next_buddy,
};
module_param_cb(next_buddy, &next_buddy_ops, &next_buddy, 0644);
MODULE_PARM_DESC(next_buddy, "who wakes is to run next: 0, old (Linux 6.12) or new (6.19)");

/* A slice, of all or of one thread, in ns: as __setscheduler_params() limits it. */
#define SLICE_MIN_NS	(NSEC_PER_MSEC / 10)
#define SLICE_MAX_NS	(NSEC_PER_MSEC * 100)

static unsigned int base_slice_ns, scaled_slice_ns;

static int set_base_slice(const char *value, const struct kernel_param *param)
{
	unsigned int ns;

	if (kstrtouint(value, 0, &ns) || (ns && (ns < SLICE_MIN_NS || ns > SLICE_MAX_NS))) {
		pr_err("eevdf: base_slice_ns=%s: it is %lu to %lu, or 0: by the number of CPUs\n",
		       value, SLICE_MIN_NS, SLICE_MAX_NS);
		return -EINVAL;
	}
	WRITE_ONCE(base_slice_ns, ns);
	return 0;
}

static const struct kernel_param_ops base_slice_ops = {
	.set = set_base_slice, .get = param_get_uint,
};
module_param_cb(base_slice_ns, &base_slice_ops, &base_slice_ns, 0644);
MODULE_PARM_DESC(base_slice_ns, "ns of a slice; 0: by the number of CPUs");

/* sched_init_granularity(): 0.7 ms, twice that from 2 CPUs on, thrice from 4, 4 times from 8. */
static void scale_slice(void)
{
	WRITE_ONCE(scaled_slice_ns,
		   700 * NSEC_PER_USEC * (1 + ilog2(min(num_online_cpus(), 8U))));
}

static u32 base_slice(void)
{
	return READ_ONCE(base_slice_ns) ?: READ_ONCE(scaled_slice_ns);
}

#endif /* _EEVDF_FEATURES_H */
