// SPDX-License-Identifier: GPL-2.0
/*
 * Initcalls and modules: init/main.c, kernel/module/main.c. All modules are linked into the
 * program; what their files say is collected in sections (<linux/module.h>). When one is loaded,
 * its variables are as they were compiled, whether it had been loaded before or not.
 */
#include <linux/module.h>
#include <linux/uaccess.h>

#include "machine.h"

#define LIST(section)								\
	extern const void * const __start_##section[] __weak;			\
	extern const void * const __stop_##section[] __weak

LIST(sim_initcalls);
LIST(sim_module_files);
/* Not weak: without a policy the program does not link. */
extern const void * const __start_sim_modules[], * const __stop_sim_modules[];
LIST(sim_params);

#define for_each_listed(section, pointer)					\
	for (pointer = (void *)__start_##section;					\
	     (void *)pointer < (void *)__stop_##section; pointer++)

enum system_states system_state = SYSTEM_BOOTING;
static LIST_HEAD(modules);			/* that are loaded, latest first */
static struct notifier_block *notifiers;	/* by priority, highest first */

/* ---- initcalls ---- */

/* The sections keep the order of files; within one the compiler may have turned it round. */
static bool call_before(const struct sim_initcall *a, const struct sim_initcall *b)
{
	return a->level < b->level || (a->level == b->level && a->order < b->order);
}

static void do_initcalls(void)
{
	const struct sim_initcall **calls, **pointer, *call;
	unsigned int n = 0, i;
	int error;

	calls = sim_alloc((char *)__stop_sim_initcalls - (char *)__start_sim_initcalls + 1);
	for_each_listed(sim_initcalls, pointer) {
		for (i = n++; i && call_before(*pointer, calls[i - 1]); i--)
			calls[i] = calls[i - 1];
		calls[i] = *pointer;
	}
	for (i = 0; i < n; i++) {
		call = calls[i];
		error = call->call();
		WARN(error, "initcall %s has failed: %pe", call->name, ERR_PTR(error));
		WARN(preempt_count() || irqs_disabled(),
		     "initcall %s has left preemption or interrupts off", call->name);
	}
	sim_free(calls);
}

/* ---- who wants to be told ---- */

int register_module_notifier(struct notifier_block *nb)
{
	struct notifier_block **link = &notifiers;

	while (*link && (*link)->priority >= nb->priority)
		link = &(*link)->next;
	nb->next = *link;
	*link = nb;
	return 0;
}

int unregister_module_notifier(struct notifier_block *nb)
{
	struct notifier_block **link = &notifiers;

	while (*link && *link != nb)
		link = &(*link)->next;
	if (!*link)
		return -ENOENT;
	*link = nb->next;
	return 0;
}

static void tell(struct module *module)
{
	struct notifier_block *nb, *next;

	for (nb = notifiers; nb; nb = next) {
		next = nb->next;
		if (nb->notifier_call(nb, module->state, module) & NOTIFY_STOP_MASK)
			break;
	}
}

/* ---- references ---- */

bool try_module_get(struct module *module)
{
	if (!module)
		return true;
	if (module->state == MODULE_STATE_GOING || module->state == MODULE_STATE_UNFORMED)
		return false;
	module->refs++;
	return true;
}

void __module_get(struct module *module)
{
	if (module)
		module->refs++;
}

void module_put(struct module *module)
{
	if (module)
		WARN(--module->refs < 0, "module_put() of %s, which nobody has", module->name);
}

/* ---- addresses ---- */

extern char __start_sim_init_text[] __weak, __stop_sim_init_text[] __weak;
extern char __start_sim_init_data[] __weak, __stop_sim_init_data[] __weak;
extern char __start_sim_init_const[] __weak, __stop_sim_init_const[] __weak;

bool within_module(unsigned long address, const struct module *module)
{
	const struct sim_module_hook **pointer;
	unsigned int file = sim_symbol_file((void *)address);

	if (!file)
		return false;
	for_each_listed(sim_module_files, pointer)
		if ((*pointer)->module == module && sim_symbol_file(*pointer) == file)
			return true;
	return false;
}

static bool in_section(unsigned long address, const char *start, const char *stop)
{
	return address >= (unsigned long)start && address < (unsigned long)stop;
}

bool within_module_init(unsigned long address, const struct module *module)
{
	return (in_section(address, __start_sim_init_text, __stop_sim_init_text) ||
		in_section(address, __start_sim_init_data, __stop_sim_init_data) ||
		in_section(address, __start_sim_init_const, __stop_sim_init_const)) &&
	       within_module(address, module);
}

struct module *__module_address(unsigned long address)
{
	struct module *module;

	list_for_each_entry(module, &modules, list)
		if (within_module(address, module))
			return module;
	return NULL;
}

/* ---- parameters ---- */

static const struct kernel_param *find_param(const struct module *module, const char *name)
{
	const struct kernel_param **pointer;

	for_each_listed(sim_params, pointer)
		if (!strcmp((*pointer)->module, module->name) && !strcmp((*pointer)->name, name))
			return *pointer;
	return NULL;
}

/* Ends the run: bad input. */
static void unknown_param(const struct module *module, const char *name)
{
	const struct kernel_param **pointer;
	char known[512] = "";
	size_t n = 0;

	for_each_listed(sim_params, pointer)
		if (!strcmp((*pointer)->module, module->name))
			n += scnprintf(known + n, sizeof(known) - n, "%s %s", n ? "," : ":",
				       (*pointer)->name);
	sim_bad_input(NULL, 0, "module %s has no parameter %s; it has%s", module->name, name,
		      n ? known : " none");
}

/* NAME of "MODULE.NAME", or NULL. In a module's name - and _ are the same. */
static const char *param_of(const struct module *module, const char *setting)
{
	const char *c = module->name;

	for (; *c; c++, setting++)
		if (*c != *setting && !(*c == '_' && *setting == '-'))
			return NULL;
	return *setting == '.' ? setting + 1 : NULL;
}

static void set_params(const struct module *module)
{
	const struct kernel_param *param;
	const char *name;
	unsigned int i;
	int error;

	for (i = 0; i < sim_options.nr_params; i++) {
		struct sim_setting *setting = &sim_options.params[i];

		name = param_of(module, setting->name);
		if (!name)
			continue;
		param = find_param(module, name);
		if (!param)
			unknown_param(module, name);
		error = param->ops->set(setting->value, param);
		if (error)
			sim_bad_input(NULL, 0, "option %s=%s: the module does not take that: %pe",
				      setting->name, setting->value, ERR_PTR(error));
		setting->used = true;
	}
}

/* As a write to /sys/module/MODULE/parameters/NAME. */
int machine_set_param(const char *module_name, const char *name, const char *value)
{
	const struct kernel_param *param;
	struct module *module;

	list_for_each_entry(module, &modules, list) {
		if (strcmp(module->name, module_name))
			continue;
		param = find_param(module, name);
		return param ? param->ops->set(value, param) : -ENOENT;
	}
	return -ENOENT;
}

/* ---- loading ---- */

static int (*init_of(const struct module *module))(void)
{
	const struct sim_module_hook **pointer;

	for_each_listed(sim_modules, pointer)
		if ((*pointer)->module == module && (*pointer)->init)
			return (*pointer)->init;
	return NULL;
}

static void (*exit_of(const struct module *module))(void)
{
	const struct sim_module_hook **pointer;

	for_each_listed(sim_modules, pointer)
		if ((*pointer)->module == module && (*pointer)->exit)
			return (*pointer)->exit;
	return NULL;
}

static struct sim_image **images;		/* one for each file */

static void save_images(void)
{
	const struct sim_module_hook **pointer;
	unsigned int n = 0;

	images = sim_alloc((char *)__stop_sim_module_files - (char *)__start_sim_module_files + 1);
	for_each_listed(sim_module_files, pointer)
		images[n++] = sim_image_save(sim_symbol_file(*pointer));
}

static void restore_images(const struct module *module)
{
	const struct sim_module_hook **pointer;
	unsigned int n = 0;

	for_each_listed(sim_module_files, pointer) {
		if ((*pointer)->module == module)
			sim_image_restore(images[n]);
		n++;
	}
}

static void unlink(struct module *module)
{
	module->state = MODULE_STATE_GOING;
	tell(module);
	list_del(&module->list);
	synchronize_rcu();
	module->state = MODULE_STATE_UNFORMED;
}

/* As init_module(2) */
static int load(struct module *module)
{
	int (*init)(void) = init_of(module);
	int error;

	restore_images(module);
	set_params(module);
	module->init = init;
	module->exit = exit_of(module);
	module->state = MODULE_STATE_COMING;
	module->refs = 1;
	list_add(&module->list, &modules);
	tell(module);
	error = init ? init() : 0;
	WARN(preempt_count() || irqs_disabled(), "init of %s has left preemption or interrupts off",
	     module->name);
	module->refs--;
	if (error < 0) {
		synchronize_rcu();
		unlink(module);
		return error;
	}
	module->state = MODULE_STATE_LIVE;
	tell(module);
	return 0;
}

/* Of the module that it is of: which may have others. */
static bool is_first_hook(const struct sim_module_hook **hook)
{
	const struct sim_module_hook **pointer;

	for_each_listed(sim_modules, pointer)
		if ((*pointer)->module == (*hook)->module)
			return pointer == hook;
	return false;
}

/* If it is a policy the class has said why. */
static void warn_of_refusal(const struct module *module, int error)
{
	char why[PAGE_SIZE];
	ssize_t n = machine_file_read("last_error", why, sizeof(why));
	const char *said = "";

	if (n > 0)
		said = strim(why);
	machine_warn("module %s could not be loaded: %pe%s%s", module->name, ERR_PTR(error),
		     *said ? ": " : "", said);
}

/* With fail=, so often one tries: a module may say whatever it likes if it finds no memory. */
#define MAX_TRIES	1000

void machine_load(void)
{
	const struct sim_module_hook **pointer;
	unsigned int i, tries = 0;
	int error;

	do_initcalls();
	system_state = SYSTEM_RUNNING;
	save_images();
	machine_files_set_early();
	sim_failing(true);
	for_each_listed(sim_modules, pointer) {
		struct module *module = (*pointer)->module;

		if (!is_first_hook(pointer))
			continue;
		do {
			error = load(module);
		} while (error && sim_options.fail && tries++ < MAX_TRIES);
		if (error)
			warn_of_refusal(module, error);
	}
	sim_failing(false);
	for (i = 0; i < sim_options.nr_params; i++)
		if (!sim_options.params[i].used)
			sim_bad_input(NULL, 0, "option %s=%s: there is no module of that name",
				      sim_options.params[i].name, sim_options.params[i].value);
}

/* As delete_module(2) */
int machine_unload(const char *name)
{
	struct module *module;

	might_sleep();
	list_for_each_entry(module, &modules, list) {
		if (strcmp(module->name, name))
			continue;
		if (module->state != MODULE_STATE_LIVE || (module->init && !module->exit))
			return -EBUSY;
		if (module->refs)
			return -EWOULDBLOCK;
		module->state = MODULE_STATE_GOING;
		if (module->exit)
			module->exit();
		unlink(module);
		return 0;
	}
	return -ENOENT;
}

int machine_reload(const char *name)
{
	const struct sim_module_hook **pointer;

	might_sleep();
	for_each_listed(sim_modules, pointer) {
		struct module *module = (*pointer)->module;

		if (strcmp(module->name, name))
			continue;
		return module->state == MODULE_STATE_UNFORMED ? load(module) : -EEXIST;
	}
	return -ENOENT;
}

void machine_unload_rest(void)
{
	struct module *module;
	int error;

	while ((module = list_first_entry_or_null(&modules, struct module, list))) {
		error = machine_unload(module->name);
		if (!error)
			continue;
		machine_warn("module %s cannot be unloaded: %pe", module->name, ERR_PTR(error));
		return;
	}
}

/* ---- <linux/uaccess.h> ---- */

long copy_from_kernel_nofault(void *to, const void *from, size_t size)
{
	if (!sim_readable(from, size))
		return -EFAULT;
	memcpy(to, from, size);
	return 0;
}

int object_is_on_stack(const void *object)
{
	return sim_on_stack(object);
}
