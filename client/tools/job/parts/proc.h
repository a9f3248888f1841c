/* SPDX-License-Identifier: BSD-2-Clause */
/* proc.h - child processes, which the kernel ends when their parent ends. */
#ifndef JOB_PROC_H
#define JOB_PROC_H

#include <stdint.h>
#include <sys/types.h>

#define SPAWN_ENV 8u

struct spawn {
	char *const *argv; /* the program's file first */
	const char *log; /* gets its output; NULL: /dev/null */
	const char *env[SPAWN_ENV][2]; /* name, value; {NULL}: the end */
	int keep; /* a descriptor that it inherits; 0: none */
	int out; /* its standard output; 0: the log */
	int death; /* the signal that it gets when its parent dies */
};

/* Returns the process, or -errno. */
pid_t proc_spawn(const struct spawn *s);
/*
 * Kills all child processes except but, and the orphans that become children then, until there are
 * none or the deadline has passed.  Returns the number of those that still run.  The caller has set
 * PR_SET_CHILD_SUBREAPER.
 */
unsigned int proc_end_all(pid_t but, uint64_t deadline);
/*
 * Returns a descriptor that reports the signals that end this process, and SIGCHLD.
 * The signals are blocked; SIGPIPE is ignored.  Or returns -errno.
 */
int proc_signals(void);
/* Waits for that child.  0: it has ended, and was reaped; -ETIMEDOUT. */
int proc_wait(pid_t pid, uint64_t deadline);

#endif
