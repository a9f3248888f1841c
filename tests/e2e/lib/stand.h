/* SPDX-License-Identifier: BSD-2-Clause */
/* stand.h - stops a server, for tests of what its clients do then. */
#ifndef STAND_H
#define STAND_H

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"

static inline bool stands(pid_t pid)
{
	char file[64], text[512] = "";
	const char *state;
	FILE *f;

	snprintf(file, sizeof(file), "/proc/%d/stat", (int)pid);
	f = fopen(file, "r");
	EXPECT(f);
	EXPECT(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	state = strrchr(text, ')');
	EXPECT(state);
	return state[2] == 'T';
}

/* Waits until the server is stopped: the signal takes effect when one of its threads runs next. */
static inline void stand_still(pid_t pid)
{
	EXPECT(!kill(pid, SIGSTOP));
	while (!stands(pid))
		usleep(1000);
}

#endif
