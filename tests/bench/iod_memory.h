/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_memory.h - how much memory an iod uses. */
#ifndef IOD_MEMORY_H
#define IOD_MEMORY_H

#include "tests/bench/bench.h"

struct iod_memory {
	double resident, registered; /* MiB; registered < 0: not known */
};

/* Returns the memory of the first iod. */
struct iod_memory iod_memory(const struct bench *b);

#endif
