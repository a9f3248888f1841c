/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod.c - calls to an iod, retried until it answers; reminders in the log of iods that do not
 * answer.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mgr/copyset/copyset_rows.h"
#include "mgr/jobs/jobs_int.h"

#define TRY_MS 20000 /* of one try of a call without a deadline */
#define WAIT_FIRST_MS 100
#define WAIT_MAX_MS 5000

#define REMIND_FIRST_MS 10000u
#define REMIND_LAST_MS 600000u
#define NAMED_MAX 4u

struct mgr_iod *mgr_iod_find(const struct mgr *mgr, uint32_t index)
{
	return index < mgr->conf.niods ? &mgr->jobs->iod[index] : NULL;
}

static int iod_of_row(struct mgr *mgr, const struct dist *dist, uint32_t k,
		      struct copyset_ref *ref, struct mgr_iod **iod)
{
	struct mgr_iod *found;
	struct copyset set;
	struct ring ring;
	uint32_t index;
	int rc = ring_get(mgr->st, dist->ring, &ring);

	if (!rc)
		rc = copyset_get(mgr->st, copyset_of(dist, &ring, k), &set);
	if (rc)
		return rc == -ENOENT ? -EIO : rc;
	index = copyset_primary(&set);
	if (index == UINT32_MAX)
		index = set.member[0].iod;
	found = mgr_iod_find(mgr, index);
	if (!found)
		return -EIO;
	*ref = (struct copyset_ref){ set.id, set.version };
	*iod = found;
	return 0;
}

int mgr_copyset_iod(struct mgr *mgr, const struct dist *dist, uint32_t k,
		    struct copyset_ref *ref, struct mgr_iod **iod)
{
	const struct ring ring = ring_of_iods(mgr->conf.niods);

	if (dist->ring)
		return iod_of_row(mgr, dist, k, ref, iod);
	*ref = (struct copyset_ref){ 0 };
	*iod = &mgr->jobs->iod[copyset_of(dist, &ring, k)];
	return 0;
}

const char *iod_name(const struct mgr_iod *iod)
{
	return rpc_peer_name(iod->peer);
}

void iod_init(struct mgr *mgr, uint32_t index,
	      void (*stale)(struct iod_call *call))
{
	struct mgr_iod *iod = &mgr->jobs->iod[index];

	iod->mgr = mgr;
	iod->index = index;
	iod->stale = stale;
	TAILQ_INIT(&iod->held);
}

/* ---- reminders of iods that do not answer, at increasing intervals ---- */

/*
 * Whether to log that the iod is missing.  A new file system needs an answer of each iod;
 * afterwards, an iod is missing if a call to it failed.
 */
static bool is_missing(const struct mgr_iod *iod)
{
	return iod->mgr->fresh ? !iod->claimer.asked : iod->down;
}

/* Lists "iod 0 (uri), iod 2 (uri) and 3 more" in buf; returns their number. */
static uint32_t list_missing(struct mgr *mgr, char *buf, size_t len)
{
	uint32_t i, n = 0;
	size_t at = 0;

	buf[0] = '\0';
	for (i = 0; i < mgr->conf.niods; i++) {
		const struct mgr_iod *iod = &mgr->jobs->iod[i];

		if (is_missing(iod) && n++ < NAMED_MAX && at < len)
			at += (size_t)snprintf(buf + at, len - at, "%s%s",
					       at ? ", " : "", iod_name(iod));
	}
	if (n > NAMED_MAX && at < len)
		snprintf(buf + at, len - at, " and %u more", n - NAMED_MAX);
	return n;
}

static void on_remind(struct rpc_timer *timer)
{
	struct mgr_jobs *jobs = container_of(timer, struct mgr_jobs,
					     missing.timer);
	struct mgr *mgr = jobs->iod[0].mgr;
	char text[NAMED_MAX * 160];
	uint32_t n = list_missing(mgr, text, sizeof(text));

	jobs->missing.ms = n ? jobs->missing.ms * 2 : 0;
	if (!n)
		return;
	log_warn(mgr->log, "still waits for %u of %u iods: %s: %s; start them",
		 n, mgr->conf.niods, text,
		 mgr->fresh ? "until then no client is served"
			    : "removals and truncations wait for them");
	if (jobs->missing.ms > REMIND_LAST_MS)
		jobs->missing.ms = REMIND_LAST_MS;
	rpc_timer_set(mgr->ctx, timer, clock_after_ms(jobs->missing.ms));
}

void missing_watch(struct mgr *mgr)
{
	struct mgr_jobs *jobs = mgr->jobs;

	if (jobs->missing.ms)
		return;
	jobs->missing.ms = REMIND_FIRST_MS;
	jobs->missing.timer.fire = on_remind;
	rpc_timer_set(mgr->ctx, &jobs->missing.timer,
		      clock_after_ms(REMIND_FIRST_MS));
}

void missing_close(struct mgr *mgr)
{
	rpc_timer_clear(mgr->ctx, &mgr->jobs->missing.timer);
}

/* ---- calls ---- */

/* Errors that the iod itself has decided; after any other error, a retry may succeed. */
static bool is_answer(int status)
{
	static const int answers[] = {
		0,	ENOSPC, EDQUOT, EIO,	EFBIG,	  EROFS,	EINVAL,
		ENOSYS, EPERM,	EACCES, EISDIR, EMSGSIZE, WIRE_ECOPYSET
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (status == -answers[i])
			return true;
	return false;
}

static void note_state(struct mgr_iod *iod, int status)
{
	bool down = !is_answer(status);

	if (down && !iod->down && !iod->mgr->fresh)
		log_warn(iod->mgr->log,
			 "%s: %s; removals and truncations wait for it: see "
			 "whether it runs",
			 iod_name(iod), strerror(-status));
	if (down)
		missing_watch(iod->mgr);
	else if (!down && iod->down)
		log_info(iod->mgr->log, "%s: answers again", iod_name(iod));
	iod->down = down;
}

/* `when`, or the deadline of the call if that is earlier. */
static uint64_t not_beyond(const struct iod_call *call, uint64_t when)
{
	return call->deadline && call->deadline < when ? call->deadline : when;
}

static bool is_past_deadline(const struct iod_call *call)
{
	return call->deadline && clock_now() >= call->deadline;
}

/* status: the answer of the iod, or -ETIMEDOUT. */
static void end_call(struct iod_call *call, int status)
{
	call->state = IOD_CALL_IDLE;
	call->status = status;
	call->reply = &call->rpc.reply;
	call->done(call);
}

static void send_call(struct iod_call *call)
{
	call->state = IOD_CALL_SENT;
	call->rpc.msg = call->msg;
	call->rpc.msg_len = call->msg_len;
	call->rpc.copyset = call->copyset;
	call->rpc.deadline = call->deadline ? call->deadline
					    : clock_after_ms(TRY_MS);
	call->rpc.quiet = true; /* note_state() logs it once */
	rpc_call_start(call->iod->peer, &call->rpc);
}

static void send_again(struct rpc_timer *timer)
{
	struct iod_call *call = container_of(timer, struct iod_call, again);

	if (call->state == IOD_CALL_HELD)
		TAILQ_REMOVE(&call->iod->held, call, link);
	if (is_past_deadline(call))
		end_call(call, -ETIMEDOUT);
	else
		send_call(call);
}

void iod_call_later(struct iod_call *call)
{
	call->state = IOD_CALL_LATER;
	rpc_timer_set(call->iod->mgr->ctx, &call->again,
		      not_beyond(call, clock_after_ms(call->wait_ms)));
	call->wait_ms *= 2;
	if (call->wait_ms > WAIT_MAX_MS)
		call->wait_ms = WAIT_MAX_MS;
}

static void report_refused(struct iod_call *call)
{
	if (call->refused)
		call->refused(call);
}

/* Calls refused() of this call, and of all calls that are held until the iod is claimed. */
static void report_all_refused(struct iod_call *call)
{
	struct iod_call *held = TAILQ_FIRST(&call->iod->held), *next;

	for (; held; held = next) {
		next = TAILQ_NEXT(held, link);
		report_refused(held);
	}
	report_refused(call);
}

static void on_done(struct rpc_call *rpc)
{
	struct iod_call *call = rpc->arg;

	if (rpc->status == -ECANCELED) {
		call->state = IOD_CALL_IDLE;
		return;
	}
	if (rpc->status == -ESTALE) {
		iod_call_later(call);
		call->iod->stale(call);
		return;
	}
	note_state(call->iod, rpc->status);
	if (!is_answer(rpc->status) && is_past_deadline(call)) {
		end_call(call, -ETIMEDOUT);
		return;
	}
	if (!is_answer(rpc->status)) {
		iod_call_later(call);
		if (rpc->status == -ENXIO)
			report_all_refused(call);
		return;
	}
	end_call(call, rpc->status);
}

void iod_call_start(struct mgr_iod *iod, struct iod_call *call)
{
	call->iod = iod;
	call->wait_ms = WAIT_FIRST_MS;
	call->again.fire = send_again;
	call->rpc.done = on_done;
	call->rpc.arg = call;
	if (iod->open || call->early) {
		send_call(call);
	} else {
		call->state = IOD_CALL_HELD;
		TAILQ_INSERT_TAIL(&iod->held, call, link);
		if (call->deadline)
			rpc_timer_set(iod->mgr->ctx, &call->again,
				      call->deadline);
	}
}

void iod_call_cancel(struct iod_call *call)
{
	switch (call->state) {
	case IOD_CALL_HELD:
		rpc_timer_clear(call->iod->mgr->ctx, &call->again);
		TAILQ_REMOVE(&call->iod->held, call, link);
		break;
	case IOD_CALL_SENT:
		rpc_call_cancel(&call->rpc);
		break;
	case IOD_CALL_LATER:
		rpc_timer_clear(call->iod->mgr->ctx, &call->again);
		break;
	case IOD_CALL_IDLE:
		break;
	}
	call->state = IOD_CALL_IDLE;
}

void iod_release_held(struct mgr_iod *iod)
{
	struct iod_call *call;

	iod->open = true;
	while ((call = TAILQ_FIRST(&iod->held))) {
		TAILQ_REMOVE(&iod->held, call, link);
		rpc_timer_clear(iod->mgr->ctx, &call->again);
		send_call(call);
	}
}
