/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whose_path.c - paths, see whose.h.  Most paths do not contain the last component of a
 * mount point of pvfstab, and cost only a search for it.  Otherwise libpvfs decides.
 */
#include <mntent.h>
#include <pthread.h>
#include <pvfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/preload/paths/begin.h"
#include "client/preload/own_process.h"
#include "client/preload/paths/refuse.h"
#include "client/preload/paths/under.h"
#include "client/preload/paths/whose.h"

#define ROOTS 64u

struct root {
	char dir[PATH_MAX];
	const char *last; /* last component of dir */
	bool mounted;
};

__thread volatile sig_atomic_t whose_inside
	__attribute__((tls_model("initial-exec")));
atomic_int whose_roots = ROOTS_NONE; /* also while not initialised */
static struct root *roots;
static unsigned int nroots;
static atomic_bool within; /* the kernel's current directory is below a root */
static struct cwd {
	pthread_mutex_t lock; /* protects name */
	atomic_bool ours;
	char name[PATH_MAX];
} cwd = { .lock = PTHREAD_MUTEX_INITIALIZER };
static pid_t here; /* 0: not initialised */

/* ---- the process of the tables ---- */

bool whose_here(void)
{
	return here == own_process_id();
}

bool whose_begun(void)
{
	return here;
}

static void forked(void)
{
	here = own_process_id();
}

void whose_begin(void)
{
	here = own_process_id();
	pthread_atfork(NULL, NULL, forked);
	atomic_store(&whose_roots, ROOTS_UNKNOWN);
}

/* ---- mount points of pvfstab, and mounts there ---- */

static bool below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && (!path[len] || path[len] == '/');
}

/* With any mount there, the path belongs to the kernel only. */
static void look_for_mounts(void)
{
	FILE *f = setmntent("/proc/self/mounts", "r");
	char text[2 * PATH_MAX];
	struct mntent m;
	unsigned int i;

	while (f && getmntent_r(f, &m, text, sizeof(text))) {
		for (i = 0; i < nroots; i++)
			roots[i].mounted |= !strcmp(m.mnt_dir, roots[i].dir);
	}
	if (f)
		endmntent(f);
}

static bool add_root(unsigned int i)
{
	struct root *r = &roots[i];

	if (PVFS(pvfs_mount_point(i, r->dir, sizeof(r->dir))))
		return false;
	r->last = strrchr(r->dir, '/') + 1;
	r->mounted = !*r->last;
	return true;
}

/* True: nothing is mounted on at least one of the roots. */
static bool load(void)
{
	unsigned int i;

	roots = calloc(ROOTS, sizeof(*roots));
	while (roots && nroots < ROOTS && add_root(nroots))
		nroots++;
	if (nroots)
		look_for_mounts();
	for (i = 0; i < nroots; i++) {
		if (!roots[i].mounted)
			return true;
	}
	return false;
}

static void find_roots(void)
{
	int saved = errno;
	bool some = load();

	if (some)
		whose_moved();
	atomic_store(&whose_roots, some ? ROOTS_SOME : ROOTS_NONE);
	errno = saved;
}

bool whose_has_roots(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (atomic_load(&whose_roots) == ROOTS_UNKNOWN && !whose_inside)
		pthread_once(&once, find_roots);
	return atomic_load(&whose_roots) == ROOTS_SOME;
}

/* ---- the current directory ---- */

bool whose_cwd(char name[PATH_MAX])
{
	bool ours;

	if (!atomic_load(&cwd.ours))
		return false;
	pthread_mutex_lock(&cwd.lock);
	ours = atomic_load(&cwd.ours);
	strcpy(name, cwd.name);
	pthread_mutex_unlock(&cwd.lock);
	return ours;
}

void whose_set_cwd(const char *name)
{
	pthread_mutex_lock(&cwd.lock);
	atomic_store(&cwd.ours, name != NULL);
	snprintf(cwd.name, sizeof(cwd.name), "%s", name ? name : "");
	pthread_mutex_unlock(&cwd.lock);
}

void whose_moved(void)
{
	char dir[PATH_MAX];
	bool is = false;
	unsigned int i;

	if (!under()->getcwd(dir, sizeof(dir)))
		*dir = '\0';
	for (i = 0; i < nroots; i++)
		is |= below(dir, roots[i].dir);
	atomic_store(&within, is);
}

/* ---- paths ---- */

static bool may_be(const char *path)
{
	unsigned int i;

	for (i = 0; i < nroots; i++) {
		if (strstr(path, roots[i].last))
			return true;
	}
	return false;
}

/*
 * Sets s->path to dir/path.  If that is too long, leaves it to the kernel, which reports
 * the error.
 */
static bool join(struct spot *s, const char *dir, const char *path)
{
	int n = snprintf(s->buf, sizeof(s->buf), "%s/%s", dir, path);

	if (n < 0 || (size_t)n >= sizeof(s->buf))
		return false;
	s->path = s->buf;
	return true;
}

/* A name in a directory of the kernel, which may contain a root. */
static bool join_fd(struct spot *s, int dir, const char *path)
{
	char link[32], name[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = under()->readlinkat(AT_FDCWD, link, name, sizeof(name) - 1);
	if (n <= 0 || *name != '/')
		return false;
	name[n] = '\0';
	return join(s, n == 1 ? "" : name, path);
}

static bool is_ours(const char *path)
{
	unsigned int i;

	if (!PVFS(pvfs_is_pvfs(path)))
		return false;
	for (i = 0; i < nroots; i++) {
		if (roots[i].mounted && below(path, roots[i].dir))
			return false;
	}
	return true;
}

static enum whose mine_if_here(const char *path, const char *call)
{
	if (!whose_inside && whose_here())
		return OURS;
	refuse_path(call, path, ENOTSUP);
	return REFUSED;
}

static enum whose relative_to(struct spot *s, int dir, const char *path,
			      const char *call)
{
	enum whose whose = whose_fd(dir, call);

	if (whose != KERNELS)
		return whose;
	if (may_be(path) && join_fd(s, dir, path) && is_ours(s->path))
		return mine_if_here(s->path, call);
	s->path = path;
	return KERNELS;
}

static enum whose look(struct spot *s, int dir, const char *path,
		       const char *call)
{
	bool relative = *path != '/', joins;
	char name[PATH_MAX];

	if (relative && dir != AT_FDCWD)
		return relative_to(s, dir, path, call);
	joins = relative && !whose_inside && whose_cwd(name);
	if (joins && !join(s, name, path)) {
		errno = ENAMETOOLONG;
		return REFUSED;
	}
	if (joins)
		return mine_if_here(s->path, call);
	if (!may_be(path) && !(relative && atomic_load(&within)))
		return KERNELS;
	return is_ours(path) ? mine_if_here(path, call) : KERNELS;
}

/* With AT_EMPTY_PATH, the object is that of the descriptor. */
enum whose whose_read(struct spot *s, int dir, const char *path,
		      const char *call)
{
	s->path = path;
	if (atomic_load_explicit(&whose_roots, memory_order_relaxed) ==
	    ROOTS_NONE)
		return KERNELS;
	if (!*path)
		return dir == AT_FDCWD ? KERNELS : whose_fd(dir, call);
	if (!strncmp(path, "/proc/", 6))
		return KERNELS;
	return whose_has_roots() ? look(s, dir, path, call) : KERNELS;
}

enum whose whose_look(struct spot *s, int dir, const char *path,
		      const char *call)
{
	return whose_can_read(path) ? whose_read(s, dir, path, call) : KERNELS;
}

enum whose whose_asked(struct spot *s, int *from, bool follow, const char *path,
		       const char *call, int error)
{
	int number;

	if (!whose_begun() ||
	    (error && error != ENOENT && !whose_can_read(path)))
		return KERNELS;
	number = follow ? whose_alias(path) : -1;
	if (number < 0)
		return whose_read(s, *from, path, call);
	*from = number;
	s->path = NULL;
	return OURS;
}
