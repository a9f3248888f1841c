/* SPDX-License-Identifier: BSD-2-Clause */
/* ident.c - finds the job, and its folder. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/tools/job/parts/job.h"
#include "common/util/random_id.h"

/* Whether text may be the id of a job: it can be the name of a folder, and a word of a line. */
bool job_is_id(const char *text)
{
	size_t n = strlen(text);

	return n && n <= JOB_ID_MAX && text[0] != '.' && text[0] != '-' &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n;
}

/* Gets the folder of all jobs of this user, which is the same path on each host. */
static int base_path(char *out)
{
	const char *dir = secure_getenv("PVFS_JOB_DIR");
	int n = dir && *dir ? snprintf(out, JOB_PATH, "%s", dir)
			    : snprintf(out, JOB_PATH, "/tmp/pvfs-job-%u",
				       (unsigned int)geteuid());

	return n > 0 && n < (int)JOB_PATH - 128 && out[0] == '/' ? 0 : -1;
}

/* If others could make or change the folder, they would have our key. */
static int check_base(const char *base, bool make)
{
	struct stat st;

	if (make && mkdir(base, 0700) && errno != EEXIST)
		return tool_fail(&job_tool, base);
	if (lstat(base, &st))
		return make ? tool_fail(&job_tool, base) : 0;
	if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	    !(st.st_mode & 077))
		return 0;
	return tool_say(&job_tool,
			"%s is not a folder of yours alone (mode 0700): "
			"remove it, or name another in PVFS_JOB_DIR",
			base);
}

/* Appends id, if there is room. */
static void add_id(char *all, size_t len, const char *id)
{
	size_t used = strlen(all);

	if (used + strlen(id) + 1 < len)
		snprintf(all + used, len - used, " %s", id);
}

/*
 * Returns the number of jobs in base.  id: the id of one of them; all: their ids, each after a
 * blank, as far as they fit.
 */
static int list_ids(const char *base, char *id, char *all, size_t len)
{
	DIR *d = opendir(base);
	struct dirent *e;
	int n = 0;

	all[0] = '\0';
	while (d && (e = readdir(d))) {
		if (!job_is_id(e->d_name))
			continue;
		snprintf(id, JOB_ID_MAX + 1, "%.*s", (int)JOB_ID_MAX,
			 e->d_name);
		add_id(all, len, id);
		n++;
	}
	if (d)
		closedir(d);
	return n;
}

static int only_one(const char *base, char *id)
{
	char all[512];
	int n = list_ids(base, id, all, sizeof(all));

	if (n == 1)
		return 0;
	if (!n)
		return tool_say(&job_tool, "no job of yours runs on this host");
	return tool_say(&job_tool,
			"%d jobs of yours run on this host: name one with "
			"--id, or PVFS_JOB_ID:%s",
			n, all);
}

static int new_id(char *id)
{
	uint64_t n;

	if (random_id(&n))
		return tool_say(&job_tool, "no random numbers");
	snprintf(id, JOB_ID_MAX + 1, "%016llx", (unsigned long long)n);
	return 0;
}

int job_find(struct job *job, const char *given, bool make)
{
	const char *id = given ? given : secure_getenv("PVFS_JOB_ID");
	char base[JOB_PATH], found[JOB_ID_MAX + 1];

	if (!id || !*id)
		id = secure_getenv("SLURM_JOB_ID");
	if (base_path(base))
		return tool_say(&job_tool, "PVFS_JOB_DIR is no absolute path, "
					   "or too long");
	if (check_base(base, make))
		return 1;
	if (!id || !*id) {
		if (make ? new_id(found) : only_one(base, found))
			return 1;
		id = found;
	}
	if (!job_is_id(id))
		return tool_say(&job_tool,
				"%s: an id has letters, digits, '.', '_' and "
				"'-', at most %u",
				id, JOB_ID_MAX);
	snprintf(job->id, sizeof(job->id), "%s", id);
	snprintf(job->path, sizeof(job->path), "%.*s/%s", (int)JOB_PATH - 128,
		 base, job->id);
	return 0;
}

int job_path(const struct job *job, const char *name, char *out)
{
	int n = snprintf(out, JOB_PATH, "%s/%s", job->path, name);

	return n > 0 && n < (int)JOB_PATH ? 0 : -ENAMETOOLONG;
}
