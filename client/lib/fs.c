/* SPDX-License-Identifier: BSD-2-Clause */
/* fs.c - the session of a mounted file system, and its replacement. */
#include "fs.h"

#include <errno.h>

#include "ask.h"

void fs_init(struct fs *fs, const struct mount *mount, const struct log *log)
{
	fs->mount = mount;
	fs->log = log;
	fs->s = NULL;
	pthread_mutex_init(&fs->lock, NULL);
	pthread_mutex_init(&fs->files_lock, NULL);
	LIST_INIT(&fs->files);
}

void fs_leave(struct fs *fs)
{
	struct session *s;

	pthread_mutex_lock(&fs->lock);
	s = fs->s;
	fs->s = NULL;
	pthread_mutex_unlock(&fs->lock);
	if (s)
		session_put(s);
}

static int fs_connect(struct fs *fs)
{
	struct session_attr attr = {
		.addr = &fs->mount->mgr,
		.name = "mgr",
		.timeout_ms = fs->mount->timeout_ms,
		.log = fs->log,
	};
	struct session *s;
	int rc;

	rc = session_open(&attr, &s);
	if (rc)
		return rc;
	rc = session_mount(s);
	if (rc) {
		session_put(s);
		return rc;
	}
	fs->s = s;
	return 0;
}

int fs_session(struct fs *fs, struct session **s)
{
	int rc = 0;

	pthread_mutex_lock(&fs->lock);
	if (!fs->s)
		rc = fs_connect(fs);
	if (!rc)
		*s = session_get(fs->s);
	pthread_mutex_unlock(&fs->lock);
	return rc;
}

/* The mgr refuses a session that it ended. */
static bool refused(struct session *s)
{
	struct ask c;

	ask_begin(&c, s, s->mgr);
	return ask_run(&c, WIRE_PING, NULL, NULL) == -ESTALE;
}

bool fs_lost(struct fs *fs, struct session *s, int rc)
{
	bool present;

	if (rc != SESSION_ENDED && (rc != -ESTALE || !refused(s)))
		return false;
	pthread_mutex_lock(&fs->lock);
	present = fs->s == s;
	if (present)
		fs->s = NULL;
	pthread_mutex_unlock(&fs->lock);
	if (present) {
		log_warn(fs->log,
			 "%s: the servers ended this client's session; going "
			 "on with a new one",
			 fs->mount->dir);
		session_put(s);
	}
	return true;
}

void fs_forked(struct fs *fs)
{
	pthread_mutex_init(&fs->lock, NULL);
	pthread_mutex_init(&fs->files_lock, NULL);
	if (!fs->s)
		return;
	session_abandon(fs->s);
	fs->s->next = fs->inherited;
	fs->inherited = fs->s;
	fs->s = NULL;
}
