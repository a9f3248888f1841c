/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_int.h - the one monitor of a process (monitor.c), and the watches that it reports removed
 * memory to (watch.c).
 */
#ifndef WATCH_INT_H
#define WATCH_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "common/buffer/watch.h"

#define WATCH_RING 1024u

struct range {
	uintptr_t lo, hi;
};

struct watch {
	struct monitor *mon;
	LIST_ENTRY(watch) link;
	atomic_bool lost; /* ranges were lost because the ring was full */
	/* the monitor writes head, and watch_gone() writes tail */
	atomic_uint head, tail;
	struct range ring[WATCH_RING];
};

struct monitor {
	pid_t owner;
	int uffd, stop;
	bool abandoned; /* monitor_abandon() has closed the descriptors */
	pthread_t thread;
	atomic_bool reading; /* events were read and not reported yet */
	/*
	 * Protects watches; the monitor's thread holds it while it reports. A thread that holds it
	 * must not free or unmap memory, not even in a signal handler.
	 */
	pthread_mutex_t lock;
	LIST_HEAD(, watch) watches;
};

int monitor_open(struct monitor **mon);
/* The caller has removed all watches. */
void monitor_close(struct monitor *mon);
/* In a child after fork(): closes the descriptors. */
void monitor_abandon(struct monitor *mon);
void monitor_join(struct monitor *mon, struct watch *watch);
void monitor_leave(struct monitor *mon, struct watch *watch);

/* Returns whether every change so far was reported to the watches. */
bool monitor_quiet(struct monitor *mon);
/* Returns 0, or an error of watch_add(). */
int monitor_arm(struct monitor *mon, uintptr_t lo, uintptr_t hi);

/*
 * Sets *whole to the range of all mappings that overlap [lo, hi). Returns 0; -EINVAL if not all of
 * [lo, hi) is private anonymous memory; or another -errno.
 */
int maps_around(uintptr_t lo, uintptr_t hi, struct range *whole);

#endif
