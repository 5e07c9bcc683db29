/* SPDX-License-Identifier: GPL-2.0 */
/* Threads that wake up now and then, so that a CPU gets idle which may fetch others. */
#ifndef NAPPERS_H
#define NAPPERS_H

#include "saakm_user.h"
#include <signal.h>
#include <sys/prctl.h>

#define NAP_MS	5

/* On each CPU, of the class we are in now, for as long as we live. */
static inline void start_nappers(void)
{
	int nr = sysconf(_SC_NPROCESSORS_ONLN);

	for (int cpu = 0; cpu < nr; cpu++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(0, cpu);
		for (;;)
			sleep_ms(NAP_MS);
	}
}

#endif /* NAPPERS_H */
