// SPDX-License-Identifier: GPL-2.0
/* prctl() of a client that gets a CPU only when its parent has been killed: linked in its place. */
#include <unistd.h>

int __wrap_prctl(int option, unsigned long signal);

int __wrap_prctl(int option, unsigned long signal)
{
	pid_t parent = getppid();

	(void)option, (void)signal;
	write(STDOUT_FILENO, "!", 1);
	while (getppid() == parent)
		usleep(1000);
	return 0;
}
