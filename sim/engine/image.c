// SPDX-License-Identifier: GPL-2.0
/* The variables of a source file, to be kept and restored: for modules that are loaded again. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

struct variable {
	char		*address, *content;
	unsigned long	size;
};

struct sim_image {
	unsigned int	nr_variables;
	struct variable	*variables;
};

static void save(void *address, unsigned long size, void *arg)
{
	struct sim_image *image = arg;
	struct variable *variable;

	image->variables = realloc(image->variables, (image->nr_variables + 1) * sizeof(*variable));
	if (!image->variables)
		sim_out_of_memory();
	variable = &image->variables[image->nr_variables++];
	*variable = (struct variable){ address, sim_alloc(size), size };
	sim_copy_poisoned(variable->content, address, size);
}

struct sim_image *sim_image_save(unsigned int file)
{
	struct sim_image *image = sim_alloc(sizeof(*image));

	if (file)
		sim_variables_of(file, save, image);
	return image;
}

/* Of a per-CPU variable each CPU has one. */
static void restore(const struct variable *variable)
{
	char *to = variable->address;
	unsigned int cpu;

	if (!sim_percpu_is_template(to)) {
		memcpy(to, variable->content, variable->size);
		return;
	}
	for (cpu = 0; cpu < sim_options.cpus; cpu++)
		memcpy(to + sim_percpu_offset[cpu], variable->content, variable->size);
}

void sim_image_restore(const struct sim_image *image)
{
	unsigned int i;

	for (i = 0; i < image->nr_variables; i++)
		restore(&image->variables[i]);
}
