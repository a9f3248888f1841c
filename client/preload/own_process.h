/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own_process.h - records to which process the tables of this library belong.  A child of vfork(),
 * or of clone() with shared memory, sees the tables of its parent, and must not change them.
 */
#ifndef OWN_PROCESS_H
#define OWN_PROCESS_H

#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Asks the kernel for the process id: after vfork(), libc may return the parent's. */
static inline pid_t own_process_id(void)
{
	return (pid_t)syscall(SYS_getpid);
}

/* Called once at the start of a program: reads PVFS_PRELOAD. */
void own_process_begin(void);
/* Called in a child after fork(), which has its own copy of the tables. */
void own_process_enter_child(void);
/* Whether this process, and not its parent, called the last of the two functions above. */
bool own_process_is_here(void);

/* Disables the library in this program: all calls go to the kernel. */
void own_process_disable(void);
/*
 * Whether the library is disabled: by own_process_disable(), by PVFS_PRELOAD=off, or in a
 * set-user-ID program.
 */
bool own_process_disabled(void);

#endif
