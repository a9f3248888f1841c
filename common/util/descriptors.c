/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptors.h"

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

/* Descriptors of this process.  Linux 6.2 and later knows; else they are counted. */
static unsigned long long in_use(void)
{
	static const char path[] = "/proc/self/fd";
	unsigned long long n = 0;
	struct stat st;
	DIR *dir;

	if (stat(path, &st) == 0 && st.st_size > 0)
		return (unsigned long long)st.st_size;
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : ULLONG_MAX;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Of the kernel's table of them: a power of two that only grows.  0: not known. */
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

/* Mostly the last ones were never used, which is seen at once. */
static bool is_unused(int fd, unsigned long long at)
{
	unsigned long long size = table_size();
	int last;

	if (size <= at)
		return size != 0; /* to try would make the table as large */
	last = fcntl(fd, F_DUPFD_CLOEXEC, (int)at);
	if (last >= 0)
		close(last);
	return last == (int)at;
}

bool descriptors_short(int fd, unsigned int spare, unsigned int promised)
{
	unsigned long long have, may;
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur > INT_MAX)
		return false;
	have = lim.rlim_cur;
	may = have - (have / 8 < spare ? have / 8 : spare);
	may = promised < may ? may - promised : 0;
	return !is_unused(fd, may) && in_use() > may;
}

int descriptor_apart(int fd, int from)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, from);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}
