/* SPDX-License-Identifier: GPL-2.0 */
/* What the class knows of its policies, for programs and results: policies.c. */
#ifndef _SIM_CORE_POLICIES_H
#define _SIM_CORE_POLICIES_H

#include <linux/types.h>
#include "../engine/result.h"

/* Id of the policy of that name; NULL: of the first one that was loaded. 0: there is none. */
u32 policies_id(const char *name);
const char *policies_name(u32 id);

/* Those that are loaded, whether threads may still join them or not: how many, and the id of one. */
u32 policies_count(void);
u32 policies_nth(u32 n);

/* What the module of that policy is called; false: it is gone, or has none. */
bool policies_module(u32 id, char *name, size_t size);

/* The run ends: keep what is to be seen of them, as they may be unloaded before it is printed. */
void policies_close(void);
void policies_result(struct sim_result *result);

/* Has any been ejected that nobody wished to? They are unloaded soon: to be called before. */
void policies_check(void);

#endif /* _SIM_CORE_POLICIES_H */
