/* SPDX-License-Identifier: BSD-2-Clause */
/* job_id_int.h - the job of this program. */
#ifndef JOB_ID_INT_H
#define JOB_ID_INT_H

/*
 * Returns the value of PVFS_JOB_ID, or else SLURM_JOB_ID.  NULL: not set, or no valid
 * label: longer than WIRE_JOB_MAX, or with unprintable characters.  The environment owns
 * the text.
 */
const char *session_job_id(void);

#endif
