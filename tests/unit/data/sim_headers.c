// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of sim/include/ that run: what is done inline there, against a plain way to do it. Here stands
 * what the host's side and the model offer else, as little of it as these need.
 */
#include <linux/atomic.h>
#include <linux/kfifo.h>
#include <linux/llist.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/rbtree.h>
#include <linux/rculist.h>
#include <linux/spinlock.h>

int printf(const char *fmt, ...);
void exit(int status) __noreturn;

struct sim_context sim_context;
unsigned int sim_interleaving;
unsigned long *sim_percpu_offset;
unsigned int nr_cpu_ids = 1;
struct cpumask __cpu_possible_mask, __cpu_online_mask, __cpu_active_mask;
static int warnings, woken, contended;

void __sim_interleave(void)
{
}

void sim_wake_one(struct sim_waiters *waiters)
{
	waiters->last = NULL;
	woken++;
}

void sim_spin_contended(raw_spinlock_t *lock)
{
	lock->holder = sim_context.cpu + 1;
	contended++;
}

void sim_spin_not_held(raw_spinlock_t *lock)
{
	exit(3);
}

void sim_warn(const char *file, int line, const char *condition, const char *fmt, ...)
{
	warnings++;
}

void sim_bug(const char *file, int line, const char *condition)
{
	exit(3);
}

void sim_list_damaged(const struct list_head *entry, const char *what)
{
	exit(3);
}

void sim_preemptible(const char *file, int line)
{
	warnings++;
}

void sim_sleeps_in_atomic(const char *file, int line)
{
	warnings++;
}

#define CHECK(condition) do {							\
	if (!(condition)) {							\
		printf("%s:%d: %s (CPUs: %u)\n", __func__, __LINE__, #condition, nr_cpu_ids); \
		exit(1);							\
	}									\
} while (0)

static struct rnd_state random_state;

static u32 draw(u32 below)
{
	return prandom_u32_state(&random_state) % below;
}

static unsigned long get_bits(void)
{
	return (unsigned long)draw(~0U) << 32 | draw(~0U);
}

/* ---- masks ---- */

static bool has[2][NR_CPUS + 1];

/* Words above the last CPU are what they were on the stack. */
static void draw_mask(struct cpumask *mask, bool *members, u32 one_in)
{
	memset(mask, 0xa5, sizeof(*mask));
	cpumask_clear(mask);
	for (unsigned int cpu = 0; cpu < nr_cpu_ids; cpu++) {
		members[cpu] = !draw(one_in);
		if (members[cpu])
			cpumask_set_cpu(cpu, mask);
	}
}

static unsigned int plain_next(unsigned int from, bool first, bool second, bool flip)
{
	for (; from < nr_cpu_ids; from++) {
		if ((!first || has[0][from]) && (!second || has[1][from] != flip))
			return from;
	}
	return nr_cpu_ids;
}

static void check_relations(const struct cpumask *a, const struct cpumask *b)
{
	unsigned int weight[2] = { 0 }, both = 0, only_a = 0, only_b = 0;
	struct cpumask made;

	for (unsigned int cpu = 0; cpu < nr_cpu_ids; cpu++) {
		weight[0] += has[0][cpu];
		weight[1] += has[1][cpu];
		both += has[0][cpu] && has[1][cpu];
		only_a += has[0][cpu] && !has[1][cpu];
		only_b += !has[0][cpu] && has[1][cpu];
	}
	CHECK(cpumask_weight(a) == weight[0] && cpumask_weight(b) == weight[1]);
	CHECK(cpumask_empty(a) == !weight[0] && cpumask_full(a) == (weight[0] == nr_cpu_ids));
	CHECK(cpumask_equal(a, b) == (!only_a && !only_b));
	CHECK(cpumask_intersects(a, b) == !!both && cpumask_subset(a, b) == !only_a);
	CHECK(cpumask_and(&made, a, b) == !!both && cpumask_weight(&made) == both);
	CHECK(cpumask_andnot(&made, a, b) == !!only_a && cpumask_weight(&made) == only_a);
	cpumask_or(&made, a, b);
	CHECK(cpumask_weight(&made) == both + only_a + only_b && cpumask_subset(a, &made));
	cpumask_xor(&made, a, b);
	CHECK(cpumask_weight(&made) == only_a + only_b);
	cpumask_copy(&made, a);
	CHECK(cpumask_equal(&made, a));
	cpumask_setall(&made);
	CHECK(cpumask_weight(&made) == nr_cpu_ids && cpumask_full(&made));
}

static void check_searches(const struct cpumask *a, const struct cpumask *b)
{
	for (int from = 0; from <= (int)nr_cpu_ids; from++) {
		CHECK(cpumask_next(from - 1, a) == plain_next(from, true, false, false));
		CHECK(__sim_next_cpu(from, a, b, 0) == plain_next(from, true, true, false));
		CHECK(__sim_next_cpu(from, a, b, ~0UL) == plain_next(from, true, true, true));
	}
	for (unsigned int cpu = 0; cpu < nr_cpu_ids; cpu++) {
		unsigned int first = plain_next(0, true, false, false);

		CHECK(cpumask_test_cpu(cpu, a) == has[0][cpu]);
		CHECK(cpumask_any_but(a, cpu) ==
		      (first == cpu ? plain_next(cpu + 1, true, false, false) : first));
	}
}

static void check_loops(const struct cpumask *a, const struct cpumask *b)
{
	unsigned int start = draw(2 * nr_cpu_ids), at, seen = 0;
	int cpu;

	at = start % nr_cpu_ids;
	for_each_cpu_wrap(cpu, a, start) {
		while (!has[0][at])
			at = (at + 1) % nr_cpu_ids;
		CHECK(cpu == (int)at);
		at = (at + 1) % nr_cpu_ids;
		seen++;
	}
	CHECK(seen == cpumask_weight(a));
	at = 0;
	for_each_cpu_and(cpu, a, b) {
		CHECK(cpu == (int)plain_next(at, true, true, false));
		at = cpu + 1;
	}
	CHECK(plain_next(at, true, true, false) == nr_cpu_ids);
	CHECK(cpu >= (int)nr_cpu_ids);
}

static bool list_is(const char *text, int ret, unsigned long bits)
{
	struct cpumask mask;

	return cpulist_parse(text, &mask) == ret && (ret || mask.bits[0] == bits);
}

static void check_cpulists(void)
{
	nr_cpu_ids = 32;
	CHECK(list_is("", 0, 0) && list_is("0-3,8\n", 0, 0x10f) && list_is("31", 0, 1UL << 31));
	CHECK(list_is("2-9:2/4", 0, 0xcc) && list_is("1, 3", 0, 10) && list_is(",5,", 0, 32));
	CHECK(list_is("32", -ERANGE, 0) && list_is("3-1", -EINVAL, 0) && list_is("1-", -EINVAL, 0));
	CHECK(list_is("x", -EINVAL, 0) && list_is("1x", -EINVAL, 0) && list_is("-1", -EINVAL, 0));
	CHECK(list_is("0-3:0/2", -EINVAL, 0) && list_is("0-3:3/2", -EINVAL, 0));
	CHECK(list_is("99999999999", -EINVAL, 0));
	nr_cpu_ids = 1;
}

static void check_masks(void)
{
	static const unsigned int numbers[] = { 1, 2, 4, 63, 64, 65, 127, 128, 130, 192, 200 };
	static struct cpumask a, b;

	for (size_t n = 0; n < ARRAY_SIZE(numbers); n++) {
		nr_cpu_ids = numbers[n];
		for (int i = 0; nr_cpu_ids <= NR_CPUS && i < 60; i++) {
			draw_mask(&a, has[0], 1 + draw(6));
			draw_mask(&b, has[1], 1 + draw(40));
			check_relations(&a, &b);
			check_searches(&a, &b);
			check_loops(&a, &b);
		}
	}
	nr_cpu_ids = 1;
}

/* Behind the last bit lies what is none of them, and behind the last word nothing. */
static void check_bits(void)
{
	static unsigned long bits[3];
	unsigned int size, from, at, zero;

	for (int i = 0; i < 3000; i++) {
		for (size_t n = 0; n < ARRAY_SIZE(bits); n++)
			bits[n] = i % 3 ? -(unsigned long)(i % 2) : get_bits();
		size = 2 * BITS_PER_LONG + 1 + draw(BITS_PER_LONG);
		from = draw(size + 1);
		for (at = from; at < size && !test_bit(at, bits); at++)
			;
		for (zero = from; zero < size && test_bit(zero, bits); zero++)
			;
		CHECK(find_next_bit(bits, size, from) == at);
		CHECK(find_next_zero_bit(bits, size, from) == zero);
	}
}

/* ---- trees ---- */

struct entry {
	struct rb_node	rb;
	u32		key, least;	/* and the least key below */
	u32		number;
	bool		in;
};

static bool renew(struct entry *entry, bool stop_if_same)
{
	u32 least = entry->key;

	if (entry->rb.rb_left)
		least = min(least, rb_entry(entry->rb.rb_left, struct entry, rb)->least);
	if (entry->rb.rb_right)
		least = min(least, rb_entry(entry->rb.rb_right, struct entry, rb)->least);
	if (stop_if_same && entry->least == least)
		return true;
	entry->least = least;
	return false;
}

RB_DECLARE_CALLBACKS(static, entry_callbacks, struct entry, rb, least, renew);

/* By number: the keys lie anywhere, as bounds do. */
static bool before(struct rb_node *rb, const struct rb_node *other)
{
	return rb_entry(rb, struct entry, rb)->number < rb_entry(other, struct entry, rb)->number;
}

/* The number of black nodes on each way down. */
static int check_below(const struct rb_node *rb, const struct rb_node *parent, bool augmented)
{
	struct entry *entry;
	int black;

	if (!rb)
		return 0;
	entry = rb_entry(rb, struct entry, rb);
	CHECK(rb_parent(rb) == parent && entry->in);
	CHECK(rb_is_black(rb) || (parent && rb_is_black(parent)));
	black = check_below(rb->rb_left, rb, augmented);
	CHECK(black == check_below(rb->rb_right, rb, augmented));
	if (augmented)
		CHECK(renew(entry, true));
	return black + rb_is_black(rb);
}

static void check_tree(const struct rb_root_cached *root, unsigned int count, bool augmented)
{
	const struct rb_node *rb, *last = NULL;

	check_below(root->rb_root.rb_node, NULL, augmented);
	CHECK(rb_first_cached(root) == rb_first(&root->rb_root));
	for (rb = rb_first(&root->rb_root); rb; last = rb, rb = rb_next(rb), count--) {
		CHECK(rb_prev(rb) == last);
		CHECK(!last || !before((struct rb_node *)rb, last));
	}
	CHECK(!count && rb_last(&root->rb_root) == last);
}

static void check_trees(bool augmented, unsigned int range)
{
	static struct entry entries[128];
	struct rb_root_cached root = RB_ROOT_CACHED;
	unsigned int count = 0, rounds = 20000;

	memset(entries, 0, sizeof(entries));
	for (unsigned int i = 0; i < rounds || count; i++) {
		struct entry *entry = &entries[draw(ARRAY_SIZE(entries))];

		if (entry->in && augmented) {
			rb_erase_augmented_cached(&entry->rb, &root, &entry_callbacks);
		} else if (entry->in) {
			rb_erase_cached(&entry->rb, &root);
		} else if (i >= rounds) {
			continue;
		} else {
			entry->number = draw(range);
			entry->key = entry->least = draw(1000);
			if (augmented)
				rb_add_augmented_cached(&entry->rb, &root, before,
							&entry_callbacks);
			else
				rb_add_cached(&entry->rb, &root, before);
		}
		entry->in = !entry->in;
		count += entry->in ? 1 : -1;
		if (!(i % 16))
			check_tree(&root, count, augmented);
	}
	CHECK(!root.rb_root.rb_node && !root.rb_leftmost);
}

/* ---- the rest ---- */

static void check_numbers(void)
{
	atomic_t n = ATOMIC_INIT(S32_MAX);
	u64 word = 5, old = 4;

	atomic_inc(&n);
	CHECK(atomic_read(&n) == S32_MIN && atomic_dec_return(&n) == S32_MAX);
	CHECK(atomic_xchg(&n, 1) == S32_MAX && atomic_dec_and_test(&n));
	CHECK(cmpxchg(&word, 4, 6) == 5 && cmpxchg(&word, 5, 6) == 5 && word == 6);
	CHECK(!try_cmpxchg(&word, &old, 7) && old == 6 && try_cmpxchg(&word, &old, 7));
	CHECK(min(max(3, 5), 4) == 4 && clamp(-3LL, -2, 2) == -2 && max_t(s64, -1, 0U) == 0);
	CHECK(mul_u64_u64_shr(1ULL << 63, 6, 2) == 3ULL << 62);
	CHECK(mul_u64_u32_shr(~0ULL, 1U << 31, 31) == ~0ULL);
	CHECK(fls(0) == 0 && fls(1) == 1 && fls64(1ULL << 63) == 64);
	CHECK(IS_ENABLED(CONFIG_SMP) && !IS_ENABLED(CONFIG_PREEMPT_RT));
	CHECK(GENMASK(63, 60) == 0xfUL << 60 && GENMASK(3, 0) == 0xf);
	CHECK(ALIGN(65, 64) == 128 && DIV_ROUND_CLOSEST_ULL(7, 2) == 4);
}

static void check_lists(void)
{
	struct { struct list_head list; struct llist_node node; int n; } many[4], *pos, *next;
	struct llist_head stack = LLIST_HEAD_INIT(stack);
	LIST_HEAD(head);
	int n = 0;

	for (int i = 0; i < 4; i++) {
		many[i].n = i;
		list_add_tail(&many[i].list, &head);
		CHECK(llist_add(&many[i].node, &stack) == !i);
	}
	list_move(&many[2].list, &head);
	list_del_init(&many[1].list);
	CHECK(list_first_entry(&head, __typeof__(*pos), list)->n == 2 && list_empty(&many[1].list));
	CHECK(list_is_last(&many[3].list, &head));
	list_for_each_entry_safe(pos, next, &head, list) {
		n = n * 10 + pos->n;
		list_del(&pos->list);
	}
	CHECK(n == 203 && list_empty(&head));
	n = 0;
	llist_for_each_entry_safe(pos, next, llist_del_all(&stack), node) {
		n = n * 10 + pos->n;
		memset(pos, 0xff, sizeof(*pos));
	}
	CHECK(n == 3210);
}

static void check_ring(void)
{
	static DEFINE_KFIFO(ring, u16, 4);
	u16 out;

	for (u16 i = 0; i < 1000; i++) {
		CHECK(kfifo_put(&ring, i) && kfifo_put(&ring, i + 1));
		CHECK(kfifo_get(&ring, &out) && out == i && kfifo_len(&ring) == 1);
		CHECK(kfifo_get(&ring, &out) && out == i + 1 && !kfifo_get(&ring, &out));
	}
	while (kfifo_put(&ring, 0))
		;
	CHECK(kfifo_is_full(&ring) && kfifo_len(&ring) == 4);
}

static int returns_from_guard(raw_spinlock_t *lock)
{
	guard(raw_spinlock_irqsave)(lock);
	return raw_spin_is_locked(lock) && irqs_disabled() && preempt_count() == 1;
}

static void check_context(void)
{
	static DEFINE_RAW_SPINLOCK(lock);
	struct { struct list_head list; } *entry;
	LIST_HEAD(head);
	unsigned long flags;

	sim_context.cpu = 0;
	scoped_guard(rcu) {
		CHECK(sim_context.rcu == 1);
		scoped_guard(preempt)
			CHECK(!preemptible());
	}
	CHECK(preemptible() && !sim_context.rcu);
	CHECK(returns_from_guard(&lock) && !raw_spin_is_locked(&lock) && !irqs_disabled());
	local_irq_disable();
	local_irq_save(flags);
	local_irq_restore(flags);
	CHECK(irqs_disabled());
	local_irq_enable();
	raw_spin_lock(&lock);
	CHECK(lockdep_is_held(&lock) && sim_context.locks == 1 && !raw_spin_trylock(&lock));
	sim_context.cpu = 1;
	CHECK(!lockdep_is_held(&lock));
	sim_context.cpu = 0;
	lock.waiters.last = (void *)1;
	raw_spin_unlock(&lock);
	CHECK(woken == 1 && !sim_context.locks && preemptible());
	lock.holder = 2;
	raw_spin_lock(&lock);
	CHECK(contended == 1 && lockdep_is_held(&lock));
	raw_spin_unlock(&lock);
	CHECK(!warnings);
	might_sleep();
	CHECK(!warnings);
	scoped_guard(rcu)
		might_sleep();
	CHECK(warnings == 1);
	list_for_each_entry_rcu(entry, &head, list)
		exit(1);
	CHECK(warnings == 2);
}

/* ---- lists that the linker makes ---- */

static int given = 1;
module_param(given, int, 0444);
static unsigned int numbers[3];
module_param_array_named(several, numbers, uint, NULL, 0);

static int __init begin(void)
{
	return 7;
}
module_init(begin);

static void __exit end(void)
{
	given = 8;
}
module_exit(end);

const struct kernel_param_ops param_ops_int, param_ops_uint, param_array_ops;
extern const struct kernel_param * const __start_sim_params[], * const __stop_sim_params[];
extern const struct sim_module_hook * const __start_sim_modules[], * const __stop_sim_modules[];
extern const char __start_sim_init_text[], __stop_sim_init_text[];

static void check_sections(void)
{
	const struct kernel_param * const *param;
	const struct sim_module_hook * const *hook;
	int n = 0;

	for (param = __start_sim_params; param < __stop_sim_params; param++) {
		CHECK(!strcmp((*param)->module, "sim_headers"));
		if (!strcmp((*param)->name, "several"))
			CHECK((*param)->arr->elements == numbers && (*param)->arr->max == 3);
		else
			CHECK(!strcmp((*param)->name, "given") && (*param)->arg == &given);
		n++;
	}
	CHECK(n == 2);
	for (hook = __start_sim_modules; hook < __stop_sim_modules; hook++) {
		CHECK((*hook)->module == THIS_MODULE);
		n += (*hook)->init ? (*hook)->init() : ((*hook)->exit(), given);
	}
	CHECK(n == 2 + 7 + 8 && !strcmp(module_name(THIS_MODULE), "sim_headers"));
	CHECK((const char *)begin >= __start_sim_init_text && (const char *)begin < __stop_sim_init_text);
	CHECK((const char *)end < __start_sim_init_text || (const char *)end >= __stop_sim_init_text);
}

int main(void)
{
	random_state.state = 1;
	check_masks();
	check_bits();
	check_cpulists();
	for (int augmented = 0; augmented < 2; augmented++) {
		check_trees(augmented, 16);
		check_trees(augmented, 1 << 30);
	}
	check_numbers();
	check_lists();
	check_ring();
	check_context();
	check_sections();
	printf("all checks passed\n");
	return 0;
}
