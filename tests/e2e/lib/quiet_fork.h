/* SPDX-License-Identifier: BSD-2-Clause */
/* quiet_fork.h - fork() for programs with threads, also under AddressSanitizer. */
#ifndef QUIET_FORK_H
#define QUIET_FORK_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns true if every thread of this process but the caller sleeps. */
static inline bool other_threads_sleep(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *e;
	bool sleep = true;
	char stat[300], state;
	FILE *f;

	while (tasks && (e = readdir(tasks))) {
		if (e->d_name[0] == '.' || atoi(e->d_name) == gettid())
			continue;
		snprintf(stat, sizeof(stat), "/proc/self/task/%s/stat",
			 e->d_name);
		f = fopen(stat, "re");
		if (!f)
			continue; /* it has ended */
		if (fscanf(f, "%*d (%*[^)]) %c", &state) == 1)
			sleep &= state == 'S';
		fclose(f);
	}
	if (tasks)
		closedir(tasks);
	return sleep;
}

/*
 * fork(). The allocator of gcc 12's AddressSanitizer does not release its locks in the child. If a
 * thread allocates memory at this moment, the child waits for ever at its next allocation. So with
 * AddressSanitizer the caller waits up to a second for the library's threads to sleep.
 */
static inline pid_t quiet_fork(void)
{
#ifdef __SANITIZE_ADDRESS__
	for (unsigned int i = 0; i < 1000 && !other_threads_sleep(); i++)
		usleep(1000);
#endif
	return fork();
}

#endif
