/* SPDX-License-Identifier: GPL-2.0 */
/* Options at=: actor.c. */
#ifndef _SIM_CORE_ACTOR_H
#define _SIM_CORE_ACTOR_H

/* Let them be carried out from now on. The workload has begun. */
void actor_begin(void);

#endif /* _SIM_CORE_ACTOR_H */
