/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h - detects when watched memory of this process is unmapped or discarded.
 *
 * A cache of registrations must know of every munmap, mremap, MADV_DONTNEED, MADV_FREE and of a
 * heap that shrinks, whoever calls them. Replacing functions of malloc or the C library misses
 * some: direct system calls, the library's own calls, and a second user of the same method. So we
 * use userfaultfd(2), which reports these changes of registered ranges. Write-protect mode is used,
 * but nothing is protected: so no page fault ever waits or fails because of it. Events of our own
 * process need no privilege.
 *
 * Only private anonymous memory can be watched (malloc, the stack, most of what MPI programs send).
 * Other processes can change the pages of files and of shared memory.
 *
 * Whole mappings are watched, even if only a part is requested. A mapping that is watched in part
 * counts as two for the kernel, and mremap(2) of it would fail. Mappings stay watched until they
 * are unmapped or the last watch is closed. Unmapping or discarding a part of one takes some
 * microseconds longer.
 *
 * The kernel stops a thread that unmaps memory until the event of this was read. The thread of the
 * monitor reads it immediately, and stores the range for watch_gone(), which may be called much
 * later. For this it takes only the monitor's lock. Before its event is read, a mapping may be
 * removed already, and another thread may get the same address. In this state the kernel rejects
 * some requests, by which watch_quiet() detects it. If watch_quiet() returns true, every change
 * that began before the call has been read, and watch_gone() reports it.
 *
 * Only one descriptor can watch a range of memory. So all watches of a process share one monitor
 * with its thread. The first watch_open() creates the monitor, and the last watch_close() closes
 * it. A child after fork() creates another one. If other code in the process watches the memory (a
 * debugger of memory errors may do so), watch_add() returns -EBUSY.
 *
 * Two kinds of changes are not detected reliably: memory that the program discards while a transfer
 * uses it, and guard pages (MADV_GUARD_INSTALL).
 *
 * Any thread may call these functions at any time, but only one thread at a time may call
 * watch_quiet() and watch_gone() of a watch. A thread that holds a lock which the caller of
 * watch_gone() needs must not unmap or free memory.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch;

/* Returns 0, or -errno if the kernel has no userfaultfd or does not permit it. */
int watch_open(struct watch **watch);
void watch_close(struct watch *watch);
/*
 * In a child after fork(), for the parent's watch: closes the descriptors. The memory is not freed.
 * Afterwards the child must not call anything on the watch.
 */
void watch_abandon(struct watch *watch);

/*
 * Watches all mappings that overlap [lo, hi). Returns 0; -EINVAL if not all of it is private
 * anonymous memory; -EBUSY if another part of the process watches it; or another -errno.
 */
int watch_add(struct watch *watch, uintptr_t lo, uintptr_t hi);

bool watch_quiet(struct watch *watch);
/*
 * Sets [*lo, *hi) to the next range of watched memory that was removed. Returns false if there is
 * none. The range is [0, UINTPTR_MAX) if there were too many ranges to report; then any memory may
 * be gone.
 */
bool watch_gone(struct watch *watch, uintptr_t *lo, uintptr_t *hi);

#endif
