/* SPDX-License-Identifier: BSD-2-Clause */
/* stale_sessions.c - see stale_sessions.h. */
#include "client/fuse/daemon/stale_sessions.h"

#include <string.h>

#include "client/lib/names/mgr_requests.h"

#define NAME "pvfs-fuse-session"

void stale_sessions_record(struct stale_sessions *l, struct fs *fs)
{
	int rc = runfile_make(&l->file, NAME, sizeof(struct fs_note), 0600);

	if (rc)
		log_warn(fs->log,
			 "%s: %s: if pvfs-fuse is killed its locks stay until "
			 "session_timeout",
			 l->file.path, strerror(-rc));
	else
		fs->note = l->file.page;
}

static bool end_session(void *arg, const void *page)
{
	const struct fs_note *note = page;
	uint64_t id = note->session;
	struct fs *fs = arg;
	struct session *s;
	int rc;

	if (!id) /* the daemon had no session yet */
		return true;
	if (note->fsid != fs->fsid)
		return false;
	deadline_begin();
	rc = fs_session(fs, &s);
	if (!rc) {
		rc = mgr_adopted(s, id);
		session_put(s);
	}
	if (rc)
		log_warn(fs->log,
			 "a pvfs-fuse that was killed: its session %016llx: %s: "
			 "its locks stay until session_timeout",
			 (unsigned long long)id, strerror(-rc));
	return !rc;
}

void stale_sessions_end(struct fs *fs)
{
	runfile_visit_stale(NAME, sizeof(struct fs_note), end_session, fs);
}

void stale_sessions_free(struct stale_sessions *l, struct fs *fs)
{
	fs->note = NULL;
	runfile_free(&l->file);
}
