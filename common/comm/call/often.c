/* SPDX-License-Identifier: BSD-2-Clause */
/* often.c - counts uses of the ranges that were seen last. */
#include "common/comm/call/often_int.h"

static struct often_range *find(struct often *o, const void *addr, size_t len)
{
	unsigned int i;

	for (i = 0; i < OFTEN_RANGES; i++)
		if (o->range[i].addr == addr && o->range[i].len == len)
			return &o->range[i];
	return NULL;
}

static struct often_range *make(struct often *o, const void *addr, size_t len)
{
	struct often_range *r = &o->range[o->next];

	o->next = (o->next + 1) % OFTEN_RANGES;
	*r = (struct often_range){ .addr = addr, .len = len };
	return r;
}

bool often_comes(struct often *o, const void *addr, size_t len)
{
	struct often_range *r = find(o, addr, len);

	if (!r)
		r = make(o, addr, len);
	if (++r->times < OFTEN_TIMES)
		return false;
	r->times = 0;
	return true;
}
