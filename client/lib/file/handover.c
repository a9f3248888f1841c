/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handover.c - see handover.h.
 *
 * The state is in a memfd, sealed against all writing except through the mapping that
 * existed before.  The descriptor that the next program inherits is read-only.  It is
 * inherited as long as one of our descriptors is.
 */
#include "client/lib/file/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/process_limits.h"
#include "common/util/hash_table.h"
#include "common/util/incarnation.h"

#define APART 60 /* distance from the numbers that programs expect */
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE)

void handover_init(struct handover *h)
{
	*h = (struct handover){ .fd = -1 };
}

uint64_t handover_mount(const struct mount *mount)
{
	return fnv_text(FNV_START, mount->dir);
}

bool handover_sealed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

bool handover_fd_matches(int fd, uint64_t dev, uint64_t ino)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_dev == dev &&
	       st.st_ino == ino;
}

/* ---- creation ---- */

/* Without this check, a file above RLIMIT_FSIZE raises SIGXFSZ, which ends the program. */
static bool may_be_so_large(void)
{
	struct rlimit most;

	return !getrlimit(RLIMIT_FSIZE, &most) &&
	       most.rlim_cur >= sizeof(struct handover_map);
}

/* Not inherited by fork(), because a child must not change the parent's state. */
static struct handover_map *handover_map_memory(int mem)
{
	const size_t size = sizeof(struct handover_map);
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, mem,
			 0);

	if (map == MAP_FAILED)
		return NULL;
	madvise(map, size, MADV_DONTDUMP);
	if (!madvise(map, size, MADV_DONTFORK))
		return map;
	munmap(map, size);
	return NULL;
}

static int open_read_only(int mem)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", mem);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -1 : descriptor_apart(fd, APART);
}

static int make_in(struct handover *h, int mem)
{
	struct stat st;

	if (ftruncate(mem, sizeof(struct handover_map)) || fchmod(mem, 0400))
		return -1;
	h->map = handover_map_memory(mem);
	if (!h->map)
		return -1;
	h->fd = open_read_only(mem);
	if (h->fd >= 0 && !fcntl(mem, F_ADD_SEALS, SEALS) &&
	    !fstat(h->fd, &st)) {
		h->dev = st.st_dev;
		h->ino = st.st_ino;
		return 0;
	}
	if (h->fd >= 0)
		close(h->fd);
	munmap(h->map, sizeof(*h->map));
	handover_init(h);
	return -1;
}

static int handover_create(struct handover *h)
{
	int mem = -1, rc = -1;

	handover_init(h);
	if (may_be_so_large())
		mem = memfd_create(HANDOVER_NAME,
				   MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (mem < 0)
		return -1;
	rc = make_in(h, mem);
	close(mem);
	if (rc)
		return rc;
	h->map->size = sizeof(*h->map);
	h->map->born = clock_now();
	h->map->start = process_start(0);
	h->map->pid = getpid();
	h->map->magic = HANDOVER_MAGIC;
	return 0;
}

static bool is_used(const struct handover_map *map)
{
	uint32_t i;

	for (i = 0; i < map->files; i++) {
		if (map->file[i].used)
			return true;
	}
	return false;
}

/* A program may have closed all descriptors that it does not know. */
static bool is_made(struct handover *h)
{
	if (h->map &&
	    (handover_fd_matches(h->fd, h->dev, h->ino) || is_used(h->map)))
		return true;
	if (h->map)
		munmap(h->map, sizeof(*h->map));
	return !handover_create(h);
}

/* ---- files ---- */

void handover_update(struct file *f)
{
	struct handover_file *h = f->handed;

	if (!h)
		return;
	memset(h->session, 0, sizeof(h->session));
	if (f->heir) {
		h->session[0] = f->heir->next;
		memcpy(h->session + !!f->heir->next, f->heir->session,
		       (HEIR_SESSIONS - !!f->heir->next) * sizeof(uint64_t));
	} else if (f->s) {
		h->session[0] = f->s->id;
	}
	h->fsid = f->s ? f->s->fsid : f->fsid;
	h->open = f->heir ? f->heir->open : f->open;
	h->flags = (uint32_t)atomic_load(&f->flags);
	h->owner = f->owner;
	h->view = f->view;
	h->locks = f->locks;
}

static struct handover_file *new_file(struct handover_map *map)
{
	uint32_t i;

	for (i = 0; i < HANDOVER_FILES; i++) {
		if (map->file[i].used)
			continue;
		if (i >= map->files)
			map->files = i + 1;
		return &map->file[i];
	}
	return NULL;
}

static bool hand_over(struct handover *h, struct file *f)
{
	struct handover_file *to;

	if (f->handed)
		return true;
	to = new_file(h->map);
	if (!to)
		return false;
	to->type = f->type | (f->dist.ring ? HANDOVER_RING : 0);
	to->writer = f->writer;
	to->mount = handover_mount(f->fs->mount);
	to->handle = f->handle;
	to->dist = f->dist;
	f->handed = to;
	pthread_mutex_lock(&f->lock);
	handover_update(f);
	pthread_mutex_unlock(&f->lock);
	handover_update_pos(f);
	atomic_store(&to->used, 1);
	return true;
}

void handover_remove(struct file *f)
{
	if (f->handed)
		atomic_store(&f->handed->used, 0);
	f->handed = NULL;
}

/* ---- descriptors ---- */

static void fd_forget(struct handover *h, int fd)
{
	struct handover_fd *e = &h->map->fd[fd];

	if (!e->file)
		return;
	atomic_store(&e->file, 0);
	h->passing -= e->passes;
}

static void fd_record(struct handover *h, int fd, struct file *f)
{
	struct handover_fd *e = &h->map->fd[fd];
	int flags = fcntl(fd, F_GETFD);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) || !hand_over(h, f))
		return;
	e->passes = !(flags & FD_CLOEXEC);
	e->dev = st.st_dev;
	e->ino = st.st_ino;
	h->passing += e->passes;
	if ((uint32_t)fd >= h->map->fds)
		h->map->fds = (uint32_t)fd + 1;
	atomic_store(&e->file, (uint32_t)(f->handed - h->map->file) + 1);
}

static void inheritance_update(struct handover *h)
{
	bool passes = h->passing;

	if (passes == h->passes || !handover_fd_matches(h->fd, h->dev, h->ino))
		return;
	if (!fcntl(h->fd, F_SETFD, passes ? 0 : FD_CLOEXEC))
		h->passes = passes;
}

void handover_set(struct handover *h, int fd, struct file *f)
{
	int saved = errno;

	if (fd < 0 || fd >= (int)HANDOVER_FDS)
		return;
	if (f && (!f->fs || !is_made(h)))
		f = NULL;
	if (h->map) {
		fd_forget(h, fd);
		if (f)
			fd_record(h, fd, f);
		inheritance_update(h);
	}
	errno = saved;
}

void handover_forked(struct handover *h)
{
	if (h->map && handover_fd_matches(h->fd, h->dev, h->ino))
		close(h->fd);
	handover_init(h);
}
