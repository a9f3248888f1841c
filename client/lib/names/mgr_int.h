/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_int.h - shared by the files that implement mgr_requests.h. */
#ifndef MGR_INT_H
#define MGR_INT_H

#include <string.h>

#include "client/lib/session/server_call.h"
#include "client/lib/names/mgr_requests.h"

struct mgr_attr_arg {
	struct session *s;
	struct attr *attr;
};
int mgr_take_attr(struct mgr_attr_arg *arg, const struct wire_attr *a);
/* Handles a struct wire_attr_rep; attr NULL: not wanted. */
int mgr_take_attr_rep(void *arg, const struct wire_msg *reply);

/* Starts a request: a body with the length of t->path, followed by that path. */
static inline void mgr_begin(struct server_call *c, struct session *s,
			     const struct target *t, const void *body,
			     size_t len)
{
	server_call_begin(c, s, s->mgr);
	c->redirect = t->redirect;
	c->as = t->as;
	server_call_put(c, body, len);
	server_call_put(c, t->path, strlen(t->path));
}

/* Starts a request with a struct wire_path. */
static inline void mgr_begin_path(struct server_call *c, struct session *s,
				  const struct target *t)
{
	struct wire_path body = {
		.dir = htole64(t->handle),
		.flags = htole32(t->flags),
		.path_len = htole32((uint32_t)strlen(t->path)),
	};

	mgr_begin(c, s, t, &body, sizeof(body));
}

#endif
