/* SPDX-License-Identifier: BSD-2-Clause */
/* count.c - COUNTER.  The number of a counter selects the iod. */
#include "client/lib/names/count.h"

#include <errno.h>

#include "client/lib/session/ask.h"

static int take_old(void *arg, const struct wire_msg *reply)
{
	const struct wire_counter_rep *rep = reply->body;
	struct counter_ask *a = arg;

	a->old = (int64_t)le64toh(rep->old);
	return 0;
}

static int by_message(struct session *s, const struct target *t, uint32_t iod,
		      struct counter_ask *a)
{
	struct wire_counter body = {
		.handle = htole64(t->handle),
		.value = htole64((uint64_t)a->value),
		.number = htole32(a->number),
		.flags = htole32(a->set ? WIRE_CT_SET : 0),
	};
	struct ask c;

	ask_begin(&c, s, s->iod[iod]);
	c.once = a->set || a->value;
	ask_put(&c, &body, sizeof(body));
	return session_iod_status(ask_run(&c, WIRE_COUNTER, take_old, a));
}

int counter_ask(struct session *s, const struct target *t, void *arg)
{
	struct counter_ask *a = arg;
	uint32_t k = a->number % a->dist->pcount;
	struct word_add add = { .handle = t->handle,
				.iod = dist_iod(a->dist, s->niods, k),
				.number = a->number,
				.add = a->value };
	int rc = a->set ? -EAGAIN : words_add(a->words, s, &add, &a->old);

	return rc == -EAGAIN ? by_message(s, t, add.iod, a) : rc;
}
