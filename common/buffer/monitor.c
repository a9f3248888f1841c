/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * monitor.c - the single monitor of a process. It reads the events of userfaultfd, and reads the
 * process's mappings from /proc/self/maps.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/buffer/watch_int.h"
#include "common/util/quiet_thread.h"

struct map {
	uintptr_t lo, hi;
	bool anon; /* anonymous, private, readable */
};

/* 7f00-7f01 rw-p 00000000 00:00 0   [heap] */
static bool read_map(FILE *f, struct map *map)
{
	unsigned long lo, hi, inode;
	char perms[5];
	int c;

	if (fscanf(f, "%lx-%lx %4s %*x %*x:%*x %lu", &lo, &hi, perms, &inode) !=
	    4)
		return false;
	do {
		c = getc(f);
	} while (c != '\n' && c != EOF);
	*map = (struct map){ lo, hi,
			     perms[0] == 'r' && perms[3] == 'p' && !inode };
	return true;
}

static FILE *open_maps(void)
{
	return fopen("/proc/self/maps", "re");
}

int maps_around(uintptr_t lo, uintptr_t hi, struct range *whole)
{
	FILE *f = open_maps();
	uintptr_t at = lo;
	struct map map;

	if (!f)
		return -errno;
	while (at < hi && read_map(f, &map)) {
		if (map.hi <= at)
			continue;
		if (map.lo > at || !map.anon)
			break;
		if (at == lo)
			whole->lo = map.lo;
		whole->hi = at = map.hi;
	}
	fclose(f);
	return at < hi ? -EINVAL : 0;
}

/* Calls fn for each mapping of private anonymous memory. */
static int maps_each(void (*fn)(void *arg, uintptr_t lo, uintptr_t hi),
		     void *arg)
{
	FILE *f = open_maps();
	struct map map;

	if (!f)
		return -errno;
	while (read_map(f, &map))
		if (map.anon)
			fn(arg, map.lo, map.hi);
	fclose(f);
	return 0;
}

#define FEATURES                                                               \
	(UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_EVENT_UNMAP |           \
	 UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_REMAP)

#define CLOSE_YIELDS 10000
#define STACK (64u << 10)

/* ---- the thread; it must not allocate, free or unmap anything ---- */

static void push_range(struct watch *w, struct range range)
{
	unsigned int head = atomic_load(&w->head);

	if (head - atomic_load(&w->tail) == WATCH_RING) {
		atomic_store(&w->lost, true);
		return;
	}
	w->ring[head % WATCH_RING] = range;
	atomic_store(&w->head, head + 1);
}

static void report_event(struct monitor *mon, const struct uffd_msg *msg)
{
	struct range range;
	struct watch *w;

	if (msg->event == UFFD_EVENT_REMAP) {
		range.lo = msg->arg.remap.from;
		range.hi = range.lo + msg->arg.remap.len;
	} else { /* UNMAP, REMOVE */
		range.lo = msg->arg.remove.start;
		range.hi = msg->arg.remove.end;
	}
	LIST_FOREACH(w, &mon->watches, link)
		push_range(w, range);
}

static void read_events(struct monitor *mon)
{
	struct uffd_msg msg[16];
	ssize_t n, i;

	atomic_store(&mon->reading, true);
	n = read(mon->uffd, msg, sizeof(msg));
	pthread_mutex_lock(&mon->lock);
	for (i = 0; i < n / (ssize_t)sizeof(msg[0]); i++)
		report_event(mon, &msg[i]);
	pthread_mutex_unlock(&mon->lock);
	atomic_store(&mon->reading, false);
}

static void *monitor_run(void *arg)
{
	struct monitor *mon = arg;
	struct pollfd fds[2] = { { mon->uffd, POLLIN, 0 },
				 { mon->stop, POLLIN, 0 } };

	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			return NULL;
		read_events(mon);
	}
}

/* ---- open and close ---- */

static int open_uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = FEATURES };
	int fd, rc;

	fd = (int)syscall(SYS_userfaultfd,
			  O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, UFFDIO_API, &api)) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

void monitor_abandon(struct monitor *mon)
{
	if (mon->abandoned)
		return;
	mon->abandoned = true;
	close(mon->stop);
	close(mon->uffd);
}

int monitor_open(struct monitor **out)
{
	struct monitor *mon = calloc(1, sizeof(*mon));
	int rc;

	if (!mon)
		return -ENOMEM;
	mon->owner = getpid();
	LIST_INIT(&mon->watches);
	pthread_mutex_init(&mon->lock, NULL);
	rc = mon->uffd = open_uffd();
	if (rc < 0)
		goto free_mon;
	mon->stop = eventfd(0, EFD_CLOEXEC);
	rc = mon->stop < 0 ? -errno
			   : quiet_thread(STACK + (size_t)PTHREAD_STACK_MIN,
					  monitor_run, mon, &mon->thread);
	if (rc)
		goto close_fds;
	*out = mon;
	return 0;
close_fds:
	if (mon->stop >= 0)
		close(mon->stop);
	close(mon->uffd);
free_mon:
	pthread_mutex_destroy(&mon->lock);
	free(mon);
	return rc;
}

static void disarm_range(void *arg, uintptr_t lo, uintptr_t hi)
{
	struct uffdio_range range = { lo, hi - lo };
	struct monitor *mon = arg;

	ioctl(mon->uffd, UFFDIO_UNREGISTER, &range);
}

/*
 * While the userfaultfd descriptor is open, a thread that unmaps watched memory waits for a reader.
 * A forked child may keep the descriptor open for long, without reading. So unregister all memory,
 * and keep reading until no thread waits.
 */
void monitor_close(struct monitor *mon)
{
	int i;

	maps_each(disarm_range, mon);
	for (i = 0; i < CLOSE_YIELDS && !monitor_quiet(mon); i++)
		sched_yield();
	eventfd_write(mon->stop, 1);
	pthread_join(mon->thread, NULL);
	monitor_abandon(mon);
	pthread_mutex_destroy(&mon->lock);
	free(mon);
}

/* ---- watches ---- */

static void monitor_lock(struct monitor *mon, sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, old);
	pthread_mutex_lock(&mon->lock);
}

static void monitor_unlock(struct monitor *mon, const sigset_t *old)
{
	pthread_mutex_unlock(&mon->lock);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

void monitor_join(struct monitor *mon, struct watch *w)
{
	sigset_t old;

	monitor_lock(mon, &old);
	LIST_INSERT_HEAD(&mon->watches, w, link);
	monitor_unlock(mon, &old);
}

void monitor_leave(struct monitor *mon, struct watch *w)
{
	sigset_t old;

	monitor_lock(mon, &old);
	LIST_REMOVE(w, link);
	monitor_unlock(mon, &old);
}

/* ---- the kernel ---- */

int monitor_arm(struct monitor *mon, uintptr_t lo, uintptr_t hi)
{
	struct uffdio_register reg = { .range = { lo, hi - lo },
				       .mode = UFFDIO_REGISTER_MODE_WP };

	return ioctl(mon->uffd, UFFDIO_REGISTER, &reg) ? -errno : 0;
}

/*
 * The kernel marks the descriptor while a change of mappings is in progress, until its event was
 * read. `reading` is set before the read, and cleared when the watches know the event. So check the
 * mark first, then `reading`.
 *
 * To check the mark, we pass an invalid range to UFFDIO_WRITEPROTECT. The kernel checks the mark
 * before the range, so EINVAL means that no change is in progress.
 */
bool monitor_quiet(struct monitor *mon)
{
	struct uffdio_writeprotect none = { .range = { 1, 1 } };

	if (!ioctl(mon->uffd, UFFDIO_WRITEPROTECT, &none) || errno != EINVAL)
		return false;
	return !atomic_load(&mon->reading);
}
