/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * claim.c - checks that the stores of the iods were made with this database.  The
 * manager records the identity of each store, and each iod records that of the
 * database.  So an empty folder in the place of either is detected before it is used.
 *
 * A new database first asks all iods, and binds them only if all of them are new as
 * well.  Until then the manager serves no client.
 *
 * An iod may have been claimed in a higher term, or in the same term by a manager that
 * started earlier.  Then it rejects this manager, which ends.
 *
 * The leader of a group does not end but starts again, unless it still has the lease of its
 * group.  A leader first asks each iod for the term that it obeys.  If a manager that was
 * recovered without the group (pvfs-mgr --recover) has this term, the group ends, and the
 * database records this.  Otherwise further elections would at some time lead to a higher term.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/jobs/jobs_int.h"

static void store_key(const struct mgr_iod *iod, char key[24])
{
	snprintf(key, 24, "store.%u", iod->index);
}

/* 0: unknown. */
static uint64_t known_store(const struct mgr_iod *iod)
{
	uint64_t id = 0;
	char key[24];

	store_key(iod, key);
	meta_get_u64(iod->mgr->st, key, &id);
	return id;
}

static void note_asked(struct mgr_iod *iod)
{
	struct mgr *mgr = iod->mgr;
	bool repeated = iod->claimer.asked;

	iod->claimer.asked = true;
	/* a leader of a group asks each iod alone */
	if (!mgr->jobs->unasked) {
		claim_start(iod);
		return;
	}
	if (repeated || --mgr->jobs->unasked)
		return;
	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		claim_start(&mgr->jobs->iod[i]);
}

/*
 * The iods obey a term that no election of this group has reached: another storage of the group was
 * recovered with pvfs-mgr --recover.  From now on nothing is acknowledged.
 */
static void report_superseded(struct mgr_iod *iod, uint64_t term)
{
	struct mgr *mgr = iod->mgr;

	if (mgr->superseded)
		return;
	mgr->displaced = mgr->superseded = true;
	log_error(mgr->log,
		  "%s: obeys term %llu, far above %llu of this group: a manager "
		  "was recovered from another storage (pvfs-mgr --recover), so "
		  "this group ends; empty the storages of its managers, and "
		  "start them to join the recovered one",
		  iod_name(iod), (unsigned long long)term,
		  (unsigned long long)mgr->jobs->term);
}

/* An iod of an earlier release does not tell its term. */
static void handle_question(struct mgr_iod *iod, const struct wire_msg *reply)
{
	const struct wire_claim_rep *rep = reply->body;
	uint64_t term = reply->body_len < sizeof(*rep) ? 0 : le64toh(rep->term);

	if (iod->mgr->group && term > iod->mgr->jobs->term + TERM_GAP / 2)
		report_superseded(iod, term);
	else
		note_asked(iod);
}

/* ---- the iod's store is ours ---- */

static void accept_store(struct mgr_iod *iod);

static struct mgr_iod *iod_of_item(struct flusher_item *item)
{
	return container_of(item, struct mgr_iod, claimer.item);
}

/* If it is being claimed again, the next answer continues. */
static void continue_accepting(struct mgr_iod *iod)
{
	iod->claimer.recording = false;
	if (iod->claimer.call.state == IOD_CALL_IDLE)
		accept_store(iod);
}

static void on_store_recorded(struct flusher_item *item)
{
	struct mgr_iod *iod = iod_of_item(item);

	if (iod->claimer.before) {
		log_warn(iod->mgr->log,
			 "%s: begins with a new store, by its option "
			 "--new-store: the data of the old one is lost",
			 iod_name(iod));
		session_ends_forgotten(iod);
	}
	continue_accepting(iod);
}

static void on_bound_recorded(struct flusher_item *item)
{
	struct mgr_iod *iod = iod_of_item(item);

	iod->mgr->fresh = false;
	mgr_say_ready(iod->mgr);
	continue_accepting(iod);
}

/* Commits the open transaction; rc: the result of its writes. */
static int commit_record(struct mgr_iod *iod, int rc,
			 void (*recorded)(struct flusher_item *item))
{
	struct claimer *c = &iod->claimer;

	c->item.durable = recorded;
	rc = mgr_end_transaction(iod->mgr, rc, &c->item);
	c->recording = !rc;
	return rc;
}

static int record_store(struct mgr_iod *iod)
{
	struct mgr *mgr = iod->mgr;
	char key[24];
	int rc;

	if (store_check_space(mgr->st) == STORE_SPACE_NONE)
		return -ENOSPC;
	store_key(iod, key);
	iod->claimer.before = known_store(iod);
	rc = ns_begin(&mgr->ns);
	if (rc)
		return rc;
	rc = meta_put_u64(mgr->st, key, iod->claimer.store);
	return commit_record(iod, rc, on_store_recorded);
}

/* All iods are bound: from now on each of them may be unavailable. */
static int record_bound(struct mgr_iod *iod)
{
	struct ns *ns = &iod->mgr->ns;
	int rc = ns_begin(ns);

	return rc ? rc
		  : commit_record(iod, ns_set_bound(ns), on_bound_recorded);
}

static void bind_iod(struct mgr_iod *iod)
{
	struct claimer *c = &iod->claimer;

	c->unrecorded = false;
	if (!c->bound) {
		c->bound = true;
		iod->mgr->jobs->unbound--;
		iod_release_held(iod);
	}
	iod->claimed = true;
	assign_start(iod);
	session_ends_tell_restarted(iod);
}

/* The call is retried, because a full disk may get space. */
static void accept_later(struct mgr_iod *iod, int rc)
{
	struct claimer *c = &iod->claimer;

	if (!c->unrecorded)
		log_error(iod->mgr->log,
			  "%s: cannot record its store in %s: %s; what needs "
			  "this iod waits until that is done",
			  iod_name(iod), iod->mgr->conf.storage, strerror(-rc));
	c->unrecorded = true;
	iod_call_later(&c->call);
}

/* Records what is not recorded yet.  Each record is durable before the next step. */
static void accept_store(struct mgr_iod *iod)
{
	struct claimer *c = &iod->claimer;
	int rc = 0;

	if (known_store(iod) != c->store)
		rc = record_store(iod);
	else if (iod->mgr->fresh && !c->bound && iod->mgr->jobs->unbound == 1)
		rc = record_bound(iod);
	else
		bind_iod(iod);
	if (rc)
		accept_later(iod, rc);
}

static void note_store(struct mgr_iod *iod, uint64_t store)
{
	struct claimer *c = &iod->claimer;

	if (c->recording) {
		iod_call_later(&c->call);
		return;
	}
	c->store = store;
	accept_store(iod);
}

/* ---- the answer ---- */

static void report_foreign(struct mgr_iod *iod)
{
	struct mgr *mgr = iod->mgr;

	mgr->foreign = true;
	if (mgr->fresh && mgr->group) {
		log_error(mgr->log,
			  "%s: its store belongs to another database than the "
			  "new one in %s: empty this folder, and start the "
			  "other managers first",
			  iod_name(iod), mgr->conf.storage);
		return;
	}
	log_error(mgr->log,
		  "%s: its store belongs to another database than the one in "
		  "%s%s: is its file system not mounted, or was it wiped? mount "
		  "it or restore it from a backup; for a new file system empty "
		  "the folders of all iods",
		  iod_name(iod), mgr->conf.storage,
		  mgr->fresh ? ", which is new" : "");
}

/* The iod whose store this is; NULL: the store is none of ours. */
static const struct mgr_iod *store_of(const struct mgr *mgr, uint64_t store)
{
	for (uint32_t i = 0; store && i < mgr->conf.niods; i++)
		if (known_store(&mgr->jobs->iod[i]) == store)
			return &mgr->jobs->iod[i];
	return NULL;
}

static void report_replaced(const struct mgr_iod *iod, uint64_t store)
{
	const struct mgr_iod *other = store_of(iod->mgr, store);

	if (other)
		log_error(iod->mgr->log,
			  "%s: this is iod %u, so it ends: correct the address "
			  "in [iod.%u] of the configuration, here or on its "
			  "host, or 'storage' there, and start it again",
			  iod_name(iod), other->index, iod->index);
	else
		log_error(iod->mgr->log,
			  "%s: its storage folder is empty or another than the "
			  "one with the data, so it ends; see its log",
			  iod_name(iod));
}

static void handle_verdict(struct mgr_iod *iod, const struct wire_msg *reply)
{
	const struct wire_claim_rep *rep = reply->body;

	switch (le32toh(rep->verdict)) {
	case WIRE_FOREIGN:
		report_foreign(iod);
		break;
	case WIRE_REPLACED:
		report_replaced(iod, le64toh(rep->store));
		break;
	default:
		if (iod->claimer.asks)
			handle_question(iod, reply);
		else
			note_store(iod, le64toh(rep->store));
	}
}

static void on_claim_answer(struct iod_call *call)
{
	struct mgr_iod *iod = call->iod;

	if (!call->status) {
		handle_verdict(iod, call->reply);
		return;
	}
	log_error(iod->mgr->log,
		  "%s: whose its store is: %s; install one release on all "
		  "servers",
		  iod_name(iod), strerror(-call->status));
}

void claim_start(struct mgr_iod *iod)
{
	struct mgr *mgr = iod->mgr;
	struct claimer *c = &iod->claimer;
	struct wire_claim body = { .owner = htole64(mgr->jobs->identity),
				   .store = htole64(known_store(iod)),
				   .term = htole64(mgr->jobs->term) };
	struct wire_out out;

	if (c->call.state != IOD_CALL_IDLE)
		return;
	c->asks = mgr->jobs->unasked || (mgr->group && !c->asked);
	body.flags = htole32((mgr->fresh ? WIRE_C_FRESH : 0) |
			     (c->asks ? WIRE_C_ASK : 0));
	wire_begin(&out, c->msg, sizeof(c->msg));
	wire_put(&out, &body, sizeof(body));
	c->call.msg = c->msg;
	c->call.msg_len = (size_t)wire_end(&out, WIRE_CLAIM, 0, 0);
	c->call.early = true;
	c->call.done = on_claim_answer;
	iod_call_start(iod, &c->call);
}

/*
 * Records and logs that the iod obeys another manager.  From now on this manager acknowledges
 * nothing: mgr_main() ends after this turn of the event loop.
 */
static void report_displaced(struct mgr_iod *iod)
{
	struct mgr *mgr = iod->mgr;

	if (mgr->displaced)
		return;
	mgr->displaced = true;
	if (mgr->group) {
		log_info(mgr->log, "%s: refused: it obeys another manager",
			 iod_name(iod));
		return;
	}
	log_error(mgr->log,
		  "%s: refused: it obeys another manager, of a copy of the data "
		  "base in %s, so this one ends; remove this copy if the other "
		  "one is meant to serve, or make this one go on in its place "
		  "(also a copy from a backup): pvfs-mgr --restore",
		  iod_name(iod), mgr->conf.storage);
}

void claim_refused(struct iod_call *call)
{
	if (call == &call->iod->claimer.call)
		report_displaced(call->iod);
	else
		claim_start(call->iod);
}

int claim_open(struct mgr *mgr)
{
	struct mgr_jobs *jobs = mgr->jobs;
	int rc = ns_identity(&mgr->ns, mgr->conf.fsid, &jobs->identity,
			     &mgr->fresh);

	jobs->unbound = mgr->conf.niods;
	jobs->unasked = mgr->fresh ? mgr->conf.niods : 0;
	return rc;
}
