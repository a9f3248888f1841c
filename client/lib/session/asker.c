/* SPDX-License-Identifier: BSD-2-Clause */
/* asker.c - see asker.h. */
#include "client/lib/session/asker.h"

static _Thread_local uint32_t self;

void asker_set(uint32_t uid)
{
	self = uid + 1;
}

uint32_t asker(void)
{
	return self;
}

uint32_t asker_swap(uint32_t who)
{
	uint32_t before = self;

	self = who;
	return before;
}
