/* SPDX-License-Identifier: BSD-2-Clause */
/* count.c - COUNTER: a file's counters are dealt to its iods by their number. */
#include "count.h"

#include "ask.h"

static int take_old(void *arg, const struct wire_msg *reply)
{
	const struct wire_counter_rep *rep = reply->body;
	struct counter_ask *a = arg;

	a->old = (int64_t)le64toh(rep->old);
	return 0;
}

int counter_ask(struct session *s, const struct target *t, void *arg)
{
	struct counter_ask *a = arg;
	struct wire_counter body = {
		.handle = htole64(t->handle),
		.value = htole64((uint64_t)a->value),
		.number = htole32(a->number),
		.flags = htole32(a->set ? WIRE_CT_SET : 0),
	};
	uint32_t k = a->number % a->dist->pcount;
	struct ask c;

	ask_begin(&c, s, s->iod[dist_iod(a->dist, s->niods, k)]);
	c.once = a->set || a->value;
	ask_put(&c, &body, sizeof(body));
	return session_iod_status(ask_run(&c, WIRE_COUNTER, take_old, a));
}
