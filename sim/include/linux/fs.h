/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's files: procfs and debugfs, and text that is read from them. Stands for linux/fs.h,
 * seq_file.h, proc_fs.h, debugfs.h. Trees that the model keeps, and reads and writes for set= and
 * read=.
 */
#ifndef _LINUX_FS_H
#define _LINUX_FS_H

#include <linux/err.h>
#include <linux/string.h>
#include <linux/stdarg.h>

struct dentry;
struct module;
struct poll_table_struct;
struct proc_dir_entry;
struct vm_area_struct;

struct inode {
	void		*i_private;
};

struct file {
	void		*private_data;
	struct inode	*f_inode;
	loff_t		f_pos;
	unsigned int	f_flags;
};

struct file_operations {
	struct module	*owner;
	loff_t		(*llseek)(struct file *file, loff_t offset, int whence);
	ssize_t		(*read)(struct file *file, char __user *buf, size_t size, loff_t *pos);
	ssize_t		(*write)(struct file *file, const char __user *buf, size_t size,
				 loff_t *pos);
	int		(*open)(struct inode *inode, struct file *file);
	int		(*release)(struct inode *inode, struct file *file);
	int		(*mmap)(struct file *file, struct vm_area_struct *vma);
	long		(*unlocked_ioctl)(struct file *file, unsigned int command,
					  unsigned long value);
	long		(*compat_ioctl)(struct file *file, unsigned int command,
					unsigned long value);
};

/* No program has pointers of another size. */
#define compat_ptr_ioctl	NULL

int simple_open(struct inode *inode, struct file *file);
loff_t noop_llseek(struct file *file, loff_t offset, int whence);
loff_t default_llseek(struct file *file, loff_t offset, int whence);
ssize_t simple_read_from_buffer(void __user *to, size_t size, loff_t *pos, const void *from,
				size_t available);
ssize_t simple_write_to_buffer(void *to, size_t available, loff_t *pos, const void __user *from,
			       size_t size);

/* Text, as long as it comes */
struct seq_file {
	char		*buf;
	size_t		size;
	size_t		count;		/* == size: it was too long, and is made anew */
	void		*private;
	struct file	*file;
	int		(*show)(struct seq_file *m, void *v);
};

__printf(2, 3) void seq_printf(struct seq_file *m, const char *fmt, ...);
__printf(2, 0) void seq_vprintf(struct seq_file *m, const char *fmt, va_list args);
void seq_puts(struct seq_file *m, const char *s);
void seq_putc(struct seq_file *m, char c);
int seq_write(struct seq_file *m, const void *data, size_t size);
int single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *data);
int single_release(struct inode *inode, struct file *file);
ssize_t seq_read(struct file *file, char __user *buf, size_t size, loff_t *pos);
loff_t seq_lseek(struct file *file, loff_t offset, int whence);

static inline bool seq_has_overflowed(const struct seq_file *m)
{
	return m->count == m->size;
}

#define DEFINE_SHOW_ATTRIBUTE(_name)						\
static int _name##_open(struct inode *inode, struct file *file)			\
{										\
	return single_open(file, _name##_show, inode->i_private);		\
}										\
static const struct file_operations _name##_fops = {				\
	.owner		= THIS_MODULE,						\
	.open		= _name##_open,						\
	.read		= seq_read,						\
	.llseek		= seq_lseek,						\
	.release	= single_release,					\
}

/* /sys/kernel/debug; errors need not be looked at */
struct dentry *debugfs_create_dir(const char *name, struct dentry *parent);
struct dentry *debugfs_create_file(const char *name, umode_t mode, struct dentry *parent,
				   void *data, const struct file_operations *fops);
void debugfs_remove(struct dentry *dentry);
#define debugfs_remove_recursive(dentry)	debugfs_remove(dentry)

/* /proc */
struct proc_ops {
	unsigned int	proc_flags;
	int		(*proc_open)(struct inode *inode, struct file *file);
	ssize_t		(*proc_read)(struct file *file, char __user *buf, size_t size,
				     loff_t *pos);
	ssize_t		(*proc_write)(struct file *file, const char __user *buf, size_t size,
				      loff_t *pos);
	loff_t		(*proc_lseek)(struct file *file, loff_t offset, int whence);
	int		(*proc_release)(struct inode *inode, struct file *file);
};

struct proc_dir_entry *proc_mkdir(const char *name, struct proc_dir_entry *parent);
struct proc_dir_entry *proc_create(const char *name, umode_t mode, struct proc_dir_entry *parent,
				   const struct proc_ops *ops);
struct proc_dir_entry *proc_create_single_data(const char *name, umode_t mode,
					       struct proc_dir_entry *parent,
					       int (*show)(struct seq_file *m, void *v),
					       void *data);
#define proc_create_single(name, mode, parent, show) \
	proc_create_single_data(name, mode, parent, show, NULL)
void proc_remove(struct proc_dir_entry *entry);
void remove_proc_entry(const char *name, struct proc_dir_entry *parent);

#endif /* _LINUX_FS_H */
