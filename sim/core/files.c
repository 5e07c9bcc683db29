// SPDX-License-Identifier: GPL-2.0
/* Files of sysfs, procfs and debugfs: one list, by path. See <linux/kobject.h>, <linux/fs.h>. */
#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysrq.h>

#include "machine.h"

/* A file or a directory. As dentry or proc_dir_entry it is known to who has made it. */
struct node {
	struct list_head	entry;
	struct node		*parent;
	char			*path;
	umode_t			mode;
	bool			directory;
	/* sysfs */
	struct kobject		*kobj;
	const struct attribute	*attr;
	/* debugfs, procfs */
	const struct file_operations *fops;
	const struct proc_ops	*proc;
	int			(*show)(struct seq_file *m, void *v);
	void			*data;
};

struct dentry {
	struct node node;
};

struct proc_dir_entry {
	struct node node;
};

static LIST_HEAD(nodes);
static struct kobject kernel = { .name = "kernel", .refs = 1 };
struct kobject *kernel_kobj = &kernel;

static struct node *find(const char *path)
{
	struct node *node;

	list_for_each_entry(node, &nodes, entry)
		if (!strcmp(node->path, path))
			return node;
	return NULL;
}

static struct node *add(const char *directory, const char *name, umode_t mode)
{
	struct node *node = sim_alloc(sizeof(*node));
	size_t size = strlen(directory) + strlen(name) + 2;

	node->path = sim_alloc(size);
	snprintf(node->path, size, "%s/%s", directory, name);
	node->mode = mode;
	list_add_tail(&node->entry, &nodes);
	return node;
}

static void remove(struct node *node)
{
	struct node *child, *next;

	list_for_each_entry_safe(child, next, &nodes, entry)
		if (child->parent == node) {
			remove(child);
			/* The next one may have been its child. */
			next = list_first_entry(&nodes, struct node, entry);
		}
	list_del(&node->entry);
	sim_free(node->path);
	sim_free(node);
}

/* ---- sysfs ---- */

static void kobject_path(const struct kobject *kobj, char *buf, size_t size)
{
	char above[256] = "/sys";

	if (kobj->parent)
		kobject_path(kobj->parent, above, sizeof(above));
	snprintf(buf, size, "%s/%s", above, kobj->name);
}

struct kobject *kobject_create_and_add(const char *name, struct kobject *parent)
{
	struct kobject *kobj = kzalloc(sizeof(*kobj), GFP_KERNEL);

	if (!kobj)
		return NULL;
	kobj->name = name;
	kobj->parent = parent;
	kobj->refs = 1;
	return kobj;
}

void kobject_put(struct kobject *kobj)
{
	struct node *node, *next;

	if (!kobj || --kobj->refs)
		return;
	list_for_each_entry_safe(node, next, &nodes, entry)
		if (node->kobj == kobj)
			remove(node);
	kfree(kobj);
}

int sysfs_create_file(struct kobject *kobj, const struct attribute *attr)
{
	struct node *node;
	char path[256];

	kobject_path(kobj, path, sizeof(path));
	node = add(path, attr->name, attr->mode);
	node->kobj = kobj;
	node->attr = attr;
	return 0;
}

void sysfs_remove_file(struct kobject *kobj, const struct attribute *attr)
{
	struct node *node;

	list_for_each_entry(node, &nodes, entry)
		if (node->kobj == kobj && node->attr == attr) {
			remove(node);
			return;
		}
}

int sysfs_create_groups(struct kobject *kobj, const struct attribute_group **groups)
{
	struct attribute **attr;
	int error = 0;

	for (; !error && *groups; groups++)
		for (attr = (*groups)->attrs; !error && *attr; attr++)
			error = sysfs_create_file(kobj, *attr);
	return error;
}

void sysfs_remove_groups(struct kobject *kobj, const struct attribute_group **groups)
{
	struct attribute **attr;

	for (; *groups; groups++)
		for (attr = (*groups)->attrs; *attr; attr++)
			sysfs_remove_file(kobj, *attr);
}

/* ---- debugfs ---- */

static struct dentry *add_debug(const char *name, umode_t mode, struct dentry *parent)
{
	struct node *node = add(parent ? parent->node.path : "/sys/kernel/debug", name, mode);

	node->parent = parent ? &parent->node : NULL;
	return container_of(node, struct dentry, node);
}

struct dentry *debugfs_create_dir(const char *name, struct dentry *parent)
{
	struct dentry *dentry = add_debug(name, 0755, parent);

	dentry->node.directory = true;
	return dentry;
}

struct dentry *debugfs_create_file(const char *name, umode_t mode, struct dentry *parent,
				   void *data, const struct file_operations *fops)
{
	struct dentry *dentry = add_debug(name, mode, parent);

	dentry->node.fops = fops;
	dentry->node.data = data;
	return dentry;
}

void debugfs_remove(struct dentry *dentry)
{
	if (!IS_ERR_OR_NULL(dentry))
		remove(&dentry->node);
}

/* ---- procfs ---- */

static struct node *add_proc(const char *name, umode_t mode, struct proc_dir_entry *parent)
{
	struct node *node = add(parent ? parent->node.path : "/proc", name, mode);

	node->parent = parent ? &parent->node : NULL;
	return node;
}

struct proc_dir_entry *proc_mkdir(const char *name, struct proc_dir_entry *parent)
{
	struct node *node = add_proc(name, 0555, parent);

	node->directory = true;
	return container_of(node, struct proc_dir_entry, node);
}

struct proc_dir_entry *proc_create(const char *name, umode_t mode, struct proc_dir_entry *parent,
				   const struct proc_ops *ops)
{
	struct node *node = add_proc(name, mode, parent);

	node->proc = ops;
	return container_of(node, struct proc_dir_entry, node);
}

struct proc_dir_entry *proc_create_single_data(const char *name, umode_t mode,
					       struct proc_dir_entry *parent,
					       int (*show)(struct seq_file *m, void *v),
					       void *data)
{
	struct node *node = add_proc(name, mode, parent);

	node->show = show;
	node->data = data;
	return container_of(node, struct proc_dir_entry, node);
}

void proc_remove(struct proc_dir_entry *entry)
{
	if (entry)
		remove(&entry->node);
}

void remove_proc_entry(const char *name, struct proc_dir_entry *parent)
{
	struct node *node;
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", parent ? parent->node.path : "/proc", name);
	node = find(path);
	if (!WARN(!node, "remove_proc_entry() of %s, which is not there", path))
		remove(node);
}

/* ---- SysRq ---- */

static const struct sysrq_key_op *keys[128];

int register_sysrq_key(u8 key, const struct sysrq_key_op *op)
{
	if (key >= ARRAY_SIZE(keys) || keys[key])
		return -EINVAL;
	keys[key] = op;
	return 0;
}

int unregister_sysrq_key(u8 key, const struct sysrq_key_op *op)
{
	if (key >= ARRAY_SIZE(keys) || keys[key] != op)
		return -EINVAL;
	keys[key] = NULL;
	return 0;
}

/* drivers/tty/sysrq.c, __handle_sysrq() */
static ssize_t press(const char *text, size_t length)
{
	const struct sysrq_key_op *op = (u8)*text < ARRAY_SIZE(keys) ? keys[(u8)*text] : NULL;

	if (!length || !op)
		return -EINVAL;
	printk(KERN_INFO "sysrq: %s\n", op->action_msg);
	rcu_read_lock();
	op->handler(*text);
	rcu_read_unlock();
	return length;
}

/* ---- reading and writing ---- */

/* The one of that name. Without a slash in front: below /sys/kernel/saakm. */
static struct node *lookup(const char *path)
{
	char full[256];

	if (*path == '/')
		return find(path);
	snprintf(full, sizeof(full), "/sys/kernel/saakm/%s", path);
	return find(full);
}

struct operations {
	int (*open)(struct inode *inode, struct file *file);
	ssize_t (*read)(struct file *file, char *buf, size_t size, loff_t *pos);
	ssize_t (*write)(struct file *file, const char *buf, size_t size, loff_t *pos);
	int (*release)(struct inode *inode, struct file *file);
};

static struct operations operations_of(const struct node *node)
{
	if (node->fops)
		return (struct operations){ node->fops->open, node->fops->read, node->fops->write,
					    node->fops->release };
	if (node->proc)
		return (struct operations){ node->proc->proc_open, node->proc->proc_read,
					    node->proc->proc_write, node->proc->proc_release };
	return (struct operations){ NULL, seq_read, NULL, single_release };
}

static int open(const struct node *node, const struct operations *ops, struct inode *inode,
		struct file *file)
{
	*inode = (struct inode){ .i_private = node->data };
	*file = (struct file){ .f_inode = inode };
	if (node->show)
		return single_open(file, node->show, node->data);
	return ops->open ? ops->open(inode, file) : 0;
}

static ssize_t read_attribute(const struct node *node, char *buf, size_t size)
{
	struct kobj_attribute *attr = container_of(node->attr, struct kobj_attribute, attr);
	char *page;
	ssize_t n;

	if (!attr->show)
		return -EACCES;
	page = sim_alloc(PAGE_SIZE);
	n = attr->show(node->kobj, attr, page);
	if (n >= 0) {
		n = min(n, (ssize_t)size - 1);
		memcpy(buf, page, n);
	}
	sim_free(page);
	return n;
}

static ssize_t read_all(const struct node *node, char *buf, size_t size)
{
	struct operations ops = operations_of(node);
	struct inode inode;
	struct file file;
	loff_t pos = 0;
	ssize_t n = open(node, &ops, &inode, &file);

	if (n)
		return n;
	if (!ops.read)
		n = -EINVAL;
	while (!n && pos < size - 1) {
		n = ops.read(&file, buf + pos, size - 1 - pos, &pos);
		if (n <= 0)
			break;
		n = 0;
	}
	if (ops.release)
		ops.release(&inode, &file);
	return n < 0 ? n : pos;
}

ssize_t machine_file_read(const char *path, char *buf, size_t size)
{
	struct node *node = lookup(path);
	ssize_t n;

	if (!node)
		return -ENOENT;
	if (node->directory)
		return -EISDIR;
	n = node->attr ? read_attribute(node, buf, size) : read_all(node, buf, size);
	if (n >= 0)
		buf[n] = 0;
	return n;
}

static ssize_t write_attribute(const struct node *node, const char *text, size_t length)
{
	struct kobj_attribute *attr = container_of(node->attr, struct kobj_attribute, attr);
	char *page;
	ssize_t n;

	if (!attr->store)
		return -EACCES;
	page = sim_alloc(PAGE_SIZE);
	length = min(length, PAGE_SIZE - 1);
	memcpy(page, text, length);
	n = attr->store(node->kobj, attr, page, length);
	sim_free(page);
	return n;
}

static ssize_t write_all(const struct node *node, const char *text, size_t length)
{
	struct operations ops = operations_of(node);
	struct inode inode;
	struct file file;
	loff_t pos = 0;
	ssize_t n;

	if (!ops.write)
		return -EACCES;
	n = open(node, &ops, &inode, &file);
	if (n)
		return n;
	n = ops.write(&file, text, length, &pos);
	if (ops.release)
		ops.release(&inode, &file);
	return n;
}

ssize_t machine_file_write(const char *path, const char *text, size_t length)
{
	struct node *node = lookup(path);

	if (!strcmp(path, "/proc/sysrq-trigger"))
		return press(text, length);
	if (!node)
		return -ENOENT;
	if (node->directory)
		return -EISDIR;
	return node->attr ? write_attribute(node, text, length) : write_all(node, text, length);
}

/* ---- options ---- */

static void refuse(const struct sim_setting *set, long error)
{
	static char why[PAGE_SIZE];
	ssize_t n = machine_file_read("last_error", why, sizeof(why));

	if (n > 0 && why[n - 1] == '\n')
		why[--n] = 0;
	sim_bad_input(NULL, 0, "option set=%s:%s: the kernel does not take that: %pe%s%s",
		      set->name, set->value, ERR_PTR(error),
		      n > 0 ? ": " : "", n > 0 ? why : "");
}

/* Ends the run: bad input. */
static void unknown_file(const struct sim_setting *set)
{
	static const char ours[] = "/sys/kernel/saakm/";
	const struct node *node;
	char known[512] = "";
	size_t n = 0;

	list_for_each_entry(node, &nodes, entry)
		if (!node->directory && node->mode & 0200 && !strncmp(node->path, ours, strlen(ours)))
			n += scnprintf(known + n, sizeof(known) - n, "%s%s", n ? ", " : "",
				       node->path + strlen(ours));
	sim_bad_input(NULL, 0, "option set=%s:%s: there is no such file; there are %s", set->name,
		      set->value, known);
}

static void set_files(bool all)
{
	struct sim_setting *set;
	ssize_t n;

	for (set = sim_options.sets; set < sim_options.sets + sim_options.nr_sets; set++) {
		if (set->used)
			continue;
		n = machine_file_write(set->name, set->value, strlen(set->value));
		if (n == -ENOENT && !lookup(set->name)) {
			if (all)
				unknown_file(set);
			continue;
		}
		if (n < 0)
			refuse(set, n);
		set->used = true;
	}
}

void machine_files_set_early(void)
{
	set_files(false);
}

void machine_files_set(void)
{
	set_files(true);
}

/* Longest text of a file that is printed: a dump of 4,096 CPUs. */
#define MAX_FILE	(16UL << 20)

static void print_file(const char *path, char *buf)
{
	ssize_t n = machine_file_read(path, buf, MAX_FILE);
	char header[320];
	int length;

	if (n < 0)
		length = scnprintf(header, sizeof(header), "==> %s <== %pe\n", path, ERR_PTR(n));
	else
		length = scnprintf(header, sizeof(header), "==> %s <==\n", path);
	sim_error_write(header, length);
	if (n > 0)
		sim_error_write(buf, n);
}

void machine_files_print(void)
{
	unsigned int i;
	char *buf;

	if (!sim_options.nr_reads)
		return;
	buf = sim_alloc(MAX_FILE);
	for (i = 0; i < sim_options.nr_reads; i++)
		print_file(sim_options.reads[i].name, buf);
	sim_free(buf);
}
