/* SPDX-License-Identifier: BSD-2-Clause */
/* adopt_files.c - see adopt_files.h. */
#include "client/lib/file/adopt_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "client/lib/file/handover.h"

/*
 * Whether the open was adopted, and which locks: those of the process, those of the open
 * file.
 */
struct got {
	bool open;
	bool locks[2];
};

/* The manager no longer has the open, or does not give it to any session. */
static bool is_lost(int rc)
{
	return rc == -ESTALE || rc == -EPERM || rc == -ENOSYS;
}

static struct mgr_adopt adopt_request_of(struct file *f, uint64_t session)
{
	struct mgr_adopt what = { .session = session, .handle = f->handle };

	pthread_mutex_lock(&f->lock);
	what.open = f->heir->open;
	what.owner = f->owner;
	what.process = f->locks.bytes[0].end;
	pthread_mutex_unlock(&f->lock);
	return what;
}

static int adopt_from(struct file *f, struct session *s, uint64_t session,
		      struct got *got)
{
	struct mgr_adopt what = adopt_request_of(f, session);
	uint32_t done;
	int i, rc;

	do {
		rc = mgr_adopt(s, &what, &done);
		got->open |= !rc && done & WIRE_AD_OPEN;
	} while (!rc && done & WIRE_AD_MORE);
	for (i = 0; !rc && i < 2; i++)
		got->locks[i] |= f->locks.bytes[i].session == session;
	return is_lost(rc) ? 0 : rc;
}

/* The end of earlier writes is unknown, so a file open for writing starts in doubt. */
static void file_join_heir(struct file *f, struct session *s,
			   const struct got *got)
{
	int i;

	pthread_mutex_lock(&f->lock);
	f->s = session_get(s);
	f->keyed = false;
	f->open = got->open ? f->heir->open : 0;
	f->io = (struct file_io){ .doubt = f->open && (atomic_load(&f->flags) &
						       O_ACCMODE) != O_RDONLY };
	for (i = 0; i < 2; i++) {
		if (got->locks[i])
			f->locks.bytes[i].session = s->id;
	}
	free(f->heir);
	f->heir = NULL;
	handover_update(f);
	pthread_mutex_unlock(&f->lock);
}

/*
 * If the next exec() comes before the adoption is complete, either session may have parts
 * of it.
 */
static void heir_set_next(struct file *f, const struct session *s)
{
	pthread_mutex_lock(&f->lock);
	f->heir->next = s->id;
	handover_update(f);
	pthread_mutex_unlock(&f->lock);
}

static int file_adopt(struct file *f, struct session *s)
{
	struct got got = { 0 };
	unsigned int i;
	int rc = 0;

	heir_set_next(f, s);
	for (i = 0; !rc && i < HEIR_SESSIONS && f->heir->session[i]; i++)
		rc = adopt_from(f, s, f->heir->session[i], &got);
	if (!rc)
		file_join_heir(f, s, &got);
	return rc;
}

static bool file_try_get(struct file *f)
{
	unsigned int refs = atomic_load(&f->refs);

	while (refs && !atomic_compare_exchange_weak(&f->refs, &refs, refs + 1))
		;
	return refs;
}

/*
 * Returns a file with a reference for the caller, or NULL: none is left.  Only this
 * thread adopts.
 */
static struct file *next_heir(struct fs *fs)
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, &fs->files, link) {
		if (f->heir && file_try_get(f))
			break;
	}
	pthread_mutex_unlock(&fs->files_lock);
	return f;
}

static int adopt_files(struct fs *fs, struct session *s)
{
	struct file *f;
	int rc = 0;

	while (!rc && (f = next_heir(fs))) {
		/* of another file system, see join() */
		if (f->fsid != s->fsid)
			file_join_heir(f, s, &(struct got){ 0 });
		else
			rc = file_adopt(f, s);
		file_put(f);
	}
	return rc;
}

int adopt_all(struct fs *fs, struct session *s)
{
	int rc = adopt_files(fs, s);

	while (!rc && fs->nbefore) {
		rc = mgr_adopted(s, fs->before[fs->nbefore - 1]);
		if (is_lost(rc))
			rc = 0;
		if (!rc)
			fs->nbefore--;
	}
	return rc;
}
