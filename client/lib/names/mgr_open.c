/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_open.c - requests on an open file: OPEN, GRANT, REDEEM, ADOPT, RELEASE and APPEND;
 * LOCK and LOCK_ANY.
 */
#include <errno.h>

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
	/* a reader's open may have been answered before it was durable */
	if (*a->open && a->flags & WIRE_O_WRITE)
		rpc_peer_set_recorded(a->attr.s->mgr);
	if (!rc)
		rc = keychain_take(a->attr.s, le64toh(rep->attr.handle),
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

/* ---- locks ---- */

static struct wire_lock body_of(uint64_t handle, const struct mgr_lock *lock)
{
	return (struct wire_lock){
		.handle = htole64(handle),
		.owner = htole64(lock->owner),
		.start = htole64(lock->start),
		.end = htole64(lock->end),
		.type = htole32(lock->type),
		.flags = htole32(lock->flags),
	};
}

static int take_lock(void *arg, const struct wire_msg *reply)
{
	const struct wire_lock_rep *rep = reply->body;
	struct mgr_lock *lock = arg;

	if (lock->flags & WIRE_L_TEST) {
		lock->start = le64toh(rep->start);
		lock->end = le64toh(rep->end);
		lock->type = le32toh(rep->type);
	}
	return 0;
}

int mgr_lock(struct session *s, const struct target *t, struct mgr_lock *lock)
{
	struct wire_lock body = body_of(t->handle, lock);
	struct server_call c;
	int rc;

	server_call_begin(&c, s, s->mgr);
	server_call_put(&c, &body, sizeof(body));
	rc = server_call_run(&c, WIRE_LOCK, take_lock, lock);
	if (!rc && lock->type != WIRE_L_UNLOCK && !(lock->flags & WIRE_L_TEST))
		rpc_peer_set_recorded(s->mgr);
	return rc;
}

static int take_which(void *arg, const struct wire_msg *reply)
{
	const struct wire_lock_any_rep *rep = reply->body;
	struct mgr_lock_any *any = arg;

	if (le32toh(rep->which) >= any->n)
		return -EPROTO;
	any->which = le32toh(rep->which);
	return 0;
}

static bool any_begins(void *arg)
{
	struct mgr_lock_any *any = arg;

	return any->begins(any->arg);
}

int mgr_lock_any(struct session *s, struct mgr_lock_any *any)
{
	struct wire_lock_any body = { .n = htole32(any->n),
				      .wait_ms = htole32(any->wait_ms) };
	struct wire_lock wanted[WIRE_LOCK_ANY_MAX];
	struct server_call c;
	int rc;

	for (uint32_t i = 0; i < any->n; i++)
		wanted[i] = body_of(any->wanted[i].handle,
				    &any->wanted[i].lock);
	server_call_begin(&c, s, s->mgr);
	server_call_put(&c, &body, sizeof(body));
	server_call_put(&c, wanted, any->n * sizeof(*wanted));
	c.patient = true;
	c.begins = any_begins;
	rc = server_call_run(&c, WIRE_LOCK_ANY, take_which, any);
	if (!rc)
		rpc_peer_set_recorded(s->mgr);
	return rc;
}

/*
 * An unlock of the process (owner 0) is not repeated after a timeout: a late copy would release
 * locks that were taken since.  For an open file this cannot happen, because its owner number is
 * not reused.
 */
void mgr_unlock(struct session *s, uint64_t handle, const struct mgr_lock *lock)
{
	struct wire_lock body = body_of(handle, lock);
	struct server_call c;

	server_call_begin(&c, s, s->mgr);
	c.keep = lock->owner && !(lock->flags & WIRE_L_CANCEL);
	server_call_put(&c, &body, sizeof(body));
	server_call_post(&c, WIRE_LOCK, "unlocking a file");
}
