/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * borrower_process.h - the process of a client that borrows objects.
 *
 * The pidfd keeps the pid from being reused while it is open.  No locks: each call only asks
 * the kernel.  A call that reads /proc can block on the memory of that process.
 */
#ifndef BORROWER_PROCESS_H
#define BORROWER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct borrower_process {
	pid_t pid;
	int fd; /* pidfd */
	uint64_t start_time; /* clock ticks since boot, /proc/PID/stat */
	bool clock_unknown; /* the time namespace of the process cannot be seen from here */
};

/*
 * On success p owns a descriptor until borrower_process_close().  -ESRCH: no such process, it is
 * not visible from here, or it has another clock.  After any other error (-EMFILE, -ENFILE,
 * -ENOMEM ...) it is unknown whether the process exists.
 */
int borrower_process_open(pid_t pid, struct borrower_process *p);
void borrower_process_close(struct borrower_process *p);
/*
 * Whether the process runs as this user and has not ended.  A client can pass its connection to
 * another process and end; its pid may then belong to a process of another user.  Also false for a
 * process that may not be inspected, because its /proc directory belongs to root.
 */
bool borrower_process_has_user(const struct borrower_process *p, uid_t uid);
bool borrower_process_has_ended(const struct borrower_process *p);
/* Whether this process (the iod) may send signals to it. */
bool borrower_process_is_killable(const struct borrower_process *p);
/*
 * Whether the process maps the file fd; true also if its maps cannot be read.  A process without
 * the mapping of its marks has executed another program and is no longer inside a write.
 */
bool borrower_process_maps_file(const struct borrower_process *p, int fd);
void borrower_process_kill(const struct borrower_process *p);
/* Whether all threads of the process are stopped, by SIGSTOP or by a tracer. */
bool borrower_process_is_stopped(const struct borrower_process *p);

#endif
