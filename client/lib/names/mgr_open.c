/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_open.c - OPEN, GRANT, REDEEM, ADOPT, RELEASE and APPEND. */
#include "client/lib/names/mgr_int.h"

struct open_arg {
	struct mgr_attr_arg attr;
	uint64_t *open;
	bool held; /* the open must be declared */
	uint32_t flags; /* WIRE_O_* */
};

static int take_open(void *arg, const struct wire_msg *reply)
{
	const struct wire_open_rep *rep = reply->body;
	struct open_arg *a = arg;
	int rc = mgr_take_attr(&a->attr, &rep->attr);

	*a->open = le64toh(rep->open);
	if (!rc)
		rc = keychain_take(a->attr.s->keys, le64toh(rep->attr.handle),
				   keychain_rights(a->flags), reply->caps);
	if (rc || !a->held || !*a->open)
		return rc;
	return declare_opened(a->attr.s->declare, le64toh(rep->attr.handle),
			      *a->open);
}

int mgr_open(struct session *s, const struct target *t,
	     const struct mgr_open *how, struct attr *attr, uint64_t *open)
{
	struct wire_open body = {
		.dir = htole64(t->handle),
		.flags = htole32(how->flags),
		.mode = htole32(how->mode),
		.dist = { .base = htole32(how->dist.base),
			  .pcount = htole32(how->dist.pcount),
			  .ssize = htole32(how->dist.ssize) },
		.path_len = htole32((uint32_t)strlen(t->path)),
	};
	struct open_arg arg = { { s, attr },
				open,
				how->flags & WIRE_O_HOLD &&
					!(how->flags & WIRE_O_WRITE),
				how->flags };
	struct server_call c;

	mgr_begin(&c, s, t, &body, sizeof(body));
	c.once = how->flags & (WIRE_O_CREAT | WIRE_O_TRUNC);
	return server_call_run(&c, WIRE_OPEN, take_open, &arg);
}

static int take_token(void *arg, const struct wire_msg *reply)
{
	const struct wire_grant_rep *rep = reply->body;

	memcpy(arg, rep->token, WIRE_TOKEN_LEN);
	return 0;
}

int mgr_grant(struct session *s, const struct target *t, uint32_t flags,
	      uint8_t token[WIRE_TOKEN_LEN])
{
	struct wire_grant body = { .handle = htole64(t->handle),
				   .open = htole64(t->open),
				   .flags = htole32(flags) };
	struct server_call c;

	server_call_begin(&c, s, s->mgr);
	server_call_put(&c, &body, sizeof(body));
	return server_call_run(&c, WIRE_GRANT, take_token, token);
}

int mgr_redeem(struct session *s, const uint8_t token[WIRE_TOKEN_LEN],
	       uint32_t flags, struct attr *attr, uint64_t *open)
{
	struct wire_redeem body = { .flags = htole32(flags) };
	struct open_arg arg = { { s, attr }, open, false, flags };
	struct server_call c;

	memcpy(body.token, token, WIRE_TOKEN_LEN);
	server_call_begin(&c, s, s->mgr);
	c.once = true;
	server_call_put(&c, &body, sizeof(body));
	return server_call_run(&c, WIRE_REDEEM, take_open, &arg);
}

void mgr_release(struct session *s, const struct mgr_release *rel)
{
	struct wire_release body = {
		.handle = htole64(rel->handle),
		.open = htole64(rel->open),
		.end = htole64(rel->end),
		.mtime = htole64((uint64_t)rel->mtime),
		.flags = htole32(rel->flags),
	};
	struct server_call c;

	declare_closed(s->declare, rel->open);
	server_call_begin(&c, s, s->mgr);
	c.keep = true;
	c.late = rel->late;
	server_call_put(&c, &body, sizeof(body));
	server_call_post(&c, WIRE_RELEASE, "closing a file");
}

static int take_append(void *arg, const struct wire_msg *reply)
{
	const struct wire_append_rep *rep = reply->body;
	uint64_t *off = arg;

	*off = le64toh(rep->offset);
	return 0;
}

int mgr_append(struct session *s, const struct target *t, uint64_t len,
	       uint64_t *off)
{
	struct wire_append body = {
		.handle = htole64(t->handle),
		.open = htole64(t->open),
		.len = htole64(len),
	};
	struct server_call c;

	server_call_begin(&c, s, s->mgr);
	server_call_put(&c, &body, sizeof(body));
	return server_call_run(&c, WIRE_APPEND, take_append, off);
}

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
	struct server_call c;

	server_call_begin(&c, s, s->mgr);
	server_call_put(&c, &body, sizeof(body));
	return server_call_run(&c, WIRE_ADOPT, take_done, done);
}

int mgr_adopted(struct session *s, uint64_t before)
{
	struct wire_adopted body = { .session = htole64(before) };
	struct server_call c;

	server_call_begin(&c, s, s->mgr);
	server_call_put(&c, &body, sizeof(body));
	return server_call_run(&c, WIRE_ADOPTED, NULL, NULL);
}
