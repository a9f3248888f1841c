/* SPDX-License-Identifier: BSD-2-Clause */
/* copier_start.c - starts this program as a copier of a staging. */
#include "client/tools/job/parts/job.h"
#include "client/tools/job/parts/proc.h"

#include <signal.h>

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
