/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pid.h - the process id from the kernel.  libc's value may be that of a parent that
 * shares its memory.
 */
#ifndef PID_H
#define PID_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline pid_t pid_now(void)
{
	return (pid_t)syscall(SYS_getpid);
}

#endif
