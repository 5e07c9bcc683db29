// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks, and the switch between them: what strands are made of. What is below each cannot be
 * accessed, so that an overflow is a fault and not a surprise. AddressSanitizer must be told of
 * switches: it keeps the frames of functions that have returned for each stack.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "engine.h"

#ifdef HAVE_ASAN
#include <sanitizer/common_interface_defs.h>
#define STACK_SIZE	(1024 * 1024UL)
#else
#define STACK_SIZE	(256 * 1024UL)
#endif

/* Who has switched to a stack that begins. */
static struct sim_stack *came_from;

/*
 * void switch_pointers(void **from, void *to): keep what a function must preserve on this stack and
 * the stack pointer in *from; go on with that of @to.
 */
#if defined(__x86_64__) && !defined(SIM_UCONTEXT)

void sim_switch_pointers(void **from, void *to);

asm(".text\n"
	".globl sim_switch_pointers\n"
	".type sim_switch_pointers, @function\n"
	"sim_switch_pointers:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size sim_switch_pointers, . - sim_switch_pointers\n");

/* As if sim_switch_pointers() had been called by nobody, and returned to @fn. */
static void *first_pointer(struct sim_stack *stack, void (*fn)(void))
{
	void **top = (void **)((char *)stack->low + stack->size) - 2;

	*top = (void *)fn;
	return top - 6;
}

#else
#include <ucontext.h>

static void sim_switch_pointers(void **from, void *to)
{
	ucontext_t here;

	*from = &here;
	swapcontext(&here, to);
}

static void *first_pointer(struct sim_stack *stack, void (*fn)(void))
{
	ucontext_t *context = stack->low;

	getcontext(context);
	context->uc_stack.ss_sp = (char *)stack->low + sizeof(*context);
	context->uc_stack.ss_size = stack->size - sizeof(*context);
	context->uc_link = NULL;
	makecontext(context, fn, 0);
	return context;
}
#endif

void sim_stack_make(struct sim_stack *stack, void (*fn)(void))
{
	char *memory = mmap(NULL, SIM_STACK_GUARD + STACK_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory, SIM_STACK_GUARD, PROT_NONE))
		sim_out_of_memory();
	stack->low = memory + SIM_STACK_GUARD;
	stack->size = STACK_SIZE;
	stack->fake = NULL;
	stack->pointer = first_pointer(stack, fn);
}

void sim_stack_switch(struct sim_stack *from, struct sim_stack *to)
{
	came_from = from;
#ifdef HAVE_ASAN
	__sanitizer_start_switch_fiber(&from->fake, to->low, to->size);
#endif
	sim_switch_pointers(&from->pointer, to->pointer);
#ifdef HAVE_ASAN
	__sanitizer_finish_switch_fiber(from->fake, NULL, NULL);
#endif
}

void sim_stack_begins(void)
{
#ifdef HAVE_ASAN
	const void *low;
	size_t size;

	__sanitizer_finish_switch_fiber(NULL, &low, &size);
	if (!came_from->low) {			/* the stack of main() */
		came_from->low = (void *)low;
		came_from->size = size;
	}
#endif
}
