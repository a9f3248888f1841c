/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h - notices when watched memory of this process goes.
 *
 * Who keeps a registration after the call that needed it must hear of munmap,
 * mremap, MADV_DONTNEED, MADV_FREE and of a heap that shrinks, whoever calls
 * them.  Replacing malloc's or the C library's functions misses some (direct
 * system calls, the library's own calls, a second user of the same trick).  So
 * the kernel is asked: userfaultfd(2) reports these changes of registered
 * ranges.  Write-protect mode is used without protecting anything, therefore no
 * page fault ever waits or fails because of it; and events of one's own
 * process need no privilege.
 *
 * Only private anonymous memory (malloc, the stack, most of what MPI programs
 * send) can be watched.  The pages of files and of shared memory can be
 * changed from elsewhere.
 *
 * Whole mappings are watched, also if only a part is asked for: a mapping that
 * is watched in part is two to the kernel, and mremap(2) of it would fail.
 * They stay watched until they are unmapped or the last watch is closed.  It
 * costs who unmaps or discards a part of them some microseconds.
 *
 * The thread that unmaps goes on once the event was read.  A thread of the
 * watch reads at once, takes no lock and keeps the ranges for watch_gone(),
 * which may be much later.  Until then a change may be under way that nobody
 * was told of: between the removal of a mapping and its event another thread
 * may get the same address.  The kernel knows of such changes and refuses some
 * requests meanwhile; watch_quiet() asks for that.  If it says yes,
 * every change that was begun before the call has been read and
 * watch_gone() reports it.
 *
 * Memory can be watched by one descriptor only; therefore all watches of a
 * process share one, and its thread: made by the first watch_open(), closed
 * with the last watch, made anew in the child of a fork.  Nothing else is
 * shared.  If something else in the process has the memory, as a debugger of
 * memory errors might, watch_add() answers -EBUSY.
 *
 * What the program discards while it lets a transfer use it, or by installing
 * guard pages (MADV_GUARD_INSTALL), is not noticed reliably.
 *
 * All but watch_quiet() and watch_gone() may be called by any thread at any
 * time; these two by one at a time.  While a lock is held that is needed on
 * the way to watch_gone(), nothing may be unmapped, and nothing freed.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch;

/* -errno: the kernel does not have it, or does not permit it. */
int watch_open(struct watch **watch);
void watch_close(struct watch *watch);
/*
 * In a child after fork(): the parent's watch, of the parent's memory.  Closes
 * the descriptors; nothing else may be called on it, and the memory stays.
 */
void watch_abandon(struct watch *watch);

/* -EINVAL: not private anonymous memory; -EBUSY; -errno. */
int watch_add(struct watch *watch, uintptr_t lo, uintptr_t hi);

bool watch_quiet(struct watch *watch);
/*
 * The next range that went, of anything that is watched; [0, UINTPTR_MAX): too
 * many to tell, any may have gone.
 */
bool watch_gone(struct watch *watch, uintptr_t *lo, uintptr_t *hi);

#endif
