// SPDX-License-Identifier: GPL-2.0
/*
 * asks FILE QUESTION MASK CARE WANTED TIMES: writes a question to a parameter of a module and says
 * what is in there then, the answer and what was true at that moment. It goes on until so many
 * times the truth was WANTED in the bits of CARE. It is on CPU 0 whenever it asks, though it may
 * use the CPUs of MASK as well; before, it sleeps. All but TIMES are hexadecimal.
 */
#include "gates.h"
#include <fcntl.h>

/* What was true, or -1: that could not be told. */
static long ask(const char *file, const char *question, unsigned long mask)
{
	int fd = open(file, O_RDWR), answer;
	char text[64] = "";
	long truth;

	if (fd < 0)
		die("%s", file);
	pin(0, 0);
	sleep_ms(3);
	allow(0, mask | 1);
	if (write(fd, question, strlen(question)) < 0) {
		if (errno != EAGAIN)
			die("%s: '%s'", file, question);
		close(fd);
		return -1;
	}
	if (lseek(fd, 0, SEEK_SET) || read(fd, text, sizeof(text) - 1) <= 0 ||
	    sscanf(text, "%d %lx", &answer, &truth) != 2)
		die("%s: '%s'", file, question);
	close(fd);
	printf("%d %lx\n", answer, truth);
	return truth;
}

int main(int argc, char **argv)
{
	unsigned long mask, care, wanted;
	int left;

	if (argc != 7)
		die("usage: %s FILE QUESTION MASK CARE WANTED TIMES", argv[0]);
	mask = strtoul(argv[3], NULL, 16);
	care = strtoul(argv[4], NULL, 16);
	wanted = strtoul(argv[5], NULL, 16);
	for (left = atoi(argv[6]); left;) {
		long truth = ask(argv[1], argv[2], mask);

		left -= truth >= 0 && (truth & care) == wanted;
	}
	return 0;
}
