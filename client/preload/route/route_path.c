/* SPDX-License-Identifier: BSD-2-Clause */
/* route_path.c - paths and the current directory, see route.h. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "client/preload/route/libc.h"
#include "client/preload/route/refuse.h"
#include "client/preload/route/route.h"

static struct {
	pthread_mutex_t lock; /* protects name */
	atomic_bool ours;
	char name[PATH_MAX];
} cwd = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the current directory ---- */

bool route_get_cwd(char name[PATH_MAX])
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

void route_set_cwd(const char *name)
{
	pthread_mutex_lock(&cwd.lock);
	atomic_store(&cwd.ours, name != NULL);
	snprintf(cwd.name, sizeof(cwd.name), "%s", name ? name : "");
	pthread_mutex_unlock(&cwd.lock);
}

/* ---- paths ---- */

/*
 * Sets s->path to dir/path.  If that is too long, leaves it to the kernel, which reports
 * the error.
 */
static bool join_path(struct pvfs_path *s, const char *dir, const char *path)
{
	int n = snprintf(s->buf, sizeof(s->buf), "%s/%s", dir, path);

	if (n < 0 || (size_t)n >= sizeof(s->buf))
		return false;
	s->path = s->buf;
	return true;
}

/* A name in a directory of the kernel, which may contain a root. */
static bool join_fd_path(struct pvfs_path *s, int dir, const char *path)
{
	char link[32], name[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = libc()->readlinkat(AT_FDCWD, link, name, sizeof(name) - 1);
	if (n <= 0 || *name != '/')
		return false;
	name[n] = '\0';
	return join_path(s, n == 1 ? "" : name, path);
}

static enum route route_to_pvfs(const char *path, const char *call)
{
	if (!pvfs_call_depth && roots_in_own_process())
		return ROUTE_PVFS;
	refuse_path(call, path, ENOTSUP);
	return ROUTE_REFUSED;
}

static enum route route_relative_path(struct pvfs_path *s, int dir,
				      const char *path, const char *call)
{
	enum route route = route_fd(dir, call);

	if (route != ROUTE_KERNEL)
		return route;
	if (roots_may_include(path) && join_fd_path(s, dir, path) &&
	    roots_include(s->path))
		return route_to_pvfs(s->path, call);
	s->path = path;
	return ROUTE_KERNEL;
}

static enum route route_any_path(struct pvfs_path *s, int dir, const char *path,
				 const char *call)
{
	bool relative = *path != '/', joins;
	char name[PATH_MAX];

	if (relative && dir != AT_FDCWD)
		return route_relative_path(s, dir, path, call);
	joins = relative && !pvfs_call_depth && route_get_cwd(name);
	if (joins && !join_path(s, name, path)) {
		errno = ENAMETOOLONG;
		return ROUTE_REFUSED;
	}
	if (joins)
		return route_to_pvfs(s->path, call);
	if (!roots_may_include(path) && !(relative && roots_include_cwd()))
		return ROUTE_KERNEL;
	return roots_include(path) ? route_to_pvfs(path, call) : ROUTE_KERNEL;
}

/* With AT_EMPTY_PATH, the object is that of the descriptor. */
enum route route_readable_path(struct pvfs_path *s, int dir, const char *path,
			       const char *call)
{
	s->path = path;
	if (roots_known_none())
		return ROUTE_KERNEL;
	if (!*path)
		return dir == AT_FDCWD ? ROUTE_KERNEL : route_fd(dir, call);
	if (!strncmp(path, "/proc/", 6))
		return ROUTE_KERNEL;
	return roots_exist() ? route_any_path(s, dir, path, call)
			     : ROUTE_KERNEL;
}

enum route route_unchecked_path(struct pvfs_path *s, int dir, const char *path,
				const char *call)
{
	return can_read_path(path) ? route_readable_path(s, dir, path, call)
				   : ROUTE_KERNEL;
}

enum route route_path_after_kernel(struct pvfs_path *s, int *from, bool follow,
				   const char *path, const char *call,
				   int error)
{
	int number;

	if (!roots_begun() ||
	    (error && error != ENOENT && !can_read_path(path)))
		return ROUTE_KERNEL;
	number = follow ? route_fd_alias(path) : -1;
	if (number < 0)
		return route_readable_path(s, *from, path, call);
	*from = number;
	s->path = NULL;
	return ROUTE_PVFS;
}
