// SPDX-License-Identifier: GPL-2.0
/*
 * Names of functions and variables, and the source files that they are from: out of the symbol
 * table of the program itself, where the local symbols of each file stand behind its name.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine.h"

struct symbol {
	unsigned long	address, size;
	const char	*name;
	unsigned int	file;		/* number of the file's symbol; 0: it is global */
	unsigned int	section;
	bool		writable;
};

static struct symbol *symbols;		/* functions and variables, by address */
static unsigned int nr_symbols;
static unsigned long bias;		/* of a position-independent program */

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* Several names for one address: always the same one. */
	return strcmp(x->name, y->name);
}

static const Elf64_Shdr *find_table(const char *image, unsigned long size)
{
	const Elf64_Ehdr *header = (const void *)image;
	const Elf64_Shdr *sections;
	unsigned int i;

	if (!image || size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_shoff + header->e_shnum * sizeof(*sections) > size)
		return NULL;
	sections = (const void *)(image + header->e_shoff);
	for (i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB)
			return &sections[i];
	return NULL;
}

static void add(const Elf64_Sym *from, const char *name, unsigned int file,
		const Elf64_Shdr *sections, unsigned int nr_sections)
{
	bool writable = from->st_shndx < nr_sections &&
			sections[from->st_shndx].sh_flags & SHF_WRITE;
	int type = ELF64_ST_TYPE(from->st_info);

	if ((type != STT_FUNC && type != STT_OBJECT) || from->st_shndx == SHN_UNDEF)
		return;
	if (ELF64_ST_BIND(from->st_info) != STB_LOCAL)
		file = 0;
	if (!strcmp(name, "sim_symbol"))
		bias = (unsigned long)sim_symbol - from->st_value;
	symbols[nr_symbols++] = (struct symbol){
		from->st_value, from->st_size ? from->st_size : 1, name, file, from->st_shndx,
		writable,
	};
}

/* The program's file, mapped for ever: names are in there. NULL: it cannot be. */
static const char *map_program(unsigned long *size)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat stat;
	void *image;

	if (fd < 0 || fstat(fd, &stat))
		return NULL;
	*size = stat.st_size;
	image = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return image == MAP_FAILED ? NULL : image;
}

static void load(void)
{
	unsigned long size = 0, i, n;
	const char *image = map_program(&size), *names;
	const Elf64_Shdr *table = find_table(image, size), *sections;
	unsigned int nr_sections, file = 0;
	const Elf64_Sym *all;

	if (!table)
		return;
	nr_sections = ((const Elf64_Ehdr *)image)->e_shnum;
	all = (const void *)(image + table->sh_offset);
	n = table->sh_size / sizeof(*all);
	sections = (const void *)(image + ((const Elf64_Ehdr *)image)->e_shoff);
	names = image + sections[table->sh_link].sh_offset;
	symbols = sim_alloc((n + 1) * sizeof(*symbols));
	for (i = 0; i < n; i++) {
		if (ELF64_ST_TYPE(all[i].st_info) == STT_FILE)
			file = i;
		add(&all[i], names + all[i].st_name, file, sections, nr_sections);
	}
	qsort(symbols, nr_symbols, sizeof(*symbols), by_address);
}

/* The last one that begins at or before @address, or NULL. */
static const struct symbol *find(unsigned long address)
{
	static bool loaded;
	unsigned int low = 0, high;

	if (!loaded)
		load();
	loaded = true;
	high = nr_symbols;
	address -= bias;
	while (low < high) {
		unsigned int middle = low + (high - low) / 2;

		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	while (low > 1 && symbols[low - 2].address == symbols[low - 1].address)
		low--;
	return &symbols[low - 1];
}

const char *sim_symbol(const void *address, unsigned long *offset)
{
	const struct symbol *found = find((unsigned long)address);
	unsigned long behind;

	if (!found)
		return NULL;
	behind = (unsigned long)address - bias - found->address;
	if (behind >= found->size)
		return NULL;
	if (offset)
		*offset = behind;
	return found->name;
}

/* A global symbol is of the file whose local ones are on both sides of it. */
unsigned int sim_symbol_file(const void *address)
{
	const struct symbol *found = find((unsigned long)address), *before, *behind;
	const struct symbol *end = symbols + nr_symbols;

	if (!found || (unsigned long)address - bias - found->address >= found->size)
		return 0;
	for (before = found; before > symbols && !before->file; before--)
		;
	for (behind = found; behind < end - 1 && !behind->file; behind++)
		;
	if (before->file != behind->file || before->section != found->section ||
	    behind->section != found->section)
		return 0;
	return before->file;
}

void sim_variables_of(unsigned int file, void (*fn)(void *variable, unsigned long size, void *arg),
		      void *arg)
{
	unsigned int i;

	find(0);
	for (i = 0; i < nr_symbols; i++) {
		void *address = (void *)(symbols[i].address + bias);

		if (symbols[i].writable && sim_symbol_file(address) == file)
			fn(address, symbols[i].size, arg);
	}
}

#ifdef HAVE_ASAN
#include <execinfo.h>

/*
 * The compiler's choices about inlining show in a stack: not in builds whose output must be the
 * same.
 */
void sim_print_stack(void (*print)(const char *name))
{
	void *addresses[48];
	int n = backtrace(addresses, 48), i;

	for (i = 2; i < n; i++) {
		const char *name = sim_symbol((char *)addresses[i] - 1, NULL);

		if (name && (!strcmp(name, "sim_loop") || !strcmp(name, "main")))
			break;
		print(name ? name : "?");
	}
}
#else
void sim_print_stack(void (*print)(const char *name))
{
	(void)print;
}
#endif
