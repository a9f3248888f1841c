/* SPDX-License-Identifier: BSD-2-Clause */
/* racing.h - one process changes a file while others read it, for some seconds. */
#ifndef RACING_H
#define RACING_H

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"

/*
 * Runs until the time `stop`. Fails by EXPECT() or exits with an error if it sees a wrong result.
 */
typedef void racer(const char *name, time_t stop);

static inline void race_for(const char *name, int readers, unsigned int seconds,
			    racer *changes, racer *reads)
{
	time_t stop = time(NULL) + seconds;
	int status, failed = 0;

	for (int i = 0; i <= readers; i++) {
		pid_t pid = quiet_fork();

		EXPECT(pid >= 0);
		if (pid == 0) {
			(i ? reads : changes)(name, stop);
			exit(0);
		}
	}
	for (int i = 0; i <= readers; i++) {
		EXPECT(wait(&status) > 0);
		failed |= status;
	}
	EXPECT(!failed);
}

#endif
