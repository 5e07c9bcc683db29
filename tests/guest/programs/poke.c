// SPDX-License-Identifier: GPL-2.0
/* poke FILE TEXT: writes, and says the errno. A shell says only that it failed. */
#include "saakm_user.h"
#include <fcntl.h>

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_WRONLY) : -1;

	if (fd < 0)
		die("usage: %s FILE TEXT", argv[0]);
	printf("%d\n", write(fd, argv[2], strlen(argv[2])) < 0 ? errno : 0);
	return 0;
}
