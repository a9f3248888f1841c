/* SPDX-License-Identifier: BSD-2-Clause */
/* session_list.c - SESSIONS: the sessions of clients, in the order of their numbers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/request/caller.h"
#include "mgr/session/evict.h"
#include "mgr/db/lock_rows.h"
#include "mgr/db/sessions.h"
#include "mgr/session/session_table.h"

/* the number of files of one session is counted up to this limit */
#define COUNT_MAX 65536u

struct row {
	uint64_t id;
	struct rpc_session *session; /* NULL: absent since the start */
};

struct rows {
	uint64_t after, asker;
	size_t n, room;
	struct row *row;
	int rc;
};

static int rows_add(struct rows *rows, uint64_t id, struct rpc_session *session)
{
	size_t room = rows->room ? 2 * rows->room : 64;
	struct row *more;

	if (id <= rows->after || id == rows->asker)
		return 0;
	if (rows->n == rows->room) {
		more = realloc(rows->row, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		rows->row = more;
		rows->room = room;
	}
	rows->row[rows->n++] = (struct row){ id, session };
	return 0;
}

static void add_open(void *arg, struct rpc_session *session)
{
	const struct rpc_session_info *info = rpc_session_info(session);
	struct rows *rows = arg;

	if (!rows->rc && info->role == WIRE_ROLE_CLIENT)
		rows->rc = rows_add(rows, info->id, session);
}

static int add_absent(void *arg, const struct session_rec *rec)
{
	return rows_add(arg, rec->id, NULL);
}

static int compare_ids(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void put_text(uint8_t *to, size_t max, const char *from)
{
	for (size_t i = 0; i < max && from[i]; i++)
		to[i] = from[i] < ' ' || from[i] > '~' ? '?' : (uint8_t)from[i];
}

static void fill_open(const struct row *row, struct wire_session *to)
{
	const struct caller *caller = caller_of(row->session);
	const struct rpc_session_info *info = rpc_session_info(row->session);
	struct rpc_label label;

	rpc_session_label(row->session, &label);
	to->age_ns = htole64(clock_boot() - caller->since);
	to->uid = htole32(caller->cred.uid);
	to->gid = htole32(caller->cred.gid);
	to->flags = htole32(
		rpc_session_is_connected(row->session) ? 0 : WIRE_SE_AWAY);
	memcpy(to->job, label.job, sizeof(to->job));
	put_text(to->name, sizeof(to->name), info->cred.name);
	put_text(to->peer, sizeof(to->peer), caller->peer);
}

static int fill_absent(struct mgr *mgr, const struct row *row,
		       struct wire_session *to)
{
	struct session_rec rec;
	int rc = session_get(mgr->st, row->id, &rec);

	if (rc)
		return rc;
	to->uid = htole32(rec.uid);
	to->gid = htole32(rec.gid);
	to->flags = htole32(WIRE_SE_AWAY);
	put_text(to->name, sizeof(to->name), rec.name);
	put_text(to->peer, sizeof(to->peer), "-");
	return 0;
}

static int fill_row(struct mgr *mgr, const struct row *row,
		    struct wire_session *to)
{
	uint32_t opens, locks;
	int rc = 0;

	*to = (struct wire_session){ .id = htole64(row->id) };
	if (row->session)
		fill_open(row, to);
	else
		rc = fill_absent(mgr, row, to);
	if (!rc)
		rc = open_count(mgr->st, row->id, COUNT_MAX, &opens);
	if (!rc)
		rc = locker_count(mgr->st, row->id, COUNT_MAX, &locks);
	if (rc)
		return rc;
	to->opens = htole32(opens + ns_count_holds(&mgr->ns, row->id));
	to->locks = htole32(locks);
	return 0;
}

static int put_rows(struct mgr_op *op, const struct rows *rows)
{
	size_t n = wire_room(op->out, sizeof(struct wire_sessions_rep),
			     sizeof(struct wire_session), WIRE_SESSIONS_MAX);
	struct wire_sessions_rep rep = { .more = htole32(rows->n > n) };
	struct wire_session s;
	int rc = 0;

	n = rows->n < n ? rows->n : n;
	rep.n = htole32((uint32_t)n);
	wire_put(op->out, &rep, sizeof(rep));
	for (size_t i = 0; !rc && i < n; i++) {
		rc = fill_row(op->mgr, &rows->row[i], &s);
		wire_put(op->out, &s, sizeof(s));
	}
	return rc;
}

int op_sessions(struct mgr_op *op)
{
	const struct wire_sessions *body = op->rpc->msg.body;
	struct rows rows = { .after = le64toh(body->after),
			     .asker = op->ns.session };
	int rc;

	if (!caller_is_admin(caller_of(op->rpc->session)))
		return -EPERM;
	rpc_server_each(op->mgr->server, add_open, &rows);
	rc = rows.rc ? rows.rc : absent_walk(op->mgr, add_absent, &rows);
	if (!rc && rows.n)
		qsort(rows.row, rows.n, sizeof(rows.row[0]), compare_ids);
	if (!rc)
		rc = put_rows(op, &rows);
	free(rows.row);
	return rc;
}
