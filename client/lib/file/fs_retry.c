/* SPDX-License-Identifier: BSD-2-Clause */
/* fs_retry.c - whether a session has ended, and repeating the call. */
#include <errno.h>

#include "client/lib/session/server_call.h"
#include "client/lib/file/file.h"
#include "client/lib/file/fs_int.h"
#include "common/util/watched_descriptor.h"
#include "client/lib/session/coroutine.h"

static int mgr_ping(struct session *s)
{
	struct server_call c;

	server_call_begin(&c, s, s->mgr);
	return server_call_run(&c, WIRE_PING, NULL, NULL);
}

/* The manager rejects a session that it has ended. */
static bool mgr_rejects_session(struct session *s)
{
	return mgr_ping(s) == -ESTALE;
}

static bool session_has_ended(struct session *s, int rc)
{
	return rc == SESSION_ENDED || ((rc == -ESTALE || rc == -ECONNABORTED) &&
				       mgr_rejects_session(s));
}

/* An iod reports that the session has ended; only the manager knows the reason. */
static void session_record_eviction(struct session *s)
{
	if (rpc_peer_evicted(s->mgr) ||
	    (mgr_rejects_session(s) && rpc_peer_evicted(s->mgr)))
		atomic_store(&s->evicted, true);
}

/* If s is still the present session, replaces it by next (NULL: none), and logs why. */
static void fs_replace_session(struct fs *fs, struct session *s,
			       struct session *next, const char *why)
{
	bool present;

	pthread_mutex_lock(&fs->lock);
	present = fs->s == s;
	if (present)
		fs_set_present(fs, next);
	pthread_mutex_unlock(&fs->lock);
	if (present)
		log_warn(fs->log, "%s: %s", fs->mount->dir, why);
	if (present || next)
		session_put(present ? s : next);
}

struct session_renewal {
	struct fs *fs;
	struct session *s;
};

/*
 * Connects a new session, in which the manager proves itself.  If the manager then still
 * accepts s, another server had rejected s, and s is kept.
 */
static int connect_new_session(struct fs *fs, struct session *s)
{
	struct session *next;
	int rc = fs_connect(fs, &next);

	if (rc)
		return rc;
	if (mgr_ping(s) == -EKEYREJECTED)
		fs_replace_session(
			fs, s, next,
			"the servers no longer have the key that this client's "
			"ticket was made with; going on with a new session");
	else
		session_put(next);
	return 0;
}

/*
 * Many threads may be rejected at the same time.  Returns true in one of them, which must renew the
 * session.  Returns false after another thread has done so, or if s is no longer the present
 * session.
 */
static bool renewal_begins(struct session_renewal *a)
{
	struct fs *fs = a->fs;
	bool first;

	pthread_mutex_lock(&fs->lock);
	first = !fs->proving && fs->s == a->s;
	while (!first && fs->proving)
		pthread_cond_wait(&fs->connected, &fs->lock);
	fs->proving = first;
	pthread_mutex_unlock(&fs->lock);
	return first;
}

static void renewal_ends(struct fs *fs)
{
	pthread_mutex_lock(&fs->lock);
	fs->proving = false;
	pthread_cond_broadcast(&fs->connected);
	pthread_mutex_unlock(&fs->lock);
}

static int session_renew(void *arg)
{
	struct session_renewal *a = arg;
	int rc, saved = errno;

	watched_descriptor_hand_over();
	if (!renewal_begins(a))
		return 0;
	rc = connect_new_session(a->fs, a->s);
	renewal_ends(a->fs);
	errno = saved;
	return rc;
}

static int wait_for_ticket(void *arg)
{
	watched_descriptor_hand_over();
	return session_await_ticket(arg);
}

/*
 * A server rejected our ticket: it does not have the key of the ticket, or is an impostor.  If the
 * manager accepts the ticket, waits for another one.  Otherwise creates a session, in which client
 * and manager authenticate to each other again.
 */
static bool ticket_wait_renewed(struct fs *fs, struct session *s)
{
	struct session_renewal arg = { fs, s };
	int rc = s->auth ? mgr_ping(s) : -EOPNOTSUPP;

	if (rc == -EKEYREJECTED)
		return !coroutine_aside(session_renew, &arg);
	if (rc)
		return false;
	rc = coroutine_aside(wait_for_ticket, s);
	/* another thread may just have renewed it */
	return !rc || rc == -EAGAIN;
}

bool fs_must_retry(struct fs *fs, struct session *s, int rc)
{
	if (rc == -EKEYREJECTED)
		return ticket_wait_renewed(fs, s);
	if (!session_has_ended(s, rc))
		return false;
	session_record_eviction(s);
	fs_replace_session(
		fs, s, NULL,
		atomic_load(&s->evicted)
			? "an administrator ended this client's session; going "
			  "on with a new one"
			: "the servers ended this client's session; going on "
			  "with a new one");
	return rc != -ECONNABORTED;
}

int fs_retry_result(int rc)
{
	return rc == -EKEYREJECTED ? rc : -ESTALE;
}

int fs_run(struct fs *fs, const struct target *t, target_op op, void *arg)
{
	struct session *s;
	int tries, rc;
	bool again;

	for (tries = 0;; tries++) {
		rc = fs_session(fs, &s);
		if (rc)
			return rc;
		rc = op(s, t, arg);
		again = fs_must_retry(fs, s, rc);
		session_put(s);
		if (!again)
			return rc;
		if (tries == FS_TRIES - 1)
			return fs_retry_result(rc);
	}
}

struct removal {
	uint64_t fsid;
	bool removed;
};

static int ask_removed(struct session *s, const struct target *t, void *arg)
{
	struct removal *r = arg;
	struct attr attr;
	int rc;

	if (r->fsid && r->fsid != s->fsid)
		return -ENXIO;
	rc = mgr_getattr(s, t, &attr);
	r->removed = rc == -ESTALE;
	return rc;
}

bool fs_has_removed(struct fs *fs, uint64_t handle, uint64_t fsid)
{
	struct target t = { .handle = handle, .path = "" };
	struct removal r = { .fsid = fsid };

	/* fs_run() itself returns -ESTALE if no session can be created */
	return fs_run(fs, &t, ask_removed, &r) == -ESTALE && r.removed;
}
