/* SPDX-License-Identifier: BSD-2-Clause */
/* proc.h - children, which end with who started them. */
#ifndef JOB_PROC_H
#define JOB_PROC_H

#include <stdint.h>
#include <sys/types.h>

#define SPAWN_ENV 8u

struct spawn {
	char *const *argv; /* the program's file first */
	const char *log; /* its output goes there; NULL: nowhere */
	const char *env[SPAWN_ENV][2]; /* name, value; {NULL}: the end */
	int keep; /* a descriptor that it has as well; 0: none */
	int out; /* its standard output; 0: the log */
	int death; /* the signal when its parent dies */
};

/* The process, or -errno. */
pid_t proc_spawn(const struct spawn *s);
/* SIGKILL to all children, and those that they leave, until none is there but one, or
 * the deadline has come.  How many were left.  Needs PR_SET_CHILD_SUBREAPER. */
unsigned int proc_end_all(pid_t but, uint64_t deadline);
/* A descriptor that tells of what ends this process, and of children that ended, in place
 * of the signals; SIGPIPE is ignored.  -errno */
int proc_signals(void);
/* Waits for that child; 0: it has ended, and was taken leave of. */
int proc_wait(pid_t pid, uint64_t deadline);

#endif
