/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks of runqueues while a recording is replayed: who takes one waits for its turn in the
 * recording.
 */
#ifndef _SIM_REPLAY_LOCKS_H
#define _SIM_REPLAY_LOCKS_H

void replay_rq_lock(struct rq *rq);
bool replay_rq_trylock(struct rq *rq);
void replay_rq_unlock(struct rq *rq);

#define raw_spin_rq_lock_nested(rq, subclass)	replay_rq_lock(rq)
#define raw_spin_rq_lock(rq)			replay_rq_lock(rq)
#define raw_spin_rq_unlock(rq)			replay_rq_unlock(rq)
#define raw_spin_rq_trylock(rq)			replay_rq_trylock(rq)

#endif /* _SIM_REPLAY_LOCKS_H */
