/* SPDX-License-Identifier: BSD-2-Clause */
/* fs.c - the session of a mounted file system, and its replacement. */
#include "client/lib/file/fs.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "client/lib/file/file.h"
#include "client/lib/file/fs_int.h"
#include "client/lib/session/server_call.h"
#include "client/lib/session/client_session.h"
#include "client/lib/session/coroutine.h"
#include "common/util/watched_descriptor.h"

#define AGAIN_MS 100 /* doubled for each retry, up to AGAIN_MOST_MS */
#define AGAIN_MOST_MS 2000

void fs_init(struct fs *fs, const struct mount *mount, const struct log *log)
{
	fs->mount = mount;
	fs->log = log;
	fs->timeout_ms = mount->timeout_ms;
	fs->together = fs->declares = false;
	atomic_init(&fs->copies_again, 0);
	atomic_init(&fs->tools, 0);
	memset(&fs->boots, 0, sizeof(fs->boots));
	fs->gid_lists = NULL;
	fs->unsynced = NULL;
	fs->s = NULL;
	atomic_init(&fs->ready, NULL);
	fs->fsid = 0;
	fs->note = NULL;
	memset(fs->flaw, 0, sizeof(fs->flaw));
	fs->connecting = false;
	fs->proving = false;
	pthread_mutex_init(&fs->lock, NULL);
	pthread_cond_init(&fs->connected, NULL);
	pthread_mutex_init(&fs->files_lock, NULL);
	LIST_INIT(&fs->files);
	for (size_t i = 0; i < FS_SAME; i++)
		LIST_INIT(&fs->same[i]);
}

/* The caller holds the lock, or no other thread exists. */
static void fs_set_session(struct fs *fs, struct session *s)
{
	fs->s = s;
	atomic_store(&fs->ready, fs->nbefore ? NULL : s);
}

void fs_leave(struct fs *fs)
{
	struct session *s;

	pthread_mutex_lock(&fs->lock);
	s = fs->s;
	fs_set_session(fs, NULL);
	pthread_mutex_unlock(&fs->lock);
	if (s)
		session_put(s);
}

/* The settings of the mount. */
static struct session_attr mount_attr(const struct mount *mount)
{
	return (struct session_attr){
		.addr = mount->mgr,
		.nmanagers = mount->nmgrs,
		.scheme = mount->mgr[0].scheme,
		.fabric = mount->fabric,
		.where = mount->where,
		.server_uid = mount->server_uid,
		.rdma = &mount->rdma,
		.dead_peer_ms = mount->dead_peer_ms,
		.inline_max = mount->inline_max,
		.fast_max = mount->fast_max,
		.adaptive = mount->adaptive,
		.indirect = mount->indirect,
		.timeout_ms = mount->timeout_ms,
		.auth = { .mode = mount->auth,
			  .seal = mount->seal,
			  .key = mount->key,
			  .munge_socket = mount->munge_socket,
			  .where = mount->where,
			  .server_uid = mount->server_uid,
			  .mgr = mount->mgr,
			  .nmgrs = mount->nmgrs },
	};
}

struct session_attr fs_session_attr(struct fs *fs)
{
	struct session_attr attr = mount_attr(fs->mount);

	pthread_mutex_lock(&fs->lock);
	attr.fsid = fs->fsid;
	pthread_mutex_unlock(&fs->lock);
	return attr;
}

/* Within one mount, the same errno and transport mean the same cause. */
static bool flaw_matches(const struct flaw *flaw, int rc, const char *scheme)
{
	return flaw->rc == rc && !strcmp(flaw->scheme, scheme);
}

static bool flaw_said(struct fs *fs, int rc, const char *scheme)
{
	bool is;

	pthread_mutex_lock(&fs->lock);
	is = flaw_matches(&fs->flaw[0], rc, scheme) ||
	     flaw_matches(&fs->flaw[1], rc, scheme);
	pthread_mutex_unlock(&fs->lock);
	return is;
}

static bool fs_has_flaw(struct fs *fs)
{
	bool is;

	pthread_mutex_lock(&fs->lock);
	is = fs->flaw[0].rc || fs->flaw[1].rc;
	pthread_mutex_unlock(&fs->lock);
	return is;
}

static void flaw_keep(struct fs *fs, const struct session_attr *attr, int rc)
{
	struct flaw *flaw = &fs->flaw[attr->probe];

	pthread_mutex_lock(&fs->lock);
	flaw->rc = rc;
	strcpy(flaw->scheme, attr->addr->scheme);
	pthread_mutex_unlock(&fs->lock);
}

/* session_open() asks no peer, so a first try without a log costs little. */
int fs_session_open(struct fs *fs, const struct session_attr *attr,
		    struct session **out)
{
	static const struct log nowhere;
	struct session_attr silent = *attr;
	bool try = fs_has_flaw(fs);
	int rc;

	silent.log = &nowhere;
	rc = try ? session_open(&silent, out) : 0;
	if (rc && flaw_said(fs, rc, attr->addr->scheme))
		return rc;
	if (try && !rc)
		session_put(*out);
	rc = session_open(attr, out);
	flaw_keep(fs, attr, rc);
	return rc;
}

static bool is_at(const char *uri, const struct addr *addr)
{
	struct addr a;

	return !addr_parse(uri, 0, &a) && a.port == addr->port &&
	       !strcmp(a.host, addr->host);
}

uint32_t fs_iod_at(struct fs *fs, const struct addr *addr)
{
	uint32_t i, found = 0;

	pthread_mutex_lock(&fs->lock);
	for (i = 0; fs->s && i < fs->s->niods && !found; i++)
		found = is_at(fs->s->uri[i].uri, addr) ? 1 + i : 0;
	pthread_mutex_unlock(&fs->lock);
	return found;
}

static int connect_once(struct fs *fs, struct session **out)
{
	struct session_attr attr = mount_attr(fs->mount);
	struct session *s;
	int rc;

	attr.name = "mgr";
	attr.log = fs->log;
	attr.timeout_ms = fs->timeout_ms;
	attr.together = fs->together;
	attr.declares = fs->declares;
	attr.boots = &fs->boots;
	attr.gid_lists = fs->gid_lists;
	attr.tool = atomic_load(&fs->tools);
	attr.wrong_service_logged = atomic_load(&fs->wrong_service_logged);
	rc = fs_session_open(fs, &attr, &s);
	if (rc)
		return rc;
	rc = session_mount(s);
	atomic_store(&fs->wrong_service_logged, rc == -EPROTOTYPE);
	if (rc) {
		session_put(s);
		return rc;
	}
	session_keep(s);
	*out = s;
	return 0;
}

/*
 * If more clients connect at once than the manager has places, it ends sessions that have not
 * authenticated yet.  If this happens to the new session, the loop tries again.
 */
int fs_connect(struct fs *fs, struct session **out)
{
	const uint64_t late = deadline_of(fs->timeout_ms);
	int pause = AGAIN_MS, rc = connect_once(fs, out);

	while (rc == -ESTALE && clock_after_ms((unsigned int)pause) < late) {
		log_warn(fs->log,
			 "%s: no place at the manager before this client had "
			 "authenticated; trying again: if it persists, raise "
			 "[mgr] max_sessions there",
			 fs->mount->dir);
		poll(NULL, 0, pause);
		pause = 2 * pause < AGAIN_MOST_MS ? 2 * pause : AGAIN_MOST_MS;
		rc = connect_once(fs, out);
	}
	return rc;
}

/* Called without the lock.  The caller owns *s, also if the adoption fails. */
static int fs_prepare(struct fs *fs, struct session **s)
{
	int rc = *s ? 0 : fs_connect(fs, s);

	if (!rc && fs->nbefore)
		rc = fs->adopt(fs, *s);
	return rc;
}

/* Called before anything is done under s. */
static void fs_note_session(struct fs_note *note, const struct session *s)
{
	if (!note)
		return;
	note->fsid = s->fsid;
	atomic_store(&note->session, s->id);
}

void fs_set_present(struct fs *fs, struct session *s)
{
	fs_set_session(fs, s);
	if (!s)
		return;
	fs->fsid = s->fsid;
	fs_note_session(fs->note, s);
}

/* Called with the lock, which is released while it waits. */
static int fs_make(struct fs *fs)
{
	struct session *s = fs->s;
	int rc, saved = errno;

	fs->connecting = true;
	fs_set_session(fs, NULL);
	pthread_mutex_unlock(&fs->lock);
	rc = fs_prepare(fs, &s);
	errno = saved;
	pthread_mutex_lock(&fs->lock);
	fs_set_present(fs, s);
	fs->connecting = false;
	pthread_cond_broadcast(&fs->connected);
	return rc;
}

struct session_arg {
	struct fs *fs;
	struct session *s;
};

static int wait_for_session(void *arg)
{
	struct session_arg *a = arg;
	struct fs *fs = a->fs;
	int rc = 0;

	watched_descriptor_hand_over();
	pthread_mutex_lock(&fs->lock);
	while (fs->connecting)
		pthread_cond_wait(&fs->connected, &fs->lock);
	if (!fs->s || fs->nbefore)
		rc = fs_make(fs);
	if (!rc)
		a->s = session_get(fs->s);
	pthread_mutex_unlock(&fs->lock);
	return rc;
}

int fs_session(struct fs *fs, struct session **s)
{
	struct session_arg arg = { .fs = fs };
	int rc;

	pthread_mutex_lock(&fs->lock);
	if (!fs->connecting && fs->s && !fs->nbefore)
		arg.s = session_get(fs->s);
	pthread_mutex_unlock(&fs->lock);
	rc = arg.s ? 0 : coroutine_aside(wait_for_session, &arg);
	if (!rc)
		*s = arg.s;
	return rc;
}

int fs_session_as_tool(struct fs *fs, struct session **s)
{
	int rc;

	atomic_fetch_add(&fs->tools, 1);
	rc = fs_session(fs, s);
	atomic_fetch_sub(&fs->tools, 1);
	return rc;
}

bool fs_has_late_requests(struct fs *fs)
{
	bool lags;

	pthread_mutex_lock(&fs->lock);
	lags = fs->s && late_calls_wait(fs->s);
	pthread_mutex_unlock(&fs->lock);
	return lags;
}

struct session *fs_present(struct fs *fs)
{
	struct session *s;

	pthread_mutex_lock(&fs->lock);
	s = fs->s ? session_get(fs->s) : NULL;
	pthread_mutex_unlock(&fs->lock);
	return s;
}

void fs_send_late_requests(struct fs *fs)
{
	struct session *s = fs_present(fs);

	if (!s)
		return;
	late_calls_send(s);
	session_put(s);
}

bool fs_has_unadopted(struct fs *fs)
{
	bool owes;

	pthread_mutex_lock(&fs->lock);
	owes = fs->connecting || fs->nbefore;
	pthread_mutex_unlock(&fs->lock);
	return owes;
}

void fs_settle(struct fs *fs, unsigned int ms)
{
	struct timespec at = clock_timespec(clock_after_ms(ms));
	int rc = 0;

	pthread_mutex_lock(&fs->lock);
	while (fs->connecting && !rc)
		rc = pthread_cond_clockwait(&fs->connected, &fs->lock,
					    CLOCK_MONOTONIC, &at);
	if (!rc && fs->nbefore && !fs->s) {
		fs->timeout_ms = ms;
		fs_make(fs);
	}
	pthread_mutex_unlock(&fs->lock);
}

/* ---- fork ---- */

void fs_hold(struct fs *fs)
{
	pthread_mutex_lock(&fs->files_lock);
	pthread_mutex_lock(&fs->lock);
}

void fs_release(struct fs *fs)
{
	pthread_mutex_unlock(&fs->lock);
	pthread_mutex_unlock(&fs->files_lock);
}

/* Files that did not move yet are open in an earlier session. */
void fs_disown(struct fs *fs)
{
	struct file *f;

	if (fs->s)
		session_abandon(fs->s);
	LIST_FOREACH(f, &fs->files, link) {
		if (f->s)
			session_abandon(f->s);
	}
}

static void session_keep_inherited(struct fs *fs, struct session *s)
{
	struct session *known = fs->inherited;

	while (known && known != s)
		known = known->next;
	if (known)
		return;
	session_abandon(s);
	s->next = fs->inherited;
	fs->inherited = s;
}

void fs_forked(struct fs *fs)
{
	struct file *f;

	pthread_mutex_init(&fs->lock, NULL);
	pthread_cond_init(&fs->connected, NULL);
	pthread_mutex_init(&fs->files_lock, NULL);
	fs->connecting = false;
	fs->proving = false;
	fs->nbefore = 0; /* only the parent adopts */
	if (fs->s)
		session_keep_inherited(fs, fs->s);
	fs_set_session(fs, NULL);
	LIST_FOREACH(f, &fs->files, link) {
		if (f->s)
			session_keep_inherited(fs, f->s);
	}
}
