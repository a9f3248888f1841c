/* SPDX-License-Identifier: BSD-2-Clause */
/* door.c - see door.h. */
#include "client/preload/door.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Logs nothing unless PVFS_LOG asks for it, because stderr belongs to the program. */
void doors_init(struct doors *d)
{
	const char *name = secure_getenv("PVFS_LOG");

	pthread_mutex_init(&d->lock, NULL);
	if (!name || log_level_parse(name, &d->log.level))
		return;
	d->err = (struct log_file){ stderr, "pvfs-preload" };
	d->log.sink = log_to_file;
	d->log.arg = &d->err;
}

/* ---- recognising mounts ---- */

/* Only files of root and of this user are trusted. */
static bool trusted(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       (!st.st_uid || st.st_uid == geteuid()) &&
	       st.st_size == sizeof(struct shortcut_page);
}

static bool ends(const char *text, size_t len)
{
	return memchr(text, 0, len) != NULL;
}

static const struct shortcut_page *map_page(int fd)
{
	const struct shortcut_page *page;

	if (!trusted(fd))
		return NULL;
	page = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return NULL;
	if (page->magic == SHORTCUT_MAGIC &&
	    ends(page->tab, sizeof(page->tab)) &&
	    ends(page->what, sizeof(page->what)) &&
	    ends(page->options, sizeof(page->options)))
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
	fd = trusted(at) ? open(name, O_RDONLY | O_CLOEXEC) : -1;
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
	    !ends(where.path, sizeof(where.path)))
		return NULL;
	file = open_page(where.path);
	if (file < 0)
		return NULL;
	page = map_page(file);
	close(file);
	return page;
}

static struct door *known(struct doors *d, const struct ident *id)
{
	unsigned int i, n = atomic_load(&d->n);

	for (i = 0; i < n; i++)
		if (d->door[i].id.dev == id->dev &&
		    d->door[i].id.mount == id->mount)
			return &d->door[i];
	return NULL;
}

/* Called with the lock. */
static struct door *add(struct doors *d, int fd, const struct ident *id)
{
	struct door *door = known(d, id);
	unsigned int n = atomic_load(&d->n);

	if (door || n == DOORS)
		return door;
	door = &d->door[n];
	door->id = *id;
	door->page = ask_for_page(fd);
	pthread_mutex_init(&door->lock, NULL);
	atomic_store(&d->n, n + 1);
	return door;
}

struct door *door_find(struct doors *d, int fd, const struct ident *id)
{
	struct door *door = known(d, id);

	if (!door) {
		pthread_mutex_lock(&d->lock);
		door = add(d, fd, id);
		pthread_mutex_unlock(&d->lock);
	}
	return door && door->page ? door : NULL;
}

/* ---- our own session ---- */

static int load_tab(struct doors *d, struct door *door)
{
	const struct shortcut_page *p = door->page;
	const struct mount *m;
	const char *rest;
	int rc;

	if (!*p->tab)
		return pvfstab_line(p->what, "/", p->options, p->timeout_ms,
				    &d->log, &door->tab);
	rc = pvfstab_load(p->tab, p->timeout_ms, &d->log, &door->tab);
	if (rc)
		return rc;
	m = pvfstab_find(&door->tab, p->what, &rest);
	if (!m || *rest) {
		pvfstab_free(&door->tab);
		return -ENOENT;
	}
	pvfstab_keep(&door->tab, m);
	return 0;
}

static int make_ready(struct doors *d, struct door *door)
{
	int rc = 0;

	pthread_mutex_lock(&door->lock);
	if (!door->ready) {
		rc = load_tab(d, door);
		if (!rc) {
			fs_init(&door->fs, &door->tab.mount[0], &d->log);
			door->ready = true;
		}
	}
	pthread_mutex_unlock(&door->lock);
	return rc;
}

void door_want(struct door *door)
{
	int none = LINK_NONE;

	atomic_compare_exchange_strong(&door->link, &none, LINK_WANTED);
}

/* A failed connection is not retried, because the mount can be used instead. */
static void connect_door(struct doors *d, struct door *door)
{
	struct session *s;
	int rc = make_ready(d, door);

	deadline_begin();
	if (!rc)
		rc = fs_session(&door->fs, &s);
	if (!rc)
		session_put(s);
	atomic_store(&door->link, rc ? LINK_FAILED : LINK_UP);
}

void doors_connect(struct doors *d)
{
	unsigned int i, n = atomic_load(&d->n);

	for (i = 0; i < n; i++)
		if (atomic_load(&d->door[i].link) == LINK_WANTED)
			connect_door(d, &d->door[i]);
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

static int do_redeem(struct session *s, const struct target *t, void *arg)
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

static int redeem(struct door *door, int fd, struct redeem *r)
{
	const struct target t = { .path = "" };

	if (ioctl(fd, SHORTCUT_GRANT, &r->grant))
		return -errno;
	if ((r->grant.flags ^ r->flags) & (WIRE_O_READ | WIRE_O_WRITE))
		return -ESTALE; /* the number refers to another file by now */
	return fs_run(&door->fs, &t, do_redeem, r);
}

/* The name that the kernel knows. */
static void name_it(const struct file *f, int fd, int flags)
{
	char link[32], name[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name) - 1);
	name[n < 0 ? 0 : n] = 0;
	profile_named(f->profile, name, flags);
}

int door_open(struct doors *d, struct door *door, int fd, int flags,
	      struct file **f)
{
	struct redeem r = { .flags = wire_flags(flags), .page = door->page };
	int rc;

	deadline_begin();
	rc = make_ready(d, door);
	if (rc)
		return rc;
	r.f = file_new(&door->fs,
		       flags & (O_ACCMODE | O_APPEND | O_SYNC | O_DSYNC));
	if (!r.f)
		return -ENOMEM;
	rc = redeem(door, fd, &r);
	if (rc) {
		file_put(r.f);
		return rc;
	}
	if (profile_on())
		name_it(r.f, fd, flags);
	*f = r.f;
	return 0;
}

/* ---- fork and end ---- */

static void each(struct doors *d, void (*fn)(struct fs *fs))
{
	unsigned int i, n = atomic_load(&d->n);

	for (i = 0; i < n; i++)
		if (d->door[i].ready)
			fn(&d->door[i].fs);
}

void doors_hold(struct doors *d)
{
	unsigned int i;

	pthread_mutex_lock(&d->lock);
	for (i = 0; i < atomic_load(&d->n); i++)
		pthread_mutex_lock(&d->door[i].lock);
	each(d, fs_hold);
}

void doors_release(struct doors *d)
{
	unsigned int i;

	each(d, fs_release);
	for (i = 0; i < atomic_load(&d->n); i++)
		pthread_mutex_unlock(&d->door[i].lock);
	pthread_mutex_unlock(&d->lock);
}

void doors_disown(struct doors *d)
{
	each(d, fs_disown);
}

void doors_leave(struct doors *d)
{
	unsigned int i;
	int up;

	each(d, fs_leave);
	for (i = 0; i < atomic_load(&d->n); i++) {
		up = LINK_UP;
		atomic_compare_exchange_strong(&d->door[i].link, &up,
					       LINK_NONE);
	}
}
