/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <sys/resource.h>

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
