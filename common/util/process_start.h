/* SPDX-License-Identifier: BSD-2-Clause */
/* process_start.h - distinguishes processes that have the same number one after the other. */
#ifndef PROCESS_START_H
#define PROCESS_START_H

#include <stdint.h>
#include <sys/types.h>

/*
 * The start time of a process in clock ticks since the boot (/proc/PID/stat). exec() does not
 * change it. pid 0: this process. 0: no such process, or not visible.
 */
uint64_t process_start(pid_t pid);

#endif
