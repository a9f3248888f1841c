/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inherit.c - see inherit.h.
 *
 * If this process ran the previous program, the files are its own and keep what they have
 * at the servers.  If its parent did, the files are as after fork().  Nothing that was
 * found is trusted: a file is identified by its handle only, and gives no more rights
 * than the user of this process has.
 */
#include "client/lib/process/inherit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/incarnation.h"
#include "client/lib/file/handover.h"

#define FOUND_MAX 8
#define LINK "/memfd:" HANDOVER_NAME " (deleted)"

struct inherited {
	int fd[FOUND_MAX];
	unsigned int n;
	const struct handover_map *map; /* the latest one */
	bool own; /* it belongs to this process */
	struct file *made[HANDOVER_FILES];
};

/* ---- finding the state ---- */

static bool is_named(int dir, const char *name)
{
	char text[sizeof(LINK)];
	ssize_t n = readlinkat(dir, name, text, sizeof(text));

	return n == sizeof(LINK) - 1 && !memcmp(text, LINK, sizeof(LINK) - 1);
}

/* Accepts only state of root or of this user: no other user may choose what root writes to. */
static bool is_trusted(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       st.st_size == sizeof(struct handover_map) &&
	       (!st.st_uid || st.st_uid == geteuid()) && handover_sealed(fd);
}

static void map_release(const struct handover_map *map)
{
	if (map)
		munmap((void *)(uintptr_t)map, sizeof(*map));
}

static const struct handover_map *map_it(int fd)
{
	const struct handover_map *map = mmap(NULL, sizeof(*map), PROT_READ,
					      MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return NULL;
	if (map->magic == HANDOVER_MAGIC && map->size == sizeof(*map) &&
	    map->fds <= HANDOVER_FDS && map->files <= HANDOVER_FILES)
		return map;
	map_release(map);
	return NULL;
}

static void candidate_add(struct inherited *in, int fd)
{
	const struct handover_map *map = is_trusted(fd) ? map_it(fd) : NULL;

	if (!map)
		return;
	in->fd[in->n++] = fd;
	if (!in->map || map->born > in->map->born) {
		map_release(in->map);
		in->map = map;
	} else {
		map_release(map);
	}
}

static void inherited_search(struct inherited *in)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;

	while (dir && in->n < FOUND_MAX && (e = readdir(dir))) {
		if (is_named(dirfd(dir), e->d_name))
			candidate_add(in, atoi(e->d_name));
	}
	if (dir)
		closedir(dir);
}

/*
 * Whether this copy of libpvfs takes over the open files.  A program may have its own libpvfs in
 * addition to the preloaded one; then the program's copy does.
 */
static bool is_the_one(void)
{
	void *other = dlsym(RTLD_DEFAULT, "pvfs_open");
	Dl_info theirs, ours;

	return !other || !dladdr(other, &theirs) ||
	       !dladdr((void *)(uintptr_t)inherit_find, &ours) ||
	       theirs.dli_fbase == ours.dli_fbase;
}

struct inherited *inherit_find(void)
{
	struct inherited *in;

	if (getauxval(AT_SECURE) || !is_the_one())
		return NULL;
	in = calloc(1, sizeof(*in));
	if (!in)
		return NULL;
	inherited_search(in);
	if (!in->map) {
		free(in);
		return NULL;
	}
	in->own = in->map->pid == getpid() &&
		  in->map->start == process_start(0);
	return in;
}

/* ---- one file ---- */

static uint32_t type_of(const struct handover_file *h)
{
	return h->type & ~HANDOVER_RING;
}

static bool has_sane_layout(const struct handover_file *h)
{
	bool other_ring = h->type & HANDOVER_RING;

	return other_ring == !!h->dist.ring &&
	       !copyset_check_layout(&h->dist, WIRE_IOD_MAX);
}

static bool is_sane(const struct handover_file *h)
{
	uint32_t type = type_of(h);
	struct fpart part;
	struct file_view view;

	view_to_part(&h->view, &part);
	return h->handle && (type == S_IFREG || type == S_IFDIR) &&
	       (h->flags & O_ACCMODE) != O_ACCMODE && h->pos <= INT64_MAX &&
	       !view_from_part(&part, &view) &&
	       (type == S_IFDIR || has_sane_layout(h));
}

static struct fs *fs_of(const struct handover_file *h, struct fs *fs,
			unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (handover_mount(fs[i].mount) == h->mount)
			return &fs[i];
	}
	return NULL;
}

/* A file of this process itself. */
static bool file_take_heir(struct file *f, const struct handover_file *h)
{
	if (!h->session[0]) /* the file was not used in a session yet */
		return true;
	f->heir = calloc(1, sizeof(*f->heir));
	if (!f->heir)
		return false;
	memcpy(f->heir->session, h->session, sizeof(h->session));
	f->heir->open = h->open;
	f->owner = h->owner;
	f->locks = h->locks;
	atomic_store(&f->process_locks, h->locks.bytes[0].end != 0);
	return true;
}

static struct file *file_from_record(const struct inherited *in,
				     const struct handover_file *h,
				     struct fs *fs)
{
	struct file *f = file_new(fs, (int)h->flags);

	if (!f || (in->own && !file_take_heir(f, h))) {
		free(f);
		return NULL;
	}
	f->handle = h->handle;
	f->type = type_of(h);
	f->dist = h->dist;
	f->writer = h->writer;
	f->fsid = h->fsid;
	file_set_view(f, &h->view);
	f->pos = h->pos;
	file_inherited(f);
	return f;
}

/* Returns the file of record number at, created at the first call; or NULL. */
static struct file *file_at(struct inherited *in, uint32_t at, struct fs *fs,
			    unsigned int n)
{
	struct handover_file h;

	if (!in->map->file[at].used)
		return NULL;
	if (in->made[at])
		return in->made[at];
	h = in->map->file[at]; /* a parent may change it concurrently */
	fs = fs_of(&h, fs, n);
	if (fs && is_sane(&h))
		in->made[at] = file_from_record(in, &h, fs);
	return in->made[at];
}

/* ---- descriptors ---- */

static void descriptor_take(struct inherited *in, int fd, struct fdtable *t,
			    struct fs *fs, unsigned int n)
{
	const struct handover_fd *e = &in->map->fd[fd];
	uint32_t at = e->file;
	struct file *f, *old;

	if (!at || at > in->map->files ||
	    !handover_fd_matches(fd, e->dev, e->ino))
		return;
	f = file_at(in, at - 1, fs, n);
	if (f && fdtable_set(t, fd, file_get(f), &old))
		file_put(f);
}

/*
 * exec(), or a close(2) unknown to the library, closed a descriptor of the file.  As with
 * every close, the process' locks on the file are released.
 */
static void forget_locks(struct inherited *in, const struct handover_file *h)
{
	uint32_t i;

	for (i = 0; i < in->map->files; i++) {
		struct file *f = in->made[i];

		if (!f || f->handle != h->handle ||
		    handover_mount(f->fs->mount) != h->mount)
			continue;
		memset(&f->locks.bytes[0], 0, sizeof(f->locks.bytes[0]));
		atomic_store(&f->process_locks, false);
	}
}

static void look_for_closed(struct inherited *in)
{
	uint32_t i;

	for (i = 0; i < in->map->fds; i++) {
		const struct handover_fd *e = &in->map->fd[i];

		if (e->file && e->file <= in->map->files &&
		    !handover_fd_matches((int)i, e->dev, e->ino))
			forget_locks(in, &in->map->file[e->file - 1]);
	}
}

/* ---- adoption: what the previous program had open joins the present session ---- */

/*
 * What was adopted: the open; the locks of the process ([0]) and of the open file ([1]).
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
 * Records the session s for the next program.  If exec() happens before the adoption is
 * complete, each of the two sessions may have a part of the file's state.
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

/*
 * Moves the files that have an heir to s, with their locks, as far as the manager still
 * knows them.  Then ends the earlier sessions (fs->before).  Returns -errno if the call
 * must be repeated, which is safe.
 */
static int adopt_all(struct fs *fs, struct session *s)
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

/* ---- the earlier sessions ---- */

static void add_before(struct fs *fs, uint64_t session)
{
	unsigned int i;

	for (i = 0; i < fs->nbefore; i++) {
		if (fs->before[i] == session)
			return;
	}
	if (session && fs->nbefore < HEIR_SESSIONS) {
		fs->before[fs->nbefore++] = session;
		fs->adopt = adopt_all;
	}
}

/* Includes files that have no descriptor left. */
static void note_sessions(const struct inherited *in, struct fs *fs,
			  unsigned int n)
{
	uint32_t i, k;

	for (i = 0; i < in->map->files; i++) {
		const struct handover_file *h = &in->map->file[i];
		struct fs *of = h->used ? fs_of(h, fs, n) : NULL;

		for (k = 0; of && k < HEIR_SESSIONS; k++)
			add_before(of, h->session[k]);
	}
}

bool inherit_take(struct inherited *in, struct fdtable *t, struct fs *fs,
		  unsigned int n)
{
	bool is_own = in->own;
	uint32_t i;

	for (i = 0; i < in->map->fds; i++)
		descriptor_take(in, (int)i, t, fs, n);
	if (is_own) {
		look_for_closed(in);
		note_sessions(in, fs, n);
	}
	for (i = 0; i < in->map->files; i++) {
		if (in->made[i])
			file_put(in->made[i]);
	}
	map_release(in->map);
	for (i = 0; i < in->n; i++)
		close(in->fd[i]);
	free(in);
	return is_own;
}
