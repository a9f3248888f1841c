/* SPDX-License-Identifier: BSD-2-Clause */
/* job_id.c - the job of this program. */
#include "client/lib/session/job_id_int.h"

#include <stdlib.h>
#include <string.h>

#include "common/wire/wire.h"

const char *session_job_id(void)
{
	const char *text = secure_getenv("PVFS_JOB_ID");
	size_t len;

	if (!text)
		text = secure_getenv("SLURM_JOB_ID");
	len = text ? strnlen(text, WIRE_JOB_MAX + 1) : 0;
	return len && wire_job_ok(text, len) ? text : NULL;
}
