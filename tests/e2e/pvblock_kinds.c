/* SPDX-License-Identifier: BSD-2-Clause */
/* pvblock_kinds.c - the kinds of programs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/pvblock.h"

static sigjmp_buf no_page;

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- timed calls ---- */

void enter(const struct work *w)
{
	w->mine->began = now_ms();
}

bool left(const struct work *w, bool good)
{
	uint64_t took = now_ms() - w->mine->began;

	w->mine->began = 0;
	w->mine->calls++;
	w->mine->failed += !good;
	if (took > w->mine->worst)
		w->mine->worst = took;
	return good;
}

static int timed_open(struct work *w, const char *name, int flags)
{
	int fd;

	enter(w);
	fd = open(name, flags, 0644);
	left(w, fd >= 0);
	return fd;
}

/* ---- the kinds; each returns false if a call failed ---- */

static void fill(struct work *w, uint64_t n)
{
	for (size_t i = 0; i < RECORD / sizeof(n); i++)
		((uint64_t *)(void *)w->buf)[i] = n;
}

static bool one_record(struct work *w, int fd, unsigned int i)
{
	uint64_t n = ++w->mine->tried[i];

	fill(w, n);
	if (!TIMED(w, pwrite(fd, w->buf, RECORD, (off_t)i * RECORD) == RECORD))
		return false;
	w->mine->answered[i] = n;
	return true;
}

static bool records(struct work *w)
{
	int fd = timed_open(w, w->own, O_WRONLY);
	bool good = fd >= 0;

	for (unsigned int i = 0; good && i < RECORDS; i++)
		good = one_record(w, fd, i);
	return fd >= 0 && TIMED(w, !close(fd)) && good;
}

static bool synced(struct work *w)
{
	int fd = timed_open(w, w->own, O_WRONLY);
	bool good = fd >= 0 && one_record(w, fd, 0) && TIMED(w, !fsync(fd));

	return fd >= 0 && TIMED(w, !close(fd)) && good;
}

static bool reads(struct work *w)
{
	int fd = timed_open(w, "large", O_RDONLY);
	bool good = fd >= 0 && TIMED(w, pread(fd, w->buf, LARGE, 0) == LARGE) &&
		    TIMED(w, pread(fd, w->buf, RECORD, RECORD) == RECORD);

	return fd >= 0 && TIMED(w, !close(fd)) && good;
}

static bool stats(struct work *w)
{
	struct stat st;

	return TIMED(w, !stat("large", &st)) && TIMED(w, !stat(".", &st));
}

static bool lists(struct work *w)
{
	DIR *d;

	enter(w);
	d = opendir(".");
	if (!left(w, d))
		return false;
	enter(w);
	errno = 0;
	while (readdir(d)) {
	}
	left(w, !errno);
	return TIMED(w, !closedir(d));
}

static void on_bus_error(int sig)
{
	siglongjmp(no_page, sig);
}

static bool touched(const volatile char *map)
{
	if (sigsetjmp(no_page, 1))
		return false;
	for (size_t i = 0; i < LARGE; i += 65536)
		(void)map[i];
	return true;
}

static bool maps(struct work *w)
{
	int fd = timed_open(w, "large", O_RDONLY);
	bool good = fd >= 0;
	void *map;

	if (!good)
		return false;
	enter(w);
	map = mmap(NULL, LARGE, PROT_READ, MAP_PRIVATE, fd, 0);
	good = left(w, map != MAP_FAILED);
	if (good) {
		good = TIMED(w, touched(map));
		munmap(map, LARGE);
	}
	return TIMED(w, !close(fd)) && good;
}

static bool locks(struct work *w)
{
	int fd = timed_open(w, "lock", O_RDWR);
	bool good = fd >= 0 && TIMED(w, !flock(fd, LOCK_EX)) &&
		    TIMED(w, !flock(fd, LOCK_UN));

	return fd >= 0 && TIMED(w, !close(fd)) && good;
}

static bool ranges(struct work *w)
{
	struct flock all = { .l_type = F_WRLCK }, none = { .l_type = F_UNLCK };
	int fd = timed_open(w, "lock", O_RDWR);
	bool good = fd >= 0 && TIMED(w, !fcntl(fd, F_SETLKW, &all)) &&
		    TIMED(w, !fcntl(fd, F_SETLKW, &none));

	return fd >= 0 && TIMED(w, !close(fd)) && good;
}

static bool direct(struct work *w)
{
	int fd = timed_open(w, "large", O_RDONLY | O_DIRECT);
	bool good = fd >= 0 && TIMED(w, pread(fd, w->buf, LARGE, 0) == LARGE);

	return fd >= 0 && TIMED(w, !close(fd)) && good;
}

static bool space(struct work *w)
{
	int fd = timed_open(w, "cut", O_RDWR);
	struct statvfs now;
	bool good = fd >= 0 && TIMED(w, !ftruncate(fd, 3 * RECORD)) &&
		    TIMED(w, !ftruncate(fd, 0)) &&
		    TIMED(w, !fstatvfs(fd, &now));

	return fd >= 0 && TIMED(w, !close(fd)) && good;
}

/* Executes a program whose pages are in the folder; a signal may end it. */
static bool runs(struct work *w)
{
	pid_t pid;
	int status;

	enter(w);
	pid = fork();
	if (!pid) {
		execl("./program", "program", (char *)NULL);
		_exit(127);
	}
	return left(w, pid > 0 && waitpid(pid, &status, 0) == pid && !status);
}

static bool names(struct work *w)
{
	char other[40];
	int fd;

	snprintf(other, sizeof(other), "%s-other", w->own);
	fd = timed_open(w, other, O_WRONLY | O_CREAT);
	if (fd < 0)
		return false;
	TIMED(w, !close(fd));
	return TIMED(w, !unlink(other));
}

void kinds_begin(void)
{
	struct sigaction act = { .sa_handler = on_bus_error };

	sigaction(SIGBUS, &act, NULL);
}

const struct kind kinds[KINDS] = {
	{ "write", records }, { "fsync", synced }, { "read", reads },
	{ "stat", stats },    { "list", lists },   { "map", maps },
	{ "lock", locks },    { "lock", locks },   { "range", ranges },
	{ "range", ranges },  { "names", names },  { "names", names },
	{ "direct", direct }, { "space", space },  { "run", runs },
};
