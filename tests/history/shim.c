/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim.c - preloaded into a server: its flushes are slow or fail, and its wall clock is wrong.  The
 * file that HISTORY_SHIM names controls it at any time.  The file has three decimal numbers of 20
 * characters and a blank each, which the nemesis overwrites: the ms that a flush takes longer,
 * whether it fails (1), and the offset of the wall clock in seconds, which may be negative.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FIELD 21
#define STEP_MS 5

enum field { FLUSH_MS, FLUSH_FAILS, WALL_S };

static const char *table;

__attribute__((constructor)) static void open_table(void)
{
	const char *path = getenv("HISTORY_SHIM");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map;

	if (fd < 0)
		return;
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map != MAP_FAILED)
		table = map;
}

static long value(enum field field)
{
	return table ? strtol(table + field * FIELD, NULL, 10) : 0;
}

/*
 * Returns 0, or the errno with which the flush fails.  A slow flush ends early when the file says
 * less.
 */
static int trouble(void)
{
	const struct timespec step = { 0, STEP_MS * 1000000 };

	for (long ms = 0; ms < value(FLUSH_MS); ms += STEP_MS)
		nanosleep(&step, NULL);
	return value(FLUSH_FAILS) ? EIO : 0;
}

static int flush(const char *name, int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);

	errno = trouble();
	return errno ? -1 : real(fd);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
	return flush("fsync", fd);
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
	return flush("fdatasync", fd);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t id,
							 struct timespec *ts)
{
	static int (*real)(clockid_t, struct timespec *);
	int rc;

	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(
			RTLD_NEXT, "clock_gettime");
	rc = real(id, ts);
	if (!rc && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		ts->tv_sec += value(WALL_S);
	return rc;
}

__attribute__((visibility("default"))) int
gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

__attribute__((visibility("default"))) time_t time(time_t *at)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (at)
		*at = ts.tv_sec;
	return ts.tv_sec;
}
