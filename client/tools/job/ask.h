/* SPDX-License-Identifier: BSD-2-Clause */
/* ask.h - commands that ask the head. */
#ifndef JOB_ASK_H
#define JOB_ASK_H

#include "client/tools/job/parts/job.h"
#include "client/tools/job/parts/link.h"

/* 0, or 1 after a message: there is no such job. */
int ask_open(const struct job *job, struct job_link *l);
/* Ends the job and waits for its end, two seconds in all.  Returns an exit status. */
int ask_stop(const struct job *job);

/* exec.c: how programs find the job's file system, and which libraries are preloaded. */
struct env_opts {
	const char *mount; /* mount point for this command alone */
	bool preload, mpi;
};

int env_set(const struct job *job, const struct env_opts *o);
/* exec.c: runs argv with that environment; returns its exit status. */
int exec_run(const struct job *job, const struct env_opts *o, char **argv);

#endif
