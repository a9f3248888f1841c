/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * incarnation.h - distinguishes boots of this host, and processes that used the same pid at
 * different times.
 */
#ifndef INCARNATION_H
#define INCARNATION_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Returns the start time of a process in clock ticks since the boot (/proc/PID/stat), or 0 if there
 * is no such process or it is not visible. exec() does not change the start time. pid 0 is this
 * process.
 */
uint64_t process_start(pid_t pid);

/*
 * Identifies the current boot. Returns the same id until the host reboots. Without /proc the id is
 * random at each call, so nothing on disk counts as from this boot. 0, or -errno of random_id().
 */
int boot_id(uint64_t *id);
/*
 * Identifies the clock of clock_boot(), which depends on the boot and on the time namespace of this
 * process: time_namespaces(7). A clock_boot() value on disk needs it. Errors as of boot_id().
 */
int clock_id(uint64_t *id);

#endif
