/* SPDX-License-Identifier: BSD-2-Clause */
/* life.c - see life.h. */
#include "server/once/life.h"

#include "common/util/boot_id.h"
#include "common/util/clock.h"
#include "common/util/random_id.h"

#define SYNC 1u /* upper half with sync; host_life() never returns it */

static uint32_t host_life(void)
{
	uint64_t id;

	if (boot_id(&id))
		id = clock_wall();
	return (uint32_t)(id ^ id >> 32) | 2;
}

uint64_t life_boot(bool sync)
{
	uint64_t life = sync ? SYNC : host_life(), once;

	if (random_id(&once))
		once = clock_now();
	return life << 32 | (uint32_t)once;
}
