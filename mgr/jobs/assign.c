/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * assign.c - tells each iod its copysets (ASSIGN).  A process of an iod gets all rows with this iod
 * before its first lease, and all of them again when one has changed.  So a copyset that moved to
 * other iods is not among them, and the managers need no record of former members.
 *
 * The rows take one or several parts, which have the rows of one revision.  If a row changes
 * meanwhile, the iod gets all parts again.  A file system with ring 0 only has no rows, and then
 * nothing is sent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/dist/copyset_wire.h"
#include "mgr/copyset/copyset_rows.h"
#include "mgr/jobs/jobs_int.h"

#define SCAN 64u /* rows read together */
#define LOOKS 64u /* groups of SCAN rows in one turn of the event loop */
#define RETRY_MS 1000u

struct assign_msg {
	uint32_t n, nended;
	bool last;
	struct wire_copyset set[WIRE_COPYSETS_MAX];
	struct wire_ended ended[WIRE_ENDED_MAX];
	uint64_t buf[(sizeof(struct wire_hdr) + WIRE_BODY_MAX) / 8];
};

static void assigner_advance(struct assigner *a);

static struct mgr_iod *iod_of(struct assigner *a)
{
	return container_of(a, struct mgr_iod, assigner);
}

static void advance_later(struct assigner *a, unsigned int ms)
{
	if (!a->timer.armed)
		rpc_timer_set(iod_of(a)->mgr->ctx, &a->timer,
			      clock_after_ms(ms));
}

static void assigner_finish(struct assigner *a)
{
	free(a->msg);
	a->msg = NULL;
	a->done = true;
	lease_renew(iod_of(a));
}

/* ---- the rows of a part ---- */

static bool is_named(const struct assign_msg *m, uint32_t iod)
{
	for (uint32_t i = 0; i < m->nended; i++)
		if (le32toh(m->ended[i].iod) == iod)
			return true;
	return false;
}

/* Names the members whose processes have ended.  Without room, they only cost a wait. */
static void add_ended(struct assigner *a, const struct copyset *set)
{
	const struct mgr_iod *own = iod_of(a);
	struct assign_msg *m = a->msg;

	for (uint32_t i = 0; i < set->n && m->nended < WIRE_ENDED_MAX; i++) {
		const struct mgr_iod *iod = mgr_iod_find(own->mgr,
							 set->member[i].iod);

		if (!iod || iod == own || !iod->ended ||
		    is_named(m, iod->index))
			continue;
		m->ended[m->nended++] =
			(struct wire_ended){ .process = htole64(iod->ended),
					     .iod = htole32(iod->index) };
	}
}

/* Adds those of the next SCAN rows that have this iod.  a->from: the next row, 0: no more. */
static int collect_some(struct assigner *a)
{
	const struct mgr_iod *iod = iod_of(a);
	struct assign_msg *m = a->msg;
	struct copyset set[SCAN];
	uint32_t room = WIRE_COPYSETS_MAX - m->n;
	int got = copyset_read_changed(iod->mgr->st, 0, &a->from, set,
				       room < SCAN ? room : SCAN);

	for (int i = 0; i < got; i++) {
		if (!copyset_has_member(&set[i], iod->index))
			continue;
		m->set[m->n++] = copyset_to_wire(&set[i]);
		add_ended(a, &set[i]);
	}
	m->last = !a->from;
	return got < 0 ? got : 0;
}

/* 1: the part is complete; 0: it needs another turn; -errno. */
static int collect_part(struct assigner *a)
{
	const struct assign_msg *m = a->msg;
	int rc = 0;

	for (unsigned int i = 0; !rc && i < LOOKS; i++) {
		rc = collect_some(a);
		if (!rc && (m->last || m->n == WIRE_COPYSETS_MAX))
			return 1;
	}
	return rc;
}

/* ---- sending it ---- */

static void build_part(struct assigner *a)
{
	struct assign_msg *m = a->msg;
	const struct wire_assign body = {
		.revision = htole64(a->revision),
		.n = htole32(m->n),
		.ended = htole32(m->nended),
		.flags = htole32(m->last ? WIRE_AS_LAST : 0),
	};
	struct wire_out out;

	wire_begin(&out, m->buf, sizeof(m->buf));
	wire_put(&out, &body, sizeof(body));
	wire_put(&out, m->set, m->n * sizeof(m->set[0]));
	wire_put(&out, m->ended, m->nended * sizeof(m->ended[0]));
	a->call.msg = m->buf;
	a->call.msg_len = (size_t)wire_end(&out, WIRE_ASSIGN, 0, 0);
}

/* No other manager leads, and the rows of the part are durable. */
static void on_certain(struct flusher_item *item)
{
	struct assigner *a = container_of(item, struct assigner, item);

	a->waiting = false;
	if (a->again)
		assigner_advance(a);
	else
		iod_call_start(iod_of(a), &a->call);
}

static void send_part(struct assigner *a)
{
	build_part(a);
	a->waiting = true;
	flusher_add_read(iod_of(a)->mgr->fl, &a->item);
}

static void on_assigned(struct iod_call *call)
{
	struct assigner *a = container_of(call, struct assigner, call);

	if (call->status) {
		if (log_pace(&a->logged))
			log_error(call->iod->mgr->log,
				  "%s: refuses its copysets: %s; it gets no "
				  "lease until it accepts them: install one "
				  "release on all servers",
				  iod_name(call->iod), strerror(-call->status));
		iod_call_later(call);
		return;
	}
	a->msg->n = a->msg->nended = 0;
	if (a->msg->last && !a->again)
		assigner_finish(a);
	else
		assigner_advance(a);
}

/* ---- the parts of a revision ---- */

static int prepare_part(struct assigner *a, uint64_t revision)
{
	if (!a->msg)
		a->msg = calloc(1, sizeof(*a->msg));
	if (!a->msg)
		return -ENOMEM;
	if (a->again || revision != a->revision)
		a->from = a->msg->n = a->msg->nended = 0;
	a->again = false;
	a->revision = revision;
	return 0;
}

/*
 * Collects and sends the next part.  An error of the store ends the manager soon.  The timer may
 * still be armed for an earlier reason; if it fired, it would cancel the call of this part.
 */
static void assigner_advance(struct assigner *a)
{
	uint64_t revision;
	int rc = copyset_revision(iod_of(a)->mgr->st, &revision);

	rpc_timer_clear(iod_of(a)->mgr->ctx, &a->timer);
	if (!rc && !revision) {
		assigner_finish(a);
		return;
	}
	if (!rc)
		rc = prepare_part(a, revision);
	if (!rc)
		rc = collect_part(a);
	if (rc > 0)
		send_part(a);
	else
		advance_later(a, rc ? RETRY_MS : 0);
}

static void on_timer(struct rpc_timer *timer)
{
	struct assigner *a = container_of(timer, struct assigner, timer);

	if (a->waiting)
		return; /* on_certain() goes on */
	iod_call_cancel(&a->call);
	assigner_advance(a);
}

void assign_open(struct mgr_iod *iod)
{
	struct assigner *a = &iod->assigner;

	a->timer.fire = on_timer;
	a->item.durable = on_certain;
	a->call.done = on_assigned;
}

void assign_close(struct mgr_iod *iod)
{
	struct assigner *a = &iod->assigner;

	iod_call_cancel(&a->call);
	free(a->msg);
}

/* An iod without the feature is in no row. */
void assign_start(struct mgr_iod *iod)
{
	struct assigner *a = &iod->assigner;

	a->done = !(rpc_peer_features(iod->peer) & WIRE_FT_COPIES);
	a->again = !a->done;
	if (a->again)
		advance_later(a, 0);
}
