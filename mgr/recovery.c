/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recovery.c - pvfs-mgr --recover: one of several managers continues without the others.  The
 * steps, by the file or folder of the storage that each one changes:
 *
 *   nothing is changed   the other managers do not answer; all iods do
 *   recovering           the file is there: no manager starts on the storage
 *   raft                 all entries of the log, committed or not, are applied; then it is removed
 *   db                   as after a restore: no identifier is issued again, and the term is higher
 *   raft                 a new group, with this manager as its only member
 *
 * The last entries may be acknowledged although this member has not learned that they are
 * committed.  So none of them is dropped.
 *
 * The other storages may come back, and elect a leader.  It has the same database identity, so only
 * the term protects the iods from it: see TERM_GAP.
 */
#include "mgr/recovery.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/random_id.h"
#include "common/util/stamp.h"
#include "mgr/group/group.h"
#include "mgr/jobs/jobs.h"
#include "mgr/offline_int.h"
#include "mgr/peers/manager_call.h"

#define MARK_FILE "recovering" /* in the storage */
#define ASK_MS 5000u /* for the answer of another manager */

int recovery_check_over(int dirfd, const char *storage, const struct log *log)
{
	int rc;

	if (faccessat(dirfd, MARK_FILE, F_OK, 0)) {
		rc = errno == ENOENT ? 0 : -errno;
		if (rc)
			log_error(log, "cannot look for %s/" MARK_FILE ": %s",
				  storage, strerror(-rc));
		return rc;
	}
	log_error(log,
		  "the recovery of storage %s was interrupted: run pvfs-mgr "
		  "--recover --force again",
		  storage);
	return -EINPROGRESS;
}

/* ---- whether it can be recovered ---- */

static int check_complete(const struct mgr_conf *conf, int dirfd,
			  const struct log *log)
{
	if (faccessat(dirfd, "filling", F_OK, 0))
		return errno == ENOENT ? 0 : -errno;
	log_error(log,
		  "storage %s was getting a copy of the database when its "
		  "manager ended, so it lacks changes: recover another "
		  "storage, or restore a backup (pvfs-mgr --restore)",
		  conf->storage);
	return -ENODATA;
}

static int check_member(const struct mgr_conf *conf, int dirfd,
			const struct log *log)
{
	if (conf->mgrs.numbered && (!faccessat(dirfd, "raft", F_OK, 0) ||
				    !faccessat(dirfd, MARK_FILE, F_OK, 0)))
		return check_complete(conf, dirfd, log);
	log_error(log,
		  "storage %s is not that of one of several managers: a single "
		  "manager is started again, or restored from a backup "
		  "(pvfs-mgr --restore)",
		  conf->storage);
	return -EOPNOTSUPP;
}

/* ---- the other managers ---- */

struct manager_question {
	bool over, answered;
	uint64_t group;
};

static void on_answer(void *arg, int rc, const struct managers_view *view)
{
	struct manager_question *q = arg;

	q->over = true;
	q->answered = !rc;
	q->group = rc ? 0 : view->group;
}

static int ask_manager(struct restore *r, unsigned int index,
		       struct manager_question *q)
{
	const struct peers_attr peers = { .ctx = r->ctx,
					  .log = r->log,
					  .fsid = r->conf->fsid,
					  .prover = keyring_prover(r->ring),
					  .seal = r->conf->auth.seal };
	const struct manager_call_attr attr = { .peers = &peers,
						.to = &r->conf->mgrs.addr[index],
						.cmd = WIRE_MA_STATUS,
						.timeout_ms = ASK_MS,
						.done = on_answer,
						.arg = q };
	uint64_t end = clock_after_ms(2 * ASK_MS);
	struct manager_call call = { 0 };
	int rc = manager_call_start(&call, &attr);

	while (!rc && !q->over)
		rpc_ctx_progress(r->ctx, end);
	manager_call_close(&call);
	return rc;
}

static int check_manager(struct restore *r, unsigned int index, uint64_t group)
{
	struct manager_question q = { 0 };
	char uri[ADDR_STRLEN];
	int rc = ask_manager(r, index, &q);

	if (rc || !q.answered || (q.group && group && q.group != group))
		return rc;
	log_error(r->log,
		  "manager %u at %s answers: start a majority of the managers, "
		  "then they serve without loss; if the others are lost for "
		  "good, stop this one and run the command again",
		  index,
		  addr_format(&r->conf->mgrs.addr[index], uri, sizeof(uri)));
	return -EBUSY;
}

/* *group: the group of this storage; 0: none, because a recovery was interrupted. */
static int own_group(const struct restore *r, uint64_t *group)
{
	uint64_t id;
	int rc = mgr_group_identity(r->conf->storage, r->log, group, &id);

	if (rc == -ENOENT)
		*group = 0;
	return rc == -ENOENT ? 0 : rc;
}

static int check_managers(struct restore *r)
{
	uint64_t group;
	int rc = own_group(r, &group);

	for (unsigned int i = 0; !rc && i < r->conf->mgrs.n; i++)
		if (i != r->conf->index)
			rc = check_manager(r, i, group);
	return rc;
}

/* ---- the iods ---- */

static int check_iods(struct restore *r)
{
	const struct store_attr attr = { .dir = r->conf->storage,
					 .cache_size = r->conf->cache_size,
					 .log = r->log,
					 .replicated = true };
	struct ns ns = { 0 };
	bool fresh;
	int rc = store_open(&attr, &r->st);

	ns.st = r->st;
	if (!rc)
		rc = ns_identity(&ns, r->conf->fsid, &r->identity, &fresh);
	return rc ? rc : restore_ask_iods(r);
}

/* Checks everything that depends on other servers, before the storage is changed. */
static int check_others(const struct mgr_conf *conf, const struct log *log)
{
	struct restore r = { .conf = conf, .log = log };
	int rc = restore_open_net(&r);

	if (!rc)
		rc = check_managers(&r);
	if (!rc)
		rc = check_iods(&r);
	restore_close(&r);
	return rc;
}

/* ---- the recovery ---- */

/* All entries of the log are in the database afterwards, which belongs to no group. */
static int leave_group(const struct mgr_conf *conf, const struct log *log)
{
	char uri[ADDR_STRLEN];
	uint64_t group, id;
	int rc = mgr_group_identity(conf->storage, log, &group, &id);

	if (!rc)
		rc = random_id(&group);
	if (!rc)
		rc = mgr_group_force(conf->storage, log,
				     addr_format(&conf->addr, uri, sizeof(uri)),
				     group);
	if (rc && rc != -ENOENT)
		return rc;
	return mgr_group_leave(conf->storage, conf->cache_size, log, true);
}

static int restore_alone(const struct mgr_conf *conf, const struct log *log)
{
	struct restore r = { .conf = conf, .log = log, .gap = TERM_GAP };
	int rc = restore_database(&r);

	restore_close(&r);
	return rc;
}

static int remove_mark(int dirfd)
{
	return unlinkat(dirfd, MARK_FILE, 0) || fsync(dirfd) ? -errno : 0;
}

/* Each step can be repeated after a crash. */
static int recover_storage(const struct mgr_conf *conf, int dirfd,
			   const struct log *log)
{
	char uri[ADDR_STRLEN];
	int rc = stamp_replace(dirfd, MARK_FILE, "", 0);

	if (!rc)
		rc = leave_group(conf, log);
	if (!rc)
		rc = restore_alone(conf, log);
	if (!rc)
		rc = mgr_group_found(conf->storage, conf->cache_size, log,
				     addr_format(&conf->addr, uri,
						 sizeof(uri)));
	if (!rc)
		rc = remove_mark(dirfd);
	if (!rc)
		log_always(log,
			   "storage %s is that of the only manager of a new "
			   "group: start manager %u, then empty the storages of "
			   "the others and start them to join it",
			   conf->storage, conf->index);
	return rc;
}

static int report_loss(const struct mgr_conf *conf, int dirfd,
		       const struct log *log)
{
	uint64_t index, term;
	int rc = recovery_check_over(dirfd, conf->storage, log);

	if (!rc)
		rc = mgr_group_last(conf->storage, log, &index, &term);
	if (rc)
		return rc;
	log_always(log,
		   "storage %s: the last entry of the managers' log is %" PRIu64
		   " of term %" PRIu64
		   ".  Changes in later entries, which only the other managers "
		   "have, would be lost, although they were acknowledged.  "
		   "Nothing is changed.  If no other two managers can be "
		   "started, repeat the command with --force",
		   conf->storage, index, term);
	return -EPERM;
}

static int recover_or_report(const struct mgr_conf *conf, int dirfd, bool force,
			     const struct log *log)
{
	int rc = check_member(conf, dirfd, log);

	if (!rc && !force)
		return report_loss(conf, dirfd, log);
	if (!rc)
		rc = check_others(conf, log);
	if (!rc)
		rc = recover_storage(conf, dirfd, log);
	if (rc)
		log_error(log, "storage %s was not recovered: %s",
			  conf->storage, strerror(-rc));
	return rc;
}

int mgr_recover(const struct mgr_conf *conf, bool force, const struct log *log)
{
	int dirfd = offline_open_folder(conf, log), rc;

	if (dirfd < 0)
		return dirfd;
	rc = recover_or_report(conf, dirfd, force, log);
	close(dirfd);
	return rc;
}
