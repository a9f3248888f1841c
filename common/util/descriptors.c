/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
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
		return ULLONG_MAX;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Mostly the last ones were never used, which is seen at once. */
bool descriptors_short(int fd, unsigned int spare, unsigned int promised)
{
	unsigned long long have, may;
	struct rlimit lim;
	int last;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur > INT_MAX)
		return false;
	have = lim.rlim_cur;
	may = have - (have / 8 < spare ? have / 8 : spare);
	may = promised < may ? may - promised : 0;
	last = fcntl(fd, F_DUPFD_CLOEXEC, (int)may);
	if (last >= 0)
		close(last);
	return last != (int)may && in_use() > may;
}
