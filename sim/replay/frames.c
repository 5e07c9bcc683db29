// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that have begun: each on a stack of its own, so that it can wait where the kernel's took
 * a lock.
 */
#include "replay.h"

void *replay_stack_new(void (*fn)(void));
void replay_stack_enter(void *stack);
void replay_stack_leave(void *stack);

struct replay_frame *replay_making;
unsigned long replay_reached;

static struct replay_frame *unused;

static void run_calls(void)
{
	for (;;) {
		struct replay_frame *f = replay_making;

		f->returned = replay_run(f->function, &f->begin);
		replay_none_left(f);
		f->done = true;
		replay_stack_leave(f->stack);
	}
}

struct replay_frame *replay_frame_new(void)
{
	struct replay_frame *f = unused;

	if (f) {
		void *stack = f->stack, *effects = f->effects;
		unsigned int room = f->room;

		unused = f->next;
		memset(f, 0, sizeof(*f));
		f->stack = stack;
		f->effects = effects;
		f->room = room;
		return f;
	}
	f = sim_alloc(sizeof(*f));
	f->stack = replay_stack_new(run_calls);
	return f;
}

void replay_frame_free(struct replay_frame *f)
{
	f->next = unused;
	unused = f;
}

void replay_resume(struct replay_frame *f)
{
	struct sim_context outer = sim_context;

	replay_making = f;
	replay_cutting = f->moved == CUT;
	if (f->context.offset)
		sim_context = f->context;
	replay_stack_enter(f->stack);
	f->context = sim_context;
	replay_making = NULL;
	replay_cutting = false;
	sim_context = outer;
}

void replay_stop(struct replay_frame *f)
{
	replay_stack_leave(f->stack);
}

void replay_wait(unsigned long position)
{
	struct replay_frame *f = replay_making;

	while (replay_reached < position)
		replay_stack_leave(f->stack);
}

void replay_turn_over(void)
{
	if (replay_making && replay_making->moved == TO_END && replay_making->interrupted)
		replay_stack_leave(replay_making->stack);
}
