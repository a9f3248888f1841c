/* SPDX-License-Identifier: BSD-2-Clause */
/* process_start.h - which of the processes that have a number one after the other. */
#ifndef PROCESS_START_H
#define PROCESS_START_H

#include <stdint.h>
#include <sys/types.h>

/*
 * When it began, in clock ticks since the boot (/proc/PID/stat); an exec() does not
 * change that.  pid 0: this one.  0: there is none, or it is not to be seen.
 */
uint64_t process_start(pid_t pid);

#endif
