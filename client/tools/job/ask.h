/* SPDX-License-Identifier: BSD-2-Clause */
/* ask.h - commands, and the head that they ask. */
#ifndef JOB_ASK_H
#define JOB_ASK_H

#include "client/tools/job/parts/job.h"
#include "client/tools/job/parts/link.h"

/* 0, or 1 after a line: there is no such job. */
int ask_open(const struct job *job, struct link *l);
/* Ends the job, and waits until it has ended, two seconds in all.  An exit status. */
int ask_stop(const struct job *job);

/* env.c: how the job's file system is found, and what may be loaded in front. */
struct env_opts {
	const char *mount; /* where it is for this command alone */
	bool preload, mpi;
};

int env_set(const struct job *job, const struct env_opts *o);
/* exec.c: runs it with that environment; its exit status. */
int exec_run(const struct job *job, const struct env_opts *o, char **argv);

#endif
