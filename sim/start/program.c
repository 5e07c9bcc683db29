// SPDX-License-Identifier: GPL-2.0
/* The simulator as a program of its own. */
#include "engine.h"

int main(int argc, char **argv)
{
	return sim_main(argc, argv);
}
