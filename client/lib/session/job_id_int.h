/* SPDX-License-Identifier: BSD-2-Clause */
/* job_id_int.h - of which job this program is. */
#ifndef JOB_ID_INT_H
#define JOB_ID_INT_H

/* What PVFS_JOB_ID, or else SLURM_JOB_ID says; NULL: nothing, or what is no label (longer
 * than WIRE_JOB_MAX, or with what does not print).  The environment's. */
const char *session_job_id(void);

#endif
