/* SPDX-License-Identifier: BSD-2-Clause */
/* fs_lost.c - whether a session has ended, and what follows. */
#include <errno.h>

#include "ask.h"
#include "fs_int.h"
#include "lookout.h"
#include "strand.h"

static int ask_mgr(struct session *s)
{
	struct ask c;

	ask_begin(&c, s, s->mgr);
	return ask_run(&c, WIRE_PING, NULL, NULL);
}

/* The mgr refuses a session that it ended. */
static bool refused(struct session *s)
{
	return ask_mgr(s) == -ESTALE;
}

static bool ended(struct session *s, int rc)
{
	return rc == SESSION_ENDED ||
	       ((rc == -ESTALE || rc == -ECONNABORTED) && refused(s));
}

/* An iod says that it has ended, and only the mgr why. */
static void look_why(struct session *s)
{
	if (rpc_peer_evicted(s->mgr) ||
	    (refused(s) && rpc_peer_evicted(s->mgr)))
		atomic_store(&s->evicted, true);
}

/* Takes the place of s, if that is still the present one. */
static void replace(struct fs *fs, struct session *s, struct session *fresh)
{
	bool present;

	pthread_mutex_lock(&fs->lock);
	present = fs->s == s;
	if (present)
		fs_take(fs, fresh);
	pthread_mutex_unlock(&fs->lock);
	if (present)
		log_warn(fs->log,
			 "%s: the servers have no key any more that this "
			 "client's session was proved by; going on with a new "
			 "one",
			 fs->mount->dir);
	session_put(present ? s : fresh);
}

struct anew {
	struct fs *fs;
	struct session *s;
};

/* Whoever refused s is asked again behind that: the mgr may have come back meanwhile. */
static int connect_anew(struct fs *fs, struct session *s)
{
	struct session *fresh;
	int rc = fs_connect(fs, &fresh);

	if (rc)
		return rc;
	if (ask_mgr(s) == -EKEYREJECTED)
		replace(fs, s, fresh);
	else
		session_put(fresh);
	return 0;
}

static int make_anew(void *arg)
{
	struct anew *a = arg;
	int rc, saved = errno;
	bool present;

	lookout_leave();
	pthread_mutex_lock(&a->fs->lock);
	present = a->fs->s == a->s;
	pthread_mutex_unlock(&a->fs->lock);
	rc = present ? connect_anew(a->fs, a->s) : 0;
	errno = saved;
	return rc;
}

static int wait_for_ticket(void *arg)
{
	lookout_leave();
	return session_prove_anew(arg);
}

/*
 * Servers that have no key any more of which our ticket is prove nothing to us by it, and
 * so does whoever passes for one.  If the mgr takes it, another one will do.  Else a
 * session that is made anew finds out: it and the mgr prove themselves to each other.
 */
static bool proved_anew(struct fs *fs, struct session *s)
{
	struct anew arg = { fs, s };
	int rc = s->auth ? ask_mgr(s) : -EOPNOTSUPP;

	if (rc == -EKEYREJECTED)
		return !strand_aside(make_anew, &arg);
	return !rc && !strand_aside(wait_for_ticket, s);
}

bool fs_lost(struct fs *fs, struct session *s, int rc)
{
	bool present;

	if (rc == -EKEYREJECTED)
		return proved_anew(fs, s);
	if (!ended(s, rc))
		return false;
	look_why(s);
	pthread_mutex_lock(&fs->lock);
	present = fs->s == s;
	if (present)
		fs_take(fs, NULL);
	pthread_mutex_unlock(&fs->lock);
	if (present) {
		log_warn(fs->log,
			 "%s: %s ended this client's session; going on with a "
			 "new one",
			 fs->mount->dir,
			 atomic_load(&s->evicted) ? "an administrator"
						  : "the servers");
		session_put(s);
	}
	return rc != -ECONNABORTED;
}
