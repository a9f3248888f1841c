/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_lock.c - LOCK and LOCK_ANY. */
#include <errno.h>

#include "client/lib/names/mgr_int.h"

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

	server_call_begin(&c, s, s->mgr);
	server_call_put(&c, &body, sizeof(body));
	return server_call_run(&c, WIRE_LOCK, take_lock, lock);
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

	for (uint32_t i = 0; i < any->n; i++)
		wanted[i] = body_of(any->wanted[i].handle,
				    &any->wanted[i].lock);
	server_call_begin(&c, s, s->mgr);
	server_call_put(&c, &body, sizeof(body));
	server_call_put(&c, wanted, any->n * sizeof(*wanted));
	c.patient = true;
	c.begins = any_begins;
	return server_call_run(&c, WIRE_LOCK_ANY, take_which, any);
}

/*
 * A late unlock of the process would release locks taken since, so it is not kept.  Owner
 * numbers of open files are not reused.
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
