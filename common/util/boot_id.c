/* SPDX-License-Identifier: BSD-2-Clause */
/* boot_id.c - 64 bits of the kernel's random boot_id. */
#include "common/util/boot_id.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/util/random_id.h"

int boot_id(uint64_t *id)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	uint32_t a;
	uint16_t b, c;
	int n = 0;

	if (f) {
		n = fscanf(f, "%8" SCNx32 "-%4" SCNx16 "-%4" SCNx16, &a, &b,
			   &c);
		fclose(f);
	}
	if (n != 3)
		return random_id(id);
	*id = (uint64_t)a << 32 | (uint64_t)b << 16 | c;
	return 0;
}
