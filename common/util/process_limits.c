/* SPDX-License-Identifier: BSD-2-Clause */
/* process_limits.c - see process_limits.h. */
#include "common/util/process_limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- open files ---- */

unsigned long long descriptors_raise(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return ULLONG_MAX;
	if (lim.rlim_cur < lim.rlim_max) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
		getrlimit(RLIMIT_NOFILE, &lim);
	}
	return lim.rlim_cur == RLIM_INFINITY ? ULLONG_MAX : lim.rlim_cur;
}

#define OWN "/proc/self/fd"

/* The number of this process's descriptors, as reported by Linux 6.2 and later. 0: not reported. */
static unsigned long long known_in_use(void)
{
	struct stat st;

	return stat(OWN, &st) || st.st_size < 0
		       ? 0
		       : (unsigned long long)st.st_size;
}

static unsigned long long counted_in_use(void)
{
	unsigned long long n = 0;
	DIR *dir = opendir(OWN);

	if (!dir)
		return errno == ENOENT ? 0 : ULLONG_MAX;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* The size of the kernel's table of descriptors, a power of two that only grows. 0: unknown. */
static unsigned long long table_size(void)
{
	unsigned long long size = 0;
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	if (!f)
		return 0;
	while (!size && fgets(line, sizeof(line), f))
		sscanf(line, "FDSize: %llu", &size);
	fclose(f);
	return size;
}

/* The highest numbers were usually never used; this is quick to find out. */
static bool is_unused(int fd, unsigned long long at)
{
	unsigned long long size = table_size();
	int last;

	if (size <= at)
		return size != 0; /* a larger F_DUPFD would enlarge the table */
	last = fcntl(fd, F_DUPFD_CLOEXEC, (int)at);
	if (last >= 0)
		close(last);
	return last == (int)at;
}

/* fstat() of the folder is one call; /proc/self/status is sixty lines of text. */
static bool in_use_exceeds(int fd, unsigned long long may)
{
	unsigned long long known = known_in_use();

	return known ? known > may
		     : !is_unused(fd, may) && counted_in_use() > may;
}

/* How many descriptors to keep free below the limit *have; 0: there is no limit. */
static unsigned int spare_of(unsigned int spare, unsigned long long *have)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur > INT_MAX)
		return 0;
	*have = lim.rlim_cur;
	return *have / 8 < spare ? (unsigned int)(*have / 8) : spare;
}

bool descriptors_short(int fd, unsigned int spare, unsigned int promised)
{
	unsigned long long have, may;
	unsigned int keep = spare_of(spare, &have);

	if (!keep)
		return false;
	may = have - keep;
	may = promised < may ? may - promised : 0;
	return in_use_exceeds(fd, may);
}

unsigned int descriptors_reserve(unsigned int spare)
{
	unsigned long long have;
	unsigned int keep = spare_of(spare, &have);

	return keep ? keep / 2 : spare / 2;
}

bool descriptors_reserve_gone(int fd, unsigned int spare)
{
	unsigned long long have;
	unsigned int keep = spare_of(spare, &have);

	return keep && in_use_exceeds(fd, have - (keep - keep / 2));
}

int descriptor_apart(int fd, int from)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, from);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* ---- file sizes ---- */

static sigset_t only_it(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	return set;
}

/* A signal that was pending before belongs to the program. */
void file_limit_begin(struct file_limit *l)
{
	const sigset_t it = only_it();
	sigset_t waiting;

	pthread_sigmask(SIG_BLOCK, &it, &l->before);
	l->pending = !sigpending(&waiting) && sigismember(&waiting, SIGXFSZ);
}

void file_limit_end(const struct file_limit *l, int rc)
{
	const struct timespec now = { 0 };
	const sigset_t it = only_it();
	int saved = errno;

	if (rc == -EFBIG && !l->pending)
		sigtimedwait(&it, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &l->before, NULL);
	errno = saved;
}
