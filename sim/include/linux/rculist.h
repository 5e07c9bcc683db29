/* SPDX-License-Identifier: GPL-2.0 */
/* Lists that are read under RCU. Stands for linux/rculist.h. */
#ifndef _LINUX_RCULIST_H
#define _LINUX_RCULIST_H

#include <linux/list.h>
#include <linux/rcupdate.h>

#define list_add_tail_rcu(new, head)	list_add_tail(new, head)

/* Readers that stand on it go on from there. */
static inline void list_del_rcu(struct list_head *entry)
{
	__list_del_entry(entry);
	entry->prev = LIST_POISON2;
}

#define list_entry_rcu(pointer, type, member) container_of(READ_ONCE(pointer), type, member)
#define list_first_or_null_rcu(head, type, member)				\
	list_first_entry_or_null(head, type, member)

/* The second one: @condition, if there is one */
#define __sim_or(_none, _condition, ...)	(_condition)

/* @condition: what else than a section protects it */
#define list_for_each_entry_rcu(pos, head, member, condition...)		\
	for (__sim_rcu_check(rcu_read_lock_any_held() || __sim_or(false, ## condition, false)), \
	     pos = list_entry_rcu((head)->next, __typeof__(*pos), member);	\
	     &pos->member != (head);						\
	     pos = list_entry_rcu(pos->member.next, __typeof__(*pos), member))
#define list_for_each_entry_continue_rcu(pos, head, member)			\
	for (pos = list_entry_rcu(pos->member.next, __typeof__(*pos), member);	\
	     &pos->member != (head);						\
	     pos = list_entry_rcu(pos->member.next, __typeof__(*pos), member))
#define list_for_each_entry_from_rcu(pos, head, member)				\
	for (; &(pos)->member != (head);					\
	     pos = list_entry_rcu(pos->member.next, __typeof__(*(pos)), member))

#endif /* _LINUX_RCULIST_H */
