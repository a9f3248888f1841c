/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_adopt.c - ADOPT and ADOPTED. */
#include "client/lib/names/mgr_int.h"

static int take_done(void *arg, const struct wire_msg *reply)
{
	const struct wire_adopt_rep *rep = reply->body;
	uint32_t *done = arg;

	*done = le32toh(rep->flags);
	return 0;
}

int mgr_adopt(struct session *s, const struct mgr_adopt *what, uint32_t *done)
{
	struct wire_adopt body = {
		.session = htole64(what->session),
		.handle = htole64(what->handle),
		.open = htole64(what->open),
		.owner = htole64(what->owner),
		.flags = htole32(what->process ? WIRE_AD_PROCESS : 0),
	};
	struct ask c;

	ask_begin(&c, s, s->mgr);
	ask_put(&c, &body, sizeof(body));
	return ask_run(&c, WIRE_ADOPT, take_done, done);
}

int mgr_adopted(struct session *s, uint64_t before)
{
	struct wire_adopted body = { .session = htole64(before) };
	struct ask c;

	ask_begin(&c, s, s->mgr);
	ask_put(&c, &body, sizeof(body));
	return ask_run(&c, WIRE_ADOPTED, NULL, NULL);
}
