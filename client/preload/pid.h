/* SPDX-License-Identifier: BSD-2-Clause */
/* pid.h - which process this is, as the kernel says: libc's may be of a parent that shares
 * memory with us. */
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
