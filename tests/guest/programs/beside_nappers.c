// SPDX-License-Identifier: GPL-2.0
/*
 * beside_nappers COMMAND [ARGUMENT]...
 *
 * Becomes the command, while a thread of our class naps on each CPU.
 */
#include "nappers.h"

int main(int argc, char **argv)
{
	if (argc < 2)
		die("usage: %s COMMAND [ARGUMENT]...", argv[0]);
	start_nappers();
	execvp(argv[1], argv + 1);
	die("%s", argv[1]);
}
