/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * offline.c - the database of a manager that does not run: pvfs-mgr --check and --restore.
 *
 * --restore makes a database that is older than the iods' state usable, in place of a lost one.
 * The database is a copy from a backup, or its log was truncated.  The next start must have a
 * higher term than all managers that have claimed an iod.  It must issue none of the identifiers
 * that were issued since the copy was made, and none that followed an earlier restore of the same
 * copy.  So its identifiers begin at (term + 1) * 2^40.
 *
 * A copy of the database of one of several managers becomes that of one manager.  Started as
 * [mgr.0], this manager founds a new group.
 */
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/random_id.h"
#include "common/util/stamp.h"
#include "mgr/db/sessions.h"
#include "mgr/jobs/jobs.h"
#include "mgr/offline_int.h"

/* ---- the storage folder ---- */

/* stamp_open() would make a new store in a folder without a stamp. */
static int open_stamped(const struct mgr_conf *conf, const struct log *log)
{
	struct stamp stamp = { conf->fsid, "mgr", 0 };
	char path[sizeof(conf->storage) + sizeof("/" STAMP_FILE)];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", conf->storage, STAMP_FILE);
	if (!access(path, F_OK))
		return stamp_open(conf->storage, &stamp, log);
	rc = -errno;
	log_error(log,
		  "no database in storage %s: %s: %s; is its file system "
		  "mounted?",
		  conf->storage, path, strerror(-rc));
	return rc;
}

/* Files that are written or made must belong to the user of the daemon. */
static int become_owner(int dirfd, const struct mgr_conf *conf,
			const struct log *log)
{
	struct stat st;
	int rc;

	if (geteuid() || fstatat(dirfd, "db", &st, 0) || !st.st_uid)
		return 0;
	if (!setgroups(1, &st.st_gid) && !setgid(st.st_gid) &&
	    !setuid(st.st_uid))
		return 0;
	rc = -errno;
	log_error(log,
		  "cannot go on as uid %u, the owner of %s/db: %s; run this as "
		  "that user",
		  st.st_uid, conf->storage, strerror(-rc));
	return rc;
}

int offline_open_folder(const struct mgr_conf *conf, const struct log *log)
{
	int dirfd = open_stamped(conf, log), rc;

	if (dirfd < 0)
		return dirfd;
	rc = become_owner(dirfd, conf, log);
	if (!rc)
		return dirfd;
	close(dirfd);
	return rc;
}

/* ---- --check ---- */

int mgr_check(const struct mgr_conf *conf, const struct log *log)
{
	struct store_attr attr = { .dir = conf->storage,
				   .cache_size = conf->cache_size,
				   .log = log };
	int dirfd = offline_open_folder(conf, log), rc;

	if (dirfd < 0)
		return dirfd;
	rc = store_check(&attr);
	if (rc == -ENOSPC)
		log_error(log, "the database in %s was not looked at",
			  conf->storage);
	else if (rc)
		log_error(log,
			  "the database in %s is not whole: restore the "
			  "folder from a backup, then pvfs-mgr --restore",
			  conf->storage);
	else
		log_always(log, "the database in %s is whole", conf->storage);
	close(dirfd);
	return rc;
}

/* ---- --restore ---- */

#define ANSWER_MS 15000 /* for the answer of one iod */
#define IDS_SHIFT 40
#define TERM_MAX (UINT64_C(1) << 23) /* one start per second, for months */

/* ---- one iod ---- */

struct question {
	struct rpc_call call;
	bool over;
	struct wire_claim_rep rep;
};

static void on_claim_answer(struct rpc_call *call)
{
	struct question *q = call->arg;

	q->over = true;
	if (!call->status && call->reply.body_len == sizeof(q->rep))
		memcpy(&q->rep, call->reply.body, sizeof(q->rep));
	else if (!call->status)
		/* the short answer of an earlier release */
		call->status = -EPROTONOSUPPORT;
}

static int open_peer(struct restore *r, uint32_t index)
{
	struct rpc_cred cred = { .name = "pvfs-mgr" };
	struct rpc_peer_attr attr = { .addr = r->conf->iod[index],
				      .role = WIRE_ROLE_MGR,
				      .fsid = r->conf->fsid,
				      .cred = &cred,
				      .prover = keyring_prover(r->ring),
				      .seal = r->conf->auth.seal,
				      .features = WIRE_FT_TERM,
				      .impatient = true,
				      .server = WIRE_ROLE_IOD,
				      .index = index };
	char name[24];
	int rc = random_id(&attr.session);

	snprintf(name, sizeof(name), "iod %u", index);
	attr.name = name;
	return rc ? rc : rpc_peer_open(r->ctx, &attr, &r->iod[index].peer);
}

static int ask_claim(struct restore *r, struct rpc_peer *peer,
		     struct question *q)
{
	struct wire_claim body = { .owner = htole64(r->identity),
				   .term = htole64(1),
				   .flags = htole32(WIRE_C_ASK) };
	uint64_t msg[(sizeof(struct wire_hdr) + sizeof(body)) / 8];
	struct wire_out out;

	wire_begin(&out, msg, sizeof(msg));
	wire_put(&out, &body, sizeof(body));
	q->call.msg = msg;
	q->call.msg_len = (size_t)wire_end(&out, WIRE_CLAIM, 0, 0);
	q->call.deadline = clock_after_ms(ANSWER_MS);
	q->call.done = on_claim_answer;
	q->call.arg = q;
	rpc_call_start(peer, &q->call);
	while (!q->over)
		rpc_ctx_progress(r->ctx, q->call.deadline);
	return q->call.status;
}

static int report_unanswered(const struct restore *r,
			     const struct restore_iod *iod, int status)
{
	const char *name = rpc_peer_name(iod->peer);

	if (status == -EPROTONOSUPPORT)
		log_error(r->log,
			  "%s: it is of a release that does not tell its term: "
			  "install this release on its host",
			  name);
	else
		log_error(r->log,
			  "%s: does not tell its term: %s; start all iods, "
			  "then pvfs-mgr --restore again",
			  name, strerror(-status));
	return status;
}

static int ask_iod(struct restore *r, uint32_t index)
{
	struct restore_iod *iod = &r->iod[index];
	struct question q = { 0 };
	int rc = open_peer(r, index);

	if (rc)
		return rc;
	rc = ask_claim(r, iod->peer, &q);
	if (rc)
		return report_unanswered(r, iod, rc);
	if (le32toh(q.rep.verdict) != WIRE_OURS) {
		log_error(r->log,
			  "%s: its store is not one of the database in %s: is "
			  "this the backup of that file system?",
			  rpc_peer_name(iod->peer), r->conf->storage);
		return -EINVAL;
	}
	iod->store = le64toh(q.rep.store);
	if (le64toh(q.rep.term) > r->term)
		r->term = le64toh(q.rep.term);
	return 0;
}

/* ---- records in the database ---- */

static int known_store(struct restore *r, uint32_t index, uint64_t *store)
{
	char key[24];

	snprintf(key, sizeof(key), "store.%u", index);
	*store = 0;
	return meta_get_u64(r->st, key, store);
}

/* The other iod that owns this store, or reports the same store; index: there is none. */
static uint32_t owner_of(struct restore *r, uint32_t index)
{
	uint64_t store = r->iod[index].store, known;

	if (!known_store(r, index, &known) && known == store)
		return index;
	for (uint32_t i = 0; store && i < r->conf->niods; i++)
		if (i != index &&
		    (r->iod[i].store == store ||
		     (!known_store(r, i, &known) && known == store)))
			return i;
	return index;
}

/* Mixed-up addresses would bind an iod to the data of another one. */
static int check_stores(struct restore *r)
{
	for (uint32_t i = 0; i < r->conf->niods; i++) {
		uint32_t owner = owner_of(r, i);

		if (owner == i)
			continue;
		log_error(r->log,
			  "%s: this is iod %u: correct the address in [iod.%u] "
			  "of the configuration",
			  rpc_peer_name(r->iod[i].peer), owner, i);
		return -EINVAL;
	}
	return 0;
}

int restore_ask_iods(struct restore *r)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < r->conf->niods; i++)
		rc = ask_iod(r, i);
	return rc ? rc : check_stores(r);
}

static int keep_store(struct restore *r, uint32_t index)
{
	uint64_t known;
	char key[24];

	if (!known_store(r, index, &known) && known != r->iod[index].store)
		log_warn(r->log,
			 "%s: has another store than when the copy was made: "
			 "the data of the old one is lost",
			 rpc_peer_name(r->iod[index].peer));
	snprintf(key, sizeof(key), "store.%u", index);
	return meta_put_u64(r->st, key, r->iod[index].store);
}

static int in_transaction(struct restore *r, int (*put)(struct restore *r))
{
	int rc = store_begin(r->st);

	if (rc)
		return rc;
	rc = put(r);
	if (rc) {
		store_abort(r->st);
		return rc;
	}
	rc = store_commit(r->st);
	return rc ? rc : store_flush(r->st);
}

/* No manager starts on the database until the restore is complete. */
static int put_restore_begun(struct restore *r)
{
	return meta_put_u64(r->st, TERM_DISPLACED, 0);
}

static int fence_session(void *arg, const struct session_rec *rec)
{
	struct restore *r = arg;
	struct session_rec fenced = *rec;

	if (rec->flags & SESSION_OVER)
		return 0;
	fenced.flags |= SESSION_FENCED;
	return session_put(r->st, &fenced);
}

/*
 * Clients may have opened, locked or closed files since the copy was made.  So the manager ends
 * their sessions when it starts.  A client goes on with a new one, which opens its files again.
 */
static int put_restore_done(struct restore *r)
{
	int rc = meta_put_u64(r->st, "term", r->term);

	if (!rc)
		rc = meta_del(r->st, TERM_DISPLACED);
	if (!rc)
		rc = session_walk(r->st, fence_session, r);
	for (uint32_t i = 0; !rc && i < r->conf->niods; i++)
		rc = keep_store(r, i);
	return rc;
}

static int record_restore(struct restore *r)
{
	int rc;

	r->term += r->gap;
	if (r->term > TERM_MAX)
		return -EOVERFLOW;
	rc = store_skip_ids(r->st, (r->term + 1) << IDS_SHIFT);
	return rc ? rc : in_transaction(r, put_restore_done);
}

/* ---- the whole restore ---- */

static int open_lost_store(struct restore *r)
{
	struct store_attr attr = { .dir = r->conf->storage,
				   .cache_size = r->conf->cache_size,
				   .log = r->log,
				   .accept_loss = true,
				   .leave_group = true };
	struct ns_attr ns = { .niods = r->conf->niods,
			      .ssize = r->conf->ssize,
			      .pcount = r->conf->pcount };
	bool fresh;
	int rc = store_open(&attr, &r->st);

	if (rc)
		return rc;
	ns.st = r->st;
	rc = ns_open_space(&r->ns, &ns);
	if (!rc)
		rc = ns_identity(&r->ns, r->conf->fsid, &r->identity, &fresh);
	if (!rc)
		rc = meta_get_u64(r->st, "term", &r->term);
	return rc == -ENOENT ? 0 : rc;
}

int restore_open_net(struct restore *r)
{
	struct tp_dev_attr dev = { .log = r->log,
				   .rdma = &r->conf->fabric.rdma,
				   .where = r->conf->fabric.where };
	struct rpc_ctx_attr ctx = { .log = r->log, .fabric = &r->fabric };
	int rc = r->conf->key[0]
			 ? keyring_open(r->conf->key, false, r->log, &r->ring)
			 : 0;

	if (!rc)
		rc = fabric_open(&r->fabric, mgr_conf_scheme(r->conf),
				 r->conf->fabric.option, &dev);
	if (!rc)
		rc = rpc_ctx_open(&ctx, &r->ctx);
	r->iod = calloc(r->conf->niods, sizeof(r->iod[0]));
	return rc ? rc : r->iod ? 0 : -ENOMEM;
}

void restore_close(struct restore *r)
{
	for (uint32_t i = 0; r->iod && i < r->conf->niods; i++)
		if (r->iod[i].peer)
			rpc_peer_close(r->iod[i].peer, true);
	free(r->iod);
	if (r->ctx) {
		rpc_ctx_progress(r->ctx, 0); /* sends BYE */
		rpc_ctx_close(r->ctx);
	}
	fabric_close(&r->fabric);
	keyring_close(r->ring);
	if (r->st && r->ns.root)
		ns_close_space(&r->ns, true);
	store_close(r->st);
}

int restore_database(struct restore *r)
{
	int rc = restore_open_net(r);

	if (!rc)
		rc = open_lost_store(r);
	if (!rc)
		rc = in_transaction(r, put_restore_begun);
	if (!rc)
		rc = restore_ask_iods(r);
	if (!rc)
		rc = record_restore(r);
	if (!rc)
		log_always(r->log,
			   "the database in %s goes on above term %" PRIu64
			   ": start the manager, then see with pvfs-fsck which "
			   "objects have lost their names; --repair removes "
			   "these, so save what is needed of them first",
			   r->conf->storage, r->term);
	return rc;
}

/* The manager of the database that is restored begins alone. */
static int check_alone(const struct mgr_conf *conf, int dirfd,
		       const struct log *log)
{
	if (conf->mgrs.numbered && conf->index) {
		log_error(log, "--restore is for the manager that begins a new "
			       "group: restore in the storage of [mgr.0]; the "
			       "others are filled from it");
		return -EOPNOTSUPP;
	}
	if (faccessat(dirfd, "raft", F_OK, 0))
		return errno == ENOENT ? 0 : -errno;
	log_error(log,
		  "storage %s is of a member of a group of managers: if it is "
		  "damaged, the others go on without it (pvfs-managers "
		  "replace); if all are lost, restore a backup in an empty "
		  "folder",
		  conf->storage);
	return -EOPNOTSUPP;
}

int mgr_restore(const struct mgr_conf *conf, const struct log *log)
{
	/* the storages of the group that is replaced may come back, as after a recovery */
	struct restore r = { .conf = conf,
			     .log = log,
			     .gap = conf->mgrs.numbered ? TERM_GAP : 0 };
	int dirfd = offline_open_folder(conf, log), rc;

	if (dirfd < 0)
		return dirfd;
	rc = check_alone(conf, dirfd, log);
	if (!rc)
		rc = restore_database(&r);
	restore_close(&r);
	if (rc)
		log_error(log, "the database in %s was not restored: %s",
			  conf->storage, strerror(-rc));
	close(dirfd);
	return rc;
}
