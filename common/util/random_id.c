/* SPDX-License-Identifier: BSD-2-Clause */
/* random_id.c - see random_id.h. */
#include "common/util/random_id.h"

#include <errno.h>
#include <sys/random.h>

int random_bytes(void *out, size_t len)
{
	uint8_t *at = out;
	ssize_t n;

	while (len) {
		n = getrandom(at, len, 0);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

int random_id(uint64_t *id)
{
	uint64_t n = 0;
	int rc = 0;

	while (!rc && !n)
		rc = random_bytes(&n, sizeof(n));
	if (!rc)
		*id = n;
	return rc;
}
