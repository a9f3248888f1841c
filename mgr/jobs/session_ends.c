/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_ends.c - the iods learn which sessions have ended, so that they reject them.
 *
 * A session that may have changes at the iods gets a fence.  Every iod must learn of a fence, at
 * once or before it serves again.  Fences are a queue on disk.  Each iod has a recorded position
 * in it.  A fence is deleted when every iod is past it.
 *
 * A session that said BYE, or had changed nothing, gets no fence.  Its capabilities end with it.
 * Iods need not store such an end on disk.  They reject the session for the lifetime of a
 * capability.  A restarted iod is told again, also after a restart of the manager.
 *
 * With several managers, a session that times out at a leader that was cut off may have returned
 * to another leader.  So iods learn of an end only once it is committed and the leader has a lease.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/log.h"
#include "mgr/db/ended_sessions.h"
#include "mgr/jobs/jobs_int.h"

#define DROP_MAX 256 /* fences deleted at a time */
#define SCAN 32 /* fences read together */

static struct unfenced_end *unfenced_end_at(const struct mgr_jobs *jobs,
					    uint64_t n)
{
	return &jobs->unfenced.ring[n % UNFENCED_ENDS_MAX];
}

static void drop_expired(struct mgr_jobs *jobs)
{
	uint64_t now = clock_boot();

	while (jobs->unfenced.first < jobs->unfenced.end &&
	       unfenced_end_at(jobs, jobs->unfenced.first)->until <= now)
		jobs->unfenced.first++;
}

/* ---- telling one iod ---- */

/* The sessions of one message. */
struct end_batch {
	le64 session[WIRE_FENCE_MAX];
	uint32_t n, flags; /* WIRE_FN_* */
};

static bool is_of_fences(const struct end_notifier *n)
{
	return n == &n->iod->fences;
}

/* One evicted session marks the whole batch as evicted; this harms no other session. */
static uint32_t fence_flags(const struct end_notifier *n,
			    const struct intent *in)
{
	return in->op == WIRE_EVICT &&
			       rpc_peer_features(n->iod->peer) & WIRE_FT_EVICT
		       ? WIRE_FN_EVICT
		       : 0;
}

/* n->sent: the id of the last fence in the batch. */
static int collect_fences(struct end_notifier *n, struct end_batch *batch)
{
	const struct mgr *mgr = n->iod->mgr;
	uint64_t limit = mgr->jobs->fence_limit;
	struct intent in[SCAN];
	int got = 0;

	while (n->sent < limit && batch->n <= WIRE_FENCE_MAX - SCAN) {
		got = intent_read(mgr->st, INTENT_FENCE, n->sent, in, SCAN);
		for (int i = 0; i < got && in[i].id <= limit; i++) {
			batch->session[batch->n++] = htole64(in[i].session);
			batch->flags |= fence_flags(n, &in[i]);
			n->sent = in[i].id;
		}
		if (got < SCAN || in[SCAN - 1].id > limit)
			break;
	}
	if (!batch->n)
		n->sent = limit;
	return got < 0 ? got : 0;
}

/* n->sent: the number after the last end in the batch. */
static void collect_unfenced(struct end_notifier *n, struct end_batch *batch)
{
	struct mgr_jobs *jobs = n->iod->mgr->jobs;

	drop_expired(jobs);
	if (n->sent < jobs->unfenced.first)
		n->sent = jobs->unfenced.first;
	while (n->sent < jobs->unfenced.certain && batch->n < WIRE_FENCE_MAX) {
		const struct unfenced_end *end = unfenced_end_at(jobs,
								 n->sent++);

		if (end->session)
			batch->session[batch->n++] = htole64(end->session);
	}
	batch->flags = WIRE_FN_MEMORY;
}

static void send_batch(struct end_notifier *n, const struct end_batch *batch)
{
	struct wire_fence body = { .n = htole32(batch->n),
				   .flags = htole32(batch->flags) };
	struct wire_out out;

	wire_begin(&out, n->msg, sizeof(n->msg));
	wire_put(&out, &body, sizeof(body));
	wire_put(&out, batch->session, batch->n * sizeof(batch->session[0]));
	n->call.msg = n->msg;
	n->call.msg_len = (size_t)wire_end(&out, WIRE_FENCE, 0, 0);
	iod_call_start(n->iod, &n->call);
}

static void notifier_advance(struct end_notifier *n)
{
	struct end_batch batch;

	if (n->call.state != IOD_CALL_IDLE)
		return;
	batch.n = batch.flags = 0;
	n->sent = n->done;
	if (!is_of_fences(n))
		collect_unfenced(n, &batch);
	else if (collect_fences(n, &batch))
		return; /* the store failed, and so did the manager */
	if (batch.n) {
		send_batch(n, &batch);
		return;
	}
	n->done = n->sent;
	lease_renew(n->iod);
}

/* Any error means that the iod has not got the batch: retries. */
static void on_told(struct iod_call *call)
{
	struct end_notifier *n = container_of(call, struct end_notifier, call);
	struct mgr *mgr = call->iod->mgr;

	if (call->status) {
		log_warn(mgr->log, "%s: %s: %s; tries again",
			 iod_name(call->iod),
			 is_of_fences(n) ? "fencing sessions"
					 : "ends of sessions",
			 strerror(-call->status));
		iod_call_later(call);
		return;
	}
	n->done = n->sent;
	notifier_advance(n);
	fenced_ends_check(mgr);
}

static void place_key(uint32_t index, char key[24])
{
	snprintf(key, 24, "fenced.%u", index);
}

int session_ends_open_iod(struct mgr_iod *iod)
{
	char key[24];
	int rc;

	iod->fences.iod = iod->unfenced.iod = iod;
	iod->fences.call.done = iod->unfenced.call.done = on_told;
	place_key(iod->index, key);
	rc = meta_get_u64(iod->mgr->st, key, &iod->fences.done);
	iod->fences_recorded = iod->fences.done;
	return rc == -ENOENT ? 0 : rc;
}

void session_ends_close_iod(struct mgr_iod *iod)
{
	iod_call_cancel(&iod->fences.call);
	iod_call_cancel(&iod->unfenced.call);
}

void session_ends_tell_restarted(struct mgr_iod *iod)
{
	session_ends_close_iod(iod);
	iod->unfenced.done = 0;
	notifier_advance(&iod->unfenced);
	notifier_advance(&iod->fences);
}

void session_ends_forgotten(struct mgr_iod *iod)
{
	iod->fences.done = 0;
}

/* ---- fences ---- */

uint64_t fence_latest(const struct mgr *mgr)
{
	return mgr->jobs->fence_limit;
}

bool fence_is_owed(const struct mgr *mgr, uint32_t index, uint64_t id)
{
	const struct mgr_iod *iod = &mgr->jobs->iod[index];

	return iod->fences.done < id && iod->lease.until;
}

void fences_tell(struct mgr *mgr, uint64_t id)
{
	mgr->jobs->fence_limit = id;
	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		notifier_advance(&mgr->jobs->iod[i].fences);
}

int fence_find(const struct mgr *mgr, uint64_t session)
{
	struct intent in = { .id = 0 };
	int rc;

	do
		rc = intent_next(mgr->st, INTENT_FENCE, in.id, &in);
	while (!rc && in.session != session);
	return rc;
}

static int record_places(struct mgr *mgr)
{
	char key[24];
	int rc = 0;

	for (uint32_t i = 0; !rc && i < mgr->conf.niods; i++) {
		struct mgr_iod *iod = &mgr->jobs->iod[i];

		if (iod->fences_recorded == iod->fences.done)
			continue;
		place_key(i, key);
		rc = meta_put_u64(mgr->st, key, iod->fences.done);
	}
	return rc;
}

static int drop_fences(struct mgr *mgr, uint64_t done)
{
	struct intent in;
	int rc = 0;

	for (int i = 0; !rc && i < DROP_MAX; i++) {
		rc = intent_next(mgr->st, INTENT_FENCE, 0, &in);
		if (!rc && in.id > done)
			rc = -ENOENT;
		if (!rc)
			rc = intent_del(mgr->st, INTENT_FENCE, in.id);
	}
	return rc == -ENOENT ? 0 : rc;
}

/* *done: all iods have the fences up to here. */
static bool are_places_recorded(struct mgr *mgr, uint64_t *done)
{
	bool same = true;

	*done = UINT64_MAX;
	for (uint32_t i = 0; i < mgr->conf.niods; i++) {
		const struct mgr_iod *iod = &mgr->jobs->iod[i];

		same = same && iod->fences_recorded == iod->fences.done;
		if (iod->fences.done < *done)
			*done = iod->fences.done;
	}
	return same;
}

void fences_drop_done(struct mgr *mgr)
{
	uint64_t done;
	int rc;

	if (are_places_recorded(mgr, &done) || ns_begin(&mgr->ns))
		return;
	rc = record_places(mgr);
	if (!rc)
		rc = drop_fences(mgr, done);
	if (mgr_end_transaction(mgr, rc, NULL))
		return;
	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		mgr->jobs->iod[i].fences_recorded =
			mgr->jobs->iod[i].fences.done;
}

/*
 * ---- fenced sessions whose end waits until no iod can execute a request of them ----
 *
 * Each iod must be in one of three states:
 *   - it has the fence;
 *   - it does not run, and gets the fence before it serves;
 *   - its lease has expired, and it gets the fence before the next lease.
 */

struct fenced_end {
	TAILQ_ENTRY(fenced_end) link;
	uint64_t id; /* of the fence */
	uint64_t session;
};

/*
 * Returns the highest id such that all ends up to it may complete now: no iod can execute a request
 * of these sessions any more.  *next: when more may complete.
 */
static uint64_t permitted_ends(const struct mgr *mgr, uint64_t now,
			       uint64_t *next)
{
	uint64_t id = UINT64_MAX;

	*next = UINT64_MAX;
	for (uint32_t i = 0; i < mgr->conf.niods; i++) {
		const struct mgr_iod *iod = &mgr->jobs->iod[i];

		if (now >= iod->lease.until || iod_has_all_fences(iod))
			continue;
		if (iod->fences.done < id)
			id = iod->fences.done;
		if (iod->lease.until < *next)
			*next = iod->lease.until;
	}
	return id;
}

static void check_later(struct mgr *mgr, uint64_t left)
{
	rpc_timer_clear(mgr->ctx, &mgr->jobs->ends_check);
	rpc_timer_set(mgr->ctx, &mgr->jobs->ends_check, clock_now() + left);
}

void fenced_ends_check(struct mgr *mgr)
{
	uint64_t now = clock_boot(), next;
	uint64_t id = permitted_ends(mgr, now, &next), session;
	struct fenced_end *end;

	while ((end = TAILQ_FIRST(&mgr->jobs->ends)) && end->id <= id) {
		session = end->session;
		TAILQ_REMOVE(&mgr->jobs->ends, end, link);
		free(end);
		mgr->jobs->fenced(mgr, session);
	}
	if (end)
		check_later(mgr, next - now);
}

void fenced_ends_check_soon(struct mgr *mgr)
{
	if (!TAILQ_EMPTY(&mgr->jobs->ends))
		check_later(mgr, 0);
}

static void on_ends_timer(struct rpc_timer *timer)
{
	struct mgr_jobs *jobs = container_of(timer, struct mgr_jobs,
					     ends_check);

	fenced_ends_check(jobs->iod[0].mgr);
}

int fenced_end_add(struct mgr *mgr, uint64_t id, uint64_t session)
{
	struct fenced_end *end = calloc(1, sizeof(*end));

	if (!end)
		return -ENOMEM;
	end->id = id;
	end->session = session;
	TAILQ_INSERT_TAIL(&mgr->jobs->ends, end, link);
	return 0;
}

/* ---- ends without a fence ---- */

static int make_ring(struct mgr_jobs *jobs)
{
	if (!jobs->unfenced.ring)
		jobs->unfenced.ring = calloc(UNFENCED_ENDS_MAX,
					     sizeof(*jobs->unfenced.ring));
	return jobs->unfenced.ring ? 0 : -ENOMEM;
}

static int ring_add(struct mgr_jobs *jobs, const struct unfenced_end *end)
{
	int rc = make_ring(jobs);

	if (rc)
		return rc;
	drop_expired(jobs);
	if (jobs->unfenced.end - jobs->unfenced.first == UNFENCED_ENDS_MAX)
		jobs->unfenced.first++;
	*unfenced_end_at(jobs, jobs->unfenced.end++) = *end;
	return 0;
}

static int put_unfenced_end(struct mgr *mgr, uint64_t n,
			    const struct unfenced_end *end)
{
	int rc = ns_begin(&mgr->ns);

	if (rc)
		return rc;
	rc = unfenced_end_put(mgr->st, n, end);
	return mgr_end_transaction(mgr, rc, NULL);
}

static void record_unfenced_end(struct mgr *mgr, const struct unfenced_end *end)
{
	struct mgr_jobs *jobs = mgr->jobs;
	int rc = put_unfenced_end(mgr, jobs->unfenced.end - 1, end);

	if (rc && log_pace(&jobs->unfenced.log_time))
		log_warn(mgr->log,
			 "session %016llx: its end cannot be recorded: %s; if "
			 "the manager and an iod restart, the iod accepts its "
			 "capabilities until they expire",
			 (unsigned long long)end->session, strerror(-rc));
}

static void wait_until_certain(struct mgr *mgr);

static void on_certain(struct flusher_item *item)
{
	struct mgr_jobs *jobs = container_of(item, struct mgr_jobs,
					     unfenced.item);
	struct mgr *mgr = jobs->iod[0].mgr;

	jobs->unfenced.waiting = false;
	jobs->unfenced.certain = jobs->unfenced.awaited;
	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		notifier_advance(&jobs->iod[i].unfenced);
	wait_until_certain(mgr);
}

/* Ends that are added meanwhile wait for the next time. */
static void wait_until_certain(struct mgr *mgr)
{
	struct mgr_jobs *jobs = mgr->jobs;

	if (jobs->unfenced.waiting ||
	    jobs->unfenced.certain == jobs->unfenced.end)
		return;
	jobs->unfenced.waiting = true;
	jobs->unfenced.awaited = jobs->unfenced.end;
	jobs->unfenced.item.durable = on_certain;
	flusher_add_read(mgr->fl, &jobs->unfenced.item);
}

void unfenced_end_add(struct mgr *mgr, uint64_t session, uint64_t until)
{
	const struct unfenced_end end = { session, until, mgr->jobs->term,
					  until - clock_boot() };

	if (ring_add(mgr->jobs, &end)) {
		log_error(mgr->log,
			  "session %016llx: no memory to tell iods of its "
			  "end; they accept its capabilities until they "
			  "expire",
			  (unsigned long long)session);
		return;
	}
	record_unfenced_end(mgr, &end);
	wait_until_certain(mgr);
}

/*
 * Loads an entry that an earlier run of the manager wrote.  The time in an entry from an earlier
 * boot of the host is on another clock.  Such an entry is kept for one lifetime of a capability
 * after this boot (caps.c).
 */
static int load_unfenced_end(void *arg, uint64_t n,
			     const struct unfenced_end *end)
{
	struct mgr_jobs *jobs = arg;
	int rc = make_ring(jobs);

	if (rc)
		return rc;
	*unfenced_end_at(jobs, n) = *end;
	if (end->term < jobs->since)
		unfenced_end_at(jobs, n)->until = jobs->begun + end->life;
	if (jobs->unfenced.end <= n)
		jobs->unfenced.end = n + 1;
	return 0;
}

/* ---- start and stop ---- */

int session_ends_open(struct mgr *mgr)
{
	struct mgr_jobs *jobs = mgr->jobs;
	int rc = unfenced_end_walk(mgr->st, load_unfenced_end, jobs);

	jobs->ends_check.fire = on_ends_timer;
	if (rc)
		return rc;
	if (jobs->unfenced.end > UNFENCED_ENDS_MAX)
		jobs->unfenced.first = jobs->unfenced.end - UNFENCED_ENDS_MAX;
	jobs->unfenced.certain = jobs->unfenced.end;
	return 0;
}

void session_ends_close(struct mgr *mgr)
{
	struct fenced_end *end;

	rpc_timer_clear(mgr->ctx, &mgr->jobs->ends_check);
	while ((end = TAILQ_FIRST(&mgr->jobs->ends))) {
		TAILQ_REMOVE(&mgr->jobs->ends, end, link);
		free(end);
	}
	free(mgr->jobs->unfenced.ring);
}
