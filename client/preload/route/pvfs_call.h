/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfs_call.h - calls libpvfs for the program.  libpvfs itself calls functions that this library
 * replaces; such nested calls go to the kernel.
 *
 * The program may pass addresses that are not mapped.  So this library reads and writes memory of
 * the program by system calls, which fail with EFAULT.
 */
#ifndef PVFS_CALL_H
#define PVFS_CALL_H

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/preload/own_call.h"
#include "common/util/usermem.h"

/* The number of calls of libpvfs that this thread is in. */
extern __thread volatile sig_atomic_t pvfs_call_depth
	__attribute__((tls_model("initial-exec")));

/* A call of libpvfs that may wait for other clients, and that a signal handler ends. */
#define PVFS_WAITING(call)                                                     \
	({                                                                     \
		__typeof__(call) result_;                                      \
                                                                               \
		pvfs_call_depth++;                                             \
		result_ = (call);                                              \
		pvfs_call_depth--;                                             \
		result_;                                                       \
	})

/* Any other call: signal handlers wait for its end. */
#define PVFS(call)                                                             \
	({                                                                     \
		__typeof__(call) ended_;                                       \
                                                                               \
		own_call_enter();                                              \
		ended_ = PVFS_WAITING(call);                                   \
		own_call_leave();                                              \
		ended_;                                                        \
	})

/* Copies a result to the program's memory.  Returns 0, or -1 with EFAULT. */
static inline int copy_out(void *to, const void *from, size_t len)
{
	if (!usermem_put(to, from, len))
		return 0;
	errno = EFAULT;
	return -1;
}

/* Checks memory that a call reads; NULL is permitted.  False: errno is EFAULT. */
static inline bool can_read_memory(const void *from, size_t len)
{
	const struct iovec iov = { (void *)(uintptr_t)from, len };
	int saved = errno;
	bool yes = !from || usermem_readable(&iov, 1);

	errno = yes ? saved : EFAULT;
	return yes;
}

/* Whether path is not NULL and points to a string in readable memory.  Keeps errno. */
static inline bool can_read_path(const char *path)
{
	return path && usermem_text(path, PATH_MAX);
}

#endif
