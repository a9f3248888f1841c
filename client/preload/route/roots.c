/* SPDX-License-Identifier: BSD-2-Clause */
/* roots.c - see roots.h. */
#include "client/preload/route/roots.h"

#include <mntent.h>
#include <pthread.h>
#include <pvfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/preload/own_process.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/pvfs_call.h"

#define MAX_ROOTS 64u

struct root {
	char dir[PATH_MAX];
	const char *last; /* last component of dir */
	bool mounted;
};

atomic_int roots_state = ROOTS_NONE;
__thread volatile sig_atomic_t pvfs_call_depth
	__attribute__((tls_model("initial-exec")));

static struct {
	pid_t pid; /* process that has the tables; 0: not initialised */
	atomic_bool include_cwd;
	unsigned int n; /* constant once roots_state is known, like root */
	struct root *root;
} roots;

/* ---- the process of the tables ---- */

bool roots_in_own_process(void)
{
	return roots.pid == own_process_id();
}

bool roots_begun(void)
{
	return roots.pid;
}

static void enter_child(void)
{
	roots.pid = own_process_id();
}

void roots_begin(void)
{
	roots.pid = own_process_id();
	pthread_atfork(NULL, NULL, enter_child);
	atomic_store(&roots_state, ROOTS_UNKNOWN);
}

/* ---- directories of pvfstab, and mounts there ---- */

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && (!path[len] || path[len] == '/');
}

/* With any mount there, the path belongs to the kernel only. */
static void find_mounts(void)
{
	FILE *f = setmntent("/proc/self/mounts", "r");
	char text[2 * PATH_MAX];
	struct mntent m;
	unsigned int i;

	while (f && getmntent_r(f, &m, text, sizeof(text))) {
		for (i = 0; i < roots.n; i++)
			roots.root[i].mounted |= !strcmp(m.mnt_dir,
							 roots.root[i].dir);
	}
	if (f)
		endmntent(f);
}

static bool add_root(unsigned int i)
{
	struct root *r = &roots.root[i];

	if (PVFS(pvfs_mount_point(i, r->dir, sizeof(r->dir))))
		return false;
	r->last = strrchr(r->dir, '/') + 1;
	r->mounted = !*r->last;
	return true;
}

/*
 * Reads the mount points of pvfstab.  Returns whether the library serves any of them itself,
 * because the kernel has nothing mounted there.
 */
static bool load_roots(void)
{
	unsigned int i;

	roots.root = calloc(MAX_ROOTS, sizeof(*roots.root));
	while (roots.root && roots.n < MAX_ROOTS && add_root(roots.n))
		roots.n++;
	if (roots.n)
		find_mounts();
	for (i = 0; i < roots.n; i++) {
		if (!roots.root[i].mounted)
			return true;
	}
	return false;
}

static void find_roots(void)
{
	int saved = errno;
	bool some = load_roots();

	if (some)
		roots_check_cwd();
	atomic_store(&roots_state, some ? ROOTS_SOME : ROOTS_NONE);
	errno = saved;
}

bool roots_exist(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (atomic_load(&roots_state) == ROOTS_UNKNOWN && !pvfs_call_depth)
		pthread_once(&once, find_roots);
	return atomic_load(&roots_state) == ROOTS_SOME;
}

/* ---- paths ---- */

/* Most paths do not contain the last component of a root. */
bool roots_may_include(const char *path)
{
	unsigned int i;

	for (i = 0; i < roots.n; i++) {
		if (strstr(path, roots.root[i].last))
			return true;
	}
	return false;
}

bool roots_include(const char *path)
{
	unsigned int i;

	if (!PVFS(pvfs_is_pvfs(path)))
		return false;
	for (i = 0; i < roots.n; i++) {
		if (roots.root[i].mounted && is_below(path, roots.root[i].dir))
			return false;
	}
	return true;
}

void roots_check_cwd(void)
{
	char dir[PATH_MAX];
	bool below = false;
	unsigned int i;

	if (!libc()->getcwd(dir, sizeof(dir)))
		*dir = '\0';
	for (i = 0; i < roots.n; i++)
		below |= is_below(dir, roots.root[i].dir);
	atomic_store(&roots.include_cwd, below);
}

bool roots_include_cwd(void)
{
	return atomic_load(&roots.include_cwd);
}
