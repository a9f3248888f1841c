/* SPDX-License-Identifier: BSD-2-Clause */
/* fuse_mount.c - see fuse_mount.h. */
#include "client/preload/bypass/fuse_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Logs nothing unless PVFS_LOG asks for it, because stderr belongs to the program. */
void fuse_mounts_init(struct fuse_mounts *all)
{
	const char *name = secure_getenv("PVFS_LOG");

	pthread_mutex_init(&all->lock, NULL);
	if (!name || log_level_parse(name, &all->log.level))
		return;
	all->log_file = (struct log_file){ stderr, "pvfs-preload" };
	all->log.sink = log_to_file;
	all->log.arg = &all->log_file;
}

/* ---- recognising mounts ---- */

/* Only files of root and of this user are trusted. */
static bool is_trusted(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       (!st.st_uid || st.st_uid == geteuid()) &&
	       st.st_size == sizeof(struct shortcut_page);
}

static bool is_terminated(const char *text, size_t len)
{
	return memchr(text, 0, len) != NULL;
}

static const struct shortcut_page *map_page(int fd)
{
	const struct shortcut_page *page;

	if (!is_trusted(fd))
		return NULL;
	page = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return NULL;
	if (page->magic == SHORTCUT_MAGIC &&
	    is_terminated(page->tab, sizeof(page->tab)) &&
	    is_terminated(page->what, sizeof(page->what)) &&
	    is_terminated(page->options, sizeof(page->options)))
		return page;
	munmap((void *)(uintptr_t)page, sizeof(*page));
	return NULL;
}

/*
 * Checks the type through O_PATH before opening: opening a pipe would block, and opening
 * a device may have effects.
 */
static int open_page(const char *path)
{
	int fd, at = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	char name[32];

	if (at < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", at);
	fd = is_trusted(at) ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	close(at);
	return fd;
}

/* Any FUSE daemon may answer, so check its answer. */
static const struct shortcut_page *ask_for_page(int fd)
{
	const struct shortcut_page *page;
	struct shortcut_where where;
	int file;

	if (ioctl(fd, SHORTCUT_WHERE, &where) ||
	    !is_terminated(where.path, sizeof(where.path)))
		return NULL;
	file = open_page(where.path);
	if (file < 0)
		return NULL;
	page = map_page(file);
	close(file);
	return page;
}

static struct fuse_mount *find_known(struct fuse_mounts *all,
				     const struct ident *id)
{
	unsigned int i, n = atomic_load(&all->n);

	for (i = 0; i < n; i++)
		if (all->mount[i].id.dev == id->dev &&
		    all->mount[i].id.mount == id->mount)
			return &all->mount[i];
	return NULL;
}

/* Called with the lock. */
static struct fuse_mount *add_mount(struct fuse_mounts *all,
				    const struct ident *id,
				    const struct shortcut_page *page)
{
	struct fuse_mount *mount = find_known(all, id);
	unsigned int n = atomic_load(&all->n);

	if (mount || n == FUSE_MOUNTS)
		return mount;
	mount = &all->mount[n];
	mount->id = *id;
	mount->page = page;
	pthread_mutex_init(&mount->lock, NULL);
	atomic_store(&all->n, n + 1);
	return mount;
}

/*
 * A daemon may not answer for a long time, so no lock is held while it is asked.  Several
 * threads may ask at once; the first answer counts.
 */
static struct fuse_mount *meet_mount(struct fuse_mounts *all, int fd,
				     const struct ident *id)
{
	const struct shortcut_page *page;
	struct fuse_mount *mount;

	if (atomic_load(&all->n) == FUSE_MOUNTS)
		return NULL;
	page = ask_for_page(fd);
	pthread_mutex_lock(&all->lock);
	mount = add_mount(all, id, page);
	pthread_mutex_unlock(&all->lock);
	if (page && (!mount || mount->page != page))
		munmap((void *)(uintptr_t)page, sizeof(*page));
	return mount;
}

struct fuse_mount *fuse_mounts_find(struct fuse_mounts *all, int fd,
				    const struct ident *id)
{
	struct fuse_mount *mount = find_known(all, id);

	if (!mount)
		mount = meet_mount(all, fd, id);
	return mount && mount->page ? mount : NULL;
}

/* ---- our own session ---- */

static int load_tab(struct fuse_mounts *all, struct fuse_mount *mount)
{
	const struct shortcut_page *p = mount->page;
	const struct mount *m;
	const char *rest;
	int rc;

	if (!*p->tab)
		return pvfstab_line(p->what, "/", p->options, p->timeout_ms,
				    &all->log, &mount->tab);
	rc = pvfstab_load(p->tab, p->timeout_ms, &all->log, &mount->tab);
	if (rc)
		return rc;
	m = pvfstab_find(&mount->tab, p->what, &rest);
	if (!m || *rest) {
		pvfstab_free(&mount->tab);
		return -ENOENT;
	}
	pvfstab_keep(&mount->tab, m);
	return 0;
}

static int prepare_session(struct fuse_mounts *all, struct fuse_mount *mount)
{
	int rc = 0;

	pthread_mutex_lock(&mount->lock);
	if (!mount->prepared) {
		rc = load_tab(all, mount);
		if (!rc) {
			fs_init(&mount->fs, &mount->tab.mount[0], &all->log);
			mount->prepared = true;
		}
	}
	pthread_mutex_unlock(&mount->lock);
	return rc;
}

void fuse_mount_request_session(struct fuse_mount *mount)
{
	int none = FUSE_MOUNT_UNUSED;

	atomic_compare_exchange_strong(&mount->state, &none, FUSE_MOUNT_WANTED);
}

/* A failed connection is not retried, because the mount can be used instead. */
static void connect_session(struct fuse_mounts *all, struct fuse_mount *mount)
{
	struct session *s;
	int rc = prepare_session(all, mount);

	deadline_begin();
	if (!rc)
		rc = fs_session(&mount->fs, &s);
	if (!rc)
		session_put(s);
	atomic_store(&mount->state,
		     rc ? FUSE_MOUNT_FAILED : FUSE_MOUNT_CONNECTED);
}

void fuse_mounts_connect(struct fuse_mounts *all)
{
	unsigned int i, n = atomic_load(&all->n);

	for (i = 0; i < n; i++)
		if (atomic_load(&all->mount[i].state) == FUSE_MOUNT_WANTED)
			connect_session(all, &all->mount[i]);
}

static uint32_t wire_flags(int flags)
{
	uint32_t wire = 0;

	if ((flags & O_ACCMODE) != O_WRONLY)
		wire |= WIRE_O_READ;
	if ((flags & O_ACCMODE) != O_RDONLY)
		wire |= WIRE_O_WRITE;
	if (flags & O_APPEND)
		wire |= WIRE_O_APPEND;
	return wire;
}

struct redeem {
	struct file *f;
	struct shortcut_grant grant;
	uint32_t flags;
	const struct shortcut_page *page;
};

static int redeem_in_session(struct session *s, const struct target *t,
			     void *arg)
{
	struct redeem *r = arg;
	struct attr attr;
	uint64_t open;
	int rc;

	if (s->fsid != r->page->fsid)
		return -EXDEV;
	rc = mgr_redeem(s, r->grant.token, r->flags, &attr, &open);
	if (rc)
		return rc;
	attr.flags &= ~WIRE_A_SIZE; /* other clients write, too */
	file_opened(r->f, s, &attr, open);
	return 0;
}

static int redeem_token(struct fuse_mount *mount, int fd, struct redeem *r)
{
	const struct target t = { .path = "" };

	if (ioctl(fd, SHORTCUT_GRANT, &r->grant))
		return -errno;
	if ((r->grant.flags ^ r->flags) & (WIRE_O_READ | WIRE_O_WRITE))
		return -ESTALE; /* the number refers to another file by now */
	return fs_run(&mount->fs, &t, redeem_in_session, r);
}

/* The name that the kernel knows. */
static void record_name(const struct file *f, int fd, int flags)
{
	char link[32], name[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name) - 1);
	name[n < 0 ? 0 : n] = 0;
	profile_named(f->profile, name, flags);
}

int fuse_mount_open(struct fuse_mounts *all, struct fuse_mount *mount, int fd,
		    int flags, struct file **f)
{
	struct redeem r = { .flags = wire_flags(flags), .page = mount->page };
	int rc;

	deadline_begin();
	rc = prepare_session(all, mount);
	if (rc)
		return rc;
	r.f = file_new(&mount->fs,
		       flags & (O_ACCMODE | O_APPEND | O_SYNC | O_DSYNC));
	if (!r.f)
		return -ENOMEM;
	rc = redeem_token(mount, fd, &r);
	if (rc) {
		file_put(r.f);
		return rc;
	}
	if (profile_on())
		record_name(r.f, fd, flags);
	*f = r.f;
	return 0;
}

/* ---- fork and end ---- */

static void call_each(struct fuse_mounts *all, void (*fn)(struct fs *fs))
{
	unsigned int i, n = atomic_load(&all->n);

	for (i = 0; i < n; i++)
		if (all->mount[i].prepared)
			fn(&all->mount[i].fs);
}

void fuse_mounts_hold(struct fuse_mounts *all)
{
	unsigned int i;

	pthread_mutex_lock(&all->lock);
	for (i = 0; i < atomic_load(&all->n); i++)
		pthread_mutex_lock(&all->mount[i].lock);
	call_each(all, fs_hold);
}

void fuse_mounts_release(struct fuse_mounts *all)
{
	unsigned int i;

	call_each(all, fs_release);
	for (i = 0; i < atomic_load(&all->n); i++)
		pthread_mutex_unlock(&all->mount[i].lock);
	pthread_mutex_unlock(&all->lock);
}

void fuse_mounts_disown(struct fuse_mounts *all)
{
	call_each(all, fs_disown);
}

void fuse_mounts_leave(struct fuse_mounts *all)
{
	unsigned int i;
	int up;

	call_each(all, fs_leave);
	for (i = 0; i < atomic_load(&all->n); i++) {
		up = FUSE_MOUNT_CONNECTED;
		atomic_compare_exchange_strong(&all->mount[i].state, &up,
					       FUSE_MOUNT_UNUSED);
	}
}
