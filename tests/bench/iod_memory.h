/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_memory.h - how much memory an iod holds. */
#ifndef IOD_MEMORY_H
#define IOD_MEMORY_H

#include <sys/types.h>

struct iod_memory {
	double resident, registered; /* MiB; registered < 0: not known */
};

/* Asks the iod for a report (SIGUSR1), which it writes to a log that we may read. */
struct iod_memory iod_memory(pid_t pid);

#endif
