// SPDX-License-Identifier: GPL-2.0
/* The host's side: stacks for calls that wait in their middle. See ../replay.h. */

#include "../../engine/engine.h"

void *replay_stack_new(void (*fn)(void));
void replay_stack_enter(void *stack);
void replay_stack_leave(void *stack);

static struct sim_stack outer;

void *replay_stack_new(void (*fn)(void))
{
	struct sim_stack *stack = sim_alloc(sizeof(*stack));

	sim_stack_make(stack, fn);
	return stack;
}

void replay_stack_enter(void *stack)
{
	sim_stack_switch(&outer, stack);
}

void replay_stack_leave(void *stack)
{
	sim_stack_switch(stack, &outer);
}
