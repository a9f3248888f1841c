/* SPDX-License-Identifier: BSD-2-Clause */
/* programs.c - finds the programs and libraries of this release, and starts copiers. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/job/parts/job.h"
#include "client/tools/job/parts/proc.h"

int job_self(char *out)
{
	ssize_t n = readlink("/proc/self/exe", out, JOB_PATH - 1);

	if (n < 0 || n == (ssize_t)JOB_PATH - 1)
		return -ENOENT;
	out[n] = '\0';
	return 0;
}

static bool is_there(const char *dir, const char *sub, const char *name,
		     int how, char *out)
{
	char path[JOB_PATH];
	int n = snprintf(path, sizeof(path), "%s/%s/%s", dir, sub, name);

	if (n < 0 || n >= (int)sizeof(path) || access(path, how))
		return false;
	memcpy(out, path, (size_t)n + 1);
	return true;
}

/* Finds name in one of the folders sub below dir. */
static bool find_below(const char *dir, const char *const *sub,
		       const char *name, int how, char *out)
{
	while (*sub && !is_there(dir, *sub, name, how, out))
		sub++;
	return *sub;
}

static const char *const built[] = {
	"server",	  "mgr",	"client/fuse", "client/tools",
	"client/preload", "romio-adio", NULL
};
static const char *const installed[] = { ".", "../sbin", NULL };
/* Those that only we use, then those that programs may be linked to. */
static const char *const libraries[] = { "../" JOB_LIBDIR "/pvfs",
					 "../" JOB_LIBDIR, NULL };

static bool in_build(const char *name, int how, char *out)
{
	const char *build = secure_getenv("PVFS_BUILD");

	return build && *build && find_below(build, built, name, how, out);
}

static bool find_beside(const char *const *sub, const char *name, int how,
			char *out)
{
	char self[JOB_PATH], *slash;

	if (job_self(self))
		return false;
	slash = strrchr(self, '/');
	*slash = '\0';
	return find_below(self, sub, name, how, out);
}

static bool in_path(const char *name, char *out)
{
	const char *dir = secure_getenv("PATH"), *end;
	char one[JOB_PATH];

	for (; dir && *dir; dir = *end ? end + 1 : end) {
		end = strchrnul(dir, ':');
		if (end - dir >= (ptrdiff_t)sizeof(one))
			continue;
		snprintf(one, sizeof(one), "%.*s", (int)(end - dir), dir);
		if (is_there(one, ".", name, X_OK, out))
			return true;
	}
	return false;
}

int job_program(const char *name, char *out)
{
	return in_build(name, X_OK, out) ||
			       find_beside(installed, name, X_OK, out) ||
			       in_path(name, out)
		       ? 0
		       : -ENOENT;
}

int job_library(const char *name, char *out)
{
	return in_build(name, R_OK, out) ||
			       find_beside(libraries, name, R_OK, out)
		       ? 0
		       : -ENOENT;
}

pid_t copier_start(const struct job *job, const uint8_t key[MAC_KEY_LEN],
		   char *at, const char *log, const char *tab)
{
	char path[JOB_PATH], text[65];
	char *argv[] = { path, "copier", at, NULL };
	struct spawn s = {
		.argv = argv,
		.log = log,
		.death = SIGKILL,
		.env = { { "PVFS_JOB_KEY", text },
			 { "PVFS_JOB_ID", job->id },
			 { tab ? "PVFSTAB_FILE" : NULL, tab } },
	};
	int rc = job_self(path);

	if (rc)
		return rc;
	job_key_text(key, text);
	return proc_spawn(&s);
}
