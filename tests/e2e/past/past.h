/* SPDX-License-Identifier: BSD-2-Clause */
/* past.h - helpers of programs whose reads and writes bypass a mount. */
#ifndef PAST_H
#define PAST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define must(cond)                                                             \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: %s (%s)\n", __func__,          \
				__LINE__, #cond, strerror(errno));             \
			exit(1);                                               \
		}                                                              \
	} while (0)

#endif
