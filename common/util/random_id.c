/* SPDX-License-Identifier: BSD-2-Clause */
/* random_id.c - see random_id.h. */
#include "random_id.h"

#include <errno.h>
#include <sys/random.h>

int random_id(uint64_t *id)
{
	uint64_t n = 0;

	while (!n)
		if (getrandom(&n, sizeof(n), 0) != sizeof(n))
			return -errno;
	*id = n;
	return 0;
}
