// SPDX-License-Identifier: GPL-2.0
/*
 * asks FILE QUESTION MASK TIMES: writes a question to a parameter of a module and says what is
 * in there then. It is on CPU 0 whenever it asks, though it may use the CPUs of MASK as well
 * (hexadecimal); before, it sleeps.
 */
#include "gates.h"
#include <fcntl.h>

static int ask(const char *file, const char *question, unsigned long mask)
{
	int fd = open(file, O_RDWR), answer;
	char text[32] = "";

	if (fd < 0)
		die("%s", file);
	pin(0, 0);
	sleep_ms(3);
	allow(0, mask | 1);
	if (write(fd, question, strlen(question)) < 0 || lseek(fd, 0, SEEK_SET) ||
	    read(fd, text, sizeof(text) - 1) <= 0 || sscanf(text, "%d", &answer) != 1)
		die("%s: '%s'", file, question);
	close(fd);
	return answer;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		die("usage: %s FILE QUESTION MASK TIMES", argv[0]);
	for (int left = atoi(argv[4]); left; left--)
		printf("%d\n", ask(argv[1], argv[2], strtoul(argv[3], NULL, 16)));
	return 0;
}
